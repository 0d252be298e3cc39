"""Residues and terms that a force field lacks, all named at once, and what users bring beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.errors import CaseError, ModelError
from articulon.molecules.editing import NewAtom, edited
from articulon.molecules.elements import masses
from articulon.molecules.structure import Residue, Structure

pytest.importorskip("gemmi")
openmm = pytest.importorskip("openmm")
CSO = Path(__file__).parents[1] / "data" / "molecules" / "CSO.xml"


def without(structure: Structure, *labels: str) -> Structure:
    """A structure that lacks some atoms."""
    gone = [a for a in range(len(structure)) if structure.label(a) in labels]
    assert len(gone) == len(labels)
    return edited(structure, {}, gone)


@pytest.fixture(scope="module")
def peptide() -> Structure:
    return molecules.peptide(["ACE", "LYS", "ALA", "SER", "NME"])


@pytest.fixture(scope="module")
def modified() -> Structure:
    """ACE-CSO-NME: cysteine whose S-H is an S-O-H."""
    plain = molecules.peptide(["ACE", "CYS", "NME"])
    k = next(a for a in range(len(plain)) if plain.label(a) == "A:CYS2:HG")
    sulfur = plain.positions[plain.atom(1, "SG")]
    along = (plain.positions[k] - sulfur) / np.linalg.norm(plain.positions[k] - sulfur)
    across = np.cross(along, [0.3, 0.5, 0.8])
    oxygen = sulfur + 0.169 * along
    new = [
        NewAtom("OD", "O", oxygen, ("SG",)),
        NewAtom("HD", "H", oxygen + 0.03 * along + 0.09 * across / np.linalg.norm(across), ("OD",)),
    ]
    made = edited(plain, {1: new}, [k])
    residues = list(made.residues)
    residues[1] = residues[1]._replace(name="CSO", standard="")
    return replace(made, residues=tuple(residues))


def ion(name: str, symbol: str) -> Structure:
    """An ion by itself."""
    residue = Residue(name, 7, "", "B", "ion", "", 0, 1)
    bare = np.zeros((0, 2), dtype=np.int64)
    return Structure("ion", (name,), (symbol,), (residue,), np.zeros((1, 3)), masses((symbol,)), bare)


def test_every_residue_is_named_with_what_differs(peptide):
    spoilt = without(peptide, "A:LYS2:NZ", "A:LYS2:HZ1", "A:LYS2:HZ2", "A:LYS2:HZ3", "A:ALA3:HB2", "A:SER4:HG")
    with pytest.raises(ModelError) as caught:
        molecules.openmm_system(spoilt)
    lines = str(caught.value).splitlines()
    assert lines[0] == "model.force_field: amber14 has no parameters for 3 residues"
    assert lines[1] == "peptide: A:LYS2: differs from the template LYS: it lacks NZ"
    assert lines[2] == "peptide: A:ALA3: differs from the template ALA: CB has 2 hydrogens of 3"
    assert lines[3] == "peptide: A:SER4: differs from the template SER: OG has 0 hydrogens of 1"
    assert "force_field_files" in lines[4] and "leave_out" in lines[4] and len(lines) == 5


def test_a_missing_link_between_residues_is_said(peptide):
    n = peptide.atom(2, "N")
    bonds = np.array(
        [pair for pair in peptide.bonds.tolist() if not (n in pair and min(pair) < peptide.residues[2].start)]
    )
    with pytest.raises(ModelError, match="A:LYS2: differs from the template CLYS: it lacks OXT") as caught:
        molecules.openmm_system(replace(peptide, bonds=bonds))
    assert "A:ALA3:" in str(caught.value) and "N is bonded to no other residue" in str(caught.value)


def test_a_residue_that_nothing_is_like_is_said(peptide):
    with pytest.raises(ModelError, match=r"B:XX7: amber14 has no template of this residue, and no similar one"):
        molecules.openmm_system(ion("XX", "He"))


@pytest.mark.parametrize(
    "name, symbol, charge",
    [("NA", "Na", 1), ("CL", "Cl", -1), ("K", "K", 1), ("CA", "Ca", 2), ("MG", "Mg", 2), ("ZN", "Zn", 2),
     ("FE2", "Fe", 2), ("FE", "Fe", 3)],
)  # fmt: skip
def test_ions_have_the_force_fields_charges(name, symbol, charge):
    """Of one element with two charges, the name of the residue chooses."""
    structure = ion(name, symbol)
    assert molecules.force_field(structure).charges.tolist() == [charge]
    assert molecules.perceive(structure).joint == ("xyz",)


def test_a_modified_residue_needs_and_takes_a_file(modified, tmp_path):
    differs = r"A:CSO2: differs from .*, the most similar template: it has the extra atoms OD"
    with pytest.raises(ModelError, match=differs):
        molecules.openmm_system(modified)
    found = molecules.force_field(modified, files=[str(CSO)])
    assert abs(found.charges.sum()) < 1e-6
    model = molecules.force_field_model(modified, molecules.perceive(modified), files=[str(CSO)])
    assert np.isfinite(ar.potential_energy(model, model.q0))
    assert "A:CSO2:CB-SG" in model.names and "A:CSO2:SG-OD" in model.names


@pytest.mark.parametrize(
    "line, message",
    [
        ('<Bond type1="protein-S" type2="protein-OH"', "A:CSO2:SG, A:CSO2:OD: no bond of the types protein-S, "),
        ('<Angle type1="protein-S"', "A:CSO2:SG, A:CSO2:OD, A:CSO2:HD: no angle of the types"),
        ('<Proper type1="protein-2C"', "A:CSO2:CB, A:CSO2:SG, A:CSO2:OD, A:CSO2:HD: no torsion of the types"),
    ],
)  # fmt: skip
def test_terms_that_a_file_misses_are_named_by_atom(modified, tmp_path, line, message):
    """OpenMM would go on without them."""
    text = CSO.read_text()
    assert line in text
    path = tmp_path / "part.xml"
    path.write_text("\n".join(row for row in text.splitlines() if line not in row))
    with pytest.raises(ModelError, match=message):
        molecules.openmm_system(modified, files=[str(path)])


def test_types_without_charges_are_named_by_atom(modified, tmp_path):
    path = tmp_path / "types.xml"
    kind = '<AtomTypes><Type name="own" class="own" element="O" mass="16"/></AtomTypes><Residues>'
    path.write_text(
        CSO.read_text().replace("<Residues>", kind).replace('name="OD" type="protein-OH"', 'name="OD" type="own"')
    )
    with pytest.raises(ModelError, match="A:CSO2:OD: no charge and no Lennard-Jones parameters of the type own"):
        molecules.openmm_system(modified, files=[str(path)])


@pytest.mark.parametrize(
    "text, message",
    [
        ("<ForceField><Script>import os</Script></ForceField>", "has a <Script>, which is code and is not run"),
        ("<ForceField><InitializationScript>1</InitializationScript></ForceField>", "has a <InitializationScript>"),
        ('<ForceField><Include file="b.xml"/></ForceField>', "includes another file"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><ForceField/>', "declares a document type"),
        ("<ForceField>", "is not valid XML"),
        ("<System/>", "its first element is <System>"),
        ("<ForceField><Residues><Residue name='A'><Atom name='B' type='?'/></Residue></Residues></ForceField>",
         "OpenMM cannot read"),
    ],
)  # fmt: skip
def test_files_that_are_no_parameters_are_refused(peptide, tmp_path, text, message):
    path = tmp_path / "bad.xml"
    path.write_text(text)
    with pytest.raises(ModelError, match=message):
        molecules.openmm_system(peptide, files=[str(path)])


def test_files_that_are_not_there_are_refused_and_openmms_own_are(peptide):
    with pytest.raises(ModelError, match=r"nothing.xml: there is no such file, and none of this name"):
        molecules.openmm_system(peptide, files=["nothing.xml"])
    with pytest.raises(ModelError, match="there is no such file, and none of this name"):
        molecules.openmm_system(peptide, files=["../forcefield.py"])
    assert molecules.openmm_system(peptide, files=["amber14/GLYCAM_06j-1.xml"]).getNumParticles() == len(peptide)


CASE = """
[case]
units = "Da-nm-ps"
[model]
builder = "molecule"
structure = "a.pdb"
{}
[run]
duration = "2 fs"
[integrator]
rule = "friction-implicit"
step = "1 fs"
"""


def case_of(tmp_path: Path, structure: Structure, keys: str) -> Any:
    molecules.write_structure(structure, tmp_path / "a.pdb")
    (tmp_path / "case.toml").write_text(CASE.format(keys))
    return ar.load_case(tmp_path / "case.toml")


def test_a_case_finds_and_marks_its_files(modified, tmp_path):
    (tmp_path / "cso.xml").write_text(CSO.read_text())
    case = case_of(tmp_path, modified, 'force_field = "amber14"\nforce_field_files = ["cso.xml"]')
    assert case.model_declaration.force_field_files == (str(tmp_path / "cso.xml"),)
    model = case.build_model()
    assert np.isfinite(ar.potential_energy(model, model.q0))
    again = case.with_overrides({"run.duration": "4 fs"})
    (tmp_path / "cso.xml").write_text(CSO.read_text() + " ")
    with pytest.raises(CaseError, match=r"force_field_files\[0\]: .* does not match "):
        again.with_overrides({"run.duration": "6 fs"})


def test_a_case_takes_any_system(peptide, tmp_path):
    """The same energy as by the force field that it was made of."""
    read = case_of(tmp_path, peptide, 'force_field = "amber14"')
    structure, _ = read.model_declaration.read()
    (tmp_path / "system.xml").write_text(openmm.XmlSerializer.serialize(molecules.openmm_system(structure)))
    model = read.build_model()
    given = case_of(tmp_path, peptide, 'system = "system.xml"').build_model()
    # The system's XML has seventeen digits; sums of 60 atoms.
    assert ar.potential_energy(given, given.q0) == pytest.approx(ar.potential_energy(model, model.q0), rel=1e-11)
    for keys, message in (
        (
            'system = "system.xml"\nforce_field = "amber14"',
            "force_field selects parameters, but system already has its own",
        ),
        (
            'system = "system.xml"\nsolvent = "tip3p"\npadding = "1 nm"',
            "solvent selects parameters, but system already has its own",
        ),
        ('system = "none.xml"', "model.system: none.xml cannot be read"),
        ('force_field_files = ["a.xml"]', "force_field_files need a force_field"),
    ):
        with pytest.raises(CaseError, match=message):
            case_of(tmp_path, peptide, keys)
    molecules.write_structure(molecules.peptide("A"), tmp_path / "a.pdb")
    (tmp_path / "case.toml").write_text(CASE.format('system = "system.xml"'))
    with pytest.raises(CaseError, match=r"particles other than virtual sites, but .* has 13 atoms"):
        ar.load_case(tmp_path / "case.toml").build_model()
