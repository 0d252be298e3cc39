"""A force that the user writes, jitted or in plain Python (POEMS, 5.3)."""

import ctypes
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numba
import numpy as np
from numba import types
from pydantic import ConfigDict

from articulon.algebra.rotations import load_quaternion, normalised, product, store_quaternion
from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, store, store_from
from articulon.declaration import Declaration
from articulon.errors import ModelError
from articulon.forces.tables import Bodies
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

USERS, MOTIONS = range(2)
"""Places among a model's functions: forces on bodies, and motions of driven joints. (A named tuple of functions cannot
be handed to a kernel.)"""


class UserForce(Declaration):
    """Calls ``function(time, positions, rotations, velocities, parameters, wrenches)`` at every evaluation.

    The function reads the time [time], the bodies' origins (bodies, 3) and Euler parameters (bodies, 4), and their
    velocities (bodies, 6), velocity of the origin then angular velocity, all in the world frame, with its own
    ``parameters``; it adds force and moment about the body's origin to ``wrenches`` (bodies, 6), which are zero at the
    call. A function made with ``numba.njit`` runs at full speed; a plain Python one costs some microseconds more.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    kind: Literal["user"] = "user"
    function: Callable[..., None] | str
    """The function, or where it is: ``"module:name"`` or ``"path/to/file.py:name"``."""
    parameters: tuple[float, ...] = ()
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


def loaded_function(function: str, where: str) -> Callable[..., None]:
    """A function of the user's, from where it is: ``"module:name"`` or ``"path/to/file.py:name"``.

    Raises
    ------
    ModelError
        Naming the key ``function`` of ``where``, for what cannot be loaded or is no function.
    """
    place, colon, name = function.rpartition(":")
    if not colon or not place or not name:
        raise ModelError(f"{where}.function: write 'module:name' or 'file.py:name', not '{function}'")
    try:
        if place.endswith(".py"):
            spec = importlib.util.spec_from_file_location(Path(place).stem, place)
            if spec is None or spec.loader is None:
                raise ImportError(f"no such file {place}")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
        found = getattr(module, name)
    except Exception as error:  # the user's file may raise anything at all
        raise ModelError(f"{where}.function: cannot load '{function}': {type(error).__name__}: {error}") from error
    if not callable(found) or isinstance(found, type):
        raise ModelError(f"{where}.function: '{function}' is not a function but {found!r}")
    return found


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


class UserFunctions:
    """The users' functions of a model in the form that kernels call, and what went wrong in a plain Python one."""

    def __init__(self, model: Model) -> None:
        self.error: BaseException | None = None
        self._kept: list[Any] = []
        found = [
            self._compiled(force.loaded(), f"forces[{k}].function")
            for k, force in enumerate(model.forces)
            if isinstance(force, UserForce)
        ]
        no_force.compile(SIGNATURE)
        self.functions = tuple(found) if found else (no_force,)

    def _compiled(self, function: Callable[..., None], where: str) -> Any:
        dispatcher = (
            function if isinstance(function, numba.core.registry.CPUDispatcher) else self._bridge(function, where)
        )
        try:
            dispatcher.compile(SIGNATURE)
        except numba.core.errors.NumbaError as error:
            raise ModelError(
                f"{where}: cannot be compiled for (time, positions, rotations, velocities, parameters, wrenches): "
                f"{error}"
            ) from None
        return dispatcher

    def _bridge(self, function: Callable[..., None], where: str) -> Any:
        """A jitted function that calls a plain Python one by address."""

        def call(time: float, x: int, e: int, v: int, p: int, w: int, bodies: int, count: int) -> None:
            def view(address: int, *shape: int) -> np.ndarray:
                size = int(np.prod(shape))
                return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address)).reshape(shape)

            try:
                parameters = view(p, count) if count else np.zeros(0)
                states = view(x, bodies, 3), view(e, bodies, 4), view(v, bodies, 6)
                function(time, *states, parameters, view(w, bodies, 6))
            except BaseException as error:
                error.add_note(f"in {where}, {function.__name__}() at time {time:.9g}")
                # An exception cannot cross the compiled code: the run sees NaN, stops, and raises this one.
                self.error = error
                view(w, bodies, 6)[:] = np.nan

        prototype = ctypes.CFUNCTYPE(None, ctypes.c_double, *([ctypes.c_int64] * 7))
        callback = prototype(call)
        self._kept.append(callback)

        @numba.njit
        def bridge(time, positions, rotations, velocities, parameters, wrenches):
            callback(
                time,
                positions.ctypes.data,
                rotations.ctypes.data,
                velocities.ctypes.data,
                parameters.ctypes.data,
                wrenches.ctypes.data,
                positions.shape[0],
                parameters.size,
            )

        return bridge


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
