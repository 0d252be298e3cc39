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
    """One scalar constraint on two bodies, for a joint that closes a loop.

    ``TRANSLATION``: the displacement of the moving origin in the joint frame has no component along ``fixed``.
    ``ROTATION``: ``fixed``, a direction of the joint frame, stays perpendicular to ``moving``, a direction of the
    moving frame.
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
    """A joint between a body and its parent, or a joint that closes a loop between two bodies."""

    kind: ClassVar[int]
    """Code of the kind in the kernels' tables: 0, 1, 2, ... without gaps; a new joint takes the next number."""
    nq: ClassVar[int]
    """Number of coordinates: translations first, then angles or Euler parameters."""
    nu: ClassVar[int]
    """Number of speeds: translations first."""
    translations: ClassVar[int] = 0
    """Number of coordinates that are translations in the joint frame; their speeds are as many."""
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and dimension of each coordinate."""
    speeds: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and dimension of each speed."""
    quaternion: ClassVar[int | None] = None
    """Index of the Euler parameters among the joint's coordinates; None if there are none. The speed of every other
    coordinate is the coordinate's rate."""
    fixed_in_body: ClassVar[tuple[bool, ...]] = ()
    """Whether each column of the motion subspace is fixed in the body; otherwise it is fixed in the joint frame. All
    translations are fixed in the joint frame if the body can rotate relative to it. The velocity products depend on
    this."""
    spinless: ClassVar[bool] = False
    """Whether the joint excludes rotation of the body about its z axis, so that everything the body carries must lie on
    that axis."""

    @property
    def direction(self) -> Vector:
        """The joint's axis in its own frame; zero if it has none."""
        return (0.0, 0.0, 0.0)

    def rows(self) -> tuple[Row, ...]:
        """Constraint rows of a loop that this joint closes; their number is six minus the number of degrees of
        freedom."""
        raise NotImplementedError

    def aligned(self) -> tuple[tuple[Vector, Vector], ...]:
        """Pairs of a direction of the joint frame and a direction of the moving frame that must be equal and not
        opposite, which rows of perpendicular directions cannot distinguish; none by default."""
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
        """Whether the joint's columns need the joint frame as well as the body's frame, because some are fixed in the
        former."""
        return cls.rotates() and not all(cls.fixed_in_body)

    @classmethod
    def mixed(cls) -> bool:
        """Whether the joint rotates about axes fixed in the body and about axes fixed in the joint frame, so that one
        rotation changes the direction of another axis."""
        return len(set(cls.fixed_in_body[cls.translations :])) > 1

    @classmethod
    def zero(cls) -> tuple[float, ...]:
        """Coordinates at which body frame and joint frame coincide."""
        at = cls.quaternion
        return tuple(1.0 if k == at else 0.0 for k in range(cls.nq))


def perpendicular(axis: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that form a right-handed frame with a unit vector ``axis``."""
    x, y, z = axis
    # The cross product is best conditioned with the coordinate axis along which the component of ``axis`` is smallest.
    least = min(range(3), key=lambda k: abs(axis[k]))
    a = (X, Y, Z)[least]
    c = (y * a[2] - z * a[1], z * a[0] - x * a[2], x * a[1] - y * a[0])
    size = (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) ** 0.5
    s = (c[0] / size, c[1] / size, c[2] / size)
    return s, (y * s[2] - z * s[1], z * s[0] - x * s[2], x * s[1] - y * s[0])
