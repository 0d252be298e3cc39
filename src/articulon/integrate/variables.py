"""The integrated variables y = (q, u, works, thermostat variables), in blocks with one tolerance each."""

from typing import NamedTuple

import numpy as np

from articulon.model import Forest
from articulon.model.joints import BY_KIND

POSITION, ROTATION, VELOCITY, ANGULAR_VELOCITY, WORK = range(5)


class Blocks(NamedTuple):
    """Blocks of variables that share a scale, and the indices of Euler parameters."""

    start: np.ndarray
    """First variable of a block, shape (blocks,)."""
    end: np.ndarray
    """Index after the last variable of a block, shape (blocks,)."""
    kind: np.ndarray
    """Kind of the variables of each block, shape (blocks,)."""
    quaternion: np.ndarray
    """First of each set of four Euler parameters, shape (quaternions,)."""


def blocks(forest: Forest, nq: int, nu: int, embedded: bool = False, bath: int = 0) -> Blocks:
    """One block for each joint's translation, for its rotation, and for the speeds of each; one for each flexible
    body's modes, and one for their speeds; and one for the works. A thermostat with ``bath`` variables has one block
    for each of its ζ, measured as a speed, and one for the energy of its reservoir.

    With Euler parameters ``embedded`` the speeds are the rates of all coordinates, and no Euler parameters are
    normalised.
    """
    rows: list[tuple[int, int, int]] = []
    quaternions: list[int] = []
    speeds = nq + (forest.q_start if embedded else forest.u_start)
    nu = nq if embedded else nu
    for kind, k, j in zip(forest.kind.tolist(), forest.q_start.tolist(), speeds.tolist(), strict=True):
        joint = BY_KIND[kind]
        moves = joint.translations
        if moves:
            rows += [(k, k + moves, POSITION), (j, j + moves, VELOCITY)]
        if joint.rotates():
            rows += [
                (k + moves, k + joint.nq, ROTATION),
                (j + moves, j + (joint.nq if embedded else joint.nu), ANGULAR_VELOCITY),
            ]
        if joint.quaternion is not None and not embedded:
            quaternions.append(k + joint.quaternion)
    tables = forest.flexible
    if tables is not None:
        for k, j, m in zip(
            tables.q_start.tolist(), tables.u_start.tolist(), np.diff(tables.mode).tolist(), strict=True
        ):
            rows += [(k, k + m, POSITION), (nq + j, nq + j + m, VELOCITY)]
    end = nq + nu + 8
    rows.append((nq + nu, end, WORK))
    if bath:
        rows += [(v, v + 1, VELOCITY) for v in range(end, end + bath - 1)]
        rows.append((end + bath - 1, end + bath, WORK))
    start, last, kinds = np.array(rows, dtype=np.int64).T.copy()
    return Blocks(start, last, kinds, np.array(quaternions, dtype=np.int64))
