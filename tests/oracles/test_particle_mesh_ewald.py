"""Particle-mesh Ewald sums against the exact sum, another engine, NIST's numbers and a lattice."""

from __future__ import annotations

import itertools
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites import mesh_waves
from articulon.forces.sites.ewald_waves import reciprocal_measure, reciprocal_table, wave_table, waves_within
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_tables import ENERGY, FORCES, MEASURE, MEASURES
from articulon.kernels import prepare
from tests.support.openmm_peer import openmm_sums
from tests.support.particle_models import box_vectors, particles
from tests.support.threads import on_threads

BOXES: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "cube": ((5.0, 5.0, 5.0), (0.0, 0.0, 0.0)),
    "slab": ((6.0, 9.0, 2.5), (0.0, 0.0, 0.0)),
    "triclinic": ((5.0, 6.0, 4.5), (2.0, -1.5, 2.5)),
}
COUNT = 200


def ions(box: str, count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    """Ions at random, anywhere in space, with charges that add up to zero."""
    rng = np.random.default_rng(1)
    charges = rng.uniform(0.5, 2.0, count) * np.where(np.arange(count) % 2, 1.0, -1.0)
    return rng.uniform(-1.0, 2.0, (count, 3)) * BOXES[box][0], charges - charges.mean()


def model_of(box: str, law: Any, count: int = COUNT) -> ar.Model:
    lengths, tilts = BOXES[box]
    positions, charges = ions(box, count)
    return particles(positions, law, box=ar.Box(lengths=lengths, tilts=tilts), charges=charges)


def sums(model: ar.Model) -> tuple[np.ndarray, np.ndarray]:
    """Forces on the sites and the measures of a model of particles, where they are at first."""
    sites, x = SiteForces(model), model.q0.reshape(-1, 3)
    return sites.evaluate(x), sites.measure(x)


@cache
def exact(box: str) -> tuple[np.ndarray, np.ndarray]:
    return sums(model_of(box, ar.forces.Ewald(precision=1e-11)))


def rms(difference: np.ndarray, box: str) -> float:
    """Relative to the force between two charges of rms magnitude at their mean distance."""
    _, charges = ions(box)
    unit = charges @ charges / COUNT * (COUNT / np.prod(BOXES[box][0])) ** (2.0 / 3.0)
    return float(np.sqrt((difference**2).sum() / COUNT)) / unit


# The estimate is of a mean over random places, of which there are 200 here: the rms of 600 components scatters by
# 1/√1200, and by some times more where a few pairs that happen to be near the cutoff make most of it.
LOW, HIGH = 0.6, 1.4


@pytest.mark.slow
@pytest.mark.parametrize("precision", [1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("order", [5, 6, 8])
@pytest.mark.parametrize("box", BOXES)
def test_errors_are_those_that_are_expected(box, order, precision):
    model = model_of(box, ar.forces.ParticleMeshEwald(precision=precision, order=order))
    found = model.forces[0].parameters(model)
    assert found.error < 1.001 * precision
    # The same real part and the exact rest, so that each part's error shows.
    split = {"damping": found.damping, "cutoff": found.cutoff}
    whole, _ = sums(model_of(box, ar.forces.Ewald(precision=1e-11, **split)))
    forces, _ = sums(model)
    assert LOW < rms(forces - exact(box)[0], box) / found.error < HIGH
    assert LOW < rms(forces - whole, box) / found.reciprocal_error < HIGH
    assert LOW < rms(whole - exact(box)[0], box) / found.real_error < HIGH


@pytest.mark.slow
@pytest.mark.parametrize("box", BOXES)
def test_a_precise_sum_is_the_exact_one(box):
    law = ar.forces.ParticleMeshEwald(precision=1e-7, order=8, cutoff=1.25)
    forces, measures = sums(model_of(box, law))
    assert rms(forces - exact(box)[0], box) < 1.4e-7
    # An energy of 1/r has an error of as many units at the mean distance, which add up at random over the charges; the
    # Laplacian takes another derivative, over the spacing.
    assert np.abs(measures[:7] - exact(box)[1][:7]).max() < 1e-6 * np.abs(exact(box)[1][:7]).max()
    assert measures[7] == pytest.approx(exact(box)[1][7], rel=1e-4)


@pytest.mark.parametrize("surface", [1.0, 3.0])
def test_surfaces_are_those_of_the_exact_sum(surface):
    law = {"precision": 1e-6, "surface_permittivity": surface, "relative_permittivity": 2.0}
    forces, measures = sums(model_of("triclinic", ar.forces.ParticleMeshEwald(order=8, **law), 40))
    wanted, other = sums(model_of("triclinic", ar.forces.Ewald(**law), 40))
    # Some rms errors of both, of which the largest force is a few units.
    assert np.abs(forces - wanted).max() < 1e-5 * np.abs(wanted).max()
    assert np.abs(measures[:7] - other[:7]).max() < 1e-5 * np.abs(other[:7]).max()


@pytest.mark.parametrize("cells", [1, 2])
def test_rock_salt_has_madelungs_constant(cells):
    positions = np.array(list(itertools.product(range(2 * cells), repeat=3)), dtype=float)
    charges = 1.0 - 2.0 * (positions.sum(axis=1) % 2.0)
    law = ar.forces.ParticleMeshEwald(precision=1e-8, order=8)
    model = particles(positions, law, box=ar.Box(lengths=(2.0 * cells,) * 3), charges=charges)
    # Borwein and Borwein 1998. All charges stand alike, so that their errors add up: √N of them, of N.
    assert -2.0 * ar.potential_energy(model, model.q0) / len(charges) == pytest.approx(1.74756459463318, rel=1e-7)


@pytest.mark.parametrize("box", BOXES)
def test_openmms_mesh_gives_the_same_forces(box):
    openmm = pytest.importorskip("openmm")
    lengths, tilts = BOXES[box]
    positions, charges = ions(box)
    # Of an even number of points the two engines take another sign of the wave between two in a tilted box.
    alpha, mesh = 2.6, (21, 25, 15) if box == "triclinic" else (20, 24, 14)
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(openmm.NonbondedForce.PME)
    force.setCutoffDistance(1.25)
    force.setPMEParameters(alpha, *mesh)
    for charge in charges:
        force.addParticle(charge, 1.0, 0.0)
    energy, pull = openmm_sums(positions, [force], box_vectors(lengths, tilts))
    law = ar.forces.ParticleMeshEwald(cutoff=1.25, damping=alpha, mesh=mesh, order=5)
    builder = ar.ModelBuilder(units="Da-nm-ps", box=ar.Box(lengths=lengths, tilts=tilts))
    builder.add_particles(COUNT, mass=1.0, positions=positions, charge=charges)
    builder.add_force(law)
    forces, measures = sums(builder.build())
    # Both are the same sum of the same mesh in double precision; OpenMM's constant has ten digits.
    assert np.sqrt(((forces - pull) ** 2).sum() / (pull**2).sum()) < 1e-8
    assert measures[ENERGY] == pytest.approx(energy, rel=1e-8)


def test_any_number_of_threads_gives_the_same_bits():
    model = model_of("triclinic", ar.forces.ParticleMeshEwald(precision=1e-3))
    sites, x = SiteForces(model), model.q0.reshape(-1, 3)
    sites.evaluate(x)
    table = next(term.table for term in model.forces[0].site_terms(model) if term.level == "long")
    parts, results = sites.system.particles, []
    one, shared = (prepare(kernel, FORCES) for kernel in (mesh_waves.mesh_forces, mesh_waves.mesh_forces_parallel))
    for kernel, count in ((one, 1), (shared, 1), (shared, 2), (shared, 2)):
        for f in (parts.fx, parts.fy, parts.fz):
            f[:] = 0.0
        on_threads(count, partial(kernel, table, sites.cell, parts, sites.system.neighbours))
        results.append(np.stack([parts.fx, parts.fy, parts.fz]))
    assert np.abs(results[1]).max() > 0.0
    assert np.array_equal(results[1], results[2]) and np.array_equal(results[2], results[3])
    # The two kernels are chosen by size, and compiled apart: they may round differently.
    assert np.abs(results[1] - results[0]).max() < 1e-12 * np.abs(results[0]).max()


def test_what_is_given_is_kept_and_the_rest_is_chosen_for_the_precision():
    def chosen(**given: Any) -> Any:
        model = model_of("triclinic", ar.forces.ParticleMeshEwald(precision=1e-4, **given))
        return model.forces[0].parameters(model)

    for given in (
        {},
        {"cutoff": 1.5},
        {"damping": 2.5},
        {"order": 4},
        {"mesh": (30, 36, 28)},
        {"cutoff": 1.5, "damping": 2.2},
        {"cutoff": 1.5, "order": 7},
    ):
        found = chosen(**given)
        for name, value in given.items():
            assert getattr(found, name) == value
        assert found.error < 1.01e-4
        for points in found.mesh:
            assert points % 2 == 0 or points in given.get("mesh", ())
            for prime in (2, 3, 5, 7):
                while points % prime == 0:
                    points //= prime
            assert points == 1
    assert chosen(cutoff=1.5, damping=1.5).real_error > 1e-3  # both given: what they leave is said


NIST = Path(__file__).parents[1] / "data" / "nist" / "spce_sample_config_periodic1.txt"
"""Configuration 1 of NIST's Standard Reference Simulation Website, 100 molecules of SPC/E water."""
PRINTED = {"dispersion": "9.95387E+04", "tail": "-8.23715E+02", "real": "-5.58889E+05", "fourier": "6.27009E+03"}
PRINTED |= {"self": "-2.84469E+06", "intra": "2.80999E+06", "total": "-4.88604E+05"}
"""Energies over Boltzmann's constant [K], for α = 5.6/L, a cutoff of 10 Å, and waves of indices up to 5 with
a² + b² + c² < 27 (https://www.nist.gov/mml/csd/chemical-informatics-group/
spce-water-reference-calculations-cuboid-cell-10a-cutoff)."""
EDGE, CUTOFF = 2.0, 1.0
ALPHA = 5.6 / EDGE


def water() -> tuple[np.ndarray, np.ndarray]:
    """Positions [nm] and charges of the configuration."""
    sizes, count, *rows = NIST.read_text(encoding="utf-8").splitlines()
    assert (sizes.split(), int(count)) == (["2.000000000000E+01"] * 3, 100)
    table = [row.split() for row in rows if row.strip()]
    positions = 0.1 * np.array([row[1:4] for row in table], dtype=float)
    return positions, np.where(np.array([row[4] for row in table]) == "O", -0.8476, 0.4238)


def water_model(*forces: Any, rigid: bool = True) -> ar.Model:
    positions, charges = water()
    builder = ar.ModelBuilder(units="Da-nm-ps", box=ar.Box(lengths=(EDGE,) * 3))
    for m in range(100):
        own = positions[3 * m : 3 * m + 3]
        own = own[0] + (own - own[0] + 0.5 * EDGE) % EDGE - 0.5 * EDGE
        if rigid:
            body = builder.add_body(f"M{m}", mass=18.0, inertia=(1.0, 1.0, 1.0), joint=ar.Free(), position=own[0])
        for k in range(3):
            kind = "O" if k == 0 else "H"
            if rigid:
                builder.add_site(body, position=own[k] - own[0], charge=charges[3 * m + k], kind=kind)
            else:
                builder.add_particles(1, mass=1.0, positions=own[k : k + 1], charge=charges[3 * m + k], kind=kind)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def energy(model: ar.Model) -> float:
    """Potential energy over Boltzmann's constant [K]."""
    return ar.potential_energy(model, model.q0) / model.units.boltzmann


def test_water_has_the_energies_that_nist_prints():
    def is_printed(name: str, value: float, digits: float = 0.51) -> bool:
        """Within half of the last digit; NIST's constants are of 2010, which changes nothing before the seventh."""
        unit = 10.0 ** (int(PRINTED[name].partition("E")[2]) - 5)
        return abs(value - float(PRINTED[name])) <= digits * unit

    kinds = {"O": {"sigma": 0.316555789, "epsilon": f"{78.19743111 * 8.31446261815324e-3} kJ/mol"}}
    kinds["H"] = {"sigma": 0.1, "epsilon": 0.0}
    cut = {"parameters": kinds, "cutoff": CUTOFF}
    truncated = energy(water_model(ar.forces.LennardJones(**cut)))
    corrected = energy(water_model(ar.forces.LennardJones(tail_correction=True, **cut)))
    assert is_printed("dispersion", truncated) and is_printed("tail", corrected - truncated)

    # The waves that NIST takes, and no more.
    positions, charges = water()
    model = water_model(ar.forces.ParticleMeshEwald(cutoff=CUTOFF, damping=ALPHA, mesh=(64, 64, 64), order=8))
    sites, inverse = SiteForces(model), np.eye(3) / EDGE
    sites.measure(positions)
    columns = waves_within(inverse, (5, 5, 5), 2.0 * np.pi / EDGE * np.sqrt(26.5))
    constant = model.units.coulomb
    waves = wave_table(inverse, columns, ALPHA, constant * 4.0 * np.pi / EDGE**3)
    table = reciprocal_table(np.arange(300), waves, ALPHA, 0.0)
    taken = np.zeros(MEASURES)
    measure = prepare(reciprocal_measure, MEASURE)
    measure(table, sites.cell, sites.system.particles, sites.system.neighbours, taken)
    fourier = taken[ENERGY] / model.units.boltzmann
    assert is_printed("fourier", fourier)

    own = -constant * ALPHA / np.sqrt(np.pi) * charges @ charges / model.units.boltzmann
    assert is_printed("self", own)
    # Ours less the waves of the mesh is NIST's real, self and intramolecular part.
    whole = energy(model)
    mesh = np.zeros(MEASURES)
    term = next(term for term in model.forces[0].site_terms(model) if term.level == "long")
    by_mesh = prepare(mesh_waves.mesh_measure, MEASURE)
    by_mesh(term.table, sites.cell, sites.system.particles, sites.system.neighbours, mesh)
    rest = whole - mesh[ENERGY] / model.units.boltzmann
    assert rest == pytest.approx(float(PRINTED["real"]) + float(PRINTED["self"]) + float(PRINTED["intra"]), abs=11.0)
    # The total that is printed is the sum of the rounded parts.
    assert is_printed("total", rest + fourier + corrected, 1.0)
    # And the mesh holds every wave, those beyond NIST's among them.
    everything = energy(water_model(ar.forces.Ewald(cutoff=CUTOFF, damping=ALPHA, waves=(14, 14, 14))))
    assert whole == pytest.approx(everything, abs=1e-7 * abs(own))
