"""Side chains of amino acids from standard bond lengths, angles and torsions, cut into links at their single bonds.

Bond lengths and angles are those that refinement of proteins holds them to (R. A. Engh and R. Huber, Acta Cryst. A 47,
392, 1991), rounded to a picometre and half a degree, with hydrogens at their nuclear distances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

BACKBONE = {
    "N": np.array([0.1458 * math.cos(math.radians(111.0)), 0.1458 * math.sin(math.radians(111.0)), 0.0]),
    "CA": np.zeros(3),
    "C": np.array([0.1525, 0.0, 0.0]),
}
"""Backbone of an L-amino acid: CA at the origin, C along x, N beside it [nm]."""

# Atom, the three before it, length [nm], angle [degrees], torsion [degrees], and the link, by its first atom: the link
# turns about the bond that leads to that atom.
_BETA = """
CB   CA N  C   0.153 110.5 -122.5    CB
HB2  CB CA N   0.109 108.5 chi1+121  CB
HB3  CB CA N   0.109 108.5 chi1-121  CB
"""
_SIDE_CHAINS = {
    "LEU": """
CG   CB CA N   0.153 116.0 chi1      CG
HG   CG CB CA  0.109 108.0 chi2+119  CG
CD1  CG CB CA  0.152 110.5 chi2      CD1
CD2  CG CB CA  0.152 110.5 chi2-122  CD2
HD11 CD1 CG CB 0.109 109.5 180       CD1
HD12 CD1 CG CB 0.109 109.5 60        CD1
HD13 CD1 CG CB 0.109 109.5 -60       CD1
HD21 CD2 CG CB 0.109 109.5 180       CD2
HD22 CD2 CG CB 0.109 109.5 60        CD2
HD23 CD2 CG CB 0.109 109.5 -60       CD2
""",
    "PHE": """
CG   CB CA N   0.150 114.0 chi1      CG
CD1  CG CB CA  0.139 120.5 chi2      CG
CD2  CG CB CA  0.139 120.5 chi2+180  CG
CE1  CD1 CG CB 0.139 120.5 180       CG
CE2  CD2 CG CB 0.139 120.5 180       CG
CZ   CE1 CD1 CG 0.139 120.0 0        CG
HD1  CD1 CG CB 0.108 119.5 0         CG
HD2  CD2 CG CB 0.108 119.5 0         CG
HE1  CE1 CD1 CG 0.108 120.0 180      CG
HE2  CE2 CD2 CG 0.108 120.0 180      CG
HZ   CZ CE1 CD1 0.108 120.0 180      CG
""",
    "ARG": """
CG   CB CA N   0.152 114.0 chi1      CG
HG2  CG CB CA  0.109 108.5 chi2+121  CG
HG3  CG CB CA  0.109 108.5 chi2-121  CG
CD   CG CB CA  0.152 111.5 chi2      CD
HD2  CD CG CB  0.109 109.0 chi3+121  CD
HD3  CD CG CB  0.109 109.0 chi3-121  CD
NE   CD CG CB  0.146 112.0 chi3      NE
HE   NE CD CG  0.101 118.0 chi4+180  NE
CZ   NE CD CG  0.133 124.0 chi4      NE
NH1  CZ NE CD  0.133 120.0 0         NE
NH2  CZ NE CD  0.133 120.0 180       NE
HH11 NH1 CZ NE 0.101 120.0 0         NE
HH12 NH1 CZ NE 0.101 120.0 180       NE
HH21 NH2 CZ NE 0.101 120.0 0         NE
HH22 NH2 CZ NE 0.101 120.0 180       NE
""",
    "LYS": """
