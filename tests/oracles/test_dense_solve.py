"""Long chains against Newton and Euler's equations in extended precision: backward and forward error of the solver.

On these chains an articulated inertia that is not exactly symmetric loses every digit by some hundred spherical joints.
"""

from __future__ import annotations

import functools
import platform
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support import bounds
from tests.support.random_models import (
    CHAIN_KINDS,
    CHAIN_SHAPES,
    SOLVED_CHAINS,
    Description,
    Situation,
    chain,
    random_forest,
    random_situation,
    to_articulon,
)
from tests.support.reference import EXTENDED, Reference, dense_solve, norm

# Apple's processors have no floating-point format beyond double: there a reference cannot be better than the engine.
pytestmark = pytest.mark.skipif(
    np.finfo(EXTENDED).eps > 1e-18, reason=f"no extended precision on {platform.system()} {platform.machine()}"
)

every_chain = pytest.mark.parametrize(
    ("joints", "shape"), [(joints, shape) for joints in CHAIN_KINDS for shape in CHAIN_SHAPES]
)
every_length = pytest.mark.parametrize("n", [10, 30, 100, 300, 1000])


@functools.cache
def case(joints: str, shape: str, n: int) -> tuple[Description, Situation, Any, Reference]:
    rng = np.random.default_rng([n, *map(ord, joints + shape)])
    description, q = chain(rng, n, joints, shape)
    return description, random_situation(description, rng, q), to_articulon(description), Reference(description)


def relative_backward_error(model: Any, s: Situation, reference: Reference, udot: np.ndarray) -> float:
    """|inverse dynamics of udot − tau|, over what is allowed."""
    bias = reference.bias(s.q, s.u, s.wrenches, s.gravity)
    residual = reference.inverse_dynamics(s.q, s.u, udot, s.wrenches, s.gravity) - s.tau
    return norm(residual) / bounds.backward(len(reference.parents), s.tau, bias)


@pytest.mark.slow
@pytest.mark.parametrize(("joints", "shape", "n"), SOLVED_CHAINS)
def test_forward_errors_on_chains_at_rest(joints: str, shape: str, n: int) -> None:
    """Under joint forces alone; in motion, test_solvers.py has both errors of every solver on the same chains.

    With no bias, nothing large hides an error: |M udot − tau| ≤ 10 ε (|M| |udot| + |tau|), by component.

    Not ε |tau|, though: already the rounding of an exact udot to double costs ε |M| |udot|, which for these chains is
    10³ to 10¹⁰ times ε |tau|.
    """
    description, s, model, reference = case(joints, shape, n)
    matrix = reference.mass_matrix(s.q)
    still = np.zeros(description.nu)
    udot = ar.forward_dynamics(model, s.q, still, tau=s.tau)
    residual = reference.inverse_dynamics(s.q, still, udot) - s.tau
    sizes = np.abs(matrix) @ np.abs(udot) + np.abs(s.tau)
    assert norm(residual) <= 10 * bounds.EPS * norm(sizes)
    expected, condition = dense_solve(matrix, s.tau.astype(EXTENDED) - reference.bias(s.q, still))
    assert norm(udot - expected) <= bounds.forward(condition, expected)


@every_length
@every_chain
def test_inverse_dynamics_on_chains(joints: str, shape: str, n: int) -> None:
    description, s, model, reference = case(joints, shape, n)
    udot = np.random.default_rng(n).normal(size=description.nu)
    tau = ar.inverse_dynamics(model, s.q, s.u, udot, wrenches=s.wrenches, gravity=s.gravity)
    expected = reference.inverse_dynamics(s.q, s.u, udot, s.wrenches, s.gravity)
    bias = reference.bias(s.q, s.u, s.wrenches, s.gravity)
    assert norm(tau - expected) <= bounds.backward(n, expected, bias)


@pytest.mark.parametrize("n", [10, 100, 300])
@every_chain
def test_mass_matrix_on_chains(joints: str, shape: str, n: int) -> None:
    _, s, model, reference = case(joints, shape, n)
    expected = reference.mass_matrix(s.q)
    scale = np.sqrt(np.diagonal(expected))
    error = np.abs(ar.mass_matrix(model, s.q) - expected) / np.outer(scale, scale)
    assert error.max() <= 1e-14 * n


@every_length
@every_chain
def test_kinetic_energy_on_chains(joints: str, shape: str, n: int) -> None:
    _, s, model, reference = case(joints, shape, n)
    expected = reference.kinetic_energy(s.q, s.u)
    assert abs(ar.kinetic_energy(model, s.q, s.u) - expected) <= 1e-14 * n * expected


@pytest.mark.parametrize("seed", range(10))
def test_backward_and_forward_error_on_deep_branching_trees(seed: int) -> None:
    rng = np.random.default_rng([seed, 4])
    n = 200
    description = random_forest(rng, n, max_depth=n, root_chance=0.01)
    s = random_situation(description, rng)
    model, reference = to_articulon(description), Reference(description)
    udot = ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity)
    expected, condition = reference.forward_dynamics(s.q, s.u, s.tau, s.wrenches, s.gravity)
    assert relative_backward_error(model, s, reference, udot) <= 1
    assert norm(udot - expected) <= bounds.forward(condition, expected)
