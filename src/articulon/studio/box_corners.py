"""Corners and edges of a box."""

from __future__ import annotations

import numpy as np

from articulon.model.box import Box


def box_corners(edges: np.ndarray, box: Box) -> np.ndarray:
    """Return the eight corners of a box [length], shape (8, 3). Bit k of a corner's index is 1 if the corner is at the
    far end of edge k."""
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    return np.asarray(np.array([float(x) for x in box.origin]) + bits @ edges)


BOX_LINES = np.array([(a, a | bit) for bit in (1, 2, 4) for a in range(8) if not a & bit])
"""Pairs of corners that the twelve edges of a box connect, shape (12, 2)."""
