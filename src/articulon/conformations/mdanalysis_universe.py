"""Atoms and their frames as an in-memory MDAnalysis Universe."""

from typing import Any

import numpy as np

from articulon.model.atoms import Atoms
from articulon.model.box import Box

ANGSTROMS = 10.0
"""Ångströms per nanometre."""


def angstroms(length: float) -> float:
    """A length [nm] in ångströms."""
    return ANGSTROMS * length


def memory_universe(
    atoms: Atoms, times: np.ndarray, positions: np.ndarray, box: Box | None = None, scales: np.ndarray | None = None
) -> Any:
    """A ``MDAnalysis.Universe`` of atoms at positions (frames, atoms, 3) [nm], with names, elements, masses, residues,
    chains as segments, and bonds. Its lengths are in ångströms and its times in ps, as usual in MDAnalysis. ``scales``
    (frames,) are factors on the box edges in each frame, by default one.

    Raises
    ------
    ImportError
        If MDAnalysis is missing.
    """
    import MDAnalysis
    from MDAnalysis.coordinates.memory import MemoryReader

    chains = list(dict.fromkeys(atoms.chains))
    universe = MDAnalysis.Universe.empty(
        len(atoms),
        n_residues=len(atoms.residue_names),
        n_segments=len(chains),
        atom_resindex=atoms.residue,
        residue_segindex=[chains.index(chain) for chain in atoms.chains],
        trajectory=False,
    )
    given = {
        "names": list(atoms.names),
        "elements": list(atoms.elements),
        "types": list(atoms.elements),
        "masses": atoms.masses.copy(),
        "chainIDs": [atoms.chains[r] for r in atoms.residue.tolist()],
        "resnames": list(atoms.residue_names),
        "resids": list(atoms.residue_numbers),
        "resnums": list(atoms.residue_numbers),
        "icodes": list(atoms.insertions),
        "segids": chains,
    }
    for name, values in given.items():
        universe.add_TopologyAttr(name, values)
    universe.add_TopologyAttr("bonds", [tuple(pair) for pair in atoms.bonds.tolist()])
    interval = float(times[1] - times[0]) if len(times) > 1 else 1.0
    universe.load_new(
        (ANGSTROMS * np.asarray(positions)).astype(np.float32),
        format=MemoryReader,
        dt=interval or 1.0,
        dimensions=None if box is None or not box.periodic.all() else dimensions_of(box, len(times), scales),
    )
    return universe


def dimensions_of(box: Box, frames: int, scales: np.ndarray | None = None) -> np.ndarray:
    """Lengths of a box's edges [Å] and the angles between them [°] in each frame, in MDAnalysis's form, shape
    (frames, 6)."""
    from MDAnalysis.lib.mdamath import triclinic_box

    found = np.tile(np.asarray(triclinic_box(*(ANGSTROMS * np.asarray(box.vectors))), dtype=np.float32), (frames, 1))
    if scales is not None:
        found[:, :3] *= scales[:, None]
    return found
