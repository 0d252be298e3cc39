"""Drivers of the rules whose steps are all equal and fill the time between frames."""

from typing import Any

from articulon.integrate import canonical, predictor_corrector
from articulon.integrate.base import Driver, open_loop
from articulon.integrate.problem import Problem
from articulon.integrate.rules import CANONICAL, PREDICTOR_CORRECTOR
from articulon.integrate.stage_acceleration import sweeps_of
from articulon.integrate.status import CAPACITY_EXCEEDED, DIVERGED, NOT_CLOSED, NOT_CONVERGED, PAUSED, REACHED
from articulon.integrate.variables import blocks
from articulon.kernels import prepare_for
from articulon.model import State, kernel_tables
from articulon.model.state import STEPS
from articulon.thermostats.base import variables_of


class FixedStepDriver(Driver):
    """Steps that are all equal. The step divides every time that is asked for."""

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
            self.failure = (
                f"the implicit stages do not converge in steps of {self.step:.6g}, so shorten integrator.step; the "
                "acceleration is largest"
            )
            return DIVERGED
        if status == NOT_CLOSED:
            self.failure = open_loop(self.evaluator)
            return DIVERGED
        return PAUSED if status == REACHED and left > steps else status

    def _take_in_box(self, state: State, steps: int) -> int:
        """Takes a number of steps, with what changes the box between them."""
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
        """Has the next step find its forces anew, where they are kept: what they act on has been moved."""

    def take(self, state: State, steps: int) -> int:
        """Takes a number of steps: REACHED, or what prevents it."""
        raise NotImplementedError


class ArrayDriver(FixedStepDriver):
    """Steps on arrays of their own, to which a state is brought and from which it comes back.

    A chunk in which a step fails leaves no state to go on from: the steps that went well are taken again.
    """

    last: int = 0
    """Steps that had been taken when the latest chunk ended."""

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        if steps <= 0:  # even bringing a state to the arrays may begin contacts
            return REACHED
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
        """Takes some steps: REACHED, or what prevents it; then the state is not to be used."""
        raise NotImplementedError

    def explain(self, status: int) -> None:
        """Says why a chunk has not ended, in ``failure`` and ``culprit``."""


class PredictorCorrectorDriver(FixedStepDriver):
    """A linear multistep rule."""

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
        """Of the kernel."""
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
    """A partitioned Runge–Kutta rule in canonical momenta."""

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
        """Of the kernel."""
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
