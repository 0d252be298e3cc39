"""Selections of locked parts of a molecule: side chains, backbones, chains, ranges of residues, and rigid domains."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import words
from articulon.model import Model
from articulon.model.atoms import Atoms
from articulon.molecules.articulation import Articulation
from articulon.molecules.domains import domain_atoms, residues_in
from articulon.molecules.molecular_model import body_names, check_cut
from articulon.molecules.polymer_parts import backbone, side_chain
from articulon.molecules.structure import Residue, Structure

KNOWN = (
    "'side-chains', 'backbone', a chain such as 'A', a range of residue numbers such as 'A:10-20' or '10-20', "
    "'domain A:1-29,60-117' for one rigid body, 'residue LIG' for those of a name"
)


class Locked(NamedTuple):
    """The part of a molecule that one word locks."""

    word: str
    """The word that selects the part."""
    bonds: np.ndarray
    """Whether each bond is locked, shape (bonds,)."""
    rigid: tuple[tuple[int, ...], ...]
    """Groups of atoms that each become one rigid body, even if they are not connected by bonds."""


def locked_parts(structure: Structure, locked: Sequence[str], where: str) -> list[Locked]:
    """Return the parts that words select for locking; raise ModelError, naming the word, if a word is unknown or
    selects no residue."""
    return [_part(structure, text.strip(), where) for text in locked]


def locked_bodies(structure: Structure, articulation: Articulation, locked: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of bodies whose joints are locked, for ``ar.simulate(model, ..., locked=...)``.

    Parameters
    ----------
    structure, articulation
        The structure and the articulation from which the model was built.
    locked
        One word or several:

        - ``"side-chains"``: χ₁, χ₂ … and all other torsions beyond the backbone, in proteins and nucleic acids;
        - ``"backbone"``: φ, ψ, and ω where it is free; sugar and phosphate of nucleic acids;
        - ``"A"``: all torsions within a chain;
        - ``"A:10-20,30-35"``, or ``"10-20"`` for all chains: all torsions within the residues, and between consecutive
          residues;
        - ``"domain A:1-29,60-117"``: the residues as one rigid body, even if they form several segments;
        - ``"residue LIG"``: all torsions within the residues with this name.

    Returns
    -------
    tuple of str
        Names of the bodies, in the order of the bodies.

    Raises
    ------
    ModelError
        For an unknown word, and a word that selects no torsion. Also for a domain of several segments, because locked
        joints do not hold the segments together; pass such a domain to :func:`perceive`.
    """
    check_cut(structure, articulation, "locked_bodies")
    parts = locked_parts(structure, words(locked, "locked_bodies, locked"), "locked_bodies, locked")
    at = {(a, b): k for k, (a, b) in enumerate(structure.bonds.tolist())}
    axis = [at.get((min(pair), max(pair)), -1) for pair in articulation.axis.tolist()]
    names, found = body_names(structure, articulation), np.zeros(len(axis), dtype=bool)
    for part in parts:
        held = np.array([k >= 0 and bool(part.bonds[k]) for k in axis], dtype=bool)
        if not held.any():
            raise ModelError(f"locked_bodies, locked: '{part.word}': selects no torsion of this model; leave it out")
        _check_segments(structure, part, "locked_bodies, locked")
        found |= held
    return tuple(name for name, chosen in zip(names, found, strict=True) if chosen)


def bodies_of_words(model: Model, locked: Sequence[str], where: str) -> tuple[str, ...]:
    """Return names of bodies. If the model has molecules, words that select parts of them are replaced by names.

    Names of bodies, and prefixes that end in a star, are not changed. Raises the errors of :func:`locked_bodies`.
    """
    atoms = model.atoms
    if atoms is None:
        return tuple(locked)
    named = set(model.names)
    given = [text for text in locked if text in named or text.endswith("*")]
    said = [text for text in locked if text not in given]
    structure = _structure_of(atoms) if said else None
    for text in said:
        assert structure is not None
        part = _part(structure, text.strip(), where)
        bonds = {(a, b) for a, b in structure.bonds[part.bonds].tolist()}
        turning = {body: (min(four[1:3]), max(four[1:3])) for body, four in atoms.dihedrals.items()}
        chosen = [body for body, bond in turning.items() if bond in bonds]
        if not chosen:
            raise ModelError(f"{where}: '{text}': selects no torsion of this model; leave it out")
        _check_segments(structure, part, where)
        given.extend(model.names[body] for body in sorted(chosen))
    return tuple(dict.fromkeys(given))


