"""Springs with damping between points of two bodies, or of a body and the ground."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    scale,
    store_from,
    sub,
)
from articulon.declaration import BodyOrGround, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.base import AdjointAt, At, EnergyAt, Force, Merging, TangentAt, Term
from articulon.forces.selection import body_index, on_link
from articulon.kernels import jit
from articulon.model import Model
from articulon.model.state import DAMPING, POTENTIAL
from articulon.passes import Bound, pass_of
from articulon.thermostats.total_momentum import OUTSIDE

GROUND = "ground"
"""Name of the ground as carrier of a point."""


class PointSprings(NamedTuple):
    """Springs with damping between two points."""

    link: np.ndarray
    """Links of the two ends, −1 for the ground, shape (springs, 2)."""
    point: np.ndarray
    """The two points in the links' frames [length], shape (springs, 6)."""
    constants: np.ndarray
    """Stiffness, rest length and damping [force/length, length, force time/length], shape (springs, 3)."""


class PointSpring(Force):
    """U = ½ k (r − r₀)² with r the distance between two points, and a damping force −c r' along their line.

    The spring is booked in the channel ``potential``, its damping in ``damping``. The steps of ``friction-implicit``
    solve for the damping, so that it does not limit their length.
    """

    energy_channel = POTENTIAL
    side_by_side: ClassVar[bool] = True
    resistance: ClassVar = "dashpots"

    kind: Literal["point-spring"] = "point-spring"
    name: str | None = None
    """Name of the spring, to distinguish several."""
    bodies: tuple[BodyOrGround, BodyOrGround]
    """The two bodies that it connects, or a body and ``"ground"``."""
    points: Annotated[
        tuple[tuple[Quantity, Quantity, Quantity], tuple[Quantity, Quantity, Quantity]], Dimension("length")
    ] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    """Attachment point on each, in the frame of the body or of the world [length]."""
    stiffness: Annotated[Quantity, Dimension("stiffness", minimum=0)]
    """k [force/length]."""
    rest_length: Annotated[Quantity, Dimension("length", minimum=0)] = 0.0
    """r₀ [length]."""
    damping: Annotated[Quantity, Dimension("translational_drag", minimum=0)] = 0.0
    """c [force time/length]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for bodies that do not exist or cannot move relative to each other."""
        self.ends(model, where)

    def ends(self, model: Model, where: str) -> list[tuple[int, np.ndarray]]:
        """Return, for both ends, the link (−1 for the ground) and the point in the link's frame."""
        found = []
        for k, (name, point) in enumerate(zip(self.bodies, self.points, strict=True)):
            place = np.array([float(x) for x in point])
            if name == GROUND:
                found.append((-1, place))
                continue
            body = body_index(model, name, f"{where}.bodies[{k}]")
            found.append((int(model.link[body]), on_link(model, body, place)))
        if found[0][0] == found[1][0]:
            raise ModelError(
                f"{where}.bodies: '{self.bodies[0]}' and '{self.bodies[1]}' do not move relative to each "
                "other; a spring connects two bodies, or a body and 'ground'"
            )
        return found

    def momentum_changes(self, model: Model) -> str | None:
        """See :class:`Force`. It conserves the momentum if both ends are on bodies that move."""
        ends = [-1 if name == "ground" else int(model.link[model.body(name)]) for name in self.bodies]
        return OUTSIDE if min(ends) < 0 else None

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> PointSprings:
        """See :class:`Force`."""
        ends = [force.ends(model, where) for where, force in declared]
        return PointSprings(
            np.array([[link for link, _ in pair] for pair in ends], dtype=np.int64).reshape(-1, 2),
            np.array([[point for _, point in pair] for pair in ends], dtype=np.float64).reshape(-1, 6),
            np.array([[float(x) for x in (one.stiffness, one.rest_length, one.damping)] for _, one in declared]),
        )

    @classmethod
    def channels(cls, table: PointSprings) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (POTENTIAL, DAMPING) if cls.resists(table) else (POTENTIAL,), ()

    @classmethod
    def reads_speeds(cls, table: PointSprings) -> bool:
        """See :class:`Force`."""
        return False

    @classmethod
    def fill(cls, table: PointSprings, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield from cls.fill_without_resistance(table, at)
        if cls.resists(table):
            yield point_spring_dampings.bind(table, at.ws, at.channels.wrench[DAMPING])

    @classmethod
    def fill_without_resistance(cls, table: PointSprings, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield point_spring_wrenches.bind(table, at.ws, at.channels.wrench[POTENTIAL])

    @classmethod
    def energy(cls, table: PointSprings, at: EnergyAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield point_spring_energy.bind(table, at.ws, at.result)

    @classmethod
    def adjoint(cls, table: PointSprings, gradient: PointSprings, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield point_spring_adjoint.bind(table, gradient, at.ws, at.motion, at.by_place, at.by_velocity)

    @classmethod
    def tangent(cls, table: PointSprings, change: PointSprings, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield point_spring_tangent.bind(table, change, at.ws, at.moved, at.twist, at.wrench)

    @classmethod
    def resists(cls, table: PointSprings) -> bool:
        """See :class:`Force`."""
        return bool(table.constants[:, 2].any())

    @classmethod
    def coarsen(cls, table: PointSprings, merging: Merging, links: int, speeds: int) -> PointSprings | None:
        """See :class:`Force`."""
        link = merging.carriers(table.link)
        left = link[:, 0] != link[:, 1]
        if not left.any():
            return None
        ends = [
            merging.points(table.link[left, k].copy(), table.point[left, 3 * k : 3 * k + 3].copy()) for k in range(2)
        ]
        return PointSprings(np.ascontiguousarray(link[left]), np.hstack(ends), table.constants[left])

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self | None:
        """See :class:`Force`."""
        links = [-1 if name == GROUND else int(coarse.link[coarse.body(name)]) for name in self.bodies]
        return self if links[0] != links[1] else None


def damped_springs(terms: Iterable[Term]) -> PointSprings | None:
    """Return the springs with damping among the forces of a model; None if there are none."""
    tables = [term.table for term in terms if term.kind.resistance == "dashpots" and term.kind.resists(term.table)]
    if not tables:
        return None
    table = PointSprings(*(np.concatenate(columns) for columns in zip(*tables, strict=True)))
    damped = table.constants[:, 2] > 0.0
    return PointSprings(*(column[damped] for column in table))


@jit
def arm_of(i, local, ws):
    """Vector from the origin of link i, or of the world, to a point given in its frame."""
    return apply(load_matrix(ws.rotation, i), local) if i >= 0 else local


@jit
def place_of(i, arm, ws):
    return add(load(ws.position, i), arm) if i >= 0 else arm


@jit
def velocity_of(i, arm, ws):
    v = (0.0, 0.0, 0.0)
    if i >= 0:
        v = add(load_from(ws.twist, i, 0), cross(load_from(ws.twist, i, 3), arm))
    return v


@jit
def pull_at(wrench, i, arm, force):
    """Add a force at a point to its link's wrench about the link's origin."""
    if i >= 0:
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), force))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), cross(arm, force)))


