"""The integrated variables y = (q, u, works): which block of them is measured by which tolerance."""

from typing import NamedTuple

import numpy as np

from articulon.model import Forest
from articulon.model.joints import FREE, PRISMATIC, REVOLUTE, SPHERICAL

POSITION, ROTATION, VELOCITY, ANGULAR_VELOCITY, WORK = range(5)


class Blocks(NamedTuple):
    """Blocks of variables that share a scale, and the Euler parameters among them."""

    start: np.ndarray
    """First variable of a block, shape (blocks,)."""
    end: np.ndarray
    """One past its last, shape (blocks,)."""
    kind: np.ndarray
    """Kind of variable, shape (blocks,)."""
    quaternion: np.ndarray
    """First of each set of four Euler parameters, shape (quaternions,)."""


def blocks(forest: Forest, nq: int, nu: int) -> Blocks:
    """One block for each joint's translation, rotation and their speeds, and one for the works."""
    rows: list[tuple[int, int, int]] = []
    quaternions: list[int] = []
    for kind, k, j in zip(forest.kind.tolist(), forest.q_start.tolist(), (forest.u_start + nq).tolist(), strict=True):
        if kind == REVOLUTE:
            rows += [(k, k + 1, ROTATION), (j, j + 1, ANGULAR_VELOCITY)]
            continue
        if kind == PRISMATIC:
            rows += [(k, k + 1, POSITION), (j, j + 1, VELOCITY)]
            continue
        if kind != SPHERICAL:
            rows += [(k, k + 3, POSITION), (j, j + 3, VELOCITY)]
            k, j = k + 3, j + 3
        if kind in (SPHERICAL, FREE):
            rows += [(k, k + 4, ROTATION), (j, j + 3, ANGULAR_VELOCITY)]
            quaternions.append(k)
    rows.append((nq + nu, nq + nu + 8, WORK))
    start, end, kinds = np.array(rows, dtype=np.int64).T.copy()
    return Blocks(start, end, kinds, np.array(quaternions, dtype=np.int64))
