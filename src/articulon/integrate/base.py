"""What every driver is."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numba import types

from articulon.barostats.base import ActingBarostat
from articulon.forces.capacity import with_capacity
from articulon.forces.evaluation import Evaluator
from articulon.integrate.lag_groups import check_followed, followed_groups
from articulon.integrate.lag_tracking import Followed, memory_size
from articulon.integrate.law_inputs import law_inputs
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, STOPPED, Stop, leap, no_stop, thrown
from articulon.kernels import ready
from articulon.model import State
from articulon.model.state import STEPS
from articulon.passes import Function
from articulon.scaling.base import LAW, ScalingPolicy

LINE = types.float64[::1]
"""Numba type of a flat array."""


class Driver:
    """Advances a state in place, in chunks, to a given time.

    Parameters
    ----------
    problem
        What is advanced, of which no part may change.
    state
        A state of the problem, for the types of its arrays.
    """

    problem: Problem
    """What is advanced."""
    evaluator: Evaluator
    """The model and its forces."""
    policy: ScalingPolicy
    """What scales them."""
    parameters: np.ndarray
    """Of the policy's law."""
    law: Any
    """That law, compiled."""
    followed: Followed | None = None
    """What the policy follows of the lag of the motions."""
    stop: Stop
    """The condition that ends the run before its time; may be replaced at any moment."""
    history: int = 0
    """Size of ``State.rule.history`` that it needs."""
    memory: int = 0
    """Size of ``State.memory`` that its policy needs."""
    books_unscaled_work: ClassVar[bool] = False
    """Whether it books ``State.unscaled_work``."""
    sees_leaps: ClassVar[bool] = False
    """Whether its steps end by themselves where one leads through half of a periodic box."""
    at_once: ClassVar[bool] = False
    """Whether it takes a whole frame in Python, and may be broken off there."""
    asked_to_stop: Callable[[], bool]
    """Of one that goes on at once: whether the process has been asked to stop meanwhile. Who advances it says."""
    step: float = 0.0
    """The step, where all are equal [time]."""
    overhead: float = 0.0
    """Time that the latest chunk took beside its steps, to take over a state and to give it back [s]."""
    kernel: Any = None
    """The compiled steps, for arguments of the types that it was made for."""
    barostat: ActingBarostat | None = None
    """What changes the box between steps, if anything does."""
    failure: str | None = None
    """What the latest DIVERGED was about, where it is not for a number that is not finite."""
    culprit: int | None = None
    """The link that it was about, where the driver knows."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem, self.evaluator, self.policy = problem, problem.evaluator, problem.policy
        self.parameters, self.stop = problem.parameters, no_stop()
        self.law = addressed(problem.policy.law, LAW)
        self.step = float(getattr(problem.integrator, "step", None) or 0.0)
        if problem.barostat is not None:
            self.barostat = problem.barostat.acting(problem.evaluator, self.step)

    def bind_law(self) -> None:
        """Finds what the policy follows, and binds what its law reads."""
        e, policy = self.evaluator, self.policy
        if policy.follows:
            check_followed(e, str(getattr(policy, "policy", "")))
            self.followed = followed_groups(e, self.problem.integrator, policy.aim())
            self.memory = memory_size(e.model.nu, self.followed.relaxation.size)
        self.inputs, self.programs = law_inputs(e, policy, self.followed, self.memory)

    def on_coarse(self, evaluator: Evaluator, state: State) -> "Driver":
        """One that takes the same steps of a coarse model, compiled for the fine one."""
        return type(self)(replace(self.problem, evaluator=evaluator), state)

    def steps_until(self, state: State, time: float) -> int:
        """How many steps, where all are equal, lead to a time."""
        return round(time / self.step) - int(state.counters[STEPS]) if time < float("inf") else sys.maxsize

    def advance(self, state: State, until: float, steps: int) -> int:
        """Advance to the time ``until`` or by ``steps`` steps: REACHED, PAUSED, STOPPED or DIVERGED.

        A state that equal steps have thrown beyond the condition that ends the run has diverged, though it is finite,
        and so has one in which the next step would lead through half of a periodic box.
        """
        status = self._on_lists(state, until, steps)
        if self.sees_leaps or self.step <= 0.0 or status == DIVERGED:
            return status
        found = leap(self.evaluator.model, state.u, self.step)
        if found is not None:
            self.failure, self.culprit = found
            return DIVERGED
        if status != STOPPED:
            return status
        reason = thrown(self.evaluator.model, self.stop, state.u, self.latest_step(state))
        if reason is None:
            return status
        self.failure = f"{reason}, so shorten integrator.step; the acceleration is largest"
        return DIVERGED

    def latest_step(self, state: State) -> float:
        """The length of the latest step, where all are equal but for parts of one [time]."""
        return self.step

    def _on_lists(self, state: State, until: float, steps: int) -> int:
        """The same, with lists of neighbours that are long enough."""
        sites = self.evaluator.sites
        if not sites.listed:
            return self.go(state, until, steps)
        before = self.keep(state)

        def attempt() -> int | None:
            self.restore(state, before)
            status = self.go(state, until, steps)
            return None if sites.overflowed else status

        status = with_capacity(attempt, self.evaluator.grow)
        sites.save(state)
        return status

    def keep(self, state: State) -> Any:
        """What steps change of a state before they are known to have gone well."""
        return state.copy()

    def restore(self, state: State, kept: Any) -> None:
        """Makes a state, and the lists that it sets out from, what they were."""
        state.take(kept)
        self.evaluator.sites.restore(state)

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


@lru_cache(maxsize=64)
def addressed(function: Any, signature: Any) -> Function:
    """A function that is handed to kernels, compiled, by its address. A kernel that is handed a jitted one asks the
    compiler each time which of its compilations is meant, which takes as long as many steps of a small model."""
    return Function(ready(function, signature), signature)
