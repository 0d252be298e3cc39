"""What holds for any sum over a mesh: splines, forces as the gradient of the energy, the virial as its strain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import BSpline

import articulon as ar
from articulon.forces.sites.mesh_splines import moduli, polynomials
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_positions import site_positions
from tests.support.particle_models import derivative, particles

LENGTHS, TILTS = (5.0, 6.0, 4.5), (2.0, -1.5, 2.5)
COUNT = 12
LAW = {"cutoff": 1.9, "damping": 2.2, "mesh": (12, 15, 14), "relative_permittivity": 2.0}
"""Coarse: what holds does so however large the errors are. Nothing of the real part is left at the cutoff."""


def ions() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    charges = np.where(np.arange(COUNT) % 2, 1.0, -1.0)
    return rng.uniform(-1.0, 2.0, (COUNT, 3)) * LENGTHS, charges


def model_of(positions: np.ndarray, order: int, strain: np.ndarray | None = None, **given: Any) -> ar.Model:
    edges = ar.Box(lengths=LENGTHS, tilts=TILTS).vectors @ (np.eye(3) if strain is None else strain)
    box = ar.Box(lengths=tuple(np.diag(edges)), tilts=(edges[1, 0], edges[2, 0], edges[2, 1]))
    law = ar.forces.ParticleMeshEwald(order=order, **(LAW | given))
    return particles(positions, law, box=box, charges=ions()[1])


@pytest.mark.parametrize("order", range(4, 9))
def test_weights_are_those_of_cardinal_splines(order):
    rows = polynomials(order)
    spline = BSpline.basis_element(np.arange(order + 1.0), extrapolate=False)
    for w in (0.0, 0.3, 0.77):
        found = (w ** np.arange(order)) @ rows
        assert found[:order] == pytest.approx(np.nan_to_num(spline(w + order - 1.0 - np.arange(order))), abs=1e-14)
        assert not found[order:].any()
        assert found.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(("order", "points"), [(4, 12), (5, 12), (5, 15), (6, 9), (8, 10)])
def test_moduli_are_those_of_the_waves_that_splines_hold(order, points):
    values = BSpline.basis_element(np.arange(order + 1.0))(np.arange(1.0, order))
    m, k = np.arange(points), np.arange(order - 1)
    wanted = np.abs(np.exp(2j * np.pi * np.outer(m, k) / points) @ values) ** 2
    found, kept = moduli(order, points), wanted > 1e-7
    assert found[kept] == pytest.approx(wanted[kept], rel=1e-10)
    assert (found > 1e-7).all()


@pytest.mark.parametrize("surface", ["infinite", 3.0])
@pytest.mark.parametrize("order", [4, 5, 8])
def test_forces_and_virial_are_derivatives_of_the_energy(order, surface):
    positions, _ = ions()
    model = model_of(positions, order, surface_permittivity=surface)
    sites = SiteForces(model)
    forces, measures = sites.evaluate(positions), sites.measure(positions)
    # Splines of order 4 have a third derivative that jumps, which is what the fourth-order formula leaves, times h³;
    # rounding leaves 1e-15 of the energy over h.
    h, bound = 1e-4, 1e-7
    for i, a in ((0, 0), (3, 1), (11, 2)):

        def energy(s: float, i: int = i, a: int = a) -> float:
            moved = positions.copy()
            moved[i, a] += s
            return float(sites.measure(moved)[0])

        assert forces[i, a] == pytest.approx(-derivative(energy, h), abs=bound * np.abs(forces).max())
    for column, (a, b) in enumerate(((0, 0), (1, 1), (2, 2), (1, 0), (2, 0), (2, 1)), start=1):

        def strained(s: float, a: int = a, b: int = b) -> float:
            strain = np.eye(3)
            strain[a, b] += s
            model = model_of(positions @ strain, order, strain, surface_permittivity=surface)
            return float(SiteForces(model).measure(positions @ strain)[0])

        slope = derivative(strained, h)
        assert measures[column] == pytest.approx(-slope, abs=3e-7 * np.abs(measures[:7]).max())


def test_whole_edges_make_no_difference():
    positions, _ = ions()
    model = model_of(positions, 5)
    sites = SiteForces(model)
    moved = positions + np.random.default_rng(2).integers(-3, 4, positions.shape) @ model.box.vectors
    one, other = sites.evaluate(positions), sites.evaluate(moved)
    assert np.abs(other - one).max() < 1e-11 * np.abs(one).max()


def test_what_is_not_a_number_goes_on():
    positions, _ = ions()
    sites = SiteForces(model_of(positions, 5))
    positions[2, 1] = np.nan
    assert np.isnan(sites.evaluate(positions)).any(axis=1).all()
    assert np.isfinite(sites.evaluate(ions()[0])).all()


def test_charges_on_one_body_do_not_feel_each_other():
    """As by the exact sum: the energy counts no pair of a body, and no wrench comes of one."""

    def built(law: Any) -> ar.Model:
        builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(6.0, 6.0, 6.0)))
        for name, position in (("near", (1.0, 1.0, 1.0)), ("across", (5.9, 5.0, 0.2))):
            body = builder.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), joint=ar.Free(), position=position)
            for local, charge in (((0.0, 0.0, 0.0), -0.8), ((0.4, 0.0, 0.0), 0.4), ((-0.1, 0.35, 0.0), 0.4)):
                builder.add_site(body, position=local, charge=charge)
        builder.add_force(law)
        return builder.build()

    fine = built(ar.forces.ParticleMeshEwald(precision=1e-7, order=8))
    exact = built(ar.forces.Ewald(precision=1e-11))
    assert ar.potential_energy(fine, fine.q0) == pytest.approx(ar.potential_energy(exact, exact.q0), abs=1e-6)
    found, wanted = (ar.generalized_forces(model, model.q0, np.zeros(model.nu)) for model in (fine, exact))
    assert np.abs(found - wanted).max() < 1e-6 * np.abs(wanted).max()
    assert np.array_equal(site_positions(fine, fine.q0), site_positions(exact, exact.q0))
    assert ar.virial(fine, fine.q0) == pytest.approx(ar.virial(exact, exact.q0), abs=1e-6)
    # In the pressure of whole molecules the sites' own forces must cancel what the virial has of them.
    u = np.zeros(fine.nu)
    assert ar.pressure(fine, fine.q0, u) == pytest.approx(molecular_pressure(fine), abs=1e-7)


def molecular_pressure(model: ar.Model) -> float:
    """−dU/dV at rest, of bodies that the box carries along whole."""
    edges = model.box.vectors

    def energy(s: float) -> float:
        builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=tuple(np.diag(edges) * np.exp(s / 3.0))))
        # The first site of each is at its centre of mass.
        for k, place in enumerate(site_positions(model, model.q0)[[0, 3]] * np.exp(s / 3.0)):
            body = builder.add_body(f"{k}", mass=1.0, inertia=(1.0, 1.0, 1.0), joint=ar.Free(), position=place)
            for site in np.flatnonzero(model.sites.body == k):
                builder.add_site(body, position=model.sites.position[site], charge=model.sites.charge[site])
        builder.add_force(ar.forces.Ewald(cutoff=2.9, damping=1.9, waves=(12, 12, 12)))
        scaled = builder.build()
        return ar.potential_energy(scaled, scaled.q0)

    return -derivative(energy, 1e-3) / float(np.prod(np.diag(edges)))
