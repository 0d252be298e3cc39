"""Heavier hydrogens: the masses that OpenMM's ``hydrogenMass`` gives, and what no mass can do."""

import numpy as np
import pytest

import articulon as ar
from articulon import molecules

SEQUENCE = ["ACE", "GLY", "SER", "LYS", "CYS", "TYR", "NH2"]


def test_masses_are_those_of_openmm_atom_by_atom():
    """Atoms give and get the same, but for what hydrogen weighs in its tables and ours; the whole keeps its mass."""
    pytest.importorskip("openmm")
    structure = molecules.peptide(SEQUENCE)
    heavy = molecules.heavier_hydrogens(structure, "3.024 Da")
    systems = [molecules.openmm_system(structure, hydrogenMass=mass) for mass in (None, 3.024)]
    plain, expected = np.array([[s.getParticleMass(k)._value for k in range(len(structure))] for s in systems])
    hydrogens_differ = abs(structure.masses[structure.elements.index("H")] - plain[structure.elements.index("H")])
    given = heavy.masses - structure.masses
    assert np.abs(given - (expected - plain)).max() <= 3.0 * hydrogens_differ + 1e-12
    hydrogen = np.array(structure.elements) == "H"
    assert (heavy.masses[hydrogen] == 3.024).all()
    assert heavy.masses.sum() == pytest.approx(structure.masses.sum(), rel=1e-14)


def test_bodies_carry_the_masses(tmp_path):
    file = tmp_path / "case.toml"
    file.write_text(
        f"""
[case]
title = "A peptide"
units = "Da-nm-ps"

[model]
builder = "molecule"
sequence = {SEQUENCE}
hydrogen_mass = "3 Da"

[run]
duration = "1 ps"
"""
    )
    structure = molecules.peptide(SEQUENCE, phi=-57.0, psi=-47.0)
    articulation = molecules.perceive(molecules.heavier_hydrogens(structure, 3.0))
    expected = molecules.build(molecules.heavier_hydrogens(structure, 3.0), articulation)
    model = ar.load_case(file).build_model()
    M, N = (ar.mass_matrix(one, one.q0) for one in (model, expected))
    assert np.abs(M - N).max() <= 1e-12 * np.abs(N).max()


@pytest.mark.parametrize(
    ("mass", "reason"),
    [("1 Da", "less than the mass of hydrogen"), ("4 Da", r"would leave .*CH3.*less than its hydrogens")],
)
def test_what_no_mass_can_do_is_refused(mass, reason):
    with pytest.raises(ar.ModelError, match=reason):
        molecules.heavier_hydrogens(molecules.peptide(SEQUENCE), mass)


def test_a_constant_energy_is_part_of_the_potential_and_acts_on_nothing():
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_particles(2, mass=1.0, positions=np.eye(2, 3))
    builder.add_force(ar.forces.ConstantEnergy(energy="-3 kJ/mol"))
    model = builder.build()
    assert ar.potential_energy(model, model.q0) == pytest.approx(-3.0, rel=1e-8)  # Da nm²/ps² in a mole's kJ
    assert not ar.generalized_forces(model, model.q0, model.u0).any()


def test_a_constant_energy_needs_sites():
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), joint=ar.Free())
    builder.add_force(ar.forces.ConstantEnergy(energy=1.0))
    with pytest.raises(ar.ModelError, match="has no sites"):
        builder.build()
