"""Our engine on a model: its steps, timed."""

import time
from typing import Any

import numba
import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.integrate import Canonical
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import PAUSED
from articulon.model import Model, State
from articulon.scaling import NoScaling

AGES = 1e9
"""A time that no run reaches [time]."""


class TimedSteps:
    """A model without scaling, as far as it has come.

    Parameters
    ----------
    model
        What is simulated.
    step
        Of velocity Verlet [time].
    name
        What to call it where it fails.
    rule
        What takes the steps instead of velocity Verlet.
    """

    def __init__(self, model: Model, step: float, name: str, rule: Any = None) -> None:
        policy, self._name = NoScaling(), name
        evaluator = Evaluator(model, 0, 1.0, 1)
        rule = Canonical(rule="velocity-verlet", step=step) if rule is None else rule
        self._driver = driver(Problem(evaluator, rule, policy), model.initial_state())
        self.state: State = evaluator.initial_state(self._driver.history)

    def advance(self, threads: int, steps: int) -> float:
        """Goes on, and returns the time that it took [s]; raises FloatingPointError where it does not come through."""
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            began = time.perf_counter()
            status = self._driver.advance(self.state, AGES, steps)
            taken = time.perf_counter() - began
        finally:
            numba.set_num_threads(before)
        if status != PAUSED or not np.isfinite(self.state.u).all():
            raise FloatingPointError(f"{self._name} did not come through {steps} steps")
        return taken
