"""An integrator made ready for a model: compiled, with its scratch, advancing a state in place."""

import math
from typing import Any

import numpy as np

from articulon.dynamics import embedding
from articulon.forces.brownian import fastest_relaxation
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import only_particles
from articulon.integrate import explicit_runge_kutta, friction_implicit, friction_implicit_passes
from articulon.integrate.base import Driver, open_loop
from articulon.integrate.combination import combination_of
from articulon.integrate.compatibility import check
from articulon.integrate.fixed_steps import CanonicalDriver, PredictorCorrectorDriver
from articulon.integrate.grain_driver import GrainDriver, only_grains
from articulon.integrate.integrators import (
    BrownianDynamics,
    Canonical,
    ErmakMcCammon,
    Explicit,
    FrictionImplicit,
    PredictorCorrector,
    Respa,
    SciPy,
)
from articulon.integrate.lag_groups import check_followed, followed_groups
from articulon.integrate.lag_tracking import Followed, memory_size
from articulon.integrate.law_inputs import law_inputs
from articulon.integrate.overdamped_driver import OverdampedDriver
from articulon.integrate.particle_driver import ErmakMcCammonDriver, ParticleDriver, RespaDriver
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.scipy_adapter import SciPyDriver
from articulon.integrate.status import DIVERGED, NOT_CLOSED, NOT_CONVERGED, PAUSED, REACHED, STOPPED, no_stop
from articulon.integrate.touching_driver import TouchingDriver
from articulon.integrate.variables import WORK, blocks
from articulon.kernels import prepare_for
from articulon.model import State, kernel_tables
from articulon.model.state import STEPS, SWITCHES
from articulon.scaling.base import LAW, ScalingPolicy
from articulon.thermostats.base import BATH, leave, variables_of

__all__ = ["DIVERGED", "PAUSED", "REACHED", "STOPPED", "Driver", "ExplicitDriver", "FrictionImplicitDriver", "driver"]


class FollowingDriver(Driver):
    """A driver whose policy may follow the lag of the motions."""

    followed: Followed | None = None
    """What is followed of it; None where nothing is."""

    def follow(self, integrator: Any, policy: ScalingPolicy) -> None:
        """Finds what is followed, and binds what the law reads."""
        e, self.policy = self.evaluator, policy
        if policy.follows:
            check_followed(e, str(getattr(policy, "policy", "")))
            self.followed = followed_groups(e, integrator, policy.aim())
            self.memory = memory_size(e.model.nu, self.followed.relaxation.size)
        self.inputs, self.programs = law_inputs(e, policy, self.followed, self.memory)


class ExplicitDriver(FollowingDriver):
    """An explicit Runge–Kutta rule with error-controlled or fixed steps."""

    books_unscaled_work = True

    def __init__(
        self, evaluator: Evaluator, integrator: Explicit, policy: ScalingPolicy, parameters: np.ndarray, state: State
    ) -> None:
        self.evaluator, self.parameters, self.law = evaluator, parameters, policy.law
        self.varies, self.stop, self.step = policy.varies, no_stop(), float(integrator.step or 0.0)
        model = evaluator.model
        self.follow(integrator, policy)
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
        self.kernel = prepare_for(explicit_runge_kutta.advance, self.arguments(state, math.inf, 0), {policy.law: LAW})

    def arguments(self, state: State, until: float, steps: int) -> tuple[Any, ...]:
        """Of the kernel."""
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
        self.failure = None
        if not self.embedded:
            return self._closed(self._advance(state, until, steps))
        forest, solver = self.evaluator.system.forest, self.evaluator.solver
        if state.counters[STEPS] == 0:
            embedding.begin(forest, state.q, state.u, state.rate, state.dependent)
        solver.dependent[:] = state.dependent
        solver.switches[0] = state.counters[SWITCHES]
        status = self._advance(state._replace(u=state.rate), until, steps)
        state.dependent[:] = solver.dependent
        state.counters[SWITCHES] = solver.switches[0]
        embedding.speeds(forest, state.q, state.rate, state.u)
        return self._closed(status)

    def pause_at(self, time: float) -> None:
        """See :class:`Driver`."""
        self.control.step[4] = time

    def _closed(self, status: int) -> int:
        """The status, and why loops have prevented the next step."""
        loops = self.evaluator.model.loops
        if status == NOT_CLOSED:
            self.failure = open_loop(self.evaluator)
        elif status == DIVERGED and loops.kind.size and self.control.step[0] == 0.0:
            self.failure = (
                "the step has become too short to go on: the mechanism comes to where its loops are singular or cannot "
                "be closed any more, or a force varies too fast; the acceleration is largest"
            )
        return DIVERGED if status == NOT_CLOSED else status

    def _advance(self, state: State, until: float, steps: int) -> int:
        if state.step[0] == 0.0 and self.control.step[0] == 0.0 and self.first == 0.0:
            state.step[0] = self._start(state, until)
            # At time zero no fraction of the time bounds the step from below.
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


