"""Functions of a user's force, as kernels call them: the force, its adjoint and its tangent."""

from collections.abc import Callable
from typing import Any

import numba
from numba import types

from articulon.forces.user_functions import callback, view

_ROWS, _NUMBERS = types.float64[:, ::1], types.float64[::1]
_STATE = (types.float64, _ROWS, _ROWS, _ROWS, _NUMBERS)

FORCE = types.void(*_STATE, _ROWS)
"""Signature of a force: (time, positions, rotations, velocities, parameters, wrenches)."""
ADJOINT = types.void(*_STATE, _ROWS, _ROWS, _ROWS, _NUMBERS)
"""Signature of an adjoint: (time, positions, rotations, velocities, parameters, weights, by_place, by_velocity,
by_parameters)."""
TANGENT = types.void(*_STATE, _ROWS, _ROWS, _NUMBERS, _ROWS)
"""Signature of a tangent: (time, positions, rotations, velocities, parameters, moved, accelerated, parameter_changes,
changes)."""

_GIVEN = "time, positions, rotations, velocities, parameters"
FORCE_ARGUMENTS = f"{_GIVEN}, wrenches"
ADJOINT_ARGUMENTS = f"{_GIVEN}, weights, by_place, by_velocity, by_parameters"
TANGENT_ARGUMENTS = f"{_GIVEN}, moved, accelerated, parameter_changes, changes"


def force_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """Return a jitted function that calls a plain Python force by address."""

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


def adjoint_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """Return a jitted function that calls a plain Python adjoint by address."""

    def call(
        time: float, x: int, e: int, v: int, p: int, w: int, px: int, pv: int, pp: int, bodies: int, count: int
    ) -> None:
        states = view(x, bodies, 3), view(e, bodies, 4), view(v, bodies, 6), view(p, count), view(w, bodies, 6)
        function(time, *states, view(px, bodies, 6), view(pv, bodies, 6), view(pp, count))

    address = callback(call, 10)

    @numba.njit
    def bridge(time, positions, rotations, velocities, parameters, weights, by_place, by_velocity, by_parameters):
        address(
            time,
            positions.ctypes.data,
            rotations.ctypes.data,
            velocities.ctypes.data,
            parameters.ctypes.data,
            weights.ctypes.data,
            by_place.ctypes.data,
            by_velocity.ctypes.data,
            by_parameters.ctypes.data,
            positions.shape[0],
            parameters.size,
        )

    return bridge, address


def tangent_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """Return a jitted function that calls a plain Python tangent by address."""

    def call(
        time: float, x: int, e: int, v: int, p: int, m: int, a: int, dp: int, c: int, bodies: int, count: int
    ) -> None:
        states = view(x, bodies, 3), view(e, bodies, 4), view(v, bodies, 6), view(p, count)
        function(time, *states, view(m, bodies, 6), view(a, bodies, 6), view(dp, count), view(c, bodies, 6))

    address = callback(call, 10)

    @numba.njit
    def bridge(time, positions, rotations, velocities, parameters, moved, accelerated, parameter_changes, changes):
        address(
            time,
            positions.ctypes.data,
            rotations.ctypes.data,
            velocities.ctypes.data,
            parameters.ctypes.data,
            moved.ctypes.data,
            accelerated.ctypes.data,
            parameter_changes.ctypes.data,
            changes.ctypes.data,
            positions.shape[0],
            parameters.size,
        )

    return bridge, address
