"""Drivers of integrators whose steps are all equal; a whole number of steps fills the time between frames."""

from typing import Any

import numba

from articulon.dynamics.motion_passes import place_links
from articulon.integrate import canonical, predictor_corrector
from articulon.integrate.base import Driver, open_loop
from articulon.integrate.problem import Problem
from articulon.integrate.rules import CANONICAL, PREDICTOR_CORRECTOR
from articulon.integrate.stage_acceleration import sweeps_of
from articulon.integrate.status import (
    CAPACITY_EXCEEDED,
    DIVERGED,
    NOT_CLOSED,
    NOT_CONVERGED,
    PAUSED,
    REACHED,
    STOPPED,
    stopped,
)
from articulon.integrate.variables import blocks
from articulon.kernels import prepare, prepare_for
from articulon.model import State, kernel_tables
from articulon.model.state import STEPS
from articulon.passes import Program
from articulon.thermostats.base import variables_of


def not_solved(step: float) -> str:
    """Return the message for a step whose implicit stages did not converge; the caller adds the name of a body."""
    return (
        f"the implicit stages do not converge in steps of {step:.6g}, so shorten integrator.step; the acceleration is "
        "largest"
    )


class FixedStepDriver(Driver):
    """Base of drivers whose steps are all equal. The step divides every end time."""

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        if state.rule.history.size != self.history:
            raise ValueError(
                f"state.rule.history has {state.rule.history.size} numbers, and this rule keeps {self.history}"
            )
        left = self.steps_until(state, until)
        self.failure = self.culprit = None
        status = self._take_in_box(state, min(left, steps))
        if status == NOT_CONVERGED:
            self.failure = not_solved(self.step)
            return DIVERGED
        if status == NOT_CLOSED:
            self.failure = open_loop(self.evaluator)
            return DIVERGED
        return PAUSED if status == REACHED and left > steps else status

    def _take_in_box(self, state: State, steps: int) -> int:
        """Take a number of steps, with the barostat acting between them."""
        if self.barostat is None:
            return self.take(state, steps)
        end, status = int(state.counters[STEPS]) + steps, REACHED
        while status == REACHED and int(state.counters[STEPS]) < end and not self.evaluator.sites.overflowed:
            left = end - int(state.counters[STEPS])
            status = self.take(state, min(left, self.barostat.steps_to_next(state)))
            if status == REACHED and not self.evaluator.sites.overflowed:
                self.barostat.act(state)
                self.forget_forces()
        return status

    def forget_forces(self) -> None:
        """Discard kept forces because coordinates have changed; the next step evaluates them again."""

    def take(self, state: State, steps: int) -> int:
        """Take a number of steps; return REACHED, or the status that ended them."""
        raise NotImplementedError


class ArrayDriver(FixedStepDriver):
    """Base of drivers with arrays of their own, which a state is loaded into and stored from.

    A chunk in which a step fails leaves no usable state, so its successful steps are taken again.
    """

    last: int = 0
    """Value of the step counter when the latest chunk ended."""
    finds_stop: bool = False
    """Whether a chunk ends where the stop condition of the run is met. Otherwise a run with a stop condition takes
    chunks of one step."""

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        if steps <= 0:  # loading a state may already begin contacts
            return REACHED
        if self.finds_stop or self.stop.link[0] < 0:
            return self._take_chunk(state, steps)
        ws = self.evaluator.ws
        look = Program([place_links.bind(kernel_tables(self.evaluator.model).forest, state.q, ws)])
        prepare(stopped, (numba.typeof(self.stop), numba.typeof(ws)))
        for _ in range(steps):
            status = self._take_chunk(state, 1)
            if status != REACHED or self.evaluator.sites.overflowed:
                return status
            look()
            if stopped(self.stop, ws):
                return STOPPED
        return REACHED

    def _take_chunk(self, state: State, steps: int) -> int:
        """Take a chunk of steps; if a step fails, restore the state before it."""
        before, kept = int(state.counters[STEPS]), self.keep(state)
        status = self.chunk(state, steps)
        if status in (REACHED, CAPACITY_EXCEEDED):
            return status
        self.explain(status)
        self.restore(state, kept)
        if self.last > before:
            self.chunk(state, self.last - before)
        return DIVERGED

    def chunk(self, state: State, steps: int) -> int:
        """Take some steps; return REACHED, or the status that ended them, after which the state must not be used."""
        raise NotImplementedError

    def explain(self, status: int) -> None:
        """Set ``failure`` and ``culprit`` for a chunk that has failed."""


class PredictorCorrectorDriver(FixedStepDriver):
    """Driver of a linear multistep method."""

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator, integrator, policy = problem.evaluator, problem.integrator, problem.policy
        model, self.varies = evaluator.model, policy.varies
        ny = model.nq + model.nu + 8 + variables_of(evaluator.system.bath)
        self.formula = PREDICTOR_CORRECTOR[integrator.rule]
        self.quaternions = blocks(kernel_tables(model).forest, model.nq, model.nu).quaternion
        self.history = predictor_corrector.history_size(ny)
        self.scratch = predictor_corrector.scratch(ny, self.formula)
        self.bind_law()
        self.kernel = prepare_for(predictor_corrector.advance, self.arguments(state, 0))

    def arguments(self, state: State, steps: int) -> tuple[Any, ...]:
        """Arguments of the kernel."""
        return (
            self.evaluator.rhs,
            self.evaluator.closing,
            self.law,
            self.inputs,
            self.parameters,
            self.varies,
            self.formula,
            self.quaternions,
            self.step,
            self.stop,
            state,
            self.scratch,
            steps,
        )

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        return self.kernel(*self.arguments(state, steps))


class CanonicalDriver(FixedStepDriver):
    """Driver of a partitioned Runge–Kutta scheme in canonical momenta."""

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator, integrator, policy = problem.evaluator, problem.integrator, problem.policy
        model, self.varies = evaluator.model, policy.varies
        self.pair = CANONICAL[integrator.rule]
        self.history = canonical.history_size(model.nq)
        split = blocks(kernel_tables(model).forest, model.nq, model.nu)
        self.scratch = canonical.scratch(
            kernel_tables(model).forest, split, model.nq, model.nu, self.pair.b.size, evaluator.ws, evaluator.channels
        )
        self.sweeps = sweeps_of(
            kernel_tables(model).forest, self.scratch.turning, float(self.scratch.length[0]), self.pair
        )
        self.bind_law()
        self.passes, self.kept = canonical.passes(evaluator, self.scratch)
        self.kernel = prepare_for(canonical.advance, self.arguments(state, 0))

    def arguments(self, state: State, steps: int) -> tuple[Any, ...]:
        """Arguments of the kernel."""
        return (
            self.law,
            self.inputs,
            self.parameters,
            self.varies,
            self.passes,
            self.pair,
            self.step,
            self.stop,
            state,
            self.scratch,
            self.sweeps,
            steps,
        )

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        return self.kernel(*self.arguments(state, steps))
