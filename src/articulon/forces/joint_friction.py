"""Damping and Coulomb friction of joints, booked in the channel ``damping``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import BodyName, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.base import AdjointAt, At, Force, Merging, TangentAt, Term
from articulon.forces.selection import matching, still_moves
from articulon.kernels import jit
from articulon.lanes import choose
from articulon.model import Model
from articulon.model.joints import UNBOUND
from articulon.model.state import DAMPING
from articulon.passes import Bound, pass_of

Coefficient = Quantity | dict[BodyName, Quantity]


class Part(NamedTuple):
    """Speeds of a joint that share one direction of friction."""

    body: int
    """Body that the joint carries."""
    start: int
    """Index of the first of these speeds in the model."""
    end: int
    """One past the index of the last."""


class Row(NamedTuple):
    """One row of ``JointFrictions``."""

    start: int
    end: int
    damping: float
    friction: float
    width: float


class JointFrictions(NamedTuple):
    """Damping and Coulomb friction of joints. Each row covers speeds that share one direction: those of a spherical
    joint, of a free translation, or a single one."""

    start: np.ndarray
    """First speed of each row, shape (rows,)."""
    end: np.ndarray
    """One past the index of the last speed of each row, shape (rows,)."""
    damping: np.ndarray
    """Damping coefficient c [mass/time, or mass length²/time], shape (rows,)."""
    friction: np.ndarray
    """Magnitude μ of the Coulomb friction [force, or torque], shape (rows,)."""
    width: np.ndarray
    """Regularisation speed u_s of the friction [velocity, or angular velocity], shape (rows,)."""


def no_frictions() -> JointFrictions:
    """A table without rows."""
    return JointFrictions(*(np.zeros(0, dtype=np.int64) for _ in range(2)), *(np.zeros(0) for _ in range(3)))


class JointResistance(Force):
    """Base of damping and friction of joints."""

    on_joints: ClassVar[bool] = True
    resistance: ClassVar = "joints"
    side_by_side: ClassVar[bool] = True

    def rows(self, model: Model, where: str) -> list[Row]:
        """Rows that this declaration adds to the kernels' table."""
        raise NotImplementedError

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for bodies that do not exist, or whose joints do not have such a motion."""
        self.rows(model, where)

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> JointFrictions:
        """See :class:`Force`."""
        rows = [row for where, force in declared for row in force.rows(model, where)]
        return JointFrictions(
            np.array([row.start for row in rows], dtype=np.int64),
            np.array([row.end for row in rows], dtype=np.int64),
            np.array([row.damping for row in rows], dtype=np.float64),
            np.array([row.friction for row in rows], dtype=np.float64),
            np.array([row.width for row in rows], dtype=np.float64),
        )

    @classmethod
    def channels(cls, table: JointFrictions) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (), (DAMPING,)

    @classmethod
    def reads_speeds(cls, table: JointFrictions) -> bool:
        """See :class:`Force`."""
        return False

    @classmethod
    def fill(cls, table: JointFrictions, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield joint_frictions.bind(table, at.u, at.channels.joint[DAMPING])

    @classmethod
    def fill_without_resistance(cls, table: JointFrictions, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield from ()

    @classmethod
    def adjoint(cls, table: JointFrictions, gradient: JointFrictions, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield joint_friction_adjoint.bind(table, gradient, at.u, at.weight, at.by_speed)

    @classmethod
    def tangent(cls, table: JointFrictions, change: JointFrictions, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield joint_friction_tangent.bind(table, change, at.u, at.speed, at.joint)

    @classmethod
    def resists(cls, table: JointFrictions) -> bool:
        """See :class:`Force`."""
        return True

    @classmethod
    def coarsen(cls, table: JointFrictions, merging: Merging, links: int, speeds: int) -> JointFrictions | None:
        """See :class:`Force`."""
        left = merging.moves[table.start]
        start = merging.u_of[table.start[left]]
        width = table.end[left] - table.start[left]
        if not left.any():
            return None
        return JointFrictions(start, start + width, *(column[left] for column in table[2:]))

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self | None:
        """See :class:`Force`. The result names its joints, so that bodies that become free in the coarse model are not
        added."""
        update: dict[str, Any] = {}
        for key in ("rotational", "translational"):
            value = getattr(self, key)
            if value is None:
                continue
            parts = _parts(model, key)
            if isinstance(value, dict):
                chosen = {k: c for name, c in value.items() for k in matching(model, name, where)}
            else:
                chosen = {k: value for k in parts if binds(model, k)}
            left = {model.names[k]: c for k, c in chosen.items() if k in parts and still_moves(model, coarse, k)}
            update[key] = left or None
        return self.model_copy(update=update) if any(update.values()) else None


def resistance_of(terms: Iterable[Term]) -> JointFrictions | None:
    """Return all damping and friction of joints in a model as one table; None if there is none."""
    tables = [term.table for term in terms if term.kind.resistance == "joints"]
    return JointFrictions(*(np.concatenate(columns) for columns in zip(*tables, strict=True))) if tables else None


class JointDamping(JointResistance):
    """τ = −c u on the speeds u of joints.

    A coefficient is one number for all joints that connect bodies and have such a motion. Or it is a table with one
    number for each named body, which selects the joint that carries it. A name ending in ``*`` means all bodies whose
    names begin so. If a body has two entries, the later one counts. A free or xyz joint, which connects no bodies, has
    damping only if a table names its body. Loop constraints have no damping. Damping acts without noise: a joint with
    damping cools below the temperature of a bath.
    """

    kind: Literal["joint-damping"] = "joint-damping"
    rotational: Annotated[Coefficient | None, Dimension("rotational_drag", minimum=0)] = None
    """c of rotations of the joints [torque per angular speed]."""
    translational: Annotated[Coefficient | None, Dimension("translational_drag", minimum=0)] = None
    """c of translations of the joints [force per speed]."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.rotational is None and self.translational is None:
            raise ValueError("give rotational or translational, or both")
        return self

    def rows(self, model: Model, where: str) -> list[Row]:
        """Rows that this declaration adds to the kernels' table."""
        parts = _chosen(model, self.rotational, self.translational, where)
        return [Row(part.start, part.end, c, 0.0, 1.0) for c, part, _ in parts]


