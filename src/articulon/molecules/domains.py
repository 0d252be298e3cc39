"""The rigid domains that a user gives by chains and residue numbers."""

import re
from collections.abc import Sequence

from articulon.errors import ModelError
from articulon.molecules.structure import Structure

_RANGE = re.compile(r"(-?\d+)(?:-(-?\d+))?")


def domain_atoms(structure: Structure, domains: Sequence[str]) -> list[list[int]]:
    """Atoms of each domain; raises ModelError for one that cannot be read, is empty, or overlaps another."""
    owner: dict[int, str] = {}
    found = []
    for text in domains:
        chain, ranges = _ranges(text)
        residues = [
            k
            for k, residue in enumerate(structure.residues)
            if residue.kind in ("amino-acid", "cap", "nucleotide")
            and (chain is None or residue.chain == chain)
            and any(first <= residue.number <= last for first, last in ranges)
        ]
        if not residues:
            raise ModelError(f"domains: '{text}': the structure has no such residues")
        for k in residues:
            if k in owner:
                label = structure.residues[k].label
                raise ModelError(f"domains: {label} is in '{owner[k]}' and in '{text}'; a residue has one domain")
            owner[k] = text
        found.append([a for k in residues for a in range(structure.residues[k].start, structure.residues[k].stop)])
    return found


def _ranges(text: str) -> tuple[str | None, list[tuple[int, int]]]:
    """Chain and ranges of "A:1-29,68-117"."""
    chain, colon, rest = text.rpartition(":")
    ranges = []
    if set(chain) & set(":,"):
        rest = ""
    for part in rest.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ModelError(f"domains: '{text}': expected a chain and ranges of residue numbers, as 'A:1-29,68-117'")
        first = int(match[1])
        ranges.append((first, int(match[2]) if match[2] else first))
    return (chain.strip() if colon else None), ranges