@jit
def ends_of(springs, s, ws):
    """Return the two links of a spring, the arms from their origins to its points, and d = x₂ − x₁ [length]; world
    axes."""
    i, j = springs.link[s, 0], springs.link[s, 1]
    a, b = arm_of(i, load_from(springs.point, s, 0), ws), arm_of(j, load_from(springs.point, s, 3), ws)
    return i, j, a, b, sub(place_of(j, b, ws), place_of(i, a, ws))


@jit
def approach(i, j, a, b, d, ws):
    """Return d·(v₂ − v₁) of the ends of a spring, as given by ``ends_of`` [length²/time]."""
    return dot(d, sub(velocity_of(j, b, ws), velocity_of(i, a, ws)))


@pass_of
def point_spring_wrenches(springs, ws, wrench):
    """Add −k (r − r₀) d/r, with d = x₂ − x₁, to the wrenches (links, 6)."""
    constants = springs.constants
    for s in range(constants.shape[0]):
        i, j, a, b, d = ends_of(springs, s, ws)
        k, rest = constants[s, 0], constants[s, 1]
        tension = k
        if rest > 0.0:
            # A spring of zero length has no direction: the force is then NaN, which the run detects.
            tension = k - k * rest / math.sqrt(dot(d, d))
        pull_at(wrench, i, a, scale(tension, d))
        pull_at(wrench, j, b, scale(-tension, d))


@pass_of
def point_spring_dampings(springs, ws, wrench):
    """Add −c (d·v) d/r² to the wrenches (links, 6)."""
    for s in range(springs.constants.shape[0]):
        c = springs.constants[s, 2]
        if c > 0.0:
            i, j, a, b, d = ends_of(springs, s, ws)
            drag = c * approach(i, j, a, b, d, ws) / dot(d, d)
            pull_at(wrench, i, a, scale(drag, d))
            pull_at(wrench, j, b, scale(-drag, d))


@pass_of
def point_spring_energy(springs, ws, result):
    """Add Σ ½ k (r − r₀)²."""
    constants = springs.constants
    total = 0.0
    for s in range(constants.shape[0]):
        _, _, _, _, d = ends_of(springs, s, ws)
        stretch = math.sqrt(dot(d, d)) - constants[s, 1]
        total += 0.5 * constants[s, 0] * stretch * stretch
    result[POTENTIAL] += total


@jit
def motion_of(i, arm, motion):
    """Velocity of a point for a motion of the links (links, 6), angular part first, and the angular velocity."""
    w, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if i >= 0:
        w = load_from(motion, i, 0)
        v = add(load_from(motion, i, 3), cross(w, arm))
    return v, w


