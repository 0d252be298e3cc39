"""Peptides from their sequence and standard residue geometry, hydrogens included."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from articulon.errors import ModelError
from articulon.molecules import residue_geometry as geometry
from articulon.molecules.bonding import bonded
from articulon.molecules.elements import masses
from articulon.molecules.faults import faults_of, refuse
from articulon.molecules.structure import Residue, Structure
from articulon.molecules.templates import kind_and_template, template

HYDROGEN_LENGTH = {"C": 0.1090, "N": 0.1010, "O": 0.0960, "S": 0.1336}
"""Of a bond to hydrogen, by element [nm]."""
TETRAHEDRAL = 109.5
"""[°]."""
ONE_LETTER = dict(zip("GAVLIPFYWSTCMDNEQKRH", geometry.ROWS, strict=True))
"""Residue names by letter."""

Angles = float | Sequence[float]


def peptide(
    sequence: str | Sequence[str],
    *,
    phi: Angles = -57.0,
    psi: Angles = -47.0,
    omega: Angles = 180.0,
    chi: Mapping[int, Sequence[float]] | None = None,
    chain: str = "A",
    accept: Sequence[str] = (),
) -> Structure:
    """A peptide of standard geometry: an α-helix by default.

    Parameters
    ----------
    sequence
        Letters, ``"SWTWENGKWTWK"``, or names, ``["ACE", "ALA", "NME"]``: amino acids, the names of their states of
        protonation (HID, HIE, HIP, CYX, ASH, GLH, LYN), and the caps ACE, NME and NH2. Ends without a cap are charged.
    phi, psi, omega
        Of every residue [°], one for all or one each, caps included. That of a proline's ring is its own φ.
    chi
        χ₁, χ₂ ... of some residues [°], by their place in the sequence from 0; common rotamers by default.
    chain
        Its name.
    accept
        Faults to list instead of refusing: ``("clashes",)``.

    Raises
    ------
    ModelError
        For a residue that is not known, a cap in the middle, or atoms that clash at these angles.
    """
    names = _names(sequence)
    turns = [_each(value, len(names), word) for value, word in ((phi, "phi"), (psi, "psi"), (omega, "omega"))]
    atoms: list[str] = []
    places: list[np.ndarray] = []
    residues: list[Residue] = []
    previous: dict[str, np.ndarray] | None = None
    psi_before = 0.0
    for k, name in enumerate(names):
        kind, standard = kind_and_template(name)
        ends = (k == 0, k == len(names) - 1)
        now = _backbone(standard, previous, psi_before, turns[0][k], turns[1][k], turns[2][k - 1], ends)
        if kind == "amino-acid":
            _side_chain(now, standard, (chi or {}).get(k))
        _hydrogens(now, name, standard, ends, previous)
        psi_before = turns[1][k]
        start = len(atoms)
        atoms.extend(now)
        places.extend(now.values())
        residues.append(Residue(name, k + 1, "", chain, kind, standard, start, len(atoms)))  # type: ignore[arg-type]
        previous = now
    elements = tuple(atom[0] for atom in atoms)
    bare = np.zeros((0, 2), dtype=np.int64)
    whole = Structure("peptide", tuple(atoms), elements, tuple(residues), np.array(places), masses(elements), bare)
    whole = bonded(whole)
    return refuse(whole, faults_of(whole), accept, added=False)


def _names(sequence: str | Sequence[str]) -> list[str]:
    names = [ONE_LETTER.get(letter, letter) for letter in sequence] if isinstance(sequence, str) else list(sequence)
    for k, name in enumerate(names):
        kind, _ = kind_and_template(name)
        if kind not in ("amino-acid", "cap"):
            raise ModelError(f"peptide: residue {k + 1}, '{name}': there is no standard geometry of it")
        if (name == "ACE" and k) or (name in ("NME", "NH2") and k != len(names) - 1):
            raise ModelError(f"peptide: residue {k + 1}, '{name}': a cap is at its end of the chain")
    if not any(kind_and_template(name)[0] == "amino-acid" for name in names):
        raise ModelError("peptide: expected at least one amino acid")
    return names


def _each(value: Angles, count: int, word: str) -> list[float]:
    found = [float(value)] * count if isinstance(value, (int, float)) else [float(v) for v in value]
    if len(found) != count:
        raise ModelError(f"peptide, {word}: expected one angle or {count}, got {len(found)}")
    return found


def _placed(
    near: np.ndarray, middle: np.ndarray, far: np.ndarray, length: float, angle: float, dihedral: float
) -> np.ndarray:
    """A place at a distance from ``near``, at an angle to ``middle`` and a dihedral to ``far`` [°]."""
    theta, turn = math.radians(angle), math.radians(dihedral)
    along = (near - middle) / np.linalg.norm(near - middle)
    normal = np.cross(middle - far, along)
    normal /= np.linalg.norm(normal)
    across = math.cos(turn) * np.cross(normal, along) + math.sin(turn) * normal
    return np.asarray(near + length * (math.sin(theta) * across - math.cos(theta) * along))


def _backbone(
    standard: str,
    previous: dict[str, np.ndarray] | None,
    psi_before: float,
    phi: float,
    psi: float,
    omega: float,
    ends: tuple[bool, bool],
) -> dict[str, np.ndarray]:
    """N, CA, C and O of an amino acid, or the heavy atoms of a cap, after those of the residue before."""
    g = geometry
    now: dict[str, np.ndarray] = {}
    if standard == "ACE":
        now["CH3"], now["C"] = np.zeros(3), np.array([0.1507, 0.0, 0.0])
        now["O"] = _placed(now["C"], now["CH3"], np.array([0.0, 0.1, 0.0]), g.C_O, 120.5, 0.0)
        return now
    if previous is None:
        now["N"], now["CA"] = np.zeros(3), np.array([g.N_CA, 0.0, 0.0])
        behind = np.array([0.0, 0.1, 0.0])
    else:
        before = previous["CA"] if "CA" in previous else previous["CH3"]
        if "N" in previous:
            now["N"] = _placed(previous["C"], before, previous["N"], g.C_N, g.CA_C_N, psi_before)
        else:
            now["N"] = _trans(previous)
        behind = previous["C"]
        if standard == "NH2":
            return now
        place = _placed(now["N"], behind, before, 0.1449 if standard == "NME" else g.N_CA, g.C_N_CA, omega)
        now["C" if standard == "NME" else "CA"] = place
        if standard == "NME":
            return now
    turn = g.PROLINE_PHI if standard == "PRO" else phi
    now["C"] = _placed(now["CA"], now["N"], behind, g.CA_C, g.N_CA_C, turn)
    length, angle = (g.CARBOXYLATE, g.CARBOXYLATE_ANGLE) if ends[1] else (g.C_O, g.CA_C_O)
    now["O"] = _placed(now["C"], now["CA"], now["N"], length, angle, psi + 180.0)
    if ends[1]:
        now["OXT"] = _placed(now["C"], now["CA"], now["N"], length, angle, psi)
    return now


def _side_chain(now: dict[str, np.ndarray], standard: str, chi: Sequence[float] | None) -> None:
    """Heavy atoms from CB on."""
    angles = geometry.ROTAMERS.get(standard, ()) if chi is None else tuple(chi)
    for row in geometry.placements(standard):
        if row.chi > len(angles):
            raise ModelError(f"peptide, chi: {standard} has {len(geometry.ROTAMERS.get(standard, ()))} of these angles")
        dihedral = row.dihedral + (angles[row.chi - 1] if row.chi else 0.0)
        one, two, three = (now[atom] for atom in row.parents)
        now[row.atom] = _placed(one, two, three, row.length, row.angle, dihedral)


def _hydrogens(
    now: dict[str, np.ndarray],
    name: str,
    standard: str,
    ends: tuple[bool, bool],
    previous: dict[str, np.ndarray] | None,
) -> None:
    """Hydrogens of a residue, on each heavy atom in its turn."""
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
    """Hydrogens on nitrogen, oxygen and sulfur."""
    text = geometry.HYDROGENS.get(name, geometry.HYDROGENS.get(standard, ""))
    counts = {atom: int(number or 1) for atom, _, number in (word.partition(":") for word in text.split())}
    if standard == "NH2":
        counts["N"] = 2
    elif standard != "ACE":
        counts["N"] = (3 if first else 1) - (standard == "PRO")
    return counts


def _labels(atom: str, count: int, sheet: bool) -> list[str]:
    """Names of an atom's hydrogens: HB2 and HB3 on CB, HG11 to HG13 on CG1, HH21 and HH22 on NH2."""
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
    """Ideal places of hydrogens on an atom with one, two or three other neighbours."""
    arms = [(place - other) / np.linalg.norm(place - other) for other in around]
    out = np.sum(arms, axis=0)
    out /= np.linalg.norm(out)
    if len(around) == 1:
        # Staggered, or in the plane of what lies beyond the neighbour.
        far = beyond[0] if beyond else around[0] + np.array([0.03, 0.08, 0.05])
        angle = 120.0 if sheet else TETRAHEDRAL
        turns = (0.0, 180.0) if sheet else (180.0, 60.0, -60.0)
        return [_placed(place, around[0], far, length, angle, turn) for turn in turns[:count]]
    if len(around) == 3 or count == 1:
        return [place + length * out]
    side = np.cross(arms[0], arms[1])
    side /= np.linalg.norm(side)
    half = math.radians(0.5 * TETRAHEDRAL)
    return [place + length * (math.cos(half) * out + sign * math.sin(half) * side) for sign in (1.0, -1.0)]


def _trans(previous: dict[str, np.ndarray]) -> np.ndarray:
    """N after an acetyl group: in its plane, across from the O."""
    c, methyl, o = previous["C"], previous["CH3"], previous["O"]
    axis, arm = (c - methyl) / np.linalg.norm(c - methyl), o - c
    across = arm - (arm @ axis) * axis
    angle = math.radians(180.0 - geometry.CA_C_N + 0.7)
    return c + geometry.C_N * (math.cos(angle) * axis - math.sin(angle) * across / np.linalg.norm(across))