def _check_segments(structure: Structure, part: Locked, where: str) -> None:
    """Raise ModelError for a rigid body of several segments, because no joint within it holds the segments together."""
    if not part.rigid:
        return
    inside = {a for atoms in part.rigid for a in atoms}
    start = next(iter(inside))
    seen, front = {start}, [start]
    while front:
        front = [b for a in front for b in structure.neighbours[a] if b in inside and b not in seen]
        front = list(dict.fromkeys(front))
        seen.update(front)
    if seen != inside:
        raise ModelError(
            f"{where}: '{part.word}': no joint holds its segments together; pass it to perceive, or to model.locked of "
            "a case, which make it one rigid body"
        )


def _structure_of(atoms: Atoms) -> Structure:
    """Return a structure of the atoms of a model, in which words can be looked up."""
    stops = atoms.first.tolist()
    residues = tuple(
        Residue(name, number, insertion, chain, kind, "", stops[k], stops[k + 1])  # type: ignore[arg-type]
        for k, (name, number, insertion, chain, kind) in enumerate(
            zip(
                atoms.residue_names,
                atoms.residue_numbers,
                atoms.insertions,
                atoms.chains,
                atoms.residue_kinds,
                strict=True,
            )
        )
    )
    places = np.zeros((len(atoms), 3))
    return Structure("the model", atoms.names, atoms.elements, residues, places, atoms.masses, atoms.bonds)


def _part(structure: Structure, text: str, where: str) -> Locked:
    if text == "side-chains":
        return _some(structure, text, side_chain(structure), where)
    if text == "backbone":
        return _some(structure, text, backbone(structure), where)
    kind, _, rest = text.partition(" ")
    if kind == "residue" and rest:
        chosen = [k for k, residue in enumerate(structure.residues) if residue.name == rest.strip()]
        if not chosen:
            known = ", ".join(dict.fromkeys(residue.name for residue in structure.residues[:1000]))
            raise ModelError(f"{where}: '{text}': the structure has no residue of this name (there are: {known})")
        inside = np.zeros(len(structure.residues), dtype=bool)
        inside[chosen] = True
        of = structure.residue[structure.bonds]
        return _some(structure, text, (of[:, 0] == of[:, 1]) & inside[of[:, 0]], where)
    if kind == "domain" and rest:
        atoms = domain_atoms(structure, [rest.strip()], where)[0]
        return Locked(text, _within(structure, sorted(set(structure.residue[atoms].tolist()))), (tuple(atoms),))
    chains = list(dict.fromkeys(residue.chain for residue in structure.residues))
    if text in chains and text:
        chosen = [k for k, residue in enumerate(structure.residues) if residue.chain == text]
    elif not text[-1:].isdigit():
        have = ", ".join(f"'{chain}'" for chain in chains if chain)
        there = f"; there are the chains {have}" if have else "; the file names no chains"
        raise ModelError(f"{where}: '{text}': is not a known word: {KNOWN}{there}")
    else:
        chosen = residues_in(structure, text, where)
    return Locked(text, _within(structure, chosen), ())


def _within(structure: Structure, residues: list[int]) -> np.ndarray:
    """Bonds with both atoms in the given residues."""
    inside = np.zeros(len(structure.residues), dtype=bool)
    inside[residues] = True
    return np.asarray(inside[structure.residue[structure.bonds]].all(axis=1))


def _some(structure: Structure, text: str, bonds: np.ndarray, where: str) -> Locked:
    if not bonds.any():
        raise ModelError(f"{where}: '{text}': {structure.source} has no bonds there; leave it out")
    return Locked(text, bonds, ())
