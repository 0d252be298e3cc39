"""Validation of the positions, boxes and masses given for chains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.chains.chain_sizes import bond_vectors
from articulon.chains.chain_table import Chains
from articulon.errors import ArticulonError
from articulon.inputs import array, floats, shown


class GivenChains(NamedTuple):
    """Validated frames of chains."""

    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    positions: np.ndarray
    """Unwrapped positions [length], shape (frames, beads, 3)."""
    boxes: np.ndarray | None
    """Edges of the box as rows [length], shape (frames, 3, 3); None without a box."""
    masses: np.ndarray
    """Masses of all beads, shape (beads,)."""

    def after(self, first: int) -> GivenChains:
        """Return these chains without the frames before ``first``."""
        boxes = None if self.boxes is None else self.boxes[first:]
        return GivenChains(self.times[first:], self.positions[first:], boxes, self.masses)


def given_chains(
    times: np.ndarray,
    positions: np.ndarray,
    chains: Chains,
    boxes: np.ndarray | None,
    masses: np.ndarray | None,
    unwrapped: bool,
) -> GivenChains:
    """Validate the arguments of :func:`articulon.chains.chain_statistics.chain_statistics`, which lists their meaning
    and the errors raised."""
    if not isinstance(chains, Chains):
        raise ArticulonError(f"chains: expected Chains, got {shown(chains)}")
    shape = np.shape(positions)
    if len(shape) != 3 or shape[2] != 3 or 0 in shape:
        raise ArticulonError(f"positions: expected shape (frames, beads, 3), got {shape}")
    frames, beads, _ = shape
    x = array(positions, shape, "positions", ArticulonError)
    if chains.bead.max() >= beads:
        raise ArticulonError(f"chains, bead: there is no bead {int(chains.bead.max())}; positions has {beads}")
    t = array(times, (frames,), "times", ArticulonError)
    if frames > 1 and not (np.diff(t) > 0.0).all():
        raise ArticulonError("times: expected times that increase from frame to frame")
    mass = np.ones(beads) if masses is None else array(masses, (beads,), "masses", ArticulonError)
    if not (mass > 0.0).all():
        raise ArticulonError(f"masses: must be positive, got {mass.min():g} at {int(np.argmin(mass))}")
    edges = None if boxes is None else _edges(boxes, frames)
    if edges is not None and not unwrapped:
        _check_unwrapped(x, chains, edges)
    return GivenChains(t, x, edges, mass)


def even_frames(times: np.ndarray) -> int:
    """Return how many frames from the first on are equally spaced: all, or all but the last one of a stopped run.

    Raises ArticulonError for any other spacing.
    """
    steps = np.diff(times)
    if steps.size < 2:
        return times.size
    end = times.size - 1 if steps[-1] < steps[0] * (1.0 - 1e-6) else times.size
    if np.ptp(steps[: end - 1]) > 1e-6 * steps[0]:
        raise ArticulonError("times: the frames are not equally spaced, so that functions of a lag are undefined")
    return end


def _edges(boxes: np.ndarray, frames: int) -> np.ndarray:
    try:
        given = floats(boxes)
    except ValueError as reason:
        raise ArticulonError(f"boxes: {reason}") from None
    if given.shape == (frames, 3):
        given = given[:, :, None] * np.eye(3)
    given = array(given, (frames, 3, 3), "boxes", ArticulonError)
    if not (np.diagonal(given, axis1=1, axis2=2) > 0.0).all() or np.triu(given, 1).any():
        raise ArticulonError(
            "boxes: expected the lengths of the edges, all positive, or the edges a = (lx, 0, 0), b = (xy, ly, 0), "
            "c = (xz, yz, lz) as rows"
        )
    return given


def _check_unwrapped(positions: np.ndarray, chains: Chains, edges: np.ndarray) -> None:
    """Raise ArticulonError if a bond is longer than half of the box, which means that its chain was wrapped."""
    for frame in (0, len(positions) - 1):
        half = 0.5 * np.diagonal(edges[frame])
        for group in chains.equal_groups():
            far = (np.abs(bond_vectors(positions[frame, group.bead], group.kind)) > half).any(axis=(1, 2))
            if far.any():
                raise ArticulonError(
                    f"positions: chain {int(group.chain[np.argmax(far)])} has a bond longer than half of the "
                    f"box in frame {frame}; give unwrapped positions with whole chains"
                )
