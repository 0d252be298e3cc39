"""Scaling policies: the factor of each channel at each step."""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.scaling.constant import Constant
from articulon.scaling.none import NoScaling
from articulon.scaling.threshold import ThresholdAdaptive
from articulon.scaling.two_factor import TwoFactor

Policy: TypeAlias = Annotated[NoScaling | Constant | TwoFactor | ThresholdAdaptive, Field(discriminator="policy")]
"""Any scaling policy, chosen by its ``policy``."""

__all__ = ["Constant", "NoScaling", "Policy", "ThresholdAdaptive", "TwoFactor"]
