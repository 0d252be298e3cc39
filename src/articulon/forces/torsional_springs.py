"""Torsional springs that hold joints to rest positions (Guy 2018, 5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from articulon.algebra.rotations import (
    conjugate,
    load_quaternion,
    product,
    quaternion_at,
    rotation_vector,
    rotation_vector_change,
)
from articulon.algebra.vectors import add_scaled, dot, load_at, scale, store_at
from articulon.declaration import BodyName, Dimension, Number, Quantity
from articulon.errors import ModelError
from articulon.forces.base import AdjointAt, At, EnergyAt, Force, Merging, TangentAt
from articulon.forces.selection import matching, still_moves
from articulon.kernels import jit
from articulon.model import Model
from articulon.model.body_checks import UNIT_TOLERANCE
from articulon.model.joints import REVOLUTE, SPHERICAL
from articulon.model.state import CONFORMATIONAL
from articulon.passes import Bound, pass_of


class Springs(NamedTuple):
    """Torsional springs on revolute and spherical joints."""

    link: np.ndarray
    """Link of each spring, shape (springs,)."""
    stiffness: np.ndarray
    """Stiffness [energy/rad²], shape (springs,)."""
    rest: np.ndarray
    """Rest angle [rad] in the first column, or Euler parameters, shape (springs, 4)."""


class TorsionalSprings(Force):
    """U = ½ k φ², with φ the angle from rest of a revolute joint, or the rotation vector from rest of a spherical one.

    The torque of a spherical joint is −k φ in the body's frame. The energy has a kink at half a turn from rest, where
    the shortest rotation back changes direction.
    """

    positional: ClassVar[tuple[str, ...]] = ("stiffness",)
    kind: Literal["torsional-springs"] = "torsional-springs"
    energy_channel = CONFORMATIONAL
    side_by_side: ClassVar[bool] = True
    on_joints: ClassVar[bool] = True
    stiffness: Annotated[dict[BodyName, Quantity], Dimension("torsional_stiffness", minimum=0)]
    """k by the body that the joint carries [energy/rad²]; a name that ends in ``*`` selects all bodies whose names
    begin with the part before it, and of two entries for a body the later one counts."""
    rest: dict[BodyName, Literal["initial"] | Number | tuple[Number, Number, Number, Number]] = {}
    """Rest angle [rad] or rest Euler parameters by body, or ``"initial"``; zero rotation by default."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for bodies without a joint that can have such a spring."""
        self.rows(model, where)

    def rows(self, model: Model, where: str) -> list[tuple[int, float, np.ndarray]]:
        """Return body, stiffness and rest of each spring."""
        rest: dict[int, object] = {}
        for pattern, value in self.rest.items():
            for body in matching(model, pattern, f"{where}.rest"):
                rest[body] = value
        stiffness: dict[int, float] = {}
        for pattern, k in self.stiffness.items():
            for body in matching(model, pattern, f"{where}.stiffness"):
                kind = int(model.kinds[body])
                if kind not in (REVOLUTE, SPHERICAL):
                    raise ModelError(
                        f"{where}.stiffness: body '{model.names[body]}' has a {model.joint_name(body)} joint; "
                        "torsional springs act on revolute and spherical joints"
                    )
                stiffness[body] = float(k)
        for body in rest:
            if body not in stiffness:
                raise ModelError(f"{where}.rest: body '{model.names[body]}' has no spring in stiffness")
        return [(body, k, self._rest(model, body, rest.get(body), where)) for body, k in stiffness.items()]

    @staticmethod
    def _rest(model: Model, body: int, value: object, where: str) -> np.ndarray:
        here = f"{where}.rest, body '{model.names[body]}'"
        spherical = int(model.kinds[body]) == SPHERICAL
        if value is None:
            return np.array([1.0 if spherical else 0.0, 0.0, 0.0, 0.0])
        if value == "initial":
            start = model.forest.q_start[model.link[body]]
            value = tuple(model.q0[start : start + 4]) if spherical else float(model.q0[start])
        if spherical != isinstance(value, tuple):
            wanted = "four Euler parameters" if spherical else "an angle"
            raise ModelError(f"{here}: a {model.joint_name(body)} joint rests at {wanted}, got {value!r}")
        result = np.zeros(4)
        result[: 4 if spherical else 1] = np.asarray(value, dtype=np.float64)
        if spherical and abs(np.linalg.norm(result) - 1.0) > UNIT_TOLERANCE:
            raise ModelError(f"{here}: Euler parameters {value!r} do not have the norm 1")
        return result

    def momentum_changes(self, model: Model) -> str | None:
        """See :class:`Force`. The torques act between bodies."""
        return None

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> Springs:
        """See :class:`Force`."""
        rows = [row for where, force in declared for row in force.rows(model, where)]
        return Springs(
            np.array([model.link[body] for body, _, _ in rows], dtype=np.int64),
            np.array([k for _, k, _ in rows], dtype=np.float64),
            np.array([rest for _, _, rest in rows]).reshape(-1, 4),
        )

    @classmethod
    def channels(cls, table: Springs) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (), (CONFORMATIONAL,)

    @classmethod
    def reads_speeds(cls, table: Springs) -> bool:
        """See :class:`Force`."""
        return False

    @classmethod
    def fill(cls, table: Springs, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield spring_torques.bind(at.forest, table, at.q, at.channels.joint[CONFORMATIONAL])

    @classmethod
    def energy(cls, table: Springs, at: EnergyAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield spring_energy.bind(at.forest, table, at.q, at.result)

    @classmethod
    def adjoint(cls, table: Springs, gradient: Springs, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield spring_adjoint.bind(at.forest, table, gradient, at.q, at.weight, at.by_coordinate)

    @classmethod
    def tangent(cls, table: Springs, change: Springs, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield spring_tangent.bind(at.forest, table, change, at.q, at.shift, at.joint)

    @classmethod
    def joint_stiffness(cls, table: Springs) -> Iterable[tuple[int, float]]:
        """See :class:`Force`."""
        return zip(table.link.tolist(), table.stiffness.tolist(), strict=True)

    @classmethod
    def coarsen(cls, table: Springs, merging: Merging, links: int, speeds: int) -> Springs | None:
        """See :class:`Force`."""
        left = ~merging.locked[table.link]
        return Springs(merging.link[table.link[left]], table.stiffness[left], table.rest[left]) if left.any() else None

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self | None:
        """See :class:`Force`."""
        rows = [row for row in self.rows(model, where) if still_moves(model, coarse, row[0])]
        rest = {
            model.names[body]: tuple(rest) if model.joints[body].nq == 4 else float(rest[0]) for body, _, rest in rows
        }
        left = {model.names[body]: k for body, k, _ in rows}
        return self.model_copy(update={"stiffness": left, "rest": rest}) if rows else None


@jit
def rotation_from_rest(rest, s, q, k):
    """Rotation vector of a spherical joint, whose Euler parameters begin at k, from the rest of spring s."""
    return rotation_vector(product(conjugate(load_quaternion(rest, s)), quaternion_at(q, k)))


@pass_of
def spring_torques(forest, springs, q, joint):
    """Add −k φ to the joints' generalised forces."""
    links, stiffness, rest = springs.link, springs.stiffness, springs.rest
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for s in range(links.size):
        i = links[s]
        k, j = q_start[i], u_start[i]
        if kinds[i] == REVOLUTE:
            joint[j] -= stiffness[s] * (q[k] - rest[s, 0])
        else:
            turned = rotation_from_rest(rest, s, q, k)
            store_at(joint, j, add_scaled(load_at(joint, j), -stiffness[s], turned))


@pass_of
def spring_adjoint(forest, springs, gradient, q, weight, by_coordinate):
    """Add the derivatives of −k λ·φ, with weights λ, with respect to coordinates, stiffness and rest angles."""
    links, stiffness, rest = springs.link, springs.stiffness, springs.rest
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for s in range(links.size):
        i = links[s]
        k, j = q_start[i], u_start[i]
        if kinds[i] == REVOLUTE:
            by_coordinate[j] -= stiffness[s] * weight[j]
            gradient.stiffness[s] -= weight[j] * (q[k] - rest[s, 0])
            gradient.rest[s, 0] += stiffness[s] * weight[j]
        else:
            turned = rotation_from_rest(rest, s, q, k)
            w = load_at(weight, j)
            change = rotation_vector_change(scale(-1.0, turned), w)
            store_at(by_coordinate, j, add_scaled(load_at(by_coordinate, j), -stiffness[s], change))
            gradient.stiffness[s] -= dot(w, turned)


@pass_of
def spring_tangent(forest, springs, change, q, shift, joint):
    """Add the changes of −k φ."""
    links, stiffness, rest = springs.link, springs.stiffness, springs.rest
    kinds, q_start, u_start = forest.kind, forest.q_start, forest.u_start
    for s in range(links.size):
        i = links[s]
        k, j = q_start[i], u_start[i]
        if kinds[i] == REVOLUTE:
            joint[j] -= stiffness[s] * (shift[j] - change.rest[s, 0]) + change.stiffness[s] * (q[k] - rest[s, 0])
        else:
            turned = rotation_from_rest(rest, s, q, k)
            moved = rotation_vector_change(turned, load_at(shift, j))
            found = add_scaled(scale(stiffness[s], moved), change.stiffness[s], turned)
            store_at(joint, j, add_scaled(load_at(joint, j), -1.0, found))


@pass_of
def spring_energy(forest, springs, q, result):
    """Add Σ ½ k φ²."""
    links, stiffness, rest = springs.link, springs.stiffness, springs.rest
    kinds, q_start = forest.kind, forest.q_start
    total = 0.0
    for s in range(links.size):
        i = links[s]
        k = q_start[i]
        if kinds[i] == REVOLUTE:
            angle = q[k] - rest[s, 0]
            total += 0.5 * stiffness[s] * angle * angle
        else:
            turned = rotation_from_rest(rest, s, q, k)
            total += 0.5 * stiffness[s] * dot(turned, turned)
    result[CONFORMATIONAL] += total
