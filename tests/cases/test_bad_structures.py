"""Structure files with something wrong in a line, and words that no reading or cutting of them knows."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gemmi")

import articulon as ar
from articulon.errors import ModelError
from articulon.molecules import build, peptide, perceive, read_structure, write_structure

WHOLE = ["ACE", "ALA", "SER", "THR", "TYR", "CYS", "ASN", "GLN", "TRP", "ARG", "LYS", "HIS", "NME"]


@pytest.fixture(scope="module")
def whole() -> Any:
    return peptide(WHOLE, phi=-120.0, psi=130.0)


def edited(structure: Any, path: Path, edit: Callable[[str], str | None]) -> Path:
    """The file of a structure, each atom's line put through a function that may take it out."""
    write_structure(structure, path)
    lines = [edit(line) if line.startswith("ATOM") else line for line in path.read_text().splitlines()]
    path.write_text("\n".join(line for line in lines if line is not None) + "\n", encoding="latin-1")
    return path


@pytest.mark.parametrize(
    "atom, residue, number, found, needed",
    [("HG", "SER", 3, 0, 1), ("HG1", "THR", 4, 0, 1), ("HH", "TYR", 5, 0, 1), ("HG", "CYS", 6, 0, 1),
     ("HD21", "ASN", 7, 1, 2), ("HE22", "GLN", 8, 1, 2), ("HE1", "TRP", 9, 0, 1)],
)  # fmt: skip
def test_a_hydrogen_that_every_state_of_protonation_has_is_missed(
    whole, tmp_path, atom, residue, number, found, needed
):
    k = next(k for k, r in enumerate(whole.residues) if r.name == residue)
    at = whole.atom(k, atom)
    if at < 0:  # by whatever name this one has
        heavy = {"HE1": "NE1", "HD21": "ND2", "HE22": "NE2"}.get(atom, "")
        at = next(a for a in whole.neighbours[whole.atom(k, heavy)] if whole.elements[a] == "H")
    name = whole.names[at]
    path = edited(whole, tmp_path / "a.pdb", lambda line: None if line[12:20].split() == [name, residue] else line)
    with pytest.raises(ModelError, match=rf"A:{residue}{number}:\w+ has {found} hydrogens of {needed}"):
        read_structure(path)
    read = read_structure(path, accept=["missing-hydrogens"])
    assert len(read) == len(whole) - 1 and any("(accepted)" in line for line in read.inferred)


def test_what_may_have_lost_a_proton_may_lack_it(whole, tmp_path):
    """Lysine has two or three, histidine one or two, and a cysteine that is called so none."""
    for residue, name in (("LYS", "HZ3"), ("CYS", "HG")):
        k = next(k for k, r in enumerate(whole.residues) if r.name == residue)
        heavy = whole.atom(k, "NZ" if residue == "LYS" else "SG")
        lost = whole.names[next(a for a in whole.neighbours[heavy] if whole.elements[a] == "H")]
        called = "CYM" if residue == "CYS" else residue
        path = edited(
            whole,
            tmp_path / f"{residue}.pdb",
            lambda line, lost=lost, residue=residue, called=called: (
                None if line[12:20].split() == [lost, residue] else line.replace(f" {residue} ", f" {called} ")
            ),
        )
        assert len(read_structure(path)) == len(whole) - 1, name


def test_a_metal_takes_the_place_of_a_thiol_hydrogen(whole, tmp_path):
    k = next(k for k, r in enumerate(whole.residues) if r.name == "CYS")
    sulfur, hydrogen = (whole.positions[whole.atom(k, name)] for name in ("SG", "HG"))
    place = 10.0 * (sulfur + 0.23 * (hydrogen - sulfur) / np.linalg.norm(hydrogen - sulfur))
    path = edited(whole, tmp_path / "a.pdb", lambda line: None if line[12:20].split() == ["HG", "CYS"] else line)
    x, y, z = place.tolist()
    zinc = f"HETATM  900 ZN    ZN B   1    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00          ZN"
    path.write_text(path.read_text().replace("END", f"{zinc}\nEND"))
    assert len(read_structure(path, accept=["clashes"])) == len(whole)


@pytest.mark.parametrize(
    "edit, words",
    [
        (lambda line: f"{line[:22]}    {line[26:]}" if " CA  ALA" in line else line, "has no number"),
        (
            lambda line: f"{line[:17]}\xd1\xd1\xd1{line[20:]}" if " CA  ALA" in line else line,
            "line 9: is not UTF-8 text",
        ),
        (lambda line: line[:30] if " CA  ALA" in line else line, "a.pdb"),
    ],
)
def test_lines_that_say_nothing_are_refused(whole, tmp_path, edit, words):
    path = edited(whole, tmp_path / "a.pdb", edit)
    with pytest.raises(ModelError) as caught:
        read_structure(path)
    assert words in str(caught.value) and str(caught.value).startswith(str(path))


