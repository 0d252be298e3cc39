"""Spheres of soft glass that settle in a box, in our engine: where they start, and how long their steps take.

SI units: radii of 0.5 mm within a twentieth, modulus 10 MPa, Poisson's ratio 0.3, friction 0.5, restitution 0.5, a
floor and four walls of the same, gravity, steps of 10 μs. As a program it times one size in a process of its own:

    python -m benchmarks.beds SPHERES THREADS STEPS ROUNDS TURNS
"""

import json
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.building import ModelBuilder
from articulon.forces import Contact, Gravity, Plane
from articulon.model import Model
from benchmarks.memory import peak_bytes
from benchmarks.steps import TimedSteps

SPHERES = 50_000
RADIUS, DENSITY, GRAVITY, STEP = 5e-4, 2500.0, 9.81, 1e-5
YOUNG, POISSON, FRICTION, RESTITUTION = 1e7, 0.3, 0.5, 0.5
MATERIAL = {"young": YOUNG, "poisson": POISSON, "static_friction": FRICTION, "restitution": RESTITUTION}
SETTLING = 4000
"""Steps from the loose start to where steps are timed: the heap is forming, and half of the spheres lie."""
MIXING = 100
"""Steps from the dense start to where steps are timed."""


@dataclass(frozen=True)
class Bed:
    """Spheres in a box."""

    length: float
    """Of the floor, along x and y; both begin at 0, as the height does [m]."""
    radii: np.ndarray
    """[m], shape (spheres,)."""
    positions: np.ndarray
    """[m], shape (spheres, 3)."""
    velocities: np.ndarray
    """[m/s], shape (spheres, 3)."""
    spins: np.ndarray
    """[1/s], shape (spheres, 3)."""

    @property
    def spheres(self) -> int:
        """Number of spheres."""
        return len(self.radii)


def loose(spheres: int = SPHERES) -> Bed:
    """A cubic lattice of spheres that do not touch, about as high as wide, which begin to fall apart and down."""
    return _lattice(spheres, 2.12 * RADIUS, 0.05, 0.005, 0.05)


def dense(spheres: int = SPHERES) -> Bed:
    """A cubic lattice of spheres that touch all their neighbours: any part of it is as any other, whatever its size."""
    return _lattice(spheres, 1.996 * RADIUS, 0.01, 0.002, 0.01)


def _lattice(spheres: int, spacing: float, spread: float, jitter: float, speed: float) -> Bed:
    rng, across = np.random.default_rng(87287), round(spheres ** (1.0 / 3.0))
    at = np.arange(spheres)
    corners = np.stack([at % across, at // across % across, at // across**2], axis=1)
    positions = spacing * (corners + 0.5) + RADIUS * rng.uniform(-jitter, jitter, corners.shape)
    radii = RADIUS * rng.uniform(1.0 - spread, 1.0 + spread, spheres)
    return Bed(across * spacing, radii, positions, rng.normal(0.0, speed, corners.shape), np.zeros(corners.shape))


def our_model(bed: Bed) -> Model:
    """The bed as a model."""
    builder = ModelBuilder(units="kg-m-s")
    builder.add_grains(bed.positions, bed.radii, density=DENSITY, velocities=bed.velocities, spins=bed.spins)
    zero, far = (0.0, 0.0, 0.0), (bed.length, bed.length, 0.0)
    faces = ((zero, (0, 0, 1)), (zero, (1, 0, 0)), (zero, (0, 1, 0)), (far, (-1, 0, 0)), (far, (0, -1, 0)))
    walls = tuple(Plane(point=point, normal=normal, kind="grain") for point, normal in faces)
    builder.add_force(Contact(materials={"grain": MATERIAL}, walls=walls))
    builder.add_force(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return builder.build()


class Running(TimedSteps):
    """A bed in our engine, as far as it has come."""

    def __init__(self, bed: Bed) -> None:
        super().__init__(our_model(bed), STEP, f"the bed of {bed.spheres:,} spheres")
        self.bed = bed

    def now(self) -> Bed:
        """Where its spheres are."""
        q, u = self.state.q.reshape(-1, 7), self.state.u.reshape(-1, 6)
        return Bed(self.bed.length, self.bed.radii, q[:, :3].copy(), u[:, :3].copy(), _turned(q[:, 3:], u[:, 3:]))

    @property
    def contacts(self) -> int:
        """Contacts at present, those with walls among them."""
        return len(self.state.contacts.pairs)


def _turned(e: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors turned by Euler parameters, scalar first."""
    t = 2.0 * np.cross(e[:, 1:], v)
    return v + e[:, :1] * t + np.cross(e[:, 1:], t)


def size_and_speed(spheres: int, threads: int, steps: int, rounds: int, turns: int) -> dict[str, Any]:
    """One size in this process: spheres, the best time of a sphere's step [ns], contacts and memory for a sphere.

    In each round the same steps are taken in so many turns. Small beds have more of them than large ones, so that their
    rounds are about as long: what else the machine does then falls on small beds as on large ones.
    """
    running = Running(dense(spheres))
    running.advance(threads, MIXING)
    start, best = running.state.copy(), math.inf
    for _ in range(rounds):
        taken = 0.0
        for _ in range(turns):
            running.state.take(start)
            taken += running.advance(threads, steps)
        best = min(best, taken / turns)
    return {
        "spheres": spheres,
        "ns_per_sphere_step": 1e9 * best / (steps * spheres),
        "contacts_per_sphere": running.contacts / spheres,
        "bytes_per_sphere": peak_bytes() / spheres,
    }


def main() -> None:
    """The program."""
    print(json.dumps(size_and_speed(*map(int, sys.argv[1:]))))


if __name__ == "__main__":
    main()
