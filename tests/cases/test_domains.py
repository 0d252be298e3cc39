"""Domains of a molecule: rigid pieces of one or several segments, and what hinges them."""

import ast
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gemmi")

import articulon as ar
from articulon.errors import ModelError
from articulon.molecules import build, peptide, perceive, write_structure

DOCUMENTED = ast.literal_eval(
    re.findall(
        r"`domains`, such as `(\[.*?\])` of adenylate kinase",
        (Path(__file__).parents[2] / "docs" / "molecules.md").read_text(encoding="utf-8"),
    )[0]
)
"""The domains of adenylate kinase that the documentation shows."""
RESIDUES = 214
"""Of adenylate kinase."""


@pytest.mark.parametrize(
    "options, message",
    [
        ({"level": "domain"}, "needs a list"),
        ({"domains": ["A:1-2"]}, "needs a list"),
        ({"level": "domain", "domains": ["A:80-90"]}, "has no such residues"),
        ({"level": "domain", "domains": ["A:one"]}, "expected a chain and ranges"),
        ({"level": "domain", "domains": ["A:1-4", "A:4-8"]}, "A:ALA4 is in 'A:1-4' and in 'A:4-8'"),
        ({"level": "domain", "domains": ["A:1-4", "A:5-8"]}, "are rigidly connected"),
        ({"level": "domain", "domains": ["A:1-3,A:6-9"]}, "expected a chain and ranges"),
        ({"level": "domain", "domains": ["A:1-3,6-9"]}, "have 4 torsions"),
    ],
)
def test_impossible_domains_are_refused(options, message):
    with pytest.raises(ModelError, match=message):
        perceive(peptide("A" * 9), **options)


def test_a_domain_of_two_segments_closes_a_loop():
    structure = peptide("A" * 12)
    articulation = perceive(structure, level="domain", domains=["A:1-3,10-12"])
    model = build(structure, articulation)
    assert len(articulation.loops) == 1 and model.closing.residual < 1e-12
    assert any("closes a loop of domains with 12 torsions" in line for line in articulation.inferred)


def numbers(domain: str) -> list[int]:
    """Residue numbers of a domain of chain A."""
    segments = [part.split("-") for part in domain.removeprefix("A:").split(",")]
    return [n for first, last in segments for n in range(int(first), int(last) + 1)]


def test_the_domains_of_the_documentation_are_rigid_and_hinged():
    """Of a chain as long as adenylate kinase: an alanine that is in no domain has φ, ψ and a methyl group, and nothing
    else turns; the three segments of the core close two loops."""
    structure = peptide("A" * RESIDUES)
    articulation = perceive(structure, level="domain", domains=DOCUMENTED)
    place = {residue.number: k for k, residue in enumerate(structure.residues)}
    pieces = []
    for domain in DOCUMENTED:
        atoms = np.isin(structure.residue, [place[n] for n in numbers(domain)])
        pieces.append(set(articulation.cluster[atoms].tolist()))
    assert [len(piece) for piece in pieces] == [1] * len(DOCUMENTED) and len(set.union(*pieces)) == len(DOCUMENTED)
    hinges = set(place) - {n for domain in DOCUMENTED for n in numbers(domain)}
    turning = Counter(structure.residues[t.residue].number for t in (*articulation.torsions, *articulation.loops))
    assert turning == dict.fromkeys(hinges, 3)
    assert len(articulation.loops) == 2
    model = build(structure, articulation)
    assert model.closing.residual < 1e-12


CASE = """
[case]
units = "Da-nm-ps"
[model]
builder = "molecule"
structure = "a.pdb"
level = "domain"
domains = ["A:1-4", "A:7-12"]
[run]
duration = 1.0
"""


def test_a_case_cuts_domains_as_python_does(tmp_path):
    structure = peptide("A" * 12)
    write_structure(structure, tmp_path / "a.pdb")
    (tmp_path / "case.toml").write_text(CASE)
    model = ar.load_case(tmp_path / "case.toml").build_model()
    same = build(structure, perceive(structure, level="domain", domains=["A:1-4", "A:7-12"]))
    # Two rigid pieces, one of them the root, and the two residues between them with three torsions each.
    assert model.names == same.names and model.bodies == 7
