"""Parser of rigid domains and other ranges of residues, given by chains and residue numbers."""

import re
from collections.abc import Sequence

from articulon.errors import ModelError
from articulon.molecules.polymer_parts import POLYMERS
from articulon.molecules.structure import Structure

_RANGE = re.compile(r"(-?\d+)(?:-(-?\d+))?")


def domain_atoms(structure: Structure, domains: Sequence[str], where: str = "domains") -> list[list[int]]:
    """Return the atoms of each domain; raise ModelError for a domain that is malformed, empty, or overlaps another."""
    owner: dict[int, str] = {}
    found = []
    for text in domains:
        residues = [k for k in residues_in(structure, text, where) if structure.residues[k].kind in POLYMERS]
        if not residues:
            raise ModelError(f"{where}: '{text}': the structure has no such residues")
        for k in residues:
            if k in owner:
                label = structure.residues[k].label
                raise ModelError(f"{where}: {label} is in '{owner[k]}' and in '{text}'; a residue has one domain")
            owner[k] = text
        found.append([a for k in residues for a in range(structure.residues[k].start, structure.residues[k].stop)])
    return found


def residues_in(structure: Structure, text: str, where: str) -> list[int]:
    """Return the residues that a text such as "A:1-29,68-117" (or "1-29", without a chain) selects; raise ModelError if
    there are none."""
    chain, ranges = _ranges(text, where)
    if chain is not None and all(residue.chain != chain for residue in structure.residues):
        known = [name for name in dict.fromkeys(residue.chain for residue in structure.residues) if name]
        there = f"there are: {', '.join(known)}" if known else "the file names none: leave out the chain and the colon"
        raise ModelError(f"{where}: '{text}': there is no chain '{chain}' ({there})")
    found = [
        k
        for k, residue in enumerate(structure.residues)
        if (chain is None or residue.chain == chain) and any(first <= residue.number <= last for first, last in ranges)
    ]
    if not found:
        raise ModelError(f"{where}: '{text}': the structure has no such residues")
    return found


def _ranges(text: str, where: str) -> tuple[str | None, list[tuple[int, int]]]:
    """Return the chain and the ranges in a text such as "A:1-29,68-117"."""
    chain, colon, rest = text.rpartition(":")
    ranges = []
    if set(chain) & set(":,"):
        rest = ""
    for part in rest.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ModelError(f"{where}: '{text}': expected a chain and ranges of residue numbers, as 'A:1-29,68-117'")
        first = int(match[1])
        ranges.append((first, int(match[2]) if match[2] else first))
    return (chain.strip() if colon else None), ranges
