"""Scaling policies: the factor of each channel at each step."""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.scaling.atomistic import Atomistic
from articulon.scaling.atomistic_adaptive import AtomisticAdaptive
from articulon.scaling.atomistic_clock import AtomisticClock
from articulon.scaling.atomistic_two_factor import AtomisticTwoFactor
from articulon.scaling.constant import Constant
from articulon.scaling.error_controlled import ErrorControlled
from articulon.scaling.none import NoScaling
from articulon.scaling.smooth_adaptive import SmoothAdaptive
from articulon.scaling.threshold import ThresholdAdaptive
from articulon.scaling.two_factor import TwoFactor

AnyPolicy: TypeAlias = (
    NoScaling
    | Constant
    | TwoFactor
    | ThresholdAdaptive
    | SmoothAdaptive
    | ErrorControlled
    | Atomistic
    | AtomisticTwoFactor
    | AtomisticAdaptive
    | AtomisticClock
)
Policy: TypeAlias = Annotated[AnyPolicy, Field(discriminator="policy")]
"""Any scaling policy, chosen by its ``policy``."""

__all__ = [
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
