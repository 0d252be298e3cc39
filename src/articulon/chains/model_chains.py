"""Chains of a model, and positions of their beads in the frames of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.chains.chain_table import Chains
from articulon.conformations.chosen_atoms import positions_of
from articulon.model import Model

NUMBERS = 60_000_000
"""Maximum number of bead coordinates held in memory."""


class ChainFrames(NamedTuple):
    """Arguments of :func:`articulon.chains.chain_statistics.chain_statistics` taken from a run."""

    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    positions: np.ndarray
    """Unwrapped positions [length], shape (frames, beads, 3)."""
    chains: Chains
    """Chains, whose beads are the columns of ``positions`` in order."""
    boxes: np.ndarray | None
    """Edges of the box as rows [length], shape (frames, 3, 3); None if the box is not periodic in all directions."""
    masses: np.ndarray
    """Masses of the beads, shape (beads,). All beads of a kind get the same mass: the median mass per bead of
    their bodies."""


def chain_frames(
    model: Model, times: np.ndarray, q: np.ndarray, volumes: np.ndarray | None = None
) -> ChainFrames | None:
    """Return the beads of a model's chains in the frames of a run; None for a model without chains.

    If all frames do not fit into memory, only every second, third, ... frame is used.

    Parameters
    ----------
    model
        The model.
    times
        Times of the frames [time], shape (frames,).
    q
        Coordinates of the frames, shape (frames, nq).
    volumes
        Volume of the box in each frame [length³], shape (frames,); the box keeps its shape. By default the volume is
        that of the model's box in all frames.
    """
    if model.chains is None:
        return None
    given = model.chains
    beads = given.site.size
    every = max(1, -(-len(times) * 3 * beads // NUMBERS))
    kept = slice(None, None, every)
    positions = positions_of(model, np.asarray(q)[kept], given.site)
    times = np.asarray(times)[kept]
    boxes = None
    if model.box is not None and model.box.periodic.all():
        scales = np.ones(times.size) if volumes is None else np.cbrt(np.asarray(volumes)[kept] / model.box.volume)
        boxes = scales[:, None, None] * model.box.vectors
    chains = Chains(np.arange(beads), given.first, given.ring, given.branched)
    return ChainFrames(times, positions, chains, boxes, _masses(model, given.site))


def _masses(model: Model, sites: np.ndarray) -> np.ndarray:
    """Return the mass of each bead, which is the same for all beads of a kind, shape (beads,).

    A bead of a ring may be split into two bodies with half of its mass each. The median mass ignores such beads.
    """
    body, kind = model.sites.body[sites], model.sites.kind[sites]
    shares = np.asarray(model.masses)[body] / np.bincount(body, minlength=model.bodies)[body]
    found = np.empty(sites.size)
    for one in np.unique(kind).tolist():
        found[kind == one] = np.median(shares[kind == one])
    return found
