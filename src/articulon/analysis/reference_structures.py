"""Reference structures: the positions of the atoms of a run in a structure file."""

from pathlib import Path

import numpy as np

from articulon.conformations.backbones import alignment_atoms
from articulon.errors import ArticulonError
from articulon.inputs import path_of
from articulon.model.atoms import Atoms
from articulon.molecules.structure import Structure
from articulon.molecules.structure_faults import FAULTS
from articulon.molecules.structure_reading import read_structure


def reference_positions(atoms: Atoms, reference: str | Path | Structure, where: str) -> np.ndarray:
    """Return the positions of atoms in a reference structure [nm], shape (atoms, 3), with NaN for atoms that it lacks.

    Atoms are matched by chain, residue number, insertion code and name. If the two structures share no chain name and
    each has only one chain, chain names are ignored. Residue names may differ. The first model of a file and the
    locations of highest occupancy are used; hydrogens and side chains may be missing.

    Parameters
    ----------
    atoms
        Atoms of the run.
    reference
        PDB or mmCIF file, or a structure.
    where
        Prefix of error messages.

    Raises
    ------
    ArticulonError
        If the file cannot be read, or contains fewer than three of the atoms that are used for superposition.
    """
    structure = reference if isinstance(reference, Structure) else _read(path_of(reference, where, ArticulonError))
    chains, theirs = set(atoms.chains), {residue.chain for residue in structure.residues}
    by_chain = bool(chains & theirs) or max(len(chains), len(theirs)) > 1
    place: dict[tuple[str, int, str, str], int] = {}
    for residue in structure.residues:
        key = (residue.chain if by_chain else "", residue.number, residue.insertion)
        for a in range(residue.start, residue.stop):
            place.setdefault((*key, structure.names[a]), a)
    found = np.full((len(atoms), 3), np.nan)
    for a, r in enumerate(atoms.residue.tolist()):
        key = (atoms.chains[r] if by_chain else "", atoms.residue_numbers[r], atoms.insertions[r])
        there = place.get((*key, atoms.names[a]))
        if there is not None:
            found[a] = structure.positions[there]
    wanted = alignment_atoms(atoms)
    known = np.isfinite(found[wanted]).all(axis=1)
    if known.sum() < 3:
        missing = ", ".join(atoms.label(a) for a in wanted[~known][:5].tolist())
        raise ArticulonError(
            f"{where}: superposition needs three atoms, but {structure.source} has {int(known.sum())} of the "
            f"{wanted.size} atoms for it, and lacks {missing}{' …' if (~known).sum() > 5 else ''}; the file must have "
            "the run's chain names and residue numbers"
        )
    return found


def _read(path: Path) -> Structure:
    return read_structure(path, model=_first_model(path), altloc="highest", accept=tuple(FAULTS))


def _first_model(path: Path) -> int | None:
    """Return the number of the first model in a file with several models, and None for other files."""
    from articulon.molecules.elements import gemmi

    try:
        file = gemmi().read_structure(str(path))
    except (OSError, RuntimeError, ValueError):
        return None  # errors are reported when the file is read
    return int(file[0].num) if len(file) > 1 else None
