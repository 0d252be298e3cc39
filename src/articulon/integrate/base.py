"""Base class of all drivers."""

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
from articulon.integrate.glances import Glances
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
    """Advances a state in place, in chunks, up to a given time.

    Parameters
    ----------
    problem
        The problem to advance; no part of it may change afterwards.
    state
        A state of the problem, which gives the types of the arrays.
    """

    problem: Problem
    """The problem that is advanced."""
    evaluator: Evaluator
    """The model and its forces."""
    policy: ScalingPolicy
    """The scaling policy of the forces."""
    parameters: np.ndarray
    """Parameters of the policy's scaling law."""
    law: Any
    """The policy's scaling law, compiled."""
    followed: Followed | None = None
    """Data by which the policy tracks the lag of the motions, or None."""
    stop: Stop
    """Condition that ends the run early; may be replaced at any moment."""
    history: int = 0
    """Size of ``State.rule.history`` that the driver needs."""
    memory: int = 0
    """Size of ``State.memory`` that the policy needs."""
    books_unscaled_work: ClassVar[bool] = False
    """Whether the driver records ``State.unscaled_work``."""
    sees_leaps: ClassVar[bool] = False
    """Whether the steps themselves stop if one would lead through half of a periodic box."""
    at_once: ClassVar[bool] = False
    """Whether the driver takes a whole frame in one call in Python and can be interrupted within it."""
    asked_to_stop: Callable[[], bool]
    """Returns whether the process has been asked to stop; set by the caller of a driver that takes whole frames at
    once."""
    step: float = 0.0
    """Length of the steps, if all are equal [time]."""
    overhead: float = 0.0
    """Time that the latest chunk spent outside its steps, to load the state and to store it [s]."""
    can_glance: ClassVar[bool] = False
    """Whether ``glances`` are shown."""
    glances: Glances | None = None
    """Shows the bodies between steps of a chunk; None if nobody looks. May be replaced between chunks."""
    kernel: Any = None
    """The compiled kernel of the steps, for arguments of the types that it was compiled for."""
    barostat: ActingBarostat | None = None
    """The barostat that changes the box between steps, or None."""
    failure: str | None = None
    """Reason of the latest status DIVERGED; None if a number is not finite."""
    culprit: int | None = None
    """The link that caused the latest failure, where the driver knows it."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem, self.evaluator, self.policy = problem, problem.evaluator, problem.policy
        self.parameters, self.stop = problem.parameters, no_stop()
        self.law = addressed(problem.policy.law, LAW)
        self.step = float(getattr(problem.integrator, "step", None) or 0.0)
        if problem.barostat is not None:
            self.barostat = problem.barostat.acting(problem.evaluator, self.step)

    def bind_law(self) -> None:
        """Determine what the policy tracks, and bind what its law reads."""
        e, policy = self.evaluator, self.policy
        if policy.follows:
            check_followed(e, str(getattr(policy, "policy", "")))
            self.followed = followed_groups(e, self.problem.integrator, policy.aim())
            self.memory = memory_size(e.model.nu, self.followed.relaxation.size)
        self.inputs, self.programs = law_inputs(e, policy, self.followed, self.memory)

    def on_coarse(self, evaluator: Evaluator, state: State) -> "Driver":
        """A driver that takes the same steps of a coarse model, compiled for the fine one."""
        return type(self)(replace(self.problem, evaluator=evaluator), state)

    def steps_until(self, state: State, time: float) -> int:
        """Number of steps up to a time, if all steps are equal."""
        return round(time / self.step) - int(state.counters[STEPS]) if time < float("inf") else sys.maxsize

    def advance(self, state: State, until: float, steps: int) -> int:
        """Advance to the time ``until`` or by ``steps`` steps; return REACHED, PAUSED, STOPPED or DIVERGED.

        The result is also DIVERGED, although the state is finite, if steps of equal length have moved the state past
        the condition that ends the run, or if the next step would lead through half of a periodic box.
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
        """Length of the latest step; it is shorter than ``step`` if only a part of a step was taken [time]."""
        return self.step

    def _on_lists(self, state: State, until: float, steps: int) -> int:
        """Call ``go``, and repeat it with longer neighbour lists if they overflow."""
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
        """A copy of the data that steps change in a state, for ``restore`` if the steps fail."""
        return state.copy()

    def restore(self, state: State, kept: Any) -> None:
        """Reset a state, and the lists that it starts from, to the copy from ``keep``."""
        state.take(kept)
        self.evaluator.sites.restore(state)

    def pause_at(self, time: float) -> None:
        """Pause at the end of the first step that ends at ``time`` or later, with the status PAUSED; step lengths do
        not change. For rules whose steps are not all equal."""

    def go(self, state: State, until: float, steps: int) -> int:
        """Advance as ``advance`` does, without a repetition if neighbour lists overflow."""
        raise NotImplementedError


def open_loop(evaluator: Evaluator) -> str:
    """Reason why a step has not ended on the loop constraints, for ``Driver.failure``."""
    arrays, model = evaluator.solver.loops, evaluator.model
    return (
        f"{model.loop_name(int(arrays.rank[1]))} cannot be closed after the next step (the smallest error is "
        f"{arrays.left[0]:.2g} of the model's size): the mechanism is driven beyond its range, or given "
        "motions contradict each other; the acceleration is largest"
    )


@lru_cache(maxsize=64)
def addressed(function: Any, signature: Any) -> Function:
    """Compile a function that is passed to kernels by its address.

    A kernel that is passed a jitted function asks the compiler at each call which of its specialisations is needed,
    which takes as long as many steps of a small model.
    """
    return Function(ready(function, signature), signature)
