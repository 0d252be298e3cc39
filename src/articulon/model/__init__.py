"""What is simulated: bodies, joints, loops, sites and the declared forces, frozen once built."""

from articulon.model.joints import Free, Joint, Prismatic, Revolute, Spherical, Weld, Xyz
from articulon.model.model import Model, Sites
from articulon.model.state import CHANNELS, State
from articulon.model.tables import Forest, Loops, Motions, Workspace, workspace

__all__ = [
    "CHANNELS",
    "Forest",
    "Free",
    "Joint",
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
    "workspace",
]
