"""Laws that the multibody core obeys on any model, tried on random forests with every kind of joint.

Bounds are those of ``tests.support.bounds``: rounding in proportion to the forces present, and to the condition number
of the mass matrix for accelerations.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support import bounds
from tests.support.random_models import (
    COORDINATES,
    Description,
    Situation,
    floating_tree,
    quaternion_product,
    random_forest,
    random_quaternion,
    random_situation,
    rotation_matrix,
    to_articulon,
)
from tests.support.reference import Reference, cross, norm
from tests.support.transformations import indices, moved, random_order, selected, trees, without_welds

every_forest = pytest.mark.parametrize("seed", range(30))


@functools.cache
def case(seed: int) -> tuple[Description, Situation, Any]:
    rng = np.random.default_rng([seed, 6])
    description = random_forest(rng, int(rng.integers(1, 31)), max_depth=10)
    return description, random_situation(description, rng), to_articulon(description)


def several_trees(rng: np.random.Generator) -> Description:
    forest = random_forest(rng, int(rng.integers(5, 31)), root_chance=0.4)
    return Description((*forest.bodies[:-1], dataclasses.replace(forest.bodies[-1], parent=None)))


def accelerations(model: Any, s: Situation) -> np.ndarray:
    return ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity)


def allowed(model: Any, s: Situation, udot: np.ndarray) -> float:
    """How far two computations of the same accelerations may lie apart."""
    matrix = ar.mass_matrix(model, s.q)
    bias = ar.inverse_dynamics(model, s.q, s.u, 0 * s.u, wrenches=s.wrenches, gravity=s.gravity)
    solved = bounds.forward(float(np.linalg.cond(matrix)), udot)
    return solved + bounds.forward_of_forces(matrix, s.tau, bias)


@every_forest
def test_forward_dynamics_inverts_inverse_dynamics(seed: int) -> None:
    description, s, model = case(seed)
    udot = np.random.default_rng(seed).normal(size=description.nu)
    tau = ar.inverse_dynamics(model, s.q, s.u, udot, wrenches=s.wrenches, gravity=s.gravity)
    again = ar.forward_dynamics(model, s.q, s.u, tau=tau, wrenches=s.wrenches, gravity=s.gravity)
    assert np.linalg.norm(again - udot) <= allowed(model, dataclasses.replace(s, tau=tau), udot)


@every_forest
def test_inverse_dynamics_inverts_forward_dynamics(seed: int) -> None:
    description, s, model = case(seed)
    udot = accelerations(model, s)
    tau = ar.inverse_dynamics(model, s.q, s.u, udot, wrenches=s.wrenches, gravity=s.gravity)
    bias = ar.inverse_dynamics(model, s.q, s.u, 0 * udot, wrenches=s.wrenches, gravity=s.gravity)
    assert np.linalg.norm(tau - s.tau) <= bounds.backward(len(description), s.tau, bias)


@every_forest
def test_kinetic_energy_is_half_u_M_u_and_the_sum_over_bodies(seed: int) -> None:
    description, s, model = case(seed)
    energy = ar.kinetic_energy(model, s.q, s.u)
    tolerance = 1e-14 * len(description) * energy
    assert abs(s.u @ ar.mass_matrix(model, s.q) @ s.u / 2 - energy) <= tolerance
    assert abs(Reference(description).kinetic_energy(s.q, s.u) - energy) <= tolerance


@every_forest
def test_mass_matrix_is_symmetric_and_positive_definite(seed: int) -> None:
    description, s, model = case(seed)
    matrix = ar.mass_matrix(model, s.q)
    assert matrix.shape == (description.nu, description.nu)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > 0


@every_forest
def test_columns_of_the_mass_matrix_are_forces_of_unit_accelerations_from_rest(seed: int) -> None:
    description, s, model = case(seed)
    matrix = ar.mass_matrix(model, s.q)
    still = np.zeros(description.nu)
    for k, unit in enumerate(np.eye(description.nu)):
        column = ar.inverse_dynamics(model, s.q, still, unit)
        assert np.linalg.norm(column - matrix[:, k]) <= bounds.backward(len(description), matrix[:, k])


@every_forest
def test_inverse_dynamics_is_affine_in_the_accelerations(seed: int) -> None:
    description, s, model = case(seed)
    udot = np.random.default_rng(seed).normal(size=description.nu)
    tau = ar.inverse_dynamics(model, s.q, s.u, udot, wrenches=s.wrenches, gravity=s.gravity)
    bias = ar.inverse_dynamics(model, s.q, s.u, 0 * udot, wrenches=s.wrenches, gravity=s.gravity)
    inertial = ar.mass_matrix(model, s.q) @ udot
    assert np.linalg.norm(tau - bias - inertial) <= bounds.backward(len(description), tau, bias, inertial)


@every_forest
def test_every_function_called_twice_gives_the_same_bits_and_leaves_its_arguments_alone(seed: int) -> None:
    _, s, model = case(seed)
    before = [array.copy() for array in (s.q, s.u, s.tau, s.wrenches, s.gravity)]
    first, second = (
        (
            accelerations(model, s),
            ar.inverse_dynamics(model, s.q, s.u, s.tau, wrenches=s.wrenches, gravity=s.gravity),
            ar.mass_matrix(model, s.q),
            np.array(ar.kinetic_energy(model, s.q, s.u)),
            *ar.body_poses(model, s.q),
        )
        for _ in range(2)
    )
    for a, b in zip(first, second, strict=True):
        assert a.tobytes() == b.tobytes()
    for a, b in zip(before, (s.q, s.u, s.tau, s.wrenches, s.gravity), strict=True):
        np.testing.assert_array_equal(a, b)


@every_forest
def test_results_do_not_depend_on_what_was_computed_before(seed: int) -> None:
    description, s, model = case(seed)
    first = accelerations(model, s)
    other = random_situation(description, np.random.default_rng([seed, 7]))
    assert not np.array_equal(accelerations(model, other), first)
    assert accelerations(model, s).tobytes() == first.tobytes()


@every_forest
def test_omitted_forces_are_zero(seed: int) -> None:
    description, s, model = case(seed)
    n, nu = len(description), description.nu
    nothing = ar.forward_dynamics(model, s.q, s.u)
    zeros = ar.forward_dynamics(model, s.q, s.u, tau=np.zeros(nu), wrenches=np.zeros((n, 6)), gravity=np.zeros(3))
    np.testing.assert_array_equal(nothing, zeros)
    np.testing.assert_array_equal(
        ar.inverse_dynamics(model, s.q, s.u, s.tau),
        ar.inverse_dynamics(model, s.q, s.u, s.tau, wrenches=np.zeros((n, 6)), gravity=np.zeros(3)),
    )


@every_forest
def test_initial_coordinates_are_those_given_in_body_order(seed: int) -> None:
    description, s, _ = case(seed)
    model = to_articulon(description, s.q, s.u)
    assert (model.nq, model.nu) == (description.nq, description.nu)
    np.testing.assert_allclose(model.q0, s.q, rtol=2 * bounds.EPS)  # a quaternion may be renormalised
    np.testing.assert_array_equal(model.u0, s.u)


def test_joints_rest_at_the_identity_when_no_coordinates_are_given() -> None:
    description, _, model = case(3)
    positions, _ = ar.body_poses(model, model.q0)
    np.testing.assert_array_equal(model.u0, np.zeros(description.nu))
    expected: list[np.ndarray] = []
    rotations: list[np.ndarray] = []
    for body in description.bodies:
        outer = np.eye(3) if body.parent is None else rotations[body.parent]
        expected.append((np.zeros(3) if body.parent is None else expected[body.parent]) + outer @ body.position)
        rotations.append(outer @ rotation_matrix(body.rotation))
    np.testing.assert_allclose(positions, expected, atol=1e-14 * len(description))


@every_forest
def test_wrenches_act_through_the_transposed_jacobian(seed: int) -> None:
    """Virtual power: a force F at, and a moment N about, a body's origin are worth J_vᵀ F + J_ωᵀ N."""
    description, s, model = case(seed)
    n = len(description)
    reference = Reference(description)
    angular, linear = reference.jacobians(reference.placement(s.q))
    generalised = np.einsum("nij,ni->j", linear, s.wrenches[:, :3]) + np.einsum("nij,ni->j", angular, s.wrenches[:, 3:])
    still = np.zeros(description.nu)
    tau = ar.inverse_dynamics(model, s.q, still, still, wrenches=s.wrenches)
    arms = np.abs(reference.placement(s.q).position).max() * np.abs(s.wrenches[:, :3]).sum()
    assert norm(tau + generalised) <= 1e-14 * n * (np.abs(s.wrenches).sum() + float(arms))

    by_wrenches = ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches)
    by_tau = ar.forward_dynamics(model, s.q, s.u, tau=s.tau + generalised.astype(np.float64))
    assert np.linalg.norm(by_wrenches - by_tau) <= allowed(model, s, by_tau)


