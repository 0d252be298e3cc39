"""Drawings of molecules: the trace of a chain as a tube coloured by secondary structure, and other atoms as sticks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from articulon.conformations.backbones import heavy_atoms, traces
from articulon.conformations.secondary_structure import SecondaryStructure
from articulon.model.atoms import Atoms
from articulon.report import style
from articulon.report.molecule_figures import HELIX, STRAND, rgb

FINE = 12
"""Number of pieces of a tube between two residues."""
WIDTHS, STICK = (2.4, 5.0, 4.4), 1.8
"""Widths of the tubes of loops, helices and strands, and of sticks [points]."""
MOST_LINES = 1200
"""Number of pieces above which the drawing is a bitmap, because more lines would make the page too large."""
ELEMENTS = {"N": style.BLUE, "O": style.VERMILION, "S": style.ORANGE, "P": style.ORANGE, "C": "#6e6e6e"}
"""Colours of sticks by element."""
FADED = 0.55
"""Fraction of white in the colour of the farthest piece."""


class Pieces(NamedTuple):
    """Straight pieces of a drawing."""

    ends: np.ndarray
    """Positions of the ends, shape (pieces, 2, 3)."""
    colours: np.ndarray
    """Colours, shape (pieces, 3)."""
    widths: np.ndarray
    """Widths [points], shape (pieces,)."""
    overlap: np.ndarray
    """Length that is added to each piece at both ends to close gaps, relative to the piece's length, shape
    (pieces,)."""


def pieces_of(atoms: Atoms, positions: np.ndarray, codes: np.ndarray) -> Pieces:
    """Build tubes through the traces of chains, and sticks for the heavy atoms of all residues outside of chains.

    Parameters
    ----------
    atoms
        The atoms to draw.
    positions
        Positions of the atoms, shape (atoms, 3).
    codes
        Secondary structure of each residue, 0 for loops, 1 for helices and 2 for strands, shape (residues,).
    """
    found, colours = [], np.array([rgb(c) for c in (LOOP_TUBE, HELIX, STRAND)])
    traced: set[int] = set()
    for chain in traces(atoms):
        if chain.size < 3:
            continue
        residues = atoms.residue[chain]
        traced.update(residues.tolist())
        place, fine = _curve(positions[chain])
        own = codes[residues[np.minimum(np.round(fine).astype(int), chain.size - 1)]]
        middle = own[:-1]
        ends = np.stack([place[:-1], place[1:]], axis=1)
        found.append(Pieces(ends, colours[middle], np.array(WIDTHS)[middle], np.ones(len(ends))))
    found.append(_sticks(atoms, positions, traced))
    return Pieces(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


LOOP_TUBE = "#9a9a9a"
"""Colour of loop tubes, darker than in maps because they are thin."""


def _curve(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a smooth curve through points, and the coordinate of each of its points along the chain, counted in
    residues."""
    from scipy.interpolate import CubicSpline

    fine = np.linspace(0.0, len(x) - 1.0, (len(x) - 1) * FINE + 1)
    return CubicSpline(np.arange(len(x)), x, bc_type="natural")(fine), fine


def _sticks(atoms: Atoms, positions: np.ndarray, traced: set[int]) -> Pieces:
    """Build two half sticks for each bond between heavy atoms of residues that are not part of a tube."""
    heavy = set(heavy_atoms(atoms).tolist())
    ends, colours = [], []
    for a, b in atoms.bonds.tolist():
        own = {int(atoms.residue[a]), int(atoms.residue[b])}
        capping = bool(traced) and any(atoms.residue_kinds[r] == "cap" for r in own)
        if {a, b} <= heavy and not traced & own and not capping:
            middle = 0.5 * (positions[a] + positions[b])
            for atom in (a, b):
                ends.append((positions[atom], middle))
                colours.append(rgb(ELEMENTS.get(atoms.elements[atom], style.GREEN)))
    n = len(ends)
    return Pieces(np.array(ends).reshape(n, 2, 3), np.array(colours).reshape(n, 3), np.full(n, STICK), np.full(n, 0.05))


def draw_pieces(axes: Axes, pieces: Pieces, half: tuple[float, float]) -> None:
    """Draw pieces seen along z, near ones on top, far ones faded; ``half`` is half the width and half the height of the
    view."""
    depth = pieces.ends[:, :, 2].mean(axis=1)
    order = np.argsort(depth)
    near = (depth - depth.min()) / max(float(np.ptp(depth)), 1e-12)
    faded = 1.0 - (1.0 - pieces.colours) * (1.0 - FADED * (1.0 - near))[:, None]
    flat = pieces.ends[:, :, :2]
    along = pieces.overlap[:, None] * (flat[:, 1] - flat[:, 0])
    # Each piece has an outline, a body and a highlight. Outlines are shorter than bodies, so that the bodies of
    # neighbours cover the outlines between them. The outer edges of the tube remain and separate it from the
    # background.
    layers = [np.stack([flat[:, 0] - e * along, flat[:, 1] + e * along], axis=1) for e in (0.6, 1.0, 1.0)]
    lines = np.stack(layers, axis=1)[order].reshape(-1, 2, 2)
    colours = np.stack([0.45 * faded, faded, 1.0 - 0.55 * (1.0 - faded)], axis=1)[order].reshape(-1, 3)
    widths = np.stack([pieces.widths + 1.2, pieces.widths, 0.3 * pieces.widths], axis=1)[order].reshape(-1)
    drawn = LineCollection(list(lines), colors=colours, linewidths=widths, capstyle="butt")
    drawn.set_rasterized(len(depth) > MOST_LINES)
    axes.add_collection(drawn)
    axes.set_aspect("equal")
    axes.set(xlim=(-half[0], half[0]), ylim=(-half[1], half[1]))
    axes.set_axis_off()


def residue_codes(structure: SecondaryStructure | None, frame: int, residues: int) -> np.ndarray:
    """Secondary structure of each residue in an analysed frame; the code of a loop if it is not known."""
    codes = np.zeros(residues, dtype=int)
    if structure is not None:
        codes[structure.residue] = structure.codes[frame]
    return codes


def principal_view(positions: np.ndarray) -> np.ndarray:
    """Return the rotation that aligns the longest axis of points (n, 3) with x and the shortest with z, shape (3,
    3)."""
    away = positions - positions.mean(axis=0)
    _, vectors = np.linalg.eigh(away.T @ away)
    axes = vectors[:, ::-1]
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return np.asarray(axes)
