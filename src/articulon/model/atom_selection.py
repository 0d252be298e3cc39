"""Selection of atoms in MDAnalysis's language."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.model.atoms import Atoms

ANGSTROM = 10.0
"""Ångström per nanometre."""
ALL = "all"
"""Selection of all atoms, which does not need MDAnalysis."""


def mdanalysis(what: str) -> Any:
    """Return the package MDAnalysis; raises ModelError if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import MDAnalysis
    except ImportError:
        raise ModelError(f"{what} needs MDAnalysis: pip install 'articulon[analysis]'") from None
    return MDAnalysis


def universe(
    atoms: Atoms, positions: np.ndarray, what: str, charges: np.ndarray | None = None, bonds: np.ndarray | None = None
) -> Any:
    """Return the atoms as an MDAnalysis Universe, in ångström, with names, elements, masses, residues, chains and
    bonds.

    Parameters
    ----------
    atoms
        The atoms.
    positions
        Positions of the atoms [nm], shape (atoms, 3).
    what
        Purpose for which MDAnalysis is needed: the start of the message if it is not installed.
    charges
        Charges [e], shape (atoms,); omitted if unknown.
    bonds
        Bonded pairs of atoms, shape (bonds, 2); by default all bonds of the atoms.
    """
    package = mdanalysis(what)
    # Consecutive residues of the same chain become a segment; a chain has two segments if other chains come before
    # its water.
    chains = np.array(atoms.chains, dtype=object)
    starts = np.flatnonzero(np.concatenate([[True], chains[1:] != chains[:-1]])) if chains.size else np.zeros(0, int)
    segment = np.cumsum(np.isin(np.arange(chains.size), starts)) - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = package.Universe.empty(
            len(atoms),
            n_residues=len(atoms.residue_names),
            n_segments=starts.size,
            atom_resindex=atoms.residue,
            residue_segindex=segment,
            trajectory=True,
        )
        standard = [kind in ("amino-acid", "cap", "nucleotide") for kind in atoms.residue_kinds]
        count = len(atoms)
        for name, values in {
            "names": list(atoms.names),
            "types": list(atoms.elements),
            "elements": list(atoms.elements),
            "masses": atoms.masses,
            "resnames": list(atoms.residue_names),
            "resids": list(atoms.residue_numbers),
            "resnums": list(atoms.residue_numbers),
            "icodes": list(atoms.insertions),
            "segids": chains[starts].tolist(),
            "chainIDs": [atoms.chains[r] for r in atoms.residue.tolist()],
            "record_types": ["ATOM" if standard[r] else "HETATM" for r in atoms.residue.tolist()],
            "altLocs": [""] * count,
            "occupancies": np.ones(count),
            "tempfactors": np.zeros(count),
            "formalcharges": np.zeros(count, dtype=int),
            **({} if charges is None else {"charges": charges}),
        }.items():
            made.add_TopologyAttr(name, values)
        made.add_TopologyAttr("bonds", [tuple(pair) for pair in (atoms.bonds if bonds is None else bonds).tolist()])
        made.atoms.positions = ANGSTROM * np.asarray(positions)
    return made


def selected_atoms(
    atoms: Atoms, positions: np.ndarray, selection: str, where: str, edges: np.ndarray | None = None
) -> np.ndarray:
    """Return the indices of the atoms that a selection in MDAnalysis's language chooses, in ascending order.

    Parameters
    ----------
    atoms
        The atoms.
    positions
        Positions for selections such as ``around 5 protein`` [nm], shape (atoms, 3).
    selection
        Selection, such as ``"protein"``, ``"name CA"`` or ``"resid 10:20 and backbone"``; ``"all"`` is every atom.
    where
        Key or argument with which messages begin.
    edges
        Edges of the box as rows [nm], shape (3, 3), for distances to nearest images; None if there is no box.

    Raises
    ------
    ModelError
        For a selection that MDAnalysis does not understand or that is empty, and if MDAnalysis is not installed.
    """
    if selection.strip() == ALL:
        return np.arange(len(atoms))
    made = universe(atoms, positions, f"{where}: a selection")
    if edges is not None:
        made.dimensions = box_of(edges)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = made.select_atoms(selection)
    except Exception as reason:
        raise ModelError(f"{where}: cannot understand the selection {selection!r}: {reason}") from None
    if not len(found):
        raise ModelError(
            f"{where}: {selection!r} selects nothing among the model's {len(atoms)} atoms; use MDAnalysis's words, "
            "such as 'protein', 'name CA' or 'resid 10:20'"
        )
    return np.asarray(found.indices, dtype=np.int64)


def box_of(edges: np.ndarray) -> np.ndarray:
    """Lengths [Å] and angles [degrees] of a box with edges as rows [nm], in MDAnalysis's format, shape (6,)."""
    from MDAnalysis.lib.mdamath import triclinic_box

    return np.asarray(triclinic_box(*(ANGSTROM * np.asarray(edges))), dtype=np.float64)
