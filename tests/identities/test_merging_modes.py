"""Locked modes: the coarse model is the fine one without the motions that are locked, deformed as these hold it."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.adaptive import locked_model
from articulon.adaptive.coarse_model import Coarse
from articulon.adaptive.lockable import check_loops, joints_of, whole_joints
from articulon.adaptive.merged_bodies import merged
from articulon.adaptive.momentum_exchange import Space, canonical, lock, relative_to
from articulon.dynamics.multibody_functions import moved
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import site_positions
from articulon.integrate.choice import driver
from articulon.integrate.integrators import Explicit
from articulon.integrate.problem import Problem
from articulon.scaling import NoScaling
from tests.support.flexible_models import FlexibleCase, flexible_builder, looped_model
from tests.support.transition_models import null_space

ROUNDING = 1e-12
"""Of numbers of size one after some hundred operations."""
SEEDS = range(12)


def random_lock(seed):
    """A random tree of rigid and flexible bodies under gravity, sites on bodies and nodes, with about half of its
    joints and modes locked: in every third case all modes of some body, so that it is rigid."""
    case = FlexibleCase(seed, n=8)
    rng = np.random.default_rng([seed, 5])
    builder, handles = flexible_builder(*case.tree, q=case.q)
    for handle, modes in zip(handles, case.tree[1], strict=True):
        builder.add_site(handle, rng.normal(size=3))
        if modes is not None:
            builder.add_site(handle, rng.normal(size=3), node=int(rng.integers(len(modes.masses))))
    builder.add_force(ar.forces.Gravity(acceleration=tuple(rng.normal(size=3))))
    model = builder.build()
    joints = joints_of(model)
    locked = (rng.random(joints.degrees_of_freedom.size) < 0.5) & (joints.degrees_of_freedom > 0)
    if seed % 3 == 0:
        for body in list(model.modes)[:2]:
            locked[joints.modes_of(model, body)] = True
    if locked[joints.degrees_of_freedom > 0].all():
        locked[np.flatnonzero(joints.degrees_of_freedom)[0]] = False
    return model, np.array(model.q0), rng.normal(size=model.nu), locked, joints


@pytest.mark.parametrize("seed", SEEDS)
def test_the_coarse_model_is_the_fine_one_without_what_is_locked(seed):
    model, q, u, locked, joints = random_lock(seed)
    coarse, merging = locked_model(model, q, locked[joints.u])
    M, own = ar.mass_matrix(model, q), ar.mass_matrix(coarse, merging.coarse(q))
    size = np.abs(M).max()
    np.testing.assert_allclose(own, M[np.ix_(merging.u, merging.u)], rtol=0, atol=ROUNDING * size)
    # Where everything is, and what it weighs, also after what is left has moved.
    slow = merging.coarse(u)
    there = moved(coarse, merging.coarse(q), slow)
    fine = moved(model, q, merging.fine_speeds(slow))
    np.testing.assert_allclose(there, merging.coarse(fine), rtol=0, atol=ROUNDING)
    own = ar.mass_matrix(coarse, there)
    expected = ar.mass_matrix(model, fine)[np.ix_(merging.u, merging.u)]
    np.testing.assert_allclose(own, expected, rtol=0, atol=1e-11 * max(size, np.abs(expected).max()))
    for ours, theirs in zip(ar.body_poses(coarse, there), ar.body_poses(model, fine), strict=True):
        sign = np.sign((ours * theirs).sum(axis=1, keepdims=True)) if ours.shape[1] == 4 else 1.0
        np.testing.assert_allclose(sign * ours, theirs, rtol=0, atol=1e-10)
    np.testing.assert_allclose(site_positions(coarse, there), site_positions(model, fine), rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_potential_energy_differs_by_a_constant(seed):
    """Of stiffness matrices that couple the modes, and of gravity."""
    model, q, u, locked, joints = random_lock(seed)
    coarse, merging = locked_model(model, q, locked[joints.u])
    differences, size = [], 0.0
    for step in (0.0, 0.3, -0.7):
        there = moved(coarse, merging.coarse(q), step * merging.coarse(u))
        fine = q.copy()
        fine[merging.q] = there
        differences.append(ar.potential_energy(model, fine) - ar.potential_energy(coarse, there))
        size = max(size, abs(ar.potential_energy(model, fine)), abs(ar.potential_energy(coarse, there)))
    np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-11 * size)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_motion_is_that_of_the_fine_model_with_the_locked_speeds_held(seed):
    model, q, u, locked, joints = random_lock(seed)
    coarse, merging = locked_model(model, q, locked[joints.u])
    fine = Evaluator(model)
    y, dy = np.zeros(model.nq + model.nu + 8), np.zeros(model.nq + model.nu + 8)
    y[: model.nq], y[model.nq : model.nq + model.nu] = q, merging.fine_speeds(merging.coarse(u))
    fine.rates(np.ones(8), 0.0, 0, y, dy)
    M = ar.mass_matrix(model, q)
    whole = M @ dy[model.nq : model.nq + model.nu]
    expected = np.linalg.solve(M[np.ix_(merging.u, merging.u)], whole[merging.u])
    state = fine.initial_state()
    state.q[:] = q
    lean = Coarse(fine, explicit(fine, state), state, locked, merged(model, joints, q, locked))
    for evaluator in (Evaluator(coarse), lean.evaluator):
        own, rates = np.zeros(coarse.nq + coarse.nu + 8), np.zeros(coarse.nq + coarse.nu + 8)
        own[: coarse.nq], own[coarse.nq : coarse.nq + coarse.nu] = merging.coarse(q), merging.coarse(u)
        evaluator.rates(np.ones(8), 0.0, 0, own, rates)
        got = rates[coarse.nq : coarse.nq + coarse.nu]
        bound = 1e-13 * np.linalg.cond(M)
        np.testing.assert_allclose(got, expected, rtol=0, atol=bound * np.abs(expected).max())
        # The works by channel are those of the same forces on the same motion.
        np.testing.assert_allclose(rates[-8:], dy[-8:], rtol=0, atol=1e-10 * max(1.0, np.abs(dy[-8:]).max()))


def explicit(evaluator, state):
    policy = NoScaling()
    return driver(Problem(evaluator, Explicit(), policy), state)


@pytest.mark.parametrize("seed", SEEDS)
def test_locking_keeps_the_momentum_and_releasing_gives_the_speeds_back(seed):
    model, q, u, locked, joints = random_lock(seed)
    M = ar.mass_matrix(model, q)
    fine, coarse = Space(model, joints, q, np.zeros_like(locked)), Space(model, joints, q, locked)
    done, left = lock(fine, coarse, u), coarse.merging.u
    size = np.abs(M @ u).max()
    np.testing.assert_allclose((M @ done.speeds)[left], (M @ u)[left], rtol=0, atol=1e-11 * size)
    lost = 0.5 * u @ M @ u - 0.5 * done.speeds @ M @ done.speeds
    assert done.energies.sum() == pytest.approx(lost, abs=1e-11 * (u @ M @ u))
    again = done.speeds + relative_to(coarse, fine, done.relative)
    # M⁻¹ magnifies the rounding of M u by the condition of M.
    np.testing.assert_allclose(again, u, rtol=0, atol=1e-14 * np.linalg.cond(M) * np.abs(u).max())
    drawn = canonical(coarse, fine, 1.0, seed, 3, 5)
    np.testing.assert_allclose((M @ drawn)[left], 0.0, rtol=0, atol=1e-10 * np.abs(M).max())
    assert np.linalg.norm(drawn) > 0.0


def test_thermal_speeds_of_flexible_bodies_have_the_covariance_of_the_mass_matrix():
    """4,000 draws of N(0, M⁻¹): the sum of z zᵀ, z = Lᵀ u, of white numbers has entries within five standard errors."""
    model, q, _, locked, joints = random_lock(1)
    space, n = Space(model, joints, q, np.zeros_like(locked)), 4000
    root = np.linalg.cholesky(ar.mass_matrix(model, q))
    z = np.array([root.T @ space.thermal(1, 2, k, 1.0) for k in range(n)])
    assert np.abs(z.T @ z / n - np.eye(model.nu)).max() < 5.0 * np.sqrt(2.0 / n)


def test_a_flexible_body_locked_to_the_ground_keeps_its_modes():
    """A locked joint on a flexible body is a weld: a rod on a hinge is then a clamped rod."""
    rod = ar.modes.beam(
        length=1.0, mass=1.0, gyration=0.01, bending=2, bending_stiffness=1.0, boundary="clamped", units="kg-m-s"
    )
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", joint=ar.Revolute(axis=(0, 0, 1)), modes=rod, q=(0.3, 0.01, 0, 0, 0))
    model = builder.build()
    mask = np.arange(model.nu) == 0
    coarse, _ = locked_model(model, model.q0, mask)
    builder = ar.ModelBuilder(units="kg-m-s")
    turned = (np.cos(0.15), 0, 0, np.sin(0.15))
    builder.add_body("rod", joint=ar.Weld(), modes=rod, rotation=turned, q=(0.01, 0, 0, 0))
    clamped = builder.build()
    np.testing.assert_allclose(ar.mass_matrix(coarse, coarse.q0), ar.mass_matrix(clamped, clamped.q0), atol=1e-15)
    np.testing.assert_allclose(ar.body_poses(coarse, coarse.q0)[1], ar.body_poses(clamped, clamped.q0)[1], atol=1e-15)


def test_a_mask_names_modes_one_by_one():
    model, _, _, _, joints = random_lock(2)
    body = next(iter(model.modes))
    part = int(joints.modes_of(model, body)[0])
    mask = np.zeros(model.nu, dtype=bool)
    mask[joints.start[part]] = True
    assert np.flatnonzero(whole_joints(model, mask)).tolist() == [part]
    assert joints.name(model, part) == f"mode 1 of body '{model.names[body]}'"


@pytest.mark.parametrize("seed", range(6))
def test_loops_through_flexible_bodies_are_kept(seed):
    """Accelerations of the coarse model are those of least constraint (Gauss) among the ones that keep the loops and
    hold what is locked; speeds after locking are the projection on these motions in the metric of the mass matrix."""
    rng = np.random.default_rng([seed, 9])
    while True:
        case = FlexibleCase(int(rng.integers(2**31)), n=6)
        model = looped_model(rng, case)
        if model is None:
            continue
        q, joints = np.array(model.q0), joints_of(model)
        J, M = ar.loop_jacobian(model, q), ar.mass_matrix(model, q)
        locked = (rng.random(joints.degrees_of_freedom.size) < 0.3) & (joints.degrees_of_freedom > 0)
        held = locked[joints.u]
        allowed = null_space(np.vstack([J, np.eye(model.nu)[held]])).T
        sizes = np.linalg.svd(J[:, ~held], compute_uv=False)
        # Loops that what is left can close well, and move.
        if not locked.any() or not allowed.size or (sizes > 1e-8).sum() < model.closing.rank or sizes.min() < 0.02:
            continue
        if np.linalg.cond(M) < 1e5:
            break
    check_loops(model, joints, q, locked)
    coarse, merging = locked_model(model, q, held)
    u = allowed @ rng.normal(size=allowed.shape[1])
    y, dy = np.zeros(model.nq + model.nu + 8), np.zeros(model.nq + model.nu + 8)
    y[: model.nq], y[model.nq : model.nq + model.nu] = q, u
    Evaluator(model).rates(np.ones(8), 0.0, 0, y, dy)
    free = dy[model.nq : model.nq + model.nu]
    own, rates = np.zeros(coarse.nq + coarse.nu + 8), np.zeros(coarse.nq + coarse.nu + 8)
    own[: coarse.nq], own[coarse.nq : coarse.nq + coarse.nu] = merging.coarse(q), merging.coarse(u)
    Evaluator(coarse).rates(np.ones(8), 0.0, 0, own, rates)
    got = merging.fine_speeds(rates[coarse.nq : coarse.nq + coarse.nu])
    size = np.abs(free).max()
    np.testing.assert_allclose(J @ got, J @ free, rtol=0, atol=1e-9 * size * np.abs(J).max())
    np.testing.assert_allclose(allowed.T @ M @ (got - free), 0.0, rtol=0, atol=1e-9 * size * np.abs(M).max())
    loops = null_space(J).T
    u = loops @ rng.normal(size=loops.shape[1])
    done = lock(Space(model, joints, q, np.zeros_like(locked)), Space(model, joints, q, locked), u)
    expected = allowed @ np.linalg.solve(allowed.T @ M @ allowed, allowed.T @ M @ u)
    np.testing.assert_allclose(done.speeds, expected, rtol=0, atol=1e-13 * np.linalg.cond(M) * np.abs(u).max())