@jit
def tension_rates(constants, s, d, v):
    """Tension divided by length, T, where T d is the force on the first end; its derivatives with respect to d and v,
    and to k, r₀ and c."""
    k, rest, c = constants[s, 0], constants[s, 1], constants[s, 2]
    r2, along = dot(d, d), dot(d, v)
    by_k, by_rest, by_c = 1.0, 0.0, 0.0
    by_d, by_v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if r2 > 0.0:  # a spring of zero length has no direction, and needs none if its force is only k d
        r = math.sqrt(r2)
        by_k, by_rest, by_c = 1.0 - rest / r, -k / r, along / r2
        by_d = add(scale(k * rest / (r2 * r) - 2.0 * c * along / (r2 * r2), d), scale(c / r2, v))
        by_v = scale(c / r2, d)
    return k * by_k + c * by_c, by_d, by_v, (by_k, by_rest, by_c)


@jit
def end_adjoint(i, arm, by_d, by_v, by_motion, w, turning, ws, by_place, by_velocity, gradient, s, first):
    """Add the derivatives for one end of a spring with respect to displacements and velocities of its link. Those with
    respect to its point go to row s of ``gradient``, from a given column on."""
    by_arm = add(by_d, add(cross(by_motion, turning), cross(by_v, w)))
    local = by_arm
    if i >= 0:
        pull_at(by_velocity, i, arm, by_v)
        moment = add(load_from(by_place, i, 3), cross(arm, by_arm))
        store_from(by_place, i, 0, add(load_from(by_place, i, 0), by_d))
        store_from(by_place, i, 3, moment)
        local = apply_t(load_matrix(ws.rotation, i), by_arm)
    store_from(gradient, s, first, add(load_from(gradient, s, first), local))


@jit
def angular_velocity_of(i, ws):
    w = (0.0, 0.0, 0.0)
    if i >= 0:
        w = load_from(ws.twist, i, 3)
    return w


@pass_of
def point_spring_adjoint(springs, gradient, ws, motion, by_place, by_velocity):
    """Add the derivatives of −T d·(V₂ − V₁) with respect to displacements and velocities of links (links, 6) and to the
    numbers of the table. V₁ and V₂ are the virtual velocities of the ends."""
    for s in range(springs.constants.shape[0]):
        i, j, a, b, d = ends_of(springs, s, ws)
        v = sub(velocity_of(j, b, ws), velocity_of(i, a, ws))
        tension, by_d, by_v, by_constants = tension_rates(springs.constants, s, d, v)
        first, first_turn = motion_of(i, a, motion)
        second, second_turn = motion_of(j, b, motion)
        D = sub(second, first)
        power = dot(d, D)
        by_d = sub(scale(-power, by_d), scale(tension, D))
        by_v, by_motion = scale(-power, by_v), scale(-tension, d)
        w = angular_velocity_of(j, ws)
        end_adjoint(j, b, by_d, by_v, by_motion, w, second_turn, ws, by_place, by_velocity, gradient.point, s, 3)
        by_d, by_v, by_motion, w = (
            scale(-1.0, by_d),
            scale(-1.0, by_v),
            scale(-1.0, by_motion),
            angular_velocity_of(i, ws),
        )
        end_adjoint(i, a, by_d, by_v, by_motion, w, first_turn, ws, by_place, by_velocity, gradient.point, s, 0)
        for k in range(3):
            gradient.constants[s, k] -= power * by_constants[k]


@jit
def end_changes(i, arm, local, ws, moved, twist):
    """Changes of the arm, position and velocity of one end of a spring."""
    if i < 0:
        return local, local, (0.0, 0.0, 0.0)
    arms = add(cross(load_from(moved, i, 3), arm), apply(load_matrix(ws.rotation, i), local))
    w, dw = load_from(ws.twist, i, 3), load_from(twist, i, 3)
    velocity = add(load_from(twist, i, 0), add(cross(dw, arm), cross(w, arms)))
    return arms, add(load_from(moved, i, 0), arms), velocity


@jit
def pull_change(wrench, i, arm, arms, force, change):
    """Add the change of the wrench of a force at a point, whose arm changes too."""
    pull_at(wrench, i, arm, change)
    if i >= 0:
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), cross(arms, force)))


@pass_of
def point_spring_tangent(springs, change, ws, moved, twist, wrench):
    """Add the changes of the springs' elastic and damping forces to the wrenches (links, 6)."""
    for s in range(springs.constants.shape[0]):
        i, j, a, b, d = ends_of(springs, s, ws)
        v = sub(velocity_of(j, b, ws), velocity_of(i, a, ws))
        tension, by_d, by_v, by_constants = tension_rates(springs.constants, s, d, v)
        da, xa, va = end_changes(i, a, load_from(change.point, s, 0), ws, moved, twist)
        db, xb, vb = end_changes(j, b, load_from(change.point, s, 3), ws, moved, twist)
        dd = sub(xb, xa)
        t = dot(by_d, dd) + dot(by_v, sub(vb, va))
        for k in range(3):
            t += by_constants[k] * change.constants[s, k]
        force, changed = scale(tension, d), add(scale(t, d), scale(tension, dd))
        pull_change(wrench, i, a, da, force, changed)
        pull_change(wrench, j, b, db, scale(-1.0, force), scale(-1.0, changed))
