"""What the steps of a rule are to its derivatives: how they are taken, with changes of all that they begin with, and
reversed, weights of what a step ends with becoming those of what it begins with.

A rule gives these as programs of passes that are called through a few arrays, so that a run, its checkpoints and where
it stops are the same for every rule.
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
"""What is done next: steps are taken from a kept state to another, or the step that begins with one is reversed."""


class Stepper(NamedTuple):
    """Programs of a rule, and the arrays through which they are called."""

    begin: np.ndarray
    """Of the program that makes ready for steps from ``y``, shape (passes, 2)."""
    take: np.ndarray
    """Of the one that takes a step, ``y`` in place, shape (passes, 2)."""
    reverse: np.ndarray
    """Of the one that makes the weights of the end of the step from ``y`` those of its beginning, in place, shape
    (passes, 2); (0, 2) where steps are not reversed."""
    finish: np.ndarray
    """Of the one that adds to the weights what the last step that is reversed has left to the one before it, shape
    (passes, 2); (0, 2) where steps leave nothing."""
    y: np.ndarray
    """The state, coordinates and speeds first, shape (ny,)."""
    weight: np.ndarray
    """Weights of a state."""
    clock: np.ndarray
    """When the step begins, and its length [time], shape (2,)."""
    number: np.ndarray
    """Number of the step, shape (1,)."""


class Stepping(ABC):
    """The steps of a run by a rule whose derivatives are known.

    Changes of a state and its weights are rows of numbers (weights,), of which every rule says what they are.
    """

    model: Model
    """What is run, from its initial state."""
    evaluator: Evaluator
    """The model made ready for evaluation."""
    start: np.ndarray
    """The state that the run begins with, coordinates and speeds first, shape (ny,)."""
    times: tuple[np.ndarray, np.ndarray]
    """When the steps of the whole run begin, and their lengths, (steps,) each [time]."""

    @abstractmethod
    def taking(self) -> tuple[Stepper, Sequence[Program]]:
        """How steps are taken, and the programs, which are to be kept."""

    @abstractmethod
    def reversing(self, gradients: Tables, bodies: bool) -> tuple[Stepper, Sequence[Program]]:
        """How they are reversed too; derivatives by the numbers of the model's tables are added to ``gradients``, by
        those of its links only where ``bodies`` are parameters."""

    @abstractmethod
    def changing(
        self, tables: Tables, numbers: np.ndarray, columns: np.ndarray, changes: np.ndarray
    ) -> tuple[Stepper, Sequence[Program]]:
        """How they are taken together with ``changes`` (parameters, weights), in place; ``columns`` (parameters,
        numbers) are the changes of the ``numbers`` of the tables, ``tables`` being views of these."""

    @abstractmethod
    def changes(self, starts: np.ndarray) -> np.ndarray:
        """Changes of the initial state, shape (rows, weights), by those of its coordinates, in their tangent space, and
        of its speeds (rows, 2 nu)."""

    @abstractmethod
    def weights(self, end: np.ndarray, by_q: np.ndarray, by_u: np.ndarray) -> np.ndarray:
        """Weights of a state (ny,) by derivatives by its coordinates, (nq,) or in their tangent space (nu,), and by its
        speeds (nu,)."""

    @abstractmethod
    def of_start(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives by the initial coordinates, in their tangent space, and speeds, (nu,) each, by the weights of the
        initial state."""

    def of_closed_start(self, by_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives by the initial coordinates and by the numbers of the tables of what has derivatives by the
        coordinates that the run begins with, in their tangent space (nu,): loops are closed first."""
        return by_q, np.zeros(0)

    def split(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Copies of the coordinates (nq,) and speeds (nu,) of a state."""
        nq, nu = self.model.nq, self.model.nu
        return y[:nq].copy(), y[nq : nq + nu].copy()


def stepper(y: np.ndarray, weights: int) -> Stepper:
    """Arrays for a state and so many weights, without programs."""
    nothing = np.zeros((0, 2), dtype=np.int64)
    number = np.zeros(1, dtype=np.int64)
    return Stepper(nothing, nothing, nothing, nothing, y, np.zeros(weights), np.zeros(2), number)


@jit
def set_clock(stepper, times, lengths, n):
    """Makes a step the next one."""
    stepper.clock[0], stepper.clock[1], stepper.number[0] = times[n], lengths[n], n


@jit
def take(stepper, times, lengths, first, last):
    """Takes steps from the number ``first`` to ``last``."""
    set_clock(stepper, times, lengths, first)
    run(stepper.begin)
    for n in range(first, last):
        set_clock(stepper, times, lengths, n)
        run(stepper.take)


@kernel
def take_steps(stepper, times, lengths, first, last):
    """The same from Python."""
    take(stepper, times, lengths, first, last)


@kernel
def take_until(stepper, look, stop, ws, times, lengths, first, last, before):
    """Takes steps until one ends where the condition ``stop`` is fulfilled: the number of that one, or ``last``, with
    the state that it began with in ``before`` (ny,). The program ``look`` places the links of ``ws`` at the state."""
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
    """Makes the weights after the last step that is reversed those of the state that it begins with."""
    run(stepper.finish)


@kernel
def follow_schedule(stepper, times, lengths, actions, states):
    """Does what ``actions`` (n, 5) say, in their order: what, the row of ``states`` (states, ny) where it begins, its
    step, and of steps taken the last one and the row where that state is kept.

    ``stepper.weight`` are the weights of the state at the end of the step that is reversed first, and become those of
    the state at the beginning of the last one, but for what :func:`finish_weights` adds.
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
    """The arrays with programs of these passes, by their names."""
    made = {name: Program(passes) for name, passes in programs.items()}
    return stepper._replace(**{name: program.code for name, program in made.items()}), list(made.values())
