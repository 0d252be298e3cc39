"""The longest step with which a rule of equal steps runs a case accurately, found by halving."""

import math
from typing import Any

import numpy as np

from articulon.errors import ArticulonError
from articulon.forces.brownian import brownian_of, fastest_relaxation, least_inertia
from articulon.forces.evaluation import Evaluator
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, advance_stop
from articulon.model import Model
from articulon.simulation.observers import poses_at, slowest_tree
from articulon.simulation.run_request import Description
from articulon.time_scales.noise_windows import frame_interval

STEPS = 64
"""Steps that are tried first."""
AFFORDABLE = 1e5
"""Steps of a whole run up to which all of it is tried."""
HALVINGS = 24
RELAXATIONS = 128.0
"""First friction-implicit step that is tried, in the fastest relaxation times."""
NOISY = 0.2
"""Relative change of a way that is allowed where noise acts: rules are then accurate in means, not path by path."""
TURN = 0.2
"""Angle that the lightest body may turn in a step by thermal motion [rad]."""


def longest_step(case: Description, integrator: type, rule: str, tolerance: float = 5e-3) -> float | None:
    """The longest step that halving changes the way of the heaviest body by less than a tolerance, in the first steps
    of the unscaled case and, where that costs little and there is no noise, in all of it.

    Parameters
    ----------
    case
        The case, whose own scaling and rule do not count.
    integrator, rule
        Declaration of a rule with a ``step``, and the rule's name.
    tolerance
        Relative change of the way that is allowed.

    Returns
    -------
    float | None
        The step [time], a power of two of parts of the time between frames; None where the rule cannot run the case, or
        no step was found.
    """
    model, interval = case.build_model(), frame_interval(case)
    wanted = min(interval, _thermal_bound(model, rule))
    if rule == "friction-implicit":
        wanted = min(wanted, RELAXATIONS * fastest_relaxation(model))
    step = interval * 2.0 ** -max(0, math.ceil(math.log2(interval / wanted * (1.0 - 1e-9))))
    noisy = brownian_of(model) is not None
    try:
        for _ in range(HALVINGS):
            search = _Trial(case, model, integrator, rule, step)
            if search.changes(STEPS * step) < (NOISY if noisy else tolerance):
                # What begins well may end badly: where it costs little, all of the run is tried.
                whole = float(case.run.duration)
                if noisy or whole / step > AFFORDABLE or search.changes(whole) < tolerance:
                    return step
            step *= 0.5
    except ArticulonError:
        return None
    return None


class _Trial:
    """The unscaled case in whole and in half steps, without frames."""

    def __init__(self, case: Description, model: Model, integrator: type, rule: str, step: float) -> None:
        self.case, self.model, self.integrator, self.rule, self.step = case, model, integrator, rule, step

    def changes(self, until: float) -> float:
        """Relative change, by halving the step, of the way of the heaviest body of the slowest tree, or of the time
        after which the case stops before; infinite where the steps do not stay finite."""
        (coarse, time), (fine, sooner) = (self._end(parts, until) for parts in (1, 2))
        if coarse is None or fine is None:
            return math.inf
        size = float(np.linalg.norm(fine))
        if min(time, sooner) < until * (1.0 - 1e-9):
            return abs(time - sooner) / sooner
        return float(np.linalg.norm(coarse - fine)) / size if size > 0.0 else 0.0

    def _end(self, parts: int, until: float) -> tuple[np.ndarray | None, float]:
        """Way of the body [length] and time at the end. The noise of a whole step is the mean of that of its parts."""
        case, model = self.case, self.model
        evaluator = Evaluator(model, case.run.seed, 0.5 * self.step, 2 // parts)
        state = evaluator.initial_state()
        declared: Any = self.integrator(rule=self.rule, step=self.step / parts)
        advance = driver(Problem(evaluator, declared), state)
        if case.run.stop is not None:
            stop = case.run.stop
            direction = np.array([float(x) for x in stop.direction])
            advance.stop = advance_stop(model, model.body(stop.body), direction, float(stop.advance))
        tree, _ = slowest_tree(model, evaluator)
        a, b = (int(start) for start in model.forest.tree[tree : tree + 2])
        body = int(model.head[a + int(np.argmax(model.forest.mass[a:b]))])
        before = poses_at(model, state.q)[0][body]
        if advance.advance(state, until, 2**40) == DIVERGED or not np.isfinite(state.q).all():
            return None, 0.0
        return poses_at(model, state.q)[0][body] - before, float(state.time[0])


def _thermal_bound(model: Model, rule: str) -> float:
    """Step in which the lightest body turns by TURN in thermal motion [time]; infinity without noise."""
    noise = brownian_of(model)
    thermal = 0.0 if noise is None else model.units.boltzmann * float(noise.temperature)
    inertia = least_inertia(model)
    if thermal <= 0.0 or not math.isfinite(inertia):
        return math.inf
    if rule == "friction-implicit":
        return TURN * math.sqrt(inertia / thermal)
    # Diffusion: the mean square of the angle is 2 kT h/β_ω, and β_ω is I over the relaxation time.
    return TURN**2 * inertia / fastest_relaxation(model) / (2.0 * thermal)
