"""φ and ψ of peptides, classes of residues with separate Ramachandran plots, and all torsions of a model."""

from typing import NamedTuple

import numpy as np

from articulon.conformations.backbones import NONE, Backbone
from articulon.model import Model
from articulon.model.atoms import Atoms

CLASSES = ("general", "glycine", "proline", "pre-proline")
"""Classes of residues by their allowed φ and ψ (Lovell et al., Proteins 50, 437, 2003); a residue before a proline is
pre-proline unless it is glycine or proline itself."""
TWOFOLD = {("PHE", "chi2"), ("TYR", "chi2"), ("ASP", "chi2"), ("GLU", "chi3")}
"""Residues and torsions with twofold symmetry."""


class BackboneTorsions(NamedTuple):
    """φ and ψ over time."""

    residue: np.ndarray
    """Number of each residue, shape (residues,)."""
    labels: tuple[str, ...]
    """Chain, name and number of each residue: ``A:TRP2``."""
    classes: tuple[str, ...]
    """Class of each residue, one of :data:`CLASSES`."""
    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    phi: np.ndarray
    """Dihedral C–N–CA–C [rad] from −π to π, NaN at the first residue of a chain, shape (frames, residues)."""
    psi: np.ndarray
    """Dihedral N–CA–C–N [rad] from −π to π, NaN at the last residue of a chain, shape (frames, residues)."""


def backbone_torsions(atoms: Atoms, backbone: Backbone, times: np.ndarray, positions: np.ndarray) -> BackboneTorsions:
    """φ and ψ of all residues with a backbone, at positions (frames, atoms, 3)."""
    phi = dihedrals(positions, np.stack([backbone.before, backbone.n, backbone.ca, backbone.c], axis=1))
    psi = dihedrals(positions, np.stack([backbone.n, backbone.ca, backbone.c, backbone.after], axis=1))
    numbers = backbone.residue.tolist()
    labels = tuple(atoms.residue_label(r) for r in numbers)
    classes = tuple(class_of(atoms, backbone, k) for k in range(len(numbers)))
    return BackboneTorsions(backbone.residue, labels, classes, times, phi, psi)


def class_of(atoms: Atoms, backbone: Backbone, entry: int) -> str:
    """Class of a residue, from its name and that of the next one."""
    name = atoms.residue_names[int(backbone.residue[entry])]
    if name in ("GLY", "PRO"):
        return "glycine" if name == "GLY" else "proline"
    after = int(backbone.following[entry])
    return "pre-proline" if after != NONE and _is_proline(atoms, int(backbone.residue[after])) else "general"


def _is_proline(atoms: Atoms, residue: int) -> bool:
    return atoms.residue_names[residue] == "PRO"


def dihedrals(positions: np.ndarray, fours: np.ndarray) -> np.ndarray:
    """Dihedral angles, IUPAC sign [rad], of the atoms ``fours`` (n, 4) at positions (frames, atoms, 3), shape (frames,
    n); NaN if an atom is :data:`NONE`."""
    known = (fours != NONE).all(axis=1)
    i, j, k, m = (positions[:, column] for column in np.where(known[:, None], fours, 0).T)
    along = k - j
    near, far = np.cross(i - j, along), np.cross(m - k, along)
    length = np.linalg.norm(along, axis=2)
    sine = (np.cross(near, far) * along).sum(axis=2)
    angles = np.arctan2(sine, length * (near * far).sum(axis=2))
    return np.where(known, angles, np.nan)


class JointTorsions(NamedTuple):
    """Torsions that are coordinates of a model, in the order of the residues."""

    names: tuple[str, ...]
    """Names, such as ``phi:A:TRP2`` or ``CB-OG:A:SER1``."""
    angles: np.ndarray
    """Values of the coordinates, not wrapped [rad], shape (frames, torsions)."""
    folds: np.ndarray
    """Symmetry number of each torsion: 3 for methyl and ammonium groups, 2 for carboxylates and the rings of Phe and
    Tyr, otherwise 1, shape (torsions,)."""


def joint_torsions(model: Model, q: np.ndarray) -> JointTorsions:
    """The torsions that are coordinates of a model with atoms, at coordinates (frames, nq)."""
    atoms = model.atoms
    assert atoms is not None
    bodies = sorted(atoms.torsions, key=lambda body: int(atoms.residue[atoms.dihedrals[body][1]]))
    columns = [int(model.forest.q_start[model.link[body]]) for body in bodies]
    hydrogens = np.zeros(len(atoms), dtype=int)
    for a, b in atoms.bonds.tolist():
        hydrogens[a] += atoms.elements[b] == "H"
        hydrogens[b] += atoms.elements[a] == "H"
    folds = []
    for body in bodies:
        _, j, k, _ = atoms.dihedrals[body]
        name = atoms.torsions[body].partition(":")[0]
        residue = atoms.residue_names[int(atoms.residue[j])]
        folds.append(3 if max(hydrogens[j], hydrogens[k]) == 3 else 2 if (residue, name) in TWOFOLD else 1)
    return JointTorsions(
        tuple(atoms.torsions[body] for body in bodies), np.asarray(q)[:, columns], np.array(folds, dtype=int)
    )
