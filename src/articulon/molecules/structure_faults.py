"""Detection of faults of a structure, described by chain, residue and atom, with advice."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import shown, words
from articulon.molecules.elements import covalent_radii, metal
from articulon.molecules.structure import Structure
from articulon.molecules.templates import THIOLATES, template

FAULTS = {
    "missing-atoms": "add_missing = true lets PDBFixer build them",
    "missing-hydrogens": "add_missing = true lets OpenMM's modeller add them",
    "missing-ends": "add_missing = true places the second oxygen of the last residue",
    "gaps": "build the missing residues with PDBFixer or a modelling program, or cap the ends; make molecules whole "
    "that cross a periodic boundary",
    "extra-hydrogens": "remove the extra ones from the file, or give the residue a name of its own",
    "bond-lengths": "correct the coordinates",
    "clashes": "correct the coordinates or the angles, or leave one of the two out",
}
"""Kinds of faults, with advice for each."""

OVERLAP = 0.02
"""Distance beyond the sum of covalent radii below which unbonded atoms clash, because they are as close as bonded atoms
[nm]. (The two hydrogens of a water molecule are 0.15 nm apart, and the sum of their radii is 0.06 nm.)"""
SHORTEST, LONGEST = 0.5, 1.5
"""Allowed range of the distance of bonded atoms, relative to the sum of their covalent radii; outside it, positions are
wrong. (A triple bond has a ratio of 0.8. Bonds are detected up to 0.15 nm for a hydrogen and 0.2 nm for the next
residue.)"""
COORDINATED = 0.3
"""Largest distance between a metal and the sulfur whose hydrogen it replaces [nm]; zinc is 0.23 nm away."""
SHOWN = 20
"""Largest number of faults in a message."""


class Fault(NamedTuple):
    """A fault of a structure."""

    kind: str
    """One of :data:`FAULTS`."""
    text: str
    """Location and description of the fault."""


def faults_of(structure: Structure, absent: Mapping[str, str] | None = None) -> list[Fault]:
    """Return all faults of a structure whose bonds are known.

    ``absent`` lists residues of the sequence that have no coordinates, by the label of the residue before them.
    """
    return [*_missing(structure), *_gaps(structure, absent or {}), *_lengths(structure), *_clashes(structure)]


def accepted(accept: Any, where: str) -> tuple[str, ...]:
    """Return kinds of faults to accept; raise ModelError for an unknown word."""
    given = words(accept, f"{where}, accept")
    wrong = [word for word in given if word not in FAULTS]
    if wrong:
        raise ModelError(f"{where}: accept: unknown word {shown(wrong[0])} (known: {', '.join(FAULTS)})")
    return given


def refuse(structure: Structure, faults: list[Fault], accept: Sequence[str], added: bool) -> Structure:
    """Return the structure with its accepted faults listed; raise ModelError for faults that are not accepted."""
    left = [fault for fault in faults if fault.kind not in accept]
    if left:
        lines = [f"{structure.source}: {fault.text}" for fault in left[:SHOWN]]
        if len(left) > SHOWN:
            lines.append(f"{structure.source}: and {len(left) - SHOWN} more")
        for kind in dict.fromkeys(fault.kind for fault in left):
            tried = added and "add_missing" in FAULTS[kind]
            advice = "they could not be added" if tried else FAULTS[kind]
            lines.append(f"{kind}: {advice}; or accept = ['{kind}'] to continue without")
        raise ModelError("\n".join(lines))
    listed = tuple(f"{fault.text} (accepted)" for fault in faults)
    return replace(structure, inferred=(*structure.inferred, *listed))


def _missing(structure: Structure) -> list[Fault]:
    """Find missing heavy atoms of templates, and missing hydrogens on carbon and on the peptide nitrogen."""
    faults = []
    hydrogens = [sum(structure.elements[b] == "H" for b in bonds) for bonds in structure.neighbours]
    none = "H" not in structure.elements
    for k, residue in enumerate(structure.residues):
        if residue.kind == "water" and not none:
            oxygens = [a for a in range(residue.start, residue.stop) if structure.elements[a] == "O"]
            if len(oxygens) == 1:
                faults.extend(_hydrogens(structure, oxygens[0], hydrogens, 2))
        if not residue.standard:
            continue
        known = template(residue.standard)
        at = {structure.names[a]: a for a in range(residue.start, residue.stop)}
        lost = sorted(known.atoms - known.optional - set(at))
        if lost:
            faults.append(Fault("missing-atoms", f"{residue.label}: {', '.join(lost)}: missing"))
        if residue.kind == "amino-acid" and "C" in at and "OXT" not in at and not _linked(structure, at["C"], k):
            faults.append(Fault("missing-ends", f"{residue.label}: the chain ends here without OXT or a cap"))
        if not none:
            for name, count in known.hydrogens.items():
                if name in at:
                    faults.extend(_hydrogens(structure, at[name], hydrogens, count))
            for name, count in known.polar.items():
                if name in at:
                    faults.extend(_polar(structure, at[name], hydrogens[at[name]], count))
            if residue.kind == "amino-acid" and residue.standard != "PRO" and "N" in at and not hydrogens[at["N"]]:
                faults.extend(_hydrogens(structure, at["N"], hydrogens, 1))
    if none and any(residue.standard or residue.kind == "water" for residue in structure.residues):
        faults.insert(0, Fault("missing-hydrogens", "there are no hydrogens"))
    return faults


def _hydrogens(structure: Structure, atom: int, hydrogens: list[int], count: int) -> list[Fault]:
    """Return the fault of an atom with too many or too few hydrogens."""
    found = hydrogens[atom]
    if found == count:
        return []
    kind = "missing-hydrogens" if found < count else "extra-hydrogens"
    return [Fault(kind, f"{structure.label(atom)} has {found} hydrogens of {count}")]


def _polar(structure: Structure, atom: int, found: int, count: int) -> list[Fault]:
    """Return the fault of an atom other than carbon that has fewer hydrogens than in any protonation state.

    A bond to another residue, as in a disulfide or a glycan, replaces a hydrogen. A metal near a sulfur does so too.
    """
    residue = int(structure.residue[atom])
    elsewhere = sum(structure.residue[b] != residue for b in structure.neighbours[atom])
    if found + elsewhere >= count:
        return []
    if structure.elements[atom] == "S" and (
        structure.residues[residue].name.strip().upper().removeprefix("N") in THIOLATES
        or _beside_metal(structure, atom)
    ):
        return []
    text = f"{structure.label(atom)} has {found} hydrogens of {count - elsewhere}"
    return [Fault("missing-hydrogens", text)]


def _beside_metal(structure: Structure, atom: int) -> bool:
    """Whether a metal is close enough to be coordinated."""
    metals = [k for k, symbol in enumerate(structure.elements) if metal(symbol)]
    apart = np.linalg.norm(structure.positions[metals] - structure.positions[atom], axis=1)
    return bool((apart < COORDINATED).any())


def _linked(structure: Structure, atom: int, residue: int) -> bool:
    """Whether an atom is bonded to another residue."""
    return any(structure.residue[b] != residue for b in structure.neighbours[atom])


def _gaps(structure: Structure, absent: Mapping[str, str]) -> list[Fault]:
    """Find consecutive residues of one chain that are not bonded, unless one of them ends the chain."""
    faults = []
    for k, (one, other) in enumerate(zip(structure.residues, structure.residues[1:], strict=False)):
        if one.chain != other.chain or one.kind != "amino-acid" or other.kind != "amino-acid":
            continue
        c, n = structure.atom(k, "C"), structure.atom(k + 1, "N")
        if c < 0 or n < 0 or structure.atom(k, "OXT") >= 0 or n in structure.neighbours[c]:
            continue
        ended = sum(structure.elements[b] == "H" for b in structure.neighbours[n]) >= 2
        if ended:
            continue
        apart = np.linalg.norm(structure.positions[c] - structure.positions[n])
        between = other.number - one.number - 1
        lost = f"{between} residues are missing between" if between > 0 else "the chain is broken between"
        text = f"{lost} {one.label} and {other.label}, whose C and N are {apart:.2f} nm apart"
        if one.label in absent:
            text += f": {absent[one.label]} of the file's sequence"
        faults.append(Fault("gaps", text))
    return faults


def _lengths(structure: Structure) -> list[Fault]:
    """Find bonds of impossible lengths."""
    if not len(structure.bonds):
        return []
    a, b = structure.bonds.T
    radii = covalent_radii(structure.elements)
    apart, usual = np.linalg.norm(structure.positions[a] - structure.positions[b], axis=1), radii[a] + radii[b]
    wrong = np.flatnonzero(~((apart >= SHORTEST * usual) & (apart <= LONGEST * usual)))
    return [
        Fault(
            "bond-lengths",
            f"{structure.label(int(a[k]))} and {structure.label(int(b[k]))} are bonded and {apart[k]:.3f} nm apart",
        )
        for k in wrong
    ]


def _clashes(structure: Structure) -> list[Fault]:
    """Find unbonded atoms that are as close as bonded atoms."""
    from scipy.spatial import cKDTree

    if len(structure) < 2:
        return []
    symbols = sorted(set(structure.elements))
    by_symbol = dict(zip(symbols, covalent_radii(symbols), strict=True))
    radii = np.array([by_symbol[symbol] for symbol in structure.elements])
    metals = {symbol for symbol in symbols if metal(symbol)}
    pairs = cKDTree(structure.positions).query_pairs(2.0 * radii.max() + OVERLAP, output_type="ndarray")
    apart = np.linalg.norm(structure.positions[pairs[:, 0]] - structure.positions[pairs[:, 1]], axis=1)
    near = pairs[apart < radii[pairs].sum(axis=1) + OVERLAP]
    faults = []
    for a, b in near[np.lexsort((near[:, 1], near[:, 0]))].tolist():
        if b in structure.neighbours[a] or {structure.elements[a], structure.elements[b]} & metals:
            continue
        distance = np.linalg.norm(structure.positions[a] - structure.positions[b])
        text = f"{structure.label(a)} and {structure.label(b)} are {distance:.3f} nm apart and not bonded"
        faults.append(Fault("clashes", text))
    return faults
