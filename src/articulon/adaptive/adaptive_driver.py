"""The driver of adaptive runs. It locks and releases joints and modes at decisions, and takes coarse steps between the
decisions. The lockable joints and modes are called *parts* (``lockable.py``)."""

import math

import numpy as np

from articulon.adaptive import criteria_memory
from articulon.adaptive.coarse_model import Coarse
from articulon.adaptive.coarsening import check_coarsening
from articulon.adaptive.conditions import TriedCondition
from articulon.adaptive.conditions.decision_state import DecisionState
from articulon.adaptive.current_resolution import Resolution
from articulon.adaptive.lockable import joints_of
from articulon.adaptive.members import Members, members_of
from articulon.adaptive.momentum_exchange import Space
from articulon.adaptive.settings import Adaptive
from articulon.errors import CaseError, ModelError
from articulon.integrate.base import Driver
from articulon.integrate.choice import driver
from articulon.integrate.combination import combination_of
from articulon.integrate.compatibility import check
from articulon.integrate.integrators import Explicit
from articulon.integrate.problem import Problem
from articulon.integrate.status import PAUSED, Stop
from articulon.model import State
from articulon.model.state import STEPS, resolution_memory

CHATTERS = 8
"""Minimum number of successive changes of a joint or mode that count as chatter. Each of these changes happens as early
as the conditions allow."""


