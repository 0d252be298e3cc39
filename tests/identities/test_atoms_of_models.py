"""What the sites of a molecular model are called."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.errors import ModelError
from articulon.model.atoms import Atoms
from articulon.molecules.torsion_names import dihedral


@pytest.fixture(scope="module")
def structure():
    return molecules.peptide(["ACE", "TRP", "LYS", "NME"])


def test_a_model_knows_its_atoms(structure):
    model = molecules.build(structure, molecules.perceive(structure))
    atoms = model.atoms
    assert atoms is not None and len(atoms) == len(structure)
    assert atoms.names == structure.names and atoms.elements == structure.elements
    assert [atoms.label(k) for k in range(len(atoms))] == [structure.label(k) for k in range(len(structure))]
    np.testing.assert_array_equal(atoms.first[:-1], [residue.start for residue in structure.residues])
    with pytest.raises(ValueError, match="read-only"):
        atoms.masses[0] = 1.0
    again = pickle.loads(pickle.dumps(model)).atoms
    assert again.names == atoms.names and dict(again.torsions) == dict(atoms.torsions)


def test_coordinates_are_the_dihedrals_of_their_atoms(structure):
    model = molecules.build(structure, molecules.perceive(structure))
    q = model.q0.copy()
    q[7:] += 0.3 * np.arange(q.size - 7)
    x = molecules.site_positions(model, q)[model.atoms.site]
    assert {"phi:A:TRP2", "psi:A:TRP2", "chi2:A:LYS3"} <= set(model.atoms.torsions.values())
    for body, four in model.atoms.dihedrals.items():
        here = q[model.forest.q_start[model.link[body]]]
        away = np.angle(np.exp(1j * (dihedral(x, four) - here)))
        # Rounding of positions of a few nm over arms of a tenth of one.
        assert abs(away) < 1e-12


def test_atoms_of_two_molecules_follow_each_other(structure):
    builder = ar.ModelBuilder(units="Da-nm-ps")
    articulation = molecules.perceive(structure)
    molecules.populate(builder, structure, articulation)
    other = molecules.peptide(["ACE", "ALA", "NME"])
    other = replace(other, residues=tuple(residue._replace(chain="B") for residue in other.residues))
    molecules.populate(builder, other, molecules.perceive(other))
    atoms = builder.build().atoms
    assert len(atoms) == len(structure) + 22
    assert atoms.label(len(structure)) == "B:ACE1:" + atoms.names[len(structure)]
    bonded = [{atoms.residue[a], atoms.residue[b]} for a, b in atoms.bonds]
    assert all(max(pair) - min(pair) <= 1 for pair in bonded)
    assert atoms.bonds.max() == len(atoms) - 1


def test_wrong_atoms_are_refused(structure):
    builder = ar.ModelBuilder(units="Da-nm-ps")
    body = builder.add_body("one", mass=1.0, joint=ar.Xyz())
    builder.add_site(body)
    some = ("A",)
    numbers = np.zeros(1, dtype=np.int64)
    made = {
        "names": some, "elements": some, "masses": np.ones(1), "residue": numbers, "residue_names": some,
        "residue_numbers": (1,), "insertions": ("",), "chains": some, "residue_kinds": ("ion",),
        "bonds": np.zeros((0, 2), dtype=np.int64),
    }  # fmt: skip
    with pytest.raises(ModelError, match="expected atoms"):
        builder.add_atoms("CA")
    with pytest.raises(ModelError, match="a site that has not been added"):
        builder.add_atoms(Atoms(site=numbers + 1, **made))
    with pytest.raises(ModelError, match="a body that has not been added"):
        builder.add_atoms(Atoms(site=numbers, torsions={3: "phi"}, **made))
    builder.add_atoms(Atoms(site=numbers, **made))
    assert builder.build().atoms.label(0) == "A:A1:A"
