"""What is measured on molecules, beside MDAnalysis. It holds positions in single precision: 3e-7 nm at 5 nm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from articulon.conformations.backbones import backbone_of
from articulon.conformations.conformation_record import Conformations
from articulon.conformations.mdanalysis_universe import memory_universe
from articulon.conformations.secondary_structure import secondary_structure
from articulon.conformations.superposition import superposed
from tests.support.peptide_frames import HAIRPIN, conformations, peptide_model, turned

SINGLE = 1e-6
"""[nm]."""


@pytest.fixture(scope="module")
def seen() -> Conformations:
    model = peptide_model(["ALA", "SER", "GLY", "LYS", "PRO", "TRP", "ALA", "GLU", "VAL", "ALA"])
    return conformations(model, turned(model, 8, spread=0.15))


def universe_of(seen: Conformations):
    return memory_universe(seen.atoms, seen.times, seen.positions)


def test_a_universe_has_what_the_model_has(seen: Conformations) -> None:
    universe = universe_of(seen)
    atoms = seen.atoms
    assert tuple(universe.atoms.names) == atoms.names and tuple(universe.residues.resnames) == atoms.residue_names
    assert len(universe.bonds) == len(atoms.bonds) and universe.select_atoms("protein and backbone").n_atoms == 40
    assert [ts.time for ts in universe.trajectory] == seen.times.tolist()
    np.testing.assert_allclose(universe.trajectory[3].positions, 10.0 * seen.positions[3], atol=10.0 * SINGLE)


def test_deviations_and_sizes(seen: Conformations) -> None:
    from MDAnalysis.analysis.rms import rmsd

    start = seen.positions[0][seen.aligned]
    expected = [rmsd(x[seen.aligned], start, superposition=True) for x in seen.positions]
    # Theirs is the root of a difference of rounded squares of 1 nm.
    np.testing.assert_allclose(seen.rmsd, expected, atol=1e-7)
    universe = universe_of(seen)
    expected = [0.1 * universe.atoms.radius_of_gyration() for _ in universe.trajectory]
    np.testing.assert_allclose(seen.radius_of_gyration, expected, atol=SINGLE)


def test_fluctuations(seen: Conformations) -> None:
    from MDAnalysis.analysis.rms import RMSF

    upon_mean = superposed(seen.positions, seen.laid.mean(axis=0), seen.aligned)
    universe = memory_universe(seen.atoms, seen.times, upon_mean)
    expected = 0.1 * RMSF(universe.atoms).run().results.rmsf
    np.testing.assert_allclose(seen.atom_rmsf, expected, atol=2.0 * SINGLE)
    carbons = 0.1 * RMSF(universe.select_atoms("name CA")).run().results.rmsf
    np.testing.assert_allclose(seen.rmsf, carbons, atol=2.0 * SINGLE)


def test_phi_and_psi(seen: Conformations) -> None:
    from MDAnalysis.analysis.dihedrals import Ramachandran

    found = seen.backbone_torsions
    assert found is not None
    expected = Ramachandran(universe_of(seen).select_atoms("protein")).run().results.angles
    inner = np.stack([found.phi, found.psi], axis=2)[:, 1:-1]
    # Single precision over arms of a tenth of a nanometre.
    away = np.angle(np.exp(1j * (inner - np.radians(expected))))
    assert np.abs(away).max() < 3.0 * SINGLE / 0.1


@pytest.mark.parametrize(
    ("sequence", "angles", "letters"),
    [
        (["ALA"] * 12, {}, "-HHHHHHHHHH-"),
        (["GLY"] * 12, HAIRPIN, "-EEEE--EEEE-"),
        (["ALA"] * 8, {"phi": -150.0, "psi": 150.0}, "--------"),
    ],
)
def test_secondary_structure(sequence: list[str], angles: dict[str, object], letters: str) -> None:
    from MDAnalysis.analysis.dssp import DSSP

    model = peptide_model(sequence, **angles)
    seen = conformations(model, model.q0[None])
    found = seen.secondary_structure
    assert found is not None and found.letters == (letters,)
    expected = DSSP(universe_of(seen).atoms).run().results.dssp
    assert "".join(expected[0]) == letters
    np.testing.assert_allclose(found.fractions.sum(axis=1), 1.0)


def test_helices_and_strands_do_not_reach_from_chain_to_chain() -> None:
    """Twelve residues of a helix cut into three pieces of four, a bond taken away at each cut, have no helix."""
    model = peptide_model(["ALA"] * 12)
    seen = conformations(model, model.q0[None])
    atoms, cut = seen.atoms, {(3, 4), (7, 8)}
    kept = [tuple(sorted(atoms.residue[pair].tolist())) not in cut for pair in atoms.bonds]
    pieces = replace(atoms, bonds=atoms.bonds[kept])
    found = secondary_structure(pieces, backbone_of(pieces), seen.times, seen.positions)
    assert found is not None and found.letters == ("-" * 12,)


def test_native_contacts() -> None:
    from MDAnalysis.analysis.contacts import soft_cut_q

    model = peptide_model(["ALA"] * 12)
    helix = conformations(model, turned(model, 6, spread=0.6))
    found = helix.native_contacts
    assert found is not None
    first, second = found.pairs.T
    for x, value in zip(helix.positions, found.values, strict=True):
        r = np.linalg.norm(x[first] - x[second], axis=1)
        assert value == pytest.approx(soft_cut_q(r, found.distances, beta=50.0, lambda_constant=1.8), abs=1e-12)
    assert found.values.min() < 0.99  # some are broken, so that there is something to compare


def test_hydrogen_bonds_are_those_of_their_definition() -> None:
    """By brute force: every hydrogen on N or O, every O and every N of at most two partners."""
    model = peptide_model(["ACE", *["ALA"] * 5, "SER", *["ALA"] * 5, "NME"])
    seen = conformations(model, turned(model, 4, spread=0.1))
    atoms, found = seen.atoms, seen.hydrogen_bonds
    partners: list[list[int]] = [[] for _ in atoms.names]
    for a, b in atoms.bonds.tolist():
        partners[a].append(b)
        partners[b].append(a)
    counts = []
    for x in seen.positions:
        number = 0
        for h, element in enumerate(atoms.elements):
            if element != "H" or atoms.elements[partners[h][0]] not in "NO":
                continue
            donor = partners[h][0]
            for a, other in enumerate(atoms.elements):
                if a == donor or not (other == "O" or (other == "N" and len(partners[a]) <= 2)):
                    continue
                arms = x[donor] - x[h], x[a] - x[h]
                cosine = arms[0] @ arms[1] / np.linalg.norm(arms[0]) / np.linalg.norm(arms[1])
                number += bool(np.linalg.norm(x[a] - x[donor]) <= 0.35 and cosine <= np.cos(np.radians(150.0)))
        counts.append(number)
    assert found.counts.tolist() == counts
    assert max(counts) > 5
    assert found.occupancy.sum() == pytest.approx(np.sum(counts) / len(counts))
    donor, _, acceptor = (atoms.residue[found.atoms[0, k]] for k in range(3))
    assert donor - acceptor == 4  # the bonds of an α-helix
