"""Status values of an advance, and the condition that ends a run early."""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import add, apply, dot, load, load_matrix, scale
from articulon.forces.sites.nearest_images import minimum_image, widths
from articulon.forces.sites.site_tables import Cell
from articulon.integrate.variables import ANGULAR_VELOCITY, blocks
from articulon.kernels import jit, kernel
from articulon.model import Model, kernel_tables
from articulon.model.joints import UNBOUND

REACHED, PAUSED, DIVERGED, STOPPED, NOT_CONVERGED, NOT_CLOSED, TOO_LONG, LEAPT, CAPACITY_EXCEEDED = range(9)
"""Status values: the end time is reached; the allowed steps are taken; numbers are no longer finite; the condition of
:class:`Stop` is met; implicit stages do not converge; loops cannot be closed; steps are too long for the forces; a step
leads through half of a periodic box; a list is too short. A driver returns NOT_CONVERGED to LEAPT as DIVERGED, with the
reason in ``failure``, and repeats steps with longer lists."""


class Stop(NamedTuple):
    """Condition that ends a run: a point of a body has advanced far enough along a direction, or the nearest images of
    two points are near enough."""

    link: np.ndarray
    """Link that carries each point, shape (points,): one that advances, or two that approach each other. −1 for the
    first means no condition, −1 for the second that it does not move."""
    point: np.ndarray
    """The points in their links' frames [length], shape (points, 3); that of a flexible body is displaced further by
    its first moment over its mass. A point that does not move is given in the world frame."""
    moment: np.ndarray
    """First moments of deformed links, link frame [mass length], shape (links, 3); one row if all are rigid."""
    per_mass: np.ndarray
    """1/m of each flexible body [1/mass], 0 for a rigid one, shape (points,)."""
    direction: np.ndarray
    """Unit vector of the advance, world frame, shape (1, 3)."""
    goal: np.ndarray
    """Value at which the run ends, shape (1,), of the point's coordinate along the direction, or of minus the distance
    of the two points [length]."""
    way: np.ndarray
    """By how much this value grows from the start of the run to its end, and the value at the latest and at the
    previous check of the condition [length], shape (3,)."""
    cell: Cell
    """Box whose images of two points are looked at."""


def no_stop() -> Stop:
    """A condition that is never met."""
    point, direction, moment = np.zeros((3, 1, 3))
    cell = Cell(np.eye(3), np.eye(3), np.zeros(3), np.zeros(3, dtype=np.int64))
    return Stop(np.full(1, -1, dtype=np.int64), point, moment, np.zeros(1), direction, np.zeros(1), np.zeros(3), cell)


@jit
def _placed(stop, ws, k):
    """Point k in the world frame, at the placed links."""
    point, i = load(stop.point, k), stop.link[k]
    if i < 0:
        return point
    if stop.per_mass[k] > 0.0:
        point = add(point, scale(stop.per_mass[k], load(stop.moment, i)))
    return add(load(ws.position, i), apply(load_matrix(ws.rotation, i), point))


@jit
def stop_reached(stop, ws):
    """Whether links whose poses are known fulfil the condition."""
    if stop.link[0] < 0:
        return False
    if stop.link.size == 1:
        x = dot(_placed(stop, ws, 0), load(stop.direction, 0))
    else:
        a, b = _placed(stop, ws, 0), _placed(stop, ws, 1)
        dx, dy, dz = minimum_image(stop.cell, b[0] - a[0], b[1] - a[1], b[2] - a[2])
        x = -np.sqrt(dx * dx + dy * dy + dz * dz)
    stop.way[1], stop.way[2] = x, stop.way[1]
    return x >= stop.goal[0]


@kernel
def stopped(stop, ws):
    """Whether links whose poses are known fulfil the condition, for drivers that check it from Python."""
    return stop_reached(stop, ws)


def leap_of(model: Model, way: float) -> str:
    """Message for a displacement of half of the periodic box or more in one step, for ``Driver.failure``."""
    half = 0.5 * float(widths(model).min())
    return f"a step is too long: a body moves by {way:.3g} in it, but half of the periodic box is only {half:.3g}"


def leap(model: Model, u: np.ndarray, step: float) -> tuple[str, int] | None:
    """Reason why steps of a length are too long at some speeds, and the link that would move through half of the
    periodic box in one step; None if no link does."""
    half = 0.5 * float(widths(model).min())
    if not np.isfinite(half) or not float(np.abs(u).max(initial=0.0)) * step > half:
        return None
    forest = model.forest
    free = np.flatnonzero(np.isin(forest.kind, UNBOUND) & (model.jointed < 0))
    ways = step * np.linalg.norm(u[forest.u_start[free][:, None] + np.arange(3)], axis=1)
    if not ways.size or not ways.max() > half:
        return None
    fastest = int(np.argmax(ways))
    return leap_of(model, float(ways[fastest])), int(free[fastest])


def thrown(model: Model, stop: Stop, u: np.ndarray, step: float) -> str | None:
    """Reason why a finite state that meets the condition after a fixed step is not the result of a valid motion: a
    joint turned by more than half a turn in the last step, or the point covered half of its total displacement in it.
    None if neither holds.

    Steps that are too long for stiff forces throw bodies about, often beyond the condition before any number overflows.
    """
    split = blocks(kernel_tables(model).forest, model.nq, model.nu)
    for start, end, kind in zip(split.start, split.end, split.kind, strict=True):
        turn = step * float(np.linalg.norm(u[start - model.nq : end - model.nq])) if kind == ANGULAR_VELOCITY else 0.0
        if turn > np.pi:
            body = int(model.head[int(np.searchsorted(model.forest.u_start, start - model.nq, side="right")) - 1])
            return f"bodies are thrown about: the joint of '{model.names[body]}' turned by {turn:.3g} rad in one step"
    whole, now, before = stop.way
    if now - before > 0.5 * whole:
        return (
            f"bodies are thrown about: '{model.names[int(model.head[stop.link[0]])]}' made {now - before:.3g} of the "
            f"{whole:.3g} in one step"
        )
    return None
