"""Hydrogen bonds within and between molecules, found by MDAnalysis."""

import warnings
from typing import NamedTuple

import numpy as np

from articulon.conformations.mdanalysis_universe import angstroms, memory_universe
from articulon.model.atoms import Atoms
from articulon.model.box import Box

DISTANCE, ANGLE = 0.35, 150.0
"""Largest distance of donor and acceptor [nm], and smallest angle donor–hydrogen–acceptor [°]."""
GIVING, TAKING = ("N", "O"), ("N", "O")
"""Elements of donors, which carry a hydrogen, and of acceptors."""


class HydrogenBonds(NamedTuple):
    """Hydrogen bonds over time."""

    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    counts: np.ndarray
    """Number of hydrogen bonds in each frame, shape (frames,)."""
    atoms: np.ndarray
    """Donor, hydrogen and acceptor of every bond found, shape (bonds, 3)."""
    labels: tuple[str, ...]
    """Donor and acceptor of each bond: ``A:GLY7:N–A:GLU5:O``."""
    occupancy: np.ndarray
    """Fraction of the frames in which each bond exists, in descending order, shape (bonds,)."""


def hydrogen_bonds(
    atoms: Atoms, times: np.ndarray, positions: np.ndarray, box: Box | None = None, scales: np.ndarray | None = None
) -> HydrogenBonds:
    """Hydrogen bonds at positions (frames, atoms, 3) [nm], in a box whose edges are scaled by ``scales`` (frames,).

    A bond exists if the acceptor is within 0.35 nm of the donor and the angle at the hydrogen is at least 150°. Donors
    are nitrogen and oxygen with a hydrogen; acceptors are oxygen, and nitrogen with at most two bonds.
    ``MDAnalysis.analysis.hydrogenbonds`` finds them, in a periodic box by nearest images.

    Raises
    ------
    ImportError
        If MDAnalysis is missing.
    """
    from MDAnalysis.analysis.hydrogenbonds.hbond_analysis import HydrogenBondAnalysis

    partners = _partners(atoms)
    carried = {a: [b for b in partners[a] if atoms.elements[b] == "H"] for a in range(len(atoms))}
    donors = [a for a, e in enumerate(atoms.elements) if e in GIVING and carried[a]]
    hydrogens = sorted({b for a in donors for b in carried[a]})
    acceptors = [a for a, e in enumerate(atoms.elements) if e in TAKING and _can_take(atoms, a, partners[a])]
    nothing = HydrogenBonds(times, np.zeros(len(times), int), np.zeros((0, 3), int), (), np.zeros(0))
    if not donors or not acceptors or not len(positions):
        return nothing
    universe = memory_universe(atoms, times, positions, box, scales)
    found = HydrogenBondAnalysis(
        universe,
        donors_sel=_numbers(donors),
        hydrogens_sel=_numbers(hydrogens),
        acceptors_sel=_numbers(acceptors),
        d_a_cutoff=angstroms(DISTANCE),
        d_h_a_angle_cutoff=ANGLE,
        update_selections=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # MDAnalysis warns if there are none
        found.run()
    rows = np.asarray(found.results.hbonds).reshape(-1, 6)
    if not rows.size:
        return nothing
    counts = np.bincount(rows[:, 0].astype(int), minlength=len(times))
    bonds, number = np.unique(rows[:, 1:4].astype(int), axis=0, return_counts=True)
    order = np.argsort(-number, kind="stable")
    bonds = bonds[order]
    labels = tuple(f"{atoms.label(d)}–{atoms.label(a)}" for d, _, a in bonds.tolist())
    return HydrogenBonds(times, counts, bonds, labels, number[order] / len(times))


def _numbers(atoms: list[int]) -> str:
    return "index " + " ".join(str(a) for a in atoms)


def _can_take(atoms: Atoms, atom: int, partners: list[int]) -> bool:
    """Whether an atom can accept a hydrogen bond: any oxygen, and nitrogen with at most two bonds."""
    return atoms.elements[atom] == "O" or len(partners) <= 2


def _partners(atoms: Atoms) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in atoms.names]
    for a, b in atoms.bonds.tolist():
        found[a].append(b)
        found[b].append(a)
    return found
