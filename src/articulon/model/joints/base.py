"""Base class of joints."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

WELD, REVOLUTE, PRISMATIC, SPHERICAL, XYZ, FREE = range(6)

TRANSLATION, ROTATION = range(2)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

Vector = tuple[float, float, float]

PLACE, VELOCITY = tuple((k, "length") for k in "xyz"), tuple((f"v{k}", "velocity") for k in "xyz")
TURN = tuple((f"e{k}", "dimensionless") for k in range(4))
SPIN = tuple((f"w{k}", "angular_velocity") for k in "xyz")
"""Names and dimensions of translations, Euler parameters and their speeds."""


class Row(NamedTuple):
    """One scalar constraint of a joint on two bodies when it closes a loop.

    ``TRANSLATION``: the moving origin, seen from the joint frame, has no component along ``fixed``. ``ROTATION``:
    ``fixed``, a direction of the joint frame, and ``moving``, one of the moving frame, stay perpendicular.
    """

    kind: int
    fixed: Vector
    moving: Vector = (0.0, 0.0, 0.0)


POINT = (Row(TRANSLATION, X), Row(TRANSLATION, Y), Row(TRANSLATION, Z))
"""Rows that make the two origins coincide."""
AXES = ((X, X), (Y, Y), (Z, Z))
"""All three directions of the frames."""
NO_TURN = (Row(ROTATION, X, Y), Row(ROTATION, Y, Z), Row(ROTATION, Z, X))
"""Rows that make the two frames parallel."""


@dataclass(frozen=True)
class Joint:
    """A joint between a body and its parent, or one that closes a loop between two bodies."""

    kind: ClassVar[int]
    """Code of the kind in the kernels' tables: 0, 1, 2, ... without gaps; a new joint takes the next one."""
    nq: ClassVar[int]
    """Number of coordinates: translations first, then angles or Euler parameters."""
    nu: ClassVar[int]
    """Number of speeds: translations first."""
    translations: ClassVar[int] = 0
    """Number of coordinates and speeds that are translations, in the joint frame."""
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and dimension of each coordinate."""
    speeds: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and dimension of each speed."""
    quaternion: ClassVar[int | None] = None
    """Position of the Euler parameters among the joint's coordinates. The speed of every other coordinate is its
    rate."""
    fixed_in_body: ClassVar[tuple[bool, ...]] = ()
    """Whether each column of the motion subspace is fixed in the body; otherwise it is fixed in the joint frame, as is
    every translation of a body that can rotate relative to it. The velocity products depend on it."""
    spinless: ClassVar[bool] = False
    """Whether the joint excludes spin of the body about its z axis, so that all it carries must lie on that axis."""

    @property
    def direction(self) -> Vector:
        """The joint's axis in its own frame; zero if it has none."""
        return (0.0, 0.0, 0.0)

    def rows(self) -> tuple[Row, ...]:
        """Constraint rows of a loop that this joint closes: six minus the number of degrees of freedom."""
        raise NotImplementedError

    def aligned(self) -> tuple[tuple[Vector, Vector], ...]:
        """Directions of the joint frame and of the moving frame that must point the same way, which perpendicularity
        alone does not distinguish from opposite directions; none by default."""
        return ()

    @classmethod
    def rotates(cls) -> bool:
        """Whether the body rotates relative to its parent."""
        return cls.nu > cls.translations

    @classmethod
    def translates(cls) -> bool:
        """Whether the body's origin moves in the joint frame."""
        return cls.translations > 0

    @classmethod
    def framed(cls) -> bool:
        """Whether the joint's columns need the joint frame in addition to the body's, because some are fixed there."""
        return cls.rotates() and not all(cls.fixed_in_body)

    @classmethod
    def mixed(cls) -> bool:
        """Whether some rotations are about axes fixed in the body and others about axes fixed in the joint frame, so
        that one rotates the axis of the other."""
        return len(set(cls.fixed_in_body[cls.translations :])) > 1

    @classmethod
    def zero(cls) -> tuple[float, ...]:
        """Coordinates at which body frame and joint frame coincide."""
        at = cls.quaternion
        return tuple(1.0 if k == at else 0.0 for k in range(cls.nq))


def perpendicular(axis: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that form a right-handed frame with a unit axis."""
    x, y, z = axis
    # The coordinate axis with the smallest component along it gives the best-conditioned cross product.
    least = min(range(3), key=lambda k: abs(axis[k]))
    a = (X, Y, Z)[least]
    c = (y * a[2] - z * a[1], z * a[0] - x * a[2], x * a[1] - y * a[0])
    size = (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) ** 0.5
    s = (c[0] / size, c[1] / size, c[2] / size)
    return s, (y * s[2] - z * s[1], z * s[0] - x * s[2], x * s[1] - y * s[0])
