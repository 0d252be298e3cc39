"""Coiled chains of rods on spherical joints at kT = 1: one in free flight, or a melt of beads that repel."""

from __future__ import annotations

from typing import Any

import numpy as np

import articulon as ar
from articulon.cases.builders.polymer_growth import Skeleton, grown
from articulon.model.array_rotations import matrices


def turned_by(axis: np.ndarray, angle: float) -> np.ndarray:
    """Euler parameters of a turn."""
    return np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis / np.linalg.norm(axis)])


def shortest_turn(direction: np.ndarray) -> np.ndarray:
    """Euler parameters of a turn of the z axis into a direction."""
    axis = np.cross([0.0, 0.0, 1.0], direction)
    if not axis.any():
        axis = np.array([1.0, 0.0, 0.0])
    return turned_by(axis, float(np.arccos(np.clip(direction[2] / np.linalg.norm(direction), -1.0, 1.0))))


def add_rods(builder: Any, name: str, start: np.ndarray, turns: list[np.ndarray], inertia: float, mass: float) -> None:
    """Rods of length 1, each turned against the one before, with a bead at its end."""
    parent = None
    for k, turn in enumerate(turns):
        free = parent is None
        parent = builder.add_body(
            f"{name}-{k}",
            parent=parent,
            mass=mass,
            com=(0.0, 0.0, 1.0),
            inertia=inertia,
            joint=ar.Free() if free else ar.Spherical(),
            q=np.concatenate([start, turn]) if free else turn,
            position=(0.0, 0.0, 0.0 if free else 1.0),
        )
        builder.add_site(parent, (0.0, 0.0, 1.0), kind="A")


def thermal(builder: Any, rng: np.random.Generator, mass: float) -> tuple[Any, np.ndarray]:
    """The model, and speeds at kT of the beads' mass."""
    model = builder.build()
    root = np.linalg.cholesky(ar.mass_matrix(model, model.q0))
    return model, np.linalg.solve(root.T, np.sqrt(mass) * rng.normal(size=model.nu))


def coiled_chain(inertia: float, links: int = 16, mass: float = 1.0, seed: int = 1) -> tuple[Any, np.ndarray]:
    """A chain in free flight, bent by 0.3 to 2 rad at every joint, and its speeds.

    Parameters
    ----------
    inertia
        Moment of inertia of every bead about its centre [mass · length²].
    links
        How many rods.
    mass
        Of every bead [mass]; kT is as large.
    seed
        Of shape and speeds.
    """
    rng, builder = np.random.default_rng(seed), ar.ModelBuilder(units="lj")
    add_rods(builder, "rod", np.zeros(3), coil(rng, links), inertia, mass)
    return thermal(builder, rng, mass)


def apart(inertia: float, seeds: list[int]) -> tuple[Any, np.ndarray]:
    """Those chains in one model, which do not feel each other."""
    builder, speeds = ar.ModelBuilder(units="lj"), []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        add_rods(builder, f"rod-{seed}", np.zeros(3), coil(rng, 16), inertia, 1.0)
        speeds.append(coiled_chain(inertia, seed=seed)[1])
    return builder.build(), np.concatenate(speeds)


def coil(rng: np.random.Generator, links: int) -> list[np.ndarray]:
    """Turns by 0.3 to 2 rad about any axis."""
    return [turned_by(rng.normal(size=3), rng.uniform(0.3, 2.0)) for _ in range(links)]


def melt(chains: int, links: int, inertia: float, density: float = 0.6, seed: int = 1) -> tuple[Any, np.ndarray]:
    """Chains in a periodic cube whose beads repel each other, and their speeds.

    Parameters
    ----------
    chains, links
        How many chains, and rods in each.
    inertia
        Moment of inertia of every bead about its centre [mass · length²].
    density
        Beads in a volume [length⁻³].
    seed
        Of shapes and speeds.
    """
    rng = np.random.default_rng(seed)
    edge, count = float(np.cbrt(chains * links / density)), links + 1
    parent = np.arange(-1, chains * count - 1)
    parent[::count] = -1
    skeleton = Skeleton(np.repeat(np.arange(chains), count), parent, np.empty((0, 2), dtype=np.int64))
    edges = np.full(3, edge)
    places = grown(skeleton, 1.0, 0.95, edges, edges, seed).reshape(chains, count, 3)
    builder = ar.ModelBuilder(units="lj", box=ar.Box((edge,) * 3))
    for c in range(chains):
        frame, turns = np.eye(3), []
        for bond in np.diff(places[c], axis=0):
            turns.append(shortest_turn(frame.T @ bond))
            frame = frame @ matrices(turns[-1])
        add_rods(builder, f"chain-{c}", places[c, 0], turns, inertia, 1.0)
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    return thermal(builder, rng, 1.0)
