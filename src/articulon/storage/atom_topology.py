"""Writer of `topology.pdb` for a molecular model. The file holds its atoms; viewers and MDAnalysis open it with the
trajectory.

Names, residues, chains and elements are those of the structure. Because PDB has fixed columns, these rules apply:

- **chains** of more than one letter are written in the segment columns, which MDAnalysis reads;
- **serial numbers** above 99,999 are written in hybrid-36, without CONECT records, which cannot hold them;
- **residue numbers** restart at 0 after 9999, as is usual; MDAnalysis continues the count;
- **CONECT** records give the bonds of ligands and disulfides, which are in no template of a standard residue;
- **CRYST1** is the box at time zero, if it is periodic in all directions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from articulon.model import Model
from articulon.model.atoms import Atoms
from articulon.model.box import Box
from articulon.storage.atomic_writing import write_text
from articulon.storage.topology import ANGSTROM, LARGEST_DECIMAL, RESIDUES, ascii_text, fitted, hybrid36

STANDARD = ("amino-acid", "cap", "nucleotide")
"""Kinds of residues whose atoms are written as ATOM records."""


def write_atom_topology(path: Path, model: Model, some: np.ndarray, positions: np.ndarray, title: str = "") -> None:
    """Write a PDB file of some atoms of a model.

    Parameters
    ----------
    path
        The file, which is replaced atomically.
    model
        The model.
    some
        Indices of the atoms that are written, in ascending order.
    positions
        Positions of the atoms [length], shape (atoms, 3).
    title
        Text of the TITLE record.

    Raises
    ------
    ArticulonError
        If the file cannot be written.
    """
    write_text(path, "\n".join(atom_records(model, some, positions, title)) + "\n")


def atom_records(model: Model, some: np.ndarray, positions: np.ndarray, title: str = "") -> Iterator[str]:
    """Yield the lines of the file."""
    atoms, box = model.atoms, model.box
    assert atoms is not None
    if title:
        yield f"TITLE     {ascii_text(title)[:70]}"
    if box is not None and box.periodic.all():
        yield _crystal(box)
    drawn, remark, _ = fitted(positions, "nm")
    if remark:
        yield f"REMARK 250 COORDINATES: {ascii_text(remark)}"
    numbered = len(some) <= LARGEST_DECIMAL
    if not numbered:
        yield f"REMARK 250 NO CONECT RECORDS: MORE THAN {LARGEST_DECIMAL} ATOMS."
    segments = max(map(len, atoms.chains), default=0) > 1
    for serial, (a, (x, y, z)) in enumerate(
        zip(some.tolist(), (np.round(drawn, 3) + 0.0).tolist(), strict=True), start=1
    ):
        r = int(atoms.residue[a])
        element, chain = atoms.elements[a].upper(), ascii_text(atoms.chains[r])
        yield (
            f"{'ATOM  ' if atoms.residue_kinds[r] in STANDARD else 'HETATM'}{hybrid36(serial, 5)} "
            f"{_name(ascii_text(atoms.names[a]), element)} {ascii_text(atoms.residue_names[r])[:4]:>3s}"
            f"{'' if len(atoms.residue_names[r]) > 3 else ' '}{chain[-1:] or ' '}"
            f"{atoms.residue_numbers[r] % RESIDUES if atoms.residue_numbers[r] >= 0 else atoms.residue_numbers[r]:4d}"
            f"{atoms.insertions[r][:1] or ' '}   {x:8.3f}{y:8.3f}{z:8.3f}{1.0:6.2f}{0.0:6.2f}      "
            f"{chain[:4] if segments else '':<4s}{element[:2]:>2s}"
        )
    if numbered:
        yield from _connections(atoms, some)
    yield "END"


def _name(name: str, element: str) -> str:
    """Return the four columns of an atom name. An element of one letter is in the second column."""
    return (
        f"{name[:4]:<4s}"
        if len(name) > 3 or (len(element) > 1 and name.upper().startswith(element))
        else f" {name:<3s}"
    )


def _crystal(box: Box) -> str:
    """Return the CRYST1 record: lengths of the edges [Å], and the angles between them."""
    edges = box.vectors * ANGSTROM["nm"]
    lengths = np.linalg.norm(edges, axis=1)
    angles = [
        math.degrees(math.acos(float(edges[i] @ edges[j] / (lengths[i] * lengths[j]))))
        for i, j in ((1, 2), (0, 2), (0, 1))
    ]
    return "CRYST1" + "".join(f"{x:9.3f}" for x in lengths) + "".join(f"{x:7.2f}" for x in angles) + " P 1           1"


def bonds_to_write(atoms: Atoms) -> np.ndarray:
    """Return for each bond whether it must be written, shape (bonds,). Bonds of ligands, and bonds between sulfur atoms
    of two residues, must be written because no template contains them."""
    ligand = np.array([kind == "ligand" for kind in atoms.residue_kinds], dtype=bool)[atoms.residue]
    sulfur = np.array([name == "SG" for name in atoms.names], dtype=bool)
    first, second = atoms.bonds.T
    return np.asarray(ligand[first] | ligand[second] | (sulfur[first] & sulfur[second]))


def _connections(atoms: Atoms, some: np.ndarray) -> Iterator[str]:
    place = np.full(len(atoms), -1)
    place[some] = np.arange(1, some.size + 1)
    pairs = place[atoms.bonds[bonds_to_write(atoms)]] if atoms.bonds.size else np.zeros((0, 2), dtype=np.int64)
    partners: dict[int, list[int]] = {}
    for a, b in pairs[(pairs > 0).all(axis=1)].tolist():
        partners.setdefault(a, []).append(b)
        partners.setdefault(b, []).append(a)
    for a in sorted(partners):
        bonded = sorted(partners[a])
        for start in range(0, len(bonded), 4):
            yield "".join([f"CONECT{a:5d}", *(f"{b:5d}" for b in bonded[start : start + 4])])
