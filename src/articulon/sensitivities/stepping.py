"""Interface between the steps of an integrator and its derivatives: how a step is taken, taken together with changes of
its initial state (tangent), and reversed (adjoint). The adjoint converts weights of the state at the end of a step into
weights of its initial state.

Each integrator supplies these as programs of passes that are called through a few arrays. Runs, checkpoints and
stopping are therefore the same for all integrators.
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
    """Programs of an integrator, and the arrays through which they are called."""

    begin: np.ndarray
    """Code of the program that prepares for steps from ``y``, shape (passes, 2)."""
    take: np.ndarray
    """Code of the program that takes a step of ``y`` in place, shape (passes, 2)."""
    reverse: np.ndarray
    """Code of the program that converts the weights at the end of the step from ``y`` into those at its start, in
    place, shape (passes, 2); (0, 2) if steps are not reversed."""
    finish: np.ndarray
    """Code of the program that adds to the weights what the reversal of a step leaves to that of the step before it,
    run after the last reversal, shape (passes, 2); (0, 2) if nothing is left."""
    y: np.ndarray
    """The state, coordinates and speeds first, shape (ny,)."""
    weight: np.ndarray
    """Weights of a state."""
    clock: np.ndarray
    """Start time and length of the step [time], shape (2,)."""
    number: np.ndarray
    """Number of the step, shape (1,)."""


class Stepping(ABC):
    """Steps of a run with an integrator that derivatives are known for.

    Changes of a state and its weights are rows of numbers (weights,); each subclass defines what they contain.
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
    """Whether derivatives of a step are found by iterations, which leave NaN where they do not converge."""

    @property
    def failure(self) -> str | None:
        """Return why the latest step has failed, where the integrator knows."""
        return None

    @abstractmethod
    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """Return the stepper that takes steps, and the programs, which the caller must keep alive."""

    @abstractmethod
    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """Return the stepper that also reverses steps, and its programs. Derivatives with respect to the numbers of the
        model's tables are added to ``gradients``; those of its links only if ``bodies`` are parameters."""

    @abstractmethod
    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """Return the stepper that takes steps together with ``changes`` (parameters, weights), in place, and its
        programs. ``columns`` (parameters, numbers) are the changes of the ``numbers`` of the tables; ``tables`` are
        views of these."""

    @abstractmethod
    def changes(self, starts: np.ndarray) -> np.ndarray:
        """Return changes of the initial state, shape (rows, weights), from those of its coordinates, in their tangent
        space, and of its speeds (rows, 2 nu)."""

    @abstractmethod
    def weights(self, end: np.ndarray, by_q: np.ndarray, by_u: np.ndarray) -> np.ndarray:
        """Return weights of a state (ny,) from derivatives with respect to its coordinates, (nq,) or in their tangent
        space (nu,), and to its speeds (nu,)."""

    @abstractmethod
    def of_start(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives with respect to the initial coordinates, in their tangent space, and speeds, (nu,) each,
        from the weights of the initial state."""

    def of_closed_start(self, by_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives with respect to the given initial coordinates and to the numbers of the tables, from
        derivatives with respect to the coordinates at the start of the run, in their tangent space (nu,). The two
        differ because loops are closed first."""
        return by_q, np.zeros(0)

    def split(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return copies of the coordinates (nq,) and speeds (nu,) of a state."""
        nq, nu = self.model.nq, self.model.nu
        return y[:nq].copy(), y[nq : nq + nu].copy()


def stepper(y: np.ndarray, weights: int) -> Stepper:
    """Allocate arrays for a state and a number of weights, without programs."""
    nothing = np.zeros((0, 2), dtype=np.int64)
    number = np.zeros(1, dtype=np.int64)
    return Stepper(nothing, nothing, nothing, nothing, y, np.zeros(weights), np.zeros(2), number)


@jit
def set_clock(stepper, times, lengths, n):
    """Select the next step."""
    stepper.clock[0], stepper.clock[1], stepper.number[0] = times[n], lengths[n], n


@jit
def take(stepper, times, lengths, first, last):
    """Take the steps from number ``first`` up to ``last``."""
    set_clock(stepper, times, lengths, first)
    run(stepper.begin)
    for n in range(first, last):
        set_clock(stepper, times, lengths, n)
        run(stepper.take)


@kernel
def take_steps(stepper, times, lengths, first, last):
    """Take the steps from number ``first`` up to ``last``; callable from Python."""
    take(stepper, times, lengths, first, last)


@kernel
def take_until(stepper, look, stop, ws, times, lengths, first, last, before):
    """Take steps until the condition ``stop`` is fulfilled at the end of one. Return the number of this step, or
    ``last``; ``before`` (ny,) receives its initial state. The program ``look`` places the links of ``ws`` at the
    state."""
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
    """Complete the weights after the last reversed step, so that they are those of its initial state."""
    run(stepper.finish)


@kernel
def follow_schedule(stepper, times, lengths, actions, states):
    """Carry out ``actions`` (n, 5) in order. Each row holds the kind, the row of ``states`` (states, ny) where it
    starts, the step number there, and for steps taken also the last step and the row where its state is kept.

    ``stepper.weight`` holds the weights of the state at the end of the step reversed first. It becomes those of the
    initial state of the step reversed last, except for what :func:`finish_weights` adds.
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
    """Return the stepper with programs made of these passes, by their names, and the programs."""
    made = {name: Program(passes) for name, passes in programs.items()}
    return stepper._replace(**{name: program.code for name, program in made.items()}), list(made.values())
