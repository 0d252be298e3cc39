"""Periodic systems of OpenMM as our own forces: its Reference platform, term by term, on the same mesh."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

openmm = pytest.importorskip("openmm")
from openmm import app, unit  # noqa: E402

import articulon as ar  # noqa: E402
from articulon import molecules  # noqa: E402
from articulon.forces.sites.site_evaluation import SiteForces  # noqa: E402
from articulon.forces.sites.site_positions import site_positions  # noqa: E402

CUTOFF = 0.9
FORCES, ENERGIES = 1e-5, 1e-6
"""Relative bounds: rms of the forces, and of the energy of a term."""
FILES = {"tip3p": "amber14/tip3p.xml", "tip4pew": "amber14/tip4pew.xml"}
EDGES = (2.1, 2.2, 2.3)


@cache
def solvated(water: str, ions: float, peptide: str = "") -> tuple[Any, Any]:
    """OpenMM's topology and positions of a box of water, with ions [mol/l] and a peptide in it."""
    field = app.ForceField("amber14-all.xml", FILES[water])
    modeller = app.Modeller(app.Topology(), [])
    if peptide:
        modeller = app.Modeller(*molecules.to_openmm(molecules.peptide(peptide)))
    edges = openmm.Vec3(*EDGES) * unit.nanometer
    modeller.addSolvent(field, model=water, boxSize=edges, ionicStrength=ions * unit.molar)
    return modeller.topology, modeller.positions


def system_of(water: str, ions: float, peptide: str = "", **options: Any) -> tuple[Any, np.ndarray]:
    """A System of it, and where its particles are."""
    topology, positions = solvated(water, ions, peptide)
    field = app.ForceField("amber14-all.xml", FILES[water])
    given = {"nonbondedMethod": app.PME, "nonbondedCutoff": CUTOFF, "rigidWater": True, "removeCMMotion": False}
    system = field.createSystem(topology, **(given | options))
    nonbonded = next(force for force in system.getForces() if isinstance(force, openmm.NonbondedForce))
    if nonbonded.getNonbondedMethod() == nonbonded.PME:
        nonbonded.setPMEParameters(3.1, 20, 21, 24)
    return system, np.array(positions.value_in_unit(unit.nanometer))


def theirs(system: Any, positions: np.ndarray) -> tuple[float, np.ndarray]:
    """Energy and forces; those on sites without mass are already on the atoms that carry them."""
    platform = openmm.Platform.getPlatformByName("Reference")
    context = openmm.Context(system, openmm.VerletIntegrator(1e-3), platform)
    context.setPositions(positions)
    state = context.getState(energy=True, forces=True)
    forces = np.array(state.getForces(asNumpy=True)._value)
    forces[[system.isVirtualSite(k) for k in range(system.getNumParticles())]] = 0.0
    return state.getPotentialEnergy()._value, forces


