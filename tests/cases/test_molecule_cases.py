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
        ("", "give either a structure, a file, or a sequence"),
        ('sequence = "AA"\nstructure = "x.pdb"', "give either a structure, a file, or a sequence"),
        ('sequence = "AZA"', "Z"),
    ],
)
def test_what_is_no_molecule_is_named(model: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ar.ArticulonError, match=reason):
        case(tmp_path, model).build_model()
