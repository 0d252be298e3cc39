"""Runs whose resolution changes while they go: locked joints merge their bodies, criteria lock and release them."""

from articulon.adaptive.adaptive_driver import AdaptiveDriver
from articulon.adaptive.coarsening import locked_model
from articulon.adaptive.merged_bodies import Merging
from articulon.adaptive.settings import (
    Acceleration,
    Adaptive,
    Distance,
    Elapsed,
    Energy,
    Function,
    Group,
    ModeEnergy,
    Random,
    Schedule,
    Speed,
    Torque,
)

__all__ = [
    "Acceleration",
    "Adaptive",
    "AdaptiveDriver",
    "Distance",
    "Elapsed",
    "Energy",
    "Function",
    "Group",
    "Merging",
    "ModeEnergy",
    "Random",
    "Schedule",
    "Speed",
    "Torque",
    "locked_model",
]
