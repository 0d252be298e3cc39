"""What every driver is."""

from typing import Any, ClassVar

from numba import types

from articulon.forces.capacity import with_capacity
from articulon.forces.evaluation import Evaluator
from articulon.integrate.status import DIVERGED, STOPPED, Stop, leap, thrown
from articulon.model import State

LINE = types.float64[::1]
"""Numba type of a flat array."""


class Driver:
    """Advances a state in place, in chunks, to a given time."""

    evaluator: Evaluator
    """The model and its forces."""
    stop: Stop
    """The condition that ends the run before its time; may be replaced at any moment."""
    history: int = 0
    """Size of ``State.history`` that it needs."""
    memory: int = 0
    """Size of ``State.memory`` that its policy needs."""
    books_unscaled_work: ClassVar[bool] = False
    """Whether it books ``State.unscaled_work``."""
    step: float = 0.0
    """The step, where all are equal [time]."""
    overhead: float = 0.0
    """Time that the latest chunk took beside its steps, to take over a state and to give it back [s]."""
    kernel: Any = None
    """The compiled steps, for arguments of the types that it was made for."""
    failure: str | None = None
    """What the latest DIVERGED was about, where it is not for a number that is not finite."""
    culprit: int | None = None
    """The link that it was about, where the driver knows."""

    def advance(self, state: State, until: float, steps: int) -> int:
        """Advance to the time ``until`` or by ``steps`` steps: REACHED, PAUSED, STOPPED or DIVERGED.

        A state that equal steps have thrown beyond the condition that ends the run has diverged, though it is finite,
        and so has one in which the next step would lead through half of a periodic box.
        """
        status = self._on_lists(state, until, steps)
        if self.step <= 0.0 or status == DIVERGED:
            return status
        found = leap(self.evaluator.model, state.u, self.step)
        if found is not None:
            self.failure, self.culprit = found
            return DIVERGED
        if status != STOPPED:
            return status
        reason = thrown(self.evaluator.model, self.stop, state.u, self.step)
        if reason is None:
            return status
        self.failure = f"{reason}, so shorten integrator.step; the acceleration is largest"
        return DIVERGED

    def _on_lists(self, state: State, until: float, steps: int) -> int:
        """The same, with lists of neighbours that are long enough."""
        sites = self.evaluator.sites
        if not sites.listed:
            return self.go(state, until, steps)
        before = state.copy()

        def attempt() -> int | None:
            state.take(before)
            sites.restore(state)
            status = self.go(state, until, steps)
            return None if sites.overflowed else status

        status = with_capacity(attempt, self.evaluator.grow)
        sites.save(state)
        return status

    def pause_at(self, time: float) -> None:
        """Has the steps pause, PAUSED, at the end of the first that ends at a time or later, whose length that does not
        change. For rules whose steps are not all equal."""

    def go(self, state: State, until: float, steps: int) -> int:
        """The same, but for the lists of neighbours."""
        raise NotImplementedError


def open_loop(evaluator: Evaluator) -> str:
    """Why a step has not ended on the loops, for ``Driver.failure``."""
    arrays, model = evaluator.solver.loops, evaluator.model
    return (
        f"{model.loop_name(int(arrays.rank[1]))} cannot be closed after the next step, its best error being "
        f"{arrays.left[0]:.2g} of the model's size: what drives the mechanism takes it beyond its reach, or given "
        "motions contradict each other; the acceleration is largest"
    )
