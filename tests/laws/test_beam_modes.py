"""Modes of beams by the theory of Euler and Bernoulli."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import articulon as ar
from articulon.errors import ModelError
from articulon.modes.beam_shapes import bending_shape, roots
from articulon.units import unit_system
from tests.support.flexible_bodies import BETA, correlation, natural_frequencies, rigid_parts
from tests.support.flexible_reference import FlexibleReference
from tests.support.random_models import Body, Description

EPS = np.finfo(float).eps
SI = unit_system("kg-m-s")


def steel(boundary: str, **changes: Any) -> ar.Modes:
    given: dict[str, Any] = {
        "length": 2.0,
        "mass": 3.0,
        "bending": (5, 0),
        "bending_stiffness": 0.7,
        "boundary": boundary,
    }
    return ar.modes.beam(**given | changes)


@pytest.mark.parametrize("boundary", BETA)
def test_roots_are_those_of_the_frequency_equation(boundary):
    np.testing.assert_allclose(roots(boundary, 5), BETA[boundary], rtol=4 * EPS)
    k = np.arange(6, 301)
    limit = (k - 0.5) * np.pi if boundary == "clamped" else (k + 0.5) * np.pi
    np.testing.assert_allclose(roots(boundary, 300)[5:], limit, rtol=2.0 * np.exp(-16.0))


@pytest.mark.parametrize("boundary", BETA)
@pytest.mark.parametrize("mode", [1, 2, 7, 40, 300])
def test_bending_shapes_keep_their_norm_and_their_ends_however_high_the_mode(boundary, mode):
    """∫φ² = ¼ where |φ| is one at the free end (Blevins, appendix C), the ends are held or not, and the slope is that
    of the shape: ∫φ'dξ is the difference of the ends, to the rounding εβ of the phase βξ times a slope of up to β."""
    beta = roots(boundary, mode)[-1]
    xi, weight = np.polynomial.legendre.leggauss(2 * mode + 20)
    value, slope = bending_shape(boundary, beta, 0.5 * (1.0 + xi))
    assert 0.5 * weight @ value**2 == pytest.approx(0.25, rel=1e-11)
    ends, turns = bending_shape(boundary, beta, np.array([0.0, 1.0]))
    assert abs(ends[1]) == pytest.approx(1.0, abs=100 * mode * EPS)
    if boundary == "clamped":
        assert abs(ends[0]) < 4 * EPS and abs(turns[0]) < 4 * EPS * beta
    else:
        assert ends[0] == pytest.approx(1.0, abs=4 * EPS)
    assert 0.5 * weight @ slope == pytest.approx(ends[1] - ends[0], abs=4 * EPS * beta**2)


@pytest.mark.parametrize("boundary", BETA)
def test_frequencies_of_a_beam_are_those_of_the_theory(boundary):
    """With consistent masses, the nodes' integrals of the five shapes are exact to rounding."""
    omega = np.array(BETA[boundary]) ** 2 * np.sqrt(0.7 / (3.0 * 2.0**3))
    np.testing.assert_allclose(natural_frequencies(steel(boundary)), omega, rtol=1e-12)


