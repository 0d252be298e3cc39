"""A model written out in the case file: its bodies with their joints, and its sites."""

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field

from articulon.building import ModelBuilder
from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import CaseError, ModelError
from articulon.model import checks
from articulon.model.joints import BY_NAME, Joint
from articulon.model.joints.axis import AxisJoint
from articulon.units import UnitSystem

GROUND = "ground"
"""What a body without a parent is joined to, and what carries a site that does not move."""

Vector: TypeAlias = tuple[Quantity, Quantity, Quantity]

if TYPE_CHECKING:
    JointName: TypeAlias = str
else:
    JointName = Literal[tuple(BY_NAME)]
"""Any joint that there is, by its name."""


class ExplicitBody(Declaration):
    """One body and the joint that connects it to its parent."""

    name: Annotated[str, Field(min_length=1)]
    """Unique among the bodies."""
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """[mass]."""
    inertia: Annotated[Quantity | Vector | tuple[Vector, Vector, Vector], Dimension("inertia")] = 0.0
    """About the centre of mass, body frame [mass length²]: a number, three principal moments, or a 3x3 matrix."""
    com: Annotated[Vector, Dimension("length")] = (0.0, 0.0, 0.0)
    """Centre of mass in the body's frame [length]."""
    parent: str = GROUND
    """The body that this one is joined to; it may come later in the file."""
    joint: JointName
    """The joint to the parent."""
    axis: Annotated[Vector | None, Dimension("dimensionless")] = None
    """Direction of a revolute or prismatic joint in the joint frame; (0, 0, 1) by default."""
    position: Annotated[Vector, Dimension("length")] = (0.0, 0.0, 0.0)
    """Origin of the joint frame in the parent's frame [length]."""
    rotation: Annotated[tuple[Quantity, Quantity, Quantity, Quantity], Dimension("dimensionless")] = (
        1.0,
        0.0,
        0.0,
        0.0,
    )
    """The joint frame in the parent's: Euler parameters, scalar first."""
    q: Quantity | tuple[Quantity, ...] | None = None
    """Initial coordinates of the joint, each in its own dimension; zero displacement by default."""
    u: Quantity | tuple[Quantity, ...] | None = None
    """Initial speeds of the joint; at rest by default."""

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """A copy in the given units, checked for what no body can be; raises CaseError naming the key."""
        body = super().resolved(units, where)
        kind = BY_NAME[self.joint]
        q = kind.zero() if self.q is None else self._motion("q", self.q, kind.coordinates, units, where)
        u = (0.0,) * kind.nu if self.u is None else self._motion("u", self.u, kind.speeds, units, where)
        axis = body.axis
        if issubclass(kind, AxisJoint):
            axis = (0.0, 0.0, 1.0) if axis is None else axis
            with _as_case_error(f"{where}.axis"):
                kind(axis=tuple(float(a) for a in axis))
        elif axis is not None:
            raise CaseError(
                f"{where}.axis: a {self.joint} joint has no axis; remove the key, or choose revolute or prismatic"
            )

        def name(key: str) -> str:
            return f"{where}.{key}, body '{self.name}'"

        with _as_case_error():
            inertia = checks.symmetric(body.inertia, units, name("inertia"))
            checks.possible_inertias(inertia[None], lambda _: name("inertia"))
            checks.unit_quaternions(np.array([body.rotation], dtype=float), lambda _: name("rotation"))
            if kind.quaternion is not None:
                turn = np.array([q[kind.quaternion : kind.quaternion + 4]], dtype=float)
                checks.unit_quaternions(turn, lambda _: name("q"))
        return body.model_copy(update={"q": q, "u": u, "axis": axis})

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

    def connection(self) -> Joint:
        """The joint, for a declaration that has been resolved."""
        kind = BY_NAME[self.joint]
        if issubclass(kind, AxisJoint) and self.axis is not None:
            return kind(axis=tuple(float(a) for a in self.axis))
        return kind()


class ExplicitSite(Declaration):
    """A point where pair forces act."""

    body: str
    """The body that carries it, or ``"ground"``."""
    position: Annotated[Vector, Dimension("length")] = (0.0, 0.0, 0.0)
    """In the body's frame, or the world's [length]."""
    charge: Annotated[Quantity, Dimension("charge")] = 0.0
    """[charge]."""
    kind: str = "site"
    """Chooses the force law of its pairs."""
    group: str | None = None
    """Chooses which pairs there are; the kind's name by default."""


class ExplicitModel(Declaration):
    """Bodies and sites one by one."""

    error_class: ClassVar = CaseError

    builder: Literal["explicit"] = "explicit"
    """What a model without a named builder is."""
    bodies: Annotated[tuple[ExplicitBody, ...], Field(min_length=1)]
    """In any order; the model has them with parents first and otherwise as they are written."""
    sites: tuple[ExplicitSite, ...] = ()
    """The points where pair forces act."""

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """A copy in the given units; raises CaseError for a missing parent, a loop of joints or a site on no body."""
        self._connected(where)
        return super().resolved(units, where)

    def _connected(self, where: str) -> None:
        number: dict[str, int] = {}
        for k, body in enumerate(self.bodies):
            key = f"{where}.bodies[{k}].name"
            if body.name == GROUND:
                raise CaseError(f"{key}: '{GROUND}' is what bodies without a parent are joined to; choose another name")
            if body.name in number:
                raise CaseError(f"{key}: '{body.name}' is already the name of {where}.bodies[{number[body.name]}]")
            number[body.name] = k
        for k, body in enumerate(self.bodies):
            if body.parent != GROUND and body.parent not in number:
                raise CaseError(
                    f"{where}.bodies[{k}].parent: body '{body.name}' is joined to '{body.parent}', which is no body of "
                    f"this model{_close(body.parent, [*number, GROUND])}"
                )
        for k, site in enumerate(self.sites):
            if site.body != GROUND and site.body not in number:
                raise CaseError(
                    f"{where}.sites[{k}].body: there is no body '{site.body}' to carry this site"
                    f"{_close(site.body, [*number, GROUND])}"
                )
        self._parents_first(where)

    def _parents_first(self, where: str) -> list[ExplicitBody]:
        """The bodies in file order, but each after its parent; raises CaseError for a loop."""
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

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies and sites to a builder, for a declaration that has been resolved."""
        for body in self._parents_first("model"):
            builder.add_body(
                body.name,
                mass=body.mass,
                inertia=body.inertia,
                com=body.com,
                parent=None if body.parent == GROUND else body.parent,
                joint=body.connection(),
                position=body.position,
                rotation=body.rotation,
                q=body.q,
                u=body.u,
            )
        for site in self.sites:
            carrier = None if site.body == GROUND else site.body
            builder.add_site(carrier, position=site.position, charge=site.charge, kind=site.kind, group=site.group)


def _close(name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""


@contextmanager
def _as_case_error(key: str = "") -> Iterator[None]:
    try:
        yield
    except ModelError as error:
        raise CaseError(f"{key}: {error}" if key else str(error)) from None
