"""Error of each motion of a run compared with a true path.

The error in time of a group is the distance E of :mod:`articulon.fidelity.paths`. It is averaged over a twentieth of
the run, so that brief deviations count less. The error of the run is the largest average, or the delay at the end if
that is larger. The error in position is the largest distance between the paths at the same time, relative to the range.
With noise, the two paths are averaged over a twentieth of the run, and both errors are means over the run, because
errors at single times are random.
"""

from typing import NamedTuple

import numpy as np

from articulon.fidelity.paths import (
    Group,
    Path,
    between,
    groups_of,
    offsets,
    path_distance,
    path_of,
    ranges,
    rough_groups,
    rough_path,
    scales,
)
from articulon.fidelity.record import Record
from articulon.fidelity.verdict import Bounds
from articulon.integrate.integrators import Controlled
from articulon.integrate.variables import POSITION, ROTATION

PART = 0.05
"""Length of the running average of errors, as a fraction of the run."""
LEAST_FRAMES = 20
"""Minimum number of frames for averaging paths under noise."""
ROUNDING = 1e-10
"""Assumed error of steps of equal length, which have no tolerance: a rounding error, relative to the largest
coordinate."""
ARRIVAL = "arrival of "
"""Prefix of the name of the event that ends a run."""
ROUNDING_FRACTION = 1e-3
"""Fraction of the resolution below which a motion is considered rounding error."""
SLACK = 3.0
"""Ratio of the error of positions to the tolerance of a single step. It is small because damping removes most of the
errors of earlier steps."""


class Motion(NamedTuple):
    """Motion of a run."""

    groups: list[Group]
    """Groups of speeds that belong together."""
    path: Path
    """Path of the run; a running average if there is noise."""
    reach: np.ndarray
    """Range of each group [length or rad], shape (groups,)."""
    error: np.ndarray
    """Uncertainty of positions due to the tolerances of the integrator [length or rad], shape (groups,)."""
    width: int
    """Number of frames in a running average."""
    noisy: bool
    """Whether Brownian forces act."""


class MotionError(NamedTuple):
    """Errors of the motion of a group."""

    what: str
    """Name of the body and motion."""
    time: float
    """Relative error in time."""
    position: float
    """Relative error in position."""
    delay: float
    """Delay where the error in time is largest [time]."""
    at: float
    """Time of the largest error in time [time]."""
    errors: np.ndarray
    """Error in time at the frames, shape (frames,)."""
    position_error: np.ndarray
    """Error in position at the frames, shape (frames,)."""
    own: tuple[float, float] = (0.0, 0.0)
    """Amounts subtracted from the errors in time and in position, because inertia also affects the true path."""

    @property
    def arrives(self) -> bool:
        """Whether this motion is the arrival that ends the run."""
        return self.what.startswith(ARRIVAL)

    def of(self, kind: str) -> float:
        """Return the error of a kind, "time" or "position"."""
        return self.time if kind == "time" else self.position

    def subtracted(self, kind: str) -> float:
        """Return the amount subtracted from the error of a kind, "time" or "position"."""
        return self.own[0 if kind == "time" else 1]

    def since(self, kind: str, times: np.ndarray, bounds: Bounds, verdict: str) -> float | None:
        """Return the time from which a verdict on this motion holds [time]."""
        errors = self.errors if kind == "time" else self.position_error
        return bounds.broken_at(verdict, times, np.maximum.accumulate(errors), 1.0)


def motion_of(record: Record) -> Motion:
    """Motion of a run."""
    groups, frames = groups_of(record.model), record.times.size
    width, error = max(1, round(PART * (frames - 1))), resolution(record, groups)
    if record.noise is not None:
        groups = rough_groups(groups)
        path = rough_path(groups, record.times, record.q, width)
    else:
        path = path_of(groups, record.times, record.q, record.u)
    return Motion(groups, path, ranges(groups, path.place), error, width, record.noise is not None)


def resolution(record: Record, groups: list[Group]) -> np.ndarray:
    """Return the uncertainty of positions that the tolerances of the integrator leave [length or rad], shape
    (groups,)."""
    integrator, found = record.integrator, np.empty(len(groups))
    controlled = isinstance(integrator, Controlled) and getattr(integrator, "step", None) is None
    tolerances = [(float(r), float(a)) for _, r, a in integrator.tolerances()] if controlled else []
    for k, group in enumerate(groups):
        wide = 4 if group.turns else group.end - group.start
        size = float(np.abs(record.q[:, group.coordinate : group.coordinate + wide]).max(initial=0.0))
        relative, absolute = tolerances[ROTATION if group.angular else POSITION] if tolerances else (ROUNDING, 0.0)
        found[k] = SLACK * (absolute + relative * size)
    return found


def unresolved(motion: Motion) -> list[str]:
    """Return the names of motions that exceed rounding errors but are smaller than the integrator resolves."""
    seen = (motion.reach > ROUNDING_FRACTION * motion.error) & (motion.reach <= motion.error)
    return [group.name for group, here in zip(motion.groups, seen.tolist(), strict=True) if here]


