"""Driver of explicit Runge–Kutta schemes."""

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np

from articulon.dynamics import embedding
from articulon.forces.brownian import fastest_relaxation
from articulon.forces.evaluation import Evaluator
from articulon.integrate import explicit_runge_kutta
from articulon.integrate.base import Driver, open_loop
from articulon.integrate.problem import Problem
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.status import DIVERGED, NOT_CLOSED
from articulon.integrate.variables import WORK, blocks
from articulon.kernels import prepare_for
from articulon.model import State, kernel_tables
from articulon.model.state import STEPS, SWITCHES
from articulon.thermostats.base import variables_of


class ExplicitDriver(Driver):
    """Driver of an explicit Runge–Kutta scheme, with error-controlled or fixed steps."""

    books_unscaled_work = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator, integrator, policy = problem.evaluator, problem.integrator, problem.policy
        model = evaluator.model
        self.varies = policy.varies
        self.bind_law()
        self.tableau = EXPLICIT[integrator.rule]
        self.embedded = evaluator.rotations == "euler-parameters"
        variables = variables_of(evaluator.system.bath)
        self.blocks = blocks(kernel_tables(model).forest, model.nq, model.nu, self.embedded, variables)
        first = float(integrator.first_step or 0.0)
        relaxation = fastest_relaxation(model)
        if not first and math.isfinite(relaxation):
            first = 0.1 * relaxation / policy.first_factor()
        self.first = first
        self.control = explicit_runge_kutta.Control(
            np.array([float(relative) for _, relative, _ in integrator.tolerances()]),
            np.array([float(absolute) for _, _, absolute in integrator.tolerances()]),
            np.array(
                [
                    float(integrator.step or 0.0),
                    first,
                    float(integrator.max_step or math.inf),
                    1e-12 * first,
                    math.inf,
                ]
            ),
        )
        self.scratch = explicit_runge_kutta.scratch(
            model.nq + (model.nq if self.embedded else model.nu) + 8 + variables, self.tableau
        )
        noise = evaluator.system.forces.noise
        self.noise_window = float(noise.window[0] * noise.choice[1]) if noise.choice[0] else 0.0
        self.kernel = prepare_for(explicit_runge_kutta.advance, self.arguments(state, math.inf, 0))

    def arguments(self, state: State, until: float, steps: int) -> tuple[Any, ...]:
        """Arguments of the kernel."""
        e = self.evaluator
        return (
            e.rhs,
            e.closing,
            self.law,
            self.inputs,
            self.parameters,
            self.varies,
            self.noise_window,
            self.tableau,
            self.blocks,
            self.control,
            self.stop,
            state,
            self.scratch,
            until,
            steps,
        )

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        self.failure = self.culprit = None
        if not self.embedded:
            return self._closed(self._advance(state, until, steps))
        forest, solver = self.evaluator.system.forest, self.evaluator.solver
        if state.counters[STEPS] == 0:
            embedding.begin(forest, state.q, state.u, state.rule.rate, state.rule.dependent)
        solver.dependent[:] = state.rule.dependent
        solver.switches[0] = state.counters[SWITCHES]
        status = self._advance(state._replace(u=state.rule.rate), until, steps)
        state.rule.dependent[:] = solver.dependent
        state.counters[SWITCHES] = solver.switches[0]
        embedding.speeds(forest, state.q, state.rule.rate, state.u)
        return self._closed(status)

    def pause_at(self, time: float) -> None:
        """See :class:`Driver`."""
        self.control.step[4] = time

    def _closed(self, status: int) -> int:
        """The status for the caller; sets the reason if loop constraints have prevented the next step."""
        loops = self.evaluator.model.loops
        if status == NOT_CLOSED:
            self.failure = open_loop(self.evaluator)
        elif status == DIVERGED and loops.kind.size and self.control.step[0] == 0.0:
            self.failure = (
                "the step has become too short to continue: the loops of the mechanism become singular or can no "
                "longer be closed, or a force varies too fast; the acceleration is largest"
            )
        return DIVERGED if status == NOT_CLOSED else status

    def _advance(self, state: State, until: float, steps: int) -> int:
        if state.step[0] == 0.0 and self.control.step[0] == 0.0 and self.first == 0.0:
            state.step[0] = self._start(state, until)
            # The bound is relative to the time, and would be zero at time zero.
            self.control.step[3] = 1e-12 * state.step[0]
        return int(self.kernel(*self.arguments(state, until, steps)))

    def _start(self, state: State, until: float) -> float:
        """A first step for a model without relaxation times: a hundredth of the time in which some variable changes by
        its size (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.4)."""
        e = self.evaluator
        y = np.concatenate([state.q, state.u, state.work, state.bath])
        dy = np.empty_like(y)
        e.rates(state.factor, float(state.time[0]), 0, y, dy)
        shortest = math.inf
        for start, end, kind in zip(self.blocks.start, self.blocks.end, self.blocks.kind, strict=True):
            rate = np.abs(dy[start:end]).max()
            if kind != WORK and rate > 0.0:
                size = max(np.abs(y[start:end]).max(), self.control.absolute[kind])
                shortest = min(shortest, 0.01 * size / rate)
        return min(shortest, 0.01 * (until - float(state.time[0])))

    def on_coarse(self, evaluator: Evaluator, state: State) -> Driver:
        """See :class:`Driver`."""
        result, model, variables = copy.copy(self), evaluator.model, variables_of(evaluator.system.bath)
        result.problem, result.evaluator = replace(self.problem, evaluator=evaluator), evaluator
        result.bind_law()
        result.blocks = blocks(kernel_tables(model).forest, model.nq, model.nu, False, variables)
        result.scratch = explicit_runge_kutta.scratch(model.nq + model.nu + 8 + variables, self.tableau)
        return result
