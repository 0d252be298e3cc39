"""Entries of ∂τ/∂q and ∂τ/∂u between a block of columns and the joints that carry all of them, found for all columns at
once.

A block is as many neighbouring columns as a vector register has lanes. The joints that carry only some of the columns
are treated separately for each column (``force_jacobians.py``). For the links further inward, which carry all of them,
the columns are lanes.
"""

from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import add, cross, dot, load, load_from
from articulon.dynamics import joints
from articulon.dynamics.derivatives.force_jacobians import power
from articulon.dynamics.derivatives.motion_columns import FIRST, SECOND, SHIFT, SPEED, load_motion
from articulon.dynamics.joints import DEGREES_OF_FREEDOM
from articulon.kernels import jit
from articulon.lanes import WIDTH, LaneArray
from articulon.model import Forest

VECTORS = 24
"""Length of the vectors of a column about the origin of the link that carries it: the changes of the wrench with the
column's displacement and with its speed, and the factors of other joints' columns (see ``force_jacobians.py``)."""


class Common(NamedTuple):
    """What the columns of each block have in common."""

    link: np.ndarray
    """The last link that carries all columns of a block without being moved by one of them, −1 for none, shape
    (blocks,)."""
    lanes: Any
    """Vectors of the columns about the origin of that link, lanes (blocks, 24)."""
    numbers: np.ndarray
    """The memory of ``lanes`` as plain numbers, shape (blocks, 24, width)."""
    part: Any
    """Scratch, lanes (2,)."""
    part_numbers: np.ndarray
    """The memory of ``part`` as plain numbers, shape (2, width)."""
    dq: np.ndarray
    """∂τ/∂q in blocks of columns, shape (blocks, nu, width)."""
    du: np.ndarray
    """∂τ/∂u in blocks of columns, shape (blocks, nu, width)."""


def link_of_speed(forest: Forest) -> np.ndarray:
    """The link to which each speed belongs, shape (nu,)."""
    found: dict[int, int] = {}
    for i, (kind, first) in enumerate(zip(forest.kind.tolist(), forest.u_start.tolist(), strict=True)):
        found.update(dict.fromkeys(range(first, first + DEGREES_OF_FREEDOM[kind]), i))
    return np.array([found[k] for k in range(len(found))], dtype=np.int64)


def common_of(forest: Forest, rows: LaneArray) -> Common:
    """What the columns of each block of a forest have in common. The first two parts of ``rows`` (blocks, nu) are the
    matrices ∂τ/∂q and ∂τ/∂u."""
    of_speed, links = link_of_speed(forest), []
    for part in np.split(of_speed, range(WIDTH, of_speed.size, WIDTH)):
        carrying = [set(carriers(forest, int(i))[1:]) for i in np.unique(part)]
        links.append(max(set.intersection(*carrying), default=-1))
    blocks = len(links)
    lanes, scratch = LaneArray.zeros((blocks, VECTORS)), LaneArray.zeros((2,))
    matrices = rows.numbers[:blocks], rows.numbers[blocks : 2 * blocks]
    return Common(np.array(links, dtype=np.int64), lanes, lanes.numbers, scratch, scratch.numbers, *matrices)


def carriers(forest: Forest, link: int) -> list[int]:
    """A link and those that carry it, outermost last; empty for the ground."""
    found = []
    while link >= 0:
        found.append(link)
        link = int(forest.parent[link])
    return found


@jit
def three(a, b, k):
    """Three numbers of row b, from column k on."""
    return (a[b, k], a[b, k + 1], a[b, k + 2])


@jit
def fill_common(forest, ws, columns, common, rows):
    """Completes ∂τ/∂q and ∂τ/∂u, the first two parts of ``rows`` in lanes (blocks, nu)."""
    parent, kinds, u_start, lanes = forest.parent, forest.kind, forest.u_start, common.lanes
    blocks, size = common.link.size, columns.shape[0]
    for b in range(blocks):
        outer = common.link[b]
        n, f, x, y = three(lanes, b, 0), three(lanes, b, 3), three(lanes, b, 6), three(lanes, b, 9)
        rn, rf, r, given = three(lanes, b, 12), three(lanes, b, 15), three(lanes, b, 18), three(lanes, b, 21)
        first = b * WIDTH
        count = min(WIDTH, size - first)
        while outer >= 0:
            start = u_start[outer]
            for other in range(start, start + joints.degrees_of_freedom(kinds[outer])):
                sw, sv = load_motion(columns, other, SHIFT)
                rows[b, other] = power(n, f, sw, sv)
                rows[blocks + b, other] = power(x, y, sw, sv)
                fw = load_from(columns, other, FIRST)
                gw, gv = load_motion(columns, other, SECOND)
                hw, hv = load_motion(columns, other, SPEED)
                common.part[0] = power(rn, rf, gw, gv) + dot(r, fw) + dot(given, sw)
                common.part[1] = power(rn, rf, hw, hv) + dot(r, sw)
                block, lane = other // WIDTH, other % WIDTH
                for k in range(count):
                    common.dq[block, first + k, lane] = common.part_numbers[0, k]
                    common.du[block, first + k, lane] = common.part_numbers[1, k]
            reach = load(ws.reach, outer)
            n, x, rn = add(n, cross(reach, f)), add(x, cross(reach, y)), add(rn, cross(reach, rf))
            outer = parent[outer]
