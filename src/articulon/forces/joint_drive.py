"""Joint drives that follow given positions and speeds with a limited torque, booked in the channel ``external``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import BodyName, Dimension, Quantity, Whole
from articulon.errors import ModelError
from articulon.forces.base import AdjointAt, At, Force, Merging, TangentAt, Term
from articulon.forces.over_time import check_lasting, cubic, increasing, interpolated, piece_at, slopes
from articulon.forces.selection import FORCE_OF, joint_with, still_moves
from articulon.kernels import jit
from articulon.model import Model
from articulon.model.body_checks import array
from articulon.model.state import EXTERNAL
from articulon.passes import Bound, pass_of

STIFFNESS_OF = {"velocity": "stiffness", "angular_velocity": "torsional_stiffness"}
DAMPING_OF = {"velocity": "translational_drag", "angular_velocity": "rotational_drag"}
"""Dimension of the damping coefficient that belongs to a speed."""
OF_DRIVES = ("link", "component", "ends", "stiffness", "damping", "torque", "speed", "band")
OF_KNOTS = ("knots", "positions", "speeds")
"""Columns of ``Drives`` with one entry per drive, and with one per knot."""
NO_LIMIT = -1.0
"""Value of an absent limit."""


class Drives(NamedTuple):
    """Joint drives, one per row; a drive without target positions has zero stiffness."""

    link: np.ndarray
    """Link that the joint carries, shape (drives,)."""
    component: np.ndarray
    """Index of the joint's speed and coordinate, shape (drives,)."""
    ends: np.ndarray
    """Whether the target is at rest outside the table, shape (drives,)."""
    stiffness: np.ndarray
    """k [torque/angle, or force/length], shape (drives,)."""
    damping: np.ndarray
    """d [torque/angular velocity, or force/velocity], shape (drives,)."""
    torque: np.ndarray
    """τ_max [torque, or force], or ``NO_LIMIT``, shape (drives,)."""
    speed: np.ndarray
    """u_max [angular velocity, or velocity], or ``NO_LIMIT``, shape (drives,)."""
    band: np.ndarray
    """w, width of the range below u_max in which the torque falls to zero, shape (drives,)."""
    start: np.ndarray
    """First knot of a drive, and the number of knots, shape (drives + 1,)."""
    knots: np.ndarray
    """Times of the knots [time], shape (knots,)."""
    positions: np.ndarray
    """Coefficients of the cubic of positions after each knot, highest power first, shape (knots, 4)."""
    speeds: np.ndarray
    """Coefficients of the cubic of speeds after each knot, highest power first, shape (knots, 4)."""


