"""Status values of an advance, and the condition that ends a run early."""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import add, apply, dot, load, load_matrix, scale
from articulon.dynamics.centres_of_mass import centre_of_mass
from articulon.forces.selection import on_link
from articulon.forces.sites.nearest_images import widths
from articulon.integrate.variables import ANGULAR_VELOCITY, blocks
from articulon.kernels import jit
from articulon.model import Model, Workspace, kernel_tables
from articulon.model.joints import UNBOUND

REACHED, PAUSED, DIVERGED, STOPPED, NOT_CONVERGED, NOT_CLOSED, TOO_LONG, LEAPT, CAPACITY_EXCEEDED = range(9)
"""Status values: the end time is reached; the allowed steps are taken; numbers are no longer finite; the condition of
:class:`Stop` is met; implicit stages do not converge; loops cannot be closed; steps are too long for the forces; a step
leads through half of a periodic box; a list is too short. A driver returns NOT_CONVERGED to LEAPT as DIVERGED, with the
reason in ``failure``, and repeats steps with longer lists."""


class Stop(NamedTuple):
    """Condition that ends a run when a point of a body has advanced far enough along a direction."""

    link: np.ndarray
    """Link that carries the point, −1 for no condition, shape (1,)."""
    point: np.ndarray
    """The point in the link's frame [length], shape (1, 3); the point of a flexible body is displaced further by its
    first moment divided by its mass."""
    moment: np.ndarray
    """First moments of deformed links, link frame [mass length], shape (links, 3); one row for a rigid body."""
    per_mass: np.ndarray
    """1/m of a flexible body [1/mass], 0 for a rigid one, shape (1,)."""
    direction: np.ndarray
    """Unit vector, world frame, shape (1, 3)."""
    distance: np.ndarray
    """The point's coordinate along the direction at which the run ends [length], shape (1,)."""
    way: np.ndarray
    """Total displacement required, and the point's coordinate at the latest and at the previous check of the condition
    [length], shape (3,)."""


def no_stop() -> Stop:
    """A condition that is never met."""
    point, direction, moment = np.zeros((3, 1, 3))
    return Stop(np.full(1, -1, dtype=np.int64), point, moment, np.zeros(1), direction, np.zeros(1), np.zeros(3))


def advance_stop(model: Model, body: int, direction: np.ndarray, advance: float, ws: Workspace | None = None) -> Stop:
    """The condition that the body's centre of mass, deformed by its modes, has advanced by ``advance`` [length] along
    ``direction`` from its position at the model's initial coordinates. The body must not be welded to the ground.
    ``ws`` is the workspace in which the run places links; rigid bodies need none."""
    start = centre_of_mass(model, model.q0, body)[0]
    unit = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    link, point = int(model.link[body]), on_link(model, body, model.centres[body])
    moment, per_mass = np.zeros((1, 3)), 0.0
    if body in model.modes:
        assert ws is not None and ws.modal is not None
        moment, per_mass = ws.modal.moment, 1.0 / float(model.masses[body])
        point = point - per_mass * model.forest.moment[link]
    return Stop(
        np.array([link]),
        point[None],
        moment,
        np.array([per_mass]),
        unit[None],
        np.array([start @ unit + advance]),
        np.array([advance, np.nan, np.nan]),
    )


@jit
def stop_reached(stop, ws):
    """Whether links whose poses are known fulfil the condition."""
    i = stop.link[0]
    if i < 0:
        return False
    point = load(stop.point, 0)
    if stop.per_mass[0] > 0.0:
        point = add(point, scale(stop.per_mass[0], load(stop.moment, i)))
    p = add(load(ws.position, i), apply(load_matrix(ws.rotation, i), point))
    x = dot(p, load(stop.direction, 0))
    stop.way[1], stop.way[2] = x, stop.way[1]
    return x >= stop.distance[0]


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
