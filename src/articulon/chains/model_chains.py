"""The chains of a model, and where their beads are in the frames of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.chains.chain_table import Chains
from articulon.conformations.chosen_atoms import positions_of
from articulon.model import Model

NUMBERS = 60_000_000
"""Coordinates of beads that are held at once, at most."""


class ChainFrames(NamedTuple):
    """What :func:`articulon.chains.chain_statistics.chain_statistics` takes, of a run."""

    times: np.ndarray
    """[time], shape (frames,)."""
    positions: np.ndarray
    """Unwrapped [length], shape (frames, beads, 3)."""
    chains: Chains
    """The chains; their beads are all the columns, in order."""
    boxes: np.ndarray | None
    """Edges as rows [length], shape (frames, 3, 3); None where the box is not periodic in all directions."""
    masses: np.ndarray
    """Of the beads: those of one kind weigh the same, as much as most of their bodies do for each bead on them, shape
    (beads,)."""


def chain_frames(
    model: Model, times: np.ndarray, q: np.ndarray, volumes: np.ndarray | None = None
) -> ChainFrames | None:
    """The beads of a model's chains in the frames of a run; every second, third, ... frame where memory would not hold
    all of them. None for a model without chains.

    Parameters
    ----------
    model
        The model.
    times
        Of the frames [time], shape (frames,).
    q
        Coordinates of the frames, shape (frames, nq).
    volumes
        Of the box in each frame, which keeps its shape [length³], shape (frames,); that of the model's box by default.
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
    """Of beads by kind, shape (beads,): a ring's bead may be on two bodies that each have half of it."""
    body, kind = model.sites.body[sites], model.sites.kind[sites]
    shares = np.asarray(model.masses)[body] / np.bincount(body, minlength=model.bodies)[body]
    found = np.empty(sites.size)
    for one in np.unique(kind).tolist():
        found[kind == one] = np.median(shares[kind == one])
    return found
