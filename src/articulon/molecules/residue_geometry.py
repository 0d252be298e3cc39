"""Standard geometry of amino acids: bond lengths, angles and dihedrals from which a chain is built atom by atom.

Lengths and angles are the averages of Engh and Huber (Acta Cryst. A47, 392, 1991); torsions of side chains are common
rotamers. A row is ``atom parent grandparent great-grandparent length[nm] angle[°] dihedral``. The dihedral is given in
degrees, or as ``chi1``, ``chi2+122`` ... if it follows from an angle that the user may give.
"""

from functools import cache
from typing import NamedTuple


class Placement(NamedTuple):
    """Position of an atom relative to three others."""

    atom: str
    """Name of the atom."""
    parents: tuple[str, str, str]
    """The bonded atom, its parent, and the next parent."""
    length: float
    """Bond length [nm]."""
    angle: float
    """Angle at the bonded atom [°]."""
    chi: int
    """Number of the χ angle that gives the dihedral; 0 if the dihedral is fixed."""
    dihedral: float
    """Dihedral angle, or the offset that is added to χ [°]."""


N_CA, CA_C, C_N, C_O = 0.1458, 0.1525, 0.1329, 0.1231
N_CA_C, CA_C_N, C_N_CA, CA_C_O = 111.0, 117.2, 121.7, 120.1
"""Bond lengths [nm] and angles [°] of the backbone."""
CARBOXYLATE, CARBOXYLATE_ANGLE = 0.1250, 117.0
"""Bond length of C to O and OXT [nm], and angle [°]."""
CB_DIHEDRAL = -122.0
"""Dihedral from C to CB about N–CA for an L-amino acid [°]."""
PROLINE_PHI = -71.0
"""φ of a proline [°]."""

AROMATIC = """CG CB CA N 0.1502 113.8 chi1; CD1 CG CB CA 0.1384 120.7 chi2; CD2 CG CB CA 0.1384 120.7 chi2+180;
CE1 CD1 CG CB 0.1382 120.7 180; CE2 CD2 CG CB 0.1382 120.7 180; CZ CE1 CD1 CG 0.1382 120.0 0"""
LONG = "CG CB CA N 0.1520 114.1 chi1"

ROWS = {
    "GLY": "",
    "ALA": "",
    "VAL": "CG1 CB CA N 0.1521 110.5 chi1; CG2 CB CA N 0.1521 110.5 chi1+122",
    "LEU": "CG CB CA N 0.1530 116.3 chi1; CD1 CG CB CA 0.1521 110.7 chi2; CD2 CG CB CA 0.1521 110.7 chi2+122",
    "ILE": "CG1 CB CA N 0.1530 110.4 chi1; CG2 CB CA N 0.1521 110.5 chi1-122; CD1 CG1 CB CA 0.1513 113.8 chi2",
    "PRO": "CG CB CA N 0.1492 104.5 chi1; CD N CA CB 0.1473 112.0 -11",
    "PHE": AROMATIC,
    "TYR": f"{AROMATIC}; OH CZ CE1 CD1 0.1376 119.9 180",
    "TRP": """CG CB CA N 0.1498 113.6 chi1; CD1 CG CB CA 0.1365 126.9 chi2; CD2 CG CB CA 0.1433 126.8 chi2+180;
        NE1 CD1 CG CB 0.1374 110.2 180; CE2 CD2 CG CB 0.1409 107.2 180; CE3 CD2 CG CB 0.1398 133.9 0;
        CZ2 CE2 CD2 CG 0.1394 122.4 180; CZ3 CE3 CD2 CG 0.1382 118.6 180; CH2 CZ2 CE2 CD2 0.1368 117.5 0""",
    "SER": "OG CB CA N 0.1417 111.1 chi1",
    "THR": "OG1 CB CA N 0.1433 109.6 chi1; CG2 CB CA N 0.1521 110.5 chi1-122",
    "CYS": "SG CB CA N 0.1808 114.4 chi1",
    "MET": f"{LONG}; SD CG CB CA 0.1803 112.7 chi2; CE SD CG CB 0.1791 100.9 chi3",
    "ASP": "CG CB CA N 0.1516 112.6 chi1; OD1 CG CB CA 0.1249 118.4 chi2; OD2 CG CB CA 0.1249 118.4 chi2+180",
    "ASN": "CG CB CA N 0.1516 112.6 chi1; OD1 CG CB CA 0.1231 120.8 chi2; ND2 CG CB CA 0.1328 116.4 chi2+180",
    "GLU": f"""{LONG}; CD CG CB CA 0.1516 112.6 chi2; OE1 CD CG CB 0.1249 118.4 chi3;
        OE2 CD CG CB 0.1249 118.4 chi3+180""",
    "GLN": f"""{LONG}; CD CG CB CA 0.1516 112.6 chi2; OE1 CD CG CB 0.1231 120.8 chi3;
        NE2 CD CG CB 0.1328 116.4 chi3+180""",
    "LYS": f"""{LONG}; CD CG CB CA 0.1520 111.3 chi2; CE CD CG CB 0.1520 111.3 chi3; NZ CE CD CG 0.1489 111.9 chi4""",
    "ARG": f"""{LONG}; CD CG CB CA 0.1520 111.3 chi2; NE CD CG CB 0.1460 112.0 chi3; CZ NE CD CG 0.1329 124.2 chi4;
        NH1 CZ NE CD 0.1326 120.0 0; NH2 CZ NE CD 0.1326 120.0 180""",
    "HIS": """CG CB CA N 0.1497 113.8 chi1; ND1 CG CB CA 0.1378 122.7 chi2; CD2 CG CB CA 0.1354 131.2 chi2+180;
        CE1 ND1 CG CB 0.1321 109.0 180; NE2 CD2 CG CB 0.1374 107.2 180""",
}

