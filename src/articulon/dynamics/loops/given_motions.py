"""A model's given motions, prepared for the kernels."""

from functools import cache
from typing import Any

import numba
from numba import types

from articulon.dynamics.loops.conditions import MOTION, no_motion
from articulon.errors import ModelError
from articulon.kernels import prepare, ready
from articulon.model import Model


def motion_functions(model: Model) -> tuple[Any, ...]:
    """The functions of a model's given motions, compiled. Without given motions, one function that does nothing."""
    return tuple(_compiled(function) for function in model.motion_functions) or (_compiled(no_motion),)


@cache
def _compiled(function: Any) -> Any:
    dispatcher = function if isinstance(function, numba.core.registry.CPUDispatcher) else numba.njit(function)
    try:
        ready(dispatcher, MOTION)
    except numba.core.errors.NumbaError as error:
        name = getattr(function, "__name__", repr(function))
        raise ModelError(f"drive, function {name}: cannot be compiled for (time, result): {error}") from None
    return dispatcher


def motion_type(model: Model) -> Any:
    """Numba type of ``motion_functions``."""
    return types.UniTuple(types.FunctionType(MOTION), len(model.motion_functions) or 1)


def prepared(kernel: Any, arguments: tuple[Any, ...], model: Model) -> Any:
    """A kernel of the package, compiled for arguments of which the fourth is the tuple of a model's motion
    functions."""
    signature = tuple(motion_type(model) if k == 3 else numba.typeof(value) for k, value in enumerate(arguments))
    return prepare(kernel, signature)


def check_time(model: Model, time: float) -> None:
    """Raises ModelError for a time that the table of a given motion does not cover."""
    for drive in model.drives:
        if not drive.times.size:
            continue
        first, last = float(drive.times[0]), float(drive.times[-1])
        slack = 1e-9 * (last - first)  # the last step ends there up to rounding
        if not first - slack <= time <= last + slack:
            raise ModelError(
                f"drive '{drive.name}', times: the table from {first:.9g} to {last:.9g} does not cover the time "
                f"{time:.9g}"
            )


def check_motions(model: Model, duration: float) -> None:
    """Raises ModelError for a given motion whose table does not cover the duration of a run [time]."""
    for drive in model.drives:
        if drive.times.size and not (drive.times[0] <= 0.0 and drive.times[-1] >= duration * (1.0 - 1e-12)):
            raise ModelError(
                f"drive '{drive.name}', times: the table goes from {drive.times[0]:.9g} to {drive.times[-1]:.9g}, and "
                f"the run from 0 to {duration:.9g}; give a table for the whole run"
            )
