"""Explicit Runge–Kutta rules with impacts as events: a step in which something would meet ends where it does.

After every step the paths of spheres and stops are searched for the first that closes. Where one does, the step is
taken again from its start, shorter, until it ends where the gap is zero to rounding: that is a step of the rule itself
and has its order. Impulses then change the speeds, and the next step begins.
"""

from __future__ import annotations

import numpy as np

from articulon.forces.impacts.impact_engine import Event, ImpactEngine, Spheres
from articulon.forces.impacts.impact_memory import MEMORY, memory_size, resting
from articulon.forces.impacts.impact_tables import TOUCH
from articulon.integrate.explicit_driver import ExplicitDriver
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, PAUSED, REACHED
from articulon.model import State
from articulon.model.state import CONTACT, EVALUATIONS, REJECTED, STEPS

MOST_TRIES = 60
"""Shorter steps that are tried, at most, to find when two meet."""
HASTE = 1e-6
"""An impact that comes within this part of a step after the one before is hasty."""
MOST_HASTY = 400
"""Hasty impacts in a row that are impacts without end."""


class ImpactDriver(ExplicitDriver):
    """An explicit Runge–Kutta rule between impacts."""

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        self.impacts: ImpactEngine = problem.evaluator.impacts
        self.history = memory_size(self.impacts.table)

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        self.failure = self.culprit = None
        while True:
            at = self._settled(state)
            if at is None:
                return DIVERGED
            if state.time[0] >= until:
                return REACHED
            if steps <= 0:
                return PAUSED
            before = int(state.counters[STEPS])
            status = self._step(state, at, until)
            if status not in (REACHED, PAUSED) or state.counters[STEPS] == before:
                return status
            if state.time[0] >= self.control.step[4]:
                return PAUSED
            steps -= 1

    def _step(self, state: State, at: Spheres, until: float) -> int:
        """Takes one step, or a part of it that ends where two meet."""
        kept, memory = state.copy(), state.rule.history
        status = self._closed(self._advance(state, until, 1))
        if status not in (REACHED, PAUSED):
            return status
        begin, end = float(kept.time[0]), float(state.time[0])
        skipped = resting(memory)
        event = self.impacts.first_event(at, self.impacts.at(state.q, state.u), end - begin, skipped)
        if event is None:
            return status
        return self._locate(state, kept, event, end - begin)

    def _retake(self, state: State, kept: State, length: float) -> Spheres | None:
        """Takes a step from its start, of another length; what has been counted of work stays. None where it fails."""
        spent, rejected = int(state.counters[EVALUATIONS]), int(state.counters[REJECTED])
        state.take(kept)
        status = self._closed(self._advance(state, float(kept.time[0]) + length, 1))
        state.counters[EVALUATIONS] += spent - kept.counters[EVALUATIONS]
        state.counters[REJECTED] += rejected - kept.counters[REJECTED]
        return self.impacts.at(state.q, state.u) if status in (REACHED, PAUSED) else None

    def _locate(self, state: State, kept: State, event: Event, length: float) -> int:
        """Takes a step again so that it ends where a gap is zero, or, where another has closed before, at that one."""
        contact, tried = event.contact, event.part * length
        while True:
            at = self._close(state, kept, contact, tried, length)
            if at is None:
                return DIVERGED
            deepest = self.impacts.deepest(at, resting(state.rule.history))
            if deepest is None or np.array_equal(deepest, contact):
                return PAUSED
            length = float(state.time[0]) - float(kept.time[0])
            contact, tried = deepest, 0.5 * length

    def _close(self, state: State, kept: State, contact: np.ndarray, tried: float, length: float) -> Spheres | None:
        """Takes a step again, at most ``length`` long, so that it ends where the gap of a contact closes: by Newton's
        method between bounds, to the last number that time has. None where a step fails."""
        low, high = 0.0, length
        for _ in range(MOST_TRIES):
            at = self._retake(state, kept, tried)
            if at is None:
                return None
            taken = float(state.time[0]) - float(kept.time[0])
            gap, size = self.impacts.gaps(at, contact)[0]
            if abs(gap) <= 0.25 * TOUCH * size:
                return at
            speed = float(self.impacts.rows(at, contact).row[0] @ at.u)
            if gap < 0.0 or speed >= 0.0:
                high = min(high, taken)
            else:
                low = max(low, taken)
            following = taken - gap / speed if speed < 0.0 else low
            if not low < following < high:
                following = 0.5 * (low + high)
            begin = float(kept.time[0])
            if begin + following in (begin + low, begin + high):
                break  # time has no number between
            tried = following
        return self._retake(state, kept, high)

    def _settled(self, state: State) -> Spheres | None:
        """Resolves the impacts of what touches and approaches; None where they do not end."""
        memory = state.rule.history
        memory[MEMORY.begun] = 1.0
        at = self.impacts.at(state.q, state.u)
        touching = self.impacts.touching(at)
        if not len(touching):
            return at
        found = self.impacts.collide(at, touching, 0)
        if found is None:
            return at
        speeds, outcome = found
        time, step = float(state.time[0]), float(state.step[0])
        memory[MEMORY.impacts] += outcome.impacts
        memory[MEMORY.energy] += outcome.energy
        hasty = memory[MEMORY.impacts] > outcome.impacts and time - memory[MEMORY.latest] <= HASTE * step
        memory[MEMORY.hasty] = memory[MEMORY.hasty] + 1 if hasty else 0
        memory[MEMORY.latest] = time
        if outcome.largest > memory[MEMORY.largest]:
            memory[MEMORY.largest], memory[MEMORY.largest_at] = outcome.largest, time
        state.u[:] = speeds
        state.work[CONTACT] += outcome.energy
        state.unscaled_work[CONTACT] += outcome.energy
        if not outcome.ended or memory[MEMORY.hasty] > MOST_HASTY:
            self.failure = self._endless(touching)
            return None
        return self.impacts.at(state.q, state.u)

    def _endless(self, contacts: np.ndarray) -> str:
        """Why a run does not go on."""
        return (
            f"impacts without end, each sooner than the one before, between {self.impacts.name(contacts[0])}: give "
            "resting_speed, below which they rest; the acceleration is largest"
        )
