"""What an advance ends with, and the condition that ends a run before its time."""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import add, apply, dot, load, load_matrix
from articulon.dynamics import body_poses
from articulon.forces.selection import on_link
from articulon.kernels import jit
from articulon.model import Model
from articulon.model.rotations import matrices

REACHED, PAUSED, DIVERGED, STOPPED, NOT_CONVERGED, NOT_CLOSED, TOO_LONG = range(7)
"""The time asked for, the steps allowed, no finite step, the condition of :class:`Stop`, implicit stages not found,
loops that cannot be closed, or steps too long for the forces: a driver gives the last three as DIVERGED, with its
reason in ``failure``."""


class Stop(NamedTuple):
    """Ends a run when a point of a body has advanced far enough along a direction."""

    link: np.ndarray
    """Link that carries the point, −1 for no condition, shape (1,)."""
    point: np.ndarray
    """In the link's frame [length], shape (1, 3)."""
    direction: np.ndarray
    """Unit vector, world frame, shape (1, 3)."""
    distance: np.ndarray
    """Where the point's coordinate along the direction ends the run [length], shape (1,)."""


def no_stop() -> Stop:
    """No condition."""
    return Stop(np.full(1, -1, dtype=np.int64), np.zeros((1, 3)), np.zeros((1, 3)), np.zeros(1))


def advance_stop(model: Model, body: int, direction: np.ndarray, advance: float) -> Stop:
    """Ends when the body's centre of mass has advanced by ``advance`` [length] along ``direction`` from its place at
    the model's initial coordinates. The body must not be welded to the ground."""
    positions, rotations = body_poses(model, model.q0)
    start = positions[body] + matrices(rotations[body]) @ model.centres[body]
    unit = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    return Stop(
        np.array([model.link[body]]),
        on_link(model, body, model.centres[body])[None],
        unit[None],
        np.array([start @ unit + advance]),
    )


@jit
def stop_reached(stop, ws):
    """Whether the placed links fulfil the condition."""
    i = stop.link[0]
    if i < 0:
        return False
    p = add(load(ws.position, i), apply(load_matrix(ws.rotation, i), load(stop.point, 0)))
    return dot(p, load(stop.direction, 0)) >= stop.distance[0]
