"""Parse a LAMMPS data file into header, sections and rows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from articulon.declaration import nearest
from articulon.errors import ModelError
from articulon.inputs import clipped, shown
from articulon.lammps.data_file import FAMILIES

COUNTED = ("atom", *FAMILIES)
LABELS = {f"{one.title()} Type Labels": one for one in COUNTED}
COEFFICIENTS = {
    "Pair Coeffs": "pair",
    "PairIJ Coeffs": "pair-ij",
    **{f"{one.title()} Coeffs": one for one in FAMILIES},
}
TERMS = {f"{one.title()}s": one for one in FAMILIES}
SECTIONS = ("Masses", "Atoms", "Velocities", *TERMS, *COEFFICIENTS, *LABELS)
"""Titles of the sections that are read."""
REFUSED = {
    "Ellipsoids": "atoms have no shape here",
    "Lines": "atoms have no shape here",
    "Triangles": "atoms have no shape here",
    "Bodies": "atoms have no shape here; define rigid bodies with rigid_groups",
    **dict.fromkeys(
        (
            *("BondBond Coeffs", "BondAngle Coeffs", "MiddleBondTorsion Coeffs", "EndBondTorsion Coeffs"),
            *("AngleTorsion Coeffs", "AngleAngleTorsion Coeffs", "BondBond13 Coeffs", "AngleAngle Coeffs"),
        ),
        "the styles of class2 have no counterpart",
    ),
    "CMAP": "it belongs to a fix; use ar.forces.CorrectionMaps for such terms",
}
"""Titles of sections that LAMMPS reads and this reader rejects, with the reason."""
_COUNT = re.compile(rf"(\d+)\s+({'|'.join(COUNTED)})s")
_TYPES = re.compile(rf"(\d+)\s+({'|'.join(COUNTED)})\s+types")
_EXTRA = re.compile(r"(\d+)\s+extra\s+((?:bond|angle|dihedral|improper|special)\s+per\s+atom)")
_SHAPES = re.compile(r"\d+\s+(ellipsoids|lines|triangles|bodies)")
_BOUNDS = re.compile(r"(\S+)\s+(\S+)\s+([xyz])lo\s+([xyz])hi")
_TILTS = re.compile(r"(\S+)\s+(\S+)\s+(\S+)\s+xy\s+xz\s+yz")
_GENERAL = re.compile(r".*\b(avec|bvec|cvec|abc\s+origin)")
_TITLE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:\s+[A-Za-z][A-Za-z0-9]*)*")
MOST_ROWS = 2**31
"""Limit on the numbers of atoms and terms in the header."""


class Row(NamedTuple):
    """A line of a section, split into words, without its comment."""

    line: int
    words: list[str]


class Section(NamedTuple):
    """A section of the file."""

    title: str
    hint: str | None
    """The word after # in the line of the title."""
    line: int
    """Line number of the title, from 1."""
    rows: list[Row]
    end: int
    """Line number of the section's last line."""


class Layout(NamedTuple):
    """A file divided into header and sections."""

    path: str
    title: str
    counts: dict[str, tuple[int, int]]
    """Numbers of atoms, bonds and so on, each with its line."""
    types: dict[str, int]
    extra: dict[str, int]
    bounds: np.ndarray
    tilts: np.ndarray | None
    tilt_line: int
    sections: dict[str, Section]
    """Sections by title, in the order of the file."""


def fault(path: str, line: int, text: str) -> ModelError:
    """Return an error whose message names a line of a file."""
    return ModelError(f"{path}, line {line}: {text}")


