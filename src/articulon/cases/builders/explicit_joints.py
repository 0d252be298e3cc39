"""Shared parts of written-out models: joint names, axes, and conversion of model errors to case errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from articulon.declaration import Quantity
from articulon.errors import CaseError, ModelError
from articulon.model.joints import BY_NAME, Joint
from articulon.model.joints.axis import AxisJoint

GROUND = "ground"
"""Parent of a body without a parent, and carrier of a fixed site."""

Vector: TypeAlias = tuple[Quantity, Quantity, Quantity]
Rotation: TypeAlias = tuple[Quantity, Quantity, Quantity, Quantity]

if TYPE_CHECKING:
    JointName: TypeAlias = str
else:
    JointName = Literal[tuple(BY_NAME)]
"""Name of any kind of joint."""


def axis_of(joint: str, axis: Vector | None, where: str) -> Vector | None:
    """Axis of a joint that has one, by default (0, 0, 1); raises CaseError for an invalid axis."""
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
    """Joint of a resolved declaration."""
    kind = BY_NAME[joint]
    if issubclass(kind, AxisJoint) and axis is not None:
        return kind(axis=tuple(float(a) for a in axis))
    return kind()


@contextmanager
def as_case_error(key: str = "") -> Iterator[None]:
    """Re-raise model errors as case errors."""
    try:
        yield
    except ModelError as error:
        raise CaseError(f"{key}: {error}" if key else str(error)) from None