@pytest.mark.parametrize("boundary", BETA)
def test_frequencies_with_lumped_masses_approach_the_theory_by_the_square_of_the_distance(boundary):
    """The trapezoidal rule's error is h²/12 of the difference of derivatives at the ends."""
    omega = BETA[boundary][0] ** 2 * np.sqrt(0.7 / (3.0 * 2.0**3))
    error = [
        abs(natural_frequencies(steel(boundary, masses="lumped", nodes=n, bending=(1, 0)))[0] / omega - 1.0)
        for n in (41, 81, 161)
    ]
    assert np.log2(error[0] / error[1]) == pytest.approx(2.0, abs=0.1)
    assert np.log2(error[1] / error[2]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("boundary", BETA)
def test_twist_and_stretch_of_a_beam_have_the_frequencies_of_bars(boundary):
    """ω = κ √(EA/mL) for stretch and κ √(GJ/mLr²) for twist, r² = 0.3² + 0.4², κ = (k − ½)π or kπ."""
    whole = steel(
        boundary, bending=0, torsion=3, torsional_stiffness=0.2, stretch=3, axial_stiffness=9.0, gyration=(0.3, 0.4)
    )
    wave = (np.arange(1, 4) - (0.5 if boundary == "clamped" else 0.0)) * np.pi
    expected = np.concatenate([wave * np.sqrt(9.0 / 6.0), wave * np.sqrt(0.2 / (6.0 * 0.25))])
    np.testing.assert_allclose(natural_frequencies(whole), np.sort(expected), rtol=1e-12)


@pytest.mark.parametrize("boundary", BETA)
def test_modes_of_a_beam_are_orthogonal_to_each_other_and_free_ones_to_rigid_motion(boundary):
    modes = steel(
        boundary,
        bending=3,
        torsion=2,
        torsional_stiffness=0.2,
        stretch=2,
        axial_stiffness=9.0,
        gyration=0.1,
        units="lj",
    )
    np.testing.assert_allclose(correlation(modes), np.eye(10), atol=1e-13)
    if boundary == "free":
        assert rigid_parts(modes).max() < 1e-13
        lumped = steel(boundary, bending=3, masses="lumped", nodes=9)
        assert rigid_parts(lumped).max() < 1e-13
    modes.resolved(unit_system("lj"), "body 'rod'")


def test_a_beam_has_the_mass_and_the_inertia_of_its_cross_sections():
    modes = steel("clamped", gyration=(0.3, 0.4))
    x, m = np.asarray(modes.positions), np.asarray(modes.masses)
    assert m.sum() == pytest.approx(3.0, rel=4 * EPS)
    second = np.einsum("i,ia,ib->ab", m, x, x)
    np.testing.assert_allclose(second, np.diag([3.0 * 4.0 / 3.0, 3.0 * 0.09, 3.0 * 0.16]), rtol=0, atol=100 * EPS)


@pytest.mark.parametrize("boundary", BETA)
def test_rotations_of_a_beam_are_the_slopes_of_its_shapes(boundary):
    """A section's four outer nodes turn by twist, and the axis' slope is dy/dx about z and −dz/dx about y: against
    the interpolating polynomial through the nodes, which is exact to rounding with as many nodes as here."""
    modes = steel(boundary, bending=2, torsion=1, torsional_stiffness=1.0, gyration=0.1, nodes=24)
    x = np.asarray(modes.positions)[:24, 0]
    shapes, rotations = np.asarray(modes.shapes), np.asarray(modes.rotations)
    for j in range(4):
        for axis, about, sign in ((1, 2, 1.0), (2, 1, -1.0)):
            fit = np.polynomial.chebyshev.Chebyshev.fit(x, shapes[:24, axis, j], 23)
            np.testing.assert_allclose(sign * fit.deriv()(x), rotations[:24, about, j], rtol=0, atol=1e-10)
    arm = np.asarray(modes.positions)[24:48] - np.asarray(modes.positions)[:24]
    turned = np.cross(rotations[:24, :, 4], arm)
    np.testing.assert_allclose(shapes[24:48, :, 4] - shapes[:24, :, 4], turned, rtol=0, atol=100 * EPS)


def test_static_deflection_of_a_cantilever_by_its_modes_converges_to_the_elastic_line():
    """A force F at the end: Σ_k F φ_k(L)²/k_k = (F L³/EI) Σ 4/β_k⁴, which is F L³/3EI; what m modes leave out is
    Σ_{k>m} 4/β_k⁴ < 4/(3π⁴ (m − ½)³)."""
    modes = steel("clamped", bending=(40, 0))
    tip = np.argmax(modes.positions[:, 0])
    parts = modes.shapes[tip, 1] ** 2 / modes.stiffness * (3.0 * 0.7 / 2.0**3)
    for m in (1, 4, 40):
        rest = 1.0 - parts[:m].sum()
        assert 0.0 < rest < 3.0 * 4.0 / (3.0 * np.pi**4 * (m - 0.5) ** 3)


def test_a_loaded_end_moves_and_turns_as_the_elastic_line_under_any_force_and_moment():
    """FL³/3EI + ML²/2EI and FL²/2EI + ML/EI, by the two cubic shapes alone; Fl/EA and Ml/GJ by the linear ones."""
    modes = steel(
        "loaded",
        bending=(2, 0),
        gyration=0.1,
        torsion=1,
        torsional_stiffness=0.2,
        stretch=1,
        axial_stiffness=9.0,
        nodes=9,
    )
    shapes = modes.resolved(SI, "body 'link'")
    force, moment = np.array([0.5, 0.3, 0.0]), np.array([-0.6, 0.0, -0.2])
    eta = np.linalg.solve(shapes.stiffness, shapes.shapes[8].T @ force + shapes.rotations[8].T @ moment)
    L, EI = 2.0, 0.7
    moved = [0.5 * L / 9.0, (0.3 * L**3 / 3 - 0.2 * L**2 / 2) / EI, 0.0]
    turned = [-0.6 * L / 0.2, 0.0, (0.3 * L**2 / 2 - 0.2 * L) / EI]
    np.testing.assert_allclose(shapes.shapes[8] @ eta, moved, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(shapes.rotations[8] @ eta, turned, rtol=1e-13, atol=1e-15)


def test_shapes_of_a_loaded_end_find_the_frequencies_of_a_free_end_from_above():
    """They are stationary (Rayleigh and Ritz), so each falls with the number of shapes and none goes below theory."""
    theory = np.array(BETA["clamped"][:2]) ** 2 * np.sqrt(0.7 / (3.0 * 2.0**3))
    found = np.array([natural_frequencies(steel("loaded", bending=(n, 0), nodes=40))[:2] for n in (2, 3, 5, 9)])
    error = found / theory - 1.0
    assert (error > -1e-12).all() and (np.diff(error, axis=0) < 0.0).all()
    assert error[0, 0] < BETA["clamped"][0] ** 4 / 1440 and error[3, 0] < 1e-6


@pytest.mark.parametrize("root, boundary", [("weld", "clamped"), ("free", "free")])
def test_links_welded_to_loaded_ends_are_finite_elements(root, boundary):
    """Four links of the two cubic shapes in a plane: frequencies of the whole beam have the relative error of cubic
    elements, (βh/L)⁴/1440 (Strang and Fix, section 1.9)."""
    link = steel("loaded", length=0.5, mass=0.75, bending=(2, 0), gyration=(1e-3, 1e-3), nodes=7)
    plain = {"axis": np.eye(3)[2], "rotation": np.eye(4)[0], "mass": 1.0, "com": np.zeros(3), "inertia": np.eye(3)}
    bodies = [
        Body(f"link-{k}", k - 1 if k else None, "weld" if k else root, position=np.zeros(3), **plain) for k in range(4)
    ]
    shapes = link.resolved(SI, "body 'link'")
    reference = FlexibleReference(Description(tuple(bodies)), [shapes] * 4, [None, 6, 6, 6], np.float64)
    q = np.zeros(reference.nq)
    if root == "free":
        q[3] = 1.0
    M, K = reference.mass_matrix(q), np.zeros((reference.nu, reference.nu))
    for k in range(4):
        K[reference.modal_u(k), reference.modal_u(k)] = shapes.stiffness
    squared = np.sort(scipy.linalg.eigvalsh(K, M))[6 if root == "free" else 0 :][:2]
    beta = np.array(BETA[boundary][:2])
    error = np.sqrt(squared) / (beta**2 * np.sqrt(0.7 / (3.0 * 2.0**3))) - 1.0
    # Cross-sections of a thousandth of the length turn with the links that carry them.
    assert (error > -1e-4).all() and (error < 2.0 * (beta / 4) ** 4 / 1440).all()


def test_damping_of_a_loaded_beam_is_the_given_part_of_the_critical_in_each_mode():
    modes = steel("loaded", bending=(4, 3), damping_ratio=0.03)
    m, shapes = np.asarray(modes.masses), np.asarray(modes.shapes)
    M = np.einsum("i,iaj,iak->jk", m, shapes, shapes)
    squared, vectors = scipy.linalg.eigh(modes.stiffness, M)
    damping = vectors.T @ modes.damping @ vectors
    scale = 2 * 0.03 * np.sqrt(squared)
    np.testing.assert_allclose(damping, np.diag(scale), rtol=0, atol=1e-12 * scale.max())


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"length": -1.0}, "beam: length: must be positive, got -1.0"),
        ({"mass": "3 fg"}, "mass: '3 fg' has a unit; give units="),
        ({"mass": "3 fg", "units": "lj"}, "reduced units"),
        ({"length": "2 kg", "units": "kg-m-s"}, "length"),
        ({"bending": 0}, "no modes were requested"),
        ({"bending": -1}, "bending: expected a whole number of at least 0, got -1"),
        ({"bending": (1, 1, 1)}, "bending: expected a number of modes, or one for each of y and z"),
        ({"bending_stiffness": None}, "bending_stiffness is required"),
        ({"bending_stiffness": (1.0, 0.0)}, "bending_stiffness: must be positive"),
        ({"torsion": 1, "torsional_stiffness": 1.0}, "a beam without a radius of gyration cannot twist"),
        ({"torsion": 1, "gyration": 0.1}, "torsional_stiffness is required"),
        ({"stretch": 1}, "axial_stiffness is required"),
        ({"gyration": -0.1}, "gyration: must not be negative"),
        ({"nodes": 6}, "nodes: 6 are too few for 5 modes of a kind; use at least 7"),
        ({"boundary": "pinned"}, "boundary: expected 'clamped', 'free' or 'loaded'"),
        ({"masses": "heavy"}, "masses: expected 'consistent' or 'lumped'"),
        ({"handle": 3}, "handle: the clamped end is node 0, got 3"),
        ({"handle": 99, "boundary": "free"}, "handle: there are 22 nodes on the axis"),
        ({"units": "cubit"}, "beam, units: unknown system of units 'cubit'"),
    ],
)
def test_beams_that_cannot_be_are_refused_by_name(changes, message):
    with pytest.raises(ModelError, match=message):
        steel(**{"boundary": "clamped"} | changes)
