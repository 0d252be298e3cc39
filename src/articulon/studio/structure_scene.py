"""Three-dimensional scene of the atoms of a PDB or mmCIF file: balls, bonds, and the backbone line of each chain. The
models of the file are the frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from articulon.building import ModelBuilder
from articulon.model.joints import Free, Xyz
from articulon.molecules.bond_perception import SLACK
from articulon.molecules.elements import covalent_radii, metal
from articulon.molecules.model_reading import read_models
from articulon.molecules.structure import Structure
from articulon.studio import colours
from articulon.studio.file_frames import FileFrames, chosen
from articulon.studio.scene import ATOM, STICK, Scene, rods
from articulon.studio.solids import Solids, Springs
from articulon.studio.stage import Frame
from articulon.studio.traces import BACKBONE, FEWEST, Trace

FARTHEST = {"CA": 0.45, "C4'": 0.8}
"""Largest distance between the atoms that represent consecutive residues of a chain [nm]; usual distances are 0.38 and
0.6."""
TRACE = 0.5
"""Width of the backbone line of a chain, relative to the length of a bond."""
BYTES = 12
"""Size of an atom in a frame [bytes]."""
UNITS = "Da-nm-ps"


def structure_frames(file: Path) -> FileFrames:
    """Read a structure file for the page that plays it.

    Raises
    ------
    ModelError
        For a file that cannot be read, and for models that differ in their atoms.
    """
    structure, positions, models = read_models(file)
    bonds = bonds_by_distance(structure.elements, positions[0])
    numbers = chosen(len(models), BYTES * len(structure))
    labels = [f"model {models[number]}" for number in numbers]
    note = f"{len(structure):,} atoms in {len(structure.residues):,} residues"
    builder = ModelBuilder(units=UNITS)
    upright = np.array([[1.0, 0.0, 0.0, 0.0]])
    if len(models) == 1:
        # With a single model nothing moves, so one body carries all atoms.
        builder.add_body("atoms", mass=1.0, inertia=1.0, joint=Free())
        body, local = np.zeros(len(structure), dtype=np.int64), positions[0]
        frames = [Frame(np.zeros((1, 3)), upright, 0.0, None)]
    else:
        builder.add_bodies(len(structure), mass=1.0, joint=Xyz(), names="atom")
        body, local = np.arange(len(structure)), np.zeros((len(structure), 3))
        upright = np.repeat(upright, len(structure), axis=0)
        frames = [Frame(positions[number], upright, float(number), None) for number in numbers]
    lengths = np.linalg.norm(positions[0][bonds[:, 1]] - positions[0][bonds[:, 0]], axis=1)
    typical = float(np.median(lengths)) if lengths.size else 0.15
    painted = colours.of_elements(structure.elements)
    alone = ~np.isin(np.arange(len(structure)), bonds)
    balls = Solids.at(body, local, np.where(alone, 2.0 * ATOM, ATOM) * typical, painted)
    sticks = Solids.none()
    traces: list[Trace] = []
    if len(models) == 1:
        sticks = _sticks(bonds, local, typical, painted)
    elif len(bonds):
        grey = np.tile(colours.EDGE, (len(bonds), 1))
        traces.append(Trace(body, local, bonds, grey, 2.0 * STICK * typical))
    backbone = _backbone(structure, positions[0], body, local, TRACE * typical)
    traces += [] if backbone is None else [backbone]
    springs = Springs.of([])
    scene = Scene(builder.build(), balls, sticks, Solids.none(), springs, (), None, typical, traces=tuple(traces))
    return FileFrames(file.name, scene, frames, labels, note, len(models))


def bonds_by_distance(elements: tuple[str, ...], places: np.ndarray) -> np.ndarray:
    """Return the pairs of atoms that are drawn as bonded, shape (bonds, 2). Two atoms are bonded if they are closer
    than the sum of their covalent radii and a tolerance (Meng and Lewis, J. Comput. Chem. 12, 891, 1991). Metals and
    pairs of hydrogens are left out.

    Parameters
    ----------
    elements
        Chemical symbol of each atom.
    places
        Positions [nm], shape (atoms, 3).
    """
    kinds, kind = np.unique(np.array(elements), return_inverse=True)
    radii = np.array([0.0 if metal(name) else float(covalent_radii([name])[0]) for name in kinds.tolist()])[kind]
    hydrogen = np.array(elements) == "H"
    if not radii.any():
        return np.zeros((0, 2), dtype=np.int64)
    pairs = cKDTree(places).query_pairs(2.0 * float(radii.max()) + SLACK, output_type="ndarray").reshape(-1, 2)
    a, b = pairs.T
    near = np.linalg.norm(places[a] - places[b], axis=1) < radii[a] + radii[b] + SLACK
    near &= (radii[a] > 0.0) & (radii[b] > 0.0) & ~(hydrogen[a] & hydrogen[b])
    found = np.sort(pairs[near], axis=1)
    return np.asarray(found[np.lexsort((found[:, 1], found[:, 0]))], dtype=np.int64)


def _sticks(bonds: np.ndarray, places: np.ndarray, typical: float, painted: np.ndarray) -> Solids:
    """Return half a stick for each end of a bond, in the colour of its atom."""
    parts = []
    for end, other in (bonds.T, bonds.T[::-1]):
        middle = 0.5 * (places[end] + places[other])
        parts.append(rods(np.zeros(len(end), dtype=np.int64), places[end], middle, STICK * typical, painted[end]))
    return Solids.of(parts)


def _backbone(
    structure: Structure, places: np.ndarray, body: np.ndarray, local: np.ndarray, width: float
) -> Trace | None:
    """Return lines between consecutive residues of chains, coloured by chain; None if there are too few residues."""
    chains = {name: k for k, name in enumerate(dict.fromkeys(residue.chain for residue in structure.residues))}
    pairs: list[tuple[int, int]] = []
    painted: list[int] = []
    before: tuple[int, str, str] | None = None
    for residue in structure.residues:
        name = BACKBONE.get(residue.kind, "")
        atoms = structure.names[residue.start : residue.stop]
        at = residue.start + atoms.index(name) if name in atoms else None
        if at is not None and before is not None and before[1:] == (residue.chain, name):
            if np.linalg.norm(places[at] - places[before[0]]) < FARTHEST[name]:
                pairs.append((before[0], at))
                painted.append(chains[residue.chain])
        before = None if at is None else (at, residue.chain, name)
    if len(pairs) < FEWEST - 1:
        return None
    return Trace(body, local, np.array(pairs), colours.cycled(np.array(painted)), width)
