"""The tables of a model for several states side by side, and the passes that differ for these."""

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
    """Noise of a window (1,) of states with seeds (width,) into lanes ``held`` (bodies, 6, width), where ``drawn`` (1,)
    is another window."""
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
def push_by_noise(drag, ws, held, wrench):
    """Adds held forces and torques, in lanes, to the wrenches on the links."""
    noise_wrenches(drag, ws, held, 1.0, wrench)


def tables_in_lanes(forces: Forces) -> Forces:
    """Tables whose scratch is in lanes, new at every call."""
    return forces._replace(terms=tuple(Term(kind, kind.in_lanes(table)) for kind, table in forces.terms))


class LaneTables(ModelTables):
    """The tables of a model for the states of a block, for a thread.

    Parameters
    ----------
    model
        The model.
    sites
        The site forces of all states.
    thread
        Number of the thread.
    block
        Number of the block, which may change, shape (1,).
    seeds
        Of its states, which may change, shape (width,).
    drawn
        Number of the window whose noise has been drawn for them, −1 for none, shape (1,).
    others
        What ``ModelTables`` takes besides.
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
        """Forces by channel at the latest evaluation, those that differ between states in lanes."""
        plain = channel_forces(self.system.forest.parent.size, self.model.nu, self.system.forces.drag.link.size)
        names = ("wrench", "joint", "total_wrench", "total_joint", "held")
        lanes: dict[str, Any] = {name: LaneArray.zeros(getattr(plain, name).shape) for name in names}
        return plain._replace(**lanes)

    def bind_sites(self, which: Pass, *arguments: Any) -> Bound:
        """Binds a pass of the site forces of one state for all states of a block."""
        return self._of_states.bind(which, self._thread, self._block, *arguments)

    def noise_passes(self, at: At) -> Iterator[Bound]:
        """Passes that add Brownian forces, those of each state, to ``at.stochastic``."""
        forces, held = self.system.forces, at.channels.held
        yield draw_for_states.bind(forces.noise, self._seeds, at.window, self._drawn, held.numbers)  # type: ignore
        yield push_by_noise.bind(forces.drag, at.ws, held, at.stochastic)

    def at(self, q: Any, u: Any, time: np.ndarray, window: np.ndarray, friction: tuple[Any, Any] | None = None) -> At:
        """What forces are evaluated at, in lanes; drag and noise go to ``friction`` (2, links, 6), by default to their
        channels."""
        channels = self.channels
        where = (channels.wrench[DAMPING], channels.wrench[STOCHASTIC]) if friction is None else friction
        return At(self.system.forest, self.ws, q, u, time, window, channels, *where)
