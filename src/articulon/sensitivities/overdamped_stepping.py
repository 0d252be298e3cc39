"""Steps of the overdamped integrator, with tangents and adjoints.

With the speeds u(q, t; F) of motion without inertia and held noise F(q) (``integrate/overdamped_steps.py``), a step h
from q is

    u = u(q, t; F),   q' = q + ½ h u,   u' = u(q', t + ½ h; F),   q⁺ = q + h u',

where + moves joints at constant speeds. The adjoint takes weights of q⁺ back in five stages: through the last drift to
q and u', from u' to q' and F, through the first drift to q and u, from u to q and F, and from F to q.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.evaluation import Evaluator
from articulon.integrate import overdamped_steps
from articulon.integrate.overdamped_driver import check_drag, thermal_energy
from articulon.integrate.overdamped_steps import Scratch
from articulon.kernels import jit
from articulon.passes import Program, pass_of, run
from articulon.sensitivities.balance_derivatives import (
    Balanced,
    balance,
    balance_adjoint,
    balance_tangent,
    balanced,
    held_noise_adjoint,
    joint_drift_adjoint,
    joint_drift_tangent,
)
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.stepping import Stepper, Stepping, prepared, stepper
from articulon.sensitivities.table_gradients import Tables
from articulon.sensitivities.tangent_spaces import in_tangent_space


class Back(NamedTuple):
    """Programs of the adjoint or the tangent of a step, and the arrays for their arguments and results."""

    point: Any
    """Program that prepares the arrays that changes read at ``Scratch.middle``; empty for weights, because the programs
    for weights prepare these arrays themselves."""
    balance: Any
    """Program for weights or changes of the speeds."""
    noise: Any
    """Program for weights or changes of held noise; empty if there is no noise."""
    half: Any
    """Program for weights or changes of the drift step over half of the step."""
    whole: Any
    """Program for weights or changes of the drift step over the whole step."""
    at: Balanced
    """Arrays of the program ``balance``."""
    drifted: np.ndarray
    """Speeds of a drift step, weights or changes of the coordinates, and weights or changes of the speeds, shape (3,
    nu)."""
    middle: np.ndarray
    """Coordinates in the middle of the step, shape (nq,)."""
    speeds: np.ndarray
    """Speeds of the two halves of the step, shape (2, nu)."""
    noise_change: np.ndarray
    """Changes of F, shape (parameters, nu)."""


@jit
def begin_step(clock, number, arrays):
    """Select the step that the passes take."""
    h = clock[1]
    arrays.spans[0], arrays.spans[1] = 0.5 * h, h
    arrays.time[0], arrays.window[0] = clock[0], number[0]


@jit
def find_speeds(passes, clock, number, arrays):
    """Compute the speeds at the start of the step, and the coordinates in its middle."""
    begin_step(clock, number, arrays)
    run(passes.push)
    run(passes.shake)
    run(passes.balance)
    copy_into(arrays.middle, arrays.q)
    run(passes.drift_middle)


@jit
def find_second_speeds(passes, clock, arrays):
    """Compute the speeds in the middle of the step."""
    arrays.time[0] = clock[0] + 0.5 * clock[1]
    run(passes.push_middle)
    run(passes.balance)


@pass_of
def take_step(passes, clock, number, arrays):
    """Take a step of ``arrays.q`` in place."""
    find_speeds(passes, clock, number, arrays)
    find_second_speeds(passes, clock, arrays)
    run(passes.drift)


@jit
def keep_step(passes, back, clock, number, arrays):
    """Compute and keep the coordinates in the middle of a step, and its two sets of speeds."""
    find_speeds(passes, clock, number, arrays)
    copy_into(back.speeds[0], arrays.u)
    copy_into(back.middle, arrays.middle)
    find_second_speeds(passes, clock, arrays)
    copy_into(back.speeds[1], arrays.u)


@jit
def go_to(q, time, arrays):
    """Set the coordinates and the time at which speeds are evaluated."""
    copy_into(arrays.middle, q)
    arrays.time[0] = time


@pass_of
def reverse_step(passes, back, clock, number, arrays, weight):
    """Convert weights (nu,) of the coordinates at the end of a step into weights at its start, in place."""
    keep_step(passes, back, clock, number, arrays)
    at, nu, drifted = back.at, weight.size, back.drifted
    copy_into(drifted[0], back.speeds[1])
    copy_into(drifted[1], weight)
    run(back.whole)
    copy_into(weight, drifted[1])
    copy_into(at.weight, drifted[2])
    go_to(back.middle, clock[0] + 0.5 * clock[1], arrays)
    run(back.balance)
    copy_into(back.noise_change[0], at.by_noise)
    copy_into(drifted[0], back.speeds[0])
    copy_into(drifted[1], at.by_coordinate)
    run(back.half)
    copy_into(at.weight, drifted[2])
    go_to(arrays.q, clock[0], arrays)
    run(back.balance)
    for k in range(nu):
        weight[k] += drifted[1, k] + at.by_coordinate[k]
        at.by_noise[k] += back.noise_change[0, k]
    if back.noise.shape[0] > 0:
        run(back.noise)
        for k in range(nu):
            weight[k] += at.by_coordinate[k]


@pass_of
def change_step(passes, back, clock, number, arrays, numbers, columns, changes, middles):
    """Take a step of the coordinates and their ``changes`` (parameters, nu), in place. The rows of ``columns``
    (parameters, numbers) are the changes of the tables; each row is copied to ``numbers``, where the tangents read it.
    ``middles`` (parameters, nu) is scratch."""
    keep_step(passes, back, clock, number, arrays)
    at, drifted = back.at, back.drifted
    go_to(arrays.q, clock[0], arrays)
    run(back.point)
    for p in range(changes.shape[0]):
        copy_into(numbers, columns[p])
        copy_into(at.by_coordinate, changes[p])
        if back.noise.shape[0] > 0:
            run(back.noise)
        copy_into(back.noise_change[p], at.by_noise)
        run(back.balance)
        copy_into(drifted[0], back.speeds[0])
        copy_into(drifted[1], changes[p])
        copy_into(drifted[2], at.weight)
        run(back.half)
        copy_into(middles[p], drifted[1])
    go_to(back.middle, clock[0] + 0.5 * clock[1], arrays)
    run(back.point)
    for p in range(changes.shape[0]):
        copy_into(numbers, columns[p])
        copy_into(at.by_coordinate, middles[p])
        copy_into(at.by_noise, back.noise_change[p])
        run(back.balance)
        copy_into(drifted[0], back.speeds[1])
        copy_into(drifted[1], changes[p])
        copy_into(drifted[2], at.weight)
        run(back.whole)
        copy_into(changes[p], drifted[1])
    copy_into(arrays.u, back.speeds[1])
    run(passes.drift)


class OverdampedStepping(Stepping):
    """Equal steps without inertia; the last step may be cut short.

    A state consists of the coordinates, and of speeds that have no meaning and stay zero. Weights and changes belong to
    the coordinates in their tangent space, (nu,).
    """

    def __init__(self, run: DifferentiableRun) -> None:
        self.run, self.model, windows = run, run.model, run.windows
        self.evaluator = Evaluator(run.model, run.seed, windows.window, windows.average)
        check_drag(self.evaluator)
        self.evaluator.overdamped = True
        self.start = np.concatenate([run.model.q0, np.zeros(run.model.nu)])
        length = float(windows.step or 0.0)
        steps = np.arange(round(float(run.times[-1]) / length))
        self.times = length * steps, np.full(steps.size, length)

    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        found, _, arguments, programs = self._made()
        found, own = prepared(found, take=[take_step.bind(*arguments)])
        return found, [*own, *programs]

    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        e, (found, arrays, arguments, programs) = self.evaluator, self._made()
        there, at = balance(e, arrays, programs), balanced(self.evaluator)
        noisy = bool(e.system.forces.noise.choice[0])
        noise = held_noise_adjoint(e, there, at, gradients, bodies) if noisy else ()
        weighing = balance_adjoint(e, arrays, there, at, gradients, bodies)
        back, more = self._back(arrays, at, ((), weighing, noise), joint_drift_adjoint, 1)
        passes, *others = arguments
        found, own = prepared(
            found,
            take=[take_step.bind(*arguments)],
            reverse=[reverse_step.bind(passes, back, *others, found.weight)],
        )
        return found, [*own, *more, *programs]

    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """See :class:`Stepping`."""
        e, (found, arrays, arguments, programs) = self.evaluator, self._made()
        there, at = balance(e, arrays, programs), balanced(self.evaluator)
        speeds, noise = balance_tangent(e, arrays, there, at, tables)
        shaken = noise if e.system.forces.noise.choice[0] else ()
        back, more = self._back(arrays, at, (there.passes, speeds, shaken), joint_drift_tangent, len(changes))
        passes, *others = arguments
        on = numbers, columns, changes, np.zeros_like(changes)
        found, own = prepared(found, take=[change_step.bind(passes, back, *others, *on)])
        return found, [*own, *more, *programs]

    def _back(
        self, arrays: Scratch, at: Balanced, passes: Any, drifting: Any, parameters: int
    ) -> tuple[Back, list[Program]]:
        """Build programs from the given passes and from drift steps."""
        drifted, forest, nu = np.zeros((3, self.model.nu)), self.evaluator.system.forest, self.model.nu
        spans = arrays.spans[:1], arrays.spans[1:]
        drifts = [[drifting.bind(forest, drifted[0], span, drifted[1], drifted[2])] for span in spans]
        programs = [Program(one) for one in (*passes, *drifts)]
        point, balancing, noise, half, whole = (program.code for program in programs)
        more = np.zeros(self.model.nq), np.zeros((2, nu)), np.zeros((parameters, nu))
        return Back(point, balancing, noise, half, whole, at, drifted, *more), programs

    def _made(self) -> tuple[Stepper, Scratch, tuple[Any, ...], list[Program]]:
        """Return the stepper, the integrator's arrays, the arguments that the passes of a step are bound to, and the
        programs. The array q is that of the state."""
        nq, y = self.model.nq, self.start.copy()
        found = stepper(y, self.model.nu)
        arrays = overdamped_steps.scratch(self.evaluator, thermal_energy(self.model))
        arrays = arrays._replace(q=y[:nq])
        passes, programs = overdamped_steps.passes(self.evaluator, arrays)
        return found, arrays, (passes, found.clock, found.number, arrays), programs

    def changes(self, starts: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        return starts[:, : self.model.nu].copy()

    def weights(self, end: np.ndarray, by_q: np.ndarray, by_u: np.ndarray) -> np.ndarray:
        """See :class:`Stepping`."""
        if by_q.size == self.model.nq:
            by_q = in_tangent_space(self.model, end[: self.model.nq], by_q)
        return np.asarray(by_q, dtype=np.float64).copy()

    def of_start(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`Stepping`."""
        return weights.copy(), np.zeros(self.model.nu)
