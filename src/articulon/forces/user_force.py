"""A force that the user writes, jitted or in plain Python (POEMS, 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numba
import numpy as np
from numba import types
from pydantic import ConfigDict

from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, store_from
from articulon.declaration import Number
from articulon.forces.base import AdjointAt, At, Force, Merging, TangentAt
from articulon.forces.user_bodies import body_states
from articulon.forces.user_force_derivatives import user_adjoint, user_tangent
from articulon.forces.user_functions import UserFunctions, callback, loaded_function, view
from articulon.model import CHANNELS, Model
from articulon.passes import Bound, Function, functions, pass_of

SIGNATURE = types.void(
    types.float64,
    types.float64[:, ::1],
    types.float64[:, ::1],
    types.float64[:, ::1],
    types.float64[::1],
    types.float64[:, ::1],
)
"""(time, positions, rotations, velocities, parameters, wrenches)."""


class Bodies(NamedTuple):
    """Forces that a user writes, and where the bodies sit on their links."""

    functions: tuple[Function, ...]
    """The functions."""
    link: np.ndarray
    """shape (bodies,)."""
    offset_position: np.ndarray
    """[length], shape (bodies, 3)."""
    offset_rotation: np.ndarray
    """shape (bodies, 4)."""
    channel: np.ndarray
    """Channel of each function, shape (functions,)."""
    parameters: np.ndarray
    """Parameters of the functions, one after the other."""
    start: np.ndarray
    """Where each function's parameters begin, shape (functions + 1,)."""
    position: np.ndarray
    """Scratch: origins of the bodies [length], shape (bodies, 3)."""
    rotation: np.ndarray
    """Scratch: their Euler parameters, shape (bodies, 4)."""
    velocity: np.ndarray
    """Scratch: velocity of the origin and angular velocity, world frame, shape (bodies, 6)."""
    written: np.ndarray
    """Scratch: what a function writes, shape (bodies, 6)."""


class UserForce(Force):
    """Calls ``function(time, positions, rotations, velocities, parameters, wrenches)`` at every evaluation.

    The function reads the time [time], the bodies' origins (bodies, 3) and Euler parameters (bodies, 4), and their
    velocities (bodies, 6), velocity of the origin then angular velocity, all in the world frame, with its own
    ``parameters``; it adds force and moment about the body's origin to ``wrenches`` (bodies, 6), which are zero at the
    call. A function made with ``numba.njit`` runs at full speed, on arrays that are the run's own: it may not change
    those that it reads, and not keep any. A plain Python function costs some microseconds more; it is given copies,
    which it may keep.
    """

    positional: ClassVar[tuple[str, ...]] = ("function",)
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    kind: Literal["user"] = "user"
    function: Callable[..., None] | str
    """The function, or where it is: ``"module:name"`` or ``"path/to/file.py:name"``."""
    parameters: tuple[Number, ...] = ()
    """Handed to the function as an array."""
    channel: Literal[
        "potential", "conformational", "damping", "stochastic", "thermostat", "thermostat_rate", "contact", "external"
    ] = "external"
    """The channel that it is scaled and booked in."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError where the function cannot be found."""
        self.loaded(where)

    def loaded(self, where: str = "user force") -> Callable[..., None]:
        """The function itself."""
        return self.function if callable(self.function) else loaded_function(self.function, where)

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: UserFunctions | None) -> Bodies:
        """See :class:`Force`."""
        arguments = "time, positions, rotations, velocities, parameters, wrenches"
        found: tuple[Any, ...] = ()
        if users is not None:
            found = tuple(
                users.compiled(force.loaded(where), SIGNATURE, arguments, _bridge, f"{where}.function")
                for where, force in declared
            )
        bodies = model.link.size
        return Bodies(
            functions(found, SIGNATURE),
            model.link.copy(),
            model.offset_position.copy(),
            model.offset_rotation.copy(),
            np.array([CHANNELS.index(force.channel) for _, force in declared], dtype=np.int64),
            np.array([value for _, force in declared for value in force.parameters], dtype=np.float64),
            np.cumsum([0, *(len(force.parameters) for _, force in declared)]).astype(np.int64),
            np.zeros((bodies, 3)),
            np.zeros((bodies, 4)),
            np.zeros((bodies, 6)),
            np.zeros((bodies, 6)),
        )

    @classmethod
    def channels(cls, table: Bodies) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return table.channel.tolist(), ()

    @classmethod
    def fill(cls, table: Bodies, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield user_wrenches.bind(table, at.time, at.ws, at.channels.wrench)

    @classmethod
    def adjoint(cls, table: Bodies, gradient: Bodies, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`. By differences."""
        scratch = np.zeros((table.link.size, 6)), np.zeros((table.link.size, 12))
        yield user_adjoint.bind(table, gradient, at.time, at.ws, at.motion, *scratch, at.by_place, at.by_velocity)

    @classmethod
    def tangent(cls, table: Bodies, change: Bodies, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`. By differences."""
        bodies = table.link.size
        scratch = np.zeros((bodies, 12)), np.zeros((bodies, 6)), np.zeros(table.parameters.size)
        yield user_tangent.bind(table, change, at.time, at.ws, at.moved, at.twist, *scratch, at.wrench)

    @classmethod
    def coarsen(cls, table: Bodies, merging: Merging, links: int, speeds: int) -> Bodies:
        """See :class:`Force`."""
        return table._replace(
            link=merging.carriers(table.link),
            offset_position=merging.points(table.link, table.offset_position),
            offset_rotation=merging.rotated(table.link, table.offset_rotation),
        )


def _bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """A jitted function that calls a plain Python one by address."""

    def call(time: float, x: int, e: int, v: int, p: int, w: int, bodies: int, count: int) -> None:
        states = view(x, bodies, 3), view(e, bodies, 4), view(v, bodies, 6)
        function(time, *states, view(p, count), view(w, bodies, 6))

    address = callback(call, 7)

    @numba.njit
    def bridge(time, positions, rotations, velocities, parameters, wrenches):
        address(
            time,
            positions.ctypes.data,
            rotations.ctypes.data,
            velocities.ctypes.data,
            parameters.ctypes.data,
            wrenches.ctypes.data,
            positions.shape[0],
            parameters.size,
        )

    return bridge, address


@pass_of
def user_wrenches(bodies, time, ws, wrench):
    """Calls each user's function and adds what it writes to the wrenches (8, links, 6) of its channel."""
    links, offset_position, channel, start = bodies.link, bodies.offset_position, bodies.channel, bodies.start
    matrices, written = ws.rotation, bodies.written
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    for f in range(channel.size):
        written[:] = 0.0
        parameters = bodies.parameters[start[f] : start[f + 1]]
        bodies.functions[f](time[0], bodies.position, bodies.rotation, bodies.velocity, parameters, written)
        mine = wrench[channel[f]]
        for k in range(links.size):
            i = links[k]
            if i >= 0:
                force = load_from(written, k, 0)
                arm = apply(load_matrix(matrices, i), load(offset_position, k))
                store_from(mine, i, 0, add(load_from(mine, i, 0), force))
                store_from(mine, i, 3, add(load_from(mine, i, 3), add(load_from(written, k, 3), cross(arm, force))))
