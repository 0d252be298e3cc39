"""Velocity Verlet in canonical momenta: steps, tangents and adjoints for differentiated runs of bodies that rotate."""

from collections.abc import Sequence

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.integrate import canonical
from articulon.integrate.canonical import Scratch
from articulon.integrate.fixed_steps import not_solved
from articulon.integrate.rules import CANONICAL
from articulon.integrate.stage_acceleration import sweeps_of
from articulon.integrate.status import NOT_CONVERGED, REACHED
from articulon.integrate.variables import blocks
from articulon.model import kernel_tables
from articulon.passes import Program
from articulon.sensitivities.canonical_derivatives import canonical_changes_at, canonical_weights
from articulon.sensitivities.canonical_steps import (
    Rule,
    begin_changes,
    change_canonical,
    finish_canonical,
    reverse_canonical,
    step_arrays,
    take_canonical,
)
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.stepping import Stepper, Stepping, prepared, stepper
from articulon.sensitivities.table_gradients import Tables
from articulon.sensitivities.tangent_spaces import in_tangent_space
from articulon.sensitivities.verlet_stepping import reads_speeds


class CanonicalStepping(Stepping):
    """Equal steps of velocity Verlet; the last step may be shorter.

    A state consists of coordinates and speeds, and of the history of the rule, which contains its momenta. Weights and
    changes of a state are those of the coordinates in their tangent space, of the momenta that belong to the speeds,
    and of the speeds, (3 nu,).
    """

    iterates = True

    def __init__(self, run: DifferentiableRun) -> None:
        self.run, self.model = run, run.model
        self.evaluator = Evaluator(run.model, run.seed)
        self.start = np.concatenate([run.model.q0, run.model.u0, np.zeros(canonical.history_size(run.model.nq))])
        self.pair = CANONICAL[run.integrator.rule]
        self.status = np.full(1, REACHED)
        self.reads = any(map(reads_speeds, run.model.forces))
        length = float(run.windows.step or 0.0)
        steps = np.arange(round(float(run.times[-1]) / length))
        self.times = length * steps, np.full(steps.size, length)

    @property
    def failure(self) -> str | None:
        """See :class:`Stepping`."""
        return not_solved(float(self.times[1][0])) if self.status[0] == NOT_CONVERGED else None

    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, rule, arrays, kept = self._made()
        found, programs = prepared(found, take=[take_canonical.bind(rule, found.clock, found.y, arrays)])
        return found, [*programs, *kept]

    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, rule, arrays, kept = self._made()
        at, others = canonical_weights(self.evaluator, arrays, gradients, bodies, self.run.acting)
        forest, own = self.evaluator.system.forest, step_arrays(self.model.nq, self.model.nu)
        state = found.clock, found.y, arrays
        found, programs = prepared(
            found,
            take=[take_canonical.bind(rule, *state)],
            reverse=[reverse_canonical.bind(forest, rule, at, int(self.reads), *state, own, found.weight)],
            finish=[finish_canonical.bind(rule, at, *state, found.weight)],
        )
        return found, [*programs, *others, *kept]

    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, rule, arrays, kept = self._made()
        at, others = canonical_changes_at(self.evaluator, arrays, tables, self.run.acting)
        forest, own = self.evaluator.system.forest, step_arrays(self.model.nq, self.model.nu, len(changes))
        given = found.clock, numbers, columns, found.y, changes, arrays
        found, programs = prepared(
            found,
            begin=[begin_changes.bind(rule, at, *given)],
            take=[change_canonical.bind(forest, rule, at, int(self.reads), *given, own)],
        )
        return found, [*programs, *others, *kept]

    def _made(self) -> tuple[Stepper, Rule, Scratch, list[Program]]:
        """Return the stepper, the rule, the rule's arrays, and the programs."""
        e, (nq, nu) = self.evaluator, (self.model.nq, self.model.nu)
        forest, stages = e.system.forest, self.pair.b.size
        arrays = canonical.scratch(
            forest, blocks(kernel_tables(self.model).forest, nq, nu), nq, nu, stages, e.ws, e.channels
        )
        passes, programs = canonical.passes(e, arrays)
        sweeps = sweeps_of(forest, arrays.turning, float(arrays.length[0]), self.pair)
        counters = np.zeros_like(e.initial_state().counters)
        rule = Rule(passes, self.pair, np.full(8, self.run.acting.factor), sweeps, counters, self.status)
        return stepper(self.start.copy(), 3 * nu), rule, arrays, programs

    def changes(self, starts: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        nu = self.model.nu
        return np.hstack([starts[:, :nu], np.zeros((len(starts), nu)), starts[:, nu:]])

    def weights(self, end: np.ndarray, by_q: np.ndarray, by_u: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        if by_q.size == self.model.nq:
            by_q = in_tangent_space(self.model, end[: self.model.nq], by_q)
        return np.concatenate([by_q, np.zeros(self.model.nu), by_u])

    def of_start(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`Stepping`."""
        nu = self.model.nu
        return weights[:nu].copy(), weights[2 * nu :].copy()
