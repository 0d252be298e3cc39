"""No relative motion: the body is merged into its parent when the model is built."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.model.joints.base import AXES, NO_TURN, POINT, WELD, Joint, Row, Vector


@dataclass(frozen=True)
class Weld(Joint):
    """Fixes the body to its parent; the body keeps its row in poses and wrenches."""

    kind: ClassVar[int] = WELD
    nq: ClassVar[int] = 0
    nu: ClassVar[int] = 0

    def rows(self) -> tuple[Row, ...]:
        """Six rows: nothing moves."""
        return (*POINT, *NO_TURN)

    def aligned(self) -> tuple[tuple[Vector, Vector], ...]:
        """Directions of all axes: the frames are parallel."""
        return AXES