class JointFriction(JointResistance):
    """Coulomb friction of joints, regularised near rest: τ = −μ u/|u| tanh(|u|/u_s).

    |u| is the norm of the three speeds of a spherical joint or of a free translation, and of each revolute or prismatic
    speed alone. Below u_s the friction falls to zero, so that a joint under load creeps instead of sticking: choose u_s
    small compared with the speeds of interest. Steps of an integrator must resolve the time inertia · u_s/μ; steps of
    ``friction-implicit`` are stable without this condition. Magnitudes are chosen as for :class:`JointDamping`.
    """

    kind: Literal["joint-friction"] = "joint-friction"
    rotational: Annotated[Coefficient | None, Dimension("torque", minimum=0)] = None
    """μ of rotations of the joints [torque]."""
    translational: Annotated[Coefficient | None, Dimension("force", minimum=0)] = None
    """μ of translations of the joints [force]."""
    rotational_speed: Annotated[Quantity | None, Dimension("angular_velocity", minimum=0, exclusive=True)] = None
    """u_s of rotations [angular speed]; required with ``rotational``."""
    translational_speed: Annotated[Quantity | None, Dimension("velocity", minimum=0, exclusive=True)] = None
    """u_s of translations [speed]; required with ``translational``."""

    @model_validator(mode="after")
    def _with_speeds(self) -> Self:
        if self.rotational is None and self.translational is None:
            raise ValueError("give rotational or translational, or both")
        for name in ("rotational", "translational"):
            if (getattr(self, name) is None) != (getattr(self, f"{name}_speed") is None):
                raise ValueError(f"{name} and {name}_speed, below which friction fades, belong together: give both")
        return self

    def rows(self, model: Model, where: str) -> list[Row]:
        """Rows that this declaration adds to the kernels' table."""
        parts = _chosen(model, self.rotational, self.translational, where)
        speeds = {"rotational": self.rotational_speed, "translational": self.translational_speed}
        return [Row(part.start, part.end, 0.0, size, float(speeds[key] or 0.0)) for size, part, key in parts]


def _chosen(
    model: Model, rotational: Coefficient | None, translational: Coefficient | None, where: str
) -> Iterator[tuple[float, Part, str]]:
    """Return every part that has a coefficient, with the coefficient and its key."""
    for key, value in (("rotational", rotational), ("translational", translational)):
        if value is None:
            continue
        parts = _parts(model, key)
        if isinstance(value, dict):
            chosen = _by_body(model, value, parts, f"{where}.{key}", key)
        else:
            chosen = {body: float(value) for body in parts if binds(model, body)}
            if not chosen:
                raise ModelError(
                    f"{where}.{key}: no joint of this model {_does(key)} and connects it to others; name the "
                    "bodies of free and xyz joints in a table, or leave it out"
                )
        for body, number in chosen.items():
            for part in parts[body]:
                yield number, part, key


