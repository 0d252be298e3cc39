"""Inputs of functions of many states: arrays with a leading axis, one state per row."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from articulon.dynamics.state_functions import POSES, function_of
from articulon.errors import ArticulonError, ModelError
from articulon.inputs import floats
from articulon.model import Model


class Rows(NamedTuple):
    """Input numbers of many states."""

    states: int
    """Number of states."""
    rows: list[np.ndarray]
    """Arrays (states, n), or (1, n) for numbers that all states share."""

    def state(self, k: int) -> list[np.ndarray]:
        """The numbers of one state."""
        return [one[min(k, len(one) - 1)].copy() for one in self.rows]


def is_batch(*given: tuple[Any, int]) -> bool:
    """Whether any array has a leading axis of states; each comes with its number of axes for one state."""
    for value, axes in given:
        if value is None:
            continue
        try:
            found = value.ndim if type(value) is np.ndarray else np.ndim(value)
        except ValueError:  # lists of different lengths; rows_of rejects them and names the array
            return True
        if found > axes:
            return True
    return False


def rows_of(*given: tuple[str, Any, tuple[int, ...]], error: type[ArticulonError] = ModelError) -> Rows:
    """Rows of arrays, each given with its name and its shape for one state; None is zero.

    Raises
    ------
    ArticulonError
        Of the type ``error``, with the name, for a wrong shape or a different number of states, and with name and row
        for a number that is not finite.
    """
    states, who = 1, ""
    rows = []
    for name, value, shape in given:
        if value is None:
            rows.append(np.zeros((1, math.prod(shape))))
            continue
        try:
            numbers = floats(value)
        except ValueError as reason:
            raise error(f"{name}: {reason}") from None
        if numbers.shape == shape:
            numbers = numbers[None]
        elif numbers.ndim == len(shape) + 1 and numbers.shape[1:] == shape:
            if who and len(numbers) != states:
                raise error(f"{name}: {len(numbers)} states, but {who} has {states}")
            states, who = len(numbers), who or name
        else:
            many = f"(states, {', '.join(map(str, shape))})"
            raise error(f"{name}: expected shape {shape}, or {many} for many states, got {numbers.shape}")
        if not np.isfinite(numbers).all():
            row, *at = np.argwhere(~np.isfinite(numbers))[0].tolist()
            raise error(f"{name}: row {row} is not finite: {numbers[(row, *at)]} at {at}")
        rows.append(np.ascontiguousarray(numbers.reshape(len(numbers), math.prod(shape))))
    return Rows(states, [one if one.flags.writeable else one.copy() for one in rows])


def one_by_one(
    found: Rows, function: Callable[..., Any], *shapes: tuple[int, ...], result: tuple[int, ...] = ()
) -> np.ndarray:
    """Calls a function of one state for each state in turn, with arrays of ``shapes``; returns (states, *result)."""
    results = np.empty((found.states, *result))
    for k in range(found.states):
        given = (row.reshape(shape) for row, shape in zip(found.state(k), shapes, strict=True))
        results[k] = function(*given)
    return results


def wrenches_on_links(model: Model, found: Rows, wrenches: np.ndarray) -> np.ndarray:
    """Wrenches on bodies (states, bodies · 6) as wrenches on links about their origins. The coordinates are the first
    array of ``found``."""
    if np.array_equal(model.head, np.arange(model.bodies)):
        return wrenches
    positions = function_of(model, POSES).many(found.states, found.rows[:1])[0]
    given = np.broadcast_to(wrenches.reshape(-1, model.bodies, 6), (found.states, model.bodies, 6))
    moving = np.flatnonzero(model.link >= 0)
    link, force = model.link[moving], given[:, moving, :3]
    arm = positions[:, moving] - positions[:, model.head[link]]
    result = np.zeros((model.forest.mass.size, found.states, 6))
    moved = np.concatenate([force, given[:, moving, 3:] + np.cross(arm, force)], axis=2)
    np.add.at(result, link, moved.swapaxes(0, 1))
    return result.swapaxes(0, 1).reshape(found.states, 6 * len(result))