def wrenches(model: ar.Model, x: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Force and torque on each body about the middle of its sites, shape (bodies, 6)."""
    body, count = model.sites.body, model.bodies
    middle = np.stack([np.bincount(body, x[:, a], count) for a in range(3)], axis=1)
    middle /= np.bincount(body, minlength=count)[:, None]
    both = np.concatenate([forces, np.cross(x - middle[body], forces)], axis=1)
    return np.stack([np.bincount(body, both[:, a], count) for a in range(6)], axis=1)


def compared(system: Any, positions: np.ndarray) -> tuple[float, float, float, ar.Model]:
    """Energy here and there, the relative rms difference of the wrenches, and the model."""
    model = molecules.model_from_system(system, positions)
    x, sites = site_positions(model, model.q0), SiteForces(model)
    energy, pull = theirs(system, x)
    found, wanted = wrenches(model, x, sites.evaluate(x)), wrenches(model, x, pull)
    return float(sites.measure(x)[0]), energy, float(np.sqrt(((found - wanted) ** 2).sum() / (wanted**2).sum())), model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("water", "ions", "peptide"), [("tip3p", 0.0, ""), ("tip4pew", 0.3, ""), ("tip3p", 0.3, "AKDFA")]
)
def test_a_box_has_openmms_energy_and_forces(water, ions, peptide):
    system, positions = system_of(water, ions, peptide)
    nonbonded = next(force for force in system.getForces() if isinstance(force, openmm.NonbondedForce))
    nonbonded.setUseDispersionCorrection(False)
    found, wanted, off, model = compared(system, positions)
    law = next(force for force in model.forces if force.kind == "particle-mesh-ewald")
    assert law.mesh == (20, 21, 24) and law.order == 5 and law.damping == 3.1
    assert off < FORCES
    assert found == pytest.approx(wanted, rel=ENERGIES, abs=ENERGIES * abs(charges_alone(system, positions)))


def charges_alone(system: Any, positions: np.ndarray) -> float:
    """Energy of the charges, which others cancel in part."""
    other = openmm.XmlSerializer.clone(system)
    for k in range(other.getNumForces() - 1, -1, -1):
        force = other.getForce(k)
        if not isinstance(force, openmm.NonbondedForce):
            other.removeForce(k)
            continue
        for i in range(force.getNumParticles()):
            force.setParticleParameters(i, force.getParticleParameters(i)[0], 1.0, 0.0)
        for i in range(force.getNumExceptions()):
            a, b, charges, _, _ = force.getExceptionParameters(i)
            force.setExceptionParameters(i, a, b, charges, 1.0, 0.0)
        force.setUseDispersionCorrection(False)
    return theirs(other, positions)[0]


def test_terms_are_openmms_one_by_one():
    system, positions = system_of("tip3p", 0.2)
    nonbonded = next(force for force in system.getForces() if isinstance(force, openmm.NonbondedForce))
    nonbonded.setUseDispersionCorrection(False)
    model = molecules.model_from_system(system, positions)
    x, whole = site_positions(model, model.q0), theirs(system, positions)[0]
    charges = charges_alone(system, positions)
    for kind, wanted in (("particle-mesh-ewald", charges), ("lennard-jones", whole - charges)):
        builder = ar.ModelBuilder(units="Da-nm-ps", box=ar.Box(lengths=EDGES))
        sites = model.sites
        kinds = [sites.kinds[k] for k in sites.kind]
        builder.add_particles(len(x), mass=1.0, positions=x, charge=sites.charge, kind=kinds)
        for force in model.forces:
            if force.kind in (kind, "exclusions"):
                builder.add_force(force)
        alone = builder.build()
        assert ar.potential_energy(alone, alone.q0) == pytest.approx(wanted, rel=ENERGIES)


@pytest.mark.parametrize("switch", [None, 0.75])
def test_tails_are_openmms(switch):
    """For all pairs of kinds: OpenMM counts N(N + 1)/2 pairs of one kind, and we N²/2."""
    system, positions = system_of("tip3p", 0.3)
    nonbonded = next(force for force in system.getForces() if isinstance(force, openmm.NonbondedForce))
    if switch is not None:
        nonbonded.setUseSwitchingFunction(True)
        nonbonded.setSwitchingDistance(switch)
    energies, ours = [], []
    for corrected in (False, True):
        nonbonded.setUseDispersionCorrection(corrected)
        energies.append(theirs(system, positions)[0])
        model = molecules.model_from_system(system, positions)
        law = next(force for force in model.forces if force.kind == "lennard-jones")
        assert law.tail_correction is corrected and law.switch_start == switch
        ours.append(law.site_terms(model)[0].constant[0])
    # Per pair of kinds: n_a n_b of both, but for n(n + 1) of one kind, and all times N/(N + 1).
    parameters = [nonbonded.getParticleParameters(k)[1:] for k in range(nonbonded.getNumParticles())]
    rows = np.array([[s._value, e._value] for s, e in parameters])
    kinds, count = np.unique(rows[rows[:, 1] > 0.0], axis=0, return_counts=True)
    integral = np.zeros((len(kinds),) * 2)
    for a, (s, e) in enumerate(kinds):
        for b, (t, f) in enumerate(kinds):
            sigma, epsilon = 0.5 * (s + t), np.sqrt(e * f)
            beyond = _tail(sigma, epsilon, CUTOFF, switch)
            integral[a, b] = 2.0 * np.pi / np.prod(EDGES) * beyond
    n = len(rows)
    assert ours[0] == 0.0 and ours[1] == pytest.approx(count @ integral @ count, rel=1e-10)
    counted = (np.outer(count, count) + np.diag(count)) * n / (n + 1.0)
    assert energies[1] - energies[0] == pytest.approx((counted * integral).sum(), rel=1e-6)


def _tail(sigma: float, epsilon: float, cutoff: float, switch: float | None) -> float:
    """∫ (1 − S) u r² dr, by a fine sum between switch and cutoff."""
    beyond = 4.0 * epsilon * (sigma**12 / (9.0 * cutoff**9) - sigma**6 / (3.0 * cutoff**3))
    if switch is None:
        return beyond
    x, w = np.polynomial.legendre.leggauss(60)
    r = switch + (cutoff - switch) * 0.5 * (x + 1.0)
    y = (r - switch) / (cutoff - switch)
    off = y**3 * (10.0 - 15.0 * y + 6.0 * y**2)
    u = 4.0 * epsilon * ((sigma / r) ** 12 - (sigma / r) ** 6)
    return beyond + 0.5 * (cutoff - switch) * float(w @ (off * u * r**2))


def test_a_cutoff_is_a_reaction_field():
    system, positions = system_of("tip3p", 0.2, nonbondedMethod=app.CutoffPeriodic)
    nonbonded = next(force for force in system.getForces() if isinstance(force, openmm.NonbondedForce))
    nonbonded.setUseDispersionCorrection(False)
    found, wanted, off, model = compared(system, positions)
    assert [force.kind for force in model.forces] == ["lennard-jones", "coulomb", "exclusions"]
    # Molecules have an energy of their own by OpenMM's exceptions without charges: none, as here.
    assert off < FORCES and found == pytest.approx(wanted, rel=ENERGIES)


def test_a_tolerance_asks_for_a_precision():
    system, positions = system_of("tip3p", 0.0)
    nonbonded = next(force for force in system.getForces() if isinstance(force, openmm.NonbondedForce))
    nonbonded.setPMEParameters(0.0, 0, 0, 0)
    wanted = []
    for tolerance in (5e-4, 5e-6):
        nonbonded.setEwaldErrorTolerance(tolerance)
        model = molecules.model_from_system(system, positions)
        found = next(f for f in model.forces if f.kind == "particle-mesh-ewald").parameters(model)
        # At OpenMM's cutoff its damping leaves exp(−α²r²) = 2δ of the real part; a mesh of even numbers of points is
        # somewhat finer than it must be.
        assert 0.7 < found.error / _real_error(model, tolerance) < 1.001
        wanted.append(found.error)
    assert wanted[1] < 0.015 * wanted[0]


def _real_error(model: ar.Model, tolerance: float) -> float:
    charge, volume = model.sites.charge, float(np.prod(EDGES))
    n, Q = charge.size, float(charge @ charge)
    return 2.0 * Q / np.sqrt(n * CUTOFF * volume) * 2.0 * tolerance / (Q / n * (n / volume) ** (2.0 / 3.0))


def test_what_has_no_counterpart_is_named():
    system, positions = system_of("tip3p", 0.0, nonbondedMethod=app.LJPME)
    with pytest.raises(ar.ModelError, match="LJPME sums dispersion over all images"):
        molecules.model_from_system(system, positions)
    system, positions = system_of("tip3p", 0.0)
    system.removeConstraint(0)
    with pytest.raises(ar.ModelError, match="constraints hold only some distances of the molecule of particle 0"):
        molecules.model_from_system(system, positions)
    system, positions = system_of("tip4pew", 0.0)
    with pytest.raises(ar.ModelError, match=r"positions: expected the shape \(\d+, 3\), got"):
        molecules.model_from_system(system, positions[:-1])
    with pytest.raises(ar.ModelError, match="particle 3 is a ThreeParticleAverageSite of the particles"):
        molecules.virtual_sites.check_virtual_sites(system, np.arange(len(positions)))
