"""Part of the model builder for loops and driven joints."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from articulon.building.handles import IDENTITY, ORIGIN, Body, BodyRegister
from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.model import body_checks
from articulon.model.joints import Joint
from articulon.model.loop_declarations import Drive, LoopJoint

LEAST_KNOTS = 4
"""Minimum number of knots of a cubic spline."""


class ConstraintBuilder(BodyRegister):
    """Builder mixin for loops and drives."""

    _joints: list[Joint]

    def __init__(self) -> None:
        self._loops: list[LoopJoint] = []
        self._drives: list[Drive] = []

    def add_loop(
        self,
        name: str,
        *,
        joint: Joint,
        child: Body | str | int | None = None,
        parent: Body | str | int | None = None,
        position: Any = ORIGIN,
        rotation: Any = IDENTITY,
        child_position: Any = ORIGIN,
        child_rotation: Any = IDENTITY,
    ) -> None:
        """Close a loop by a joint between two bodies that have been added.

        Parameters
        ----------
        name
            Name, unique among the loops and drives.
        joint
            Any joint that imposes a constraint. Its frame is fixed in the parent, as for the joint of a body, and its
            moving side is fixed in the child.
        child, parent
            Bodies that have been added, by handle or name; None, the default for both, is the ground.
        position, rotation
            Joint frame in the parent's frame: origin [length], shape (3,), and Euler parameters scalar first, shape
            (4,).
        child_position, child_rotation
            Moving side in the child's frame: origin [length], shape (3,), and Euler parameters scalar first, shape
            (4,).

        Raises
        ------
        ModelError
            For a joint that constrains nothing, a body that does not exist, or a loop of a body with itself; the
            message names the loop.
        """
        where = self._new_name(name, "loop")
        if not isinstance(joint, Joint):
            raise ModelError(f"{where}: joint must be a joint such as ar.Revolute(axis=(0, 0, 1)), got {shown(joint)}")
        if not joint.rows():
            kind = type(joint).__name__.lower()
            raise ModelError(
                f"{where}: a {kind} joint constrains nothing and cannot close a loop; choose another joint"
            )
        ends = self._resolve(parent, where, "parent"), self._resolve(child, where, "child")
        if ends[0] == ends[1]:
            raise ModelError(f"{where}: parent and child are the same body; a loop joins two bodies")
        places = {}
        for key, value, width, dimension in (
            ("position", position, 3, "length"),
            ("rotation", rotation, 4, "dimensionless"),
            ("child_position", child_position, 3, "length"),
            ("child_rotation", child_rotation, 4, "dimensionless"),
        ):
            array = body_checks.array(value, (width,), dimension, self.units, f"{where}, {key}")
            if width == 4:
                array = body_checks.unit_quaternions(array[None], partial(_named, f"{where}, {key}"))[0]
            places[key] = array
        self._loops.append(LoopJoint(name, joint, ends[0], ends[1], **places))

    def add_drive(
        self,
        body: Body | str | int,
        *,
        component: int = 0,
        times: Any = None,
        values: Any = None,
        function: Callable[[float, np.ndarray], None] | None = None,
        name: str | None = None,
    ) -> None:
        """Prescribe the motion of a coordinate of a body's joint; the joint applies the force that is needed.

        Parameters
        ----------
        body
            Body whose joint is driven, by handle or name.
        component
            Index of the driven coordinate: an angle or a displacement, not an Euler parameter.
        times, values
            Table of the coordinate over increasing times [time], with at least four rows. The motion is the cubic
            spline through the values (not-a-knot); a run must end within the times.
        function
            Function that replaces the table. ``function(time, result)`` writes the coordinate, its rate and its
            acceleration into ``result`` (3,). It is compiled by Numba.
        name
            Name, unique among the loops and drives; by default "drive of" and the body's name.

        Raises
        ------
        ModelError
            For an invalid motion, or a coordinate that cannot be driven; the message names the drive.
        """
        index = self._resolve(body, "drive", "body")
        if index < 0:
            raise ModelError("drive: the ground has no joint to drive")
        label = f"drive of {self._names[index]}" if name is None else name
        where = self._new_name(label, "drive")
        joint = self._joints[index]
        most = joint.nq if joint.quaternion is None else joint.quaternion
        if isinstance(component, bool) or not (isinstance(component, int | np.integer) and 0 <= component < most):
            raise ModelError(
                f"{where}: a {type(joint).__name__.lower()} joint has {most} coordinates that can be driven, got the "
                f"component {shown(component)}; for rotations about given axes use revolute joints, one for each"
            )
        if any(other.body == index and other.component == component for other in self._drives):
            raise ModelError(f"{where}: this coordinate is already driven")
        if (times is None) != (values is None) or (times is None) == (function is None):
            raise ModelError(f"{where}: give either times and values, or a function")
        if function is not None and not callable(function):
            raise ModelError(f"{where}: expected a function(time, result), got {shown(function)}")
        knots, numbers = np.zeros(0), np.zeros(0)
        if times is not None:
            knots = body_checks.array(times, None, "time", self.units, f"{where}, times")
            if knots.ndim != 1:
                raise ModelError(f"{where}, times: expected a list of increasing times, got {shown(times)}")
            dimension = joint.coordinates[component][1]
            numbers = body_checks.array(values, knots.shape, dimension, self.units, f"{where}, values")
            if knots.size < LEAST_KNOTS or np.any(np.diff(knots) <= 0.0):
                raise ModelError(
                    f"{where}, times: expected at least {LEAST_KNOTS} increasing times, got {shown(times)}"
                )
        self._drives.append(Drive(label, index, component, knots, numbers, function))

    def _new_name(self, name: str, what: str) -> str:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a {what}'s name must be a non-empty string, got {shown(name)}")
        if name in {*(loop.name for loop in self._loops), *(drive.name for drive in self._drives)}:
            raise ModelError(f"{what} '{name}': there is already a loop or drive of this name")
        return f"{what} '{name}'"


def _named(name: str, _: int) -> str:
    return name
