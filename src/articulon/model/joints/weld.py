"""No motion: the body is merged into its parent when the model is built."""

from dataclasses import dataclass
from typing import ClassVar

from articulon.model.joints.base import WELD, Joint


@dataclass(frozen=True)
class Weld(Joint):
    """Fixes the body to its parent; it keeps its row in poses and wrenches."""

    kind: ClassVar[int] = WELD
    nq: ClassVar[int] = 0
    nu: ClassVar[int] = 0
    rotates: ClassVar[bool] = False
