"""Perception finds the torsions that chemistry says, residue by residue.

A bond turns unless it ends in a single atom, lies in a ring, or is double or conjugated: peptide bonds, the amides of
Asn and Gln, the guanidinium of Arg, carboxylates' C-O. So methyl, amine, ammonium, hydroxyl and thiol groups turn.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gemmi")

from articulon.molecules import peptide, perceive, read_structure
from articulon.molecules.torsion_names import dihedral

TORSIONS = {
    "GLY": "phi psi",
    "ALA": "phi psi CA-CB",
    "VAL": "phi psi chi1 CB-CG1 CB-CG2",
    "LEU": "phi psi chi1 chi2 CG-CD1 CG-CD2",
    "ILE": "phi psi chi1 chi2 CB-CG2 CG1-CD1",
    "PRO": "psi",
    "PHE": "phi psi chi1 chi2",
    "TYR": "phi psi chi1 chi2 CZ-OH",
    "TRP": "phi psi chi1 chi2",
    "SER": "phi psi chi1 CB-OG",
    "THR": "phi psi chi1 CB-OG1 CB-CG2",
    "CYS": "phi psi chi1 CB-SG",
    "MET": "phi psi chi1 chi2 chi3 SD-CE",
    "ASN": "phi psi chi1 chi2",
    "GLN": "phi psi chi1 chi2 chi3",
    "ASP": "phi psi chi1 chi2",
    "GLU": "phi psi chi1 chi2 chi3",
    "LYS": "phi psi chi1 chi2 chi3 chi4 CE-NZ",
    "ARG": "phi psi chi1 chi2 chi3 chi4",
    "HIS": "phi psi chi1 chi2",
    # Other states of protonation: a carboxyl's O-H turns, a thiolate has nothing to turn.
    "HID": "phi psi chi1 chi2",
    "HIE": "phi psi chi1 chi2",
    "HIP": "phi psi chi1 chi2",
    "ASH": "phi psi chi1 chi2 CG-OD2",
    "GLH": "phi psi chi1 chi2 chi3 CD-OE2",
    "LYN": "phi psi chi1 chi2 chi3 chi4 CE-NZ",
    "CYM": "phi psi chi1",
    # Methyl groups of the caps; the amide of NH2 is planar.
    "ACE": "CH3-C",
    "NME": "N-C",
    "NH2": "",
}
TRPZIP2 = ["SER", "TRP", "THR", "TRP", "GLU", "ASN", "GLY", "LYS", "TRP", "THR", "TRP", "LYS", "NH2"]
TEMPLATE = {"HSD": "HIS", "HSE": "HIS", "HSP": "HIS"}


def found(structure, articulation):
    """Names of the torsions of each residue, sorted."""
    names = [[] for _ in structure.residues]
    for torsion in articulation.torsions:
        names[torsion.residue].append(torsion.name)
    return [sorted(words) for words in names]


def expected(structure):
    return [sorted(TORSIONS[TEMPLATE.get(r.name, r.name)].split()) for r in structure.residues]


@pytest.mark.parametrize("name", [name for name in TORSIONS if name not in ("ACE", "NME", "NH2")])
def test_every_residue_between_caps(name):
    structure = peptide(["ACE", name, "NME"])
    assert found(structure, perceive(structure)) == expected(structure)


@pytest.mark.parametrize("name", [name for name in TORSIONS if name not in ("ACE", "NME", "NH2")])
def test_every_residue_as_a_charged_chain_of_its_own(name):
    """φ turns the ammonium group, except proline's, which is in the ring; ψ turns the carboxylate."""
    structure = peptide([name])
    assert found(structure, perceive(structure)) == expected(structure)


def test_trpzip2():
    structure = peptide(TRPZIP2)
    articulation = perceive(structure)
    assert found(structure, articulation) == expected(structure)
    # 12 φ, 12 ψ, and in the side chains 2 + 4·2 + 2·3 + 3 + 2 + 0 + 2·5.
    assert len(articulation.torsions) == 24 + 31


@pytest.mark.parametrize("omega, count", [("rigid", 10 * 3), ("free", 10 * 3 + 9)])
def test_a_helix_of_ten_alanines(omega, count):
    structure = peptide("A" * 10)
    articulation = perceive(structure, omega=omega)
    assert len(articulation.torsions) == count
    assert Counter(torsion.name for torsion in articulation.torsions)["omega"] == count - 30


def test_caps_have_peptide_bonds_but_an_amide_is_planar():
    structure = peptide(["ACE", "ALA", "NME"])
    assert [w.count("omega") for w in found(structure, perceive(structure, omega="free"))] == [1, 1, 0]
    structure = peptide(["ACE", "ALA", "NH2"])
    assert [w.count("omega") for w in found(structure, perceive(structure, omega="free"))] == [1, 0, 0]


@pytest.fixture(scope="module")
def adenylate_kinase():
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    return read_structure(files.PDB_small)


