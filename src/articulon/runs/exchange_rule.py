"""Acceptance rule of replica exchange, which preserves the distribution of each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from articulon.adaptive.lockable import joints_of
from articulon.adaptive.momentum_exchange import Space
from articulon.dynamics import kinetic_energy
from articulon.forces.evaluation import potential_energy
from articulon.model import Model, State
from articulon.model.state import CONFORMATIONAL, THERMOSTAT
from articulon.simulation.preparation import Prepared
from articulon.thermostats.total_momentum import without_momentum

RANDOM_STREAM = 14
"""Number of the random stream for the speeds after an exchange."""


def own_seed(seed: int, run: int) -> int:
    """Return the seed of a run. Exchanges with different seeds have runs with different noise."""
    return int(np.random.SeedSequence([seed, run]).generate_state(1, np.uint64)[0] >> 1)


class Replica(NamedTuple):
    """A run of an exchange."""

    prepared: Prepared
    """Everything that the run needs, except its state."""
    state: State
    """State of the run; an exchange changes it in place."""


class Exchanges:
    """The exchanges between runs: the numbers of attempted and accepted exchanges, and the walker that each run has.

    Parameters
    ----------
    model
        Model of all runs, which differ only in the temperatures of forces.
    temperatures
        Temperatures of the runs [temperature].
    seed
        Seed of the random numbers.
    """

    def __init__(self, model: Model, temperatures: Sequence[float], seed: int) -> None:
        self.seed, runs = seed, len(temperatures)
        self.kT = [model.units.boltzmann * T for T in temperatures]
        # Fixman's potential cancels the determinant of the mass matrix, so neither of them is evaluated.
        self.fixman = any(getattr(force, "of_determinant", False) for force in model.forces)
        bare = tuple(force for force in model.forces if not getattr(force, "of_determinant", False))
        self.bare = replace(model, forces=bare)
        self.joints = joints_of(model)
        self.walkers = np.arange(runs)
        self.tried = np.zeros(runs - 1, dtype=np.int64)
        self.accepted = np.zeros(runs - 1, dtype=np.int64)

    def _locked(self, replica: Replica) -> np.ndarray:
        """Return which joints and modes are locked for the whole run."""
        adaptive = replica.prepared.adaptive
        if adaptive is None:
            return np.zeros(self.joints.degrees_of_freedom.size, dtype=bool)
        return np.asarray(adaptive.resolution.locked_parts(replica.state))

    def attempt(self, replicas: Sequence[Replica], number: int) -> np.ndarray:
        """Attempt one round of exchanges between neighbouring runs; ``number`` counts the rounds from 1. Return the
        walker that each run has after the round, shape (runs,)."""
        random = np.random.Generator(np.random.Philox(key=[self.seed, number]))
        energies = [potential_energy(self.bare, replica.state.q) for replica in replicas]
        for i in range((number + 1) % 2, len(replicas) - 1, 2):
            self.tried[i] += 1
            if math.log(random.uniform()) < self.likelihood(replicas, i, energies):
                self._swap(replicas, i, number)
                self.accepted[i] += 1
        return self.walkers.copy()

    def likelihood(self, replicas: Sequence[Replica], i: int, energies: Sequence[float]) -> float:
        """Compute the logarithm of π_i(y) π_j(x) / (π_i(x) π_j(y)), where run i is at coordinates x, the next run j is
        at y, and π are the distributions of the runs. ``energies`` are the potential energies of the runs [energy]."""
        one, other = replicas[i], replicas[i + 1]
        found = (1.0 / self.kT[i] - 1.0 / self.kT[i + 1]) * (energies[i] - energies[i + 1])
        here, there = self._locked(one), self._locked(other)
        if self.fixman or np.array_equal(here, there):
            return found
        x, y = one.state.q, other.state.q
        return found + 0.5 * (
            self._determinant(here, y)
            + self._determinant(there, x)
            - self._determinant(here, x)
            - self._determinant(there, y)
        )

    def _determinant(self, locked: np.ndarray, q: np.ndarray) -> float:
        """Return ln det M of the unlocked degrees of freedom at given coordinates."""
        return float(Space(self.bare, self.joints, q, locked).log_determinant())

    def _swap(self, replicas: Sequence[Replica], i: int, number: int) -> None:
        """Swap the coordinates of run i and of the next run. The change of the potential energy is recorded as heat of
        the thermostats, so that the energy balance of both runs stays closed."""
        pair = (i, i + 1)
        states = [replicas[k].state for k in pair]
        before = [_energies(replicas[k]) for k in pair]
        states[0].q[:], states[1].q[:] = states[1].q.copy(), states[0].q.copy()
        for k, state, (potential, kinetic) in zip(pair, states, before, strict=True):
            space = Space(self.bare, self.joints, state.q, self._locked(replicas[k]))
            u = space.thermal(own_seed(self.seed, k), RANDOM_STREAM, number, self.kT[k])
            thermostat = replicas[k].prepared.evaluator.thermostat
            removed = thermostat is not None and thermostat.centre_of_mass == "removed"
            state.u[:] = without_momentum(self.bare, state.q, u) if removed else u
            after, moving = _energies(replicas[k])
            state.work[:] -= after - potential
            state.work[THERMOSTAT] += (after - potential).sum() + moving - kinetic
            state.rebuild[:] = np.nan
            state.rule.acceleration[:] = 0.0
            state.rule.history[:] = 0.0
        self.walkers[[i, i + 1]] = self.walkers[[i + 1, i]]


def _energies(replica: Replica) -> tuple[np.ndarray, float]:
    """Return the potential energies of a run by channel (8,), and its kinetic energy [energy]."""
    prepared, state = replica
    found = prepared.evaluator.energies(state.q).copy()
    if prepared.adaptive is not None:
        found[CONFORMATIONAL] += prepared.adaptive.potential_shift(state)
    return found, float(kinetic_energy(prepared.model, state.q, state.u))
