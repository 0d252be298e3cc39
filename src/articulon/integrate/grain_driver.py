"""Driver of grains: free spheres in contact."""

from time import perf_counter
from weakref import WeakKeyDictionary

import numba
import numpy as np

from articulon.forces.capacity import with_capacity
from articulon.forces.contact.contact_columns import COUNTS
from articulon.forces.contact.contact_engine import Contacts
from articulon.forces.contact.materials import Contact
from articulon.forces.contact.wall_faults import wall_fault
from articulon.forces.gravity import Gravity
from articulon.forces.linear_flow import flows_unevenly
from articulon.forces.sites.cells import OVERFLOW
from articulon.forces.stokes_drag import StokesDrag, drag_table
from articulon.integrate import grain_passes, grain_verlet
from articulon.integrate.fixed_steps import ArrayDriver
from articulon.integrate.grain_columns import GRAIN_DRAG, GRAIN_REQUEST
from articulon.integrate.grain_passes import PASS
from articulon.integrate.grain_poses import write_poses
from articulon.integrate.grain_states import history_size, state_passes
from articulon.integrate.grain_sweep import sweep_kernel
from articulon.integrate.problem import Problem
from articulon.integrate.status import CAPACITY_EXCEEDED, REACHED
from articulon.kernels import preparing_together
from articulon.model import Model, State
from articulon.model.joints import FREE
from articulon.model.state import STEPS
from articulon.passes import Program, functions

_GRAINS: WeakKeyDictionary[Model, bool] = WeakKeyDictionary()


def only_grains(model: Model) -> bool:
    """Whether a model has only grains in contact, with at most gravity and drag in a uniform flow, so that no tree is
    needed."""
    if model not in _GRAINS:
        forest, sites, n = model.forest, model.sites, model.bodies
        _GRAINS[model] = bool(
            forest.kind.size == n
            and (forest.kind == FREE).all()
            and (forest.parent < 0).all()
            and not forest.position.any()
            and (forest.rotation == [1.0, 0.0, 0.0, 0.0]).all()
            and not model.centres.any()
            and not model.modes
            and not model.loops.kind.size
            and np.array_equal(sites.body, np.arange(n))
            and not sites.position.any()
            and (sites.radius > 0.0).all()
            and _isotropic(model.inertias)
            and any(isinstance(force, Contact) for force in model.forces)
            and all(isinstance(force, Contact | Gravity | StokesDrag) for force in model.forces)
            and not flows_unevenly(model)
        )
    return _GRAINS[model]


def _isotropic(inertias: np.ndarray) -> bool:
    diagonal = inertias[:, [0, 3, 5]]
    return bool((diagonal == diagonal[:, :1]).all()) and not inertias[:, [1, 2, 4]].any()


