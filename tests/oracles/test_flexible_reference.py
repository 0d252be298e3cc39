"""The extended-precision reference of flexible trees against itself: an oracle must be right before it may judge."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from articulon.model.modes import inertia_integrals
from tests.support.flexible_bodies import (
    flexible_reference,
    flexible_tree,
    random_flexible_state,
    random_modes,
    symmetric,
)
from tests.support.flexible_reference import FlexibleReference
from tests.support.random_models import Description, random_body, random_forest, random_situation, rotation_matrix
from tests.support.reference import EXTENDED, Reference, norm

ROUNDING = float(np.finfo(EXTENDED).eps)
STEP = 1e-5
"""Of central differences in extended precision: their error is STEP² times third derivatives, some hundreds here."""
DIFFERENCE = 1e-7


def tree(seed: int) -> tuple[FlexibleReference, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, 21])
    reference = flexible_reference(*flexible_tree(rng, int(rng.integers(1, 7))))
    return reference, *random_flexible_state(reference, rng)


@pytest.mark.parametrize("seed", range(6))
def test_without_flexible_bodies_it_is_the_reference_of_rigid_ones(seed):
    rng = np.random.default_rng([seed, 22])
    description = random_forest(rng, 8)
    s = random_situation(description, rng)
    rigid, flexible = Reference(description), FlexibleReference(description, [None] * 8, [None] * 8)
    assert norm(rigid.mass_matrix(s.q) - flexible.mass_matrix(s.q)) < 200 * ROUNDING * norm(rigid.mass_matrix(s.q))
    bias = rigid.bias(s.q, s.u, None, s.gravity)
    assert norm(bias - flexible.bias(s.q, s.u, s.gravity)) < 1000 * ROUNDING * norm(bias)


@pytest.mark.parametrize("seed", range(6))
def test_velocities_and_accelerations_are_the_derivatives_of_the_places(seed):
    """Of every node's frame: R' = [ω]×R, x' = v, and ω' and v' along a motion of constant u."""
    reference, q, u = tree(seed)
    before, behind = reference.after(q, u, -STEP), reference.after(q, u, STEP)
    for i, s in enumerate(reference.shapes):
        for k in range(0 if s is None else s.masses.size):
            now, a, b = (reference.node(i, k, x, u) for x in (q, before, behind))
            turning = (b.rotation - a.rotation) / (2 * STEP) @ now.rotation.T
            assert norm(turning - turning.T) / 2 == pytest.approx(norm(turning), rel=1e-6)
            omega = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
            for exact, difference in (
                (now.omega, omega),
                (now.v, (b.position - a.position) / (2 * STEP)),
                (now.alpha, (b.omega - a.omega) / (2 * STEP)),
                (now.a, (b.v - a.v) / (2 * STEP)),
            ):
                assert norm(exact - difference) < DIFFERENCE * (1 + norm(exact))
            assert norm(now.turning @ u - now.omega) < 100 * ROUNDING * (1 + norm(now.omega))
            assert norm(now.going @ u - now.v) < 100 * ROUNDING * (1 + norm(now.v))


