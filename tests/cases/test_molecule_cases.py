"""Molecules as cases: a peptide from its sequence, and what a case must say."""

from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.cases.case import Case

CASE = """
[case]
title = "A peptide"
units = "Da-nm-ps"

[model]
builder = "molecule"
{model}

[scaling]
policy = "none"

[integrator]
rule = "friction-implicit"
step = "2 fs"

[run]
duration = "1 ps"
"""


def case(tmp_path: Path, model: str) -> Case:
    file = tmp_path / "case.toml"
    file.write_text(CASE.format(model=model), encoding="utf-8")
    return ar.load_case(file)


def test_a_peptide_is_built_from_its_sequence_and_angles(tmp_path: Path) -> None:
    """ACE-ALA-NME: φ, ψ, the methyl groups of ALA and of both caps turn, and ω does not; q are the dihedrals."""
    model = case(tmp_path, 'sequence = ["ACE", "ALA", "NME"]\nphi = "-80 deg"\npsi = "70 deg"').build_model()
    assert model.sites.body.size == 22
    assert model.nu == 6 + 5
    angles = np.rad2deg(model.q0[7:])
    assert np.abs(angles - -80.0).min() < 1e-6
    assert np.abs(angles - 70.0).min() < 1e-6


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("", "give either a structure file or a sequence"),
        ('sequence = "AA"\nstructure = "x.pdb"', "give either a structure file or a sequence"),
        ('sequence = "AZA"', "Z"),
        ('sequence = "AA"\naltloc = "A"', "altloc applies to a structure file, and a sequence is given"),
        ('sequence = "AA"\nleave_out = ["HOH"]', "leave_out applies to a structure file"),
        ('sequence = "AA"\nadd_missing = true', "add_missing applies to a structure file"),
    ],
)
def test_what_is_no_molecule_is_named(model: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ar.ArticulonError, match=reason):
        case(tmp_path, model).build_model()


def test_a_structure_takes_the_place_of_a_sequence(tmp_path: Path) -> None:
    chain = ar.molecules.peptide(["ACE", "ALA", "NME"])
    ar.molecules.write_structure(chain, tmp_path / "a.pdb")
    file = str(tmp_path / "a.pdb")
    model = ar.load_case("trp-zipper", {"model.structure": file}).build_model()
    assert model.sites.body.size == 22 and "generalized-born" in {force.kind for force in model.forces}
    with pytest.raises(ar.CaseError, match=r"a\.pdb is a structure, not a case; .* model.structure = "):
        ar.load_case(file)


def test_the_zipper_has_the_torsions_of_its_residues(tmp_path: Path) -> None:
    """Twelve residues: φ and ψ of each but the first φ, which turns the ammonium group, and χ by residue: Ser 2 (with
    its hydroxyl), Trp 2, Thr 3, Glu 3, Asn 2, Gly 0, Lys 5."""
    model = ar.load_case("trp-zipper").build_model()
    chi = {"S": 2, "W": 2, "T": 3, "E": 3, "N": 2, "G": 0, "K": 5}
    sequence = "SWTWENGKWTWK"
    assert model.nu - 6 == 2 * len(sequence) + sum(chi[letter] for letter in sequence)
    assert model.sites.charge.sum() == pytest.approx(2.0, abs=1e-6)  # two lysines and the first end, less one glutamate


@pytest.mark.slow
def test_the_zipper_moves_at_the_temperature_of_its_bath(tmp_path: Path) -> None:
    """BAOAB steps of 4 fs about 61 degrees of freedom: after 2 ps the mean of 4 ps is within three standard errors,
    each sample counted independent after 1/friction."""
    case = ar.load_case("trp-zipper", {"run.duration": "6 ps", "run.frames": 60})
    run = ar.run(case, tmp_path / "run", report=False)
    temperature = run.observables["temperature_kinetic"][20:]
    error = 300.0 * np.sqrt(2.0 / 61) / np.sqrt(4.0 / 0.2)
    assert temperature.mean() == pytest.approx(300.0, abs=3.0 * error)
    assert run.summary["energy_balance_error_relative"] < 0.02


@pytest.mark.slow
def test_a_peptide_in_water_goes_downhill_and_moves_at_the_temperature_of_its_bath(tmp_path: Path) -> None:
    """The modeller's water is a liquid that has not met the peptide: at its minimum it has less than the -41.5 kJ/mol
    that TIP3P has at 298 K (Jorgensen et al., 1983). A harmonic minimum then takes half of the energy of the thermal
    speeds, and the bath gives it back: T = 300 K (1 - exp(-γt)/2) with γ = 2/ps, whose mean from 0.5 to 1 ps is
    300 - 150 (1/e - 1/e²) = 265 K. The kinetic energy of 1409 speeds has the standard deviation 300 √(2/1409) = 11 K,
    here of one sample.
    """
    case = ar.load_case("alanine-dipeptide-water", {"run.duration": "1 ps", "run.frames": 50})
    model = case.build_model()
    water = sum(kind == "water" for kind in model.atoms.residue_kinds)
    start = ar.minimise(model, steps=400)
    assert ar.potential_energy(model, start) < -41.5 * water
    run = ar.run(case, tmp_path / "run", report=False)
    assert run.summary["energy_balance_error_relative"] < 1e-3
    assert run.observables["temperature_kinetic"][25:].mean() == pytest.approx(265.0, abs=33.0)