class JointDrive(Force):
    """A motor on one joint that follows positions q_d(t) and speeds u_d(t) within its limits.

    Its torque on a rotation, or force on a translation, is that of a spring and a damper towards the target,

        τ = k (q_d − q) + d (u_d − u),   clipped to   −τ_max g(−u) ≤ τ ≤ τ_max g(u),
        g(u) = min(1, max(0, (u_max − u)/w)),

    with ``stiffness`` k, ``damping`` d, ``max_torque`` τ_max, ``max_speed`` u_max and ``speed_band`` w. The driving
    torque falls from τ_max at the speed u_max − w to zero at u_max; the braking torque is up to τ_max at any speed.
    With w = u_max the torque is the straight line of a direct-current motor, from stall torque to no-load speed. If
    only positions are given, u_d is their rate. Steps of explicit rules must resolve the times I/d and I w/τ_max, with
    I the driven inertia; steps of ``friction-implicit`` are not limited by these times. ``JointDrive("arm",
    positions="30 deg", stiffness=..., damping=...)`` holds a position, ``JointDrive("wheel", speeds="5 rad/s",
    damping=...)`` a speed.

    A driven joint (``add_drive``) follows its motion exactly, with any force that this requires, and has no limits.
    """

    positional: ClassVar[tuple[str, ...]] = ("body", "positions")
    on_joints: ClassVar[bool] = True
    resistance: ClassVar = "drives"
    not_differentiated: ClassVar[tuple[str, ...]] = ("times",)

    kind: Literal["joint-drive"] = "joint-drive"
    body: BodyName
    """Body that the joint carries."""
    component: Whole = 0
    """Index of the joint's speed, from 0."""
    times: Annotated[tuple[Quantity, ...] | None, Dimension("time")] = None
    """Times of the tables, increasing [time]."""
    positions: tuple[Quantity, ...] | None = None
    """q_d at these times [angle, or length], for a coordinate whose rate is the speed; the rotations of spherical,
    swing and free joints have none. Angles are not wrapped. A single number without times applies at all times."""
    speeds: tuple[Quantity, ...] | None = None
    """u_d at these times [angular velocity, or velocity], or a single number."""
    stiffness: Quantity | None = None
    """k, required with positions [torque/angle, or force/length]."""
    damping: Quantity | None = None
    """d, required with speeds and optional with positions [torque/angular velocity, or force/velocity]."""
    max_torque: Quantity | None = None
    """τ_max, the largest torque or force in either direction [torque, or force]; None for no limit."""
    max_speed: Quantity | None = None
    """u_max, the speed at which the driving torque reaches zero [angular velocity, or velocity]; with
    ``max_torque``."""
    speed_band: Quantity | None = None
    """w, the range below ``max_speed`` in which the torque falls to zero, at most ``max_speed``; required if
    ``max_speed`` is given."""
    interpolation: Literal["cubic", "linear"] = "cubic"
    """Interpolation of the tables: the cubic spline (not-a-knot, for four times or more), or straight lines. An
    integrator keeps its order only for smooth forces: with straight lines, let steps end at the times of the table."""
    beyond: Literal["refuse", "hold"] = "refuse"
    """What happens outside the tables: a run that goes there is rejected, or the first and last values hold. If only
    positions are given, the target is then at rest."""

    @model_validator(mode="before")
    @classmethod
    def _constant(cls, data: Any) -> Any:
        """Convert one value without times to a constant table."""
        if not isinstance(data, Mapping) or {"times", "interpolation", "beyond"} & set(data):
            return data
        given = {key: data[key] for key in ("positions", "speeds") if data.get(key) is not None}
        numbers = [isinstance(v, int | float | np.number | str) and not isinstance(v, bool) for v in given.values()]
        if not given or not all(numbers):
            return data
        constant = {key: (value, value) for key, value in given.items()}
        return {**data, **constant, "times": (0.0, 1.0), "interpolation": "linear", "beyond": "hold"}

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.positions is None and self.speeds is None:
            raise ValueError("give positions or speeds to follow, or both")
        if self.times is None:
            raise ValueError("times are needed with tables of positions or speeds; one number alone needs none")
        for name in ("positions", "speeds"):
            table = getattr(self, name)
            if table is not None and len(table) != len(self.times):
                raise ValueError(f"{name} and times must have the same length, got {len(table)} and {len(self.times)}")
        if (self.positions is None) != (self.stiffness is None):
            raise ValueError("positions and stiffness belong together: give both")
        if self.speeds is not None and self.damping is None:
            raise ValueError("damping is needed with speeds")
        if (self.max_speed is None) != (self.speed_band is None):
            raise ValueError("max_speed and speed_band, its fading range, belong together: give both")
        if self.max_speed is not None and self.max_torque is None:
            raise ValueError("max_torque is needed with max_speed")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for a body or component that does not exist, a rotation without a coordinate of its own,
        invalid tables, and numbers that are not above zero."""
        self.gather(model, [(where, self)], None)

    def _number(self, model: Model, key: str, dimension: str, where: str) -> float:
        """Return a number above zero, or ``NO_LIMIT`` for none."""
        value = getattr(self, key)
        if value is None:
            return NO_LIMIT
        number = float(array(value, (), dimension, model.units, f"{where}.{key}"))
        if not number > 0.0:
            raise ModelError(f"{where}.{key}: must be greater than 0, got {value!r}")
        return number

    def _coordinate(self, model: Model, body: int, where: str) -> str:
        """Dimension of the coordinate that belongs to the speed."""
        joint = model.joints[body]
        if joint.quaternion is not None and self.component >= joint.quaternion:
            raise ModelError(
                f"{where}.positions: body '{self.body}' has a {model.joint_name(body)} joint, whose rotations about "
                "axes have no coordinates of their own; give speeds and damping alone, or joints of one axis each"
            )
        return joint.coordinates[self.component][1]

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> Drives:
        """See :class:`Force`."""
        rows = [force._row(model, where) for where, force in declared]
        columns = {name: np.array([row[name] for row in rows]) for name in OF_DRIVES}
        return Drives(
            **columns,
            start=np.cumsum([0, *(row["knots"].size for row in rows)]).astype(np.int64),
            **{name: np.concatenate([row[name] for row in rows]) for name in OF_KNOTS},
        )

    def _row(self, model: Model, where: str) -> dict[str, Any]:
        """Return the drive's entries of the table, without ``start``."""
        assert self.times is not None
        body = joint_with(model, self.body, self.component, where)
        kind = model.joints[body].speeds[self.component][1]
        knots = increasing(self.times, self.interpolation, where)

        def table(key: str, dimension: str) -> np.ndarray:
            values = array(list(getattr(self, key)), (knots.size,), dimension, model.units, f"{where}.{key}")
            return interpolated(knots, values, self.interpolation, where)

        positions = np.zeros((knots.size, 4))
        if self.positions is not None:
            positions = table("positions", self._coordinate(model, body, where))
        number = {
            key: self._number(model, key, dimension[kind], where)
            for key, dimension in (("stiffness", STIFFNESS_OF), ("damping", DAMPING_OF), ("max_torque", FORCE_OF))
        }
        number |= {key: self._number(model, key, kind, where) for key in ("max_speed", "speed_band")}
        if number["speed_band"] > number["max_speed"]:
            raise ModelError(
                f"{where}.speed_band: must be at most max_speed, but {number['speed_band']:g} is more "
                f"than {number['max_speed']:g}"
            )
        return {
            "link": int(model.link[body]),
            "component": int(self.component),
            "ends": int(self.speeds is None and self.beyond == "hold"),
            "stiffness": max(number["stiffness"], 0.0),
            "damping": max(number["damping"], 0.0),
            "torque": number["max_torque"],
            "speed": number["max_speed"],
            "band": number["speed_band"],
            "knots": knots,
            "positions": positions,
            "speeds": slopes(knots, positions) if self.speeds is None else table("speeds", kind),
        }

    @classmethod
    def channels(cls, table: Drives) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (), (EXTERNAL,)

    @classmethod
    def fill(cls, table: Drives, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield drive_joints.bind(at.forest, table, at.time, at.q, at.u, at.channels.joint[EXTERNAL])

    @classmethod
    def fill_without_resistance(cls, table: Drives, at: At) -> Iterator[Bound]:
        """See :class:`Force`. Drives that resist are omitted entirely, because their limits apply to the total
        torque."""
        springs = np.flatnonzero(~resist(table))
        if springs.size:
            yield from cls.fill(drives_of(table, springs), at)

    @classmethod
    def reads_speeds(cls, table: Drives) -> bool:
        """See :class:`Force`."""
        return False

    @classmethod
    def adjoint(cls, table: Drives, gradient: Drives, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield drive_adjoint.bind(
            at.forest, table, gradient, at.time, at.q, at.u, at.weight, at.by_coordinate, at.by_speed
        )

    @classmethod
    def tangent(cls, table: Drives, change: Drives, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield drive_tangent.bind(at.forest, table, change, at.time, at.q, at.u, at.shift, at.speed, at.joint)

    @classmethod
    def resists(cls, table: Drives) -> bool:
        """See :class:`Force`. A damper resists, and so does a torque that falls with the speed."""
        return bool(resist(table).any())

    @classmethod
    def coarsen(cls, table: Drives, merging: Merging, links: int, speeds: int) -> Drives | None:
        """See :class:`Force`."""
        left = np.flatnonzero(~merging.locked[table.link])
        if not left.size:
            return None
        found = drives_of(table, left)
        return found._replace(link=merging.link[found.link])

    def check_duration(self, duration: float, where: str) -> None:
        """See :class:`Force`."""
        if self.times is not None and self.beyond == "refuse":
            check_lasting(self.times, duration, where)

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self | None:
        """See :class:`Force`."""
        return self if still_moves(model, coarse, model.body(self.body)) else None


def resist(table: Drives) -> np.ndarray:
    """Whether each drive resists speeds, by a damper or by a torque that falls with the speed, shape (drives,)."""
    return (table.damping > 0.0) | (table.speed != NO_LIMIT)


def drives_of(table: Drives, rows: np.ndarray) -> Drives:
    """Return the table of the drives in the given rows."""
    spans = [slice(table.start[k], table.start[k + 1]) for k in rows.tolist()]
    return Drives(
        **{name: getattr(table, name)[rows] for name in OF_DRIVES},
        start=np.cumsum([0, *(span.stop - span.start for span in spans)]).astype(np.int64),
        **{name: np.concatenate([getattr(table, name)[span] for span in spans]) for name in OF_KNOTS},
    )


def resisting_drives(terms: Iterable[Term]) -> Drives | None:
    """Return the drives of a model that resist speeds as one table; None if there are none."""
    for term in terms:
        if term.kind is JointDrive and JointDrive.resists(term.table):
            return drives_of(term.table, np.flatnonzero(resist(term.table)))
    return None


@jit
def moves(drives, s, time):
    """0 if the target of a drive is at rest because the time is outside its table, otherwise 1."""
    outside = time < drives.knots[drives.start[s]] or time > drives.knots[drives.start[s + 1] - 1]
    if outside and drives.ends[s]:
        return 0.0
    return 1.0


@jit
def lag(forest, drives, s, time, q, u):
    """Position and speed errors of a joint relative to the target of its drive."""
    low, x = piece_at(drives, s, time)
    i, c = drives.link[s], drives.component[s]
    behind = 0.0
    if drives.stiffness[s] > 0.0:
        behind = cubic(drives.positions, low, x) - q[forest.q_start[i] + c]
    return behind, moves(drives, s, time) * cubic(drives.speeds, low, x) - u[forest.u_start[i] + c]


@jit
def bounded(drives, s, torque, speed):
    """Limited torque of a drive, then its derivatives with respect to the requested torque, the speed, τ_max, u_max and
    w."""
    most, limit, band = drives.torque[s], drives.speed[s], drives.band[s]
    if most < 0.0:
        return torque, 1.0, 0.0, 0.0, 0.0, 0.0
    side = 1.0
    if torque < 0.0:
        side = -1.0
    share, by_speed, by_limit, by_band = 1.0, 0.0, 0.0, 0.0
    room = limit - side * speed
    if limit > 0.0 and room < band:
        share = 0.0
        if room > 0.0:
            share, by_speed, by_limit = room / band, -most / band, side * most / band
            by_band = -side * most * room / (band * band)
    if side * torque <= share * most:
        return torque, 1.0, 0.0, 0.0, 0.0, 0.0
    return side * share * most, 0.0, by_speed, side * share, by_limit, by_band


@pass_of
def drive_joints(forest, drives, clock, q, u, joint):
    """Add the torques of drives to the joints' generalised forces (nu,)."""
    for s in range(drives.link.size):
        j = forest.u_start[drives.link[s]] + drives.component[s]
        behind, slower = lag(forest, drives, s, clock[0], q, u)
        joint[j] += bounded(drives, s, drives.stiffness[s] * behind + drives.damping[s] * slower, u[j])[0]


@pass_of
def drive_adjoint(forest, drives, gradient, clock, q, u, weight, by_coordinate, by_speed):
    """Add the derivatives of λ·τ with respect to coordinates, speeds and the numbers of drives."""
    for s in range(drives.link.size):
        j = forest.u_start[drives.link[s]] + drives.component[s]
        k, d = drives.stiffness[s], drives.damping[s]
        behind, slower = lag(forest, drives, s, clock[0], q, u)
        _, free, direct, by_most, by_limit, by_band = bounded(drives, s, k * behind + d * slower, u[j])
        by_coordinate[j] -= weight[j] * free * k
        by_speed[j] += weight[j] * (direct - free * d)
        gradient.stiffness[s] += weight[j] * free * behind
        gradient.damping[s] += weight[j] * free * slower
        gradient.torque[s] += weight[j] * by_most
        gradient.speed[s] += weight[j] * by_limit
        gradient.band[s] += weight[j] * by_band
        low, x = piece_at(drives, s, clock[0])
        place, rate = weight[j] * free * k, weight[j] * free * d * moves(drives, s, clock[0])
        for p in range(3, -1, -1):
            gradient.positions[low, p] += place
            gradient.speeds[low, p] += rate
            place *= x
            rate *= x


@pass_of
def drive_tangent(forest, drives, change, clock, q, u, shift, speed, joint):
    """Add the changes of the torques of drives."""
    for s in range(drives.link.size):
        j = forest.u_start[drives.link[s]] + drives.component[s]
        k, d = drives.stiffness[s], drives.damping[s]
        behind, slower = lag(forest, drives, s, clock[0], q, u)
        _, free, direct, by_most, by_limit, by_band = bounded(drives, s, k * behind + d * slower, u[j])
        low, x = piece_at(drives, s, clock[0])
        rate = moves(drives, s, clock[0]) * cubic(change.speeds, low, x)
        wanted = k * (cubic(change.positions, low, x) - shift[j]) + d * (rate - speed[j])
        wanted += change.stiffness[s] * behind + change.damping[s] * slower
        joint[j] += free * wanted + direct * speed[j] + by_most * change.torque[s]
        joint[j] += by_limit * change.speed[s] + by_band * change.band[s]