@every_forest
def test_gravity_equals_weights_at_the_centres_of_mass(seed: int) -> None:
    description, s, model = case(seed)
    reference = Reference(description)
    place = reference.placement(s.q)
    weights = reference.masses[:, None] * s.gravity
    wrenches = np.hstack([weights, cross(place.com - place.position, weights)]).astype(np.float64)
    by_gravity = ar.forward_dynamics(model, s.q, s.u, tau=s.tau, gravity=s.gravity)
    by_weights = ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=wrenches)
    assert np.linalg.norm(by_gravity - by_weights) <= allowed(model, s, by_weights)

    still = np.zeros(description.nu)
    tau_gravity = ar.inverse_dynamics(model, s.q, still, still, gravity=s.gravity)
    tau_weights = ar.inverse_dynamics(model, s.q, still, still, wrenches=wrenches)
    arms = np.abs(place.position).max() * np.abs(weights).sum() + np.abs(wrenches).sum()
    assert np.linalg.norm(tau_gravity - tau_weights) <= 1e-14 * len(description) * float(arms)


@pytest.mark.parametrize("seed", range(20))
def test_momentum_of_a_floating_tree_is_conserved(seed: int) -> None:
    """Without external forces Σ m a = 0 and Σ (r × m a + I α + ω × I ω) = 0, whatever the joints' own forces."""
    rng = np.random.default_rng([seed, 8])
    description = floating_tree(rng, int(rng.integers(2, 25)))
    s = random_situation(description, rng)
    tau = s.tau.copy()
    tau[:6] = 0
    model, reference = to_articulon(description), Reference(description)
    udot = ar.forward_dynamics(model, s.q, s.u, tau=tau)
    place = reference.placement(s.q)
    force, moment = reference.inertia_forces(place, reference.motion(place, s.u, udot))
    linear_rate = np.sum(force, axis=0)
    angular_rate = np.sum(moment + cross(place.com - place.position[0], force), axis=0)
    # Six of the equations of motion say this, so the solver's backward error bounds it.
    bound = bounds.backward(len(description), tau, reference.bias(s.q, s.u))
    assert norm(linear_rate) <= bound
    assert norm(angular_rate) <= bound
    assert norm(force) > 1e6 * bound  # the parts that cancel are not small themselves


