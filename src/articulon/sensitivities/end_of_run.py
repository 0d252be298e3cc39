"""What both methods share: the steps of a run, and the error for one that diverges."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import DivergenceError
from articulon.forces.evaluation import Evaluator
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.status import DIVERGED
from articulon.integrate.tableaux import Tableau
from articulon.integrate.variables import blocks
from articulon.model import Model, State, kernel_tables
from articulon.model.state import STEPS
from articulon.sensitivities.adjoint_steps import advance_steps, scratch
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.objectives import Objective
from articulon.sensitivities.stopping import Passage, passage_of
from articulon.sensitivities.table_gradients import differentiated, in_one
from articulon.sensitivities.tangent_spaces import in_coordinates
from articulon.simulation.divergence import diagnosis


class Derivatives(NamedTuple):
    """The end of a run, its objective, and what it has derivatives by."""

    value: float
    end: np.ndarray
    """Coordinates and speeds, shape (nq + nu,)."""
    by_q: np.ndarray
    """By the initial coordinates, in their tangent space, shape (nu,)."""
    by_u: np.ndarray
    """By the initial speeds, shape (nu,)."""
    by_tables: np.ndarray
    """By the numbers of the tables, or by the parameters that change these."""


@dataclass(frozen=True)
class Steps:
    """A run, made ready to be differentiated."""

    run: DifferentiableRun
    """What is run."""
    objective: Objective
    """What of its end is differentiated."""

    @cached_property
    def evaluator(self) -> Evaluator:
        """The model made ready for evaluation."""
        return Evaluator(self.run.model)

    @cached_property
    def start(self) -> np.ndarray:
        """Coordinates and speeds at the beginning, shape (nq + nu,)."""
        return np.concatenate([self.run.model.q0, self.run.model.u0])

    @cached_property
    def tableau(self) -> Tableau:
        """The formula."""
        return EXPLICIT[self.run.integrator.rule]

    @cached_property
    def quaternion(self) -> np.ndarray:
        """First of each set of Euler parameters."""
        model = self.run.model
        return blocks(kernel_tables(model).forest, model.nq, model.nu).quaternion

    @cached_property
    def times(self) -> tuple[np.ndarray, np.ndarray]:
        """Times at which the steps begin, and their lengths, (steps,) each [time]."""
        if self.passage is not None:
            return self.passage.times
        return self._every

    @cached_property
    def _every(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of the whole run."""
        return self._chosen() if self.run.integrator.step is None else self._given()

    @cached_property
    def passage(self) -> Passage | None:
        """Where the run stops before its time, if it is to."""
        if self.run.stop is None:
            return None
        common = self.evaluator.rhs, self.tableau, self.quaternion
        return passage_of(self.run.model, self.run.stop, self.start, self._every, common)

    @property
    def of_frames(self) -> list[int]:
        """How many steps lead to each frame but the first."""
        return [int(k) for k in np.searchsorted(self.times[0], self.run.times[1:])]

    @property
    def numbers(self) -> int:
        """How many numbers the tables have."""
        return in_one(differentiated(*self.evaluator.system[:2]))[1].size

    @property
    def of_model(self) -> Callable[[Model, np.ndarray, np.ndarray], float] | None:
        """What the objective changes by with a model where the states at the beginning and the end stay."""
        own, passage = self.objective.of_model, self.passage
        if passage is None:
            return own
        rate = self._rate(passage)

        def of(model: Model, q: np.ndarray, u: np.ndarray) -> float:
            later = -rate * passage.beyond(model, q) / passage.rate_of_stop
            return later if own is None else own(model, q, u) + later

        return of

    @property
    def by_start(self) -> np.ndarray:
        """Derivative by the initial coordinates where what comes after stays: how far a body has come is counted from
        there, shape (nu,)."""
        if self.passage is None:
            return np.zeros(self.run.model.nu)
        return self._rate(self.passage) / self.passage.rate_of_stop * self.passage.along(self.run.model.q0)

    def _rate(self, passage: Passage) -> float:
        """What the objective changes by with the time at which the run stops."""
        if self.objective.is_time:
            return 1.0
        nq = self.run.model.nq
        return passage.rate(lambda y: self.objective.of(y[:nq].copy(), y[nq:].copy())[0])

    def _given(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of a given length, as the driver takes them: they end on frames."""
        step = float(self.run.integrator.step or 0.0)
        longest = float(self.run.integrator.max_step or math.inf)
        begins, lengths, time = [], [], 0.0
        for k in range(1, len(self.run.times)):
            until, lands = float(self.run.times[k]), False
            while not lands:
                left, h = until - time, min(step, longest)
                lands = h * (1.0 + 1e-9) >= left
                if lands:
                    h = left
                begins.append(time)
                lengths.append(h)
                time = until if lands else time + h
        return np.array(begins), np.array(lengths)

    def _chosen(self) -> tuple[np.ndarray, np.ndarray]:
        """Those that the error estimate chooses."""
        blank = self.evaluator.initial_state()
        advancing = driver(Problem(self.evaluator, self.run.integrator), blank)
        state, begins = self.evaluator.initial_state(advancing.history), [0.0]
        for k in range(1, len(self.run.times)):
            until = float(self.run.times[k])
            while state.time[0] < until:
                if advancing.advance(state, until, 1) == DIVERGED:
                    raise diagnosis(self.evaluator, None, state, "", advancing.failure, advancing.culprit)
                begins.append(float(state.time[0]))
        return np.array(begins[:-1]), np.diff(begins)

    def weigh(self, end: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The objective at the end and its derivatives; raises DivergenceError where there is none."""
        self.check_finite(end)
        nq = self.run.model.nq
        value, by_q, by_u = self.objective.of(end[:nq].copy(), end[nq:].copy())
        if self.passage is None:
            return value, by_q, by_u
        if self.objective.is_time:
            value = float(self.times[0][-1] + self.times[1][-1])
        model, sooner = self.run.model, self._rate(self.passage) / self.passage.rate_of_stop
        by_stop = in_coordinates(model, end[:nq], self.passage.along(end[:nq]))
        return value, in_coordinates(model, end[:nq], by_q) - sooner * by_stop, by_u

    def check_finite(self, state: np.ndarray) -> None:
        """Raises DivergenceError for a state (nq + nu,) that is none."""
        if not np.isfinite(state).all():
            raise self._divergence()

    def _divergence(self) -> DivergenceError:
        """The error for a run that diverges, whose steps are taken once more, one by one."""
        state, nq, (times, lengths) = self.evaluator.initial_state(), self.run.model.nq, self.times
        arrays: Any = scratch(self.start.size, self.tableau)
        arrays.y[:] = self.start
        for k in range(times.size):
            advance_steps(self.evaluator.rhs, self.tableau, self.quaternion, times, lengths, k, k + 1, arrays)
            if not np.isfinite(arrays.y).all():
                break
            _take(state, arrays.y, nq, float(times[k] + lengths[k]))
        return diagnosis(self.evaluator, float(lengths[0]), state, "")


def _take(state: State, y: np.ndarray, nq: int, time: float) -> None:
    """Makes a state the one at the end of a step."""
    state.q[:], state.u[:], state.time[0] = y[:nq], y[nq:], time
    state.counters[STEPS] += 1
