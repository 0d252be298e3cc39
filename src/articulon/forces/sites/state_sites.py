"""Site forces of many states of a model, computed state by state: in each, the sums evaluate several partners at
once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.model import Model, Workspace, kernel_tables, workspace
from articulon.passes import Bound, Pass, Program, pass_of, run
from articulon.sizes import check_size


@pass_of
def fill_sites_of_states(systems, each, block, plain, placed, wrench):
    """Add the forces between sites to the wrenches (8, links, 6, width) of the states of a block, one state after
    another. ``systems`` are programs that compute them for links at ``plain`` positions, one for each state if ``each``
    is 1, or one for all."""
    positions, rotations, wrenches = plain
    links, width = placed[0].shape[0], placed[0].shape[2]
    for lane in range(width):
        s = each * (block[0] * width + lane)
        position, rotation, found = positions[s], rotations[s], wrenches[s]
        for i in range(links):
            for k in range(3):
                position[i, k] = placed[0][i, k, lane]
            for k in range(9):
                rotation[i, k] = placed[1][i, k, lane]
        for c in range(found.shape[0]):
            for i in range(links):
                for k in range(6):
                    found[c, i, k] = 0.0
        run(systems[s : s + 1])
        for c in range(found.shape[0]):
            for i in range(links):
                for k in range(6):
                    wrench[c, i, k, lane] += found[c, i, k]


class StateSites:
    """Site forces of a model in many states.

    If neighbours are listed, each state has separate lists; otherwise each thread has separate scratch.

    Parameters
    ----------
    model
        The model.
    states
        Number of states.
    where
        Start of messages.
    """

    def __init__(self, model: Model, states: int, where: str) -> None:
        self.first = SiteForces(model, alone=True)
        """Site forces of the first state, or thread."""
        self.listed = bool(self.first.listed)
        """Whether each state has separate site forces, because neighbours are listed."""
        self.model, self.states = model, states
        self._all = [self.first]
        if self.listed:
            each = size_of(self.first) + 8 * 18 * model.forest.mass.size
            check_size(states, each, "states with lists of neighbours", where, error=ModelError)
            self._all += [self.first.another() for _ in range(states - 1)]
        self._bound: list[tuple[Bound, int, tuple[Any, ...]]] = []
        self._ready: dict[int, tuple[Program, tuple[np.ndarray, ...]]] = {}
        self._kept: list[np.ndarray] = []

    def bind(self, which: Pass, thread: int, block: np.ndarray, ws: Workspace, wrench: Any) -> Bound:
        """Bind a pass that fills the wrenches of one state. The bound pass runs on one thread, and fills the wrenches
        of all states of a block (1,), whose links are in lanes.

        Parameters
        ----------
        which
            The pass, with a system of sites, its arguments, the links and the wrenches (8, links, 6).
        thread
            Number of the thread.
        block
            Number of the block, which may change, shape (1,).
        ws, wrench
            Links and their wrenches, in lanes.
        """
        first = 0 if self.listed else thread
        if first not in self._ready:
            self._ready[first] = self._systems(which, first)
        systems, plain = self._ready[first]
        placed = ws.position.numbers, ws.rotation.numbers  # type: ignore[attr-defined]
        return fill_sites_of_states.bind(systems, int(self.listed), block, plain, placed, wrench.numbers)

    def _systems(self, which: Pass, first: int) -> tuple[Program, tuple[np.ndarray, ...]]:
        """Return the pass for every state, or for a thread, and the links and wrenches of each."""
        self._all += [self.first.another() for _ in range(first + 1 - len(self._all))]
        some, links = self._all[first:] if self.listed else self._all[first : first + 1], self.model.forest.mass.size
        plain = tuple(np.zeros((len(some), *shape)) for shape in ((links, 3), (links, 9), (1, links, 6)))
        like, bounds = workspace(kernel_tables(self.model).forest), []
        for k, sites in enumerate(some):
            others = like._replace(position=plain[0][k], rotation=plain[1][k]), plain[2][k]
            bounds.append(which.bind(sites.system, *sites.bound_functions, *others))
            self._bound.append((bounds[-1], first + k, others))
        return Program(bounds), plain

    def keep(self) -> None:
        """Store the positions from which the lists start."""
        self._kept = [sites.system.particles.reference.copy() for sites in self._all] if self.listed else []

    def attempt(self, steps: Callable[[], None]) -> bool:
        """Take steps; return whether the capacity of all lists sufficed. If not, they are enlarged and rebuilt at the
        stored positions."""
        steps()
        short = [k for k, sites in enumerate(self._all) if self.listed and sites.overflowed]
        if not short:
            return True
        for k in short:
            self._all[k].grow()
        for sites, reference in zip(self._all, self._kept, strict=True):
            sites.list_from(reference)
        for bound, k, others in self._bound:
            if bound.arguments[0] is not self._all[k].system:
                bound.rebind(self._all[k].system, *self._all[k].bound_functions, *others)
        return False


def size_of(sites: SiteForces) -> int:
    """Memory of the separate arrays of a state [bytes]."""
    found = 0
    for part in (sites.system.particles, sites.system.neighbours, sites.system.grid, *sites.tables):
        found += sum(array.nbytes for array in part)
    return found
