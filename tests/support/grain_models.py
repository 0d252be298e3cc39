"""Grains as models of the engine and as the plain NumPy ones beside them, and what a run of either says of contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import articulon as ar
from articulon import Run
from articulon.forces.contact.contact_columns import KEPT, RECORD, RESISTANCE
from articulon.forces.contact.contact_tables import SLIDES
from articulon.forces.evaluation import Evaluator
from articulon.integrate import Canonical
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.scaling import NoScaling
from tests.support.contact_reference import Contacts, Grains, Law, Mixture, pair_moduli
from tests.support.random_models import rotation_matrix

GRAIN = {"young": 1e7, "poisson": 0.3, "static_friction": 0.5, "restitution": 0.7}
"""Soft glass, so that steps may be long [Pa]."""


class Motion(NamedTuple):
    """Of the grains, in the order of the bodies, world frame."""

    positions: np.ndarray
    velocities: np.ndarray
    spins: np.ndarray


def grains(
    positions: Any,
    radii: Any,
    *walls: Any,
    density: float = 2500.0,
    velocities: Any = None,
    spins: Any = None,
    material: Mapping[str, Any] = GRAIN,
    materials: Mapping[str, Mapping[str, Any]] | None = None,
    gravity: Sequence[float] | None = None,
    lengths: Sequence[float] | None = None,
    kinds: str | Sequence[str] = "grain",
    forces: Sequence[Any] = (),
    **law: Any,
) -> Any:
    """A model of grains [kg, m, s]; ``law`` are options of ``ar.forces.Contact``, which may overlap deeply here."""
    box = None if lengths is None else ar.Box(lengths=tuple(lengths))
    builder = ar.ModelBuilder(units="kg-m-s", box=box)
    builder.add_grains(
        np.asarray(positions, dtype=float).reshape(-1, 3),
        radii,
        density=density,
        velocities=velocities,
        spins=spins,
        kind=kinds,
    )
    table = {"grain": dict(material)} if materials is None else {k: dict(v) for k, v in materials.items()}
    law.setdefault("largest_overlap", 0.3)
    if walls:
        law["walls"] = list(walls)
    builder.add_force(ar.forces.Contact(materials=table, **law))
    if gravity is not None:
        builder.add_force(ar.forces.Gravity(acceleration=tuple(gravity)))
    for force in forces:
        builder.add_force(force)
    return builder.build()


def moving(start: Motion, radii: np.ndarray, *walls: Any, **options: Any) -> Any:
    """A model of grains that start so; ``options`` are those of ``grains``."""
    return grains(start.positions, radii, *walls, velocities=start.velocities, spins=start.spins, **options)


def run(model: Any, step: float, steps: int, frames: int = 1, **options: Any) -> Run:
    """So many fixed steps of velocity Verlet."""
    return ar.simulate(model, step * steps, rule="velocity-verlet", step=step, frames=frames, **options)


def moved_by(model: Any) -> tuple[Any, Any]:
    """What moves a model by velocity Verlet in steps of 10 μs, and its state."""
    evaluator, policy = Evaluator(model, 0, 1.0, 1), NoScaling()
    rule = Canonical(rule="velocity-verlet", step=1e-5)
    moved = driver(Problem(evaluator, rule, policy), model.initial_state())
    return moved, evaluator.initial_state(moved.history)


def bits_in_chunks(model: Any, chunks: tuple[int, ...]) -> list[bytes]:
    """The whole state after so many steps at a time."""
    moved, state = moved_by(model)
    for steps in chunks:
        moved.advance(state, 1e9, steps)
    assert state.counters[0] == sum(chunks)
    return [array.tobytes() for array in state.arrays().values()]


def motion(trajectory: Run, frame: int = -1) -> Motion:
    """Of a model whose bodies are all grains; speeds of a free joint are those of the body frame about it."""
    q, u = trajectory.q[frame].reshape(-1, 7), trajectory.u[frame].reshape(-1, 6)
    return Motion(
        q[:, :3], u[:, :3], np.array([rotation_matrix(e) @ w for e, w in zip(q[:, 3:], u[:, 3:], strict=True)])
    )


def off(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, as a part of the largest that is expected."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def contacts(trajectory: Run) -> Contacts:
    """Those at the end of a run, as the plain NumPy grains have them."""
    pairs, kept = np.array(trajectory.state.contacts.pairs), trajectory.state.contacts.memory
    record = kept[:, : RECORD.width]
    normals = record[:, RECORD.normal : RECORD.normal + 3]
    force, elastic = record[:, RECORD.force : RECORD.force + 3], record[:, RECORD.elastic]
    viscous = (force * normals).sum(axis=1) - elastic
    radii = trajectory.model.sites.radius
    at_wall = pairs[:, 1] >= len(radii)
    reach = radii[pairs[:, 0]] + np.where(at_wall, 0.0, radii[np.where(at_wall, 0, pairs[:, 1])])
    arms = record[:, RECORD.arm] + record[:, RECORD.other_arm]
    return Contacts(
        pairs,
        record[:, RECORD.displacement : RECORD.displacement + 3],
        np.where(at_wall, record[:, RECORD.other_arm], reach - arms),
        normals,
        elastic,
        viscous,
        force - (elastic + viscous)[:, None] * normals,
        kept[:, KEPT.friction_state] == SLIDES,
    )


def contact_sums(found: Contacts, radii: np.ndarray, convention: str = "consistent") -> tuple[np.ndarray, np.ndarray]:
    """Forces and torques that the contacts of spheres with spheres exert, each of shape (spheres, 3)."""
    radii = np.asarray(radii)
    forces, torques = np.zeros((2, len(radii), 3))
    i, j = found.pairs.T
    total = (found.elastic + found.viscous)[:, None] * found.normals + found.tangential
    couple = -np.cross(found.normals, found.tangential)
    for at, other, sign in ((i, j, 1.0), (j, i, -1.0)):
        np.add.at(forces, at, sign * total)
        lever = radii[at] - 0.5 * found.overlaps
        if convention == "consistent":
            lever = radii[at] * (1.0 - found.overlaps / (radii[at] + radii[other]))
        np.add.at(torques, at, lever[:, None] * couple)
    return forces, torques


def couples(trajectory: Run, count: int) -> np.ndarray:
    """What resists the rolling and twisting of spheres against each other exerts, shape (spheres, 3)."""
    pairs, at = trajectory.state.contacts.pairs, KEPT.resistance + RESISTANCE.couple
    found = np.zeros((count, 3))
    for k, sign in ((0, 1.0), (1, -1.0)):
        np.add.at(found, pairs[:, k], sign * trajectory.state.contacts.memory[:, at : at + 3])
    return found


def reference_law(material: Mapping[str, Any] = GRAIN, other: Mapping[str, Any] | None = None, **options: Any) -> Law:
    """The law of two materials for the plain NumPy grains; coefficients are the first one's."""
    second = material if other is None else other
    young, shear = pair_moduli((material["young"], second["young"]), (material["poisson"], second["poisson"]))
    static = material.get("static_friction", 0.0)
    return Law(
        young,
        shear,
        static,
        material.get("kinetic_friction", static),
        options.pop("restitution", material.get("restitution")),
        tangential_damping=options.pop("tangential_damping", material.get("tangential_damping_ratio", 1.0)),
        **options,
    )


