"""Driver of friction-implicit steps with impacts as events.

A step in which bodies meet is repeated from its start with shorter lengths until it ends where the gap is zero to
rounding. Impulses change the speeds there, and the rest of the step follows, so that the steps of a run still end at
their regular times. Contacts without restitution, or slower than the resting speed, rest: they are constraints within
the parts of a step (``held_contacts.py``), until a step in which a contact would have to pull. A step in which the
distance of hard cores changes by more than a fifth is halved, and so are the next steps for as long as needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from articulon.dynamics.motion_passes import move_links, place_links
from articulon.errors import CaseError
from articulon.forces.impacts.impact_engine import ImpactEngine, Spheres
from articulon.forces.impacts.impact_memory import MEMORY, Rests, memory_size, resting
from articulon.forces.impacts.impulse_response import response
from articulon.forces.impacts.pressing import SLIDES
from articulon.forces.impacts.resting_contacts import keep_closed
from articulon.forces.joint_friction import resistance_of
from articulon.integrate import friction_implicit_impacts as steps_between
from articulon.integrate.fixed_steps import FixedStepDriver
from articulon.integrate.friction_implicit_impacts import CLEAR, ENDED, MEETS, PULL, PULLS
from articulon.integrate.friction_implicit_passes import Passes, parts
from articulon.integrate.friction_implicit_scratch import scratch
from articulon.integrate.held_contacts import CLOSED, drift_held, find_held_rows, hold
from articulon.integrate.impact_settling import STILL, book_impacts, endless_impacts, set_rests
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, REACHED, STOPPED
from articulon.kernels import one_blas_thread, prepare_for
from articulon.model import State
from articulon.model.state import REJECTED, STEPS, WINDOW
from articulon.passes import Program, compile_passes

MOST_TRIES = 100
"""Most repeated steps to locate the time of an impact."""
DEEPEST = 40
"""Most times that a step may be halved."""
MOST_EVENTS = 2000
"""Most impacts and changes of resting contacts in one step; more are treated as endless impacts."""
MOST_DOUBTS = 8
"""Most times that a step is halved to tell whether a contact presses."""
IN_A_ROW = 8
"""Successful halved steps before longer ones are tried."""


class FrictionImplicitImpactDriver(FixedStepDriver):
    """Driver of fixed steps with implicit friction, between impacts."""

    books_unscaled_work = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        e = problem.evaluator
        self.impacts: ImpactEngine = e.impacts
        engine, model = self.impacts, e.model
        self.history = memory_size(engine.table)
        check_impacts(problem, engine)
        self.scratch = scratch(e)
        self.passes, self.kept = self._passes()
        forest = engine.response.forest
        self.ends = steps_between.ends_of(engine.table.link.size, model.nq, model.nu, e.ws.twist, forest)
        self.between = engine.response, engine.table, engine.pressed
        self.advance_kernel = prepare_for(steps_between.advance, self._arguments(state, 0.0, 1.0, 0, True))
        self.try_kernel = prepare_for(steps_between.try_step, self._trial(state, 0.0, 1.0))
        self.events = 0

    def _passes(self) -> tuple[Passes, Any]:
        """The programs of a step, each with the passes that hold resting contacts."""
        e, arrays, engine = self.evaluator, self.scratch, self.impacts
        found = parts(e, arrays, False)
        kept: list[Any] = []
        if engine.may_rest:
            forest, q, u, ws = e.system.forest, arrays.q, arrays.u, e.ws
            rubs = resistance_of(e.system.forces.terms) is not None
            inertias = arrays.mass, arrays.moment, arrays.inertia
            augmented_workspace, programs = response(e.model, inertias, arrays.diagonal if rubs else None)
            own, table, p = engine.response, engine.table, engine.pressed
            start, uncounted = np.zeros((2, q.size + u.size)), np.zeros(1)
            placing = Program([place_links.bind(forest, q, ws)])
            moving = Program([move_links.bind(forest, u, ws)])
            kept = [augmented_workspace, programs, placing, moving]

            def held(travelling: list[Any]) -> list[Any]:
                on = start, arrays.span, arrays.work, arrays.status, placing, moving, Program(travelling)
                return [drift_held.bind(own, table, p, q, u, *on)]

            by_friction = [
                find_held_rows.bind(augmented_workspace, table, p, q),
                hold.bind(p, arrays.udot, arrays.clock[1:]),
            ]
            found = found._replace(
                locate=[*found.locate, find_held_rows.bind(own, table, p, q)],
                predict=[*found.predict, hold.bind(p, arrays.acceleration, uncounted)],
                solve=[*found.solve, hold.bind(p, arrays.acceleration, arrays.span)],
                drift=held(found.drift),
                arrive=held(found.arrive),
                friction=[*found.friction, *by_friction] if found.friction else [],
            )
        made = [Program(one) for one in found]
        compile_passes(one for program in made for one in program.passes)
        return Passes(*(program.code for program in made)), [made, kept]

    def _arguments(self, state: State, begin: float, h: float, steps: int, whole: bool) -> tuple[Any, ...]:
        return self.passes, begin, h, steps, whole, self.between, self.ends, self.stop, state, self.scratch

    def _trial(self, state: State, begin: float, h: float) -> tuple[Any, ...]:
        return self.passes, begin, h, self.between, self.ends, state, self.scratch

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        memory = state.rule.history
        self.impacts.press(resting(memory))
        if memory[MEMORY.settled] == 0.0:  # at the start of a run
            memory[MEMORY.settled] = 1.0
            with one_blas_thread():
                settled = self._settle(state, float(state.time[0]), self.step, None)
            if not settled:
                return DIVERGED
        while steps > 0:
            # If steps are halved, this call takes none and only checks the condition that ends the run.
            some = steps if memory[MEMORY.level] == 0.0 else 0
            done = int(self.advance_kernel(*self._arguments(state, 0.0, self.step, some, True)))
            self._count(state, done)
            steps -= done
            if self.ends.outcome[0] == ENDED:
                return STOPPED
            if some and self.ends.outcome[0] == CLEAR:
                return REACHED
            if not self._whole(state):
                return DIVERGED
            self._count(state, 1)
            steps -= 1
        self.advance_kernel(*self._arguments(state, 0.0, self.step, 0, True))
        return STOPPED if self.ends.outcome[0] == ENDED else REACHED

    def latest_step(self, state: State) -> float:
        """See :class:`Driver`."""
        return self.step * 0.5 ** int(state.rule.history[MEMORY.level])

    def _count(self, state: State, done: int) -> None:
        state.counters[STEPS] += done
        state.counters[WINDOW] += done
        state.time[0] = self.step * int(state.counters[STEPS])

    def _whole(self, state: State) -> bool:
        """Take one step of the integrator in parts; False if it fails."""
        memory, begin = state.rule.history, float(state.time[0])
        level, at, total, well = int(memory[MEMORY.level]), 0, 1 << DEEPEST, 0
        self.events = 0
        while at < total:
            size = total >> level
            until = min(total, at + IN_A_ROW * size)
            h = self.step * (size / total)
            count = (until - at) // size
            time = begin + self.step * (at / total)
            done = int(self.advance_kernel(*self._arguments(state, time, h, count, False)))
            at, well = at + done * size, well + done
            if done < count:
                state.counters[REJECTED] += 1
                deeper = self._cover(state, begin + self.step * (at / total), h, 0)
                self.ends.pull[0] = PULL
                if deeper is None:
                    return False
                at, level, well = at + size, min(level + deeper, DEEPEST), 0
            while level > 0 and well >= IN_A_ROW and at % (total >> (level - 1)) == 0:
                level, well = level - 1, 0
        # A step may have fewer than IN_A_ROW parts; then longer parts are tried if all of them were successful.
        memory[MEMORY.level] = level - 1 if level > 0 and well == 1 << level else level
        return True

    def _cover(self, state: State, time: float, h: float, depth: int, doubts: int = 0) -> int | None:
        """Take a part of a step, in shorter parts if needed; return how often its length was halved, or None if it
        fails.

        A contact that pulls over a step may still press in a part of the step if its gap would close without it;
        shorter steps tell whether it does. ``doubts`` counts these halvings; after the last one the contact is held.
        """
        if depth > DEEPEST or not time + h > time:
            self.failure = (
                "steps have been halved too often: forces between hard cores, or their impacts, vary too fast; the "
                "acceleration is largest"
            )
            return None
        memory, released = state.rule.history, set[tuple[int, int]]()
        self.ends.pull[0] = PULL if doubts < MOST_DOUBTS else np.inf
        while h > 0.0 and time + h > time:
            rests = without(resting(memory), released)
            self.impacts.press(rests)
            self.advance_kernel(*self._arguments(state, time, h, 1, False))
            why = int(self.ends.outcome[0])
            if why == CLEAR:
                set_rests(self.impacts, memory, resting(memory), rests)
                return 0
            state.counters[REJECTED] += 1
            self.events += why in (MEETS, PULLS)
            if self.events > MOST_EVENTS:
                self.failure = endless_impacts(self.impacts.name(self.ends.found))
                return None
            if why == PULLS:
                with one_blas_thread():
                    released.update(self._pulling())
                continue
            length = None
            doubtful = why == MEETS and tuple(self.ends.found.tolist()) in released
            if why == MEETS and not doubtful:
                set_rests(self.impacts, memory, resting(memory), rests)
                with one_blas_thread():
                    length = self._meeting(state, time, h)
                if self.failure is not None:
                    return None
            if length is None:
                return self._halves(state, time, h, depth, doubts + doubtful)
            time, h = time + length, h - length
            released.clear()
        return 0

    def _halves(self, state: State, time: float, h: float, depth: int, doubts: int) -> int | None:
        """Take the two halves of a part of a step."""
        deepest = 0
        for half in range(2):
            found = self._cover(state, time + 0.5 * h * half, 0.5 * h, depth + 1, doubts)
            if found is None:
                return None
            deepest = max(deepest, 1 + found)
        return deepest

    def _pulling(self) -> list[tuple[int, int]]:
        """Contacts whose removal lets the others press. If more contacts rest than needed, the impulses are not unique.
        Then the contacts that pull, and have no part in the best set of pushing impulses, are removed."""
        from scipy.optimize import nnls

        p = self.impacts.pressed
        n = int(p.total[0])
        force, rows = p.force[:n, 0].copy(), 3 * np.arange(n)
        A = p.row[rows] @ p.jump[rows].T
        pushes = nnls(A, A @ force)[0]
        found = np.flatnonzero((pushes <= 0.0) & (force < 0.0))
        if not found.size:
            found = np.array([int(np.argmin(force))])
        return [(int(a), int(b)) for a, b in p.contact[found]]

    def _gap(self, state: State, contact: np.ndarray) -> tuple[float, float]:
        """A gap, and the size of the numbers whose difference it is."""
        gap, size = self.impacts.gaps(self.impacts.at(state.q, state.u), contact)[0]
        return float(gap), float(size)

    def _meeting(self, state: State, time: float, h: float) -> float | None:
        """Take a step to the point where the pair that was found meets, and resolve the impact. Returns its length, or
        None if the pair does not overlap at the step's end, or another pair meets earlier."""
        contact, kept = self.ends.found.reshape(1, 2).copy(), state.copy()
        low, high, left = 0.0, h, None
        tried, below = h, None
        for _ in range(MOST_TRIES):
            self._retake(state, kept)
            if not self.try_kernel(*self._trial(state, time, tried)):
                break
            gap, size = self._gap(state, contact)
            if abs(gap) <= CLOSED * size:
                return self._resolved(state, kept, time, tried, contact)
            if gap > 0.0:
                low, left = tried, gap
            else:
                high, below = tried, gap
            if below is None:
                break
            middle = 0.5 * (low + high)
            if left is not None:
                secant = low + (high - low) * left / (left - below)
                # A target beyond the secant's keeps the iteration from approaching from one side only.
                middle = min(max(secant, low + 1e-3 * (high - low)), high - 1e-3 * (high - low))
                if _ % 3 == 2:
                    middle = 0.5 * (low + high)
            if not low < middle < high or high - low <= 2e-16 * h:
                self._retake(state, kept)
                if self.try_kernel(*self._trial(state, time, high)):
                    return self._resolved(state, kept, time, high, contact)
                break
            tried = middle
        self._retake(state, kept)
        return None

    def _retake(self, state: State, kept: State) -> None:
        """Reset to an earlier state; counters keep their values."""
        counters = state.counters.copy()
        state.take(kept)
        state.counters[:] = counters

    def _resolved(self, state: State, kept: State, time: float, length: float, contact: np.ndarray) -> float | None:
        """Resolve the impact at the end of a part of a step that begins at ``time``; return the part's length, or None
        if another pair overlaps there or has met before."""
        at = self.impacts.at(state.q, state.u)
        before = self.impacts.at(kept.q, kept.u)
        skipped = np.concatenate([resting(state.rule.history).contact, contact])
        while (found := self.impacts.deepest(before, skipped)) is not None:
            skipped = np.concatenate([skipped, found])
        at = self.impacts.at(state.q, state.u)
        if self.impacts.deepest(at, skipped) is not None or self._meets_another(before, at, length, skipped):
            self._retake(state, kept)
            return None
        return length if self._settle(state, time + length, length, contact) else None

    def _meets_another(self, before: Spheres, after: Spheres, length: float, skipped: np.ndarray) -> bool:
        """Whether a contact, except the ``skipped`` ones, closes on the way between two points; it may have opened
        again."""
        v, rate, table = (after.x - before.x) / length, np.zeros_like(after.u), self.impacts.table
        rate[table.stop_speed] = (after.q - before.q)[table.stop_coordinate] / length
        start, end = before._replace(v=v, u=rate), after._replace(v=v, u=rate)
        event = self.impacts.first_event(start, end, length, skipped)
        return event is not None and event.part < 1.0

    def _settle(self, state: State, time: float, length: float, met: np.ndarray | None) -> bool:
        """Resolve the impacts of touching pairs at a time and find resting contacts; False if impacts do not end."""
        engine, memory = self.impacts, state.rule.history
        at = engine.at(state.q, state.u)
        touching, rested = engine.touching(at), resting(memory)
        if met is not None and not (touching == met).all(axis=1).any():
            touching = np.concatenate([touching, met])
        if not len(touching):
            set_rests(engine, memory, rested, Rests(touching, np.zeros(0, dtype=np.int64), np.zeros((0, 3))))
            return True
        moved = np.abs(state.u)
        found = engine.collide(at, touching, moved, length)
        if found is not None:
            self.failure = book_impacts(engine, state, time, touching, *found)
            if self.failure is not None:
                return False
            at = engine.at(state.q, state.u)
        if not engine.may_rest:
            return True
        rests = self._resting(at, touching, rested, met, moved)
        if len(rests.contact) > len(engine.pressed.contact):
            self.failure = f"{len(rests.contact)} contacts rest, but the capacity is {len(engine.pressed.contact)}"
            return False
        set_rests(engine, memory, rested, rests)
        if len(rests.contact):
            keep_closed(engine, state, rests)
        return True

    def _resting(
        self, at: Spheres, touching: np.ndarray, rested: Rests, met: np.ndarray | None, moved: np.ndarray
    ) -> Rests:
        """Contacts that rest: earlier ones that still touch, and those that may rest and do not open."""
        engine = self.impacts
        rows = engine.rows(at, touching)
        speed, size = rows.row @ at.u, np.abs(rows.row) @ moved
        e, _, slow = engine.constants(touching)
        before = {tuple(c) for c in rested.contact.tolist()}
        stays = np.array([tuple(c) in before for c in touching.tolist()], dtype=bool)
        here = np.zeros(len(touching), dtype=bool) if met is None else (touching == met).all(axis=1)
        # Whether a contact that has just closed rests depends on the length of the step, not on its speed.
        still = (e == 0.0) & (here | (speed <= STILL * size)) | (slow >= 0.0) & (np.abs(speed) <= STILL * size)
        held = touching[stays | still]
        n = len(held)
        return Rests(held, np.full(n, SLIDES, dtype=np.int64), np.zeros((n, 3)))


