"""Paths of all motions, and the distance between two paths.

Speeds form *groups*: the translation of a free body, the rotation of a body or of a spherical joint, the angle of a
hinge, the displacement of a slider, the modes of a flexible body. Two paths of a group are compared as graphs of
position over time. Times are relative to the duration T of the run, and positions to the range R over which the group
moves. At a time t the error of the path x compared with the true path y is

    E(t) = min over t' of |t − t'|/T + |x(t) − y(t')|/R,

the smallest shift in time and position that moves the point onto the true graph. In steady motion, a shift in time is
equivalent to a shift in position. If a body is fast, a small delay is a large distance, and E measures the delay. If it
is slow or at rest, its delay has no meaning, and E measures the distance. No speed is a divisor, so rest and turning
points need no special treatment.
"""

from typing import NamedTuple

import numpy as np

from articulon.integrate.lag_groups import LEAST_ANGLE
from articulon.model import Model
from articulon.model.array_rotations import matrices, quaternion_product, rotation_vectors
from articulon.model.joints import BY_KIND, PRISMATIC, REVOLUTE

BETWEEN = 8
"""Number of pieces into which the true path between two successive times is divided."""
BEYOND = 0.2
"""Time by which the true path is extrapolated at its last speed, as a fraction of the run. The end of a run that is
ahead of the true path is compared with this extension."""


class Group(NamedTuple):
    """Speeds of one motion, such as the translation of a body."""

    name: str
    """Body and motion in words, such as "arm: rotation about its hinge"."""
    start: int
    """Index of the first speed."""
    end: int
    """One past the index of the last speed."""
    coordinate: int
    """Index of the first coordinate; the first of four Euler parameters if ``turns`` is set."""
    turns: bool
    """Whether the coordinates are Euler parameters."""
    angular: bool
    """Whether the displacement is an angle [rad] rather than a length."""


def groups_of(model: Model) -> list[Group]:
    """Return the groups of a model, in the order of its speeds."""
    forest, found = model.forest, []
    for i, kind in enumerate(forest.kind.tolist()):
        joint, name = BY_KIND[kind], model.names[int(model.head[i])]
        q, u, moves = int(forest.q_start[i]), int(forest.u_start[i]), joint.translations
        if moves:
            what = "slide along its axis" if kind == PRISMATIC else "translation"
            found.append(Group(f"{name}: {what}", u, u + moves, q, False, False))
        if joint.nu > moves:
            what = "rotation about its hinge" if kind == REVOLUTE else "rotation"
            turns = joint.quaternion is not None
            found.append(Group(f"{name}: {what}", u + moves, u + joint.nu, q + moves, turns, True))
    tables = forest.flexible
    if tables is not None:
        for body in model.modes:
            i = int(model.link[body])
            carrying, modes = BY_KIND[int(forest.kind[i])], model.modes[body].stiffness.shape[0]
            q, u = int(forest.q_start[i]) + carrying.nq, int(forest.u_start[i]) + carrying.nu
            found.append(Group(f"{model.names[body]}: deformation", u, u + modes, q, False, False))
    return sorted(found, key=lambda group: group.start)


class Path(NamedTuple):
    """Displacement of all motions over time; each group has its own columns."""

    times: np.ndarray
    """Times [time], shape (n,)."""
    place: np.ndarray
    """Displacement since the first time [length or rad], shape (n, columns); for rotations it is the sum of the
    rotation vectors in the joint frame."""
    velocity: np.ndarray
    """Rate of the displacement, shape (n, columns)."""
    q: np.ndarray
    """Coordinates, shape (n, nq)."""


def path_of(groups: list[Group], times: np.ndarray, q: np.ndarray, u: np.ndarray) -> Path:
    """Return the path through states of a run at given times, with a column for each speed.

    Parameters
    ----------
    groups
        The groups of the model.
    times
        Times of the states [time], shape (n,).
    q, u
        Coordinates (n, nq) and speeds (n, nu).
    """
    place, velocity = np.zeros_like(u), np.array(u)
    for group in groups:
        a, b, k = group.start, group.end, group.coordinate
        if not group.turns:
            place[:, a:b] = q[:, k : k + b - a] - q[0, k : k + b - a]
            continue
        e = q[:, k : k + 4]
        velocity[:, a:b] = np.einsum("nij,nj->ni", matrices(e), u[:, a:b])
        expected = 0.5 * np.diff(times)[:, None] * (velocity[1:, a:b] + velocity[:-1, a:b])
        place[1:, a:b] = np.cumsum(unwrapped(rotation_vectors(e[1:], e[:-1]), expected), axis=0)
    return Path(times, place, velocity, q)


