"""Explicit Runge–Kutta schemes with impacts as events: a step in which bodies would meet ends at the impact.

After every step the paths of spheres and stops are searched for the first gap that closes. If one does, the step is
repeated from its start with shorter lengths, until it ends where the gap is zero to rounding: this is a step of the
scheme itself and has its order of accuracy. A step in which bodies turn too far for the search to tell whether they
meet is halved (``path_departures.py``). Impulses then change the speeds, and the next step begins. Resting contacts are
constraints within the steps; a step also ends where a contact would pull, begin to slip or reverse its slip.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from articulon.forces.impacts.impact_engine import Event, ImpactEngine, Spheres
from articulon.forces.impacts.impact_memory import memory_size, resting
from articulon.forces.impacts.resting_contacts import keep_closed, margin
from articulon.integrate.explicit_driver import ExplicitDriver
from articulon.integrate.impact_settling import jammed, settle, steps_without_end
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, PAUSED, REACHED
from articulon.kernels import one_blas_thread
from articulon.model import State
from articulon.model.state import EVALUATIONS, REJECTED, STEPS, WINDOW

CLOSED = 4.0 * float(np.finfo(np.float64).eps)
"""Gap, relative to the size of the numbers whose difference it is, at which two bodies meet."""
MOST_TRIES = 60
"""Most repeated steps to locate the time of an impact."""


class ImpactDriver(ExplicitDriver):
    """Driver of an explicit Runge–Kutta scheme between impacts."""

    latest: str = "what rests"
    """Name of the pair whose impact has cut the latest step."""

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        self.impacts: ImpactEngine = problem.evaluator.impacts
        self.history = memory_size(self.impacts.table)

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        self.failure = self.culprit = None
        with one_blas_thread():
            return self._go(state, until, steps)

    def _go(self, state: State, until: float, steps: int) -> int:
        while True:
            self.failure = settle(self.impacts, self.evaluator, state)
            if self.failure is not None:
                return DIVERGED
            if state.time[0] >= until:
                return REACHED
            if steps <= 0:
                return PAUSED
            before, begin = int(state.counters[STEPS]), float(state.time[0])
            status = self._step(state, until)
            if status not in (REACHED, PAUSED) or state.counters[STEPS] == before:
                return status
            self.failure = steps_without_end(state.rule.history, float(state.time[0]) - begin, self.latest)
            if self.failure is not None:
                return DIVERGED
            if state.time[0] >= self.control.step[4]:
                return PAUSED
            steps -= 1

    def _take(self, state: State, until: float) -> int:
        """Take one step, up to a time at most, and project resting contacts onto closed gaps."""
        status = self._closed(self._advance(state, until, 1))
        if status not in (REACHED, PAUSED):
            return status
        found = jammed(self.impacts)
        if found is not None:
            self.failure = found
            return DIVERGED
        rests = resting(state.rule.history)
        if len(rests.contact):
            keep_closed(self.impacts, state, rests)
        return status

    def _step(self, state: State, until: float) -> int:
        """Take one step, or a part of it that ends where a pair meets, where a resting contact gives way, or at a time
        until which certainly no pair meets."""
        kept, begin = state.copy(), float(state.time[0])
        start = self.impacts.at(state.q, state.u)
        status, short = self._take(state, until), False
        while status in (REACHED, PAUSED):
            rests = resting(state.rule.history)
            # A contact that gives way comes first: beyond that point the step does not follow the motion.
            if len(rests.contact) and self._least(state) < 0.0:
                status = self._give_way(state, kept)
                if status != PAUSED:
                    return status
            length = float(state.time[0]) - begin
            event = self.impacts.first_event(start, self.impacts.at(state.q, state.u), length, rests.contact)
            found: int | None = status
            if event is not None:
                found = self._locate(state, kept, start, event, length) if event.part >= 0.0 else None
            if found is not None:
                self._suggest(state, length, short)
                return found
            assert event is not None
            if not begin < begin + 0.5 * length < begin + length:
                self.failure = (
                    f"{self.impacts.name(event.contact[0])} turn so fast that no step is short enough to tell whether "
                    "they meet; the acceleration is largest"
                )
                return DIVERGED
            state.counters[REJECTED] += 1
            status, short = PAUSED if self._retake(state, kept, 0.5 * length) else DIVERGED, True
        return status

    def _suggest(self, state: State, length: float, short: bool) -> None:
        """Set the length of the next step: twice a step that was ``short``, or the length that the scheme chooses after
        some clear steps. The length is part of the state, so that a resumed run takes the same steps."""
        fixed = float(self.control.step[0])
        if short:
            state.step[0] = min(float(state.step[0]), 2.0 * length)
        elif fixed > 0.0:
            state.step[0] = min(fixed, 2.0 * float(state.step[0]))

    def _retake(self, state: State, kept: State, length: float) -> bool:
        """Repeat a step from its start with another length; recorded works are kept. Returns False if it fails."""
        spent, rejected = int(state.counters[EVALUATIONS]), int(state.counters[REJECTED])
        state.take(kept)
        status = self._take(state, float(kept.time[0]) + length)
        state.counters[EVALUATIONS] += spent - kept.counters[EVALUATIONS]
        state.counters[REJECTED] += rejected - kept.counters[REJECTED]
        return status in (REACHED, PAUSED)

    def _locate(self, state: State, kept: State, start: Spheres, event: Event, length: float) -> int | None:
        """Repeat a step so that it ends where a gap is zero, or where another gap has closed earlier. Returns None if
        only a shorter step can tell whether another gap has closed."""
        contact, tried = event.contact, event.part * length
        rested = resting(state.rule.history).contact
        skipped, known = self._overlapping(kept, rested), rested
        while True:
            at = self._close(state, kept, contact, tried, length, self._leaves(kept, contact))
            if at is None:
                return DIVERGED
            deepest = self.impacts.deepest(at, skipped)
            length = float(state.time[0]) - float(kept.time[0])
            if deepest is not None and not np.array_equal(deepest, contact):
                contact, tried = deepest, 0.5 * length
                continue
            # The gap closes a little later than on the path that was searched, or not at all: another gap that closes
            # before that point comes first.
            known = np.concatenate([known, contact])
            other = self.impacts.first_event(start, at, length, known)
            if other is not None and other.part < 0.0:
                return None
            if other is None or other.part == 1.0:
                self.latest = self.impacts.name(contact[0])
                return PAUSED
            contact, tried = other.contact, other.part * length

    def _overlapping(self, kept: State, skipped: np.ndarray) -> np.ndarray:
        """Resting contacts, and contacts that already overlap at the start of a step, which no shorter step could
        separate: forces that jump within a step leave such overlaps, of the size of its error."""
        at = self.impacts.at(kept.q, kept.u)
        while (found := self.impacts.deepest(at, skipped)) is not None:
            skipped = np.concatenate([skipped, found])
        return skipped

    def _leaves(self, kept: State, contact: np.ndarray) -> bool:
        """Whether a gap opens at the start of a step, so that it closes after a hop."""
        at = self.impacts.at(kept.q, kept.u)
        return float(self.impacts.rows(at, contact).row[0] @ at.u) > 0.0

    def _close(
        self, state: State, kept: State, contact: np.ndarray, tried: float, length: float, hops: bool
    ) -> Spheres | None:
        """Repeat a step, at most ``length`` long, so that it ends where the gap of a contact closes: by a safeguarded
        Newton method, to the resolution of the time. Returns None if a step fails."""
        low, high, begin = 0.0, length, float(kept.time[0])
        for _ in range(MOST_TRIES):
            if not self._retake(state, kept, tried):
                return None
            at, taken = self.impacts.at(state.q, state.u), float(state.time[0]) - begin
            gap, size = self.impacts.gaps(at, contact)[0]
            speed = float(self.impacts.rows(at, contact).row[0] @ at.u)
            if abs(gap) <= CLOSED * size and (speed < 0.0 or not hops):
                return at
            if gap < 0.0 or (speed >= 0.0 and not hops):
                high = min(high, taken)
            else:
                low = max(low, taken)
            following = taken - gap / speed if speed < 0.0 else 0.0
            if not low < following < high:
                following = 0.5 * (low + high)
            if begin + following == begin + low:
                # The gap may open again before ``high``: go on to the next floating-point time, where it has closed.
                following = float(np.nextafter(begin + low, np.inf)) - begin
            if begin + following >= begin + high:
                break  # no floating-point time lies between
            tried = following
        return self.impacts.at(state.q, state.u) if self._retake(state, kept, high) else None

    def _least(self, state: State) -> float:
        """Smallest margin of the resting contacts before one gives way; negative if one does."""
        e = self.evaluator
        y = e.variables(state)
        e.rates(state.factor, float(state.time[0]), int(state.counters[WINDOW]), y, np.empty_like(y))
        return margin(self.impacts, state.u)

    def _give_way(self, state: State, kept: State) -> int:
        """Repeat a step so that it ends just where a resting contact gives way."""

        def left(length: float) -> float | None:
            return self._least(state) if self._retake(state, kept, length) else None

        return DIVERGED if _first_negative(left, 0.0, float(state.time[0]) - float(kept.time[0])) is None else PAUSED


def _first_negative(left: Callable[[float], float | None], low: float, high: float) -> float | None:
    """The point between two times at which a function turns negative, by bisection, and by secants if they converge
    faster. The function is evaluated there last."""
    below, above = None, None
    last = high
    for _ in range(MOST_TRIES):
        middle = 0.5 * (low + high)
        if above is not None and below is not None and above > 0.0 > below:
            secant = low + (high - low) * above / (above - below)
            if low + 0.01 * (high - low) < secant < high - 0.01 * (high - low):
                middle = secant + 0.01 * (high - low)
        if high - low <= 1e-14 * last or middle in (low, high):
            break
        found = left(middle)
        if found is None:
            return None
        if found < 0.0:
            high, below = middle, found
        else:
            low, above = middle, found
    return high if left(high) is not None else None
