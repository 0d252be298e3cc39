"""The model: bodies, joints, loop constraints, sites and the declared forces; a built model cannot be changed."""

from articulon.model.forest_tables import Forest, KernelTables, Loops, Motions, Workspace, workspace
from articulon.model.joints import Free, Joint, Prismatic, Revolute, Spherical, Weld, Xyz
from articulon.model.model import Model, Sites, kernel_tables
from articulon.model.state import CHANNELS, State

__all__ = [
    "CHANNELS",
    "Forest",
    "Free",
    "Joint",
    "KernelTables",
    "Loops",
    "Model",
    "Motions",
    "Prismatic",
    "Revolute",
    "Sites",
    "Spherical",
    "State",
    "Weld",
    "Workspace",
    "Xyz",
    "kernel_tables",
    "workspace",
]
