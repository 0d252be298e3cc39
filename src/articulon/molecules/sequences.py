"""Detection of residues that are in the sequence of a file but have no coordinates."""

import re
from typing import Any

from articulon.molecules.elements import gemmi
from articulon.molecules.structure import Structure


def unresolved(file: Any, structure: Structure) -> tuple[dict[str, str], list[str]]:
    """Return the missing residues inside chains, by the label of the residue before them, and lines of text about
    missing residues at the ends of chains.

    The sequence is that of SEQRES records or entity_poly_seq; gemmi aligns it to the residues of the chain.
    """
    package = gemmi()
    inside: dict[str, str] = {}
    ends: list[str] = []
    labels = {(r.chain, r.number, r.insertion): r.label for r in structure.residues}
    file.setup_entities()
    for chain in file[0]:
        polymer = chain.get_polymer()
        entity = file.get_entity_of(polymer) if len(polymer) else None
        if entity is None or not entity.full_sequence:
            continue
        keys = [(chain.name.strip(), r.seqid.num, r.seqid.icode.strip()) for r in polymer]
        if not any(key in labels for key in keys):
            continue
        alignment = package.align_sequence_to_polymer(entity.full_sequence, polymer, entity.polymer_type)
        at, there = 0, 0
        for count, step in re.findall(r"(\d+)([MID])", alignment.cigar_str()):
            if step == "I":
                names = " ".join(package.Entity.first_mon(name) for name in entity.full_sequence[at : at + int(count)])
                if 0 < there < len(keys):
                    inside[labels.get(keys[there - 1], "")] = names
                else:
                    place = "after" if there else "before"
                    label = labels.get(keys[there - 1 if there else 0], chain.name)
                    ends.append(f"{names}: {place} {label} of the file's sequence have no coordinates")
            at += int(count) if step in "MI" else 0
            there += int(count) if step in "MD" else 0
    return inside, ends
