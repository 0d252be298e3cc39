"""Runs with adaptive resolution: conditions lock and release joints during a run, and locked joints merge bodies."""

from articulon.adaptive.adaptive_driver import AdaptiveDriver
from articulon.adaptive.coarsening import locked_model
from articulon.adaptive.conditions import (
    Acceleration,
    Distance,
    Elapsed,
    Energy,
    Function,
    ModeEnergy,
    Random,
    Schedule,
    Speed,
    Torque,
)
from articulon.adaptive.merged_bodies import Merging
from articulon.adaptive.settings import Adaptive, Group

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
