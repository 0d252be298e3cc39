"""Files of the Protein Data Bank and of simulations with what users have in them: ligands, ions, modified residues.

Each is read, completed, cut, and given its parameters, and takes steps of torsion dynamics.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gemmi")
pytest.importorskip("openmm")

import articulon as ar
from articulon import molecules
from articulon.errors import ModelError
from articulon.thermostats import Langevin

PARAMETERS = Path(__file__).parents[1] / "data" / "molecules"
LIGANDS = {
    "XK2": "O=C1N(Cc2ccc3ccccc3c2)C(Cc2ccccc2)C(O)C(O)C(Cc2ccccc2)N1Cc1ccc2ccccc2c1",
    "CSO": "NC(CSO)C=O",
}


def path_of(name: str) -> Path:
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    return Path(files.__file__).parent / "data" / f"{name}.pdb"


def moves(structure: Any, articulation: Any, **force_field: Any) -> Any:
    """The model after some steps of a femtosecond from a relaxed start; the energy is a number all the way."""
    model = molecules.force_field_model(structure, articulation, **force_field)
    thermostat = Langevin(temperature="300 K", friction="5 1/ps")
    start = ar.minimise(model, steps=30)
    assert ar.potential_energy(model, start) < ar.potential_energy(model, model.q0)
    run = ar.simulate(
        model, 0.004, rule="friction-implicit", step=0.001, thermostat=thermostat, q=start, speeds="thermal", frames=2
    )
    assert np.isfinite(run.potential_energy).all() and np.abs(np.diff(np.asarray(run.q), axis=0)).max() > 0.0
    return model


@pytest.fixture(scope="module")
def protease() -> Any:
    """1HVR: HIV protease with S-hydroxycysteine and the cyclic urea XK263."""
    pytest.importorskip("rdkit")
    return molecules.read_structure(path_of("1hvr"), add_missing=True, ligands=LIGANDS)


def test_1hvr_is_completed(protease):
    """C41 H38 N2 O3 is the inhibitor, as the file's FORMUL record has it, and C3 H5 N O2 S a residue of CSO."""
    atoms = {
        residue.label: Counter(protease.elements[residue.start : residue.stop])
        for residue in protease.residues
        if not residue.standard
    }
    assert atoms["A:XK2263"] == {"C": 41, "H": 38, "N": 2, "O": 3}
    assert atoms["A:CSO67"] == atoms["B:CSO67"] == {"C": 3, "H": 5, "N": 1, "O": 2, "S": 1}
    articulation = molecules.perceive(protease)
    turning: dict[str, list[str]] = {}
    for t in articulation.torsions:
        turning.setdefault(protease.residues[t.residue].label, []).append(t.name)
    assert sorted(turning["A:CSO67"]) == ["CA-CB", "CB-SG", "SG-OD", "phi", "psi"]
    # Two benzyl and two naphthylmethyl groups of two bonds each, and two hydroxyl groups; the ring of seven is rigid.
    assert len(turning["A:XK2263"]) == 10


def test_1hvr_names_all_that_has_no_parameters(protease):
    with pytest.raises(ModelError) as caught:
        molecules.openmm_system(protease)
    text = str(caught.value)
    assert "no parameters for 3 residues" in text
    assert "A:CSO67: differs from" in text and "it has the extra atoms OD" in text and "B:CSO67:" in text
    assert "A:XK2263: amber14 has no template of this residue" in text


@pytest.mark.slow
def test_1hvr_moves(protease):
    files = [str(PARAMETERS / name) for name in ("CSO.xml", "XK2.xml")]
    moves(protease, molecules.perceive(protease), solvent="obc2", files=files)


@pytest.fixture(scope="module")
def with_peptide() -> Any:
    """4E43: HIV protease with a peptide in its active site, without what its crystals were grown with."""
    left_out = ["HOH", "GOL", "DMS", "ACT", "BME"]
    return molecules.read_structure(path_of("4E43"), add_missing=True, altloc="A", leave_out=left_out)


