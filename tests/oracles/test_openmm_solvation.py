"""Solvated molecules have OpenMM's energies and forces, with water of three and of four sites."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.forces.sites.site_positions import site_positions
from articulon.molecules.force_field import of_system
from articulon.molecules.molecular_model import assembled
from articulon.molecules.system_sites import sites_of

pytest.importorskip("gemmi")
openmm = pytest.importorskip("openmm")
TOLERANCE = 1e-6
"""Of the particle-mesh sums, ours and OpenMM's."""


@pytest.fixture(scope="module", params=["tip3p", "tip4pew"])
def solvated(request: Any) -> Any:
    """Structure, articulation, system, and a model of our own forces, of a lysine in water with ions.

    Without the correction for what is beyond the cutoff: OpenMM counts one pair more of each kind in it than we do.
    """
    water = request.param
    peptide = molecules.peptide(["ACE", "LYS", "NME"])
    structure = molecules.solvate(peptide, water, box=(2.2, 2.2, 2.2), ionic_strength=0.3)
    articulation = molecules.perceive(structure)
    system = molecules.openmm_system(structure, solvent=water, ewaldErrorTolerance=TOLERANCE)
    for force in system.getForces():
        if isinstance(force, openmm.NonbondedForce):
            force.setUseDispersionCorrection(False)
    found = of_system(system, structure, articulation)
    forces = {"charges": found.charges, "kinds": found.kinds, "forces": found.forces}
    return structure, articulation, system, assembled(structure, articulation, **forces, sites=found.sites)


def test_sites_stand_where_openmm_has_its_particles(solvated):
    structure, _, system, model = solvated
    assert model.sites.body.size == system.getNumParticles() and len(model.atoms) == len(structure)
    places = site_positions(model, model.q0)
    # Rotations of bodies a few nm from the origin.
    assert np.abs(places[model.atoms.site] - structure.positions).max() < 1e-12
    virtual = [k for k in range(system.getNumParticles()) if system.isVirtualSite(k)]
    assert len(virtual) == system.getNumParticles() - len(structure)
    assert set(virtual).isdisjoint(model.atoms.site.tolist())


@pytest.mark.slow
def test_energy_and_forces_are_openmms(solvated):
    """What torsions and rigid bodies feel, by OpenMM as a force of the same model, with a mesh that is fine enough."""
    structure, articulation, system, model = solvated
    fine = openmm.XmlSerializer.clone(system)
    for force in fine.getForces():
        if isinstance(force, openmm.NonbondedForce):
            force.setPMEParameters(4.2, 72, 72, 72)
    builder = ar.ModelBuilder(units="Da-nm-ps", box=structure.box)
    molecules.populate(builder, structure, articulation, sites=sites_of(system, structure, articulation))
    builder.add_force(ar.forces.OpenMM(system=fine, platform="Reference"))
    theirs = builder.build()
    found, expected = (ar.generalized_forces(one, one.q0, one.u0) for one in (model, theirs))
    assert np.sqrt(np.mean((found - expected) ** 2) / np.mean(expected**2)) < TOLERANCE
    # The sums over charges cancel to a tenth of what they are made of.
    ours, reference = (ar.potential_energy(one, one.q0) for one in (model, theirs))
    assert ours == pytest.approx(reference, rel=20.0 * TOLERANCE)
