"""The true path of a run without noise: the same model from the same start, unscaled, by what costs least.

``without_inertia`` is for bodies whose inertia matters little between two of the moments that are looked at, which is
what makes scaling possible at all: drag balances all other forces, and a stabilised explicit rule follows at the pace
of the slow motion. Its speeds may hold inertia to first order. ``complete`` integrates the whole equations of motion by
an implicit rule (Hairer and Wanner's Radau IIA of order 5, by SciPy) whose Jacobian is differenced: for small models,
and for those that nothing damps.
"""

from typing import NamedTuple

import numpy as np
import scipy

from articulon.dynamics import body_poses
from articulon.fidelity.chebyshev import NotFinishedError, chebyshev_steps
from articulon.fidelity.paths import Group, Path, coordinate_scales, path_of
from articulon.forces.evaluation import Evaluator
from articulon.integrate.drift_velocity import DriftVelocity
from articulon.model import Model
from articulon.model.array_rotations import matrices

LONGEST = 0.5
"""Length of a step, as a part of the run, over the cube root of its tolerance: between steps a path is a cubic."""
FIRST = 1e-3
"""The first step, likewise."""
RELAXED = 1e-9
"""Time in which a motion with inertia to first order has relaxed, as a part of the run."""
LEAST = 0.01
"""Errors of what hardly moves are relative to this part of its range."""
PAST = 0.05
"""How long a path goes on behind the place that ends the run, as a part of the run: what overtakes it is there."""


LEFT = 200
"""Evaluations that going on so long may take at least; at most it takes half of what the path took until there."""


class TooExpensiveError(Exception):
    """The budget has ended before the path has."""


class NoPathError(Exception):
    """There is no path of this kind; says why."""


class Course(NamedTuple):
    """What a reference path is asked for."""

    groups: list[Group]
    """The groups of the model."""
    q: np.ndarray
    """Initial coordinates, shape (nq,)."""
    u: np.ndarray
    """Initial speeds, shape (nu,)."""
    start: float
    """When the run begins [time]."""
    duration: float
    """How long it goes on [time]."""
    scale: np.ndarray
    """What errors of each group are relative to [length or rad], shape (groups,)."""
    speed: np.ndarray
    """The same of their speeds, shape (groups,)."""
    idle: np.ndarray
    """Whether a speed is zero all along, shape (nu,)."""
    stop: tuple[int, np.ndarray, float] | None
    """Body, direction and advance [length] that end the run, or None."""


def without_inertia(drift: DriftVelocity, course: Course, tolerance: float, budget: int) -> Path:
    """The path without inertia, or with inertia to first order.

    Parameters
    ----------
    drift
        Its speeds.
    course
        What is asked for.
    tolerance
        Error of a step, relative to the scales.
    budget
        Evaluations that it may take.

    Raises
    ------
    TooExpensiveError
        Where the budget ends first.
    NoPathError
        Where the path comes to a place where no step is short enough.
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
        # What is slow is late by much for a small error in place.
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
            if first and tell.reached is not None:  # what comes then may be a collision that never ends
                most = min(most, drift.evaluations + max(LEFT, (drift.evaluations - begun) // 2))
    except (NotFinishedError, TooExpensiveError) as error:
        if tell.reached is None:
            if isinstance(error, TooExpensiveError):
                raise
            raise NoPathError(f"steps without inertia become too short at t = {times[-1]:.6g}") from None
    if not np.array_equal(begins, course.q):
        # What it takes to relax is a part of the path, which begins where the run does.
        times[0] += RELAXED * T
        times, places, speeds = [course.start, *times], [course.q, *places], [speeds[0], *speeds]
    return path_of(course.groups, np.array(times), np.array(places), np.array(speeds))


def complete(evaluator: Evaluator, course: Course, tolerance: float, budget: int) -> tuple[Path, int]:
    """The path by the whole equations of motion, and the evaluations that it took; parameters and errors are those of
    :func:`without_inertia`."""
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
    # Trial states of the Newton iterations may overflow; they are rejected.
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
    """The longest step of a path with a tolerance [time]."""
    return LONGEST * float(np.cbrt(tolerance)) * duration


class _Ending:
    """Tells when a path has come to where its run ends."""

    def __init__(self, model: Model, course: Course) -> None:
        self.model, self.stop, self.past = model, course.stop, PAST * course.duration
        self.reached: float | None = None
        """When it got to the place that ends the run [time], or None."""
        self.start = 0.0 if course.stop is None else self._advance(course.q)

    def _advance(self, q: np.ndarray) -> float:
        assert self.stop is not None
        body, direction, _ = self.stop
        positions, rotations = body_poses(self.model, q)
        return float(direction @ (positions[body] + matrices(rotations[body]) @ self.model.centres[body]))

    def over(self, t: float, q: np.ndarray) -> bool:
        """Whether the path has gone on for long enough behind its end."""
        if self.stop is None:
            return False
        if self.reached is None and self._advance(q) - self.start >= self.stop[2]:
            self.reached = t
        return self.reached is not None and t > self.reached + self.past
