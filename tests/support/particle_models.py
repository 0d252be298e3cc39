"""Random configurations of particles and models made of them, for the engine and for its peers alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import articulon as ar
from tests.support.pair_sums import Sums
from tests.support.random_models import quaternion_product, rotation_by


def box_vectors(lengths: Sequence[float], tilts: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Edges (lx, 0, 0), (xy, ly, 0) and (xz, yz, lz), one a row."""
    (lx, ly, lz), (xy, xz, yz) = lengths, tilts
    return np.array([[lx, 0.0, 0.0], [xy, ly, 0.0], [xz, yz, lz]])


def scattered(rng: np.random.Generator, count: int, vectors: np.ndarray, distance: float) -> np.ndarray:
    """Random positions in a box, none nearer than ``distance`` to another or to its images, shape (count, 3)."""
    inverse = np.linalg.inv(vectors)
    kept = np.zeros((0, 3))
    for _ in range(100_000):
        if len(kept) == count:
            return kept
        new = rng.random(3) @ vectors
        apart = (kept - new) @ inverse
        apart = (apart - np.rint(apart)) @ vectors
        if not len(kept) or (apart**2).sum(axis=1).min() > distance**2:
            kept = np.vstack([kept, new])
    raise AssertionError("too many particles for so small a box")


def wandered(rng: np.random.Generator, positions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The same configuration of a periodic box, every particle whole edges away: coordinates are never wrapped."""
    return positions + rng.integers(-2, 3, positions.shape) @ vectors


def chain(rng: np.random.Generator, count: int, length: float = 1.0, distance: float = 0.9) -> np.ndarray:
    """A random walk that keeps off itself, no three bonds of it longer than 2.3 from end to end, shape (count, 3)."""
    sites = [np.zeros(3)]
    for _ in range(100_000):
        if len(sites) == count:
            return np.array(sites)
        step = rng.normal(size=3)
        new = sites[-1] + step * (length * rng.uniform(0.93, 1.07) / np.linalg.norm(step))
        apart = [float(np.linalg.norm(new - old)) for old in sites[:-1]]
        if min(apart, default=9.0) > distance and (len(apart) < 2 or apart[-2] < 2.3 * length):
            sites.append(new)
    raise AssertionError("the chain has run into itself")


def particles(
    positions: np.ndarray,
    *forces: Any,
    box: Any = None,
    kinds: str | Sequence[str] = "A",
    charges: Any = 0.0,
    masses: Any = 1.0,
    velocities: Any = None,
    units: str = "lj",
) -> ar.Model:
    """A model of free particles."""
    builder = ar.ModelBuilder(units=units, box=box)
    builder.add_particles(
        len(positions),
        mass=masses,
        positions=positions,
        velocities=velocities,
        charge=charges,
        kind=kinds,
    )
    for force in forces:
        builder.add_force(force)
    return builder.build()


def engine_sums(model: Any, q: np.ndarray | None = None) -> Sums:
    """What the engine says of a model of free particles."""
    q = model.q0 if q is None else np.ascontiguousarray(q).ravel()
    forces = np.asarray(ar.generalized_forces(model, q, np.zeros(model.nu))).reshape(-1, 3)
    return Sums(
        ar.potential_energy(model, q), forces, np.asarray(ar.virial(model, q)), ar.configurational_laplacian(model, q)
    )


def assert_same(found: Sums, expected: Sums, bound: float) -> None:
    """Relative to the number itself or the largest force: a sum of both signs may vanish by chance."""
    scale = np.abs(expected.forces).max()
    assert scale > 0.0
    assert np.abs(found.forces - expected.forces).max() <= bound * scale
    assert abs(found.energy - expected.energy) <= bound * max(abs(expected.energy), scale)
    assert np.abs(found.virial - expected.virial).max() <= bound * max(np.abs(expected.virial).max(), scale)
    if np.isfinite(expected.laplacian):
        assert abs(found.laplacian - expected.laplacian) <= bound * max(abs(expected.laplacian), scale)


def derivative(function: Callable[[float], float], step: float) -> float:
    """Of a function at zero, by central differences of the fourth order."""
    near, far = (function(step) - function(-step), function(2.0 * step) - function(-2.0 * step))
    return (8.0 * near - far) / (12.0 * step)


def second_derivative(function: Callable[[float], float], step: float) -> float:
    """Of a function at zero, by central differences of the fourth order."""
    near, far = (function(step) + function(-step), function(2.0 * step) + function(-2.0 * step))
    return (16.0 * near - far - 30.0 * function(0.0)) / (12.0 * step**2)


def displaced(model: Any, q: np.ndarray, speeds: np.ndarray, amount: float) -> np.ndarray:
    """q after a motion with constant speeds, joint by joint; orientations turn about ω in the body's frame."""
    result, k, j = np.array(q, dtype=float), 0, 0
    for joint in model.joints:
        straight = joint.nq if joint.quaternion is None else joint.quaternion
        result[k : k + straight] += amount * speeds[j : j + straight]
        k, j = k + straight, j + straight
        if joint.quaternion is not None:
            turn = amount * speeds[j : j + 3]
            angle = max(float(np.linalg.norm(turn)), 1e-300)
            result[k : k + 4] = quaternion_product(q[k : k + 4], rotation_by(turn / angle, angle))
            k, j = k + 4, j + 3
    assert (k, j) == (model.nq, model.nu)
    return result
