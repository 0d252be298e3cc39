"""Hydrogens of ligands, defined by SMILES and placed by RDKit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped, shown
from articulon.molecules.editing import NewAtom, edited
from articulon.molecules.elements import ANGSTROM
from articulon.molecules.structure import Structure

N_H = 0.101
"""Length of the N–H bond of a peptide [nm]."""
MISSING = "this needs RDKit: pip install 'articulon[ligands]'"


def rdkit_chemistry() -> Any:
    """Return RDKit's chemistry module; raise ModelError, saying what to install, if it is missing."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise ModelError(MISSING) from None
    rdBase.DisableLog("rdApp.*")
    return Chem


def checked_ligands(given: Any, where: str) -> dict[str, str]:
    """Return the SMILES of ligands by residue name; raise ModelError if ``given`` is anything else."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for pair in given.items() for one in pair):
        raise ModelError(
            f"{where}: ligands: expected SMILES by residue name, as {{'BNZ': 'c1ccccc1'}}, got {shown(given)}"
        )
    return dict(given)


def with_ligand_hydrogens(structure: Structure, ligands: Mapping[str, str]) -> Structure:
    """Return a copy in which each residue of the given names has its hydrogens, placed by RDKit in standard geometry.

    Raises
    ------
    ModelError
        For SMILES that cannot be read, names that no residue has, and a residue whose heavy atoms and bonds differ from
        its SMILES.
    """
    added: dict[int, list[NewAtom]] = {}
    gone: list[int] = []
    lines = []
    for name, smiles in ligands.items():
        chosen = [k for k, residue in enumerate(structure.residues) if residue.name == name]
        if not chosen:
            known = ", ".join(dict.fromkeys(r.name for r in structure.residues if not r.standard and r.kind != "water"))
            raise ModelError(f"{structure.source}: ligands: there is no residue {shown(name)} (there are: {known})")
        for k in chosen:
            molecule, heavy = chemistry(structure, k, smiles)
            residue = structure.residues[k]
            have = [a for a in range(residue.start, residue.stop) if structure.elements[a] == "H"]
            if len(have) == sum(atom.GetSymbol() == "H" for atom in molecule.GetAtoms()):
                continue
            gone.extend(have)
            added[k] = _hydrogens(structure, molecule, heavy)
            lines.append(f"{residue.label}: {len(added[k])} hydrogens were added by RDKit, from its SMILES")
    return replace(edited(structure, added, gone), inferred=(*structure.inferred, *lines)) if added else structure


def chemistry(structure: Structure, k: int, smiles: str) -> tuple[Any, list[int]]:
    """Return RDKit's molecule of a residue with the bond orders of its SMILES, and the atoms of the structure that
    correspond to the molecule's heavy atoms.

    The heavy atoms of the residue come first, then atoms of other residues that are bonded to it, then all hydrogens.
    """
    chem = rdkit_chemistry()
    from rdkit.Chem import AllChem

    residue = structure.residues[k]
    where = f"{structure.source}: ligands: {residue.label}"
    pattern = chem.MolFromSmiles(smiles)
    if pattern is None:
        raise ModelError(f"{where}: RDKit cannot read the SMILES {shown(smiles)}")
    heavy = [a for a in range(residue.start, residue.stop) if structure.elements[a] != "H"]
    bare = chem.RWMol()
    place = {a: bare.AddAtom(chem.Atom(structure.elements[a])) for a in heavy}
    for a, b in structure.bonds.tolist():
        if a in place and b in place:
            bare.AddBond(place[a], place[b], chem.BondType.SINGLE)
    shape = chem.Conformer(len(heavy))
    for a, index in place.items():
        shape.SetAtomPosition(index, (structure.positions[a] / ANGSTROM).tolist())
    bare.AddConformer(shape)
    try:
        ordered = AllChem.AssignBondOrdersFromTemplate(pattern, bare.GetMol())
    except ValueError as error:
        said = clipped(error)
        raise ModelError(
            f"{where}: its {len(heavy)} heavy atoms and their bonds differ from those of {shown(smiles)}, which has "
            f"{pattern.GetNumAtoms()} atoms: {said}"
        ) from None
    if ordered.GetNumAtoms() != pattern.GetNumAtoms():
        raise ModelError(
            f"{where}: has {ordered.GetNumAtoms()} heavy atoms, but {shown(smiles)} has {pattern.GetNumAtoms()}"
        )
    joined = _with_outside(chem, ordered, structure, k, heavy)
    whole = chem.AddHs(joined, addCoords=True, onlyOnAtoms=list(range(len(heavy))))
    chem.AssignStereochemistryFrom3D(whole)
    return whole, heavy


def _with_outside(chem: Any, molecule: Any, structure: Structure, k: int, heavy: list[int]) -> Any:
    """Return the molecule in which hydrogens are replaced by the atoms of other residues that are bonded to it."""
    joined = chem.RWMol(molecule)
    shape = joined.GetConformer()
    for index, a in enumerate(heavy):
        for b in structure.neighbours[a]:
            if structure.residue[b] != k:
                new = joined.AddAtom(chem.Atom(structure.elements[b]))
                joined.GetAtomWithIdx(new).SetNoImplicit(True)
                joined.AddBond(index, new, chem.BondType.SINGLE)
                shape.SetAtomPosition(new, (structure.positions[b] / ANGSTROM).tolist())
    found = joined.GetMol()
    found.UpdatePropertyCache(strict=False)
    chem.GetSymmSSSR(found)
    return found


def _hydrogens(structure: Structure, molecule: Any, heavy: list[int]) -> list[NewAtom]:
    places = np.array(molecule.GetConformer().GetPositions()) * ANGSTROM
    taken = {structure.names[a] for a in heavy}
    found, number = [], 0
    for atom in molecule.GetAtoms():
        if atom.GetIdx() < len(heavy) or atom.GetSymbol() != "H":
            continue
        number += 1
        while f"H{number}" in taken:
            number += 1
        partner = heavy[atom.GetNeighbors()[0].GetIdx()]
        place = _in_plane(structure, partner)
        found.append(
            NewAtom(f"H{number}", "H", places[atom.GetIdx()] if place is None else place, (structure.names[partner],))
        )
    return found


def _in_plane(structure: Structure, atom: int) -> np.ndarray | None:
    """Return the direction of the hydrogen on a peptide nitrogen, which points away from both neighbours; None for
    other atoms."""
    around = [b for b in structure.neighbours[atom] if structure.elements[b] != "H"]
    other = any(structure.names[b] == "C" and structure.residue[b] != structure.residue[atom] for b in around)
    if structure.names[atom] != "N" or not other or len(around) != 2:
        return None
    arms = structure.positions[atom] - structure.positions[around]
    out = (arms / np.linalg.norm(arms, axis=1)[:, None]).sum(axis=0)
    return np.asarray(structure.positions[atom] + N_H * out / np.linalg.norm(out))