class FrictionImplicitDriver(FollowingDriver):
    """Fixed steps with the friction taken implicitly. The step divides every time that is asked for."""

    books_unscaled_work = True

    def __init__(
        self,
        evaluator: Evaluator,
        integrator: FrictionImplicit,
        policy: ScalingPolicy,
        parameters: np.ndarray,
        state: State,
    ) -> None:
        self.evaluator, self.parameters, self.law = evaluator, parameters, policy.law
        self.step, self.flight = float(integrator.step), integrator.drift == "geodesic"
        self.stop = no_stop()
        self.follow(integrator, policy)
        thermostat = evaluator.thermostat
        self.bath_step = leave if thermostat is None else thermostat.advance
        self.scratch = friction_implicit_passes.scratch(evaluator)
        self.passes, self.kept = friction_implicit_passes.passes(evaluator, self.scratch, self.flight)
        signatures = {policy.law: LAW, self.bath_step: BATH}
        self.kernel = prepare_for(friction_implicit.advance, self.arguments(state, 0), signatures)

    def arguments(self, state: State, steps: int) -> tuple[Any, ...]:
        """Of the kernel."""
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

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        self.failure = None
        left = round(until / self.step) - int(state.counters[STEPS])
        looped = self.evaluator.model.loops.kind.size > 0
        if looped:
            self.evaluator.solver.loops.drift[:] = 0.0
        status = self.kernel(*self.arguments(state, min(left, steps)))
        if looped:
            np.maximum(state.drift, self.evaluator.solver.loops.drift, out=state.drift)
        if status == NOT_CLOSED:
            self.failure = f"steps of {self.step:.6g} may be too long, or {open_loop(self.evaluator)}"
            return DIVERGED
        if status == NOT_CONVERGED:
            self.failure = (
                f"the free flight of the bodies is not found in steps of {self.step:.6g}, so shorten integrator.step; "
                "the acceleration is largest"
            )
            return DIVERGED
        return PAUSED if status == REACHED and left > steps else status


def driver(
    evaluator: Evaluator,
    integrator: Any,
    policy: ScalingPolicy,
    parameters: np.ndarray,
    state: State,
) -> Driver:
    """The driver of a declared integrator.

    Raises
    ------
    CaseError
        For what does not go with what, see ``compatibility.py``.
    """
    check(combination_of(evaluator, integrator, policy))
    return _driver(evaluator, integrator, policy, parameters, state)


def _driver(
    evaluator: Evaluator, integrator: Any, policy: ScalingPolicy, parameters: np.ndarray, state: State
) -> Driver:
    if isinstance(integrator, FrictionImplicit):
        return FrictionImplicitDriver(evaluator, integrator, policy, parameters, state)
    if isinstance(integrator, BrownianDynamics):
        return OverdampedDriver(evaluator, integrator, policy, parameters, state)
    if isinstance(integrator, PredictorCorrector):
        return PredictorCorrectorDriver(evaluator, integrator, policy, parameters, state)
    if isinstance(integrator, Respa):
        parts = integrator.pair_steps, integrator.bonded_steps
        return RespaDriver(evaluator, float(integrator.step), policy, parameters, state, parts=parts)
    if isinstance(integrator, ErmakMcCammon):
        return ErmakMcCammonDriver(evaluator, float(integrator.step), policy, parameters, state)
    if evaluator.contacts is not None:
        kind = GrainDriver if only_grains(evaluator.model) else TouchingDriver
        return kind(evaluator, float(integrator.step), state)
    if integrator.rule == "velocity-verlet" and only_particles(evaluator.model):
        return ParticleDriver(evaluator, float(integrator.step), policy, parameters, state)
    if isinstance(integrator, Canonical):
        return CanonicalDriver(evaluator, integrator, policy, parameters, state)
    if isinstance(integrator, SciPy):
        return SciPyDriver(evaluator, integrator, policy, parameters, state)
    return ExplicitDriver(evaluator, integrator, policy, parameters, state)
