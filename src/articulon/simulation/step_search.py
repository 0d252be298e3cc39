"""Search, by halving, for the longest accurate step of a case with an integrator that takes equal steps."""

import math
from typing import Any

import numpy as np

from articulon.errors import ArticulonError
from articulon.forces.brownian import brownian_of, fastest_relaxation, least_inertia
from articulon.forces.evaluation import Evaluator
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED
from articulon.integrate.stop_conditions import stop_of
from articulon.model import Model
from articulon.simulation.observers import poses_at, slowest_tree
from articulon.simulation.run_request import Description
from articulon.time_scales.noise_windows import frame_interval

STEPS = 64
"""Number of steps in the first trial."""
AFFORDABLE = 1e5
"""Number of steps up to which the whole run is tried."""
HALVINGS = 24
RELAXATIONS = 128.0
"""First step that is tried with the friction-implicit integrator, in units of the fastest relaxation time."""
NOISY = 0.2
"""Allowed relative change of the displacement in runs with noise. It is large because integrators are then accurate in
averages, not along single paths."""
TURN = 0.2
"""Largest thermal rotation of the lightest body in a step [rad]."""


def longest_step(case: Description, integrator: type, rule: str, tolerance: float = 5e-3) -> float | None:
    """Return the longest step that can be halved with a change of the heaviest body's displacement below a tolerance.

    The displacement is taken over the first steps of the unscaled case and, if this is cheap and there is no noise,
    over the whole run.

    Parameters
    ----------
    case
        The case; its own scaling and integrator are ignored.
    integrator, rule
        Declaration of an integrator with a ``step``, and its name.
    tolerance
        Allowed relative change of the displacement.

    Returns
    -------
    float | None
        The step [time], which is the time between frames divided by a power of two; None if the integrator cannot run
        the case or no step was found.
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
                # A step that is accurate at the start may fail later, so the whole run is tried if it is cheap.
                whole = float(case.run.duration)
                if noisy or whole / step > AFFORDABLE or search.changes(whole) < tolerance:
                    return step
            step *= 0.5
    except ArticulonError:
        return None
    return None


class _Trial:
    """Trial of a step: runs of the unscaled case with the step and with half the step, without frames."""

    def __init__(self, case: Description, model: Model, integrator: type, rule: str, step: float) -> None:
        self.case, self.model, self.integrator, self.rule, self.step = case, model, integrator, rule, step

    def changes(self, until: float) -> float:
        """Return the relative change that is caused by halving the step. It is the change of the displacement of the
        heaviest body in the slowest tree, or of the time at which the stop condition ends the run. It is infinite if
        the state becomes non-finite."""
        (coarse, time), (fine, sooner) = (self._end(parts, until) for parts in (1, 2))
        if coarse is None or fine is None:
            return math.inf
        size = float(np.linalg.norm(fine))
        if min(time, sooner) < until * (1.0 - 1e-9):
            return abs(time - sooner) / sooner
        return float(np.linalg.norm(coarse - fine)) / size if size > 0.0 else 0.0

    def _end(self, parts: int, until: float) -> tuple[np.ndarray | None, float]:
        """Return the displacement of the body [length] and the time at the end, for steps divided into ``parts``. The
        noise in a whole step is the mean of the noise in its parts."""
        case, model = self.case, self.model
        evaluator = Evaluator(model, case.run.seed, 0.5 * self.step, 2 // parts)
        state = evaluator.initial_state()
        declared: Any = self.integrator(rule=self.rule, step=self.step / parts)
        advance = driver(Problem(evaluator, declared), state)
        if case.run.stop is not None:
            condition = case.run.stop.condition(model, cell=evaluator.sites.cell)
            advance.stop = stop_of(model, condition, evaluator.ws)
        tree, _ = slowest_tree(model, evaluator)
        a, b = (int(start) for start in model.forest.tree[tree : tree + 2])
        body = int(model.head[a + int(np.argmax(model.forest.mass[a:b]))])
        before = poses_at(model, state.q)[0][body]
        if advance.advance(state, until, 2**40) == DIVERGED or not np.isfinite(state.q).all():
            return None, 0.0
        return poses_at(model, state.q)[0][body] - before, float(state.time[0])


def _thermal_bound(model: Model, rule: str) -> float:
    """Return the step in which thermal motion rotates the lightest body by TURN [time]; infinity without noise."""
    noise = brownian_of(model)
    thermal = 0.0 if noise is None else model.units.boltzmann * float(noise.temperature)
    inertia = least_inertia(model)
    if thermal <= 0.0 or not math.isfinite(inertia):
        return math.inf
    if rule == "friction-implicit":
        return TURN * math.sqrt(inertia / thermal)
    # Rotational diffusion: the mean square angle is 2 kT h/β_ω, and β_ω is the inertia divided by the relaxation time.
    return TURN**2 * inertia / fastest_relaxation(model) / (2.0 * thermal)
