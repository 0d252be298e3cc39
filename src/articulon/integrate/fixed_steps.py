"""Drivers of the rules whose steps are all equal and fill the time between frames."""

from typing import Any

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.integrate import canonical, predictor_corrector
from articulon.integrate.base import Driver, open_loop
from articulon.integrate.integrators import Canonical, PredictorCorrector
from articulon.integrate.law_inputs import law_inputs
from articulon.integrate.rules import CANONICAL, PREDICTOR_CORRECTOR
from articulon.integrate.status import DIVERGED, NOT_CLOSED, NOT_CONVERGED, PAUSED, REACHED, no_stop
from articulon.integrate.variables import blocks
from articulon.kernels import prepare_for
from articulon.model import State, kernel_tables
from articulon.model.state import STEPS
from articulon.scaling.base import LAW, ScalingPolicy
from articulon.thermostats.base import variables_of


class FixedStepDriver(Driver):
    """Steps that are all equal. The step divides every time that is asked for."""

    evaluator: Evaluator
    """The model and its scratch."""

    step: float
    """The step [time]."""

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        if state.history.size != self.history:
            raise ValueError(f"state.history has {state.history.size} numbers, and this rule keeps {self.history}")
        left = round(until / self.step) - int(state.counters[STEPS])
        self.failure = self.culprit = None
        status = self.take(state, min(left, steps))
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

    def take(self, state: State, steps: int) -> int:
        """Takes a number of steps: REACHED, or what prevents it."""
        raise NotImplementedError


class PredictorCorrectorDriver(FixedStepDriver):
    """A linear multistep rule."""

    def __init__(
        self,
        evaluator: Evaluator,
        integrator: PredictorCorrector,
        policy: ScalingPolicy,
        parameters: np.ndarray,
        state: State,
    ) -> None:
        self.evaluator, self.parameters, self.law = evaluator, parameters, policy.law
        self.varies, self.stop, self.step = policy.varies, no_stop(), float(integrator.step)
        model = evaluator.model
        ny = model.nq + model.nu + 8 + variables_of(evaluator.system.bath)
        self.formula = PREDICTOR_CORRECTOR[integrator.rule]
        self.quaternions = blocks(kernel_tables(model).forest, model.nq, model.nu).quaternion
        self.history = predictor_corrector.history_size(ny)
        self.scratch = predictor_corrector.scratch(ny, self.formula)
        self.inputs, self.programs = law_inputs(evaluator, policy, None, 0)
        self.kernel = prepare_for(predictor_corrector.advance, self.arguments(state, 0), {policy.law: LAW})

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

    def __init__(
        self, evaluator: Evaluator, integrator: Canonical, policy: ScalingPolicy, parameters: np.ndarray, state: State
    ) -> None:
        self.evaluator, self.parameters, self.law = evaluator, parameters, policy.law
        self.varies, self.stop, self.step = policy.varies, no_stop(), float(integrator.step)
        model = evaluator.model
        self.pair = CANONICAL[integrator.rule]
        self.history = canonical.history_size(model.nq)
        split = blocks(kernel_tables(model).forest, model.nq, model.nu)
        self.scratch = canonical.scratch(
            kernel_tables(model).forest, split, model.nq, model.nu, self.pair.b.size, evaluator.ws, evaluator.channels
        )
        self.inputs, self.programs = law_inputs(evaluator, policy, None, 0)
        self.passes, self.kept = canonical.passes(evaluator, self.scratch)
        self.kernel = prepare_for(canonical.advance, self.arguments(state, 0), {policy.law: LAW})

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
            steps,
        )

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        return self.kernel(*self.arguments(state, steps))
