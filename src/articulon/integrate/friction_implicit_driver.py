"""Driver of friction-implicit steps."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_terms import LONG
from articulon.integrate import friction_implicit, friction_implicit_passes, friction_implicit_scratch
from articulon.integrate.base import Driver, addressed, open_loop
from articulon.integrate.fixed_steps import FixedStepDriver
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, NOT_CLOSED, NOT_CONVERGED
from articulon.kernels import prepare_for
from articulon.model import State
from articulon.thermostats.base import BATH, leave


class FrictionImplicitDriver(FixedStepDriver):
    """Driver of fixed steps that take friction implicitly."""

    books_unscaled_work = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator = problem.evaluator
        self.flight = problem.integrator.drift == "geodesic"
        self.turn = turn_of(problem)
        self.bind_law()
        thermostat = evaluator.thermostat
        self.bath_step = addressed(leave if thermostat is None else thermostat.advance, BATH)
        self.scratch = friction_implicit_scratch.scratch(evaluator)
        self.passes, self.kept = self._passes(evaluator, self.scratch)
        self.kernel = prepare_for(friction_implicit.advance, self.arguments(state, 0))

    def _passes(self, e: Evaluator, arrays: friction_implicit_scratch.Scratch) -> tuple[Any, Any]:
        return friction_implicit_passes.passes(e, arrays, self.flight, self.turn, self.problem.policy.varies)

    def arguments(self, state: State, steps: int) -> tuple[Any, ...]:
        """Arguments of the kernel."""
        return (
            self.law,
            self.bath_step,
            self.inputs,
            self.parameters,
            self.passes,
            self.evaluator.system.bath,
            self.step,
            self.stop,
            state,
            self.scratch,
            steps,
        )

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        looped = self.evaluator.model.loops.kind.size > 0
        if looped:
            self.evaluator.solver.loops.drift[:] = 0.0
        status = self.kernel(*self.arguments(state, steps))
        if looped:
            np.maximum(state.rule.drift, self.evaluator.solver.loops.drift, out=state.rule.drift)
        if status == NOT_CLOSED:
            self.failure = f"steps of {self.step:.6g} may be too long, or {open_loop(self.evaluator)}"
            return DIVERGED
        if status == NOT_CONVERGED:
            self.failure = (
                f"the iteration for the free flight of the bodies does not converge in steps of {self.step:.6g}, so "
                "shorten integrator.step; the acceleration is largest"
            )
            return DIVERGED
        return int(status)

    def on_coarse(self, evaluator: Evaluator, state: State) -> Driver:
        """See :class:`Driver`."""
        result = copy.copy(self)
        result.problem, result.evaluator = replace(self.problem, evaluator=evaluator), evaluator
        if self.problem.barostat is not None:
            result.barostat = self.problem.barostat.acting(evaluator, self.step)
        result.bind_law()
        result.scratch = friction_implicit_scratch.scratch(evaluator)
        result.passes, result.kept = self._passes(evaluator, result.scratch)
        return result


def turn_of(problem: Problem) -> np.ndarray | None:
    """Length of a step, and number of steps between evaluations of slow forces; None if these are evaluated in every
    step.

    Raises
    ------
    CaseError
        For a model without slow forces, and for a policy that reads the forces of every step.
    """
    every = int(problem.integrator.long_range_every)
    if every == 1:
        return None
    if problem.policy.scales:
        raise CaseError(
            f"integrator.long_range_every: '{problem.policy.policy}' needs the forces at each moment, and slow forces "
            "act as impulses with this key; leave one of the two out"
        )
    if not (problem.evaluator.sites.system.level == LONG).any():
        raise CaseError(
            "integrator.long_range_every: the model has no slow forces, such as particle-mesh Ewald sums or a "
            "generalised Born solvent; leave it out"
        )
    return np.array([float(problem.integrator.step), float(every)])
