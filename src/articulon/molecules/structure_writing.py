"""Write structures as PDB or mmCIF files, with gemmi."""

from pathlib import Path
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import array, clipped, path_of
from articulon.model.box import Box
from articulon.molecules.elements import ANGSTROM, gemmi
from articulon.molecules.structure import Structure, check_structure


def write_structure(structure: Structure, path: str | Path, positions: np.ndarray | None = None) -> None:
    """Write a structure as a ``.pdb`` or a ``.cif`` file, optionally with other positions of its atoms.

    In a PDB file, bonds that templates do not contain (those of ligands and disulfides) are written as CONECT records,
    and a periodic box as a CRYST1 record.

    Parameters
    ----------
    structure
        The structure.
    path
        The file; its ending chooses the format.
    positions
        Other positions of the atoms [nm], shape (atoms, 3), such as those of the sites of a model.

    Raises
    ------
    ModelError
        For another ending, or positions of another shape.
    """
    check_structure(structure, "write_structure")
    path = path_of(path, "write_structure, path")
    places = structure.positions
    if positions is not None:
        places = array(positions, structure.positions.shape, f"{path}: positions")
    package = gemmi()
    file = package.Structure()
    if structure.box is not None:
        file.cell, file.spacegroup_hm = _cell(structure.box, package), "P 1"
    model = file.find_or_add_model(1)
    for k, residue in enumerate(structure.residues):
        if not k or residue.chain != structure.residues[k - 1].chain:
            chain = model.add_chain(package.Chain(residue.chain))
        group = package.Residue()
        group.name = residue.name
        group.seqid = package.SeqId(residue.number, residue.insertion or " ")
        group.het_flag = "A" if residue.kind in ("amino-acid", "cap", "nucleotide") else "H"
        for a in range(residue.start, residue.stop):
            atom = package.Atom()
            atom.name, atom.element = structure.names[a], package.Element(structure.elements[a])
            atom.pos = package.Position(*(places[a] / ANGSTROM).tolist())
            atom.serial, atom.occ = a + 1, 1.0
            group.add_atom(atom)
        chain.add_residue(group)
    templated = [bool(residue.standard) or residue.kind == "water" for residue in structure.residues]
    for a, b in structure.bonds.tolist():
        known = templated[structure.residue[a]] and templated[structure.residue[b]]
        if not known or {structure.names[a], structure.names[b]} == {"SG"}:
            file.add_conect(a + 1, b + 1, 1)
    try:
        _write(file, path, package)
    except (OSError, RuntimeError) as error:
        raise ModelError(f"{clipped(path)}: cannot be written: {error}") from None


def _cell(box: Box, package: Any) -> Any:
    """Return gemmi's cell of a box: lengths and angles."""
    edges = box.vectors / ANGSTROM
    lengths = np.linalg.norm(edges, axis=1)
    cosines = edges @ edges.T / np.outer(lengths, lengths)
    angles = np.degrees(np.arccos(cosines[[1, 0, 0], [2, 2, 1]]))
    return package.UnitCell(*lengths.tolist(), *angles.tolist())


def _write(file: Any, path: Path, package: Any) -> None:
    if path.suffix == ".cif":
        file.setup_entities()
        file.make_mmcif_document().write_file(str(path))
    elif path.suffix == ".pdb":
        options = package.PdbWriteOptions(
            minimal=True, conect_records=True, preserve_serial=True, ter_records=False, end_record=True
        )
        file.write_pdb(str(path), options)
    else:
        raise ModelError(f"{path}: expected a name that ends in .pdb or .cif")