def _by_body(
    model: Model, table: dict[str, Quantity], parts: dict[int, list[Part]], where: str, key: str
) -> dict[int, float]:
    chosen: dict[int, float] = {}
    for pattern, number in table.items():
        bodies = matching(model, pattern, where)
        able = [body for body in bodies if body in parts]
        if not able:
            body = bodies[0]
            raise ModelError(
                f"{where}: body '{model.names[body]}' has a {model.joint_name(body)} joint, not one that {_does(key)}"
            )
        chosen.update(dict.fromkeys(able, float(number)))
    return chosen


def binds(model: Model, body: int) -> bool:
    """Whether the joint of a body connects it to another body or to the ground; a free or xyz joint does not."""
    return model.joints[body].kind not in UNBOUND


def _does(key: str) -> str:
    return "rotates its body" if key == "rotational" else "translates its body"


def _parts(model: Model, key: str) -> dict[int, list[Part]]:
    """Rotational or translational parts of the joints, by body."""
    found: dict[int, list[Part]] = {}
    for i, body in enumerate(model.head.tolist()):
        joint, start = model.joints[body], int(model.forest.u_start[i])
        middle, end = start + joint.translations, start + joint.nu
        if key == "translational":
            parts = [Part(body, start, middle)]
        elif joint.quaternion is not None:
            parts = [Part(body, middle, end)]
        else:  # revolute axes, each with its own bearing
            parts = [Part(body, k, k + 1) for k in range(middle, end)]
        parts = [part for part in parts if part.end > part.start]
        if parts:
            found[body] = parts
    return dict(sorted(found.items()))


@pass_of
def joint_frictions(table, u, joint):
    """Add −(c + μ tanh(|u|/u_s)/|u|) u to the joints' generalised forces."""
    starts, ends, damping, friction, width = table.start, table.end, table.damping, table.friction, table.width
    for r in range(starts.size):
        s = damping[r]
        if friction[r] > 0.0:
            total = 0.0 * u[starts[r]]  # zero of the same type as the speeds
            for k in range(starts[r], ends[r]):
                total += u[k] * u[k]
            speed = math.sqrt(total)
            s += friction[r] * choose(speed > 0.0, math.tanh(speed / width[r]) / speed, 1.0 / width[r])
        for k in range(starts[r], ends[r]):
            joint[k] -= s * u[k]


@jit
def friction_rates(table, r, u):
    """c + μ f with f = tanh(|u|/u_s)/|u| of a row, then f, μ f'/|u| with f' = df/d|u|, and μ ∂f/∂u_s."""
    total = 0.0
    for k in range(table.start[r], table.end[r]):
        total += u[k] * u[k]
    speed, width, size = math.sqrt(total), table.width[r], table.friction[r]
    x = speed / width
    tanh = math.tanh(x)
    sech2 = 1.0 - tanh * tanh
    f, bend = 1.0 / width, 0.0
    if speed > 0.0:
        f = tanh / speed
    if x < 0.03:  # a series, because rounding would destroy the difference
        y = x * x
        bend = -2.0 / 3.0 + y * (8.0 / 15.0 + y * (-34.0 / 105.0 + y * 496.0 / 2835.0))
    else:
        bend = (sech2 - tanh / x) / (x * x)
    return table.damping[r] + size * f, f, size * bend / (width * width * width), -size * sech2 / (width * width)


@pass_of
def joint_friction_adjoint(table, gradient, u, weight, by_speed):
    """Add the derivatives of −(c + μ f) λ·u with respect to speeds, c, μ and u_s."""
    starts, ends = table.start, table.end
    for r in range(starts.size):
        s, f, bend, by_width = friction_rates(table, r, u)
        power = 0.0
        for k in range(starts[r], ends[r]):
            power += weight[k] * u[k]
        for k in range(starts[r], ends[r]):
            by_speed[k] -= s * weight[k] + bend * power * u[k]
        gradient.damping[r] -= power
        gradient.friction[r] -= f * power
        gradient.width[r] -= by_width * power


@pass_of
def joint_friction_tangent(table, change, u, speed, joint):
    """Add the changes of −(c + μ f) u."""
    starts, ends = table.start, table.end
    for r in range(starts.size):
        s, f, bend, by_width = friction_rates(table, r, u)
        along = 0.0
        for k in range(starts[r], ends[r]):
            along += u[k] * speed[k]
        changed = bend * along + change.damping[r] + f * change.friction[r] + by_width * change.width[r]
        for k in range(starts[r], ends[r]):
            joint[k] -= s * speed[k] + changed * u[k]