def rough_groups(groups: list[Group]) -> list[Group]:
    """Return the groups of paths under noise; their indices are columns of the path.

    A rotation has nine columns, the components of the body's axes. Sums of rotation vectors would not work: they depend
    on the order of the rotations, and many small rotations back and forth would accumulate.
    """
    found, column = [], 0
    for group in groups:
        wide = 9 if group.turns else group.end - group.start
        found.append(group._replace(start=column, end=column + wide))
        column += wide
    return found


def rough_path(groups: list[Group], times: np.ndarray, q: np.ndarray, width: int) -> Path:
    """Return the path of a run under noise as a running average over ``width`` times, at the central time of each
    average. Its groups are those of :func:`rough_groups`."""
    place = np.empty((times.size, groups[-1].end))
    for group in groups:
        a, b, k = group.start, group.end, group.coordinate
        # A small rotation changes the nine components of the axes by √2 times the angle (root of the sum of squares).
        place[:, a:b] = matrices(q[:, k : k + 4]).reshape(-1, 9) / np.sqrt(2.0) if group.turns else q[:, k : k + b - a]
    place, times = _running_mean(place - place[0], width), _running_mean(times, width)
    return Path(times, place, np.asarray(np.gradient(place, times, axis=0)), q[:0])


def _running_mean(values: np.ndarray, width: int) -> np.ndarray:
    sums = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])
    return (sums[width:] - sums[:-width]) / width


