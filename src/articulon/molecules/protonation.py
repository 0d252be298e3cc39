"""Protonation states of residues, chosen by the user or determined by a nearby metal."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.molecules.elements import metal
from articulon.molecules.structure import Structure

STATES: Mapping[str, Mapping[str, str]] = {
    "ASP": {"ASP": "ASP", "ASH": "ASH"},
    "GLU": {"GLU": "GLU", "GLH": "GLH"},
    "HIS": {"HID": "HID", "HIE": "HIE", "HIP": "HIP"},
    "LYS": {"LYS": "LYS", "LYN": "LYN"},
    "CYS": {"CYS": "CYS", "CYM": "CYX", "CYX": "CYX"},
}
"""Available protonation states of each template, with the name of each state in OpenMM's modeller."""
COORDINATED = 0.3
"""Largest distance between a metal and the atom whose hydrogen it replaces [nm]."""


def checked_protonation(given: Any, where: str) -> dict[str, str]:
    """Return protonation states by residue label; raise ModelError if ``given`` is anything else."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for pair in given.items() for one in pair):
        raise ModelError(
            f"{where}: protonation: expected states by residue, as {{'A:HIS12': 'HID'}}, got {shown(given)}"
        )
    return dict(given)


def variants_of(structure: Structure, given: Mapping[str, str]) -> tuple[list[str | None], list[str]]:
    """Return the variants of residues for OpenMM's modeller, and a line for each variant that depends on a metal.

    Raises
    ------
    ModelError
        For a residue that does not exist, or a state that the residue cannot have.
    """
    labels = {residue.label: k for k, residue in enumerate(structure.residues)}
    variants: list[str | None] = [None] * len(structure.residues)
    lines = []
    for k, state in _by_metals(structure).items():
        variants[k] = STATES[structure.residues[k].standard][state]
        lines.append(f"{structure.residues[k].label}: {state}, because of the metal beside it")
    for label, state in given.items():
        if label not in labels:
            raise ModelError(f"{structure.source}: protonation: there is no residue '{label}'; write it as 'A:HIS12'")
        k = labels[label]
        known = STATES.get(structure.residues[k].standard, {})
        if state not in known:
            have = f"(there are: {', '.join(known)})" if known else "(it has only one)"
            raise ModelError(f"{structure.source}: protonation: {label} has no state {shown(state)} {have}")
        variants[k] = known[state]
    return variants, lines


def _by_metals(structure: Structure) -> dict[int, str]:
    """Return the protonation states of cysteines and histidines that coordinate a metal, by residue."""
    metals = [k for k, symbol in enumerate(structure.elements) if metal(symbol)]
    if not metals:
        return {}
    found = {}
    for k, residue in enumerate(structure.residues):
        for name, state in {"CYS": {"SG": "CYM"}, "HIS": {"ND1": "HIE", "NE2": "HID"}}.get(
            residue.standard, {}
        ).items():
            atom = structure.atom(k, name)
            if atom < 0 or any(structure.elements[b] == "H" for b in structure.neighbours[atom]):
                continue
            if np.linalg.norm(structure.positions[metals] - structure.positions[atom], axis=1).min() < COORDINATED:
                found[k] = state
    return found
