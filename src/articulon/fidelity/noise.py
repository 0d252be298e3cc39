"""The true path of a run under Brownian forces: an unscaled run of the same model with the same start and noise.

The noise of a run is defined in numbered windows of time. A step of the path spans one or several windows. If drag acts
on every joint, the path follows Brownian dynamics (integrator ``overdamped``); otherwise the integrator is
``friction-implicit``. If even one window is too long for a step, the motion without inertia is integrated with several
steps per window.
"""

from typing import Any, NamedTuple

import numpy as np

from articulon.errors import CaseError
from articulon.fidelity.chebyshev import NotFinishedError, chebyshev_steps
from articulon.fidelity.motion import Motion
from articulon.fidelity.paths import Path, coordinate_scales, rough_path, scales
from articulon.fidelity.record import Record
from articulon.fidelity.reference import NoPathError, TooExpensiveError
from articulon.forces.evaluation import Evaluator
from articulon.integrate import BrownianDynamics, FrictionImplicit
from articulon.integrate.choice import driver
from articulon.integrate.drift_velocity import DriftVelocity
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED
from articulon.model.state import EVALUATIONS, STEPS, WINDOW

OVERDAMPED, FRICTION_IMPLICIT = "overdamped", "friction-implicit"
RULES = {OVERDAMPED: BrownianDynamics, FRICTION_IMPLICIT: FrictionImplicit}
"""Integrators for paths under noise, in the order in which they are tried."""
EVALUATIONS_OF_A_STEP = {OVERDAMPED: 2, FRICTION_IMPLICIT: 1}


CHUNK = 4096
"""Number of steps between checks of the cost of a path."""


class Steps(NamedTuple):
    """Equal steps that consist of whole windows of noise; the time between frames is a whole number of steps."""

    length: float
    """Length of a step [time]."""
    windows: int
    """Number of fine windows in each step."""


def steps_within(record: Record, longest: float) -> Steps:
    """Return the longest possible steps of at most ``longest`` [time]. If a window is longer, the steps are single
    windows."""
    interval = float(record.times[1] - record.times[0])
    whole = max(1, round(interval / record.window))
    most = max(1, int(longest / record.window * (1.0 + 1e-9)))
    windows = max(k for k in range(1, min(most, whole) + 1) if whole % k == 0)
    return Steps(record.window * windows, windows)


def on_the_same_noise(record: Record, motion: Motion, rule: str, steps: Steps) -> tuple[Path, int]:
    """Compute a path on the noise of the run at its frames, averaged like the path of the run.

    Returns the path and the number of evaluations used.

    Raises
    ------
    NoPathError
        If the integrator ``rule`` does not support the model, or the steps are too long for it.
    """
    return _path(record, motion, RULES[rule](rule=rule, step=steps.length), steps, 2**62)


def by_its_own_rule(record: Record, motion: Motion, budget: int) -> tuple[Path, int]:
    """Compute a path on the noise of the run by the integrator of the run, which chooses steps by its error estimate.

    Returns the path and the number of evaluations used.

    Raises
    ------
    TooExpensiveError
        If the budget is exhausted.
    NoPathError
        If the steps become too short.
    """
    return _path(record, motion, record.integrator, Steps(record.window, 1), budget)


def _path(record: Record, motion: Motion, integrator: Any, steps: Steps, budget: int) -> tuple[Path, int]:
    model, times = record.model, record.times
    evaluator = Evaluator(model, record.seed, record.window, steps.windows)
    try:
        advance = driver(Problem(evaluator, integrator), evaluator.initial_state())
    except CaseError as error:
        raise NoPathError(str(error)) from None
    state = evaluator.initial_state(advance.history, memory=advance.memory)
    evaluator.start(state, record.q[0], record.u[0])
    begun = round(float(times[0]) / steps.length)
    state.time[0], state.counters[STEPS], state.counters[WINDOW] = times[0], begun, begun
    q = np.empty_like(record.q)
    q[0] = state.q
    last = times.size
    for k in range(1, times.size):
        if round(times[k] / steps.length) * steps.length - times[k] > 1e-6 * steps.length:
            last = k  # a stopped run ends between two frames
            break
        while times[k] - float(state.time[0]) > 1e-9 * (times[k] - times[k - 1]):
            if advance.advance(state, float(times[k]), CHUNK) == DIVERGED:
                raise NoPathError(f"steps of {steps.length:.6g} are too long at t = {float(state.time[0]):.6g}")
            if state.counters[EVALUATIONS] > budget:
                raise TooExpensiveError
        q[k] = state.q
    return rough_path(motion.groups, times[:last], q[:last], motion.width), int(state.counters[EVALUATIONS])


def within_windows(
    record: Record, motion: Motion, drift: DriftVelocity, rate: float, tolerance: float, budget: int
) -> Path:
    """Compute a path without inertia with several steps per window of noise, at the frames of the run and averaged like
    the path of the run.

    Parameters
    ----------
    record, motion
        The run and its motion.
    drift
        Drift velocities of the motion without inertia, with noise.
    rate
        Largest rate of the motion [1/time].
    tolerance
        Error of a step, relative to the range of each motion.
    budget
        Maximum number of evaluations.

    Raises
    ------
    TooExpensiveError
        If the budget is exhausted.
    NoPathError
        If no step is short enough.
    """
    times, held, most = record.times, record.window, drift.evaluations + budget
    size = tolerance * coordinate_scales(motion.groups, scales(motion.groups, motion.reach), drift.model.nq)

    def rates(t: float, q: np.ndarray) -> np.ndarray:
        if drift.evaluations >= most:
            raise TooExpensiveError
        return drift.rates(t, q)

    q = np.empty_like(record.q)
    q[0] = now = record.q[0].copy()
    step, last = held, times.size
    for k in range(1, times.size):
        first, end = round(float(times[k - 1]) / held), round(float(times[k]) / held)
        if abs(end * held - times[k]) > 1e-6 * held:
            last = k  # a stopped run ends between two frames
            break
        for window in range(first, end):
            drift.window, t = window, window * held
            try:
                for at, found, _ in chebyshev_steps(
                    rates, t, now, (window + 1) * held, lambda _: size, drift.project, step, held, rate
                ):
                    # The last step of a window is truncated, so its length does not predict the next one.
                    step = at - t if at < (window + 1) * held * (1.0 - 1e-9) else max(step, at - t)
                    t, now = at, found
            except NotFinishedError:
                raise NoPathError(f"steps without inertia become too short at t = {t:.6g}") from None
        q[k] = now
    return rough_path(motion.groups, times[:last], q[:last], motion.width)
