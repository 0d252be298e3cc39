"""The Monte Carlo barostat."""

import math
from typing import ClassVar, Literal

import numpy as np

from articulon.barostats.base import RANDOM_STREAM, ActingBarostat, BaseBarostat
from articulon.model import State
from articulon.model.box import volume_of
from articulon.rng import fill_uniforms

WIDTH = 2.0
"""Largest trial change of ln V, in standard deviations of ln V in the initial box. With this value, about half of the
trials are accepted."""


class ActingMonteCarlo(ActingBarostat):
    """Acts as described in :class:`MonteCarlo`."""

    def change(self, state: State, number: int) -> None:
        """Try one change of the volume; see :class:`ActingBarostat`."""
        drawn = np.zeros(2)
        fill_uniforms(self.evaluator.seed, RANDOM_STREAM, number, drawn)
        memory, kT = state.box, self.kT(state)
        edges = memory.edges.copy()
        volume = volume_of(edges)
        built_in = self.evaluator.model.box
        assert built_in is not None  # the barostat has checked the model
        # The width depends on the initial volume, not the current one, so that a trial and its reverse are equally
        # likely.
        most = WIDTH * math.sqrt(kT * self.kappa / built_in.volume)
        change = most * (2.0 * float(drawn[0]) - 1.0)
        scale = math.exp(change / 3.0)
        before = self.energy(state.q)
        q = state.q.copy()
        centres, _ = self.molecules.motions(q, state.u)
        self.molecules.shift(q, (scale - 1.0) * centres)
        self.take(scale * edges)
        work = self.energy(q) - before
        enthalpy = work + self.pressure * volume * math.expm1(change)
        likelihood = -enthalpy / kT + (self.molecules.number + 1) * change
        memory.moves[0] += 1
        if likelihood >= math.log(float(drawn[1])):
            memory.edges[:] = scale * edges
            memory.work[0] += work
            memory.moves[1] += 1
            state.q[:] = q
        else:
            self.take(edges)


class MonteCarlo(BaseBarostat):
    """Tries another volume V' at regular intervals, with molecules moved as a whole. The trial is accepted with the
    probability

        min(1, exp(−(ΔU + P ΔV)/kT) (V'/V)^(N+1)),

    for N molecules in the volume V; ln V' is drawn uniformly around ln V (Frenkel and Smit, Understanding Molecular
    Simulation, 2nd ed., 5.4.1; Åqvist et al., Chem. Phys. Lett. 384, 288, 2004).

    Ensemble: exactly that of constant pressure and temperature. It is exact for all forces, because only their energy
    is used and no virial is needed. Every trial takes two energy evaluations.
    """

    kind: Literal["monte-carlo"] = "monte-carlo"

    actor: ClassVar[type[ActingBarostat]] = ActingMonteCarlo