@pytest.mark.parametrize("seed", range(20))
def test_power_of_all_forces_is_the_rate_of_kinetic_energy(seed: int) -> None:
    """u·tau + Σ (F·v + N·ω + m g·v_com) = Σ m a·v + ω·(I α + ω × I ω) with the engine's udot."""
    description, s, model = case(seed)
    reference = Reference(description)
    udot = accelerations(model, s)
    place = reference.placement(s.q)
    m = reference.motion(place, s.u, udot)
    force, moment = reference.inertia_forces(place, m)
    v_com = m.v + cross(m.omega, place.com - place.position)
    parts = [
        np.sum(force * v_com, axis=1) + np.sum(moment * m.omega, axis=1),
        -np.sum(s.wrenches[:, :3] * m.v + s.wrenches[:, 3:] * m.omega, axis=1),
        -reference.masses * (v_com @ s.gravity),
        -s.tau * s.u,
    ]
    bias = reference.bias(s.q, s.u, s.wrenches, s.gravity)
    # The imbalance is u·(residual of the equations of motion).
    assert abs(sum(part.sum() for part in parts)) <= np.linalg.norm(s.u) * bounds.backward(
        len(description), s.tau, bias
    )


@pytest.mark.parametrize("seed", range(20))
def test_welded_bodies_act_as_one_composed_body(seed: int) -> None:
    rng = np.random.default_rng([seed, 9])
    kinds = ("weld", "weld", "revolute", "prismatic", "universal", "spherical", "xyz", "free")
    description = random_forest(rng, int(rng.integers(4, 25)), kinds=kinds)
    merged, carriers = without_welds(description)
    assert len(merged) < len(description)
    s = random_situation(description, rng)
    model, merged_model = to_articulon(description), to_articulon(merged)

    positions, quaternions = ar.body_poses(model, s.q)
    assert positions.shape == (len(description), 3)
    assert quaternions.shape == (len(description), 4)
    merged_positions, _ = ar.body_poses(merged_model, s.q)
    wrenches = np.zeros((len(merged), 6))
    for i, carrier in enumerate(carriers):
        if carrier is not None:  # the ground bears what is welded to it
            wrenches[carrier] += s.wrenches[i]
            wrenches[carrier, 3:] += np.cross(positions[i] - merged_positions[carrier], s.wrenches[i, :3])

    udot = accelerations(model, s)
    expected = ar.forward_dynamics(merged_model, s.q, s.u, tau=s.tau, wrenches=wrenches, gravity=s.gravity)
    assert np.linalg.norm(udot - expected) <= allowed(model, s, expected)
    energy = ar.kinetic_energy(merged_model, s.q, s.u)
    assert abs(ar.kinetic_energy(model, s.q, s.u) - energy) <= 1e-14 * len(description) * energy