def check_impacts(problem: Problem, engine: ImpactEngine) -> None:
    """Raise CaseError for anything that impacts exclude in friction-implicit steps."""
    e = problem.evaluator
    instead = "or choose an explicit rule"
    if e.model.loops.kind.size or e.model.drives:
        raise CaseError(
            "integrator.rule: 'friction-implicit' holds loops and driven joints within the same parts of a step as "
            f"contacts, and does not support both; leave out the impacts, {instead}"
        )
    if int(problem.integrator.long_range_every) != 1:
        raise CaseError(
            "integrator.long_range_every: slow forces act as impulses at steps of one length, and impacts end steps "
            "early; leave it out"
        )
    if not engine.may_rest:
        return
    if engine.rubs:
        raise CaseError(
            "integrator.rule: resting contacts slide without friction under 'friction-implicit', and these have "
            f"friction; set friction to 0, {instead}"
        )
    others = (kind for kind, t in e.system.forces.terms if kind.resists(t) and kind.resistance != "joints")
    resisting = sorted(str(kind.model_fields["kind"].default) for kind in others)
    if resisting:
        raise CaseError(
            "integrator.rule: resting contacts under 'friction-implicit' support only the drag of bodies and the "
            f"damping and friction of joints, and '{resisting[0]}' resists speeds too; leave it out, {instead}"
        )


def without(rests: Rests, released: set[tuple[int, int]]) -> Rests:
    """Resting contacts without some of them."""
    kept = np.array([tuple(c) not in released for c in rests.contact.tolist()], dtype=bool)
    return Rests(*(one[kept] for one in rests)) if released else rests