class GrainDriver(ArrayDriver):
    """Driver of velocity Verlet for grains, on plain arrays."""

    can_glance = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator, model = problem.evaluator, problem.evaluator.model
        assert evaluator.contacts is not None
        self.history = history_size(model.bodies)
        self.contacts: Contacts = evaluator.contacts
        drag, box = drag_table(model), model.box
        wraps = box is not None and bool(box.periodic.any())
        self.grains = grain_passes.grains_of(model.bodies, drag.link.size > 0, wraps)
        self.grains.gravity[:] = evaluator.system.forces.gravity
        self.grains.inverse_inertia[:] = 1.0 / model.inertias[:, 0]
        body, drags = model.head[drag.link], self.grains.drags
        drags[body, GRAIN_DRAG.translation], drags[body, GRAIN_DRAG.rotation] = drag.translational, drag.rotational
        drags[body, GRAIN_DRAG.flow : GRAIN_DRAG.flow + 3] = drag.flow
        parallel = model.bodies >= grain_passes.PARALLEL_GRAINS
        with preparing_together():
            self.moving = sweep_kernel(*self.contacts.pairs, parallel), *grain_passes.passes(parallel)
            self.load, self.store = state_passes(parallel)
            self.functions = functions(self.moving, PASS)
            self.taken = np.zeros(2, dtype=np.int64)
            """Number of steps of the chunk, and its status."""
            held = state.counters.copy(), state.time.copy(), state.contacts.times.copy()
            for program in self.chunk_programs(state, *held):
                _ = program.code  # compiled together with the other kernels

    def chunk_programs(
        self, state: State, counters: np.ndarray, clock: np.ndarray, times: np.ndarray
    ) -> tuple[Program, Program, Program, Program]:
        """The programs that load a state, begin, take steps and store the state, bound to the arrays that a chunk
        changes and to the present lists."""
        contacts, (passes, lists, refresh) = self.contacts, self.contacts.functions
        system, grains, moving, h = contacts.system, self.grains, self.functions, self.step
        return (
            Program([self.load.bind(system, grains, moving, lists, refresh, state)]),
            Program([grain_verlet.begin_grains.bind(passes, moving, lists, system, grains, h, clock, times)]),
            Program(
                [
                    grain_verlet.advance_grains.bind(
                        passes, moving, lists, refresh, system, grains, h, counters, clock, times, self.taken
                    )
                ]
            ),
            Program([self.store.bind(system, grains, moving, lists, h, state)]),
        )

    def explain(self, status: int) -> None:
        """See :class:`ArrayDriver`."""
        contacts = self.contacts
        fault = wall_fault(self.evaluator.model, contacts.sites, contacts.walls, contacts.system)
        self.failure, self.culprit = (None, None) if fault is None else fault

    def keep(self, state: State) -> None:
        """See :class:`Driver`. A chunk that fails leaves the state unchanged."""

    def restore(self, state: State, kept: None) -> None:
        """See :class:`Driver`."""

    def chunk(self, state: State, steps: int) -> int:
        """See :class:`ArrayDriver`."""
        began, store = perf_counter(), Program()
        self.grains.request[GRAIN_REQUEST.threads] = numba.get_num_threads()
        contacts, stepping = self.contacts, 0.0
        counters, clock, times = state.counters.copy(), state.time.copy(), state.contacts.times.copy()

        def attempt() -> int | None:
            nonlocal stepping, store
            contacts.restore(state)
            load, begin, step, store = self.chunk_programs(state, counters, clock, times)
            load()
            counters[:], clock[:], times[:] = state.counters, state.time, state.contacts.times
            if self._capacity_exceeded():
                return None
            if state.rule.history[0] == 0.0:
                begin()
                if self._capacity_exceeded():
                    return None
            stepping = perf_counter()
            status = self._take_steps(step, steps, counters, clock)
            stepping = perf_counter() - stepping
            return None if status == CAPACITY_EXCEEDED else status

        status = with_capacity(attempt, contacts.grow)
        self.last = int(counters[STEPS])
        if status != REACHED:
            return status
        store()
        state.counters[:], state.time[:], state.contacts.times[:] = counters, clock, times
        contacts.save(state)
        self.overhead = perf_counter() - began - stepping
        return REACHED

    def _take_steps(self, step: Program, steps: int, counters: np.ndarray, clock: np.ndarray) -> int:
        """Take the steps of a chunk, and show the grains between them if somebody looks; return the status."""
        left, glances = steps, self.glances
        while True:
            part = left if glances is None else glances.part(left)
            self.taken[:], began = (part, 0), perf_counter()
            step()
            status, left = int(self.taken[1]), left - part
            if glances is None or status != REACHED or left == 0:
                return status
            glances.took(part, perf_counter() - began)
            glances.show(float(clock[0]), int(counters[STEPS]), self.poses)

    def poses(self, places: np.ndarray, turns: np.ndarray) -> None:
        """Write the places [length] (grains, 3) and Euler parameters (grains, 4) between two steps, in the order of
        the model."""
        system = self.contacts.system
        write_poses(system.particles.order, system.spheres.motion, self.grains.row, self.grains.place, places, turns)

    def _capacity_exceeded(self) -> bool:
        system = self.contacts.system
        candidates, walls = system.candidates.counts, system.walls.counts
        return bool(system.particles.counts[OVERFLOW] or candidates[COUNTS.exceeded] or walls[COUNTS.exceeded])
