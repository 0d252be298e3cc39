"""Driver of beads on rods in Cartesian coordinates, for models of chains only: identical trees advance side by side."""

from typing import Any, NamedTuple

import numpy as np

from articulon.dynamics.motion_passes import move_links, place_links
from articulon.integrate.bead_lanes import (
    fill_beads,
    fly_beads,
    give_joints,
    give_places,
    kick_beads,
    langevin_beads,
    take_beads_in_lanes,
    take_places,
)
from articulon.integrate.bead_tables import Beads, beads_of
from articulon.integrate.fixed_steps import ArrayDriver
from articulon.integrate.problem import Problem
from articulon.integrate.rod_flights import are_beads
from articulon.integrate.shared_groups import SHARED, shared_flights, shared_kicks, shared_langevin
from articulon.integrate.status import DIVERGED, NOT_CONVERGED, REACHED, STOPPED, stop_reached
from articulon.kernels import kernel, prepare_for
from articulon.model import State
from articulon.model.state import EVALUATIONS, POTENTIAL, STEPS, THERMOSTAT, WINDOW
from articulon.passes import Bound, Program, compile_passes, run
from articulon.thermostats.base import EFFECT, KICKS

ON_BEAD = 1e-12
"""Distance of a site from its bead, divided by the length of the rod, below which the site lies on the bead."""


def moves_beads(problem: Problem) -> bool:
    """Whether the model has nothing but trees of beads on rods and forces between their beads, with a Langevin
    thermostat or none."""
    e, policy = problem.evaluator, problem.policy
    forces, forest, effect = e.system.forces, e.system.forest, e.system.bath.choice[EFFECT]
    plain = not (policy.scales or policy.follows) and problem.barostat is None and forest.flexible is None
    plain = (
        plain
        and problem.integrator.long_range_every == 1
        and e.solver_name == "articulated"
        and e.rotations == "speeds"
    )
    if not plain or e.model.loops.kind.size or e.model.drives or e.contacts is not None:
        return False
    if forces.terms or forces.drag.link.size or forces.noise.choice[0] or forces.gravity.any() or e.linear_flow:
        return False
    if e.thermostat is not None and (effect != KICKS or e.bath.shape[1]):
        return False
    return bool(are_beads(forest).all()) and _sites_on_beads(problem)


def _sites_on_beads(problem: Problem) -> bool:
    """Whether every site lies on a bead."""
    sites, forest = problem.evaluator.sites.system, problem.evaluator.system.forest
    link = sites.link
    if not link.size or (link < 0).any():
        return False
    centre = forest.moment[link] / forest.mass[link, None]
    away = np.linalg.norm(sites.local - centre, axis=1)
    return bool((away <= ON_BEAD * np.maximum(np.linalg.norm(centre, axis=1), 1e-300)).all())


class Arrays(NamedTuple):
    """Arrays that the steps use in addition to those of the beads."""

    half: np.ndarray
    """Half of a step [time], shape (1,)."""
    clock: np.ndarray
    """Start time of a step, and its length [time], shape (2,)."""
    number: np.ndarray
    """Number of the step, shape (1,)."""
    status: np.ndarray
    """Status of the flights, shape (1,)."""
    size: np.ndarray
    """Σ m v² of the beads, shape (1,)."""
    position: np.ndarray
    """Origins of the links, shape (links, 3)."""
    rotation: np.ndarray
    """Orientations of the links, row-major matrices, shape (links, 9)."""


class Programs(NamedTuple):
    """Programs of a chunk of steps."""

    take: Any
    """Loads the state into the lanes."""
    fill: Any
    """Computes the forces."""
    kick: Any
    """Applies the forces over half a step."""
    fly: Any
    """Free flight over half a step."""
    apply_langevin: Any
    """Friction and noise of the Langevin thermostat; empty without one."""
    give: Any
    """Writes positions and velocities from the lanes into the memory."""
    join: Any
    """Writes the memory into the coordinates and speeds of the state, and computes poses and velocities of its
    links."""