@every_forest
def test_dynamics_do_not_depend_on_where_the_whole_model_stands_and_how_it_is_turned(seed: int) -> None:
    description, s, model = case(seed)
    rng = np.random.default_rng([seed, 10])
    turn, shift = random_quaternion(rng), rng.normal(size=3)
    r = rotation_matrix(turn)
    turned = to_articulon(moved(description, shift, turn))
    wrenches = np.hstack([s.wrenches[:, :3] @ r.T, s.wrenches[:, 3:] @ r.T])
    udot = accelerations(model, s)
    again = ar.forward_dynamics(turned, s.q, s.u, tau=s.tau, wrenches=wrenches, gravity=r @ s.gravity)
    assert np.linalg.norm(again - udot) <= allowed(model, s, udot)

    positions, _ = ar.body_poses(model, s.q)
    turned_positions, _ = ar.body_poses(turned, s.q)
    reach = 1 + np.abs(positions).max()
    assert np.abs(turned_positions - positions @ r.T - shift).max() <= 1e-14 * len(description) * reach


@every_forest
def test_dynamics_do_not_depend_on_the_order_of_the_bodies(seed: int) -> None:
    description, s, model = case(seed)
    order = random_order(description, np.random.default_rng([seed, 11]))
    other = to_articulon(selected(description, order))
    q_index, u_index = indices(description.q_starts, order), indices(description.u_starts, order)
    udot = accelerations(model, s)
    again = ar.forward_dynamics(
        other, s.q[q_index], s.u[u_index], tau=s.tau[u_index], wrenches=s.wrenches[order], gravity=s.gravity
    )
    assert np.linalg.norm(again - udot[u_index]) <= allowed(model, s, udot)
    positions, quaternions = ar.body_poses(model, s.q)
    other_positions, other_quaternions = ar.body_poses(other, s.q[q_index])
    np.testing.assert_allclose(other_positions, positions[order], atol=1e-14 * len(description))
    np.testing.assert_allclose(other_quaternions, quaternions[order], atol=1e-14 * len(description))


@pytest.mark.parametrize("seed", range(20))
def test_trees_of_a_forest_move_as_if_alone(seed: int) -> None:
    rng = np.random.default_rng([seed, 12])
    description = several_trees(rng)
    s = random_situation(description, rng)
    together = accelerations(to_articulon(description), s)
    separate = trees(description)
    assert len(separate) > 1
    for tree in separate:
        alone = to_articulon(selected(description, tree))
        q_index, u_index = indices(description.q_starts, tree), indices(description.u_starts, tree)
        if not u_index.size:
            continue
        own = Situation(s.q[q_index], s.u[u_index], s.tau[u_index], s.wrenches[tree], s.gravity)
        udot = accelerations(alone, own)
        assert np.linalg.norm(together[u_index] - udot) <= allowed(alone, own, udot)


