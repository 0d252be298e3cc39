"""Backbones and torsions of the side chains of a receptor site, taken from a structure file."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from articulon.cases.builders.side_chains import links
from articulon.errors import ModelError
from articulon.molecules.structure import Structure
from articulon.molecules.structure_faults import FAULTS
from articulon.molecules.structure_reading import read_structure
from articulon.molecules.templates import chi_angles
from articulon.molecules.torsion_names import dihedral


class Backbone(NamedTuple):
    """Backbone atoms and torsions of a side chain."""

    residue: str
    """Three-letter residue name."""
    atoms: dict[str, np.ndarray]
    """Positions of N, CA and C [nm]."""
    torsions: tuple[float, ...]
    """Torsions χ [rad]."""


def backbones_of(file: str, chain: str, residues: list[tuple[str, int]], radius: float) -> list[Backbone]:
    """Backbones and torsions of residues.

    All positions are moved so that the centre of the alpha carbons of the chain is at (radius, 0, 0). The centre of the
    alpha carbons of the residues is then farther out on the x axis.

    Parameters
    ----------
    file
        PDB or mmCIF file; hydrogens, missing residues and other contents of the chain are ignored.
    chain
        Name of the chain.
    residues
        Three-letter names and numbers of the residues.
    radius
        Distance of the centre from the origin [nm].

    Raises
    ------
    ModelError
        If an atom is missing; the message names the residue and the atom.
    """
    structure = read_structure(file, chains=(chain,), altloc="highest", accept=tuple(FAULTS))
    found = [_residue(structure, chain, name, number) for name, number in residues]
    alphas = structure.positions[[k for k, name in enumerate(structure.names) if name == "CA"]]
    middle = alphas.mean(axis=0)
    outwards = np.mean([atoms["CA"] for atoms in found], axis=0) - middle
    size = float(np.linalg.norm(outwards))
    if size < 1e-6:
        raise ModelError(f"{file}: the residues of the site are not on one side of the chain")
    turn = _turned_to_x(outwards / size)
    result = []
    for (name, _), atoms in zip(residues, found, strict=True):
        placed = {atom: turn @ (x - middle) + np.array([radius, 0.0, 0.0]) for atom, x in atoms.items()}
        torsions = tuple(dihedral(np.array([placed[atom] for atom in four]), (0, 1, 2, 3)) for four in _chi(name))
        result.append(Backbone(name, {atom: placed[atom] for atom in ("N", "CA", "C")}, torsions))
    return result


def _chi(name: str) -> list[tuple[str, ...]]:
    """Names of the atoms of χ1, χ2, …"""
    return [atoms for _, atoms in chi_angles(name).values()]


def _residue(structure: Structure, chain: str, name: str, number: int) -> dict[str, np.ndarray]:
    """Positions of the atoms that determine a backbone and the torsions of its side chain."""
    file = Path(structure.source).name
    here = [k for k, r in enumerate(structure.residues) if r.number == number and not r.insertion]
    if not here:
        raise ModelError(f"{file}: chain {chain} has no residue {number}; choose model.chain or model.residues")
    residue = structure.residues[here[0]]
    if residue.standard != name:
        raise ModelError(f"{file}: residue {residue.label} is not {name}; choose model.chain or model.residues")
    wanted = dict.fromkeys([*(atom for four in _chi(name) for atom in four), "C"])
    missing = [atom for atom in wanted if structure.atom(here[0], atom) < 0]
    if missing:
        raise ModelError(
            f"{file}: residue {residue.label} lacks {', '.join(missing)}, so that the torsions of its "
            f"{len(links(name))} links are not known; build it with a modelling program"
        )
    return {atom: structure.positions[structure.atom(here[0], atom)] for atom in wanted}


def _turned_to_x(direction: np.ndarray) -> np.ndarray:
    """Rotation by the smallest angle that takes a unit vector to the x axis, shape (3, 3)."""
    x = np.array([1.0, 0.0, 0.0])
    v, c = np.cross(direction, x), float(direction @ x)
    if c < -1.0 + 1e-12:
        return np.diag([-1.0, -1.0, 1.0])
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + skew + skew @ skew / (1.0 + c)