def test_remarks_may_be_in_any_encoding(whole, tmp_path):
    path = tmp_path / "a.pdb"
    write_structure(whole, path)
    path.write_bytes("AUTHOR    M\xfcller\n".encode("latin-1") + path.read_bytes())
    assert len(read_structure(path)) == len(whole)


def test_atoms_that_are_kilometres_apart_are_refused(whole, tmp_path):
    path = tmp_path / "a.cif"
    write_structure(whole, path)
    line = next(line for line in path.read_text().splitlines() if line.startswith("ATOM 8 "))
    number = next(word for word in line.split() if re.fullmatch(r"-?\d+\.\d{3,}", word))
    path.write_text(path.read_text().replace(line, line.replace(number, "1e200", 1)))
    with pytest.raises(ModelError, match="has coordinates too large for a molecule"):
        read_structure(path)


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b\x08", gzip.compress(b"ATOM", mtime=0)[:-6], gzip.compress(b"ATOM", mtime=0) + b"more", b"x"]
)
def test_damaged_archives_are_named(tmp_path, content):
    path = tmp_path / "a.pdb.gz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"a\.pdb\.gz: "):
        read_structure(path)


@pytest.mark.parametrize(
    "argument, value",
    [("path", 3), ("path", None), ("path", "a\0.pdb"), ("path", "a" * 300 + ".pdb"), ("model", "1"), ("model", True),
     ("altloc", 1), ("chains", 7), ("chains", [1]), ("leave_out", 3), ("accept", 3), ("accept", ["no-such-fault"]),
     ("limit", True), ("limit", -1), ("add_missing", "yes")],
)  # fmt: skip
def test_what_reading_cannot_take_is_refused(whole, tmp_path, argument, value):
    write_structure(whole, tmp_path / "a.pdb")
    with pytest.raises(ModelError):
        read_structure(**{"path": tmp_path / "a.pdb", argument: value})


@pytest.mark.parametrize(
    "argument, value",
    [("level", "all-atoms"), ("level", None), ("level", 3), ("disulfides", "weld"), ("disulfides", True),
     ("omega", "fixed"), ("rings", "cut"), ("domains", 3), ("domains", [3]), ("structure", None),
     ("structure", "a.pdb")],
)  # fmt: skip
def test_words_that_no_cutting_knows_are_refused_by_name(whole, argument, value):
    with pytest.raises(ModelError, match=argument):
        perceive(**{"structure": whole, argument: value})


@pytest.mark.parametrize("word", ["disulfides", "omega", "rings", "level"])
def test_a_word_that_is_refused_names_those_that_are_known(whole, word):
    known = {"disulfides": "welds", "omega": "rigid", "rings": "refuse", "level": "side-chains"}[word]
    with pytest.raises(ModelError, match=rf"perceive, {word}: expected one of .*'{known}'.*, got 'x'"):
        perceive(whole, **{word: "x"})


@pytest.mark.parametrize(
    "argument, value",
    [("sequence", 3), ("sequence", [3]), ("phi", "x"), ("phi", [1.0]), ("phi", [float("nan")] * 13), ("phi", True),
     ("psi", 1j), ("omega", None), ("chi", [60.0]), ("chi", {2: "x"}), ("chi", {2: [float("nan")]}), ("chi", {"a": []}),
     ("chain", 3), ("accept", ["no"])],
)  # fmt: skip
def test_what_no_peptide_is_made_of_is_refused(argument, value):
    with pytest.raises(ModelError, match="peptide"):
        peptide(**{"sequence": WHOLE, argument: value})


@pytest.mark.parametrize(
    "argument, value",
    [("structure", 3), ("articulation", None), ("charges", [1.0, 2.0]), ("charges", "x"),
     ("charges", [float("nan")] * 3), ("kinds", ["C"]), ("kinds", 3), ("forces", 3), ("forces", [3]),
     ("force_field", 3), ("force_field", "amber99")],
)  # fmt: skip
def test_what_no_molecule_is_built_of_is_refused(whole, argument, value):
    good = {"structure": whole, "articulation": perceive(whole)}
    with pytest.raises(ar.ArticulonError):
        build(**{**good, argument: value})
