"""The divide-and-conquer algorithm against the articulated-body algorithm and the dense mass matrix.

Small blocks make small models have many joins: most tests run with blocks of one, of three, and of the usual size.
"""

from __future__ import annotations

import functools
import math
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.dca.assembly_tree import LINKS_PER_BLOCK, AssemblyTree, assembly_tree
from articulon.dynamics.dca.divide_and_conquer import Columns
from articulon.dynamics.multibody_functions import link_wrenches
from articulon.dynamics.state_functions import scratch
from articulon.model import kernel_tables
from tests.support import bounds
from tests.support.divided import divided
from tests.support.random_models import (
    CHAIN_SHAPES,
    Situation,
    chain,
    random_forest,
    random_situation,
    to_articulon,
)
from tests.support.reference import Reference, norm
from tests.support.threads import on_one_and_two

CHAINS = ["revolute", "spherical", "mixed"]
"""A straight chain of universal joints is not among them: it is so stiff beside its twist that its accelerations,
correctly rounded, already miss the bound of the backward error."""
BLOCKS = [1, 3, LINKS_PER_BLOCK]

every_forest = pytest.mark.parametrize("seed", range(20))
every_block = pytest.mark.parametrize("links_per_block", BLOCKS)


@functools.cache
def case(seed: int) -> tuple[Situation, Any]:
    rng = np.random.default_rng([seed, 61])
    description = random_forest(rng, int(rng.integers(1, 61)), max_depth=20)
    return random_situation(description, rng), to_articulon(description)


def solve(
    model: Any,
    s: Situation,
    tree: AssemblyTree,
    tau: np.ndarray | None = None,
    wrench: np.ndarray | None = None,
    moving: np.ndarray | None = None,
    parallel: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """u' and the links' accelerations, by columns; the situation's own forces and motion unless others are given."""
    tau = s.tau[None] if tau is None else tau
    columns, links = len(tau), model.forest.mass.size
    wrench = link_wrenches(model, s.q, s.wrenches)[None] if wrench is None else wrench
    moving = np.ones(columns, dtype=np.int64) if moving is None else moving
    udot, acceleration = np.full((columns, model.nu), np.inf), np.full((columns, links, 6), np.inf)
    divided(model, tree, s.q, s.u, Columns(tau, wrench, moving, udot, acceleration), s.gravity, parallel)
    return udot, acceleration


def articulated(model: Any, s: Situation) -> np.ndarray:
    return ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity)


def allowed(model: Any, s: Situation, udot: np.ndarray) -> float:
    """How far two computations of the same accelerations may lie apart."""
    matrix = ar.mass_matrix(model, s.q)
    bias = ar.inverse_dynamics(model, s.q, s.u, 0 * s.u, wrenches=s.wrenches, gravity=s.gravity)
    solved = bounds.forward(float(np.linalg.cond(matrix)), udot)
    return solved + bounds.forward_of_forces(matrix, s.tau, bias)


@every_block
@every_forest
def test_accelerations_agree_with_the_articulated_body_algorithm(seed: int, links_per_block: int) -> None:
    s, model = case(seed)
    expected = articulated(model, s)
    of_links = scratch(model).acceleration.copy()
    udot, acceleration = solve(model, s, assembly_tree(kernel_tables(model).forest, links_per_block))
    tolerance = allowed(model, s, expected)
    assert np.linalg.norm(udot[0] - expected) <= tolerance
    assert np.abs(acceleration[0] - of_links).max(initial=0) <= tolerance * len(of_links)


@every_block
@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("shape", CHAIN_SHAPES)
@pytest.mark.parametrize("joints", CHAINS)
def test_backward_error_on_chains(joints: str, shape: str, n: int, links_per_block: int) -> None:
    """Without the correction of the gaps nearly straight chains miss it, ten times."""
    rng = np.random.default_rng([n, *map(ord, joints + shape)])
    description, q = chain(rng, n, joints, shape)
    s, model, reference = random_situation(description, rng, q), to_articulon(description), Reference(description)
    udot, _ = solve(model, s, assembly_tree(kernel_tables(model).forest, links_per_block))
    bias = reference.bias(s.q, s.u, s.wrenches, s.gravity)
    residual = reference.inverse_dynamics(s.q, s.u, udot[0], s.wrenches, s.gravity) - s.tau
    assert norm(residual) <= bounds.backward(n, s.tau, bias)


@every_block
@pytest.mark.parametrize("seed", range(5))
def test_columns_of_unit_forces_are_the_inverse_mass_matrix(seed: int, links_per_block: int) -> None:
    s, model = case(seed)
    tau = np.eye(model.nu)
    wrench = np.zeros((model.nu, model.forest.mass.size, 6))
    still = np.zeros(model.nu, dtype=np.int64)
    udot, _ = solve(model, s, assembly_tree(kernel_tables(model).forest, links_per_block), tau, wrench, still)
    matrix = ar.mass_matrix(model, s.q)
    inverse = np.linalg.inv(matrix)
    tolerance = 10 * bounds.EPS * np.linalg.cond(matrix) * np.linalg.norm(inverse)
    np.testing.assert_allclose(udot, inverse, rtol=0, atol=tolerance)


