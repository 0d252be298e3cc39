"""Scaling policies, one per file: a policy gives the factor of each channel at each step. Every policy class in this
package is found automatically; the names below are listed for type checkers and editors only."""

from typing import Annotated, TypeAlias

from articulon.families import Family
from articulon.scaling.atomistic import Atomistic
from articulon.scaling.atomistic_adaptive import AtomisticAdaptive
from articulon.scaling.atomistic_clock import AtomisticClock
from articulon.scaling.atomistic_two_factor import AtomisticTwoFactor
from articulon.scaling.base import ScalingPolicy
from articulon.scaling.constant import Constant
from articulon.scaling.error_controlled import ErrorControlled
from articulon.scaling.none import NoScaling
from articulon.scaling.smooth_adaptive import SmoothAdaptive
from articulon.scaling.threshold import ThresholdAdaptive
from articulon.scaling.two_factor import TwoFactor

POLICIES = Family("scaling policy", "policy", lambda member: issubclass(member, ScalingPolicy))
"""All scaling policies by the name in their attribute ``policy``: every class of this package that has this
attribute."""
POLICIES.discover(__name__, __path__)
Policy: TypeAlias = Annotated[ScalingPolicy, POLICIES]
"""Any scaling policy, selected by its ``policy``."""
globals().update({member.__name__: member for member in POLICIES})

__all__ = [
    "POLICIES",
    "Atomistic",
    "AtomisticAdaptive",
    "AtomisticClock",
    "AtomisticTwoFactor",
    "Constant",
    "ErrorControlled",
    "NoScaling",
    "Policy",
    "SmoothAdaptive",
    "ThresholdAdaptive",
    "TwoFactor",
]
