"""Many states of a model on the CPU, side by side in the lanes of vector registers, and the steps that they take."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from articulon.forces.lane_tables import LaneTables
from articulon.forces.sites.state_sites import StateSites
from articulon.integrate.lane_blocks import BLOCK_NUMBER, DRAWN, Blocks, Present, Steps, in_blocks
from articulon.integrate.lane_explicit import ExplicitLanes
from articulon.integrate.lane_friction_implicit import FrictionImplicitLanes
from articulon.integrate.tableaux import Tableau
from articulon.kernels import threads_to_share
from articulon.model import Model
from articulon.thermostats.base import BaseThermostat


class LaneSettings(NamedTuple):
    """What steps of an ensemble follow besides the model."""

    factor: np.ndarray
    """Factors of the channels, shape (8,)."""
    window: float
    """Length of a fine window of noise, where a rule's steps do not say it [time]."""
    average: int
    """How many of them are averaged in each held one."""
    thermostat: BaseThermostat | None = None
    """Langevin's, or none."""


class LaneEngine:
    """Many states on the CPU.

    Parameters
    ----------
    model
        The model; its forces are found side by side, those between sites state by state.
    q, u
        Coordinates (N, nq) and speeds (N, nu).
    seeds
        Seeds of the noise, shape (N,).
    settings
        What the steps follow besides.
    where
        What messages begin with.
    """

    def __init__(
        self, model: Model, q: np.ndarray, u: np.ndarray, seeds: np.ndarray, settings: LaneSettings, where: str
    ) -> None:
        self.model, self.states, self._settings = model, len(q), settings
        self._blocks = in_blocks(q, u, seeds, model.euler_parameters[0])
        self._sites = StateSites(model, self._blocks.failed.size, where)
        self._explicit: ExplicitLanes | None = None
        self._implicit: dict[str, FrictionImplicitLanes] = {}
        self._latest = ""

    @property
    def name(self) -> str:
        """Where the states are."""
        return "the CPU"

    @property
    def y(self) -> np.ndarray:
        """Coordinates and speeds (N, nq + nu)."""
        y = self._blocks.y
        return y.swapaxes(1, 2).reshape(-1, y.shape[1])[: self.states].copy()

    @property
    def failed(self) -> np.ndarray:
        """The step after which each state was no longer finite, 0 where it is, shape (N,)."""
        return self._blocks.failed.reshape(-1)[: self.states].copy()

    @property
    def lost(self) -> np.ndarray:
        """Whether a state failed because its free flight was not found, shape (N,)."""
        return self._blocks.lost.reshape(-1)[: self.states] > 0

    @property
    def taken(self) -> int:
        """Steps that have been taken."""
        return int(self._blocks.taken[0])

    def take(self, rule: Tableau | str, steps: Steps) -> None:
        """Takes steps of an explicit rule, or friction-implicit ones with a drift of this name."""
        threads = min(threads_to_share(), len(self._blocks.y))
        if isinstance(rule, Tableau):
            go = partial(self._explicitly(threads, rule.b.size).take, threads, rule, steps)
        else:
            go = partial(self._implicitly(threads, rule).take, threads, steps, self._latest != rule)
        self._latest = rule if isinstance(rule, str) else ""
        kept = Blocks(*(one.copy() for one in self._blocks)) if self._sites.listed else self._blocks
        self._sites.keep()
        while not self._sites.attempt(partial(go, self._blocks)):
            for one, before in zip(self._blocks, kept, strict=True):
                one[:] = before

    def _tables(self, thread: int, now: Present) -> LaneTables:
        """Tables of a thread."""
        number, set_to = now.number, self._settings
        own: dict[str, Any] = {"window": set_to.window, "average": set_to.average, "thermostat": set_to.thermostat}
        drawn, block = number[DRAWN : DRAWN + 1], number[BLOCK_NUMBER:]
        return LaneTables(self.model, self._sites, thread, block, now.seeds, drawn, **own)

    def _explicitly(self, threads: int, stages: int) -> ExplicitLanes:
        """What takes explicit steps, with room for so many threads and stages."""
        found = self._explicit
        if found is None or found.threads < threads or found.stages < stages:
            threads = max(threads, 0 if found is None else found.threads)
            size = self._blocks.y.shape[1]
            self._explicit = found = ExplicitLanes(self._tables, self._settings.factor, size, threads, stages)
        return found

    def _implicitly(self, threads: int, drift: str) -> FrictionImplicitLanes:
        """What takes friction-implicit steps, with room for so many threads."""
        found = self._implicit.get(drift)
        if found is None or found.threads < threads:
            found = FrictionImplicitLanes(self._tables, self._settings.factor, drift == "geodesic", threads)
            self._implicit[drift] = found
        return found
