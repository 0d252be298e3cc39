"""A force that the user writes, jitted or in plain Python (POEMS, 5.3)."""

from collections.abc import Callable
from typing import Any, Literal

import numba
import numpy as np
from numba import types
from pydantic import ConfigDict

from articulon.algebra.rotations import load_quaternion, normalised, product, store_quaternion
from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, store, store_from
from articulon.declaration import Declaration, Number
from articulon.forces.tables import Bodies
from articulon.forces.user_functions import UserFunctions, callback, loaded_function, view
from articulon.kernels import first_class, jit
from articulon.model import CHANNELS, Model

SIGNATURE = types.void(
    types.float64,
    types.float64[:, ::1],
    types.float64[:, ::1],
    types.float64[:, ::1],
    types.float64[::1],
    types.float64[:, ::1],
)
"""(time, positions, rotations, velocities, parameters, wrenches)."""

USERS, MOTIONS, ACTUATIONS, SITE_TERMS, REFRESHES, SITE_SUMS = range(6)
"""Places among a model's functions: forces on bodies, motions of driven joints, forces of joints, forces of site terms,
what brings the lists of sites up to date, and what sums their forces. (A named tuple of
functions cannot be handed to a kernel.)"""


class UserForce(Declaration):
    """Calls ``function(time, positions, rotations, velocities, parameters, wrenches)`` at every evaluation.

    The function reads the time [time], the bodies' origins (bodies, 3) and Euler parameters (bodies, 4), and their
    velocities (bodies, 6), velocity of the origin then angular velocity, all in the world frame, with its own
    ``parameters``; it adds force and moment about the body's origin to ``wrenches`` (bodies, 6), which are zero at the
    call. A function made with ``numba.njit`` runs at full speed, on arrays that are the run's own: it may not change
    those that it reads, and not keep any. A plain Python function costs some microseconds more; it is given copies,
    which it may keep.
    """

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


def body_table(model: Model) -> Bodies:
    """Where the bodies sit, for users' forces; empty where there are none."""
    forces = [force for force in model.forces if isinstance(force, UserForce)]
    some = slice(None) if forces else slice(0, 0)
    return Bodies(
        model.link[some].copy(),
        model.offset_position[some].copy(),
        model.offset_rotation[some].copy(),
        np.array([CHANNELS.index(force.channel) for force in forces], dtype=np.int64),
        np.array([value for force in forces for value in force.parameters], dtype=np.float64),
        np.cumsum([0, *(len(force.parameters) for force in forces)]).astype(np.int64),
    )


@first_class
def no_force(time, positions, rotations, velocities, parameters, wrenches):
    pass


def user_functions(model: Model, users: UserFunctions) -> tuple[Any, ...]:
    """The functions of a model's users' forces, compiled; one that does nothing where there are none."""
    arguments = "time, positions, rotations, velocities, parameters, wrenches"
    found = [
        users.compiled(force.loaded(), SIGNATURE, arguments, _bridge, f"forces[{k}].function")
        for k, force in enumerate(model.forces)
        if isinstance(force, UserForce)
    ]
    no_force.compile(SIGNATURE)
    return tuple(found) if found else (no_force,)


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


@jit
def body_states(bodies, ws, positions, rotations, velocities):
    """Positions, Euler parameters and velocities of the bodies in the world."""
    links, offset_position, offset_rotation = bodies.link, bodies.offset_position, bodies.offset_rotation
    matrices, position, quaternion = ws.rotation, ws.position, ws.quaternion
    twist = ws.twist
    for k in range(links.size):
        i, r, e = links[k], load(offset_position, k), load_quaternion(offset_rotation, k)
        if i < 0:
            store(positions, k, r)
            store_quaternion(rotations, k, e)
            continue
        r, w = apply(load_matrix(matrices, i), r), load_from(twist, i, 3)
        store(positions, k, add(load(position, i), r))
        store_quaternion(rotations, k, normalised(product(load_quaternion(quaternion, i), e)))
        store_from(velocities, k, 0, add(load_from(twist, i, 0), cross(w, r)))
        store_from(velocities, k, 3, w)


@jit
def user_wrenches(functions, bodies, time, ws, positions, rotations, velocities, written, wrench):
    """Calls each user's function and adds what it writes to the wrenches (8, links, 6) of its channel."""
    links, offset_position, channel, start = bodies.link, bodies.offset_position, bodies.channel, bodies.start
    matrices = ws.rotation
    if channel.size > 0:
        body_states(bodies, ws, positions, rotations, velocities)
    for f in range(channel.size):
        written[:] = 0.0
        functions[f](time, positions, rotations, velocities, bodies.parameters[start[f] : start[f + 1]], written)
        mine = wrench[channel[f]]
        for k in range(links.size):
            i = links[k]
            if i >= 0:
                force = load_from(written, k, 0)
                arm = apply(load_matrix(matrices, i), load(offset_position, k))
                store_from(mine, i, 0, add(load_from(mine, i, 0), force))
                store_from(mine, i, 3, add(load_from(mine, i, 3), add(load_from(written, k, 3), cross(arm, force))))