def compare(record: Record, motion: Motion, truth: Path, inertia: np.ndarray | None = None) -> list[MotionError]:
    """Return the errors of each moving group, the worst first.

    Parameters
    ----------
    record
        The run.
    motion
        Motion of the run.
    truth
        Path of the unscaled run, at any times.
    inertia
        Effect of inertia on the true path divided by its effect on the run, at the frames, shape (frames, groups). It
        is needed if ``truth`` omits inertia: this fraction of an error is subtracted, because inertia moves the true
        path too. None if ``truth`` includes inertia.
    """
    path, groups, T = motion.path, motion.groups, record.duration
    reach = np.maximum(motion.reach, ranges(groups, truth.place))
    scale = scales(groups, reach)
    offset = path.place - truth.place if motion.noisy else offsets(groups, path, truth)
    between_frames = np.zeros((path.times.size, len(groups))) if motion.noisy else unseen(groups, path.times, truth)
    found = []
    for k, group in enumerate(groups):
        if reach[k] <= motion.error[k]:
            continue
        size, known = float(scale[k]), float(motion.error[k] / scale[k])
        one = path_distance(path, truth, offset, group, size, T)
        # Excursions of the true path that the run does not follow count as well, except those after the end of the run.
        missed = path_distance(path, path, -offset, group, size, T).error - between_frames[:, k] / size
        missed[path.times > path.times[-1] - max(float(one.delay[-1]), 0.0)] = 0.0
        whole, position_error = (
            np.maximum(np.maximum(one.error, missed) - known, 0.0),
            np.maximum(one.position_error - known, 0.0),
        )
        left = np.ones_like(whole) if inertia is None else 1.0 - inertia[:, k]
        delay = left * one.delay
        if motion.noisy:
            errors = np.cumsum(left * whole) / np.arange(1, whole.size + 1)
            own = float(whole.mean() - errors[-1]), float(((1.0 - left) * position_error).mean())
            time, position, at = float(errors[-1]), float((left * position_error).mean()), int(np.argmax(left * whole))
            found.append(
                MotionError(
                    group.name,
                    time,
                    position,
                    float(delay.mean()),
                    float(path.times[at]),
                    errors,
                    left * position_error,
                    own,
                )
            )
            continue
        errors, uncorrected = _running(left * whole, motion.width), _running(whole, motion.width)
        errors[-1] = max(errors[-1], abs(float(delay[-1])) / T)
        uncorrected[-1] = max(uncorrected[-1], abs(float(one.delay[-1])) / T)
        at = int(np.argmax(errors))
        own = float(uncorrected.max() - errors[at]), float(position_error.max() - (left * position_error).max())
        found.append(
            MotionError(
                group.name,
                float(errors[at]),
                float((left * position_error).max()),
                float(delay[at]),
                float(path.times[at]),
                errors,
                left * position_error,
                own,
            )
        )
    return sorted(found, key=lambda wrong: -wrong.of(record.settings.error))


def unseen(groups: list[Group], times: np.ndarray, truth: Path) -> np.ndarray:
    """Return how far a path deviates, around each frame, from the cubic through its states at the frames [length or
    rad], shape (frames, groups)."""
    clipped = np.clip(times, truth.times[0], truth.times[-1])
    frames = Path(clipped, *between(truth, clipped), truth.q)
    middle = 0.5 * (times[1:] + times[:-1])
    middle = middle[middle < truth.times[-1]]
    if clipped.size < 2 or not middle.size:
        return np.zeros((times.size, len(groups)))
    away = between(truth, middle)[0] - between(frames, middle)[0]
    found = np.zeros((times.size, len(groups)))
    for k, group in enumerate(groups):
        size = np.linalg.norm(away[:, group.start : group.end], axis=1)
        wide = np.concatenate([[0.0, 0.0], size, np.zeros(times.size + 2 - size.size)])
        found[:, k] = np.maximum.reduce([wide[n : n + times.size] for n in range(4)])
    return found


def _running(errors: np.ndarray, width: int) -> np.ndarray:
    """Return the running mean of errors over the last ``width`` times. At the start it is the mean over the first
    ``width`` times."""
    sums = np.concatenate([[0.0], np.cumsum(errors)])
    end = np.maximum(np.arange(errors.size) + 1, width)
    return (sums[end] - sums[end - width]) / width


def arrival(record: Record, groups: list[Group], truth: Path, inertia: np.ndarray | None = None) -> MotionError | None:
    """Return the delay of the arrival that ends the run, compared with the true path; None if neither path arrives.

    The parameters are those of :func:`compare`. The effect of inertia is that for the tree of the arriving body, or the
    least for the trees of two bodies that approach each other. If only one of the two paths arrives, the delay is at
    least the rest of the run.
    """
    if record.stop is None:
        return None
    model, T = record.model, record.duration
    stop = record.stop.started(model, record.q[0])
    true, run = (np.array([stop.beyond(model, q) for q in path]) for path in (truth.q, record.q[-2:]))
    beyond = np.flatnonzero(true >= 0.0)
    ended = run[-1] >= -1e-9 * stop.whole
    if not beyond.size and not ended:
        return None
    t = record.times
    mine = t[-1] if not ended or run[-1] <= run[-2] else t[-2] - run[-2] / (run[-1] - run[-2]) * (t[-1] - t[-2])
    theirs = float(truth.times[-1])
    if beyond.size:
        k = max(int(beyond[0]), 1)
        theirs = float(np.interp(0.0, true[k - 1 : k + 1], truth.times[k - 1 : k + 1]))
    delay = whole = float(mine) - theirs
    if inertia is not None:
        moving = [link for link in (int(model.link[body]) for body in stop.bodies) if link >= 0]
        roots = [int(model.forest.tree[model.tree_of_link[link]]) for link in moving]
        firsts = [next(k for k, g in enumerate(groups) if g.start >= model.forest.u_start[root]) for root in roots]
        delay *= 1.0 - min(float(inertia[-1, first]) for first in firsts)
        theirs = float(mine) - delay
    what, error = f"{ARRIVAL}{model.names[stop.bodies[0]]}", abs(delay) / T
    errors = np.where(t >= min(theirs, float(mine)), np.abs(t - theirs) / T, 0.0) if delay > 0.0 else np.zeros(t.size)
    errors[-1] = error
    own = abs(whole) / T - error, 0.0
    return MotionError(what, error, 0.0, delay, float(t[-1]), errors, np.zeros(t.size), own)
