"""Drivers of the rules whose steps are all equal and fill the time between frames."""

import numba
import numpy as np
from numba import types

from articulon.baths.base import variables_of
from articulon.forces.evaluation import Evaluator, derivative_signature, settle_signature
from articulon.integrate import canonical, predictor_corrector
from articulon.integrate.base import LINE, Driver, open_loop, without_loops, without_noise, without_thermostat
from articulon.integrate.declarations import Canonical, PredictorCorrector
from articulon.integrate.rules import CANONICAL, PREDICTOR_CORRECTOR
from articulon.integrate.status import DIVERGED, NOT_CLOSED, NOT_CONVERGED, PAUSED, REACHED, no_stop
from articulon.integrate.variables import blocks
from articulon.kernels import prepare
from articulon.model import State, kernel_tables
from articulon.model.state import STEPS
from articulon.scaling.base import LAW, ScalingPolicy


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
        without_noise(evaluator.model, integrator.rule, "interpolates over steps, between which the noise jumps")
        self.evaluator, self.parameters, self.law = evaluator, parameters, policy.law
        self.varies, self.stop, self.step = policy.varies, no_stop(), float(integrator.step)
        model = evaluator.model
        ny = model.nq + model.nu + 8 + variables_of(evaluator.system.bath)
        self.formula = PREDICTOR_CORRECTOR[integrator.rule]
        self.quaternions = blocks(kernel_tables(model).forest, model.nq, model.nu).quaternion
        self.history = predictor_corrector.history_size(ny)
        self.scratch = predictor_corrector.scratch(ny, self.formula)
        system, functions, ws, channels, solver = evaluator.types
        signature = (
            types.FunctionType(derivative_signature(evaluator)),
            types.FunctionType(settle_signature(evaluator)),
            types.FunctionType(LAW),
            system,
            functions,
            LINE,
            types.boolean,
            numba.typeof(self.formula),
            numba.typeof(self.quaternions),
            types.float64,
            numba.typeof(self.stop),
            numba.typeof(state),
            ws,
            channels,
            solver,
            numba.typeof(self.scratch),
            types.int64,
        )
        policy.law.compile(LAW)
        prepare(predictor_corrector.advance, signature)

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        e = self.evaluator
        return predictor_corrector.advance(
            e.derivative,
            e.settle,
            self.law,
            e.system,
            e.functions,
            self.parameters,
            self.varies,
            self.formula,
            self.quaternions,
            self.step,
            self.stop,
            state,
            e.ws,
            e.channels,
            e.solver,
            self.scratch,
            steps,
        )


class CanonicalDriver(FixedStepDriver):
    """A partitioned Runge–Kutta rule in canonical momenta."""

    def __init__(
        self, evaluator: Evaluator, integrator: Canonical, policy: ScalingPolicy, parameters: np.ndarray, state: State
    ) -> None:
        without_noise(evaluator.model, integrator.rule, "is a map of (q, p), in which noise has no place")
        without_loops(evaluator.model, integrator.rule)
        without_thermostat(evaluator, integrator.rule)
        self.evaluator, self.parameters, self.law = evaluator, parameters, policy.law
        self.varies, self.stop, self.step = policy.varies, no_stop(), float(integrator.step)
        model = evaluator.model
        self.pair = CANONICAL[integrator.rule]
        self.history = canonical.history_size(model.nq)
        split = blocks(kernel_tables(model).forest, model.nq, model.nu)
        self.scratch = canonical.scratch(kernel_tables(model).forest, split, model.nq, model.nu, self.pair.b.size)
        system, functions, ws, channels, _ = evaluator.types
        signature = (
            types.FunctionType(LAW),
            system,
            functions,
            LINE,
            types.boolean,
            numba.typeof(self.pair),
            types.float64,
            numba.typeof(self.stop),
            numba.typeof(state),
            ws,
            channels,
            numba.typeof(self.scratch),
            types.int64,
        )
        policy.law.compile(LAW)
        prepare(canonical.advance, signature)

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        e = self.evaluator
        return canonical.advance(
            self.law,
            e.system,
            e.functions,
            self.parameters,
            self.varies,
            self.pair,
            self.step,
            self.stop,
            state,
            e.ws,
            e.channels,
            self.scratch,
            steps,
        )