ROTAMERS = {
    "VAL": (175.0,),
    "LEU": (-65.0, 175.0),
    "ILE": (-65.0, 170.0),
    "PRO": (30.0,),
    "PHE": (180.0, 80.0),
    "TYR": (180.0, 80.0),
    "TRP": (-65.0, 95.0),
    "SER": (62.0,),
    "THR": (62.0,),
    "CYS": (-65.0,),
    "MET": (-65.0, 180.0, 75.0),
    "ASP": (-70.0, -15.0),
    "ASN": (-65.0, -20.0),
    "GLU": (-65.0, 180.0, -10.0),
    "GLN": (-65.0, 180.0, 20.0),
    "LYS": (-65.0, 180.0, 180.0, 180.0),
    "ARG": (-65.0, 180.0, 180.0, 180.0),
    "HIS": (-65.0, -70.0),
}
"""χ₁, χ₂ … of a common rotamer [°] (Lovell et al., Proteins 40, 389, 2000)."""

HYDROGENS = {
    "SER": "OG",
    "THR": "OG1",
    "TYR": "OH",
    "CYS": "SG",
    "ASN": "ND2:2",
    "GLN": "NE2:2",
    "LYS": "NZ:3",
    "ARG": "NE NH1:2 NH2:2",
    "TRP": "NE1",
    "HIS": "NE2",
    "HIE": "NE2",
    "HID": "ND1",
    "HIP": "ND1 NE2",
    "CYX": "",
    "CYM": "",
    "ASH": "OD2",
    "GLH": "OE2",
    "LYN": "NZ:2",
}
"""Hydrogens on nitrogen, oxygen and sulfur at neutral pH, by residue name; those of HIS are on NE2."""
PLANAR = frozenset(
    ("PHE CG CD1 CD2 CE1 CE2 CZ", "TYR CG CD1 CD2 CE1 CE2 CZ", "TRP CD1 NE1 CE3 CZ2 CZ3 CH2", "HIS ND1 CD2 CE1 NE2")
) | frozenset(("ASN ND2", "GLN NE2", "ARG NE NH1 NH2"))
"""Atoms whose hydrogens lie in the plane of their neighbours."""


@cache
def placements(name: str) -> tuple[Placement, ...]:
    """Return the placements of a standard residue's side chain, beginning with CB."""
    if name == "GLY":
        return ()
    angle = 103.0 if name == "PRO" else 110.5
    rows = [Placement("CB", ("CA", "N", "C"), 0.1530, angle, 0, CB_DIHEDRAL)]
    for row in filter(None, ROWS[name].replace("\n", " ").split(";")):
        atom, one, two, three, length, at, turn = row.split()
        chi, offset = 0, turn
        if turn.startswith("chi"):
            chi, offset = int(turn[3]), turn[4:] or "0"
        rows.append(Placement(atom, (one, two, three), float(length), float(at), chi, float(offset)))
    return tuple(rows)


@cache
def planar(name: str) -> frozenset[str]:
    """Return the atoms of a standard residue whose hydrogens lie in a plane."""
    return frozenset(atom for row in PLANAR for atom in row.split()[1:] if row.split()[0] == name)