def unwrapped(vectors: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Add to rotation vectors (n, 3) the whole turns about their axes that bring them closest to ``expected``."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    far = np.linalg.norm(expected, axis=-1, keepdims=True)
    axis = np.where(size > 1e-12, vectors / np.where(size > 1e-12, size, 1.0), expected / np.where(far > 0.0, far, 1.0))
    whole = np.rint(((axis * expected).sum(axis=-1, keepdims=True) - size) / (2.0 * np.pi))
    return vectors + 2.0 * np.pi * whole * axis


def ranges(groups: list[Group], place: np.ndarray) -> np.ndarray:
    """Return the largest distance of each group from its start [length or rad], shape (groups,)."""
    return np.array([np.sqrt((place[:, g.start : g.end] ** 2).sum(axis=1)).max() for g in groups])


def scales(groups: list[Group], reach: np.ndarray) -> np.ndarray:
    """Return the reference scales for errors of groups that have the ranges ``reach`` [length or rad], shape
    (groups,)."""
    return np.where([group.angular for group in groups], np.maximum(reach, LEAST_ANGLE), reach)


def coordinate_scales(groups: list[Group], scale: np.ndarray, nq: int) -> np.ndarray:
    """Return the reference scales for errors of coordinates, shape (nq,), from those of the groups. Euler parameters
    change by half of the angle of a rotation."""
    found = np.ones(nq)
    for group, size in zip(groups, scale, strict=True):
        width = 4 if group.turns else group.end - group.start
        found[group.coordinate : group.coordinate + width] = size * (0.5 if group.turns else 1.0)
    return found


def between(path: Path, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return position and velocity (m, nu) at times (m,). A path is interpolated by cubics, and extrapolated
    linearly."""
    t, x, v = path.times, path.place, path.velocity
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, t.size - 2)
    h = (t[k + 1] - t[k])[:, None]
    s = (times[:, None] - t[k][:, None]) / h
    c = np.clip(s, 0.0, 1.0)
    at = (1 + 2 * c) * (1 - c) ** 2 * x[k] + c * (1 - c) ** 2 * h * v[k]
    at += c * c * (3 - 2 * c) * x[k + 1] + c * c * (c - 1) * h * v[k + 1]
    rate = 6 * c * (c - 1) / h * (x[k] - x[k + 1]) + (1 - c) * (1 - 3 * c) * v[k] + c * (3 * c - 2) * v[k + 1]
    return at + (s - c) * h * rate, rate


class PathDistance(NamedTuple):
    """Distance between two paths of one group, at the times of the first path."""

    error: np.ndarray
    """Error E, shape (n,)."""
    delay: np.ndarray
    """Delay of the first path [time], shape (n,)."""
    position_error: np.ndarray
    """Distance between the positions at the same time, relative to the range, shape (n,)."""


def offsets(groups: list[Group], path: Path, truth: Path) -> np.ndarray:
    """Return the position of a path minus that of the true path, at the times of the path, shape (n, nu).

    For rotations it is the rotation vector between the two, plus the whole turns by which they differ. A true path that
    ends earlier stays at its end point.
    """
    times = np.clip(path.times, truth.times[0], truth.times[-1])
    there, _ = between(truth, times)
    found = path.place - there
    k = np.clip(np.searchsorted(truth.times, times, side="right") - 1, 0, truth.times.size - 1)
    for g in groups:
        if not g.turns:
            continue
        a, b, c = g.start, g.end, g.coordinate
        e = turned(truth.q[k, c : c + 4], there[:, a:b] - truth.place[k, a:b])
        found[:, a:b] = unwrapped(rotation_vectors(path.q[:, c : c + 4], e), found[:, a:b])
    return found


def turned(e: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return the Euler parameters (n, 4) after rotation by vectors (n, 3), which are given in the rotated frame."""
    angle = np.linalg.norm(rotation, axis=-1, keepdims=True)
    half = 0.5 * np.sinc(0.5 * angle / np.pi) * rotation
    return quaternion_product(np.concatenate([np.cos(0.5 * angle), half], axis=-1), e)


def path_distance(
    path: Path, truth: Path, offset: np.ndarray, group: Group, reach: float, duration: float
) -> PathDistance:
    """Compute the distance between a path and the true path of one group.

    Parameters
    ----------
    path, truth
        The two paths.
    offset
        Offsets of the two paths from :func:`offsets`.
    group
        The group.
    reach
        Range R of the group [length or rad].
    duration
        Duration T of the run [time].
    """
    a, b, t, end = group.start, group.end, path.times, truth.times[-1]
    position_error = np.sqrt((offset[:, a:b] ** 2).sum(axis=1)) / reach
    fine = (truth.times[:-1, None] + np.diff(truth.times)[:, None] * (np.arange(BETWEEN) / BETWEEN)).ravel()
    fine = np.append(fine, [end, end + BEYOND * duration])
    graph, here = between(truth, fine)[0][:, a:b], between(truth, np.clip(t, truth.times[0], end))[0][:, a:b]
    place, segments, steps = here + offset[:, a:b], np.diff(graph, axis=0), np.diff(fine)
    lengths = (segments**2).sum(axis=1)
    error, delay = np.where(t > end, np.inf, position_error), np.zeros_like(position_error)
    for n in np.flatnonzero(error > 0.0):
        # The error is at most `off`, the distance at the same time. Only points of the true path whose shift in time,
        # relative to T, is below this value can reduce the error.
        low = max(int(np.searchsorted(fine, t[n] - error[n] * duration)) - 1, 0)
        high = min(int(np.searchsorted(fine, t[n] + error[n] * duration)) + 1, steps.size)
        piece = slice(low, max(high, low + 1))
        away, segment = place[n] - graph[:-1][piece], segments[piece]
        nearest = np.clip((away * segment).sum(axis=1) / np.where(lengths[piece] > 0.0, lengths[piece], 1.0), 0.0, 1.0)
        for part in (nearest, np.zeros_like(nearest), np.ones_like(nearest)):
            moment = fine[:-1][piece] + part * steps[piece]
            both = np.abs(t[n] - moment) / duration
            both += np.sqrt(((away - part[:, None] * segment) ** 2).sum(axis=1)) / reach
            best = int(np.argmin(both))
            if both[best] < error[n]:
                error[n], delay[n] = both[best], t[n] - moment[best]
    return PathDistance(error, delay, position_error)
