"""Velocity Verlet for models with prismatic joints only: steps, tangents and adjoints for differentiated runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.forces.gravity import Gravity
from articulon.forces.position_restraints import PositionRestraint
from articulon.forces.user_force import UserForce
from articulon.passes import Bound, Program
from articulon.sensitivities.adjoint_program import adjoint_program
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.stepping import Stepper, Stepping, prepared, stepper
from articulon.sensitivities.table_gradients import Tables, differentiated, in_one
from articulon.sensitivities.tangent_program import tangent_program
from articulon.sensitivities.verlet_steps import (
    VerletArrays,
    begin_verlet,
    change_verlet,
    finish_verlet,
    reverse_implicit_verlet,
    reverse_verlet,
    slide,
    slide_adjoint,
    slide_in_bath,
    slide_in_bath_adjoint,
    slide_in_bath_tangent,
    slide_tangent,
    take_verlet,
    verlet_arrays,
)


class VelocityVerletStepping(Stepping):
    """Equal steps of velocity Verlet with prismatic joints only; the last step may be cut short.

    A state consists of coordinates and speeds. Weights and changes have the shape (nq + nu,), and nq equals nu.
    """

    iterates = True

    def __init__(self, run: DifferentiableRun) -> None:
        self.run, self.model = run, run.model
        self.evaluator = Evaluator(run.model, run.seed)
        self.evaluator.rhs.factor[:] = run.acting.factor
        self.start = np.concatenate([run.model.q0, run.model.u0])
        thermostat = run.thermostat
        self.bath = None if thermostat is None else thermostat.table(run.model, run.seed)
        self.reads = any(map(reads_speeds, run.model.forces))
        length = float(run.windows.step or 0.0)
        steps = np.arange(round(float(run.times[-1]) / length))
        self.times = length * steps, np.full(steps.size, length)

    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found = stepper(self.start.copy(), self.start.size)
        arrays = verlet_arrays(self.model.nq, self.model.nu)
        drift = Program(self._drift(found, arrays))
        found, programs = prepared(found, **self._taking(found, arrays, drift))
        return found, [*programs, drift]

    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, rhs = stepper(self.start.copy(), self.start.size), self.evaluator.rhs
        arrays, weight = verlet_arrays(self.model.nq, self.model.nu), found.weight
        program, adjoint = adjoint_program(self.evaluator, gradients, bodies, self.run.acting)
        # Steps repeated between two reversals must not change the pending weights.
        others = verlet_arrays(self.model.nq, self.model.nu)
        drift, onward = (Program(self._drift(found, one)) for one in (arrays, others))
        parts, kept = self._taking(found, others, onward), [program, drift, onward]
        if self.reads:
            nowhere, _ = in_one(differentiated(*self.evaluator.system[:3]))
            other, solving = adjoint_program(self.evaluator, nowhere, False, self.run.acting)
            kept.append(other)
            parts["reverse"] = [
                reverse_implicit_verlet.bind(rhs, adjoint, solving, found.clock, found.y, arrays, weight)
            ]
        else:
            back = Program(self._drift_adjoint(found, arrays, gradients))
            kept.append(back)
            rule = drift.code, back.code, found.clock, found.number
            parts["reverse"] = [reverse_verlet.bind(rhs, adjoint, *rule, found.y, arrays, weight)]
            parts["finish"] = [finish_verlet.bind(adjoint, arrays, weight)]
        found, programs = prepared(found, **parts)
        return found, [*programs, *kept]

    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found = stepper(self.start.copy(), self.start.size)
        own, tangent = tangent_program(self.evaluator, tables, self.run.acting)
        nq, nu = self.model.nq, self.model.nu
        arrays, by = verlet_arrays(nq, nu), (np.zeros(nq), np.zeros(nu))
        drift, on = Program(self._drift(found, arrays)), Program(self._drift_tangent(found, arrays, tables, by))
        rule = self.evaluator.rhs, tangent, int(self.reads), drift.code, on.code, found.clock
        take = change_verlet.bind(*rule, numbers, columns, found.y, changes, arrays, *by)
        found, programs = prepared(found, take=[take])
        return found, [*programs, *own, drift, on]

    def _taking(self, found: Stepper, arrays: VerletArrays, drift: Program) -> dict[str, list[Bound]]:
        """Return the passes that prepare for steps, and the passes that take a step."""
        rhs = self.evaluator.rhs
        take = take_verlet.bind(rhs, int(self.reads), drift.code, found.clock, found.y, arrays)
        return {"begin": [begin_verlet.bind(rhs, found.clock, found.y, arrays)], "take": [take]}

    def _drift(self, found: Stepper, arrays: VerletArrays) -> list[Bound]:
        """Return the passes of a drift step."""
        if self.bath is None:
            return [slide.bind(found.clock, arrays)]
        return [slide_in_bath.bind(self.bath, found.clock, found.number, self._mass, arrays)]

    def _drift_adjoint(self, found: Stepper, arrays: VerletArrays, gradients: Tables) -> list[Bound]:
        """Return the passes that take weights back through a drift step, in place."""
        by = found.weight[: self.model.nq], found.weight[self.model.nq :]
        if self.bath is None:
            return [slide_adjoint.bind(found.clock, *by)]
        at = self.bath, found.clock, found.number, self._mass
        return [slide_in_bath_adjoint.bind(*at, gradients.mass, arrays, *by)]

    def _drift_tangent(self, found: Stepper, arrays: VerletArrays, tables: Tables, by: Any) -> list[Bound]:
        """Return the passes that advance changes over a drift step, in place."""
        if self.bath is None:
            return [slide_tangent.bind(found.clock, *by)]
        return [slide_in_bath_tangent.bind(self.bath, found.clock, self._mass, tables.mass, arrays, *by)]

    @property
    def _mass(self) -> np.ndarray:
        """Return the masses of free particles, in the order of their coordinates."""
        return self.evaluator.system.forest.mass

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
    """Whether a force of this kind depends on speeds. This is true even for an undamped spring: its derivative with
    respect to the damping depends on speeds."""
    if isinstance(force, UserForce):
        return force.reads_velocities
    return not (isinstance(force, Gravity | PositionRestraint) or hasattr(force, "site_terms"))
