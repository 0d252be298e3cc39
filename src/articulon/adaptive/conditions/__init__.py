"""Conditions that lock and release joints and modes. Conditions in this package are found automatically; the names
below are written out only for type checkers and editors."""

from typing import Annotated, TypeAlias

from articulon.adaptive.conditions.condition_base import BaseCondition, BoundedCondition, TriedCondition
from articulon.adaptive.conditions.distance import Distance
from articulon.adaptive.conditions.energy import Energy
from articulon.adaptive.conditions.joint_motion import Acceleration, Speed, Torque
from articulon.adaptive.conditions.mode_energy import ModeEnergy
from articulon.adaptive.conditions.random import Random
from articulon.adaptive.conditions.times import Elapsed, Schedule
from articulon.adaptive.conditions.user_condition import Function
from articulon.families import Family

CONDITIONS = Family("condition", "when", lambda member: issubclass(member, BaseCondition))
"""All conditions by their ``when``: the classes of this package that have one."""
CONDITIONS.discover(__name__, __path__)
Condition: TypeAlias = Annotated[BaseCondition, CONDITIONS]
"""Any condition, selected by its ``when``."""
globals().update({member.__name__: member for member in CONDITIONS})

__all__ = [
    "CONDITIONS",
    "Acceleration",
    "BaseCondition",
    "BoundedCondition",
    "Condition",
    "Distance",
    "Elapsed",
    "Energy",
    "Function",
    "ModeEnergy",
    "Random",
    "Schedule",
    "Speed",
    "Torque",
    "TriedCondition",
]
