"""Tables of a model for several states side by side, and the passes that differ for them."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from articulon.dynamics.state_batches import in_lanes
from articulon.forces.base import At, Term
from articulon.forces.brownian import noise_of_window, noise_wrenches
from articulon.forces.channel_forces import ChannelForces, channel_forces
from articulon.forces.evaluation_tables import ModelTables
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.state_sites import StateSites
from articulon.forces.solver_tables import Forces
from articulon.lanes import LaneArray
from articulon.model import Model, Workspace, workspace
from articulon.model.state import DAMPING, STOCHASTIC
from articulon.passes import Bound, Pass, pass_of


@pass_of
def draw_for_states(noise, seeds, window, drawn, held):
    """Draw the noise of a window (1,) for states with seeds (width,) into lanes ``held`` (bodies, 6, width), unless it
    is the window ``drawn`` (1,)."""
    if drawn[0] == window[0]:
        return
    drawn[0] = window[0]
    for lane in range(seeds.shape[0]):
        for k in range(held.shape[0]):
            force, torque = noise_of_window(noise, seeds[lane], window[0], k)
            for c in range(3):
                held[k, c, lane] = force[c]
                held[k, 3 + c, lane] = torque[c]


@pass_of
def add_noise_wrenches(drag, ws, held, wrench):
    """Add held forces and torques, in lanes, to the wrenches on the links."""
    noise_wrenches(drag, ws, held, 1.0, wrench)


def tables_in_lanes(forces: Forces) -> Forces:
    """Return tables whose scratch is in lanes, newly allocated at every call."""
    return forces._replace(terms=tuple(Term(kind, kind.in_lanes(table)) for kind, table in forces.terms))


class LaneTables(ModelTables):
    """Tables of a model for the states of one block, used by one thread.

    Parameters
    ----------
    model
        The model.
    sites
        Site forces of all states.
    thread
        Number of the thread.
    block
        Number of the block, which may change, shape (1,).
    seeds
        Seeds of the block's states, which may change, shape (width,).
    drawn
        Number of the window whose noise has been drawn for these states, −1 for none, shape (1,).
    others
        Further arguments of ``ModelTables``.
    """

    def __init__(
        self,
        model: Model,
        sites: StateSites,
        thread: int,
        block: np.ndarray,
        seeds: np.ndarray,
        drawn: np.ndarray,
        **others: Any,
    ) -> None:
        self._of_states, self._thread, self._block, self._seeds, self._drawn = sites, thread, block, seeds, drawn
        super().__init__(model, **others)
        self.system = self.system._replace(forces=tables_in_lanes(self.system.forces))

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """See :class:`ModelTables`."""
        return LaneArray.zeros(shape)

    def _site_forces(self) -> SiteForces:
        return self._of_states.first

    @cached_property
    def ws(self) -> Workspace:
        """Scratch of the dynamics, in lanes."""
        found: Workspace = in_lanes(workspace(self.system.forest))
        return found

    @cached_property
    def channels(self) -> ChannelForces:
        """Forces by channel at the latest evaluation; arrays that differ between states are in lanes."""
        plain = channel_forces(self.system.forest.parent.size, self.model.nu, self.system.forces.drag.link.size)
        names = ("wrench", "joint", "total_wrench", "total_joint", "held")
        lanes: dict[str, Any] = {name: LaneArray.zeros(getattr(plain, name).shape) for name in names}
        return plain._replace(**lanes)

    def bind_sites(self, which: Pass, *arguments: Any) -> Bound:
        """Bind a pass of the site forces of one state for all states of a block."""
        return self._of_states.bind(which, self._thread, self._block, *arguments)

    def noise_passes(self, at: At) -> Iterator[Bound]:
        """Return the passes that add the Brownian forces of each state to ``at.stochastic``."""
        forces, held = self.system.forces, at.channels.held
        yield draw_for_states.bind(forces.noise, self._seeds, at.window, self._drawn, held.numbers)  # type: ignore
        yield add_noise_wrenches.bind(forces.drag, at.ws, held, at.stochastic)

    def at(self, q: Any, u: Any, time: np.ndarray, window: np.ndarray, friction: tuple[Any, Any] | None = None) -> At:
        """Return the input and output arrays of force passes, in lanes; drag and noise go to ``friction`` (2, links,
        6), by default to their channels."""
        channels = self.channels
        where = (channels.wrench[DAMPING], channels.wrench[STOCHASTIC]) if friction is None else friction
        return At(self.system.forest, self.ws, q, u, time, window, channels, *where)
