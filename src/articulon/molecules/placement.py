"""Place atoms in standard geometry: side chains on a backbone, hydrogens on heavy atoms."""

import math
from collections.abc import Sequence

import numpy as np

from articulon.errors import ModelError
from articulon.molecules import residue_geometry as geometry
from articulon.molecules.templates import template

HYDROGEN_LENGTH = {"C": 0.1090, "N": 0.1010, "O": 0.0960, "S": 0.1336}
"""Lengths of bonds to hydrogen, by element [nm]."""
TETRAHEDRAL = 109.5
"""Tetrahedral angle [°]."""


def placed(
    near: np.ndarray, middle: np.ndarray, far: np.ndarray, length: float, angle: float, dihedral: float
) -> np.ndarray:
    """Return the position of an atom at a distance from ``near`` [nm], with an angle at ``near`` to ``middle`` [°] and
    a dihedral to ``far`` [°]."""
    theta, turn = math.radians(angle), math.radians(dihedral)
    along = (near - middle) / np.linalg.norm(near - middle)
    normal = np.cross(middle - far, along)
    normal /= np.linalg.norm(normal)
    across = math.cos(turn) * np.cross(normal, along) + math.sin(turn) * normal
    return np.asarray(near + length * (math.sin(theta) * across - math.cos(theta) * along))


def add_side_chain(now: dict[str, np.ndarray], standard: str, chi: Sequence[float] | None) -> None:
    """Place the heavy atoms of a side chain, from CB outwards."""
    angles = geometry.ROTAMERS.get(standard, ()) if chi is None else tuple(chi)
    for row in geometry.placements(standard):
        if row.chi > len(angles):
            raise ModelError(f"peptide, chi: {standard} has {len(geometry.ROTAMERS.get(standard, ()))} χ angles")
        dihedral = row.dihedral + (angles[row.chi - 1] if row.chi else 0.0)
        one, two, three = (now[atom] for atom in row.parents)
        now[row.atom] = placed(one, two, three, row.length, row.angle, dihedral)


def add_hydrogens(
    now: dict[str, np.ndarray],
    name: str,
    standard: str,
    ends: tuple[bool, bool],
    previous: dict[str, np.ndarray] | None,
) -> None:
    """Place the hydrogens of a residue on all its heavy atoms."""
    known = template(standard)
    counts = {**known.hydrogens, **_polar(name, standard, first=ends[0])}
    partners: dict[str, list[str]] = {atom: [] for atom in now}
    for a, b in known.bonds:
        if a in now and b in now:
            partners[a].append(b)
            partners[b].append(a)
    flat = geometry.planar(standard)
    heavy = dict(now)
    for atom, place in heavy.items():
        count = counts.get(atom, 0)
        if not count:
            continue
        around = [heavy[b] for b in partners[atom]]
        beyond = [heavy[c] for b in partners[atom] for c in partners[b] if c != atom]
        sheet = atom in flat or (atom == "N" and not ends[0])
        if atom == "N" and previous is not None:
            around.append(previous["C"])
            beyond.append(previous["O"])
        length = HYDROGEN_LENGTH[atom[0]]
        found = _around(place, around, beyond, count, length, sheet)
        now.update(zip(_labels(atom, count, sheet), found, strict=True))


def _polar(name: str, standard: str, *, first: bool) -> dict[str, int]:
    """Return the number of hydrogens on each nitrogen, oxygen and sulfur atom."""
    text = geometry.HYDROGENS.get(name, geometry.HYDROGENS.get(standard, ""))
    counts = {atom: int(number or 1) for atom, _, number in (word.partition(":") for word in text.split())}
    if standard == "NH2":
        counts["N"] = 2
    elif standard != "ACE":
        counts["N"] = (3 if first else 1) - (standard == "PRO")
    return counts


def _labels(atom: str, count: int, sheet: bool) -> list[str]:
    """Return the names of the hydrogens of an atom: HB2 and HB3 on CB, HG11 to HG13 on CG1, HH21 and HH22 on NH2."""
    stem = "H" if atom in ("CH3", "C") else "H" + atom[1:]
    if count == 1:
        return [stem]
    first = 2 if count == 2 and not sheet and atom not in ("N", "NZ") else 1
    if atom == "NZ" and count == 2:
        first = 2
    return [f"{stem}{k}" for k in range(first, first + count)]


def _around(
    place: np.ndarray, around: list[np.ndarray], beyond: list[np.ndarray], count: int, length: float, sheet: bool
) -> list[np.ndarray]:
    """Ideal positions of hydrogens on an atom with one, two or three other neighbours, shape (3,) each [nm]."""
    arms = [(place - other) / np.linalg.norm(place - other) for other in around]
    out = np.sum(arms, axis=0)
    out /= np.linalg.norm(out)
    if len(around) == 1:
        # The hydrogens are staggered relative to the neighbour's other atoms, or lie in the plane of these atoms.
        far = beyond[0] if beyond else around[0] + np.array([0.03, 0.08, 0.05])
        angle = 120.0 if sheet else TETRAHEDRAL
        turns = (0.0, 180.0) if sheet else (180.0, 60.0, -60.0)
        return [placed(place, around[0], far, length, angle, turn) for turn in turns[:count]]
    if len(around) == 3 or count == 1:
        return [place + length * out]
    side = np.cross(arms[0], arms[1])
    side /= np.linalg.norm(side)
    half = math.radians(0.5 * TETRAHEDRAL)
    return [place + length * (math.cos(half) * out + sign * math.sin(half) * side) for sign in (1.0, -1.0)]
