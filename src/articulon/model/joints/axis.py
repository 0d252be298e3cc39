"""The axis of a one-freedom joint."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from articulon.errors import ModelError
from articulon.model.joints.base import Joint


@dataclass(frozen=True)
class AxisJoint(Joint):
    """A joint with an axis; any length is accepted and made one.

    Raises ModelError when the axis has not three finite components or no length.
    """

    axis: Sequence[float] = (0.0, 0.0, 1.0)
    """Direction in the joint frame [dimensionless], shape (3,)."""

    def __post_init__(self) -> None:
        axis = tuple(float(a) for a in self.axis)
        length = math.sqrt(sum(a * a for a in axis))
        if len(axis) != 3 or not math.isfinite(length) or length == 0.0:
            raise ModelError(f"{type(self).__name__}: axis must be three finite numbers, not all zero, got {self.axis}")
        object.__setattr__(self, "axis", tuple(a / length for a in axis))

    @property
    def direction(self) -> tuple[float, float, float]:
        x, y, z = self.axis
        return (x, y, z)