@kernel
def advance_beads(programs, h, stop, state, arrays, steps, taken):
    """Advance the state by a number of steps of length h; ``taken`` (1,) counts the successful ones. Returns REACHED,
    STOPPED, NOT_CONVERGED if a flight is too long, or DIVERGED if a number is no longer finite; after the last two the
    state must not be used.

    A step is half a kick, half a flight, friction and noise, half a flight, half a kick.
    """
    work, counters = state.work, state.counters
    status = REACHED
    arrays.half[0], arrays.clock[1], arrays.status[0] = 0.5 * h, h, REACHED
    run(programs.take)
    run(programs.fill)
    for _ in range(steps):
        if stop.link[0] >= 0:
            run(programs.give)
            run(programs.join)
            if stop_reached(stop, arrays):
                status = STOPPED
                break
        step = counters[STEPS]
        before, bath = work[POTENTIAL], work[THERMOSTAT]
        run(programs.kick)
        run(programs.fly)
        arrays.clock[0], arrays.number[0] = h * step, step
        run(programs.apply_langevin)
        run(programs.fly)
        if arrays.status[0] != REACHED:
            return arrays.status[0]
        run(programs.fill)
        run(programs.kick)
        if not arrays.size[0] < np.inf:
            return DIVERGED
        state.unscaled_work[POTENTIAL] += work[POTENTIAL] - before
        state.unscaled_work[THERMOSTAT] += work[THERMOSTAT] - bath
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        state.time[0] = h * (step + 1)
        taken[0] += 1
    run(programs.give)
    run(programs.join)
    if status == REACHED and stop.link[0] >= 0 and stop_reached(stop, arrays):
        return STOPPED
    return status


class BeadDriver(ArrayDriver):
    """Friction-implicit steps of beads on rods, along geodesics.

    Positions and velocities of the beads are kept in the state, because joint coordinates do not reproduce them bit for
    bit.
    """

    books_unscaled_work = True
    finds_stop = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        e = problem.evaluator
        links = e.system.forest.mass.size
        self.history = 6 * links + 1
        self.beads = beads_of(e.system.forest)
        whole = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self.arrays = Arrays(np.zeros(1), np.zeros(2), *whole, np.zeros(1), e.ws.position, e.ws.rotation)
        self.taken, self.stopped = np.zeros(1, dtype=np.int64), False
        self.filling = e.bind_sites(fill_beads, self.beads)
        self._bind(state)
        self.kernel = prepare_for(advance_beads, self._arguments(state, 0))

    def _bind(self, state: State) -> None:
        """Bind the steps to the arrays of a state."""
        self.kept = self.steps_of(self.beads, self.filling, state, state.work)
        compile_passes(one for program in self.kept for one in program.passes)
        self.codes = Programs(*(program.code for program in self.kept))
        self.bound_to = state

    def steps_of(self, beads: Beads, filling: Bound, state: State, work: np.ndarray) -> list[Program]:
        """The passes of the steps of some beads, in the order of :class:`Programs`; work is added to ``work``."""
        e, arrays, memory = self.evaluator, self.arrays, state.rule.history
        forest, ws = e.system.forest, e.ws
        placed = place_links.bind(forest, state.q, ws), move_links.bind(forest, state.u, ws)
        flying, kicking = (beads, arrays.half, arrays.status), (beads, arrays.half, work, arrays.size)
        arguments = beads, e.system.bath, arrays.clock, arrays.number, work
        shares = beads.link.size >= SHARED
        kick = shared_kicks(*kicking) if shares else kick_beads.bind(*kicking)
        fly = shared_flights(*flying) if shares else fly_beads.bind(*flying)
        apply_langevin = []
        if e.thermostat is not None:
            apply_langevin = [shared_langevin(*arguments) if shares else langevin_beads.bind(*arguments)]
        parts = [
            [*placed, take_places.bind(forest, ws, memory), take_beads_in_lanes.bind(beads, memory)],
            [filling],
            [kick],
            [fly],
            apply_langevin,
            [give_places.bind(beads, memory)],
            [give_joints.bind(forest, memory, state.q, state.u, ws), *placed],
        ]
        return [Program(one) for one in parts]

    def _arguments(self, state: State, steps: int) -> tuple[Any, ...]:
        """Arguments of the kernel."""
        return self.codes, self.step, self.stop, state, self.arrays, steps, self.taken

    def take(self, state: State, steps: int) -> int:
        """See :class:`FixedStepDriver`."""
        self.stopped = False
        status = super().take(state, steps)
        return STOPPED if status == REACHED and self.stopped else status

    def chunk(self, state: State, steps: int) -> int:
        """See :class:`ArrayDriver`."""
        if self.bound_to is not state:
            self._bind(state)
        self.taken[0], before = 0, int(state.counters[STEPS])
        status = int(self.kernel(*self._arguments(state, steps)))
        self.last, self.stopped = before + int(self.taken[0]), status == STOPPED
        return REACHED if self.stopped else status

    def explain(self, status: int) -> None:
        """See :class:`ArrayDriver`."""
        if status == NOT_CONVERGED:
            self.failure = (
                f"the iteration for the free flight of the bodies does not converge in steps of {self.step:.6g}, so "
                "shorten integrator.step; the acceleration is largest"
            )