CG   CB CA N   0.152 114.0 chi1      CG
HG2  CG CB CA  0.109 108.5 chi2+121  CG
HG3  CG CB CA  0.109 108.5 chi2-121  CG
CD   CG CB CA  0.152 111.5 chi2      CD
HD2  CD CG CB  0.109 109.0 chi3+121  CD
HD3  CD CG CB  0.109 109.0 chi3-121  CD
CE   CD CG CB  0.152 111.5 chi3      CE
HE2  CE CD CG  0.109 109.0 chi4+121  CE
HE3  CE CD CG  0.109 109.0 chi4-121  CE
NZ   CE CD CG  0.149 112.0 chi4      NZ
HZ1  NZ CE CD  0.104 109.5 180       NZ
HZ2  NZ CE CD  0.104 109.5 60        NZ
HZ3  NZ CE CD  0.104 109.5 -60       NZ
""",
}
ROTAMERS = {
    "LEU": (-65.0, 175.0),
    "PHE": (-65.0, -85.0),
    "ARG": (-65.0, 180.0, 180.0, 180.0),
    "LYS": (-65.0, 180.0, 180.0, 180.0),
}
"""Frequent torsions χ of each [degrees]."""
FORMAL_CHARGES = {"ARG": ("NE", 1.0), "LYS": ("NZ", 1.0)}
"""The link that carries a charge at neutral pH, and that charge [e]."""


class Link(NamedTuple):
    """A rigid part of a side chain, which turns about a bond."""

    name: str
    """Of its first atom, to which the bond leads."""
    parent: str
    """Name of the link that the bond starts from; "" for the backbone."""
    start: str
    """The atom that the bond starts from."""
    atoms: tuple[str, ...]
    """Its atoms."""


def links(residue: str) -> list[Link]:
    """The rigid parts of a side chain, from the backbone outwards."""
    rows = [line.split() for line in (_BETA + _SIDE_CHAINS[residue]).split("\n") if line]
    of, before = {row[0]: row[-1] for row in rows}, {row[0]: row[1] for row in rows}
    found = []
    for name in dict.fromkeys(of.values()):
        start = before[name]
        found.append(Link(name, of.get(start, ""), start, tuple(atom for atom, link in of.items() if link == name)))
    return found


def place(residue: str, backbone: Mapping[str, np.ndarray], torsions: Sequence[float]) -> dict[str, np.ndarray]:
    """Positions [nm] of the atoms of a side chain on a backbone.

    Parameters
    ----------
    residue
        ``LEU``, ``PHE``, ``ARG`` or ``LYS``.
    backbone
        Positions of ``N``, ``CA`` and ``C`` [nm].
    torsions
        χ1, χ2, … [rad].
    """
    found = {name: np.asarray(backbone[name], dtype=float) for name in BACKBONE}
    for line in (_BETA + _SIDE_CHAINS[residue]).split("\n"):
        if line:
            name, c, b, a, length, angle, torsion, _ = line.split()
            turn = _angle(torsion, torsions)
            found[name] = _next(found[a], found[b], found[c], float(length), math.radians(float(angle)), turn)
    return {name: x for name, x in found.items() if name not in BACKBONE}


def _angle(text: str, torsions: Sequence[float]) -> float:
    if not text.startswith("chi"):
        return math.radians(float(text))
    return torsions[int(text[3]) - 1] + math.radians(float(text[4:] or 0.0))


def _next(a: np.ndarray, b: np.ndarray, c: np.ndarray, length: float, angle: float, torsion: float) -> np.ndarray:
    """The point d at a distance from c, an angle b-c-d and a torsion a-b-c-d (right-handed about b to c)."""
    along = (c - b) / np.linalg.norm(c - b)
    normal = np.cross(b - a, along)
    normal /= np.linalg.norm(normal)
    side = np.cross(normal, along)
    sine = math.sin(angle)
    return c + length * (-math.cos(angle) * along + sine * (math.cos(torsion) * side + math.sin(torsion) * normal))


def torsion(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> float:
    """Of the bond from b to c, by the convention of the IUPAC [rad]."""
    along = (c - b) / np.linalg.norm(c - b)
    first, second = np.cross(b - a, along), np.cross(along, d - c)
    return float(math.atan2(np.cross(first, second) @ along, first @ second))
