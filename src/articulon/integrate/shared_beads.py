"""Steps of beads on rods with the trees distributed over MPI ranks, where LAMMPS computes the forces.

A rank moves some of the trees, consecutive in the order of the model. In each step it sends the others the positions of
its beads, from which LAMMPS computes the forces, and its part of the work. Between chunks of steps, all ranks have the
same state, as if each moved all trees; before a chunk, they check that it is the same.
"""

import numpy as np

from articulon.errors import ArticulonError
from articulon.forces.sites.lammps_force import Lammps, instance_of
from articulon.forces.sites.lammps_ranks import Ranks
from articulon.integrate.bead_driver import BeadDriver, Programs
from articulon.integrate.bead_lanes import fill_shared_beads, give_own_places
from articulon.integrate.bead_tables import beads_of
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, PAUSED, REACHED
from articulon.model import Model, State
from articulon.model.state import EVALUATIONS, POTENTIAL, STEPS, THERMOSTAT, WINDOW
from articulon.passes import Program, compile_passes


def ranks_of_model(model: Model) -> Ranks:
    """The ranks on which LAMMPS computes the forces of a model; a single one for other models."""
    for force in model.forces:
        if isinstance(force, Lammps):
            return instance_of(force, model).ranks
    return Ranks()


def shares_of(start: np.ndarray, ranks: int) -> np.ndarray:
    """First tree of each rank, and the number of trees, shape (ranks + 1,): shares of about equal numbers of links,
    with at least one tree each.

    Parameters
    ----------
    start
        First link of each tree, and the number of links, shape (trees + 1,).
    ranks
        At most the number of trees.
    """
    trees = start.size - 1
    wanted = start[-1] * np.arange(ranks + 1) / ranks
    found = np.searchsorted(start, wanted)
    each = np.arange(ranks + 1)
    # A long tree may exceed a share, but every rank gets a tree.
    found = np.maximum.accumulate(found - each) + each
    return np.minimum(found, trees - ranks + each)


class SharedBeadDriver(BeadDriver):
    """Driver with the steps of :class:`BeadDriver` on several ranks, each of which moves some of the trees."""

    def __init__(self, problem: Problem, state: State, ranks: Ranks) -> None:
        forest = problem.evaluator.system.forest
        share = shares_of(forest.tree, ranks.size)
        self.ranks, self.links_of_ranks = ranks, np.diff(forest.tree[share])
        self.own_beads = beads_of(forest, range(int(share[ranks.rank]), int(share[ranks.rank + 1])))
        self.places = np.zeros((forest.mass.size, 3))
        """Positions of the beads of all ranks [length]."""
        self.own_filling = problem.evaluator.bind_sites(fill_shared_beads, self.own_beads, self.places)
        self.gives_places = Program([give_own_places.bind(self.own_beads, self.places)])
        self.own_work = np.zeros_like(state.work)
        """Work on this rank's trees in a step [energy]."""
        super().__init__(problem, state)

    def _bind(self, state: State) -> None:
        super()._bind(state)
        self.own_steps = Programs(*self.steps_of(self.own_beads, self.own_filling, state, self.own_work))
        programs = (*self.own_steps, self.gives_places)
        compile_passes(one for program in programs for one in program.passes)

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        status = super().go(state, until, steps)
        # All ranks may have taken fewer steps than this one asked for.
        return PAUSED if status == REACHED and self.steps_until(state, until) > 0 else status

    def chunk(self, state: State, steps: int) -> int:
        """See :class:`ArrayDriver`: take as many steps as all ranks have asked for, at least one."""
        # A run that may stop in any step needs all coordinates there, so every rank moves all trees.
        before = np.concatenate([state.time, state.q, state.u, state.rule.history])
        shared = 0 if self.stop.link[0] >= 0 else self.ranks.steps_together(before, steps)
        if not shared:
            return super().chunk(state, steps)
        if self.bound_to is not state:
            self._bind(state)
        try:
            return self._take_together(state, shared)
        except ArticulonError:
            raise  # all ranks raise it together
        except BaseException as error:
            self.ranks.abort(error)
            raise
        finally:
            self.ranks.synchronised = False

    def _take_together(self, state: State, steps: int) -> int:
        own, arrays, counters, h = self.own_steps, self.arrays, state.counters, self.step
        arrays.half[0], arrays.clock[1], arrays.status[0] = 0.5 * h, h, REACHED
        self.stopped, self.last = False, int(counters[STEPS])
        own.take()
        self._fill()
        for _ in range(steps):
            step = int(counters[STEPS])
            self.own_work[:] = 0.0
            own.kick()
            own.fly()
            arrays.clock[0], arrays.number[0] = h * step, step
            own.apply_langevin()
            own.fly()
            status = int(self.ranks.of_each(arrays.status).max())
            if status != REACHED:
                return status
            self._fill()
            own.kick()
            parts = np.array([arrays.size[0], self.own_work[POTENTIAL], self.own_work[THERMOSTAT]])
            # Summed one after the other, so that the order of the sum is fixed.
            moving, done, gained = np.cumsum(self.ranks.of_each(parts), axis=0)[-1]
            if not moving < np.inf:
                return DIVERGED
            for channel, work in ((POTENTIAL, done), (THERMOSTAT, gained)):
                state.work[channel] += work
                state.unscaled_work[channel] += work
            counters[STEPS] = self.last = step + 1
            counters[WINDOW] += 1
            counters[EVALUATIONS] += 1
            state.time[0] = h * (step + 1)
        own.give()
        self.ranks.share_rows(state.rule.history[:-1].reshape(-1, 6), self.links_of_ranks)
        own.join()
        return REACHED

    def _fill(self) -> None:
        """Compute the forces on this rank's beads, after all ranks have sent their positions."""
        self.gives_places()
        self.ranks.share_rows(self.places, self.links_of_ranks)
        self.own_steps.fill()
