"""Side chains of amino acids in standard geometry, divided into links at the rotatable bonds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from articulon.molecules import residue_geometry as geometry
from articulon.molecules.bond_perception import bonded
from articulon.molecules.clusters import ClusterGraph
from articulon.molecules.placement import add_hydrogens, add_side_chain
from articulon.molecules.rigidity import rigidity
from articulon.molecules.structure import Residue, Structure

_ANGLE = math.radians(geometry.N_CA_C)
BACKBONE = {
    "N": geometry.N_CA * np.array([math.cos(_ANGLE), math.sin(_ANGLE), 0.0]),
    "CA": np.zeros(3),
    "C": np.array([geometry.CA_C, 0.0, 0.0]),
}
"""Backbone of an L-amino acid: CA at the origin, C along x, N in the plane [nm]."""
ROTAMERS = {**geometry.ROTAMERS, "PHE": (-65.0, -85.0)}
"""Torsions χ of a frequent rotamer of each residue [degrees]; for phenylalanine it is the most frequent one outside
helices."""
FORMAL_CHARGES = {"ARG": ("NE", 1.0), "LYS": ("NZ", 1.0)}
"""Link that carries the charge of a residue at neutral pH, and this charge [e]."""


class Link(NamedTuple):
    """A rigid part of a side chain, which rotates about a bond."""

    name: str
    """Name of the first atom of the link, at the end of the bond."""
    parent: str
    """Name of the link from which the bond starts; "" for the backbone."""
    start: str
    """Name of the atom from which the bond starts."""
    atoms: tuple[str, ...]
    """Names of its atoms."""


@cache
def links(residue: str) -> tuple[Link, ...]:
    """Rigid parts of a side chain, from the backbone outwards."""
    rotamer = [math.radians(angle) for angle in ROTAMERS[residue]]
    places = {"CA": BACKBONE["CA"], **place(residue, BACKBONE, rotamer)}
    names, positions = tuple(places), np.array(list(places.values()))
    whole = Residue(residue, 1, "", "", "amino-acid", residue, 0, len(names))
    no_bonds, weights = np.zeros((0, 2), dtype=np.int64), np.ones(len(names))
    elements = tuple(atom[0] for atom in names)
    structure = bonded(Structure(residue, names, elements, (whole,), positions, weights, no_bonds))
    turns = rigidity(structure).turns
    # The bond to the alpha carbon can rotate, although the rest of the backbone behind it is not included here.
    turns |= (structure.bonds == names.index("CA")).any(axis=1)
    graph = ClusterGraph(structure, turns)
    members, edges = graph.members(), graph.edges()
    root = graph.of(names.index("CA"))
    of, found = {root: ""}, []
    outwards = [root]
    for cluster in outwards:
        for other, (start, first) in sorted(edges[cluster], key=lambda edge: edge[1]):
            if other not in of:
                of[other] = names[first]
                atoms = (names[first], *(names[k] for k in members[other] if k != first))
                found.append(Link(names[first], of[cluster], names[start], atoms))
                outwards.append(other)
    return tuple(found)


def place(residue: str, backbone: Mapping[str, np.ndarray], torsions: Sequence[float]) -> dict[str, np.ndarray]:
    """Positions [nm] of the atoms of a side chain on a backbone.

    Parameters
    ----------
    residue
        A standard name, such as ``LEU``.
    backbone
        Positions of ``N``, ``CA`` and ``C`` [nm].
    torsions
        χ1, χ2, … [rad].
    """
    found = {name: np.asarray(backbone[name], dtype=float) for name in BACKBONE}
    add_side_chain(found, residue, [math.degrees(angle) for angle in torsions])
    add_hydrogens(found, residue, residue, (False, False), None)
    return {name: x for name, x in found.items() if name not in {*BACKBONE, "H", "HA"}}