def layout_of(path: Path) -> Layout:
    """Read the header and the sections of a data file; raise ModelError, naming the line, for a malformed file."""
    name = str(clipped(path))
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise ModelError(f"{name}: cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise ModelError(f"{name}: cannot be read: it is not text; unpack a compressed file first") from None
    header = _Header(name)
    sections: dict[str, Section] = {}
    open_section: Section | None = None
    for k, full in enumerate(lines[1:], start=2):
        text, _, comment = full.partition("#")
        words = text.split()
        if not words:
            continue
        title = " ".join(words)
        if title in SECTIONS or title in REFUSED or (open_section is not None and _TITLE.fullmatch(title)):
            hint = comment.split()
            _check_title(name, k, title, sections)
            open_section = Section(title, hint[0] if hint else None, k, [], k)
            sections[title] = open_section
        elif open_section is None:
            header.take(k, title)
        else:
            open_section.rows.append(Row(k, words))
    last = len(lines) - (not lines[-1].strip())
    starts = [*(section.line for section in sections.values()), last + 1]
    for section, following in zip(list(sections.values()), starts[1:], strict=True):
        sections[section.title] = section._replace(end=following - 1)
    bounds, tilts = header.box()
    if "atom" not in header.counts:
        if _COUNT.fullmatch(" ".join(lines[0].split())):
            raise fault(name, 1, f"{shown(lines[0])} is the title, which LAMMPS skips; write a title before it")
        raise ModelError(f"{name}: the header gives no number of atoms, as in '512 atoms'; is it a LAMMPS data file?")
    return Layout(name, lines[0], header.counts, header.types, header.extra, bounds, tilts, header.tilt_line, sections)


def _check_title(path: str, line: int, title: str, sections: dict[str, Section]) -> None:
    if title in REFUSED:
        raise fault(path, line, f"the section '{title}' is not read: {REFUSED[title]}")
    if title not in SECTIONS:
        raise fault(path, line, f"unknown section '{title}'{nearest(title, SECTIONS)}")
    if title in sections:
        raise fault(path, line, f"the section '{title}' occurs twice, first in line {sections[title].line}")
    needs_atoms = title == "Velocities" or title in TERMS
    if needs_atoms and "Atoms" not in sections:
        raise fault(path, line, f"the section '{title}' precedes 'Atoms', where LAMMPS cannot read it; move it")
    if title in LABELS:
        family = LABELS[title]
        users: tuple[str, ...] = (f"{family.title()}s", f"{family.title()} Coeffs")
        if family == "atom":
            users = ("Masses", "Atoms", "Pair Coeffs", "PairIJ Coeffs")
        early = next((one for one in users if one in sections), None)
        if early is not None:
            raise fault(path, line, f"the section '{title}' follows '{early}', which may use it; move it before")


class _Header:
    """The header, filled line by line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.counts: dict[str, tuple[int, int]] = {}
        self.types: dict[str, int] = {}
        self.extra: dict[str, int] = {}
        self.tilt_line = 0
        self._bounds: dict[str, tuple[float, float]] = {}
        self._tilts: np.ndarray | None = None

    def take(self, line: int, text: str) -> None:
        """Read a line of the header; raise ModelError if the line does not belong to a header."""
        if found := _COUNT.fullmatch(text):
            self._once(line, found[2] in self.counts, text)
            if int(found[1]) >= MOST_ROWS:
                raise fault(self.path, line, f"expected at most {MOST_ROWS - 1} {found[2]}s, got {found[1]}")
            self.counts[found[2]] = int(found[1]), line
        elif found := _TYPES.fullmatch(text):
            self._once(line, found[2] in self.types, text)
            if int(found[1]) >= 2**20:
                raise fault(self.path, line, f"expected at most {2**20 - 1} types, got {found[1]}")
            self.types[found[2]] = int(found[1])
        elif found := _EXTRA.fullmatch(text):
            self.extra[" ".join(found[2].split())] = int(found[1])
        elif found := _BOUNDS.fullmatch(text):
            axis = found[3]
            self._once(line, axis in self._bounds, text)
            low, high = numbers(self.path, line, found.groups()[:2])
            if found[4] != axis or not low < high:
                raise fault(self.path, line, f"expected the lower and the upper bound along {axis}, got {shown(text)}")
            self._bounds[axis] = low, high
        elif found := _TILTS.fullmatch(text):
            self._once(line, self._tilts is not None, text)
            self._tilts, self.tilt_line = np.array(numbers(self.path, line, found.groups())), line
        elif found := _SHAPES.fullmatch(text):
            if int(text.split()[0]):
                raise fault(self.path, line, f"{found[1]} are not read: atoms have no shape here")
        elif _GENERAL.fullmatch(text):
            raise fault(
                self.path,
                line,
                "general triclinic boxes are not supported; have LAMMPS write the file in its own axes, with 'xlo xhi' "
                "... and xy xz yz (write_data without 'triclinic/general')",
            )
        else:
            raise fault(
                self.path,
                line,
                f"expected a line of the header, as '512 atoms', or the title of a section, got {shown(text)}"
                f"{nearest(text, SECTIONS)}",
            )

    def box(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return bounds (3, 2) and tilts (3,); raise ModelError if an axis has no bounds."""
        for axis in "xyz":
            if axis not in self._bounds:
                raise ModelError(
                    f"{self.path}: the header gives no bounds of the box along {axis}, as in '0.0 10.0 {axis}lo "
                    f"{axis}hi'"
                )
        return np.array([self._bounds[axis] for axis in "xyz"]), self._tilts

    def _once(self, line: int, again: bool, text: str) -> None:
        if again:
            raise fault(self.path, line, f"the header contains this line twice: {shown(text)}")


def numbers(path: str, line: int, words: Sequence[str]) -> list[float]:
    """Parse words as finite numbers; raise ModelError, naming the line, for any other word."""
    found = []
    for word in words:
        try:
            value = np.nan if "_" in word else float(word)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise fault(path, line, f"expected a finite number, got {shown(word)}")
        found.append(value)
    return found


def whole_number(path: str, line: int, word: str) -> int:
    """Parse a whole number; raise ModelError, naming the line, for any other word."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", word):
        raise fault(path, line, f"expected a whole number, got {shown(word)}")
    return int(word)


def float_columns(path: str, rows: Sequence[Row], columns: slice) -> np.ndarray:
    """Return columns of rows of equal length as finite numbers, shape (rows, columns)."""
    words = [row.words[columns] for row in rows]
    try:
        found = np.array(words, dtype=np.float64)
    except ValueError:
        found = np.full((1, 1), np.nan)
    if not np.isfinite(found).all() or any("_" in word for row in words for word in row):
        return np.array([numbers(path, row.line, row.words[columns]) for row in rows])
    return found


def whole_columns(path: str, rows: Sequence[Row], columns: slice) -> np.ndarray:
    """Return columns of rows of equal length as whole numbers, shape (rows, columns)."""
    found = [[whole_number(path, row.line, word) for word in row.words[columns]] for row in rows]
    return np.array(found, dtype=np.int64)
