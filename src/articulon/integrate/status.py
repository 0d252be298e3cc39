"""Status values of an advance, and the condition that ends a run early."""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import add, apply, dot, load, load_matrix
from articulon.dynamics import body_poses
from articulon.forces.selection import on_link
from articulon.forces.sites.nearest_images import widths
from articulon.integrate.variables import ANGULAR_VELOCITY, blocks
from articulon.kernels import jit
from articulon.model import Model, kernel_tables
from articulon.model.array_rotations import matrices
from articulon.model.joints import UNBOUND

REACHED, PAUSED, DIVERGED, STOPPED, NOT_CONVERGED, NOT_CLOSED, TOO_LONG, LEAPT, CAPACITY_EXCEEDED = range(9)
"""Status values: the end time is reached; the allowed steps are taken; no step is finite; the condition of
:class:`Stop` is met; implicit stages do not converge; loops cannot be closed; steps are too long for the forces; a step
leads through half of a periodic box; a list is too short. A driver returns NOT_CONVERGED to LEAPT as DIVERGED, with the
reason in ``failure``, and repeats steps with longer lists."""


class Stop(NamedTuple):
    """Condition that ends a run when a point of a body has advanced far enough along a direction."""

    link: np.ndarray
    """Link that carries the point, −1 for no condition, shape (1,)."""
    point: np.ndarray
    """The point in the link's frame [length], shape (1, 3)."""
    direction: np.ndarray
    """Unit vector, world frame, shape (1, 3)."""
    distance: np.ndarray
    """The point's coordinate along the direction at which the run ends [length], shape (1,)."""
    way: np.ndarray
    """Total displacement required, and the point's coordinate at the latest and at the previous check of the condition
    [length], shape (3,)."""


def no_stop() -> Stop:
    """A condition that is never met."""
    return Stop(np.full(1, -1, dtype=np.int64), np.zeros((1, 3)), np.zeros((1, 3)), np.zeros(1), np.zeros(3))


def advance_stop(model: Model, body: int, direction: np.ndarray, advance: float) -> Stop:
    """The condition that the body's centre of mass has advanced by ``advance`` [length] along ``direction`` from its
    position at the model's initial coordinates. The body must not be welded to the ground."""
    positions, rotations = body_poses(model, model.q0)
    start = positions[body] + matrices(rotations[body]) @ model.centres[body]
    unit = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    return Stop(
        np.array([model.link[body]]),
        on_link(model, body, model.centres[body])[None],
        unit[None],
        np.array([start @ unit + advance]),
        np.array([advance, np.nan, np.nan]),
    )


@jit
def stop_reached(stop, ws):
    """Whether the placed links fulfil the condition."""
    i = stop.link[0]
    if i < 0:
        return False
    p = add(load(ws.position, i), apply(load_matrix(ws.rotation, i), load(stop.point, 0)))
    x = dot(p, load(stop.direction, 0))
    stop.way[1], stop.way[2] = x, stop.way[1]
    return x >= stop.distance[0]


def leap_of(model: Model, way: float) -> str:
    """Message for a displacement of half of the periodic box or more in one step, for ``Driver.failure``."""
    half = 0.5 * float(widths(model).min())
    return f"a step is too long: in it a body goes {way:.3g}, and half of the periodic box is {half:.3g}"


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
    None if neither is so.

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
