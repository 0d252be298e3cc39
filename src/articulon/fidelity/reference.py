"""The true path of a run without noise: an unscaled path of the same model from the same start, computed cheaply.

``without_inertia`` is meant for bodies whose inertia has little effect between two frames, which is also the condition
for scaling. Drag then balances all other forces, and a stabilised explicit rule integrates the slow motion. Its speeds
may include inertia to first order. ``complete`` integrates the complete equations of motion by an implicit rule (Hairer
and Wanner's Radau IIA of order 5, from SciPy), with a Jacobian by finite differences. It is meant for small models, and
for models without damping.
"""

from typing import NamedTuple

import numpy as np
import scipy

from articulon.fidelity.chebyshev import NotFinishedError, chebyshev_steps
from articulon.fidelity.paths import Group, Path, coordinate_scales, path_of
from articulon.forces.evaluation import Evaluator
from articulon.integrate.drift_velocity import DriftVelocity
from articulon.integrate.stop_conditions import StopCondition
from articulon.model import Model

LONGEST = 0.5
"""Longest step, as a fraction of the run, divided by the cube root of the tolerance. Between steps, a path is
interpolated by a cubic."""
FIRST = 1e-3
"""First step, as a fraction of the run, divided by the cube root of the tolerance."""
RELAXED = 1e-9
"""Time that a motion with inertia to first order is given to relax at the start, as a fraction of the run."""
LEAST = 0.01
"""Minimum reference scale for errors of coordinates that hardly move, as a fraction of the range."""
PAST = 0.05
"""Time by which a path continues after the stop event, as a fraction of the run. A run that is ahead of the path is
compared with this part."""


LEFT = 200
"""Number of evaluations that this continuation may always use; it may also use half of the evaluations of the path so
far."""


class TooExpensiveError(Exception):
    """The budget of evaluations was used up before the end of the path."""


class NoPathError(Exception):
    """A path of this kind cannot be computed; the message gives the reason."""


class Course(NamedTuple):
    """Specification of a reference path."""

    groups: list[Group]
    """Groups of the model."""
    q: np.ndarray
    """Initial coordinates, shape (nq,)."""
    u: np.ndarray
    """Initial speeds, shape (nu,)."""
    start: float
    """Start time of the run [time]."""
    duration: float
    """Duration of the run [time]."""
    scale: np.ndarray
    """Reference scale for errors of each group [length or rad], shape (groups,)."""
    speed: np.ndarray
    """Reference scale for errors of the speeds of each group, shape (groups,)."""
    idle: np.ndarray
    """Whether each speed is zero during the whole run, shape (nu,)."""
    stop: StopCondition | None
    """Condition that ends the run early, or None."""


