"""Prescribed joint forces over time, from a table or a function, booked in the channel ``external``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numba
import numpy as np
from numba import types
from pydantic import ConfigDict, model_validator

from articulon.declaration import BodyName, Dimension, Number, Quantity, Whole
from articulon.errors import ModelError
from articulon.forces.base import AdjointAt, At, Force, Merging, TangentAt
from articulon.forces.over_time import check_lasting, cubic, increasing, interpolated, piece_at
from articulon.forces.selection import FORCE_OF, joint_with, still_moves
from articulon.forces.user_functions import UserFunctions, callback, loaded_function, view
from articulon.model import Model
from articulon.model.body_checks import array
from articulon.model.state import EXTERNAL
from articulon.passes import Bound, Function, functions, pass_of

_LINE = types.float64[::1]
ACTUATION = types.void(types.float64, _LINE, _LINE, _LINE, _LINE)
"""Signature of a user's function: (time, q, u, parameters, tau)."""


class Tables(NamedTuple):
    """Tables of joint forces over time."""

    speed: np.ndarray
    """Speed that a table acts on, shape (tables,)."""
    start: np.ndarray
    """First knot of a table, and the number of knots, shape (tables + 1,)."""
    knots: np.ndarray
    """Times of the knots [time], shape (knots,)."""
    coefficients: np.ndarray
    """Coefficients of the cubic after each knot, highest power first [force, or torque, divided by powers of time],
    shape (knots, 4)."""


class Given(NamedTuple):
    """Functions that compute joint forces."""

    functions: tuple[Function, ...]
    """The functions."""
    parameters: np.ndarray
    """Parameters of all functions, concatenated."""
    start: np.ndarray
    """Start of each function's parameters, shape (functions + 1,)."""
    written: np.ndarray
    """Array that a function writes, shape (nu,)."""


class Actuations(NamedTuple):
    """All prescribed joint forces; None for a type that does not occur."""

    tables: Tables | None
    functions: Given | None


