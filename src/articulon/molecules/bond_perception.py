"""Detection of bonds: in standard residues by templates, in ligands and links by records of the file or by
distances."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from articulon.errors import ModelError
from articulon.molecules.elements import covalent_radii, metal
from articulon.molecules.structure import Residue, Structure
from articulon.molecules.templates import template

LINK = 0.2
"""Largest length of a peptide or phosphodiester bond [nm]; the usual lengths are 0.133 and 0.161 nm."""
DISULFIDE = 0.25
"""Largest length of a disulfide bond [nm]; the usual length is 0.205 nm."""
SLACK = 0.045
"""Distance beyond the sum of covalent radii up to which atoms of ligands count as bonded [nm] (the rule of Meng and
Lewis, J. Comput. Chem. 12, 891, 1991, with a tolerance of 0.045 nm, as in Open Babel)."""
HYDROGEN = 0.15
"""Largest distance of a hydrogen from its heavy atom [nm]."""


def bonded(structure: Structure, explicit: Sequence[tuple[int, int]] = ()) -> Structure:
    """Return a copy with all bonds; bonds that were inferred are listed in ``inferred``.

    Parameters
    ----------
    structure
        Atoms and residues; existing bonds are ignored.
    explicit
        Pairs of atoms that records in the file declare as bonded.

    Raises
    ------
    ModelError
        For a hydrogen without a neighbour, or an atom that is not in its residue's template; the message names the
        atom.
    """
    recorded = {(min(pair), max(pair)) for pair in explicit}
    found: set[tuple[int, int]] = set()
    inferred: list[str] = []
    unknown: list[str] = []
    for k, residue in enumerate(structure.residues):
        atoms = range(residue.start, residue.stop)
        heavy = [a for a in atoms if structure.elements[a] != "H"]
        if residue.standard:
            known = template(residue.standard)
            at = {structure.names[a]: a for a in heavy}
            unknown.extend(structure.label(a) for name, a in at.items() if name not in known.atoms)
            found.update(_pair(at[a], at[b]) for a, b in known.bonds if a in at and b in at)
        elif residue.kind == "ligand" and len(heavy) > 1:
            found.update(_ligand_bonds(structure, k, heavy, recorded, inferred))
        found.update(_hydrogen_bonds(structure, residue.label, heavy, atoms))
    if unknown:
        raise ModelError(
            f"{structure.source}: {', '.join(unknown[:8])}: no atom of this name is in the template of its residue; "
            "rename it, or give the residue a name of its own, so that it counts as a ligand"
        )
    found.update(_links(structure))
    found.update(_disulfides(structure, inferred))
    found.update(_recorded_links(structure, recorded - found, inferred))
    bonds = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    residues = _modified(structure, found, inferred)
    return replace(structure, residues=residues, bonds=bonds, inferred=(*structure.inferred, *inferred))


def _modified(structure: Structure, found: set[tuple[int, int]], inferred: list[str]) -> tuple[Residue, ...]:
    """Return the residues. Residues without a template that are linked into a chain of amino acids become amino
    acids."""
    residues = list(structure.residues)
    joined = {
        int(structure.residue[atom])
        for pair in found
        for atom in pair
        if structure.residue[pair[0]] != structure.residue[pair[1]] and {structure.names[a] for a in pair} == {"C", "N"}
    }
    for k in sorted(joined):
        residue = residues[k]
        backbone = [structure.atom(k, name) for name in ("N", "CA", "C")]
        if residue.kind == "ligand" and all(_pair(a, b) in found for a, b in pairwise(backbone)):
            residues[k] = residue._replace(kind="amino-acid")
            inferred.append(f"{residue.label}: a modified amino acid, by its N, CA and C in a chain")
    return tuple(residues)


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _distance(structure: Structure, a: int, b: int) -> float:
    return float(np.linalg.norm(structure.positions[a] - structure.positions[b]))


def _hydrogen_bonds(structure: Structure, label: str, heavy: list[int], atoms: range) -> set[tuple[int, int]]:
    """Return bonds from each hydrogen to the nearest heavy atom of its residue, independent of its name."""
    hydrogens = [a for a in atoms if structure.elements[a] == "H"]
    if not hydrogens:
        return set()
    if not heavy:
        if len(hydrogens) == 2 and _distance(structure, *hydrogens) < HYDROGEN:
            return {_pair(*hydrogens)}
        raise ModelError(f"{structure.source}: {label} has only hydrogens; leave it out")
    apart = np.linalg.norm(structure.positions[hydrogens][:, None] - structure.positions[heavy][None], axis=2)
    nearest = apart.argmin(axis=1)
    far = np.flatnonzero(apart.min(axis=1) > HYDROGEN)
    if far.size:
        h = int(far[0])
        residue = structure.residues[structure.residue[hydrogens[h]]]
        known = template(residue.standard) if residue.standard else None
        there = {structure.names[a] for a in heavy}
        lost = ", ".join(sorted(known.atoms - known.optional - there)) if known else ""
        raise ModelError(
            f"{structure.source}: {structure.label(hydrogens[h])} is {apart[h].min():.3f} nm from the nearest heavy "
            f"atom of its residue, {structure.names[heavy[nearest[h]]]}; a bond to hydrogen is at most {HYDROGEN} nm"
            + (f"; {residue.label}: {lost}: missing" if lost else "")
        )
    return {_pair(h, heavy[n]) for h, n in zip(hydrogens, nearest.tolist(), strict=True)}


def _ligand_bonds(
    structure: Structure, k: int, heavy: list[int], recorded: set[tuple[int, int]], inferred: list[str]
) -> set[tuple[int, int]]:
    """Return the bonds between heavy atoms of a residue without template: the bonds that records of the file give for
    this residue, or, if there are none, bonds by distance."""
    residue, members = structure.residues[k], set(heavy)
    given = {pair for pair in recorded if set(pair) <= members}
    if given:
        inferred.append(f"{residue.label}: bonds are from the file's records ({len(given)} between heavy atoms)")
        return given
    radii = covalent_radii([structure.elements[a] for a in heavy])
    apart = np.linalg.norm(structure.positions[heavy][:, None] - structure.positions[heavy][None], axis=2)
    near = np.argwhere(np.triu(apart < radii[:, None] + radii[None] + SLACK, 1))
    inferred.append(f"{residue.label}: bonds are inferred from distances ({len(near)} between heavy atoms)")
    return {_pair(heavy[a], heavy[b]) for a, b in near.tolist()}


def _links(structure: Structure) -> set[tuple[int, int]]:
    """Peptide and phosphodiester bonds between consecutive residues."""
    found = set()
    for k, (one, other) in enumerate(zip(structure.residues, structure.residues[1:], strict=False)):
        if one.chain != other.chain:
            continue
        ends = ("O3'", "P") if one.kind == "nucleotide" else ("C", "N")
        if not _in_chain(structure, k) or not _in_chain(structure, k + 1):
            continue
        if one.standard in ("NME", "NH2") or other.standard == "ACE":
            continue
        a, b = structure.atom(k, ends[0]), structure.atom(k + 1, ends[1])
        if a >= 0 and b >= 0 and _distance(structure, a, b) < LINK:
            found.add(_pair(a, b))
    return found


def _in_chain(structure: Structure, residue: int) -> bool:
    """Return whether a residue can be part of a chain; for a modified amino acid this requires N, CA and C."""
    kind = structure.residues[residue].kind
    if kind == "ligand":
        return all(structure.atom(residue, name) >= 0 for name in ("N", "CA", "C"))
    return kind in ("amino-acid", "cap", "nucleotide")


def _disulfides(structure: Structure, inferred: list[str]) -> set[tuple[int, int]]:
    """Return the disulfide bonds, found by the distance between sulfur atoms of cysteines that carry no hydrogen."""
    sulfur = []
    for k, residue in enumerate(structure.residues):
        names = structure.names[residue.start : residue.stop]
        if residue.standard == "CYS" and "SG" in names and not {"HG", "HG1"} & set(names):
            sulfur.append(structure.atom(k, "SG"))
    found: set[tuple[int, int]] = set()
    used: set[int] = set()
    pairs = [(_distance(structure, a, b), a, b) for i, a in enumerate(sulfur) for b in sulfur[i + 1 :]]
    for apart, a, b in sorted(pairs):
        if apart >= DISULFIDE:
            break
        if used & {a, b}:
            raise ModelError(
                f"{structure.source}: {structure.label(a)} and {structure.label(b)} are {apart:.3f} nm apart, but one "
                "of them already has a disulfide; correct the coordinates"
            )
        used |= {a, b}
        found.add(_pair(a, b))
        inferred.append(f"{structure.label(a)}-{structure.label(b)}: a disulfide, by its length of {apart:.3f} nm")
    return found


def _recorded_links(structure: Structure, recorded: set[tuple[int, int]], inferred: list[str]) -> set[tuple[int, int]]:
    """Return the bonds between residues that only records of the file declare."""
    found = set()
    for a, b in sorted(recorded):
        if structure.residue[a] == structure.residue[b]:
            continue
        elements = [structure.elements[a], structure.elements[b]]
        name = f"{structure.label(a)}-{structure.label(b)}"
        apart, radii = _distance(structure, a, b), covalent_radii(elements)
        if any(metal(element) for element in elements):
            inferred.append(
                f"{name}: the file's record of a bond to a metal does not become a bond; forces must hold the atoms "
                "together"
            )
        elif apart > radii.sum() + SLACK:
            inferred.append(f"{name}: the file's record of a bond is left out: the atoms are {apart:.3f} nm apart")
        else:
            found.add((a, b))
            inferred.append(f"{name}: bonded, by a record of the file")
    return found
