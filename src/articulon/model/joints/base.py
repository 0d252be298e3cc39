"""What every joint says of itself."""

from dataclasses import dataclass
from typing import ClassVar

WELD, REVOLUTE, PRISMATIC, SPHERICAL, XYZ, FREE = range(6)


@dataclass(frozen=True)
class Joint:
    """A joint between a body and its parent."""

    kind: ClassVar[int]
    """Code of the kind in the kernels' tables."""
    nq: ClassVar[int]
    """Number of coordinates."""
    nu: ClassVar[int]
    """Number of speeds."""
    quaternion: ClassVar[int | None] = None
    """Where the Euler parameters begin among the joint's coordinates."""
    rotates: ClassVar[bool] = True
    """Whether the body turns relative to its parent."""

    @property
    def direction(self) -> tuple[float, float, float]:
        """The joint's axis in its own frame; zero where it has none."""
        return (0.0, 0.0, 0.0)

    @classmethod
    def zero(cls) -> tuple[float, ...]:
        """Coordinates at which body frame and joint frame coincide."""
        at = cls.quaternion
        return tuple(1.0 if k == at else 0.0 for k in range(cls.nq))
