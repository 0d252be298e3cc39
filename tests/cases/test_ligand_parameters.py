"""Parameters of ligands that AmberTools finds, as a file that OpenMM and we read."""

from __future__ import annotations

import numpy as np
import pytest

from articulon import molecules
from articulon.errors import ModelError
from articulon.molecules import ligand_parameters
from articulon.molecules.editing import edited
from articulon.molecules.elements import masses
from articulon.molecules.ligand_hydrogens import with_ligand_hydrogens
from articulon.molecules.structure import Residue, Structure

pytest.importorskip("gemmi")
pytest.importorskip("openmm")
pytest.importorskip("rdkit")
SMILES = "CC(=O)[O-]"


@pytest.fixture(scope="module")
def acetate() -> Structure:
    """Heavy atoms of acetate, and the hydrogens that its SMILES says."""
    places = np.array([[0.0, 0.0, 0.0], [0.152, 0.0, 0.0], [0.215, 0.108, 0.0], [0.215, -0.108, 0.0]])
    symbols = ("C", "C", "O", "O")
    residue = Residue("ACT", 1, "", "L", "ligand", "", 0, 4)
    bonds = np.array([[0, 1], [1, 2], [1, 3]])
    bare = Structure("acetate", ("CH3", "C", "O", "OXT"), symbols, (residue,), places, masses(symbols), bonds)
    return with_ligand_hydrogens(bare, {"ACT": SMILES})


def test_hydrogens_are_those_of_the_smiles(acetate):
    """Three on the methyl group at tetrahedral angles, and none on the carboxylate."""
    assert acetate.names[4:] == ("H1", "H2", "H3") and len(acetate) == 7
    arms = acetate.positions[4:] - acetate.positions[0]
    cosines = (arms @ arms.T)[np.triu_indices(3, 1)] / np.linalg.norm(arms, axis=1)[0] ** 2
    # RDKit places them by hybridisation: at cos −1/3 but for the angle that the given bond leaves.
    assert np.abs(cosines + 1.0 / 3.0).max() < 0.02


@pytest.mark.parametrize(
    "ligands, message",
    [
        ({"XYZ": SMILES}, "there is no residue 'XYZ' .there are: ACT"),
        ({"ACT": "C("}, "RDKit cannot read the SMILES"),
        ({"ACT": "CCO"}, "L:ACT1: "),
        ({"ACT": "CC(=O)N"}, "differ from those of 'CC"),
    ],
)
def test_smiles_of_something_else_are_refused(acetate, ligands, message):
    with pytest.raises(ModelError, match=message):
        with_ligand_hydrogens(acetate, ligands)


@pytest.mark.slow
def test_a_ligands_file_is_read_by_openmm_and_by_us(acetate, tmp_path):
    """Gasteiger charges, so that it takes no minutes; they add up to the charge of the SMILES."""
    pytest.importorskip("parmed")
    # The extra holds AmberTools for Linux on x86-64 alone.
    if ligand_parameters.found_program("antechamber") is None:
        pytest.skip("AmberTools is not installed")
    path = tmp_path / "act.xml"
    molecules.write_ligand_parameters(acetate, "ACT", SMILES, path, charges="gasteiger")
    with pytest.raises(ModelError, match=r"act.xml: the file exists"):
        molecules.write_ligand_parameters(acetate, "ACT", SMILES, path, charges="gasteiger")
    found = molecules.force_field(acetate, files=[str(path)])
    assert found.charges.sum() == pytest.approx(-1.0, abs=1e-12)
    # Six bonds; 6 angles at the methyl group and 3 at the carboxylate; no bond is left without parameters.
    assert found.terms["bonds"][0] == 6 and found.terms["angles"][0] == 9
    # Beside another ligand's: the names of its types begin with that of the residue.
    assert 'name="ACT-c3"' in path.read_text()
    wet = molecules.solvate(acetate, padding=1.0, files=[str(path)])
    assert sum(residue.name == "NA" for residue in wet.residues) == 1


def test_what_is_no_ligand_or_lacks_hydrogens_is_refused(acetate, tmp_path):
    peptide = molecules.peptide(["ACE", "ALA", "NME"])
    with pytest.raises(ModelError, match="A:ALA2: is bonded to other residues"):
        molecules.write_ligand_parameters(peptide, "ALA", "NC(C)C=O", tmp_path / "a.xml")
    with pytest.raises(ModelError, match=r"L:ACT1: has 2 hydrogens, but .* has 3; read it with add_missing"):
        molecules.write_ligand_parameters(edited(acetate, {}, [4]), "ACT", SMILES, tmp_path / "a.xml")


def test_without_ambertools_it_says_what_to_install(acetate, tmp_path, monkeypatch):
    monkeypatch.setattr(ligand_parameters.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(ligand_parameters.shutil, "which", lambda *_, **__: None)
    with pytest.raises(ModelError, match="antechamber: this needs AmberTools"):
        molecules.write_ligand_parameters(acetate, "ACT", SMILES, tmp_path / "a.xml")