def test_adenylate_kinase(adenylate_kinase):
    articulation = perceive(adenylate_kinase)
    assert len(adenylate_kinase) == 3341
    assert found(adenylate_kinase, articulation) == expected(adenylate_kinase)
    prolines = sum(residue.name == "PRO" for residue in adenylate_kinase.residues)
    assert Counter(t.name for t in articulation.torsions)["phi"] == len(adenylate_kinase.residues) - prolines
    # One tree: one root, and each torsion a cluster.
    assert articulation.joint.count("free") == 1 and len(articulation.parent) == 1 + len(articulation.torsions)


def test_the_named_dihedrals_are_those_of_mdanalysis(adenylate_kinase):
    """φ and ψ of every residue, the signs included."""
    mda = pytest.importorskip("MDAnalysis")
    from MDAnalysisTests.datafiles import PDB_small

    universe = mda.Universe(PDB_small)
    x = 10.0 * adenylate_kinase.positions
    articulation = perceive(adenylate_kinase)
    for name, selection in (("phi", "phi_selection"), ("psi", "psi_selection")):
        ours = {t.residue: np.degrees(dihedral(x, t.atoms)) for t in articulation.torsions if t.name == name}
        for k, residue in enumerate(universe.residues):
            atoms = getattr(residue, selection)()
            if atoms is not None and k in ours:
                assert abs((ours[k] - atoms.dihedral.value() + 180.0) % 360.0 - 180.0) < 0.05


@pytest.mark.parametrize("omega", ["rigid", "free"])
@pytest.mark.parametrize("name", [name for name in TORSIONS if name not in ("ACE", "NME", "NH2")])
def test_side_chains_are_rigid_with_the_backbone_that_turns(name, omega):
    """φ and ψ of each residue, ω of both peptide bonds where it is free, and nothing of caps."""
    structure = peptide(["ACE", name, "NME"])
    articulation = perceive(structure, level="rigid-side-chains", omega=omega)
    turns = [word for word in TORSIONS[name].split() if word in ("phi", "psi")]
    assert sorted(t.name for t in articulation.torsions) == sorted(turns + ["omega"] * 2 * (omega == "free"))
    middle = structure.residues[1]
    side = [a for a in range(middle.start, middle.stop) if structure.names[a] not in ("N", "H", "C", "O")]
    # Proline's ring holds its nitrogen too.
    assert len(set(articulation.cluster[side].tolist())) == 1


def test_a_bridge_of_rigid_side_chains_turns_or_is_welded():
    """Three torsions of the bridge and both χ₁, as elsewhere, or one rigid piece that closes a ring of the backbone."""
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    from pathlib import Path

    structure = read_structure(Path(files.__file__).parent / "data" / "cobrotoxin.pdb", leave_out=["SOL", "NA", "CL"])
    by = {word: perceive(structure, level="rigid-side-chains", disulfides=word) for word in ("loops", "welds")}
    assert len(by["loops"].loops) == len(by["welds"].loops) == 4
    chains = sum(name.startswith("chi") for name in (t.name for t in by["loops"].torsions))
    assert chains > 0 and not any(t.name.startswith("chi") for t in by["welds"].torsions)


@pytest.mark.parametrize(
    "level, torsions",
    [
        # ψ, φ and omega frozen, and with them what turns about N-CA and CA-C at the ends and the caps' methyl groups.
        ("side-chains", 31),
        ("residue", 0),
    ],
)
def test_coarser_levels(level, torsions):
    structure = peptide(TRPZIP2)
    articulation = perceive(structure, level=level)
    assert len(articulation.torsions) == torsions
    if level == "residue":
        assert articulation.joint.count("spherical") == len(structure.residues) - 1
        assert all(np.unique(articulation.cluster[r.start : r.stop]).size == 1 for r in structure.residues)
    else:
        backbone = [k for k, n in enumerate(structure.names) if n in ("N", "CA", "C", "O", "H1", "H")]
        assert len(set(articulation.cluster[backbone].tolist())) == 1


def test_domains_are_rigid_and_the_rest_is_not():
    structure = peptide("A" * 12)
    articulation = perceive(structure, level="domain", domains=["A:1-4", "A:9-12"])
    turning = Counter(structure.residues[t.residue].number for t in articulation.torsions)
    assert turning == {5: 3, 6: 3, 7: 3, 8: 3}
    ends = articulation.cluster[[structure.atom(k, "CB") for k in (0, 3, 8, 11)]]
    assert ends[0] == ends[1] != ends[2] == ends[3]


@pytest.mark.slow
def test_every_nucleotide_of_an_rna():
    """α to ζ without δ, which is in the ring, χ and the hydroxyl group of the ribose; the ends lack α or ζ."""
    tests = pytest.importorskip("MDAnalysisTests")
    file = Path(tests.__file__).parent / "data" / "analysis" / "1k5i_c36.pdb.gz"
    structure = read_structure(file, leave_out=["TIP", "POT"])
    names = [set(words) for words in found(structure, perceive(structure))]
    nucleotides = [k for k, residue in enumerate(structure.residues) if residue.kind == "nucleotide"]
    every = {"alpha", "beta", "gamma", "epsilon", "zeta", "chi", "C2'-O2'"}
    assert names[nucleotides[0]] == every - {"alpha"} and names[nucleotides[-1]] == every - {"zeta"}
    assert all(names[k] == every for k in nucleotides[1:-1])