class AdaptiveDriver(Driver):
    """Locks and releases joints and modes at decisions at fixed intervals; another driver takes the steps.

    Decision k is due at the time k ``every``. It is made before the step that begins at this time or, if no step begins
    there, before the next step. A decision that changes nothing leaves the steps bitwise unchanged. While joints are
    locked,
    steps are taken by the coarse model with its own tables. All data on which decisions depend are part of the state.

    Parameters
    ----------
    problem, state
        Problem and state as for :func:`articulon.integrate.choice.driver`.
    adaptive
        The declaration, with quantities in the units of the model.
    seed
        Seed of the run.
    """

    def __init__(
        self,
        problem: Problem,
        state: State,
        adaptive: Adaptive,
        seed: int,
    ) -> None:
        _refuse(problem)
        self.problem, self.seed, self.adaptive = problem, seed, adaptive
        evaluator, integrator = problem.evaluator, problem.integrator
        self.evaluator, self.policy, self.parameters = evaluator, problem.policy, problem.parameters
        self.joints = joints_of(evaluator.model)
        self.members = members_of(evaluator.model, self.joints, adaptive.groups)
        self.managed = sum(members.parts.size for members in self.members)
        self.fine = driver(problem, _sized(state, evaluator.model.nu, self.managed))
        self.history, self.memory = self.fine.history, self.fine.memory
        self.step = float(getattr(integrator, "step", None) or 0.0)
        self.every, self.counted = float(adaptive.every), 0
        if self.step and not isinstance(integrator, Explicit):
            self.counted = max(1, round(self.every / self.step))
            self.every = self.counted * self.step
        self.coarse: Coarse | None = None
        self.resolution = Resolution(evaluator, self.joints, seed)
        if evaluator.model.loops.kind.size and any(isinstance(m.lock, TriedCondition) for m in self.members):
            raise CaseError(
                "adaptive: the condition 'energy' tries joints one by one, but loops couple the motions of the joints; "
                "choose another condition, such as speed or torque"
            )

    # The interface of a driver is forwarded to the inner driver, which takes the steps.

    @property
    def stop(self) -> Stop:
        """See :class:`Driver`."""
        return self.fine.stop

    @stop.setter
    def stop(self, stop: Stop) -> None:
        self.fine.stop, self.coarse = stop, None

    @property
    def books_unscaled_work(self) -> bool:  # type: ignore[override]
        """See :class:`Driver`."""
        return self.fine.books_unscaled_work

    @property
    def failure(self) -> str | None:  # type: ignore[override]
        """See :class:`Driver`."""
        return self.fine.failure if self.coarse is None else self.coarse.driver.failure

    def sized(self, state: State) -> State:
        """Return a state with space for the memory of the criteria, and with nothing locked.

        Parameters
        ----------
        state
            A state of the model.
        """
        return _sized(state, self.evaluator.model.nu, self.managed)

    def advance(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`.

        Parameters
        ----------
        state
            The state, which is advanced in place.
        until
            Time at which to stop at the latest [time].
        steps
            Maximum number of steps.
        """
        while True:
            while self._due(state):
                self._decide(state)
            before = int(state.counters[STEPS])
            status = self._advance(state, until, steps)
            taken = int(state.counters[STEPS]) - before
            if self.managed:
                state.resolution.criteria[criteria_memory.SAVED] += taken * int(state.resolution.locked.sum())
            steps -= taken
            if status != PAUSED or steps <= 0:
                return status

    def _advance(self, state: State, until: float, steps: int) -> int:
        """Take steps up to the next decision, or up to ``until``. A decision that changes nothing does not change the
        steps."""
        number = float(state.resolution.criteria[criteria_memory.DECISIONS]) if self.managed else math.inf
        if self.managed and self.counted:
            steps = min(steps, round(number * self.counted) - int(state.counters[STEPS]))
        locked = self.resolution.locked_parts(state)
        if not locked.any():
            self.coarse = None
            self.fine.pause_at(self._time(number))
            return self.fine.advance(state, until, steps)
        coarse = self._ready(state, locked)
        coarse.take(state)
        coarse.driver.pause_at(self._time(number))
        status = coarse.driver.advance(coarse.state, until, steps)
        coarse.give(state)
        return status

    def _time(self, number: float) -> float:
        """Return the time of a decision, minus a margin for rounding errors."""
        return (number - 1e-9) * self.every

    def _ready(self, state: State, locked: np.ndarray) -> Coarse:
        """Return the coarse model that advances a state with the given parts locked."""
        made = self.resolution.made(state.q, locked)
        if self.coarse is None or self.coarse.merging is not made[1]:
            self.coarse = Coarse(self.evaluator, self.fine, state, locked, made)
        return self.coarse

    def forget(self) -> None:
        """Drop the cached coarse models; they are recreated when needed, bitwise the same."""
        self.resolution.forget()
        self.coarse = None

    def lock_now(self, state: State, parts: np.ndarray) -> None:
        """Lock the chosen joints and modes, regardless of the conditions.

        Parameters
        ----------
        state
            The state, which is changed in place.
        parts
            Mask of the lockable joints and modes, shape (parts,).
        """
        self.resolution.lock(state, parts & ~self.resolution.locked_parts(state))
        self._ready(state, self.resolution.locked_parts(state))

    def release_now(self, state: State, parts: np.ndarray) -> None:
        """Release the chosen joints and modes, regardless of the conditions.

        Parameters
        ----------
        state
            The state, which is changed in place.
        parts
            Mask of the lockable joints and modes, shape (parts,).
        """
        locked = self.resolution.locked_parts(state)
        for members in self.members:
            mine = members.parts[(parts & locked)[members.parts]]
            if mine.size:
                self.resolution.release(state, members, mine)
        if self.resolution.locked_parts(state).any():
            self._ready(state, self.resolution.locked_parts(state))

    def potential_shift(self, state: State) -> float:
        """Return Fixman's potential of the moving joints minus that of all joints [energy]; 0 for a run without this
        potential.

        Parameters
        ----------
        state
            The state of the run.
        """
        return self.resolution.potential_shift(state)

    def degrees_of_freedom(self, state: State) -> int:
        """Return the current number of degrees of freedom that share the kinetic energy.

        Parameters
        ----------
        state
            The state of the run.
        """
        return self.evaluator.degrees_of_freedom - int(state.resolution.locked.sum())

    def changes(self, state: State) -> tuple[int, int]:
        """Return how many joints and modes have been locked, and how many released, since the start.

        Parameters
        ----------
        state
            The state of the run.
        """
        criteria = state.resolution.criteria
        return int(criteria[criteria_memory.LOCKS]), int(criteria[criteria_memory.RELEASES])

    def decisions(self, state: State) -> int:
        """Return the number of decisions made so far.

        Parameters
        ----------
        state
            The state of the run.
        """
        return int(state.resolution.criteria[criteria_memory.DECISIONS])

    def active_part(self, state: State) -> float:
        """Return the fraction of the speeds that are not locked, averaged over the steps.

        Parameters
        ----------
        state
            The state of the run.
        """
        steps, kept = int(state.counters[STEPS]), state.resolution
        return 1.0 - float(kept.criteria[criteria_memory.SAVED]) / (steps * kept.locked.size) if steps else 1.0

    def chattering(self, state: State) -> list[str]:
        """Return the names of joints and modes that lock and release as fast as their conditions allow. A joint has the
        name of its body, and a mode a name like "rod.mode2".

        Parameters
        ----------
        state
            The state of the run.
        """
        rows, found = criteria_memory.rows(state.resolution.criteria), []
        for members in self.members:
            for i, row in zip(members.parts.tolist(), members.rows.tolist(), strict=True):
                if rows[row, criteria_memory.SHORT] >= CHATTERS:
                    name = self.evaluator.model.names[self.joints.body(self.evaluator.model, i)]
                    found.append(name if i < self.joints.links else f"{name}.mode{self.joints.number(i)}")
        return found

    def _due(self, state: State) -> bool:
        if not self.managed:
            return False
        number = int(state.resolution.criteria[criteria_memory.DECISIONS])
        if self.counted:
            return int(state.counters[STEPS]) >= number * self.counted
        return float(state.time[0]) >= self._time(number)

    def decision_state(self, state: State, number: int) -> DecisionState:
        """Return the quantities on which the conditions of a decision depend.

        Parameters
        ----------
        state
            The state of the run.
        number
            Number of the decision.
        """
        resolution = self.resolution

        def space(present: bool) -> Space:
            return resolution.space(state, resolution.locked_parts(state) if present else resolution.nothing)

        def changed() -> np.ndarray:
            rows, found = criteria_memory.rows(state.resolution.criteria), np.zeros(resolution.nothing.size)
            for members in self.members:
                found[members.parts] = rows[members.rows, criteria_memory.SINCE]
            return found

        return DecisionState(self.evaluator, self.joints, state, number, self.every, self.seed, space, changed)

    def _decide(self, state: State) -> None:
        number = int(state.resolution.criteria[criteria_memory.DECISIONS])
        decision = self.decision_state(state, number)
        rows = criteria_memory.rows(state.resolution.criteria)
        wanted: list[tuple[Members, np.ndarray, np.ndarray]] = []
        locked = self.resolution.locked_parts(state)
        for members in self.members:
            if isinstance(members.lock, TriedCondition):
                continue
            now, release = locked[members.parts], np.zeros(members.parts.size, dtype=bool)
            to_lock = release.copy()
            for condition, column, able, out in (
                (members.lock, criteria_memory.HELD_LOCK, ~now, to_lock),
                (members.release, criteria_memory.HELD_RELEASE, now, release),
            ):
                if condition is None or not able.any():
                    continue
                truth = condition.truth(decision, members.parts) & able
                held = np.where(truth, rows[members.rows, column] + 1, 0)
                rows[members.rows, column] = held
                out[:] = held >= condition.window
            wanted.append((members, to_lock, release))
        changed = False
        for members, _, release in wanted:
            if release.any():
                self.resolution.release(state, members, members.parts[release])
                changed = True
        chosen = np.zeros(locked.size, dtype=bool)
        for members, to_lock, _ in wanted:
            chosen[members.parts[to_lock]] = True
        after = self.resolution.locked_parts(state) | chosen
        if after[self.joints.degrees_of_freedom > 0].all() and any(m.lock and m.lock.chances for m in self.members):
            chosen[:] = False  # a random condition can lock them at a later decision
        if chosen.any():
            self.resolution.lock(state, chosen)
            changed = True
        for members, to_lock, release in wanted:
            self._record_changes(members, to_lock | release, rows, number)
        for members in self.members:
            if isinstance(members.lock, TriedCondition):
                tried = self.resolution.try_members(state, members, decision)
                if tried.any():
                    self._record_changes(members, tried, rows, number)
                    changed = True
        if changed:
            state.resolution.criteria[criteria_memory.CHANGES] += 1
            state.rule.history[:] = 0.0
        state.resolution.criteria[criteria_memory.DECISIONS] = number + 1

    def _record_changes(self, members: Members, changed: np.ndarray, rows: np.ndarray, number: int) -> None:
        """Record the time of changes, and the number of successive changes that happened as early as possible."""
        conditions = [c for c in (members.lock, members.release) if c is not None]
        at, windows = members.rows[changed], [c.window for c in conditions]
        short = max(windows) * self.every * 1.5
        time = number * self.every
        fast = (time - rows[at, criteria_memory.SINCE] < short) & (number > 0)
        by_chance = any(c.chances for c in conditions)
        rows[at, criteria_memory.SHORT] = np.where(fast & (not by_chance), rows[at, criteria_memory.SHORT] + 1, 0)
        rows[at, criteria_memory.SINCE] = time
        rows[at, criteria_memory.HELD_LOCK] = rows[at, criteria_memory.HELD_RELEASE] = 0.0


def _sized(state: State, nu: int, managed: int) -> State:
    return state._replace(resolution=resolution_memory(nu, criteria_memory.size(managed)))


def _refuse(problem: Problem) -> None:
    """Raise CaseError for problems that do not support changes of resolution."""
    evaluator = problem.evaluator
    check(combination_of(problem, adaptive=True))
    try:
        check_coarsening(evaluator.model)
    except ModelError as error:
        raise CaseError(f"adaptive: {error}") from None
