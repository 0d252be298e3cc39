"""Writer of `topology.pdb`, a PDB file of the bodies of a model. With it, molecular viewers can open the trajectory.

An atom represents a body, a residue represents a tree, and CONECT records join every body to its parent. PDB has fixed
columns. Models that do not fit these columns are treated as follows:

- **Names** longer than four characters are shortened to their leading letters and their last digits (at most three),
  four in total: "nanoparticle" becomes "nano", "ligand12-body4" becomes "l124". A REMARK gives the full name if the
  serial number is decimal; `trajectory.h5` always has the full names.
- **Coordinates** are in ångström if the length unit is nm, Å or pm. If they do not fit the columns (below -999 or
  above 9999) the model is shifted to the origin and, if it is still too large, shrunk by a power of ten. In any other
  unit, and in reduced units, one unit is drawn as one ångström, shrunk or enlarged by a power of ten if necessary. A
  REMARK describes the change. The trajectory is never shifted or scaled; a viewer that loads the trajectory uses its
  coordinates.
- **Serial numbers** above 99,999 are written in hybrid-36 (Grosse-Kunstleve), which MDAnalysis, PyMOL and VMD read.
  Not all programs read these in CONECT records, so a model of this size is written without CONECT records.
- **Residue numbers** restart at 0 after 9999, as is usual.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from articulon.storage.atomic_writing import write_text

ANGSTROM = {"pm": 0.01, "angstrom": 1.0, "Angstrom": 1.0, "nm": 10.0}
"""Length of each unit in ångström."""
_LOWEST, _HIGHEST = -999.999, 9999.999  # range of numbers in eight columns with three decimals
LARGEST_DECIMAL = 99_999
"""Largest decimal serial number in five columns."""
RESIDUES = 10_000
"""Number of residue numbers that fit into four columns."""


def write_topology(
    path: Path,
    body_names: Sequence[str],
    positions: np.ndarray,
    trees: Sequence[int],
    bonds: Sequence[tuple[int, int]],
    *,
    length_unit: str | None = "nm",
    title: str = "",
    radii: np.ndarray | None = None,
) -> None:
    """Write a PDB file with one atom for each body.

    Parameters
    ----------
    path
        The file, `topology.pdb` in the folder of a run. It is replaced atomically.
    body_names
        Names of the bodies, in the order of the model, length n.
    positions
        Origins of the bodies, world frame [length_unit], shape (n, 3).
    trees
        Index of the tree of every body, from 0, length n.
    bonds
        Pairs of indices of bodies (parent, child), from 0.
    length_unit
        "nm", "angstrom" or "pm"; any other unit, or None, is drawn as described above.
    title
        Text of the TITLE record.
    radii
        Radii of the bodies' contact spheres [length_unit], shape (n,), for the B-factor column; None without spheres.

    Raises
    ------
    ValueError
        If lengths do not match, a position is not finite or a bond refers to no body.
    ArticulonError
        If the file cannot be written.
    """
    positions = np.asarray(positions, dtype=np.float64)
    n = len(body_names)
    if positions.shape != (n, 3) or len(trees) != n:
        raise ValueError(f"{n} names, positions of shape {positions.shape} and {len(trees)} trees do not match")
    if not np.isfinite(positions).all():
        body = int(np.argmin(np.isfinite(positions).all(axis=1)))
        raise ValueError(f"the position of body '{body_names[body]}' is not finite")
    if any(not 0 <= index < n for pair in bonds for index in pair):
        raise ValueError(f"a bond names a body outside 0 to {n - 1}")
    drawn, remark, scale = fitted(positions, length_unit)
    shown = None if radii is None else scale * np.asarray(radii, dtype=np.float64)
    write_text(path, "\n".join(_records(body_names, drawn, trees, bonds, remark, title, shown)) + "\n")


def short_name(name: str) -> str:
    """Return the short name of a body, four characters at most: its leading letters, then its last digits (three at
    most).

    >>> short_name("core"), short_name("nanoparticle"), short_name("ligand12-body4"), short_name("β")
    ('core', 'nano', 'l124', 'X')
    """
    kept = [character for character in name if character in string.ascii_letters + string.digits]
    if len(kept) <= 4:
        return "".join(kept) or "X"
    letters = "".join(character for character in kept if character.isalpha())
    digits = "".join(character for character in kept if character.isdigit())[-3 if letters else -4 :]
    return letters[: 4 - len(digits)] + digits


def hybrid36(value: int, width: int) -> str:
    """Format a non-negative number in `width` columns: decimal, then upper-case, then lower-case base 36.

    R. W. Grosse-Kunstleve, http://cci.lbl.gov/hybrid_36

    >>> hybrid36(99_999, 5), hybrid36(100_000, 5), hybrid36(43_770_016, 5)
    ('99999', 'A0000', 'a0000')

    Raises
    ------
    ValueError
        If the number needs more columns.
    """
    if value < 10**width:
        return f"{value:{width}d}"
    value -= 10**width
    block = 26 * 36 ** (width - 1)
    for digits in (string.digits + string.ascii_uppercase, string.digits + string.ascii_lowercase):
        if value < block:
            value += 10 * 36 ** (width - 1)
            text = ""
            for _ in range(width):
                value, digit = divmod(value, 36)
                text = digits[digit] + text
            return text
        value -= block
    raise ValueError(f"a PDB file cannot number so many atoms in {width} columns")


def fitted(positions: np.ndarray, length_unit: str | None) -> tuple[np.ndarray, str, float]:
    """Return coordinates that fit into the columns, a description of the change ("" without change), and the unit of
    the coordinates in ångström."""
    known = length_unit in ANGSTROM
    scale = 1.0 if length_unit is None else ANGSTROM.get(length_unit, 1.0)
    drawn = positions * scale
    if drawn.size == 0:
        return drawn, "", scale
    unit = "1 ANGSTROM" if known else f"1 {length_unit or 'REDUCED UNIT OF LENGTH'}"
    span = float(np.ptp(drawn, axis=0).max())
    fits = drawn.min() >= _LOWEST and drawn.max() <= _HIGHEST
    if fits and (known or span == 0.0 or span >= 1.0):
        return drawn, "" if known else f"1 ANGSTROM STANDS FOR {unit}.", scale
    corner = drawn.min(axis=0)
    exponent = 0
    if span > _HIGHEST or (not known and 0.0 < span < 1.0):
        exponent = 3 - math.ceil(math.log10(span))  # the largest extent becomes more than 100 and at most 1000
    drawn = (drawn - corner) * 10.0**exponent
    said = f"SHIFTED TO THE ORIGIN, {10.0**exponent:G} ANGSTROM STANDS FOR {unit}."
    return drawn, said, scale * 10.0**exponent


def _records(
    body_names: Sequence[str],
    drawn: np.ndarray,
    trees: Sequence[int],
    bonds: Sequence[tuple[int, int]],
    remark: str,
    title: str,
    radii: np.ndarray | None = None,
) -> Iterator[str]:
    n = len(body_names)
    numbered = n <= LARGEST_DECIMAL
    if title:
        yield f"TITLE     {ascii_text(title)[:70]}"
    yield "REMARK 250 ONE ATOM IS A BODY, ONE RESIDUE A TREE OF BODIES."
    if remark:
        yield f"REMARK 250 COORDINATES: {ascii_text(remark)}"
    if radii is not None:
        yield "REMARK 250 THE B FACTOR IS THE RADIUS OF THE BODY'S SPHERE, IN ANGSTROM AS DRAWN."
    if not numbered:
        yield f"REMARK 250 NO CONECT RECORDS: MORE THAN {LARGEST_DECIMAL} BODIES."
    short = [short_name(name) for name in body_names]
    if numbered:
        for serial, (name, shortened) in enumerate(zip(body_names, short, strict=True), start=1):
            if name != shortened:
                yield f"REMARK 250 ATOM {serial:5d} {shortened:4s} IS {ascii_text(name)}"
    factors = [0.0] * n if radii is None else np.minimum(radii, 999.99).tolist()
    for index, (name, tree, (x, y, z), factor) in enumerate(zip(short, trees, drawn.tolist(), factors, strict=True)):
        # The element is left empty, so that a viewer draws an unknown atom and does not read the body "core" as carbon.
        yield (
            f"HETATM{hybrid36(index + 1, 5)} {name:<4s} BOD A{(tree + 1) % RESIDUES:4d}    "
            f"{x:8.3f}{y:8.3f}{z:8.3f}{1.0:6.2f}{factor:6.2f}          {'':2s}"
        )
    if numbered:
        neighbours: dict[int, list[int]] = {}
        for parent, child in bonds:
            neighbours.setdefault(parent, []).append(child)
            neighbours.setdefault(child, []).append(parent)
        for atom in sorted(neighbours):
            bonded = sorted(neighbours[atom])
            for start in range(0, len(bonded), 4):
                yield "".join([f"CONECT{atom + 1:5d}", *(f"{other + 1:5d}" for other in bonded[start : start + 4])])
    yield "END"


def ascii_text(text: str) -> str:
    """Return text in the form that a PDB file allows: one line of ASCII, with other characters escaped."""
    return " ".join(text.split()).encode("ascii", "backslashreplace").decode()
