"""The three solvers on forests and long chains without loops, against the equations in extended precision.

The chains are those of Featherstone's accuracy study (1999) of divide-and-conquer. Bounds: forward error 10 ε cond(M),
backward error 1e-14 n (|tau| + |bias|), to which for kane 10 ε ||M| |u'|| is added: a backward stable factorisation
(LAPACK's by Cholesky, of the exact M, checked) leaves residuals of that size, up to twice the first part on nearly
straight chains of a hundred spherical joints, where M is large.
"""

from __future__ import annotations

import functools
import platform
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support import bounds
from tests.support.loop_models import SOLVERS
from tests.support.random_models import (
    CHAIN_KINDS,
    KINDS,
    SOLVED_CHAINS,
    Situation,
    chain,
    random_forest,
    random_situation,
    to_articulon,
)
from tests.support.reference import EXTENDED, Reference, dense_solve, norm
from tests.support.threads import on_one_and_two

# Apple's processors have no floating-point format beyond double: there a reference cannot be better than the engine.
pytestmark = pytest.mark.skipif(
    np.finfo(EXTENDED).eps > 1e-18, reason=f"no extended precision on {platform.system()} {platform.machine()}"
)

every_solver = pytest.mark.parametrize("solver", SOLVERS)


class Case:
    """A model without loops, what acts on it, and the truth."""

    def __init__(self, description: Any, situation: Situation) -> None:
        self.s, self.n = situation, len(description)
        self.model, self.reference = to_articulon(description), Reference(description)
        s = self.s
        self.bias = self.reference.bias(s.q, s.u, s.wrenches, s.gravity)

    @functools.cached_property
    def matrix(self) -> np.ndarray:
        """M."""
        return self.reference.mass_matrix(self.s.q)

    @functools.cached_property
    def truth(self) -> tuple[np.ndarray, float]:
        """u' and cond(M)."""
        return dense_solve(self.matrix, self.s.tau.astype(EXTENDED) - self.bias)

    def accelerations(self, solver: str) -> np.ndarray:
        s = self.s
        return ar.forward_dynamics(
            self.model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity, solver=solver
        )

    def backward_error(self, solver: str, udot: np.ndarray) -> float:
        """|inverse dynamics of udot − tau|, over what is allowed."""
        s = self.s
        residual = self.reference.inverse_dynamics(s.q, s.u, udot, s.wrenches, s.gravity) - s.tau
        allowed = bounds.backward(self.n, s.tau, self.bias)
        if solver == "kane":
            allowed += 10 * bounds.EPS * norm(np.abs(self.matrix.astype(float)) @ np.abs(udot))
        return norm(residual) / allowed

    def forward_error(self, udot: np.ndarray) -> float:
        """|udot − truth|, over what is allowed."""
        truth, condition = self.truth
        return norm(udot - truth) / bounds.forward(condition, truth)


@functools.lru_cache(maxsize=2)  # matrices of long chains take a hundred megabytes
def chain_case(joints: str, shape: str, n: int) -> Case:
    rng = np.random.default_rng([n, *map(ord, joints + shape)])
    description, q = chain(rng, n, joints, shape)
    return Case(description, random_situation(description, rng, q))


@pytest.mark.slow
@pytest.mark.parametrize(("joints", "shape", "n"), SOLVED_CHAINS)
def test_errors_on_chains(joints: str, shape: str, n: int) -> None:
    """Forward and backward, of every solver: the truth takes longer than all of them."""
    case = chain_case(joints, shape, n)
    found = {solver: case.accelerations(solver) for solver in SOLVERS}
    errors = {(solver, "forward"): case.forward_error(udot) for solver, udot in found.items()}
    errors |= {(solver, "backward"): case.backward_error(solver, udot) for solver, udot in found.items()}
    assert {which: error for which, error in errors.items() if not error <= 1} == {}


@functools.cache
def forest_case(seed: int) -> Case:
    rng = np.random.default_rng([seed, 21])
    description = random_forest(rng, int(rng.integers(2, 31)))
    return Case(description, random_situation(description, rng))


@pytest.mark.parametrize("seed", [pytest.param(s, marks=() if s < 40 else pytest.mark.slow) for s in range(300)])
def test_solvers_agree_on_random_forests(seed: int) -> None:
    case = forest_case(seed)
    allowed = bounds.forward_of_forces(case.matrix, case.s.tau, case.bias)
    for solver in SOLVERS:
        assert norm(case.accelerations(solver) - case.truth[0]) <= allowed, solver


def test_the_random_forests_have_every_joint() -> None:
    assert {body.kind for seed in range(40) for body in forest_case(seed).reference.description.bodies} == set(KINDS)


@pytest.mark.parametrize("n", [50, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", range(5))
@every_solver
def test_deep_branching_trees(solver: str, seed: int, n: int) -> None:
    rng = np.random.default_rng([seed, n, 22])
    description = random_forest(rng, n, max_depth=n, root_chance=0.01)
    case = Case(description, random_situation(description, rng))
    udot = case.accelerations(solver)
    assert case.forward_error(udot) <= 1 and case.backward_error(solver, udot) <= 1


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 64, 65])
@every_solver
def test_every_number_of_bodies_assembles(solver: str, n: int) -> None:
    """The tree by which bodies are assembled is as unbalanced as it can be at 2ᵏ + 1 bodies."""
    case = chain_case("mixed", "nearly-straight", n)
    assert case.forward_error(case.accelerations(solver)) <= 1


@pytest.mark.parametrize("joints", CHAIN_KINDS)
@every_solver
def test_calling_twice_gives_the_same_bits(solver: str, joints: str) -> None:
    case = chain_case(joints, "coiled", 100)
    first = case.accelerations(solver)
    for other in SOLVERS:
        case.accelerations(other)
    assert np.array_equal(first, case.accelerations(solver))


@pytest.mark.parametrize("n", [100, 1000])
@every_solver
def test_any_number_of_threads_gives_the_same_bits(solver: str, n: int) -> None:
    if solver == "kane" and n > 100:
        n = 300  # O(n³)
    case = chain_case("mixed", "nearly-straight", n)
    one, two = on_one_and_two(lambda: case.accelerations(solver))
    assert np.array_equal(one, two)


def test_an_unknown_solver_is_refused_with_those_there_are() -> None:
    case = chain_case("revolute", "straight", 10)
    with pytest.raises(ar.ArticulonError, match="gaussian") as caught:
        case.accelerations("gaussian")
    assert all(solver in str(caught.value) for solver in SOLVERS)
