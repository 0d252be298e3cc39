"""Loops and driven joints of a model written out in the case file."""

from functools import partial
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.explicit_joints import (
    GROUND,
    JointName,
    Rotation,
    Vector,
    as_case_error,
    axis_of,
    joint_of,
)
from articulon.declaration import BodyName, BodyOrGround, Declaration, Dimension, Quantity, Whole
from articulon.errors import CaseError, ModelError
from articulon.forces.user_functions import loaded_function
from articulon.model import body_checks
from articulon.model.joints import BY_NAME
from articulon.units import UnitSystem


class ExplicitLoop(Declaration):
    """A joint that closes a loop between two bodies, or between a body and the ground."""

    name: Annotated[str, Field(min_length=1)]
    """Name, unique among the loops and drives."""
    joint: JointName
    """Kind of joint; any kind that imposes a constraint."""
    axis: Annotated[Vector | None, Dimension("dimensionless")] = None
    """Direction of a revolute or prismatic joint in the joint frame; (0, 0, 1) by default."""
    parent: BodyOrGround = GROUND
    """Body in which the joint frame is fixed, or the ground."""
    child: BodyOrGround
    """Body in which the moving side of the joint is fixed, or the ground."""
    position: Annotated[Vector, Dimension("length")] = (0.0, 0.0, 0.0)
    """Origin of the joint frame in the parent's frame [length]."""
    rotation: Annotated[Rotation, Dimension("dimensionless")] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the joint frame in the parent's frame: Euler parameters, scalar first."""
    child_position: Annotated[Vector, Dimension("length")] = (0.0, 0.0, 0.0)
    """Origin of the moving side in the child's frame [length]."""
    child_rotation: Annotated[Rotation, Dimension("dimensionless")] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the moving side in the child's frame: Euler parameters, scalar first."""

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """Return a copy in the given units; raises CaseError, naming the key, for an impossible loop."""
        loop = super().resolved(units, where)
        if not BY_NAME[self.joint]().rows():
            raise CaseError(f"{where}.joint: a {self.joint} joint constrains nothing and cannot close a loop")
        if self.parent == self.child:
            raise CaseError(f"{where}.child: '{self.child}' is also the parent; a loop joins two bodies")
        with as_case_error():
            for key, given in (("rotation", loop.rotation), ("child_rotation", loop.child_rotation)):
                name = partial(_named, f"{where}.{key}, loop '{self.name}'")
                body_checks.unit_quaternions(np.array([given], dtype=float), name)
        return loop.model_copy(update={"axis": axis_of(self.joint, loop.axis, where)})

    def populate(self, builder: ModelBuilder) -> None:
        """Add the loop of a resolved declaration to a builder."""
        builder.add_loop(
            self.name,
            joint=joint_of(self.joint, self.axis),
            parent=None if self.parent == GROUND else self.parent,
            child=None if self.child == GROUND else self.child,
            position=self.position,
            rotation=self.rotation,
            child_position=self.child_position,
            child_rotation=self.child_rotation,
        )


class ExplicitDrive(Declaration):
    """A joint coordinate that follows a given motion, by a table or a function."""

    name: Annotated[str | None, Field(min_length=1)] = None
    """Name, unique among the loops and drives; by default "drive of" and the body's name."""
    body: BodyName
    """Body whose joint is driven."""
    component: Annotated[Whole, Field(ge=0)] = 0
    """Index of the driven coordinate of the joint."""
    times: Annotated[tuple[Quantity, ...] | None, Dimension("time")] = None
    """Increasing times, at least four, covering the whole run [time]."""
    values: tuple[Quantity, ...] | None = None
    """Values of the coordinate at these times, in the dimension of the coordinate; a cubic spline interpolates them."""
    function: str | None = None
    """Location of a function that replaces the table: ``"module:name"`` or ``"file.py:name"``. ``function(time,
    result)`` writes the coordinate, its rate and its acceleration into ``result`` (3,)."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.times is None) != (self.values is None) or (self.times is None) == (self.function is None):
            raise ValueError("give either times and values, or a function")
        if self.times is not None and self.values is not None and len(self.times) != len(self.values):
            raise ValueError(
                f"values and times must have the same length, got {len(self.values)} values for {len(self.times)} times"
            )
        return self

    def of_joint(self, joint: str, units: UnitSystem, where: str) -> Self:
        """Return a copy with numeric values in the dimension of the coordinate; raises CaseError naming the key."""
        coordinates = BY_NAME[joint].coordinates
        if self.component >= len(coordinates):
            raise CaseError(
                f"{where}.component: a {joint} joint has {len(coordinates)} coordinates, counted from 0, got "
                f"{self.component}"
            )
        if self.values is None:
            return self
        _, dimension = coordinates[self.component]
        values = tuple(units.value(v, dimension, f"{where}.values[{k}]") for k, v in enumerate(self.values))
        return self.model_copy(update={"values": values})

    def populate(self, builder: ModelBuilder, where: str) -> None:
        """Add the drive of a resolved declaration to a builder."""
        function = None if self.function is None else loaded_function(self.function, where)
        try:
            builder.add_drive(
                self.body,
                component=self.component,
                times=self.times,
                values=self.values,
                function=function,
                name=self.name,
            )
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None


def _named(name: str, _: int) -> str:
    return name