@pytest.mark.parametrize("seed", range(20))
def test_forces_on_one_tree_do_not_change_a_bit_in_another(seed: int) -> None:
    rng = np.random.default_rng([seed, 12])
    description = several_trees(rng)
    s = random_situation(description, rng)
    model = to_articulon(description)
    before = accelerations(model, s)
    tree = trees(description)[0]
    inside = np.isin(np.arange(description.nu), indices(description.u_starts, tree))
    wrenches = s.wrenches.copy()
    wrenches[tree] += 1.0
    tau = s.tau + inside
    after = ar.forward_dynamics(model, s.q, s.u, tau=tau, wrenches=wrenches, gravity=s.gravity)
    np.testing.assert_array_equal(after[~inside], before[~inside])
    assert not inside.any() or not np.array_equal(after[inside], before[inside])


@pytest.mark.parametrize("seed", range(20))
def test_speeds_are_the_rates_at_which_bodies_move(seed: int) -> None:
    """Poses along q(t), with quaternions turned by exp(t ω/2), have the velocities that the kinetic energy assumes.

    A central difference of fourth order with step h errs by h⁴ d⁵x/dt⁵ /30, and by ε/h for rounding.
    """
    description, s, model = case(seed)
    reference = Reference(description)
    place = reference.placement(s.q)
    m = reference.motion(place, s.u, np.zeros(description.nu))
    h = 1e-3

    def positions(t: float) -> np.ndarray:
        q = s.q.copy()
        for i, body in enumerate(description.bodies):
            c, k = description.q_starts[i], description.u_starts[i]
            if body.kind in ("revolute", "prismatic", "universal"):
                for j in range(COORDINATES[body.kind]):
                    q[c + j] += t * s.u[k + j]
            if body.kind in ("xyz", "free"):
                q[c : c + 3] += t * s.u[k : k + 3]
            if body.kind in ("spherical", "free"):
                c, k = (c + 3, k + 3) if body.kind == "free" else (c, k)
                half = t * s.u[k : k + 3] / 2
                angle = np.linalg.norm(half)
                turn = np.concatenate([[np.cos(angle)], np.sinc(angle / np.pi) * half])
                q[c : c + 4] = quaternion_product(q[c : c + 4], turn)
        return ar.body_poses(model, q)[0]

    rate = (8 * (positions(h) - positions(-h)) - (positions(2 * h) - positions(-2 * h))) / (12 * h)
    # A position is a sum of lengths, at most linear in t, turned by all the joints before: a trigonometric polynomial
    # of degree Ω, the sum of their angular speeds. Bernstein's inequality bounds its derivatives by powers of Ω.
    n = len(description)
    turning, length, sliding = np.zeros(n), np.zeros(n), np.zeros(n)
    for i, body in enumerate(description.bodies):
        u = s.u[description.u_starts[i] : description.u_starts[i + 1]]
        turning[i] = np.abs(u).sum() if body.kind == "universal" else np.linalg.norm(u @ place.angular[i])
        sliding[i] = np.linalg.norm(u @ place.linear[i])
        q = s.q[description.q_starts[i] : description.q_starts[i + 1]]
        moved_by = np.linalg.norm(q[:3]) if body.kind in ("prismatic", "xyz", "free") else 0.0
        length[i] = np.linalg.norm(body.position) + moved_by + 2 * h * sliding[i]
        if body.parent is not None:
            turning[i] += turning[body.parent]
            sliding[i] += sliding[body.parent]
            length[i] += length[body.parent]
    fifth_derivative = length * turning**5 + 5 * sliding * turning**4
    error = np.linalg.norm((rate - m.v).astype(np.float64), axis=1)
    assert np.all(error <= fifth_derivative * h**4 / 30 + (1 + length) * 1e-14 * n / h)
