"""Driver of bodies on joints with spheres in contact."""

import numpy as np

from articulon.forces.capacity import with_capacity
from articulon.forces.contact.carried_spheres import Carried
from articulon.forces.contact.contact_tables import PASS
from articulon.forces.contact.wall_faults import wall_fault
from articulon.forces.sites.site_positions import site_places
from articulon.integrate import touching_verlet
from articulon.integrate.base import open_loop
from articulon.integrate.fixed_steps import ArrayDriver
from articulon.integrate.problem import Problem
from articulon.integrate.status import CAPACITY_EXCEEDED, NOT_CLOSED, REACHED
from articulon.integrate.touching_contacts import (
    book_contacts,
    follow_carried,
    give_contacts,
    list_carried,
    look,
    motion_of,
    place_carried,
    take_places,
)
from articulon.model import State
from articulon.model.state import STEPS
from articulon.passes import Function, Program


class TouchingDriver(ArrayDriver):
    """Driver of velocity Verlet around any right-hand side."""

    history = touching_verlet.HISTORY.width

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator, model = problem.evaluator, problem.evaluator.model
        assert evaluator.contacts is not None
        self.contacts = evaluator.contacts
        link, local = site_places(model)
        sites = self.contacts.sites
        self.carried = Carried(
            link[sites].astype(np.int64), np.ascontiguousarray(local[sites]), evaluator.system.forces.contact
        )
        self.scratch = touching_verlet.scratch(model)
        self.pairs = Function(self.contacts.pair_pass(), PASS)
        self.passes, self.kept = touching_verlet.passes(evaluator, self.scratch)
        self.taken = np.zeros(2, dtype=np.int64)
        """Number of steps of the chunk, and its status."""
        held = state.counters.copy(), state.time.copy()
        _ = self._steps(state, held, state.contacts.times.copy()).code  # compiled together with the other kernels

    def _steps(self, state: State, held: tuple[np.ndarray, np.ndarray], times: np.ndarray) -> Program:
        """The steps, bound to the arrays that a chunk changes and to the present lists."""
        e, contacts = self.evaluator, self.contacts
        functions, lists, refresh = contacts.functions
        carried, touching, arrays, links = self.carried, contacts.system, self.scratch, motion_of(e.ws)
        listed = touching, lists, refresh, arrays.found
        looked = self.pairs, functions, lists, carried, links, touching, arrays.now, times, arrays.found
        booked = carried, links, touching, arrays.span, arrays.works
        of_contacts = (
            take_places.bind(touching, state.contacts.rebuild),
            place_carried.bind(carried, links, touching),
            list_carried.bind(*listed),
            follow_carried.bind(*listed),
            look.bind(*looked),
            book_contacts.bind(*booked, touching_verlet.HISTORY.lines_done),
            book_contacts.bind(*booked, touching_verlet.HISTORY.lines_due),
            give_contacts.bind(touching, lists, state.contacts.rebuild, arrays.found),
        )
        stepped = self.step, state, *held, touching.candidates.block, arrays, self.taken
        programs = (Program([one]) for one in of_contacts)
        return Program([touching_verlet.advance_touching.bind(e.rhs, e.closing, self.passes, *stepped, *programs)])

    def explain(self, status: int) -> None:
        """See :class:`ArrayDriver`."""
        contacts = self.contacts
        fault = wall_fault(self.evaluator.model, contacts.sites, contacts.walls, contacts.system)
        self.failure, self.culprit = (None, None) if fault is None else fault
        if status == NOT_CLOSED:
            self.failure = open_loop(self.evaluator)

    def chunk(self, state: State, steps: int) -> int:
        """See :class:`ArrayDriver`."""
        contacts, kept = self.contacts, state.copy()
        counters, clock, times = state.counters.copy(), state.time.copy(), state.contacts.times.copy()

        def attempt() -> int | None:
            state.take(kept)
            contacts.restore(state)
            counters[:], clock[:], times[:] = kept.counters, kept.time, kept.contacts.times
            self.taken[:] = steps, 0
            self._steps(state, (counters, clock), times)()
            return None if self.taken[1] == CAPACITY_EXCEEDED else int(self.taken[1])

        status = with_capacity(attempt, contacts.grow)
        self.last = int(counters[STEPS])
        if status == REACHED:
            state.counters[:], state.time[:], state.contacts.times[:] = counters, clock, times
            contacts.save(state)
        return status