@pytest.mark.parametrize("seed", range(6))
def test_energy_is_conserved_without_damping(seed):
    """d(T + U)/dt = 0 where Mu' + bias = 0, the rate of T at constant u by central differences."""
    reference, q, u = tree(seed)
    reference.shapes = tuple(s and s._replace(damping=0 * s.damping) for s in reference.shapes)
    udot, _ = reference.forward_dynamics(q, u, np.zeros(reference.nu))
    M = reference.mass_matrix(q)
    before, behind = reference.after(q, u, -STEP), reference.after(q, u, STEP)
    drift = sum(
        (f(behind) - f(before)) / (2 * STEP)
        for f in (lambda x: reference.kinetic_energy(x, u), reference.elastic_energy)
    )
    energy = reference.kinetic_energy(q, u)
    assert abs(u @ M @ u / 2 - energy) < 1000 * ROUNDING * energy
    assert abs(u @ M @ udot + drift) < DIFFERENCE * (norm(u) * norm(M @ udot) + energy)


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_that_nothing_holds_keeps_its_momenta(seed):
    rng = np.random.default_rng([seed, 23])
    description, modes, nodes = flexible_tree(rng, 4, root_chance=0.0)
    root = dataclasses.replace(description.bodies[0], kind="free")
    reference = flexible_reference(Description((root, *description.bodies[1:])), modes, nodes)
    q, u = random_flexible_state(reference, rng)
    udot, _ = reference.forward_dynamics(q, u, np.zeros(reference.nu))
    a, b = (reference.momenta(reference.after(q, u, t), u.astype(EXTENDED) + EXTENDED(t) * udot) for t in (-STEP, STEP))
    for now, earlier in zip(b, a, strict=True):
        assert norm(now - earlier) / (2 * STEP) < DIFFERENCE * (1 + norm(udot)) * (1 + norm(now))


@pytest.mark.parametrize("boundary", ["clamped", "free"])
@pytest.mark.parametrize("seed", range(4))
def test_the_equations_by_inertia_integrals_are_those_of_the_nodes(seed, boundary):
    """One free body, in its own frame: the whole of what kernels compute from the integrals, written out.

    m a − h×α + S1η'' + ω×(ω×h) + 2ω×S1η' = F,  h×a + Aα + Bη'' + ω×Aω + 2 Σ N_jω η'_j = L, and for each mode
    S1_j·a + B_j·α + Σ M_jkη''_k − ω·N_jω + 2ω·Σ B1_jkη'_k + (Kη)_j + (Dη')_j = Q_j.
    """
    rng = np.random.default_rng([seed, 24])
    modes = random_modes(rng, 6, 3, boundary)
    description = Description((random_body(rng, "body", None, "free"),))
    reference = flexible_reference(description, [modes], [None], np.float64)
    (s,) = reference.shapes
    assert s is not None
    q, u = random_flexible_state(reference, rng)
    g = inertia_integrals(s)
    eta, rate = q[7:], u[6:]
    R = reference.frames(q, u)[0].rotation
    omega = u[3:6]

    def skew(a: np.ndarray) -> np.ndarray:
        return np.cross(np.eye(3), a)

    h = g.h0 + eta @ g.S1
    A = symmetric(g.A0) + np.tensordot(eta, symmetric(g.A1), 1) + np.einsum("j,k,jkab->ab", eta, eta, symmetric(g.A2))
    B = g.B0 + np.einsum("jka,k->ja", g.B1, eta)
    N = (g.N0 + np.einsum("jka,k->ja", g.N1, eta)).reshape(-1, 3, 3)
    body = np.block([[g.mass * np.eye(3), -skew(h), g.S1.T], [skew(h), A, B.T], [g.S1, B, g.M]])
    spun = np.einsum("jab,b->ja", N, omega)
    c = np.concatenate(
        [
            np.cross(omega, np.cross(omega, h)) + 2 * np.cross(omega, rate @ g.S1),
            np.cross(omega, A @ omega) + 2 * rate @ spun,
            -spun @ omega + 2 * np.einsum("a,jka,k->j", omega, g.B1, rate) + s.stiffness @ eta + s.damping @ rate,
        ]
    )
    # The free joint's velocity is in the parent's axes, which are the joint frame's.
    joint = description.bodies[0].rotation
    to_body = np.eye(9)
    to_body[:3, :3] = R.T @ rotation_matrix(joint)
    M = reference.mass_matrix(q)
    np.testing.assert_allclose(to_body.T @ body @ to_body, M, rtol=0, atol=1e-13 * norm(M))
    bias = reference.bias(q, u)
    np.testing.assert_allclose(to_body.T @ c, bias, rtol=0, atol=1e-13 * norm(bias))
