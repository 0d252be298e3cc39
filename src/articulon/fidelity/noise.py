"""The true path of a run under Brownian forces: the same model from the same start on the same noise, unscaled.

The noise is that of the run's own numbered windows, of which a step takes several. Where drag holds back every joint,
the path is that of Brownian dynamics, the rule ``overdamped``; elsewhere that of the rule ``friction-implicit``.
"""

from typing import NamedTuple

import numpy as np

from articulon.errors import CaseError
from articulon.fidelity.motion import Motion
from articulon.fidelity.paths import Path, rough_path
from articulon.fidelity.record import Record
from articulon.fidelity.reference import NoPathError
from articulon.forces.evaluation import Evaluator
from articulon.integrate import BrownianDynamics, FrictionImplicit
from articulon.integrate.drivers import DIVERGED, driver
from articulon.model.state import EVALUATIONS, STEPS, WINDOW
from articulon.scaling import NoScaling

RULES = {"overdamped": BrownianDynamics, "friction-implicit": FrictionImplicit}
EVALUATIONS_OF_A_STEP = {"overdamped": 2, "friction-implicit": 1}


class Steps(NamedTuple):
    """Equal steps that are whole windows of noise and fill the time between frames."""

    length: float
    """[time]."""
    windows: int
    """Fine windows in each."""


def steps_within(record: Record, longest: float) -> Steps:
    """The longest steps of at most ``longest`` [time], or single windows where even these are longer."""
    interval = float(record.times[1] - record.times[0])
    whole = max(1, round(interval / record.window))
    most = max(1, int(longest / record.window * (1.0 + 1e-9)))
    windows = max(k for k in range(1, min(most, whole) + 1) if whole % k == 0)
    return Steps(record.window * windows, windows)


def on_the_same_noise(record: Record, motion: Motion, rule: str, steps: Steps) -> tuple[Path, int]:
    """The path at the frames of the run, averaged as its own is, and the evaluations that it took.

    Raises
    ------
    NoPathError
        Where the rule does not take the model, or its steps are too long.
    """
    model, times = record.model, record.times
    evaluator = Evaluator(model, record.seed, record.window, steps.windows)
    policy = NoScaling()
    integrator = RULES[rule](rule=rule, step=steps.length)
    try:
        advance = driver(evaluator, integrator, policy, policy.parameters(0.0), evaluator.initial_state())
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
            last = k  # a run that was stopped ends between two frames
            break
        if advance.advance(state, float(times[k]), 2**40) == DIVERGED:
            raise NoPathError(f"steps of {steps.length:.6g} are too long at t = {float(state.time[0]):.6g}")
        q[k] = state.q
    return rough_path(motion.groups, times[:last], q[:last], motion.width), int(state.counters[EVALUATIONS])
