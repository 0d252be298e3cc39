"""What the parts of a written-out model share: names of joints, axes, and faults told as faults of the case."""

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from articulon.declaration import Quantity
from articulon.errors import CaseError, ModelError
from articulon.model.joints import BY_NAME, Joint
from articulon.model.joints.axis import AxisJoint

GROUND = "ground"
"""What a body without a parent is joined to, and what carries a site that does not move."""

Vector: TypeAlias = tuple[Quantity, Quantity, Quantity]
Rotation: TypeAlias = tuple[Quantity, Quantity, Quantity, Quantity]

if TYPE_CHECKING:
    JointName: TypeAlias = str
else:
    JointName = Literal[tuple(BY_NAME)]
"""Any joint that there is, by its name."""


def axis_of(joint: str, axis: Vector | None, where: str) -> Vector | None:
    """The axis of a joint that has one, (0, 0, 1) where none is given; raises CaseError for one that cannot be."""
    kind = BY_NAME[joint]
    if not issubclass(kind, AxisJoint):
        if axis is not None:
            raise CaseError(
                f"{where}.axis: a {joint} joint has no axis; remove the key, or choose revolute or prismatic"
            )
        return None
    axis = (0.0, 0.0, 1.0) if axis is None else axis
    with as_case_error(f"{where}.axis"):
        kind(axis=tuple(float(a) for a in axis))
    return axis


def joint_of(joint: str, axis: Vector | None) -> Joint:
    """The joint of a declaration that has been resolved."""
    kind = BY_NAME[joint]
    if issubclass(kind, AxisJoint) and axis is not None:
        return kind(axis=tuple(float(a) for a in axis))
    return kind()


def closest(name: str, names: Sequence[str]) -> str:
    """The clause that ends a message about a name that is none."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""


@contextmanager
def as_case_error(key: str = "") -> Iterator[None]:
    """Raises what is wrong with a model as a fault of the case."""
    try:
        yield
    except ModelError as error:
        raise CaseError(f"{key}: {error}" if key else str(error)) from None
