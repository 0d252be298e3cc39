"""The engine against Pinocchio, on 200 random forests with every kind of joint, to a depth of ten bodies.

Deeper chains of spherical joints are left to ``test_dense_solve``: there Pinocchio itself loses its digits.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support import bounds
from tests.support.pinocchio_model import PinocchioModel
from tests.support.random_models import (
    KINDS,
    Description,
    Situation,
    random_forest,
    random_situation,
    rotation_matrix,
    to_articulon,
)

SEEDS = range(200)
DEPTH = 10


@functools.cache
def forest(seed: int) -> Description:
    rng = np.random.default_rng([seed, 1])
    return random_forest(rng, int(rng.integers(1, 31)), max_depth=DEPTH)


@functools.cache
def case(seed: int) -> tuple[Description, Situation, Any, PinocchioModel, np.ndarray]:
    """Description, situation, the two engines' models, and a random udot."""
    description = forest(seed)
    rng = np.random.default_rng([seed, 2])
    situation = random_situation(description, rng)
    udot = rng.normal(size=description.nu)
    return description, situation, to_articulon(description), PinocchioModel(description), udot


def test_population_holds_every_joint_at_roots_and_inside_and_reaches_the_depth() -> None:
    forests = [forest(seed) for seed in SEEDS]
    at_roots = {body.kind for f in forests for body in f.bodies if body.parent is None}
    inside = {body.kind for f in forests for body in f.bodies if body.parent is not None}
    parents_of_others = {f.bodies[b.parent].kind for f in forests for b in f.bodies if b.parent is not None}
    assert at_roots == inside == parents_of_others == set(KINDS)
    assert max(max(f.depths) for f in forests) == DEPTH
    assert sum(1 for f in forests if sum(body.parent is None for body in f.bodies) > 1) > 50
    branches = [[body.parent for body in f.bodies if body.parent is not None] for f in forests]
    assert sum(1 for parents in branches if len(set(parents)) < len(parents)) > 100


@pytest.mark.parametrize("seed", SEEDS)
def test_body_poses(seed: int) -> None:
    description, s, model, pinocchio, _ = case(seed)
    positions, quaternions = ar.body_poses(model, s.q)
    expected_positions, expected_rotations = pinocchio.body_poses(s.q)
    reach = 1 + np.abs(expected_positions).max()
    assert positions.shape == (len(description), 3)
    assert quaternions.shape == (len(description), 4)
    assert np.abs(positions - expected_positions).max() <= 1e-14 * len(description) * reach
    rotations = np.array([rotation_matrix(e) for e in quaternions])
    assert np.abs(rotations - expected_rotations).max() <= 1e-14 * len(description)
    assert np.abs(np.linalg.norm(quaternions, axis=1) - 1).max() <= 1e-14 * len(description)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix(seed: int) -> None:
    description, s, model, pinocchio, _ = case(seed)
    expected = pinocchio.mass_matrix(s.q)
    scale = np.sqrt(np.diagonal(expected))
    error = np.abs(ar.mass_matrix(model, s.q) - expected) / np.outer(scale, scale)
    assert error.max() <= 1e-14 * len(description)


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy(seed: int) -> None:
    description, s, model, pinocchio, _ = case(seed)
    expected = pinocchio.kinetic_energy(s.q, s.u)
    assert abs(ar.kinetic_energy(model, s.q, s.u) - expected) <= 1e-14 * len(description) * expected


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_with_wrenches_and_gravity(seed: int) -> None:
    description, s, model, pinocchio, udot = case(seed)
    tau = ar.inverse_dynamics(model, s.q, s.u, udot, wrenches=s.wrenches, gravity=s.gravity)
    expected = pinocchio.inverse_dynamics(s, udot)
    bias = pinocchio.inverse_dynamics(s, np.zeros(description.nu))
    assert np.linalg.norm(tau - expected) <= bounds.backward(len(description), expected, bias)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_with_forces_wrenches_and_gravity(seed: int) -> None:
    description, s, model, pinocchio, _ = case(seed)
    udot = ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity)
    expected = pinocchio.forward_dynamics(s)
    assert udot.shape == (description.nu,)
    matrix = pinocchio.mass_matrix(s.q)
    bias = pinocchio.inverse_dynamics(s, np.zeros(description.nu))
    bound = bounds.forward(float(np.linalg.cond(matrix)), expected) + bounds.forward_of_forces(matrix, s.tau, bias)
    assert np.linalg.norm(udot - expected) <= bound


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_satisfies_pinocchio_equations_of_motion(seed: int) -> None:
    description, s, model, pinocchio, _ = case(seed)
    udot = ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity)
    bias = pinocchio.inverse_dynamics(s, np.zeros(description.nu))
    residual = pinocchio.inverse_dynamics(s, udot) - s.tau
    assert np.linalg.norm(residual) <= bounds.backward(len(description), s.tau, bias)
