"""A model written out in the case file: bodies with their joints, sites, loops and driven joints."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder, function_beside
from articulon.cases.builders.explicit_atoms import ExplicitAtoms
from articulon.cases.builders.explicit_joints import (
    GROUND,
    JointName,
    Rotation,
    Vector,
    as_case_error,
    axis_of,
    joint_of,
)
from articulon.cases.builders.explicit_loops import ExplicitDrive, ExplicitLoop
from articulon.cases.builders.explicit_modes import AnyModes
from articulon.declaration import BodyOrGround, Declaration, Dimension, Quantity, Whole
from articulon.errors import CaseError
from articulon.inputs import closest
from articulon.model import body_checks
from articulon.model.joints import BY_NAME
from articulon.model.shapes import AnyShape, FileShape, Shape
from articulon.units import UnitSystem, expectation


def _listed(value: Any) -> Any:
    """Convert one shape to a list."""
    return (value,) if isinstance(value, Mapping | Shape) else value


AnyShapes: TypeAlias = Annotated[tuple[AnyShape, ...], BeforeValidator(_listed)]
"""One shape or several."""


class ExplicitBody(Declaration):
    """A body and the joint that connects it to its parent."""

    name: Annotated[str, Field(min_length=1)]
    """Name, unique among the bodies."""
    modes: AnyModes | None = None
    """Modes of a flexible body, whose frame is that of handle 1. The coordinates [length] and speeds of the modes
    follow those of the joint in q and u, and are zero if left out."""
    shape: AnyShapes | None = None
    """Geometry: a table, or a list of several."""
    density: Annotated[Quantity | None, Dimension("mass_density", minimum=0, exclusive=True)] = None
    """Density of the shape [mass/length³]. Mass, inertia and com follow from it if they are left out. It must not be
    combined with a mass, and it may be combined with a com only if an inertia about this com is given."""
    mass: Annotated[Quantity | None, Dimension("mass", minimum=0, exclusive=True), Field(validate_default=True)] = None
    """Mass [mass]. It is optional if a density is given, or if the nodes of modes have masses. With modes, it is added
    to the mass at handle 1."""
    inertia: Annotated[Quantity | Vector | tuple[Vector, Vector, Vector] | None, Dimension("inertia")] = None
    """Inertia about the centre of mass, body frame [mass length²]: a number, three principal moments, or a 3x3 matrix;
    by default 0, or the value from the density."""
    com: Annotated[Vector | None, Dimension("length")] = None
    """Centre of mass in the body frame [length]; by default its origin, or the value from the density."""
    parent: BodyOrGround = GROUND
    """Parent body, to which this body is joined; it may come later in the file."""
    joint: JointName
    """The joint to the parent."""
    axis: Annotated[Vector | None, Dimension("dimensionless")] = None
    """Direction of a revolute or prismatic joint in the joint frame; (0, 0, 1) by default."""
    position: Annotated[Vector, Dimension("length")] = (0.0, 0.0, 0.0)
    """Origin of the joint frame in the parent's frame [length]."""
    rotation: Annotated[Rotation, Dimension("dimensionless")] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the joint frame in the parent's frame: Euler parameters, scalar first."""
    q: Quantity | tuple[Quantity, ...] | None = None
    """Initial coordinates of the joint, each in its own dimension; by default zero displacement, or the values that
    close the loops."""
    u: Quantity | tuple[Quantity, ...] | None = None
    """Initial speeds of the joint; by default zero, or the values that the loops require."""
    joint_name: str | None = None
    """Name of the joint; by default that of the body."""
    armature: Quantity | tuple[Quantity, ...] | None = None
    """Armature: inertia that is added to the joint speeds and belongs to no body [mass length² for rotations, mass for
    translations]; one number, or one per speed."""
    node: Annotated[Whole, Field(ge=0)] | None = None
    """Node of the flexible parent that carries the joint frame; position and rotation are then in the node's frame."""

    @field_validator("mass")
    @classmethod
    def _massive(cls, mass: float | str | None, others: ValidationInfo) -> float | str | None:
        """Require a mass. This check gives no message if modes or density are themselves invalid."""
        if mass is None and all(key in others.data and others.data[key] is None for key in ("modes", "density")):
            raise ValueError(
                f"is required: {expectation('mass')}, a shape with a density, or modes, whose nodes have masses"
            )
        return mass

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """Return a copy in the given units; raises CaseError, naming the key, for an impossible body."""
        body = super().resolved(units, where)
        kind = BY_NAME[self.joint]
        # Coordinates that are left out stay unset, because loops may determine them; loops never change given values.
        q = None if self.q is None else self._motion("q", self.q, kind.coordinates, units, where)
        u = None if self.u is None else self._motion("u", self.u, kind.speeds, units, where)
        axis = axis_of(self.joint, body.axis, where)

        def name(key: str) -> str:
            return f"{where}.{key}, body '{self.name}'"

        with as_case_error():
            if body.inertia is not None:
                inertia = body_checks.symmetric(body.inertia, units, name("inertia"))
                body_checks.possible_inertias(inertia[None], lambda _: name("inertia"))
            body_checks.unit_quaternions(np.array([body.rotation], dtype=float), lambda _: name("rotation"))
            if kind.quaternion is not None and q is not None:
                turn = np.array([q[kind.quaternion : kind.quaternion + 4]], dtype=float)
                body_checks.unit_quaternions(turn, lambda _: name("q"))
        return body.model_copy(update={"q": q, "u": u, "axis": axis})

    def beside(self, source: str, where: str) -> Self:
        """Return a copy whose mode and shape files are located beside a case file; raises CaseError naming the key."""
        changes: dict[str, Any] = {}
        if self.modes is not None:
            changes["modes"] = self.modes.beside(source, f"{where}.modes")
        if self.shape is not None:
            changes["shape"] = tuple(
                shape.beside(source, f"{where}.shape[{k}]", f", body '{self.name}'")
                if isinstance(shape, FileShape)
                else shape
                for k, shape in enumerate(self.shape)
            )
        return self.model_copy(update=changes) if changes else self

    def _motion(
        self,
        key: str,
        value: Quantity | tuple[Quantity, ...],
        named: tuple[tuple[str, str], ...],
        units: UnitSystem,
        where: str,
    ) -> tuple[float, ...]:
        given = value if isinstance(value, tuple) else (value,)
        dimensions = [dimension for _, dimension in named]
        if self.modes is not None:
            # The number of modes is known only when they are created; the builder checks it.
            modal = "length" if key == "q" else "velocity"
            dimensions += [modal] * (len(given) - len(dimensions))
        if len(given) != len(dimensions):
            what = "coordinates" if key == "q" else "speeds"
            raise CaseError(
                f"{where}.{key}, body '{self.name}': a {self.joint} joint has {len(dimensions)} {what} "
                f"({', '.join(dimensions) or 'none'}), got {len(given)}"
            )
        return tuple(
            units.value(part, dimension, f"{where}.{key}[{k}]")
            for k, (part, dimension) in enumerate(zip(given, dimensions, strict=True))
        )