def test_4e43_is_completed_without_what_crystals_are_grown_with(with_peptide):
    """Of seven residues the file has two locations."""
    with pytest.raises(ModelError, match="alternative locations in 7 residues"):
        molecules.read_structure(path_of("4E43"), add_missing=True)
    assert {residue.chain for residue in with_peptide.residues} == {"A", "B", "C"}
    articulation = molecules.perceive(with_peptide)
    assert articulation.joint.count("free") == 3
    found = molecules.force_field(with_peptide, articulation=articulation)
    assert abs(found.charges.sum() - np.rint(found.charges.sum())) < 1e-6


@pytest.mark.slow
def test_4e43_moves(with_peptide):
    moves(with_peptide, molecules.perceive(with_peptide), solvent="obc2")


def test_5a7u_gets_its_sulfur_and_zinc_its_ligands():
    """A zinc finger that lacks a sulfur: PDBFixer builds it; cysteine and histidine beside zinc are deprotonated."""
    pytest.importorskip("pdbfixer")
    path = path_of("5a7u")
    with pytest.raises(ModelError, match="A:CYS11: SG: missing"):
        molecules.read_structure(path)
    one, two = (molecules.read_structure(path, add_missing=True) for _ in range(2))
    assert np.array_equal(one.positions, two.positions)
    k = next(k for k, residue in enumerate(one.residues) if residue.label == "A:CYS11")
    # A bond of the length that PDBFixer's own forces leave, within a tenth of 0.181 nm.
    sulfur, carbon = (one.positions[one.atom(k, name)] for name in ("SG", "CB"))
    assert np.linalg.norm(sulfur - carbon) == pytest.approx(0.181, rel=0.1)
    lines = "\n".join(one.inferred)
    assert "A:CYS11: SG: added by PDBFixer" in lines and "A:SER27:OXT: added" in lines
    assert (
        "A:CYS8: CYM, because of the metal beside it" in lines
        and "A:HIS21: HID, because of the metal beside it" in lines
    )
    found = molecules.force_field(one, solvent="obc2")
    zinc = next(k for k, name in enumerate(one.elements) if name == "Zn")
    assert found.charges[zinc] == 2.0
    kept = molecules.read_structure(path, add_missing=True, protonation={"A:CYS8": "CYS"})
    assert len(kept) == len(one) + 1
    for given, message in (({"A:CYS99": "CYM"}, "no residue 'A:CYS99'"), ({"A:CYS8": "HID"}, "has no state 'HID'")):
        with pytest.raises(ModelError, match=message):
            molecules.read_structure(path, add_missing=True, protonation=given)


@pytest.mark.slow
def test_5a7u_moves():
    pytest.importorskip("pdbfixer")
    structure = molecules.read_structure(path_of("5a7u"), add_missing=True)
    moves(structure, molecules.perceive(structure), solvent="obc2")


def test_cobrotoxin_is_in_four_site_water_with_its_ions():
    """A file of a simulation: TIP4P's sites without mass are left out, and the force field's own put in their place."""
    structure = molecules.read_structure(path_of("cobrotoxin"), box="file")
    assert np.allclose(structure.box.lengths, 5.284)
    found = Counter(structure.elements[r.start] for r in structure.residues if r.kind == "ion")
    assert found == {"Na": 8, "Cl": 11}
    wet = molecules.as_water_model(structure, "tip4pew")
    assert any("molecules of water got the geometry of tip4pew" in line for line in wet.inferred)
    # Three digits of an ångström on each atom, and a model that is another one: TIP4P's angle is the same.
    assert np.abs(wet.positions - structure.positions).max() < 2e-3
    water = sum(residue.kind == "water" for residue in wet.residues)
    system = molecules.openmm_system(wet, solvent="tip4pew")
    assert system.getNumParticles() == len(wet) + water
    articulation = molecules.perceive(wet)
    assert articulation.joint.count("free") == water + 1 and articulation.joint.count("xyz") == 19