def reference_mixture(materials: Sequence[Mapping[str, Any]], kinds: np.ndarray, **options: Any) -> Mixture:
    """The laws of several materials for the plain NumPy grains: coefficients of two are the geometric means."""

    def mean(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
        return {key: np.sqrt(one[key] * other[key]) for key in one if key not in ("young", "poisson")}

    def law(one: Mapping[str, Any], other: Mapping[str, Any]) -> Law:
        return reference_law({**one, **mean(one, other)}, other, **options)

    return Mixture([[law(one, other) for other in materials] for one in materials], kinds)


def heap(
    seed: int, across: int, radius: float, *, tight: float = 0.99, spread: float = 0.05, speed: float = 0.1
) -> tuple[np.ndarray, np.ndarray, Motion]:
    """Spheres of several sizes near the points of a cubic lattice, of which many overlap a little, and turn.

    Returns radii, masses of density 2,500, and their motion; the lattice has ``across``³ points 2 R ``tight`` apart.
    """
    rng = np.random.default_rng(seed)
    grid = np.indices((across,) * 3).reshape(3, -1).T * (2.0 * radius * tight)
    positions = grid + rng.uniform(-0.02, 0.02, grid.shape) * radius
    radii = radius * rng.uniform(1.0 - spread, 1.0 + spread, len(grid))
    velocities = rng.normal(0.0, speed, grid.shape)
    spins = rng.normal(0.0, speed / radius, grid.shape)
    return radii, 2500.0 * 4.0 / 3.0 * np.pi * radii**3, Motion(positions, velocities, spins)


def reference(radii: np.ndarray, masses: np.ndarray, start: Motion, law: Law | Mixture, **options: Any) -> Grains:
    """The plain NumPy grains."""
    return Grains(radii, masses, start.positions, start.velocities, start.spins, law, **options)
