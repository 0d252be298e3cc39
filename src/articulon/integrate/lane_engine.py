"""Many states of a model on the CPU, side by side in the lanes of vector registers, and their steps."""

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
    """Settings of the steps of an ensemble, in addition to the model."""

    factor: np.ndarray
    """Factors of the channels, shape (8,)."""
    window: float
    """Length of a fine noise window, if the steps of the integrator do not define it [time]."""
    average: int
    """Number of fine windows that are averaged in each held window."""
    thermostat: BaseThermostat | None = None
    """A Langevin thermostat, or None."""


class LaneEngine:
    """Many states on the CPU.

    Parameters
    ----------
    model
        The model; its forces are computed side by side, those between sites state by state.
    q, u
        Coordinates (N, nq) and speeds (N, nu).
    seeds
        Seeds of the noise, shape (N,).
    settings
        Settings of the steps.
    where
        Prefix of messages.
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
        """Name of the device that holds the states."""
        return "the CPU"

    @property
    def y(self) -> np.ndarray:
        """Coordinates and speeds (N, nq + nu)."""
        y = self._blocks.y
        return y.swapaxes(1, 2).reshape(-1, y.shape[1])[: self.states].copy()

    @property
    def failed(self) -> np.ndarray:
        """The step after which each state was no longer finite, 0 if it is finite, shape (N,)."""
        return self._blocks.failed.reshape(-1)[: self.states].copy()

    @property
    def lost(self) -> np.ndarray:
        """Whether each state failed because its free flight did not converge, shape (N,)."""
        return self._blocks.lost.reshape(-1)[: self.states] > 0

    @property
    def taken(self) -> int:
        """Number of steps that have been taken."""
        return int(self._blocks.taken[0])

    def take(self, rule: Tableau | str, steps: Steps) -> None:
        """Take steps of an explicit scheme, or friction-implicit steps with the drift that ``rule`` names."""
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
        """Tables of the model for a thread."""
        number, set_to = now.number, self._settings
        own: dict[str, Any] = {"window": set_to.window, "average": set_to.average, "thermostat": set_to.thermostat}
        drawn, block = number[DRAWN : DRAWN + 1], number[BLOCK_NUMBER:]
        return LaneTables(self.model, self._sites, thread, block, now.seeds, drawn, **own)

    def _explicitly(self, threads: int, stages: int) -> ExplicitLanes:
        """The stepper of explicit schemes, with arrays for given numbers of threads and stages."""
        found = self._explicit
        if found is None or found.threads < threads or found.stages < stages:
            threads = max(threads, 0 if found is None else found.threads)
            size = self._blocks.y.shape[1]
            self._explicit = found = ExplicitLanes(self._tables, self._settings.factor, size, threads, stages)
        return found

    def _implicitly(self, threads: int, drift: str) -> FrictionImplicitLanes:
        """The stepper of friction-implicit steps, with arrays for a given number of threads."""
        found = self._implicit.get(drift)
        if found is None or found.threads < threads:
            found = FrictionImplicitLanes(self._tables, self._settings.factor, drift == "geodesic", threads)
            self._implicit[drift] = found
        return found
