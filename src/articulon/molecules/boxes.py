"""Periodic boxes of structures: reading from files, and checks of distances across their faces."""

from itertools import product
from typing import Any

import numpy as np

from articulon.errors import ArticulonError, ModelError
from articulon.model.box import Box
from articulon.molecules.elements import ANGSTROM, covalent_radii, metal
from articulon.molecules.structure import Structure

APART = 0.3
"""Minimum distance between atoms of a solute and its periodic images [nm]; it is less than the width of a water
molecule."""
OVERLAP = 0.02
"""Distance beyond the sum of covalent radii below which unbonded atoms clash [nm]."""
SHOWN = 20
"""Largest number of pairs in a message."""


def box_of(vectors: Any) -> Box:
    """Return a box with three edges [nm], the first along x and the second in the plane of x and y.

    Multiples of whole edges are subtracted so that no tilt exceeds half an edge. Raises ModelError for invalid edges.
    """
    edges = np.array([list(row) for row in vectors], dtype=float)
    if edges.shape != (3, 3) or np.abs(np.triu(edges, 1)).max() > 1e-9 * np.abs(edges).max():
        raise ModelError("box: expected three edges, the first along x and the second in the plane of x and y")
    for row, other in ((2, 1), (2, 0), (1, 0)):
        if edges[other, other]:
            edges[row] -= np.rint(edges[row, other] / edges[other, other] * (1.0 - 1e-12)) * edges[other]
    tilts = (edges[1, 0], edges[2, 0], edges[2, 1])
    try:
        return Box(lengths=tuple(np.diag(edges).tolist()), tilts=tuple(float(tilt) for tilt in tilts))
    except ArticulonError as error:
        raise ModelError(f"box: {error}") from None


def box_of_file(file: Any, source: str) -> Box:
    """Return the box in a file read by gemmi; raise ModelError if there is none, or if symmetry operations of the file
    create copies."""
    cell = file.cell
    lengths = np.array([cell.a, cell.b, cell.c]) * ANGSTROM
    if not cell.is_crystal() or (lengths <= 0.1001).all():
        raise ModelError(
            f"{source}: box: the file has no CRYST1 record or cell with the size of its box; give its lengths, or "
            "padding"
        )
    group = str(file.spacegroup_hm or "P 1").replace(" ", "").upper()
    if group not in ("P1", "1"):
        raise ModelError(
            f"{source}: box: the cell is that of a crystal ({file.spacegroup_hm}), whose symmetry copies are not in "
            "the file; give padding, or a box"
        )
    return box_of(np.array(cell.orth.mat.tolist()).T * ANGSTROM)


def shown_box(box: Box) -> str:
    """Format the lengths of a box for messages."""
    return " x ".join(f"{float(length):.3g}" for length in box.lengths) + " nm"


def check_images(structure: Structure, count: int | None = None) -> None:
    """Raise ModelError, naming two atoms, if the solute comes too close to its own periodic image. The solute is the
    first ``count`` atoms."""
    from scipy.spatial import cKDTree

    assert structure.box is not None
    x = structure.positions[:count]
    tree = cKDTree(x)
    for away in _shifts(structure.box):
        near, _ = tree.query(x + away, distance_upper_bound=APART)
        if np.isfinite(near).any():
            k = int(np.argmin(near))
            raise ModelError(
                f"{structure.source}: the box of {shown_box(structure.box)} is too small: {structure.label(k)} is "
                f"{near[k]:.3f} nm from a periodic image of the same molecules, nearer than {APART} nm; give a larger "
                "box, or padding"
            )


def check_overlaps(structure: Structure) -> None:
    """Raise ModelError, naming the atoms, if atoms overlap with periodic images of other atoms.

    Only images that are shifted by at most one edge in each direction are checked. Molecules may lie inside or outside
    the box, as long as they are whole.
    """
    from scipy.spatial import cKDTree

    assert structure.box is not None
    edges = structure.box.vectors
    x = structure.positions
    inside = x - np.floor(x @ np.linalg.inv(edges)) @ edges
    symbols = sorted(set(structure.elements))
    size = dict(zip(symbols, covalent_radii(symbols), strict=True))
    radii = np.array([size[symbol] for symbol in structure.elements])
    reach = 2.0 * radii.max() + OVERLAP
    fractions = inside @ np.linalg.inv(edges)
    margin = reach * np.linalg.norm(np.linalg.inv(edges), axis=0)
    tree = cKDTree(inside)
    found: dict[tuple[int, int], float] = {}
    bonded = {(a, b) for a, b in structure.bonds.tolist()}
    for shift in product((-1, 0, 1), repeat=3):
        if shift == (0, 0, 0):
            continue
        moved = fractions + np.array(shift)
        near = np.flatnonzero(((moved > -margin) & (moved < 1.0 + margin)).all(axis=1))
        for k, partners in zip(near, tree.query_ball_point(moved[near] @ edges, reach), strict=True):
            for other in partners:
                pair = (min(int(k), other), max(int(k), other))
                apart = float(np.linalg.norm(moved[k] @ edges - inside[other]))
                if apart < radii[k] + radii[other] + OVERLAP and pair not in bonded and not _metal(structure, pair):
                    found[pair] = min(apart, found.get(pair, apart))
    if found:
        lines = [
            f"{structure.source}: {structure.label(a)} and a periodic image of {structure.label(b)} are {apart:.3f} nm "
            "apart"
            for (a, b), apart in sorted(found.items())[:SHOWN]
        ]
        if len(found) > SHOWN:
            lines.append(f"{structure.source}: and {len(found) - SHOWN} more")
        raise ModelError(
            "\n".join([*lines, f"the box of {shown_box(structure.box)} is too small for its contents; correct the box"])
        )


def _metal(structure: Structure, pair: tuple[int, int]) -> bool:
    return any(metal(structure.elements[k]) for k in pair)


def _shifts(box: Box) -> list[np.ndarray]:
    """Return the translations to half of the neighbouring cells; the other half follows by symmetry."""
    return [np.array(shift) @ box.vectors for shift in product((-1, 0, 1), repeat=3) if shift > (0, 0, 0)]
