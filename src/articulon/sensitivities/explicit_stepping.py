"""Explicit Runge–Kutta rules: steps, tangents and adjoints for differentiated runs."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.status import DIVERGED
from articulon.integrate.variables import blocks
from articulon.model import kernel_tables
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.adjoint_program import adjoint_program
from articulon.sensitivities.adjoint_steps import Scratch, find_end, find_step, reverse, scratch, step
from articulon.sensitivities.closed_steps import changing_closing, closing_pass, weighing_closing
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.modal_adjoint import modal_adjoint_program
from articulon.sensitivities.modal_tangent import modal_tangent_program
from articulon.sensitivities.stepping import Stepper, Stepping, prepared, stepper
from articulon.sensitivities.table_gradients import Tables, differentiated, in_one
from articulon.sensitivities.tangent_program import tangent_program
from articulon.sensitivities.tangent_spaces import displacements, in_coordinates, in_tangent_space
from articulon.sensitivities.tangent_steps import change_step, tangent_scratch
from articulon.simulation.divergence import diagnosis

SAME = 1e-9
"""Relative difference below which two times count as equal, as in the driver."""


class ExplicitStepping(Stepping):
    """Steps of a given length that end on frames, or steps whose length an error estimate chooses.

    Weights and changes have one number for each coordinate, including all four Euler parameters, and one for each
    speed, (nq + nu,).
    """

    def __init__(self, run: DifferentiableRun) -> None:
        self.run, self.model, windows = run, run.model, run.windows
        self.evaluator = Evaluator(run.model, run.seed, windows.window, windows.average)
        self.held = windows.held if self.evaluator.system.forces.noise.choice[0] else math.inf
        """Time for which noise is held [time]; infinite if there is no noise."""
        self.evaluator.rhs.factor[:] = run.acting.factor
        self.start = np.concatenate([run.model.q0, run.model.u0])
        self.tableau = EXPLICIT[run.integrator.rule]
        self.quaternion = blocks(kernel_tables(run.model).forest, run.model.nq, run.model.nu).quaternion

    @cached_property
    def times(self) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[override]
        """See :class:`Stepping`."""
        return self._chosen() if self.run.integrator.step is None else self._given()

    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        arrays = scratch(self.start.size, self.tableau)
        found = stepper(arrays.y, self.start.size)
        return prepared(found, take=list(self._taking(found, arrays)))

    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        arrays = scratch(self.start.size, self.tableau)
        found = stepper(arrays.y, self.start.size)
        build = adjoint_program if self.model.forest.flexible is None else modal_adjoint_program
        program, adjoint = build(self.evaluator, gradients, bodies, self.run.acting)
        back = [*self._holding(found), find_step.bind(self.evaluator.rhs, self.tableau, found.clock, arrays)]
        parts, kept = {"take": list(self._taking(found, arrays))}, [program]
        if self.looped:
            end = np.zeros(self.start.size)
            at = found.clock, end, self.start, found.weight
            of_step, of_start, others = weighing_closing(self.evaluator, gradients, bodies, *at)
            back += [find_end.bind(self.tableau, self.quaternion, found.clock, arrays, end), of_step]
            parts["finish"], kept = [of_start], [*kept, *others]
        back.append(reverse.bind(adjoint, self.tableau, self.quaternion, found.clock, arrays, found.weight))
        found, programs = prepared(found, **parts, reverse=back)
        return found, [*programs, *kept]

    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        arrays = tangent_scratch(self.start.size, len(changes), self.tableau)
        found = stepper(np.zeros(self.start.size), self.start.size)
        build = tangent_program if self.model.forest.flexible is None else modal_tangent_program
        own, tangent = build(self.evaluator, tables, self.run.acting)
        rule = self.evaluator.rhs, tangent, self.tableau, self.quaternion, found.clock
        take = [*self._holding(found), change_step.bind(*rule, numbers, columns, found.y, changes, arrays)]
        parts, kept = {"take": take}, list(own)
        if self.looped:
            at = found.clock, found.number, numbers, columns, found.y, changes
            of_step, of_start, others = changing_closing(self.evaluator, tables, *at)
            take.append(of_step)
            parts["begin"], kept = [of_start], [*kept, *others]
        found, programs = prepared(found, **parts)
        return found, [*programs, *kept]

    def changes(self, starts: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        nu = self.model.nu
        return np.hstack([starts[:, :nu] @ displacements(self.model, self.model.q0), starts[:, nu:]])

    def weights(self, end: np.ndarray, by_q: np.ndarray, by_u: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        return np.concatenate([in_coordinates(self.model, end[: self.model.nq], by_q), by_u])

    def of_closed_start(self, by_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`Stepping`."""
        if not self.looped:
            return super().of_closed_start(by_q)
        gradients, numbers = in_one(differentiated(*self.evaluator.system[:3]))
        weight = self.weights(self.start, by_q, np.zeros(self.model.nu))
        end, clock = np.zeros_like(self.start), np.zeros(2)
        _, of_start, _kept = weighing_closing(self.evaluator, gradients, True, clock, end, self.start, weight)
        Program([of_start])()
        return self.of_start(weight)[0], numbers

    def of_start(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`Stepping`."""
        nq = self.model.nq
        return in_tangent_space(self.model, self.model.q0, weights[:nq]), weights[nq:].copy()

    def _taking(self, found: Stepper, arrays: Scratch) -> Iterator[Bound]:
        """Yield the passes that take a step."""
        yield from self._holding(found)
        yield step.bind(self.evaluator.rhs, self.tableau, self.quaternion, found.clock, arrays)
        if self.looped:
            yield closing_pass(self.evaluator, found.clock, arrays.y)

    @property
    def looped(self) -> bool:
        """Whether states are projected onto loop constraints or prescribed motions after a step."""
        return bool(self.model.loops.kind.size)

    def _holding(self, found: Stepper) -> Iterator[Bound]:
        """Yield the pass that finds the noise window of a step, if there is noise."""
        if math.isfinite(self.held):
            windows = np.rint(np.floor(self.times[0] / self.held + SAME)).astype(np.int64)
            yield enter_window.bind(windows, found.number, self.evaluator.rhs.window)

    def _given(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times and lengths of steps of a given length. Like the driver's steps, they end on frames and on noise
        windows."""
        step = float(self.run.integrator.step or 0.0)
        longest = float(self.run.integrator.max_step or math.inf)
        begins, lengths, time, window = [], [], 0.0, 0
        for k in range(1, len(self.run.times)):
            until, there = float(self.run.times[k]), False
            while not there:
                boundary = (window + 1) * self.held
                limit = boundary if boundary < until - SAME * self.held else until
                left, h = limit - time, min(step, longest)
                lands = h * (1.0 + SAME) >= left
                if lands:
                    h = left
                begins.append(time)
                lengths.append(h)
                time, there = limit if lands else time + h, lands and limit == until
                window += time >= boundary - SAME * self.held
        return np.array(begins), np.array(lengths)

    def _chosen(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times and lengths of the steps that the error estimate chooses."""
        blank = self.evaluator.initial_state()
        advancing = driver(Problem(self.evaluator, self.run.integrator, self.run.policy), blank)
        state, begins = self.evaluator.initial_state(advancing.history), [0.0]
        for k in range(1, len(self.run.times)):
            until = float(self.run.times[k])
            while state.time[0] < until:
                if advancing.advance(state, until, 1) == DIVERGED:
                    raise diagnosis(self.evaluator, None, state, "", advancing.failure, advancing.culprit)
                begins.append(float(state.time[0]))
        return np.array(begins[:-1]), np.diff(begins)


@pass_of
def enter_window(windows, number, window):
    """Set the noise window (1,) to the window of the step with this number (1,)."""
    window[0] = windows[number[0]]