def without_inertia(drift: DriftVelocity, course: Course, tolerance: float, budget: int) -> Path:
    """Compute a path without inertia, or with inertia to first order if the drift velocities include it.

    Parameters
    ----------
    drift
        Drift velocities.
    course
        Specification of the path.
    tolerance
        Error of a step, relative to the scales.
    budget
        Maximum number of evaluations.

    Raises
    ------
    TooExpensiveError
        If the budget is exhausted.
    NoPathError
        If the path reaches a point where no step is short enough.
    """
    begun, most = drift.evaluations, drift.evaluations + budget

    def rates(t: float, q: np.ndarray) -> np.ndarray:
        if drift.evaluations >= most:
            raise TooExpensiveError
        return drift.rates(t, q)

    tell, T = _Ending(drift.model, course), course.duration
    whole = coordinate_scales(course.groups, course.scale, drift.model.nq)
    size = np.ones(drift.model.nq)
    parts = [
        slice(group.coordinate, group.coordinate + (4 if group.turns else group.end - group.start))
        for group in course.groups
    ]

    def scale(rate: np.ndarray) -> np.ndarray:
        # The scale must be small for slow motions, in which a small error in position is a long delay.
        for part in parts:
            reach = whole[part]
            size[part] = tolerance * np.minimum(reach, np.maximum(LEAST * reach, T * np.linalg.norm(rate[part])))
        return size

    begins = drift.started(course.start, course.q, course.u)
    times, places, speeds = [], [], []
    try:
        for t, q, _ in chebyshev_steps(
            rates,
            course.start,
            begins,
            course.start + T,
            scale,
            drift.project,
            FIRST * T,
            longest=_longest(T, tolerance),
        ):
            times.append(t)
            places.append(q)
            speeds.append(drift.latest.copy())
            first = tell.reached is None
            if tell.over(t, q):
                break
            if first and tell.reached is not None:  # the continuation can become stiff, such as in a collision
                most = min(most, drift.evaluations + max(LEFT, (drift.evaluations - begun) // 2))
    except (NotFinishedError, TooExpensiveError) as error:
        if tell.reached is None:
            if isinstance(error, TooExpensiveError):
                raise
            raise NoPathError(f"steps without inertia become too short at t = {times[-1]:.6g}") from None
    if not np.array_equal(begins, course.q):
        # The path begins at the start of the run and includes the relaxation.
        times[0] += RELAXED * T
        times, places, speeds = [course.start, *times], [course.q, *places], [speeds[0], *speeds]
    return path_of(course.groups, np.array(times), np.array(places), np.array(speeds))


def complete(evaluator: Evaluator, course: Course, tolerance: float, budget: int) -> tuple[Path, int]:
    """Compute a path by the complete equations of motion; return it and the number of evaluations used.

    Parameters and errors are those of :func:`without_inertia`.
    """
    model, spent = evaluator.model, 0
    nq, nu = model.nq, model.nu
    atol = np.ones(nq + nu)
    for group, size, speed in zip(course.groups, course.scale, course.speed, strict=True):
        wide = 4 if group.turns else group.end - group.start
        atol[group.coordinate : group.coordinate + wide] = tolerance * size * (0.5 if group.turns else 1.0)
        atol[nq + group.start : nq + group.end] = 3.0 * tolerance * speed
    turns = [slice(group.coordinate, group.coordinate + 4) for group in course.groups if group.turns]
    most = budget
    variables, found, unscaled = np.zeros(nq + nu + 8), np.zeros(nq + nu + 8), np.ones(8)

    def project(y: np.ndarray) -> None:
        for part in turns:
            y[part] /= np.linalg.norm(y[part])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        nonlocal spent
        if spent >= most:
            raise TooExpensiveError
        spent += 1
        variables[: nq + nu] = y
        project(variables)
        evaluator.rates(unscaled, t, 0, variables, found)
        return found[: nq + nu].copy()

    tell, T = _Ending(model, course), course.duration
    times, states = [course.start], [np.concatenate([course.q, course.u])]
    # Trial states of the Newton iteration may overflow; they are rejected.
    with np.errstate(all="ignore"):
        try:
            solver = scipy.integrate.Radau(
                rates,
                course.start,
                states[0].copy(),
                course.start + T,
                rtol=1e-10,
                atol=atol,
                max_step=_longest(T, tolerance),
                first_step=1e-6 * T,
            )
            while solver.status == "running":
                solver.step()
                if solver.status == "failed":
                    raise NoPathError(f"an implicit rule finds no step at t = {solver.t:.6g}")
                y = solver.y.copy()
                project(y)
                times.append(solver.t)
                states.append(y)
                first = tell.reached is None
                if tell.over(solver.t, y[:nq]):
                    break
                if first and tell.reached is not None:
                    most = min(most, spent + max(LEFT, spent // 2))
        except (TooExpensiveError, NoPathError, ValueError, np.linalg.LinAlgError) as error:
            if tell.reached is None:
                if isinstance(error, TooExpensiveError | NoPathError):
                    raise
                raise NoPathError(f"an implicit rule finds no step at t = {times[-1]:.6g}") from None
    y = np.array(states)
    return path_of(course.groups, np.array(times), y[:, :nq], y[:, nq:]), spent


def _longest(duration: float, tolerance: float) -> float:
    """Return the longest step of a path for a given tolerance [time]."""
    return LONGEST * float(np.cbrt(tolerance)) * duration


class _Ending:
    """Detects when a path has reached the stop event of its run."""

    def __init__(self, model: Model, course: Course) -> None:
        self.model, self.past = model, PAST * course.duration
        self.stop = None if course.stop is None else course.stop.started(model, course.q)
        self.reached: float | None = None
        """Time at which the stop event was reached [time], or None."""

    def over(self, t: float, q: np.ndarray) -> bool:
        """Return whether the path has continued long enough after the stop event."""
        if self.stop is None:
            return False
        if self.reached is None and self.stop.beyond(self.model, q) >= 0.0:
            self.reached = t
        return self.reached is not None and t > self.reached + self.past