@every_block
@pytest.mark.parametrize("seed", range(5))
def test_columns_add_up_and_only_moving_ones_feel_velocities_and_gravity(seed: int, links_per_block: int) -> None:
    """All forces at once on the moving model are the moving model without forces, plus τ, plus the wrenches."""
    s, model = case(seed)
    wrenches = link_wrenches(model, s.q, s.wrenches)
    nothing, none = np.zeros_like(s.tau), np.zeros_like(wrenches)
    tau = np.array([s.tau, nothing, s.tau, nothing])
    wrench = np.array([wrenches, none, none, wrenches])
    moving = np.array([1, 1, 0, 0])
    udot, acceleration = solve(
        model, s, assembly_tree(kernel_tables(model).forest, links_per_block), tau, wrench, moving
    )
    tolerance = allowed(model, s, udot[0]) + sum(allowed(model, s, column) for column in udot[1:])
    assert np.linalg.norm(udot[0] - udot[1:].sum(axis=0)) <= tolerance
    assert np.abs(acceleration[0] - acceleration[1:].sum(axis=0)).max(initial=0) <= tolerance * len(wrenches)
    alone, _ = solve(
        model, s, assembly_tree(kernel_tables(model).forest, links_per_block), tau[3:], wrench[3:], moving[3:]
    )
    assert np.linalg.norm(alone[0] - udot[3]) <= allowed(model, s, udot[3])


@pytest.mark.parametrize("joints", CHAINS)
def test_the_bits_are_the_same_for_any_number_of_threads(joints: str) -> None:
    rng = np.random.default_rng(5)
    description, q = chain(rng, 150, joints, "nearly-straight")
    branching = random_forest(rng, 150, max_depth=40, root_chance=0.02)
    for each, at in ((description, q), (branching, None)):
        s, model = random_situation(each, rng, at), to_articulon(each)
        tree = assembly_tree(kernel_tables(model).forest, 4)
        tree = tree._replace(parallel=np.ones_like(tree.parallel))
        expected = solve(model, s, tree)
        for found in on_one_and_two(partial(solve, model, s, tree, parallel=True)):
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])


def parents_of(shape: str, n: int) -> np.ndarray:
    before = np.arange(n) - 1
    if shape == "chain":
        return before
    if shape == "star":
        return np.where(before < 0, -1, 0)
    if shape == "comb":  # every second link is a tooth
        return np.where(np.arange(n) % 2 == 1, before, before - 1).clip(-1)
    if shape == "star of chains":
        return np.where(np.arange(n) % 100 == 1, 0, before)
    if shape == "comb of chains":  # teeth of 100 links
        return np.where((np.arange(n) % 101 == 0) & (before >= 0), before - 100, before)
    if shape == "binary":
        return (np.arange(n) - 1) // 2
    rng = np.random.default_rng(1)
    return np.array([-1, *(int(rng.integers(0, i)) for i in range(1, n))])


@pytest.mark.parametrize("links_per_block", [1, LINKS_PER_BLOCK])
@pytest.mark.parametrize("shape", ["chain", "star", "comb", "star of chains", "comb of chains", "binary", "random"])
def test_depth_grows_with_the_logarithm_of_the_number_of_links(shape: str, links_per_block: int) -> None:
    """At most two steps for every halving of the weight, and no link is left out."""
    forest = chain_forest()
    for n in (500, 3000, 12000):
        parent = parents_of(shape, n)
        tree = assembly_tree(forest._replace(parent=parent), links_per_block)
        assert tree.depth <= 2 * math.log2(n) + 4
        np.testing.assert_array_equal(np.sort(tree.link), np.arange(n))
        sizes = (tree.end - tree.start)[tree.kind == 0]
        assert sizes.sum() == n
        assert sizes.max() <= links_per_block + 1
        # An assembly needs its parts before, whatever hangs on a block before the block.
        level = np.empty(tree.kind.size, dtype=int)
        level[tree.order] = np.repeat(np.arange(tree.depth), np.diff(tree.level))
        for part in (tree.inboard, tree.outboard):
            has = part >= 0
            assert np.all(level[part[has]] < level[has])


@functools.cache
def chain_forest() -> Any:
    description, _ = chain(np.random.default_rng(0), 2, "revolute", "straight")
    return to_articulon(description).forest


def test_a_forest_without_links_is_solved() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("base", joint=ar.Weld(), mass=1.0, com=np.zeros(3), inertia=np.eye(3))
    model = builder.build()
    tree = assembly_tree(kernel_tables(model).forest)
    assert tree.depth == 0
    nothing = np.zeros(0)
    s = Situation(nothing, nothing, nothing, np.zeros((1, 6)), np.zeros(3))
    for parallel in (False, True):
        assert solve(model, s, tree, parallel=parallel)[0].shape == (1, 0)


LONG = """
import articulon as ar
builder = ar.ModelBuilder(units="lj")
parent = None
for k in range(1030):
    hinge = {"joint": ar.Revolute(axis=(0, 0, 1)), "position": (1.0, 0.0, 0.0)}
    parent = builder.add_body(f"link{k}", parent=parent, mass=1.0, inertia=0.1, **hinge)
model = builder.build()
print(ar.forward_dynamics(model, model.q0, model.u0, solver="divide-and-conquer").size)
"""


@pytest.mark.slow
def test_a_process_that_loads_everything_from_the_cache_starts_its_threads() -> None:
    """The second one at the latest has nothing to compile."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "1030\n"), done.stderr
