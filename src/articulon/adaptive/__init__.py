"""Runs whose resolution changes while they go: locked joints merge their bodies, criteria lock and release them."""

from articulon.adaptive.declarations import (
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
from articulon.adaptive.driver import AdaptiveDriver
from articulon.adaptive.merging import Merging, locked_model

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