class JointActuation(Force):
    """A generalised force of one joint, constant or from a table over time, or of all joints by a function.

    The force acts on one speed of a body's joint: a torque [torque] on a rotation, a force [force] on a translation;
    for a spherical joint, about an axis of the body. ``JointActuation("rod", 5)`` is constant. A function is called as
    ``function(time, q, u, parameters, tau)`` at every evaluation, with the model's coordinates (nq,) and speeds (nu,).
    It adds to the generalised forces ``tau`` (nu,), which are zero at the call. A function compiled with ``numba.njit``
    runs at full speed on the arrays of the run itself: it must not change the arrays that it reads, and must not keep a
    reference to any of them. A plain Python function costs some microseconds more and receives copies, which it may
    keep.
    """

    positional: ClassVar[tuple[str, ...]] = ("body", "values")
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    on_joints: ClassVar[bool] = True
    not_differentiated: ClassVar[tuple[str, ...]] = ("times", "parameters")

    kind: Literal["joint-actuation"] = "joint-actuation"
    body: BodyName | None = None
    """Body that the joint carries; with a table."""
    component: Whole = 0
    """Index of the joint's speed, from 0."""
    times: Annotated[tuple[Quantity, ...] | None, Dimension("time")] = None
    """Times of the table, increasing [time]."""
    values: tuple[Quantity, ...] | None = None
    """Force or torque at these times. A single number without times applies at all times: it is kept as a table of two
    equal values, so derivatives and fits have two numbers, and the derivative with respect to the constant is the sum
    of both."""
    interpolation: Literal["cubic", "linear"] = "cubic"
    """Interpolation of the table: the cubic spline (not-a-knot, for four times or more), or straight lines. An
    integrator keeps its order only for smooth forces: with straight lines, let steps end at the times of the table."""
    beyond: Literal["refuse", "hold"] = "refuse"
    """What happens outside the table: a run that goes there is rejected, or the first and last values hold."""
    function: Callable[..., None] | str | None = None
    """Function, in place of body and table, or its location, ``"module:name"`` or ``"path/to/file.py:name"``."""
    parameters: tuple[Number, ...] = ()
    """Parameters passed to the function as an array."""

    @model_validator(mode="before")
    @classmethod
    def _constant(cls, data: Any) -> Any:
        """Convert one value without times to a constant table."""
        value = data.get("values") if isinstance(data, Mapping) else None
        one = isinstance(value, int | float | np.number | str) and not isinstance(value, bool)
        if not one or {"times", "interpolation", "beyond", "function"} & set(data):
            return data
        return {**data, "times": (0.0, 1.0), "values": (value, value), "interpolation": "linear", "beyond": "hold"}

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        table = (self.body, self.times, self.values)
        if (self.function is None and None in table) or (self.function is not None and table != (None, None, None)):
            raise ValueError("give either body, times and values, or a function, which acts on all joints")
        if self.times is not None and self.values is not None and len(self.times) != len(self.values):
            raise ValueError(f"values and times differ in length: got {len(self.values)} and {len(self.times)}")
        if self.parameters and self.function is None:
            raise ValueError("parameters belong to a function, and none is given")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for a body or component that does not exist, an invalid table, or a function that cannot be
        found."""
        if self.function is None:
            self.knots(model, where)
        else:
            self.loaded(where)

    def loaded(self, where: str = "joint-actuation") -> Callable[..., None]:
        """Return the function itself."""
        assert self.function is not None
        return self.function if callable(self.function) else loaded_function(self.function, where)

    def knots(self, model: Model, where: str) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the speed, the knots, and the cubic coefficients after them, for a declaration in the model's
        units."""
        assert self.body is not None and self.times is not None and self.values is not None
        body = joint_with(model, self.body, self.component, where)
        joint = model.joints[body]
        times = increasing(self.times, self.interpolation, where)
        dimension = FORCE_OF[joint.speeds[self.component][1]]
        values = array(list(self.values), (times.size,), dimension, model.units, f"{where}.values")
        coefficients = interpolated(times, values, self.interpolation, where)
        return int(model.forest.u_start[model.link[body]]) + self.component, times, coefficients

    def goes_side_by_side(self) -> bool:
        """See :class:`Force`. Tables are the same for all states; a function is called for one state at a time."""
        return self.function is None

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: UserFunctions | None) -> Actuations:
        """See :class:`Force`."""
        tables = [force.knots(model, where) for where, force in declared if force.function is None]
        given = [(where, force) for where, force in declared if force.function is not None]
        return Actuations(
            _tables(tables),
            _given(given, model.nu, users) if given and users is not None else None,
        )

    @classmethod
    def channels(cls, table: Actuations) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (), (EXTERNAL,)

    @classmethod
    def reads_speeds(cls, table: Actuations) -> bool:
        """See :class:`Force`. A function may read them."""
        return table.functions is not None

    @classmethod
    def fill(cls, table: Actuations, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        joint = at.channels.joint[EXTERNAL]
        if table.tables is not None:
            yield actuate.bind(table.tables, at.time, joint)
        if table.functions is not None:
            yield call_functions.bind(table.functions, at.time, at.q, at.u, joint)

    @classmethod
    def adjoint(cls, table: Actuations, gradient: Actuations, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        if table.tables is not None:
            yield actuation_adjoint.bind(table.tables, gradient.tables, at.time, at.weight)

    @classmethod
    def tangent(cls, table: Actuations, change: Actuations, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        if table.tables is not None:
            yield actuation_tangent.bind(table.tables, change.tables, at.time, at.joint)

    def check_adjoint(self, where: str) -> None:
        """See :class:`Force`."""
        if self.function is not None:
            raise ModelError(
                f"{where}: the derivatives of a function are unknown; give its forces as a table, or use "
                "finite differences of runs"
            )

    @classmethod
    def coarsen(cls, table: Actuations, merging: Merging, links: int, speeds: int) -> Actuations | None:
        """See :class:`Force`. Functions are rejected if joints lock."""
        tables = table.tables
        if tables is None:
            return None
        left = np.flatnonzero(merging.moves[tables.speed])
        pieces = [slice(tables.start[k], tables.start[k + 1]) for k in left.tolist()]
        if not pieces:
            return None
        found = Tables(
            merging.u_of[tables.speed[left]],
            np.cumsum([0, *(piece.stop - piece.start for piece in pieces)]).astype(np.int64),
            np.concatenate([tables.knots[piece] for piece in pieces]),
            np.concatenate([tables.coefficients[piece] for piece in pieces]),
        )
        return Actuations(found, None)

    def check_duration(self, duration: float, where: str) -> None:
        """See :class:`Force`."""
        if self.times is not None and self.beyond == "refuse":
            check_lasting(self.times, duration, where)

    def check_follows(self, where: str) -> None:
        """See :class:`Force`."""
        if self.function is not None:
            raise ModelError(
                f"{where}: a function that acts on all joints cannot know which of them are locked; give tables "
                "for bodies, or lock nothing"
            )

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self | None:
        """See :class:`Force`."""
        assert self.body is not None
        return self if still_moves(model, coarse, model.body(self.body)) else None


def _tables(rows: list[tuple[int, np.ndarray, np.ndarray]]) -> Tables | None:
    if not rows:
        return None
    return Tables(
        np.array([speed for speed, _, _ in rows], dtype=np.int64),
        np.cumsum([0, *(times.size for _, times, _ in rows)]).astype(np.int64),
        np.concatenate([times for _, times, _ in rows]),
        np.concatenate([coefficients for _, _, coefficients in rows]),
    )


def _given(declared: Sequence[tuple[str, JointActuation]], nu: int, users: UserFunctions) -> Given:
    arguments = "time, q, u, parameters, tau"
    found = tuple(
        users.compiled(force.loaded(where), ACTUATION, arguments, _bridge, f"{where}.function")
        for where, force in declared
    )
    return Given(
        functions(found, ACTUATION),
        np.array([value for _, force in declared for value in force.parameters], dtype=np.float64),
        np.cumsum([0, *(len(force.parameters) for _, force in declared)]).astype(np.int64),
        np.zeros(nu),
    )


def _bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """Return a jitted function that calls a plain Python function by its address."""

    def call(time: float, q: int, u: int, p: int, tau: int, nq: int, nu: int, count: int) -> None:
        function(time, view(q, nq), view(u, nu), view(p, count), view(tau, nu))

    address = callback(call, 7)

    @numba.njit
    def bridge(time, q, u, parameters, tau):
        address(
            time, q.ctypes.data, u.ctypes.data, parameters.ctypes.data, tau.ctypes.data, q.size, u.size, parameters.size
        )

    return bridge, address


@pass_of
def actuate(tables, clock, joint):
    """Add the forces of tables to the joints' generalised forces (nu,)."""
    for s in range(tables.speed.size):
        low, x = piece_at(tables, s, clock[0])
        joint[tables.speed[s]] += cubic(tables.coefficients, low, x)


@pass_of
def actuation_adjoint(tables, gradient, clock, weight):
    """Add the derivatives of λ·τ with respect to the coefficients of tables."""
    for s in range(tables.speed.size):
        low, x = piece_at(tables, s, clock[0])
        part = weight[tables.speed[s]]
        for k in range(3, -1, -1):
            gradient.coefficients[low, k] += part
            part *= x


@pass_of
def actuation_tangent(tables, change, clock, joint):
    """Add the changes of the forces of tables."""
    for s in range(tables.speed.size):
        low, x = piece_at(tables, s, clock[0])
        joint[tables.speed[s]] += cubic(change.coefficients, low, x)


@pass_of
def call_functions(given, time, q, u, joint):
    """Add the output of functions to the joints' generalised forces (nu,)."""
    first, written = given.start, given.written
    for f in range(first.size - 1):
        for k in range(written.size):
            written[k] = 0.0
        given.functions[f](time[0], q, u, given.parameters[first[f] : first[f + 1]], written)
        for k in range(written.size):
            joint[k] += written[k]
