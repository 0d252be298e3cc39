"""Mode shapes as a user states them: what is refused, how units and handle 1 are treated, and the inertia integrals."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ModelError
from articulon.model.modes import inertia_integrals
from articulon.units import unit_system
from tests.support.flexible_bodies import UNITS, deformed, random_modes, random_shapes, symmetric

EPS = np.finfo(float).eps
BOUNDARIES = ("clamped", "free")


def changed(modes: ar.Modes, **fields: Any) -> ar.Modes:
    return dataclasses.replace(modes, **fields)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("seed", range(5))
def test_inertia_integrals_are_the_sums_over_nodes_at_any_deformation(seed, boundary):
    """Rounding of sums of at most 9 nodes and a polynomial of degree two: some 100 units in the last place."""
    rng = np.random.default_rng(seed)
    shapes = random_shapes(rng, int(rng.integers(3, 10)), int(rng.integers(1, 5)), boundary)
    g = inertia_integrals(shapes)
    eta = rng.normal(size=shapes.shapes.shape[2])
    X, Phi, m, one = deformed(shapes, eta), shapes.shapes, shapes.masses, np.eye(3)

    def same(integral: np.ndarray, terms: np.ndarray) -> None:
        """Against a sum over the first axis, in units of what was summed."""
        scale = np.abs(terms).sum(axis=0).max()
        np.testing.assert_allclose(integral, terms.sum(axis=0), rtol=0, atol=500 * EPS * scale)

    same(g.mass[0], m)
    same(g.h0 + eta @ g.S1, m[:, None] * X)
    A = symmetric(g.A0) + np.tensordot(eta, symmetric(g.A1), 1)
    A += np.einsum("j,k,jkab->ab", eta, eta, symmetric(g.A2))
    dyads = np.einsum("ia,ib->iab", X, X)
    same(A, m[:, None, None] * (np.einsum("ia,ia->i", X, X)[:, None, None] * one - dyads))
    B = g.B0 + np.einsum("jka,k->ja", g.B1, eta)
    N = (g.N0 + np.einsum("jka,k->ja", g.N1, eta)).reshape(-1, 3, 3)
    for j in range(eta.size):
        same(B[j], m[:, None] * np.cross(X, Phi[:, :, j]))
        along = np.einsum("ia,ia->i", X, Phi[:, :, j])
        same(N[j], m[:, None, None] * (along[:, None, None] * one - np.einsum("ia,ib->iab", Phi[:, :, j], X)))
    same(g.M, m[:, None, None] * np.einsum("iaj,iak->ijk", Phi, Phi))


def test_inertia_integrals_have_the_symmetries_that_they_state():
    g = inertia_integrals(random_shapes(np.random.default_rng(8), 9, 4))
    assert np.array_equal(g.A2, g.A2.transpose(1, 0, 2))
    assert np.array_equal(g.B1, -g.B1.transpose(1, 0, 2))
    assert np.array_equal(g.M, g.M.T)
    N0 = g.N0.reshape(-1, 3, 3)
    assert np.array_equal(symmetric(g.A1), N0 + N0.transpose(0, 2, 1))
    assert all(array.flags.c_contiguous and array.dtype == np.float64 for array in g)


@pytest.mark.parametrize("seed", range(5))
def test_free_shapes_seen_from_handle_1_are_the_same_motion_of_the_body(seed):
    """A motion of the nodes by free modes is one by the resolved modes and a rigid motion: that of handle 1."""
    rng = np.random.default_rng(100 + seed)
    modes = random_modes(rng, boundary="free")
    shapes = modes.resolved(UNITS, "body 'b'")
    h = shapes.handle
    rate = rng.normal(size=3)
    velocity, turning = modes.shapes[h] @ rate, modes.rotations[h] @ rate
    whole = velocity + np.cross(turning, shapes.positions - shapes.positions[h]) + shapes.shapes @ rate
    np.testing.assert_allclose(whole, modes.shapes @ rate, rtol=0, atol=100 * EPS * np.abs(whole).max())
    assert not shapes.shapes[h].any() and not shapes.rotations[h].any()


def test_resolved_modes_are_in_the_units_of_the_model():
    """1 zJ/nm² = 1e-3 fg/us², 1 nm = 1e-3 um: energies of the same deformation agree in SI."""
    modes = ar.Modes(
        positions=[[0, 0, 0], ["20 nm", 0, 0]],
        masses=["2 zg", "2 zg"],
        shapes=[[[0], [0], [0]], [[0], [0], [1]]],
        stiffness=["3 pN/nm"],
        damping="4 pN s/m",
        rotations=[[[0], [0], [0]], [[0], ["-0.05 nm^-1"], [0]]],
        largest=0.25,
    )
    for system in ("kg-m-s", "zg-nm-ns", "fg-um-us"):
        units = unit_system(system)
        s = modes.resolved(units, "body 'rod'")
        assert units.mass is not None and units.length is not None and units.time is not None
        si = (
            s.positions[1, 0] * units.length,
            s.masses[1] * units.mass,
            s.stiffness[0, 0] * units.mass / units.time**2,
        )
        assert si == pytest.approx((20e-9, 2e-24, 3e-3), rel=4 * EPS)
        assert s.damping[0, 0] * units.mass / units.time == pytest.approx(4e-12, rel=4 * EPS)
        assert s.rotations[1, 1, 0] / units.length == pytest.approx(-0.05e9, rel=4 * EPS)
        assert s.length == pytest.approx(20e-9 / units.length, rel=8 * EPS)
        assert s.largest == pytest.approx(5e-9 / units.length, rel=8 * EPS)


def test_numbers_in_a_system_of_their_own_are_those_of_the_model_after_conversion():
    modes = changed(random_modes(np.random.default_rng(3)), units="zg-nm-ns")
    a, b = modes.resolved(unit_system("zg-nm-ns"), "b"), modes.resolved(unit_system("kg-m-s"), "b")
    np.testing.assert_allclose(b.positions, a.positions * 1e-9, rtol=4 * EPS)
    np.testing.assert_allclose(b.masses, a.masses * 1e-24, rtol=4 * EPS)
    np.testing.assert_allclose(b.stiffness, a.stiffness * 1e-6, rtol=4 * EPS)
    np.testing.assert_allclose(b.rotations, a.rotations * 1e9, rtol=4 * EPS)
    np.testing.assert_array_equal(b.shapes, a.shapes)
    with pytest.raises(ModelError, match="'zg-nm-ns' cannot be converted to 'lj'"):
        modes.resolved(unit_system("lj"), "b")


def _with(array: Any, index: Any, value: float) -> np.ndarray:
    copy = np.array(array, dtype=float)
    copy[index] = value
    return copy


CLAMPED = random_modes(np.random.default_rng(1), nodes=7, modes=3)
FREE = random_modes(np.random.default_rng(2), nodes=7, modes=3, boundary="free")
DOUBLED = np.concatenate([CLAMPED.shapes, CLAMPED.shapes[:, :, :1] - 2.0 * CLAMPED.shapes[:, :, 2:]], axis=2)


@pytest.mark.parametrize(
    "modes, message",
    [
        (changed(CLAMPED, masses=_with(CLAMPED.masses, 4, 0.0)), "node 4: mass must be positive, got 0"),
        (changed(CLAMPED, masses=_with(CLAMPED.masses, 4, np.nan)), "masses: not finite: .*nan"),
        (changed(CLAMPED, masses=np.ones(3)), r"masses: expected shape \(7,\), got shape \(3,\)"),
        (
            changed(CLAMPED, shapes=_with(CLAMPED.shapes, (2, 1, 0), np.inf)),
            r"shapes: not finite: inf at \[2, 1, 0\]$",
        ),
        (changed(CLAMPED, positions=np.ones((7, 2))), r"positions: expected shape \(7, 3\)"),
        (changed(CLAMPED, shapes=np.ones((7, 3))), r"shapes: expected the shape \(nodes, 3, modes\), got \(7, 3\)"),
        (changed(CLAMPED, shapes=np.ones((7, 3, 0))), r"shapes: expected the shape"),
        (changed(CLAMPED, stiffness=[1.0, 2.0]), r"stiffness: expected shape \(3,\)"),
        (changed(CLAMPED, stiffness=[1.0, -2.0, 3.0]), "mode 2: the modal stiffness is negative, -2;"),
        (
            changed(CLAMPED, stiffness=np.diag([1.0, 1.0, 1.0]) + 4.0 * np.eye(3)[::-1]),
            r"mode [13]: .* -3 \(an eigenvalue\)",
        ),
        (changed(CLAMPED, stiffness=np.triu(np.ones((3, 3)))), "stiffness: the matrix is not symmetric"),
        (changed(CLAMPED, damping=[0.0, 0.0, -1.0]), "mode 3: the modal damping is negative"),
        (changed(CLAMPED, rotations=CLAMPED.rotations[:3]), r"rotations: expected shape \(7, 3, 3\)"),
        (changed(CLAMPED, rotations=_with(CLAMPED.rotations, (2, 1, 0), np.nan)), "rotations: node 2 has some"),
        (changed(CLAMPED, handle=7), "handle: there is no node 7; nodes are numbered 0 to 6"),
        (changed(CLAMPED, positions=CLAMPED.positions + 0.1), "is handle 1, and the body's frame has its origin there"),
        (changed(CLAMPED, largest=0.0), "largest: a positive part"),
        (changed(CLAMPED, boundary="pinned"), "boundary: expected 'clamped' or 'free', got 'pinned'"),
        (changed(CLAMPED, units="furlong"), "units: unknown system of units 'furlong'"),
        (changed(CLAMPED, boundary="free"), "mode 1: its shape is not orthogonal to rigid motion: 0.* is rigid"),
        (changed(FREE, boundary="clamped"), "mode 1: its shape moves handle 1"),
        (changed(FREE, rotations=None), r"rotations: handle 1 \(node \d\) needs them"),
        (changed(CLAMPED, shapes=_with(CLAMPED.shapes, np.s_[:, :, 1], 0.0)), "mode 2: its shape moves no node"),
        (
            changed(CLAMPED, shapes=DOUBLED, rotations=None, stiffness=np.ones(4), damping=0.0),
            "modes 1, 3, 4 are not independent",
        ),
    ],
)
def test_modes_that_no_body_can_have_are_refused_by_name(modes, message):
    with pytest.raises(ModelError, match=message) as caught:
        modes.resolved(UNITS, "body 'lid'")
    assert str(caught.value).startswith("body 'lid'")


def test_a_clamped_shape_that_turns_handle_1_is_refused():
    handle = CLAMPED.handle
    modes = changed(CLAMPED, rotations=_with(CLAMPED.rotations, (handle, 1, 2), 0.1))
    with pytest.raises(ModelError, match="mode 3: its shape turns handle 1"):
        modes.resolved(UNITS, "body 'lid'")


def test_a_node_without_rotations_can_be_in_the_body_but_carry_no_frame():
    node = (CLAMPED.handle + 1) % 7
    shapes = changed(CLAMPED, rotations=_with(CLAMPED.rotations, node, np.nan)).resolved(UNITS, "body 'lid'")
    with pytest.raises(ModelError, match=f"body 'hook': node {node} has no rotations"):
        shapes.rotation(node, "body 'hook'")
    assert shapes.rotation(CLAMPED.handle, "body 'hook'").shape == (3, 3)
