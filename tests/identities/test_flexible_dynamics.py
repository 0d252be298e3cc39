"""Trees of rigid and flexible bodies against the oracle that sums over nodes, in every algorithm."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics import SOLVERS
from articulon.dynamics.dca.assembly_tree import assembly_tree
from articulon.dynamics.dca.divide_and_conquer import Columns
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.dynamics.momenta import momentum
from articulon.dynamics.multibody_functions import link_wrenches, moved
from articulon.dynamics.state_functions import scratch
from articulon.model import kernel_tables
from tests.support.divided import divided
from tests.support.flexible_models import FlexibleCase, flexible_builder, looped_model
from tests.support.reference import norm

SEEDS = range(40)
AGREEMENT = 1e-9
"""Of two ways to the same accelerations, in parts of them."""


def near(one: np.ndarray, other: np.ndarray, tolerance: float = AGREEMENT) -> None:
    assert norm(np.asarray(one) - np.asarray(other)) <= tolerance * max(norm(np.asarray(other)), 1e-300)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_accelerations_are_the_oracles(solver):
    for seed in SEEDS:
        c = FlexibleCase(seed)
        udot = ar.forward_dynamics(c.model, c.q, c.u, c.tau, c.wrenches, c.gravity, solver=solver)
        near(udot, c.udot)


def test_solvers_agree_on_forests_of_many_bodies():
    for seed in range(6):
        c = FlexibleCase(seed, n=60)
        first, *others = (
            ar.forward_dynamics(c.model, c.q, c.u, c.tau, c.wrenches, c.gravity, solver=solver) for solver in SOLVERS
        )
        for udot in others:
            near(udot, first)


@pytest.mark.parametrize("links_per_block", [1, 3, 8])
def test_divide_and_conquer_joins_flexible_bodies(links_per_block):
    """At joints of rigid bodies, of nodes and of handles, and with loads of other blocks on nodes."""
    for seed in range(12):
        c = FlexibleCase(seed, n=30, root_chance=0.03, max_depth=30)
        model, tree = c.model, assembly_tree(kernel_tables(c.model).forest, links_per_block)
        node = model.forest.flexible.node
        home = np.zeros(node.size, dtype=int)
        for k, (start, end) in enumerate(zip(tree.start, tree.end, strict=True)):
            home[tree.link[start:end]] = k
        assert (home[node >= 0] == home[model.forest.parent[node >= 0]]).all()
        wrench = link_wrenches(model, c.q, c.wrenches)[None]
        udot, acceleration = np.zeros((1, model.nu)), np.zeros((1, node.size, 6))
        columns = Columns(c.tau[None], wrench, np.ones(1, dtype=np.int64), udot, acceleration)
        divided(model, tree, c.q, c.u, columns, c.gravity)
        near(udot[0], ar.forward_dynamics(model, c.q, c.u, c.tau, c.wrenches, c.gravity))
        near(acceleration[0], scratch(model).acceleration)


def test_mass_matrix_energy_and_momenta_are_the_oracles():
    for seed in SEEDS:
        c = FlexibleCase(seed)
        near(ar.mass_matrix(c.model, c.q), c.reference.mass_matrix(c.q), 1e-13)
        assert ar.kinetic_energy(c.model, c.q, c.u) == pytest.approx(
            float(c.reference.kinetic_energy(c.q, c.u)), rel=1e-12
        )
        found = momentum(c.model, c.q, c.u)
        sizes = found[6:].repeat(3)
        assert (np.abs(found[:6] - np.concatenate(c.reference.momenta(c.q, c.u))) <= 1e-13 * sizes).all()
        assert ar.potential_energy(c.model, c.q) == pytest.approx(float(c.reference.elastic_energy(c.q)), rel=1e-12)


def test_inverse_dynamics_undoes_forward_dynamics():
    for seed in SEEDS:
        c = FlexibleCase(seed)
        udot = ar.forward_dynamics(c.model, c.q, c.u, c.tau, c.wrenches, c.gravity)
        near(ar.inverse_dynamics(c.model, c.q, c.u, udot, c.wrenches, c.gravity), c.tau, 1e-11)


def test_zero_modal_coordinates_held_give_the_rigid_bodies():
    """The block of the mass matrix of the joints is that of the same tree with its flexible bodies stiffened."""
    for seed in SEEDS:
        c = FlexibleCase(seed, deformation=0.0)
        joints = np.ones(c.model.nu, dtype=bool)
        for i in range(len(c.reference.modes)):
            joints[c.reference.modal_u(i)] = False
        if not joints.any():
            continue
        still = stiffened(c)
        q = c.q[coordinates_of_joints(c)]
        near(ar.mass_matrix(c.model, c.q)[np.ix_(joints, joints)], ar.mass_matrix(still, q), 1e-12)
        places, _ = ar.body_poses(c.model, c.q)
        near(places, ar.body_poses(still, q)[0], 1e-12)


def coordinates_of_joints(c: FlexibleCase) -> np.ndarray:
    found = np.ones(c.model.nq, dtype=bool)
    for i in range(len(c.reference.modes)):
        found[c.reference.modal_q(i)] = False
    return found


def stiffened(c: FlexibleCase) -> ar.Model:
    """The case's tree with every flexible body rigid, its nodes where they are undeformed."""
    builder, handles = ar.ModelBuilder(units=c.model.units.name), []
    description, _, nodes = c.tree
    for k, (body, node) in enumerate(zip(description.bodies, nodes, strict=True)):
        position = np.array(body.position)
        if node is not None:
            position = position + np.asarray(c.reference.shapes[body.parent].positions[node], dtype=float)
        xx, xy, xz, yy, yz, zz = c.model.inertias[k]
        handles.append(
            builder.add_body(
                body.name,
                joint=c.model.joints[k],
                parent=None if body.parent is None else handles[body.parent],
                position=position,
                rotation=body.rotation,
                mass=c.model.masses[k],
                com=c.model.centres[k],
                inertia=[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
            )
        )
    return builder.build()


def test_generalised_forces_of_gravity_and_modes_are_the_oracles():
    for seed in range(10):
        c = FlexibleCase(seed)
        builder, _ = flexible_builder(*c.tree)
        builder.add_force(ar.forces.Gravity(acceleration=tuple(c.gravity)))
        model = builder.build()
        at_rest = np.zeros(model.nu)
        weight = c.reference.bias(c.q, at_rest) - c.reference.bias(c.q, at_rest, c.gravity)
        near(ar.generalized_forces(model, c.q, c.u), np.asarray(weight + c.passive, dtype=np.float64), 1e-12)


def looped_cases(count: int):
    """Cases with loops that are closed, the model with them, and speeds that keep them closed."""
    seed, found = 0, 0
    while found < count:
        seed += 1
        rng = np.random.default_rng([seed, 5])
        c = FlexibleCase(seed, n=int(rng.integers(3, 9)))
        model = looped_model(rng, c, int(rng.integers(1, 3)))
        if model is not None:
            found += 1
            yield c, model, ar.close_loops(model, model.q0, rng.normal(size=model.nu))[1]


def test_conditions_of_loops_are_differentiated_along_the_deformation_too():
    for _, model, u in looped_cases(12):
        before, after = (ar.loop_residuals(model, moved(model, model.q0, u, h)) for h in (-1e-5, 1e-5))
        rate = ar.loop_jacobian(model, model.q0) @ u
        assert np.abs((after - before) / 2e-5 - rate).max() < 1e-7 * max(1.0, np.abs(u).max() ** 3)
        assert np.abs(rate).max() < 1e-9 * np.abs(u).max()


def test_solvers_agree_with_loops():
    """With each other, and with the dense solution M u' + Jᵀλ = τ − bias, J u' = −J' u of the oracle's M and bias."""
    for c, model, u in looped_cases(15):
        equations = loop_equations(model, model.q0, u)
        matrix = np.asarray(c.reference.mass_matrix(model.q0), dtype=np.float64)
        forces = c.tau - np.asarray(c.reference.bias(model.q0, u), dtype=np.float64) - passive(c, model.q0, u)
        inverse = np.linalg.inv(matrix)
        open_ = inverse @ forces
        # Of rows that act on nothing, all that is left is rounding.
        J, products = equations.jacobian[equations.live], equations.products[equations.live]
        multipliers = np.linalg.lstsq(J @ inverse @ J.T, -products - J @ open_, rcond=1e-11)[0]
        expected = open_ + inverse @ J.T @ multipliers
        for solver in SOLVERS:
            near(ar.forward_dynamics(model, model.q0, u, c.tau, solver=solver), expected, 1e-8)


def passive(c: FlexibleCase, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """−K η − D η' (nu,) at a state."""
    result = np.zeros(q.size - c.q.size + c.u.size)
    for i, shapes in enumerate(c.reference.shapes):
        if shapes is not None:
            eta, rate = q[c.reference.modal_q(i)], u[c.reference.modal_u(i)]
            result[c.reference.modal_u(i)] = -(shapes.stiffness @ eta + shapes.damping @ rate)
    return result