class ExplicitSite(Declaration):
    """A point where pair forces act."""

    body: BodyOrGround
    """Body that carries the site, or ``"ground"``."""
    position: Annotated[Vector, Dimension("length")] = (0.0, 0.0, 0.0)
    """Position in the frame of the body, or in the world frame [length]."""
    charge: Annotated[Quantity, Dimension("charge")] = 0.0
    """Charge of the site [charge]."""
    kind: str = "site"
    """Kind, which selects the force law of its pairs."""
    group: str | None = None
    """Group, which selects the pairs; by default the name of the kind."""
    node: Annotated[Whole, Field(ge=0)] | None = None
    """Node of a flexible body that carries the site; the position is then in the node's frame."""
    radius: Annotated[Quantity, Dimension("length", minimum=0)] = 0.0
    """Radius of a contact sphere about the site [length]; 0 for a point without contacts."""


class WrittenOut(BaseBuilder):
    """Base of the models whose bodies, sites, loops and drives are written out one by one."""

    error_class: ClassVar = CaseError
    bodies: tuple[ExplicitBody, ...] = ()
    """Bodies in any order; the model stores parents first and otherwise keeps the order of the file."""
    sites: tuple[ExplicitSite, ...] = ()
    """Points where pair forces act."""
    loops: tuple[ExplicitLoop, ...] = ()
    """Joints that close kinematic loops."""
    drives: tuple[ExplicitDrive, ...] = ()
    """Joint coordinates that follow given motions."""

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """Return a copy in the given units; raises CaseError for a missing parent, a cycle of parents, or a body that
        does not exist."""
        self._connected(where)
        model = super().resolved(units, where)
        joints = {body.name: body.joint for body in self.bodies}
        drives = tuple(
            drive.of_joint(joints[drive.body], units, f"{where}.drives[{k}]") for k, drive in enumerate(model.drives)
        )
        return model.model_copy(update={"drives": drives})

    def _connected(self, where: str) -> None:
        number: dict[str, int] = {}
        for k, body in enumerate(self.bodies):
            key = f"{where}.bodies[{k}].name"
            if body.name == GROUND:
                raise CaseError(f"{key}: '{GROUND}' is reserved for bodies without a parent; choose another name")
            if body.name in number:
                raise CaseError(f"{key}: '{body.name}' is already the name of {where}.bodies[{number[body.name]}]")
            number[body.name] = k
        for k, body in enumerate(self.bodies):
            if body.parent != GROUND and body.parent not in number:
                raise CaseError(
                    f"{where}.bodies[{k}].parent: body '{body.name}' is joined to '{body.parent}', which is not a body "
                    f"of this model{closest(body.parent, [*number, GROUND])}"
                )
        for k, site in enumerate(self.sites):
            if site.body != GROUND and site.body not in number:
                raise CaseError(
                    f"{where}.sites[{k}].body: there is no body '{site.body}' to carry this site"
                    f"{closest(site.body, [*number, GROUND])}"
                )
        self._constrained(where, [*number])
        self._parents_first(where)

    def _constrained(self, where: str, bodies: list[str]) -> None:
        """Raises CaseError for a loop or drive of a body that does not exist, or with a name that is already used."""
        for k, loop in enumerate(self.loops):
            for key, end in (("parent", loop.parent), ("child", loop.child)):
                if end != GROUND and end not in bodies:
                    raise CaseError(
                        f"{where}.loops[{k}].{key}: there is no body '{end}' for the loop '{loop.name}' to join"
                        f"{closest(end, [*bodies, GROUND])}"
                    )
        for k, drive in enumerate(self.drives):
            if drive.body not in bodies:
                raise CaseError(
                    f"{where}.drives[{k}].body: there is no body '{drive.body}' whose joint could be driven"
                    f"{closest(drive.body, bodies)}"
                )
        taken: dict[str, str] = {}
        names = [(f"{where}.loops[{k}]", loop.name) for k, loop in enumerate(self.loops)]
        names += [
            (f"{where}.drives[{k}]", drive.name or f"drive of {drive.body}") for k, drive in enumerate(self.drives)
        ]
        for key, name in names:
            if name in taken:
                raise CaseError(f"{key}.name: '{name}' is already the name of {taken[name]}")
            taken[name] = key

    def _parents_first(self, where: str) -> list[ExplicitBody]:
        """Bodies in file order, but each after its parent; raises CaseError for a cycle."""
        by_name = {body.name: body for body in self.bodies}
        placed: dict[str, ExplicitBody] = {}
        for body in self.bodies:
            path: dict[str, ExplicitBody] = {}
            name = body.name
            while name != GROUND and name not in placed:
                if name in path:
                    ring = list(path)[list(path).index(name) :]
                    chain = " -> ".join(f"'{member}'" for member in [*ring, name])
                    key = f"{where}.bodies[{self.bodies.index(by_name[name])}].parent"
                    raise CaseError(
                        f"{key}: the parents of these bodies form a loop: {chain}; every model is a forest, so one of "
                        f"them must be joined to '{GROUND}' or to a body outside the loop"
                    )
                path[name] = by_name[name]
                name = by_name[name].parent
            placed.update(reversed(path.items()))
        return list(placed.values())

    def beside(self, source: str) -> Self:
        """Return a copy with the files of modes, shapes and driving functions located beside a case file; see
        :class:`BaseBuilder`."""
        bodies = tuple(body.beside(source, f"model.bodies[{k}]") for k, body in enumerate(self.bodies))
        drives = tuple(
            drive
            if drive.function is None
            else drive.model_copy(update={"function": function_beside(drive.function, source)})
            for drive in self.drives
        )
        return self.model_copy(update={"bodies": bodies, "drives": drives})

    @property
    def driven_by_code(self) -> bool:
        """Whether a function drives a joint; see :class:`BaseBuilder`."""
        return any(drive.function is not None for drive in self.drives)

    def without_code(self) -> Self:
        """Return a copy without the drives that are functions; the driven coordinates are then free."""
        return self.model_copy(update={"drives": tuple(drive for drive in self.drives if drive.function is None)})

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies, sites, loops and drives of a resolved declaration to a builder."""
        number = {body.name: k for k, body in enumerate(self.bodies)}
        for body in self._parents_first("model"):
            where = f"model.bodies[{number[body.name]}].modes, body '{body.name}'"
            builder.add_body(
                body.name,
                mass=body.mass,
                inertia=body.inertia,
                com=body.com,
                parent=None if body.parent == GROUND else body.parent,
                joint=joint_of(body.joint, body.axis),
                position=body.position,
                rotation=body.rotation,
                q=body.q,
                u=body.u,
                modes=None if body.modes is None else body.modes.modes(builder.units, where),
                node=body.node,
                shape=body.shape,
                density=body.density,
                joint_name=body.joint_name,
                armature=body.armature,
            )
        for site in self.sites:
            carrier = None if site.body == GROUND else site.body
            builder.add_site(
                carrier,
                position=site.position,
                charge=site.charge,
                kind=site.kind,
                group=site.group,
                node=site.node,
                radius=site.radius,
            )
        for loop in self.loops:
            loop.populate(builder)
        for k, drive in enumerate(self.drives):
            drive.populate(builder, f"model.drives[{k}]")


class ExplicitModel(WrittenOut):
    """A model that consists only of bodies, sites, loops and drives that are written out."""

    builder: Literal["explicit"] = "explicit"
    """Builder of a model without a named builder."""
    bodies: Annotated[tuple[ExplicitBody, ...], Field(min_length=1)]
    """Bodies in any order; the model stores parents first and otherwise keeps the order of the file."""
    atoms: ExplicitAtoms | None = None
    """Which sites are atoms, with their names and residues."""

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies, sites, loops, drives and atoms; see :class:`WrittenOut`."""
        first = builder._site_count
        super().populate(builder)
        if self.atoms is not None:
            self.atoms.populate(builder, builder._index, first)
