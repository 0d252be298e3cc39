"""The longest step with which a rule of equal steps begins a case accurately, found by halving."""

import math
from typing import Any

import numpy as np

from articulon.errors import ArticulonError
from articulon.forces.brownian import brownian_of, fastest_relaxation, least_inertia
from articulon.forces.evaluation import Evaluator
from articulon.integrate.drivers import DIVERGED, driver
from articulon.model import Model
from articulon.scaling import NoScaling
from articulon.simulate.description import Description
from articulon.simulate.noise_windows import frame_interval
from articulon.simulate.observers import poses_at, slowest_tree

STEPS = 64
"""Steps that are tried."""
HALVINGS = 24
RELAXATIONS = 128.0
"""First friction-implicit step that is tried, in the fastest relaxation times."""
TURN = 0.2
"""Angle that the lightest body may turn in a step by thermal motion [rad]."""


def longest_step(case: Description, integrator: type, rule: str, tolerance: float = 5e-3) -> float | None:
    """The longest step that halving changes the way of the heaviest body by less than a tolerance, in the first steps
    of the unscaled case.

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
    step = interval
    wanted = min(interval, _thermal_bound(model, rule))
    if rule == "friction-implicit":
        wanted = min(wanted, RELAXATIONS * fastest_relaxation(model))
    step = interval * 2.0 ** -max(0, math.ceil(math.log2(interval / wanted * (1.0 - 1e-9))))
    try:
        for _ in range(HALVINGS):
            coarse, fine = (_way(case, model, integrator, rule, step, parts) for parts in (1, 2))
            if coarse is not None and fine is not None:
                size = float(np.linalg.norm(fine))
                if np.linalg.norm(coarse - fine) <= tolerance * size:
                    return step
            step *= 0.5
    except ArticulonError:
        return None
    return None


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


def _way(case: Description, model: Model, integrator: type, rule: str, step: float, parts: int) -> np.ndarray | None:
    """Way of the heaviest body of the slowest tree in the first steps, each cut into parts [length]; None where they do
    not stay finite. The noise of a whole step is the mean of that of its parts."""
    small = step / parts
    evaluator = Evaluator(model, case.run.seed, 0.5 * step, 2 // parts)
    policy, state = NoScaling(), evaluator.initial_state()
    declared: Any = integrator(rule=rule, step=small)
    advance = driver(evaluator, declared, policy, policy.parameters(0.0), state)
    tree, _ = slowest_tree(model, evaluator)
    a, b = (int(start) for start in model.forest.tree[tree : tree + 2])
    body = int(model.head[a + int(np.argmax(model.forest.mass[a:b]))])
    before = poses_at(model, state.q)[0][body]
    if advance.advance(state, STEPS * step, 2**40) == DIVERGED or not np.isfinite(state.q).all():
        return None
    return poses_at(model, state.q)[0][body] - before
