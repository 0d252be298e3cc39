"""The driver of bodies on joints whose spheres touch."""

import numba
import numpy as np
from numba import types

from articulon.forces.capacity import with_capacity
from articulon.forces.contact.carried_spheres import Carried
from articulon.forces.contact.contact_tables import PASS
from articulon.forces.contact.wall_faults import wall_fault
from articulon.forces.sites.site_positions import site_places
from articulon.integrate import touching_verlet
from articulon.integrate.base import LINE, open_loop
from articulon.integrate.fixed_steps import ArrayDriver
from articulon.integrate.problem import Problem
from articulon.integrate.status import CAPACITY_EXCEEDED, NOT_CLOSED, REACHED
from articulon.kernels import prepare
from articulon.model import State
from articulon.model.state import STEPS


class TouchingDriver(ArrayDriver):
    """Velocity Verlet around any right-hand side."""

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
        self.pairs = self.contacts.pair_pass()
        contacts, lists, refresh, system = self.contacts.types
        self.passes, self.kept = touching_verlet.passes(evaluator, self.scratch)
        taken = (
            numba.typeof(evaluator.rhs),
            numba.typeof(evaluator.closing),
            numba.typeof(self.passes),
            types.FunctionType(PASS),
            contacts,
            lists,
            refresh,
            system,
            numba.typeof(self.carried),
            types.float64,
            numba.typeof(state),
            numba.typeof(state.counters),
            LINE,
            LINE,
            numba.typeof(evaluator.ws),
            numba.typeof(self.scratch),
            types.int64,
        )
        prepare(touching_verlet.advance_touching, taken)

    def explain(self, status: int) -> None:
        """See :class:`ArrayDriver`."""
        contacts = self.contacts
        fault = wall_fault(self.evaluator.model, contacts.sites, contacts.walls, contacts.system)
        self.failure, self.culprit = (None, None) if fault is None else fault
        if status == NOT_CLOSED:
            self.failure = open_loop(self.evaluator)

    def chunk(self, state: State, steps: int) -> int:
        """See :class:`ArrayDriver`."""
        e, contacts, kept = self.evaluator, self.contacts, state.copy()
        counters, clock, times = state.counters.copy(), state.time.copy(), state.contacts.times.copy()

        def attempt() -> int | None:
            state.take(kept)
            contacts.restore(state)
            counters[:], clock[:], times[:] = kept.counters, kept.time, kept.contacts.times
            status = touching_verlet.advance_touching(
                e.rhs,
                e.closing,
                self.passes,
                self.pairs,
                contacts.passes,
                contacts.lists,
                contacts.refresh,
                contacts.system,
                self.carried,
                self.step,
                state,
                counters,
                clock,
                times,
                e.ws,
                self.scratch,
                steps,
            )
            return None if status == CAPACITY_EXCEEDED else int(status)

        status = with_capacity(attempt, contacts.grow)
        self.last = int(counters[STEPS])
        if status == REACHED:
            state.counters[:], state.time[:], state.contacts.times[:] = counters, clock, times
            contacts.save(state)
        return status
