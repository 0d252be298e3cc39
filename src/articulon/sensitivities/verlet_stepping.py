"""Velocity Verlet of bodies that slide, as what is differentiated knows it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.forces.gravity import Gravity
from articulon.forces.position_restraints import PositionRestraint
from articulon.forces.user_force import UserForce
from articulon.passes import Program
from articulon.sensitivities.adjoint_program import adjoint_program
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.stepping import Stepper, Stepping, prepared, stepper
from articulon.sensitivities.table_gradients import Tables, differentiated, in_one
from articulon.sensitivities.tangent_program import tangent_program
from articulon.sensitivities.verlet_steps import (
    begin_verlet,
    change_verlet,
    finish_verlet,
    reverse_implicit_verlet,
    reverse_verlet,
    take_verlet,
    verlet_arrays,
)


class VelocityVerletStepping(Stepping):
    """Equal steps of velocity Verlet, of which the last may be cut short, on joints that slide alone.

    A state is coordinates and speeds; weights and changes are those of both, (nq + nu,), nq and nu being the same.
    """

    def __init__(self, run: DifferentiableRun) -> None:
        self.run, self.model = run, run.model
        self.evaluator = Evaluator(run.model, run.seed)
        self.evaluator.rhs.factor[:] = run.acting.factor
        self.start = np.concatenate([run.model.q0, run.model.u0])
        self.reads = any(map(reads_speeds, run.model.forces))
        length = float(run.windows.step or 0.0)
        steps = np.arange(round(float(run.times[-1]) / length))
        self.times = length * steps, np.full(steps.size, length)

    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found = stepper(self.start.copy(), self.start.size)
        passes = self._taking(found)
        return prepared(found, begin=passes[:1], take=passes[1:])

    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, rhs = stepper(self.start.copy(), self.start.size), self.evaluator.rhs
        arrays, passes = verlet_arrays(self.model.nq, self.model.nu), self._taking(found)
        program, adjoint = adjoint_program(self.evaluator, gradients, bodies, self.run.acting)
        kept = [program]
        if self.reads:
            nowhere, _ = in_one(differentiated(*self.evaluator.system[:2]))
            other, solving = adjoint_program(self.evaluator, nowhere, False, self.run.acting)
            kept.append(other)
            back = reverse_implicit_verlet.bind(rhs, adjoint, solving, found.clock, found.y, arrays, found.weight)
            finish = []
        else:
            back = reverse_verlet.bind(rhs, adjoint, found.clock, found.number, found.y, arrays, found.weight)
            finish = [finish_verlet.bind(adjoint, arrays, found.weight)]
        found, programs = prepared(found, begin=passes[:1], take=passes[1:], reverse=[back], finish=finish)
        return found, [*programs, *kept]

    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found = stepper(self.start.copy(), self.start.size)
        own, tangent = tangent_program(self.evaluator, tables, self.run.acting)
        rule = self.evaluator.rhs, tangent, int(self.reads), found.clock
        arrays = verlet_arrays(self.model.nq, self.model.nu)
        take = change_verlet.bind(*rule, numbers, columns, found.y, changes, arrays)
        found, programs = prepared(found, take=[take])
        return found, [*programs, *own]

    def _taking(self, found: Stepper) -> list[Any]:
        """The passes that begin steps and take one."""
        rhs, arrays = self.evaluator.rhs, verlet_arrays(self.model.nq, self.model.nu)
        return [
            begin_verlet.bind(rhs, found.clock, found.y, arrays),
            take_verlet.bind(rhs, int(self.reads), found.clock, found.y, arrays),
        ]

    def changes(self, starts: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        return starts.copy()

    def weights(self, end: np.ndarray, by_q: np.ndarray, by_u: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        return np.concatenate([by_q, by_u])

    def of_start(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`Stepping`."""
        nq = self.model.nq
        return weights[:nq].copy(), weights[nq:].copy()


def reads_speeds(force: Any) -> bool:
    """Whether a force depends on speeds, as far as its kind tells; a spring without damping has a derivative by it that
    does."""
    if isinstance(force, UserForce):
        return force.reads_velocities
    return not (isinstance(force, Gravity | PositionRestraint) or hasattr(force, "site_terms"))
