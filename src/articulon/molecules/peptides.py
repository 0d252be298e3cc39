"""Construction of peptides, including hydrogens, from a sequence and standard geometry of residues."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import array, finite, floats, number, shown, whole, words
from articulon.molecules import residue_geometry as geometry
from articulon.molecules.bond_perception import bonded
from articulon.molecules.elements import masses
from articulon.molecules.placement import add_hydrogens, add_side_chain, placed
from articulon.molecules.structure import Residue, Structure
from articulon.molecules.structure_faults import accepted, faults_of, refuse
from articulon.molecules.templates import kind_and_template
from articulon.sizes import check_size

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
    """Build a peptide in standard geometry, by default as an α-helix.

    Parameters
    ----------
    sequence
        Letters, ``"SWTWENGKWTWK"``, or names, ``["ACE", "ALA", "NME"]``: amino acids, names of protonation states (HID,
        HIE, HIP, CYX, ASH, GLH, LYN), and the caps ACE, NME and NH2. Ends without a cap are charged.
    phi, psi, omega
        Torsions of every residue [°]: one value for all, or one for each residue and cap. φ of a proline is fixed by
        its ring.
    chi
        χ₁, χ₂ … of some residues [°], by their index in the sequence from 0; common rotamers by default.
    chain
        Name of the chain.
    accept
        Faults to list in ``inferred`` instead of rejecting the peptide: ``("clashes",)``.

    Raises
    ------
    ModelError
        For an unknown residue, a cap in the middle, or atoms that clash at these angles.
    """
    names = _names(sequence)
    if not isinstance(chain, str):
        raise ModelError(f"peptide, chain: expected a name, got {shown(chain)}")
    accept, chi = accepted(accept, "peptide"), _chi(chi)
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
            add_side_chain(now, standard, chi.get(k))
        add_hydrogens(now, name, standard, ends, previous)
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
    if isinstance(sequence, str):
        names = [ONE_LETTER.get(letter, letter) for letter in sequence]
    else:
        names = list(words(sequence, "peptide, sequence"))
    check_size(len(names), 100_000, "residues", "peptide, sequence", error=ModelError)
    for k, name in enumerate(names):
        kind, _ = kind_and_template(name)
        if kind not in ("amino-acid", "cap"):
            raise ModelError(f"peptide: residue {k + 1}, {shown(name)}: has no standard geometry")
        if (name == "ACE" and k) or (name in ("NME", "NH2") and k != len(names) - 1):
            raise ModelError(f"peptide: residue {k + 1}, '{name}': a cap must be at the end of the chain")
    if not any(kind_and_template(name)[0] == "amino-acid" for name in names):
        raise ModelError("peptide: expected at least one amino acid")
    return names


def _each(value: Angles, count: int, word: str) -> list[float]:
    if isinstance(value, Real):
        return [number(value, f"peptide, {word}")] * count
    try:
        found = floats(value)
    except ValueError as reason:
        raise ModelError(f"peptide, {word}: {reason}") from None
    if found.shape != (count,):
        raise ModelError(f"peptide, {word}: expected one angle or {count}, got {found.size}")
    finite(found, f"peptide, {word}")
    return [float(angle) for angle in found]


def _chi(chi: Any) -> dict[int, list[float]]:
    """Return χ angles by residue index; raise ModelError if ``chi`` is anything else."""
    if chi is None:
        return {}
    if not isinstance(chi, Mapping):
        raise ModelError(f"peptide, chi: expected angles by residue index, got {shown(chi)}")
    found = {}
    for place, angles in chi.items():
        where = f"peptide, chi of residue {shown(place)}"
        if not isinstance(angles, Sequence | np.ndarray) or isinstance(angles, str):
            raise ModelError(f"{where}: expected a list of angles, got {shown(angles)}")
        found[whole(place, where)] = array(angles, (len(angles),), where).tolist()
    return found


def _backbone(
    standard: str,
    previous: dict[str, np.ndarray] | None,
    psi_before: float,
    phi: float,
    psi: float,
    omega: float,
    ends: tuple[bool, bool],
) -> dict[str, np.ndarray]:
    """Place N, CA, C and O of an amino acid, or the heavy atoms of a cap, relative to the atoms of the previous
    residue."""
    g = geometry
    now: dict[str, np.ndarray] = {}
    if standard == "ACE":
        now["CH3"], now["C"] = np.zeros(3), np.array([0.1507, 0.0, 0.0])
        now["O"] = placed(now["C"], now["CH3"], np.array([0.0, 0.1, 0.0]), g.C_O, 120.5, 0.0)
        return now
    if previous is None:
        now["N"], now["CA"] = np.zeros(3), np.array([g.N_CA, 0.0, 0.0])
        behind = np.array([0.0, 0.1, 0.0])
    else:
        before = previous["CA"] if "CA" in previous else previous["CH3"]
        if "N" in previous:
            now["N"] = placed(previous["C"], before, previous["N"], g.C_N, g.CA_C_N, psi_before)
        else:
            now["N"] = _trans(previous)
        behind = previous["C"]
        if standard == "NH2":
            return now
        place = placed(now["N"], behind, before, 0.1449 if standard == "NME" else g.N_CA, g.C_N_CA, omega)
        now["C" if standard == "NME" else "CA"] = place
        if standard == "NME":
            return now
    turn = g.PROLINE_PHI if standard == "PRO" else phi
    now["C"] = placed(now["CA"], now["N"], behind, g.CA_C, g.N_CA_C, turn)
    length, angle = (g.CARBOXYLATE, g.CARBOXYLATE_ANGLE) if ends[1] else (g.C_O, g.CA_C_O)
    now["O"] = placed(now["C"], now["CA"], now["N"], length, angle, psi + 180.0)
    if ends[1]:
        now["OXT"] = placed(now["C"], now["CA"], now["N"], length, angle, psi)
    return now


def _trans(previous: dict[str, np.ndarray]) -> np.ndarray:
    """Place N after an acetyl group: in the plane of the group, on the opposite side of O."""
    c, methyl, o = previous["C"], previous["CH3"], previous["O"]
    axis, arm = (c - methyl) / np.linalg.norm(c - methyl), o - c
    across = arm - (arm @ axis) * axis
    angle = math.radians(180.0 - geometry.CA_C_N + 0.7)
    return c + geometry.C_N * (math.cos(angle) * axis - math.sin(angle) * across / np.linalg.norm(across))
