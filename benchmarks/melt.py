"""The Lennard-Jones melt of LAMMPS's benchmark ``in.lj`` in our engine: where it starts, and how long its steps take.

Reduced units: an fcc lattice of density 0.8442 with velocities of temperature 1.44, cut at 2.5 σ, steps of 0.005 τ at
constant energy. As a program it times one size in a process of its own:

    python -m benchmarks.melt CELLS THREADS STEPS ROUNDS
"""

import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.building import ModelBuilder
from articulon.forces import LennardJones
from articulon.model import Model
from articulon.model.box import Box
from benchmarks.memory import peak_bytes
from benchmarks.steps import TimedSteps

DENSITY, TEMPERATURE, CUTOFF, STEP = 0.8442, 1.44, 2.5, 0.005
CELLS = 20
"""Lattice cells along an edge: 32,000 atoms."""
MELTING = 100
"""Steps before the first that is timed: the lattice has melted and the temperature has halved."""


@dataclass(frozen=True)
class Melt:
    """Where the atoms start."""

    length: float
    """Of the cubic, periodic box [σ]."""
    positions: np.ndarray
    """[σ], shape (atoms, 3)."""
    velocities: np.ndarray
    """[σ/τ], shape (atoms, 3)."""

    @property
    def atoms(self) -> int:
        """Number of atoms."""
        return len(self.positions)


def melt(cells: int = CELLS) -> Melt:
    """The lattice, ``cells`` wide, with random velocities without a common drift."""
    edge = (4.0 / DENSITY) ** (1.0 / 3.0)
    basis = np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    corners = np.indices((cells, cells, cells)).reshape(3, -1).T
    positions = edge * (corners[:, None, :] + basis).reshape(-1, 3)
    velocities = np.random.default_rng(87287).normal(size=positions.shape)
    velocities -= velocities.mean(axis=0)
    degrees_of_freedom = positions.size - 3
    velocities *= np.sqrt(TEMPERATURE * degrees_of_freedom / np.vdot(velocities, velocities))
    return Melt(cells * edge, positions, velocities)


def our_model(start: Melt) -> Model:
    """The melt as a model."""
    builder = ModelBuilder(units="lj", box=Box(lengths=(start.length,) * 3))
    builder.add_particles(start.atoms, mass=1.0, positions=start.positions, velocities=start.velocities, kind="A")
    builder.add_force(LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=CUTOFF))
    return builder.build()


def ours(start: Melt) -> TimedSteps:
    """The melt in our engine."""
    return TimedSteps(our_model(start), STEP, f"the melt of {start.atoms:,} atoms")


def size_and_speed(cells: int, threads: int, steps: int, rounds: int) -> dict[str, Any]:
    """One size in this process: atoms, the best time of an atom's step [ns] and the most memory for an atom [bytes]."""
    running, atoms = ours(melt(cells)), 4 * cells**3
    running.advance(threads, MELTING)
    best = min(running.advance(threads, steps) for _ in range(rounds))
    return {"atoms": atoms, "ns_per_atom_step": 1e9 * best / (steps * atoms), "bytes_per_atom": peak_bytes() / atoms}


def main() -> None:
    """The program."""
    print(json.dumps(size_and_speed(*map(int, sys.argv[1:]))))


if __name__ == "__main__":
    main()
