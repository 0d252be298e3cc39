"""Gases of hard spheres: where they start, and how many impacts a second they make. As a program it times one size in a
process of its own:

    python -m benchmarks.sphere_gases SPHERES THREADS IMPACTS ROUNDS
"""

import json
import math
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.integrate.hard_sphere_tables import PERIODIC
from articulon.integrate.sphere_gas import SphereBox, SphereGas
from benchmarks.memory import peak_bytes

PACKING = 0.3
MELTING = 1.0
"""Time before what is measured, some ten impacts of each sphere: of the lattice nothing is left [σ √(m/kT)]."""
BASIS = np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])


@dataclass
class Fluid:
    """Spheres of unit diameter, mass and temperature that fly in a periodic box."""

    gas: SphereGas
    positions: np.ndarray
    """[σ], shape (n, 3)."""
    velocities: np.ndarray
    """Shape (n, 3)."""

    @property
    def temperature(self) -> float:
        """k T of the speeds against the common motion, which is none."""
        return float((self.velocities**2).sum()) / (3.0 * len(self.positions) - 3.0)

    def fly(self, duration: float) -> tuple[int, float, float]:
        """Impacts in a time, their Σ r · Δp, and how long the one thread computed for that [s]."""
        began = time.thread_time()  # which other programs on the machine do not lengthen
        found = self.gas.advance(self.positions, self.velocities, duration)
        assert found is not None
        return found.impacts, found.virial, time.thread_time() - began


def fluid(spheres: int, packing: float = PACKING, seed: int = 1) -> Fluid:
    """The first places, in random order, of the smallest face-centred cubic lattice that has as many."""
    rng = np.random.default_rng(seed)
    cells = math.ceil((spheres / 4.0) ** (1.0 / 3.0))
    edge = (spheres * np.pi / 6.0 / packing) ** (1.0 / 3.0)
    corners = np.indices((cells,) * 3).reshape(3, -1).T
    places = (corners[:, None, :] + BASIS + 0.25).reshape(-1, 3) * edge / cells
    positions = places[np.sort(rng.permutation(len(places))[:spheres])]
    velocities = rng.normal(size=positions.shape)
    velocities -= velocities.mean(axis=0)
    velocities *= np.sqrt((3.0 * spheres - 3.0) / (velocities**2).sum())
    box = SphereBox(np.zeros(3), np.full(3, edge), np.full(3, PERIODIC))
    n = np.zeros(spheres, dtype=np.int64)
    return Fluid(SphereGas(np.full(spheres, 0.5), np.ones(spheres), n, np.ones((1, 1)), box), positions, velocities)


def rate_of_impacts(packing: float) -> float:
    """Impacts of all by the number of spheres and the time, by Enskog's theory: 2 n σ² g √(π kT/m), where g is that of
    Carnahan and Starling."""
    contact = (1.0 - 0.5 * packing) / (1.0 - packing) ** 3
    return 12.0 * packing / math.pi * contact * math.sqrt(math.pi)


def size_and_speed(spheres: int, threads: int, impacts: int, rounds: int) -> dict[str, Any]:
    """One size in this process, on the one thread that there is: spheres, impacts a second, the best of the rounds with
    the search for the first impacts, the time of an impact [ns], and the most memory for a sphere [bytes]."""
    made = fluid(spheres)
    made.fly(MELTING)
    duration = impacts / (spheres * rate_of_impacts(PACKING))
    best = 0.0
    for _ in range(rounds):
        count, _, taken = made.fly(duration)
        best = max(best, count / taken)
    return {
        "spheres": spheres,
        "impacts_per_second": best,
        "ns_per_impact": 1e9 / best,
        "bytes_per_sphere": peak_bytes() / spheres,
    }


def main() -> None:
    """The program."""
    print(json.dumps(size_and_speed(*map(int, sys.argv[1:]))))


if __name__ == "__main__":
    main()
