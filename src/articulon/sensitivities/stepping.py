"""Interface between the steps of an integrator and its derivatives. An integrator can take a step, take it together
with changes of its initial state (tangent), and reverse it (adjoint). The adjoint converts weights of the state at the
end of a step into weights of its initial state. Weights of a state are derivatives of the objective with respect to it.

Each integrator supplies these three as programs of passes, with a few arrays for arguments and results. The code for
runs, checkpoints and early stops is therefore the same for all integrators.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.evaluation import Evaluator
from articulon.integrate.status import stop_reached
from articulon.kernels import jit, kernel
from articulon.model import Model
from articulon.passes import Program, run
from articulon.sensitivities.table_gradients import Tables

ADVANCE, REVERSE = 0, 1
"""Kinds of actions: take steps from one kept state to another, or reverse the step that starts at a kept state."""


class Stepper(NamedTuple):
    """Programs of an integrator, and the arrays for their arguments and results."""

    begin: np.ndarray
    """Code of the program that prepares for steps that start at ``y``, shape (passes, 2)."""
    take: np.ndarray
    """Code of the program that takes a step of ``y`` in place, shape (passes, 2)."""
    reverse: np.ndarray
    """Code of the program that reverses the step that starts at ``y``: it converts the weights at its end into weights
    at its start, in place, shape (passes, 2); (0, 2) if steps are not reversed."""
    finish: np.ndarray
    """Code of the program that completes the weights after the last reversal, shape (passes, 2). It adds the terms that
    one reversal leaves to the next; (0, 2) if there are no such terms."""
    y: np.ndarray
    """The state, coordinates and speeds first, shape (ny,)."""
    weight: np.ndarray
    """Weights of a state."""
    clock: np.ndarray
    """Start time and length of the step [time], shape (2,)."""
    number: np.ndarray
    """Number of the step, shape (1,)."""


class Stepping(ABC):
    """Steps of a run with an integrator that has derivatives.

    A change of a state, and its weights, are rows of numbers (weights,); each subclass defines the contents of a row.
    """

    model: Model
    """Model that is run, with its initial state."""
    evaluator: Evaluator
    """Evaluator of the model."""
    start: np.ndarray
    """Initial state of the run, coordinates and speeds first, shape (ny,)."""
    times: tuple[np.ndarray, np.ndarray]
    """Start times and lengths of all steps of the run, (steps,) each [time]."""
    iterates: bool = False
    """Whether derivatives of a step are found by iterations; if an iteration does not converge, the result is NaN."""

    @property
    def failure(self) -> str | None:
        """Return why the latest step has failed; None if the integrator does not know."""
        return None

    @abstractmethod
    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """Return the stepper that takes steps, and its programs; the caller must keep the programs alive."""

    @abstractmethod
    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """Return the stepper that also reverses steps, and its programs. Derivatives with respect to the numbers of the
        model's tables are added to ``gradients``; for tables of links, only if ``bodies`` is true."""

    @abstractmethod
    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """Return the stepper that takes steps together with ``changes`` (parameters, weights), in place, and its
        programs. The rows of ``columns`` (parameters, numbers) are changes of the tables; ``numbers`` holds one of
        them, and ``tables`` are views of ``numbers``."""

    @abstractmethod
    def changes(self, starts: np.ndarray) -> np.ndarray:
        """Return changes of the initial state, shape (rows, weights). ``starts`` (rows, 2 nu) are the changes of its
        coordinates, in their tangent space, and of its speeds."""

    @abstractmethod
    def weights(self, end: np.ndarray, by_q: np.ndarray, by_u: np.ndarray) -> np.ndarray:
        """Return weights of a state (ny,) from derivatives with respect to its coordinates, (nq,) or in their tangent
        space (nu,), and derivatives with respect to its speeds (nu,)."""

    @abstractmethod
    def of_start(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives with respect to the initial coordinates, in their tangent space (nu,), and the initial
        speeds (nu,), from the weights of the initial state."""

    def of_closed_start(self, by_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives with respect to the given initial coordinates and to the numbers of the tables, from
        derivatives with respect to the coordinates at the start of the run, in their tangent space (nu,). The given
        coordinates differ from the coordinates at the start, because loops are closed before the run."""
        return by_q, np.zeros(0)

    def split(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return copies of the coordinates (nq,) and speeds (nu,) of a state."""
        nq, nu = self.model.nq, self.model.nu
        return y[:nq].copy(), y[nq : nq + nu].copy()


def stepper(y: np.ndarray, weights: int) -> Stepper:
    """Return a stepper without programs, with arrays for a state and a number of weights."""
    nothing = np.zeros((0, 2), dtype=np.int64)
    number = np.zeros(1, dtype=np.int64)
    return Stepper(nothing, nothing, nothing, nothing, y, np.zeros(weights), np.zeros(2), number)


@jit
def set_clock(stepper, times, lengths, n):
    """Set the clock and the number of a stepper to step n."""
    stepper.clock[0], stepper.clock[1], stepper.number[0] = times[n], lengths[n], n


@jit
def take(stepper, times, lengths, first, last):
    """Take the steps from number ``first`` up to, but not including, ``last``."""
    set_clock(stepper, times, lengths, first)
    run(stepper.begin)
    for n in range(first, last):
        set_clock(stepper, times, lengths, n)
        run(stepper.take)


@kernel
def take_steps(stepper, times, lengths, first, last):
    """Take the steps from number ``first`` up to, but not including, ``last``; callable from Python."""
    take(stepper, times, lengths, first, last)


@kernel
def take_until(stepper, look, stop, ws, times, lengths, first, last, before):
    """Take steps until the condition ``stop`` is fulfilled at the end of a step. Return the number of this step, or
    ``last`` if there is none; ``before`` (ny,) receives the state before the step. The program ``look`` places the
    links of ``ws`` at the state."""
    set_clock(stepper, times, lengths, first)
    run(stepper.begin)
    for n in range(first, last):
        copy_into(before, stepper.y)
        set_clock(stepper, times, lengths, n)
        run(stepper.take)
        run(look)
        if stop_reached(stop, ws):
            return n
    return last


@kernel
def finish_weights(stepper):
    """Complete the weights of the initial state after the last reversed step."""
    run(stepper.finish)


@kernel
def follow_schedule(stepper, times, lengths, actions, states):
    """Carry out ``actions`` (n, 5) in order. Each row holds the kind of the action, the row of ``states`` (states, ny)
    where the action starts, and the number of its first step. A row that takes steps also holds the number of the step
    at which it stops, and the row where the state is then kept.

    On entry, ``stepper.weight`` holds the weights of the state at the end of the step reversed first. On return, it
    holds the weights of the initial state of the step reversed last, without the terms that :func:`finish_weights`
    adds.
    """
    for n in range(actions.shape[0]):
        what, source, first = actions[n, 0], actions[n, 1], actions[n, 2]
        copy_into(stepper.y, states[source])
        if what == ADVANCE:
            take(stepper, times, lengths, first, actions[n, 3])
            copy_into(states[actions[n, 4]], stepper.y)
        else:
            set_clock(stepper, times, lengths, first)
            run(stepper.reverse)


def prepared(stepper: Stepper, **programs: Any) -> tuple[Stepper, list[Program]]:
    """Return the stepper with new programs, and the programs. ``programs`` gives the passes of each program by its
    name."""
    made = {name: Program(passes) for name, passes in programs.items()}
    return stepper._replace(**{name: program.code for name, program in made.items()}), list(made.values())
