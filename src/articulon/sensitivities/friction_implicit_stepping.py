"""The friction-implicit integrator: steps, tangents and adjoints for differentiated runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.integrate import friction_implicit_passes, friction_implicit_scratch
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.passes import Program
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.friction_implicit_changes import change_step, changing_steps
from articulon.sensitivities.friction_implicit_steps import (
    ending_of,
    fill_forces,
    finish_step,
    keeping,
    kept,
    reverse_step,
    reversing,
    step_arguments,
    take_step,
)
from articulon.sensitivities.stepping import Stepper, Stepping, prepared, stepper
from articulon.sensitivities.table_gradients import Tables
from articulon.sensitivities.tangent_spaces import in_tangent_space


class FrictionImplicitStepping(Stepping):
    """Equal steps with implicit friction; the last step may be cut short.

    A state consists of coordinates, speeds and the accelerations of the latest kick. Weights and changes of a state
    have the shape (3 nu,): coordinates in their tangent space, speeds and accelerations.
    """

    def __init__(self, run: DifferentiableRun) -> None:
        self.run, self.model = run, run.model
        windows = run.windows
        self.evaluator = Evaluator(run.model, run.seed, windows.window, windows.average)
        self.start = np.concatenate([run.model.q0, run.model.u0, np.zeros(run.model.nu)])
        length = float(windows.step or 0.0)
        steps = np.arange(round(float(run.times[-1]) / length))
        self.times = length * steps, np.full(steps.size, length)

    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, _, arguments, programs = self._made()
        found, own = prepared(found, begin=[fill_forces.bind(*arguments)], take=[take_step.bind(*arguments)])
        return found, [*own, *programs]

    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, arrays, arguments, programs = self._made()
        held = kept(self.evaluator)
        weight = found.weight
        back, more = reversing(self.evaluator, arrays, held, weight, gradients, bodies, self.run.acting)
        passes, *others = arguments
        passes, kept_programs = keeping(self.evaluator, arrays, passes, held)
        on = self.evaluator.ws, self.evaluator.channels, held, weight
        found, own = prepared(
            found,
            begin=[fill_forces.bind(*arguments)],
            take=[take_step.bind(*arguments)],
            reverse=[reverse_step.bind(passes, ending_of(self.evaluator, passes), back, *others, *on)],
            finish=[finish_step.bind(back, weight)],
        )
        return found, [*own, *more, *kept_programs, *programs]

    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, arrays, arguments, programs = self._made()
        held = kept(self.evaluator)
        stages, more = changing_steps(self.evaluator, arrays, held, tables, len(changes), self.run.acting)
        passes, *others = arguments
        on = self.evaluator.ws, self.evaluator.channels, held, numbers, columns, changes
        found, own = prepared(found, take=[change_step.bind(passes, stages, *others, *on)])
        return found, [*own, *more, *programs]

    def _made(self) -> tuple[Stepper, Scratch, tuple[Any, ...], list[Program]]:
        """Return the stepper, the integrator's arrays, the arguments that the passes of a step are bound to, and the
        programs. The arrays share the memory of the state."""
        nq, nu, y = self.model.nq, self.model.nu, self.start.copy()
        found = stepper(y, 3 * nu)
        arrays = friction_implicit_scratch.scratch(self.evaluator)
        arrays = arrays._replace(q=y[:nq], u=y[nq : nq + nu], acceleration=y[nq + nu :])
        arrays.factor[:] = self.run.acting.factor
        passes, programs = friction_implicit_passes.passes(self.evaluator, arrays, flight=False)
        return found, arrays, step_arguments(passes, found.clock, found.number, arrays), programs

    def changes(self, starts: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        return np.hstack([starts, np.zeros((len(starts), self.model.nu))])

    def weights(self, end: np.ndarray, by_q: np.ndarray, by_u: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        if by_q.size == self.model.nq:
            by_q = in_tangent_space(self.model, end[: self.model.nq], by_q)
        return np.concatenate([by_q, by_u, np.zeros(self.model.nu)])

    def of_start(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`Stepping`."""
        nu = self.model.nu
        return weights[:nu].copy(), weights[nu : 2 * nu].copy()
