"""Driver of Brownian dynamics of articulated bodies, and checks of its models."""

from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.forces.brownian import brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.integrate import overdamped_steps
from articulon.integrate.fixed_steps import FixedStepDriver
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, TOO_LONG
from articulon.kernels import prepare_for
from articulon.model import Model, State
from articulon.model.assemble import joint_without_inertia
from articulon.model.joints import UNBOUND


class OverdampedDriver(FixedStepDriver):
    """Driver of overdamped steps of bodies on joints. Speeds have no meaning here and stay zero."""

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator = problem.evaluator
        check_drag(evaluator)
        evaluator.overdamped = True
        self.scratch = overdamped_steps.scratch(evaluator, thermal_energy(evaluator.model))
        self.bind_law()
        self.passes, self.kept = overdamped_steps.passes(evaluator, self.scratch)
        self.kernel = prepare_for(overdamped_steps.advance, self.arguments(state, 0))

    def arguments(self, state: State, steps: int) -> tuple[Any, ...]:
        """Arguments of the kernel."""
        return (
            self.law,
            self.inputs,
            self.parameters,
            self.passes,
            self.step,
            self.stop,
            state,
            self.scratch,
            steps,
        )

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        e = self.evaluator
        status = self.kernel(*self.arguments(state, steps))
        if status != TOO_LONG:
            return status
        watch = self.scratch.watch
        ratio = float(watch.ratio[0])
        self.culprit = int(np.searchsorted(e.model.forest.u_start, watch.worst[0], side="right")) - 1
        self.failure = (
            f"steps of {self.step:.6g} are too long: in half a step the speed changes by {ratio:.3g} times its value, "
            "and motion with a ratio above 1 grows from step to step; shorten integrator.step to less than "
            f"{0.3 * self.step / ratio:.2g}; this ratio is largest"
        )
        return DIVERGED


def thermal_energy(model: Model) -> float:
    """kT of the mean force of thermal speeds [energy]; zero without noise, or if det M cannot change."""
    noise = brownian_of(model)
    return model.units.boltzmann * float(noise.temperature) if noise is not None and varies_mass(model) else 0.0


def varies_mass(model: Model) -> bool:
    """Whether ln det M can change, with armatures as part of M."""
    return is_jointed(model) or (model.armature is not None and bool(model.armature.any()))


def is_jointed(model: Model) -> bool:
    """Whether det M of the links can change; it cannot if all bodies are single and free."""
    forest = model.forest
    return bool((forest.parent >= 0).any() or not np.isin(forest.kind, UNBOUND).all())


def check_drag(evaluator: Evaluator) -> None:
    """Raise CaseError, naming a body, if no drag balances the forces or the torques on it."""
    model, drag = evaluator.model, evaluator.system.forces.drag

    def refuse(why: str) -> None:
        raise CaseError(f"integrator.rule: 'overdamped' {why}")

    bare = np.flatnonzero(~(drag.mass > 0.0))
    if bare.size:
        refuse(
            f"balances forces by drag, and body '{model.names[model.head[bare[0]]]}' has no translational drag; give "
            "it stokes-drag, weld it to a body that has, or choose friction-implicit"
        )
    spinning = joint_without_inertia(model.forest._replace(mass=drag.mass, moment=drag.moment, inertia=drag.inertia))
    if spinning is not None:
        refuse(
            f"balances torques by drag, and the joint of body '{model.names[model.head[spinning]]}' turns it about an "
            "axis without drag; give its stokes-drag a rotational coefficient, or a radius and a viscosity"
        )
