"""Divide and conquer with loops. The assembly is solved for several right-hand sides at once, called columns.

The first column has the given forces, and gives the accelerations without loops. Each further column is the response to
the unit force of one constraint row. The accelerations of all columns at the rows give J M⁻¹ Jᵀ, with the Jacobian J of
the rows, and the multipliers follow from it. The forces of a loop joint lie in the orthogonal complement of its motion
(Mukherjee and Anderson 2007).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics.dca.assembly_tree import AssemblyTree, assembly_tree
from articulon.dynamics.dca.block_kinematics import BlockScratch, block_scratch
from articulon.dynamics.dca.divide_and_conquer import (
    AssemblyScratch,
    Columns,
    assembly_scratch,
    sweeping,
)
from articulon.dynamics.loops.conditions import (
    LoopScratch,
    mark_live_rows,
    on_links,
    row_accelerations,
    row_biases,
    row_wrenches,
)
from articulon.dynamics.loops.semidefinite import factorise_semidefinite, solve_semidefinite
from articulon.model import Forest, Loops, Workspace
from articulon.model.loop_declarations import DRIVE
from articulon.passes import Bound, pass_of

PARALLEL_LINKS = 1024
"""Number of links from which assembly and kinematics are shared out among threads."""


class DividedScratch(NamedTuple):
    """Scratch of divide and conquer; it is not part of the state."""

    loops: LoopScratch
    """Scratch of the constraint rows."""
    tree: AssemblyTree
    """The order in which links are assembled."""
    assembly: AssemblyScratch
    """Scratch of the assembly."""
    blocks: BlockScratch
    """Scratch of the kinematics on several threads."""
    moving: np.ndarray
    """1 for the column with the given forces and the motion, 0 for columns of unit forces, shape (1 + rows,)."""
    tau: np.ndarray
    """Generalised forces, one row per column, shape (1 + rows, nu)."""
    wrench: np.ndarray
    """Wrenches on the links, one row per column, shape (1 + rows, links, 6)."""
    udot: np.ndarray
    """Accelerations of the joints, one row per column, shape (1 + rows, nu)."""
    acceleration: np.ndarray
    """Accelerations of the links, angular then linear, one row per column, shape (1 + rows, links, 6)."""


def divided_scratch(forest: Forest, loops: LoopScratch, nu: int) -> DividedScratch:
    """Zeroed scratch for a forest with loops."""
    columns, links, tree = 1 + loops.residual.size, forest.mass.size, assembly_tree(forest)
    moving = np.zeros(columns, dtype=np.int64)
    moving[0] = 1
    return DividedScratch(
        loops,
        tree,
        assembly_scratch(forest, tree, columns),
        block_scratch(tree),
        moving,
        np.zeros((columns, nu)),
        np.zeros((columns, links, 6)),
        np.zeros((columns, nu)),
        np.zeros((columns, links, 6)),
    )


@pass_of
def set_columns(forest, loops, tau, wrench, ws, solver):
    """Set the forces of every column: the given forces, then the unit force of each row."""
    arrays = solver.loops
    copy_into(solver.tau[0], tau)
    copy_into(solver.wrench[0].reshape(-1), wrench.reshape(-1))
    row_wrenches(loops, ws, arrays.wrench)
    mark_live_rows(forest, loops, ws, arrays)
    for r in range(loops.kind.size):
        column, total = solver.tau[1 + r], solver.wrench[1 + r]
        for k in range(column.size):
            column[k] = 0.0
        if loops.kind[r] == DRIVE:
            column[loops.speed[r]] = 1.0
            continue
        a, b = loops.link_a[r], loops.link_b[r]
        for k in range(6):  # only these two links have nonzero entries in this column
            if b >= 0:
                total[b, k] = arrays.wrench[r, k]
            if a >= 0:
                total[a, k] = arrays.wrench[r, 6 + k]


@pass_of
def combine_columns(loops, gravity, factor, ws, solver, udot):
    """Compute the multipliers from the accelerations of the columns, and the accelerations that satisfy all rows."""
    arrays, rows = solver.loops, loops.kind.size
    copy_into(udot, solver.udot[0])
    A = arrays.matrix
    for r in range(rows):
        for s in range(rows):
            if loops.kind[r] == DRIVE:
                A[r, s] = solver.udot[1 + s, loops.speed[r]]
            else:
                A[r, s] = on_links(loops, arrays.wrench, r, solver.acceleration[1 + s], 3, 0)
    for r in range(rows):
        for s in range(r):
            A[r, s] = A[s, r] = 0.5 * (A[r, s] + A[s, r])
    arrays.rank[0] = factorise_semidefinite(A, arrays.live, loops.rank[0], arrays.scale, arrays.pivot)
    row_biases(loops, ws, arrays.gamma)
    ground = (-factor[0] * gravity[0], -factor[0] * gravity[1], -factor[0] * gravity[2])
    total = solver.acceleration[0]
    for r in range(rows):
        arrays.multiplier[r] = 0.0
    # The second pass removes the rounding errors of the first, which grow with the condition number of J M⁻¹ Jᵀ.
    for _ in range(2):
        row_accelerations(loops, udot, ground, total, arrays)
        for r in range(rows):
            arrays.residual[r] = -arrays.residual[r]
        step = arrays.correction
        solve_semidefinite(A, arrays.scale, arrays.pivot, arrays.rank[0], arrays.residual, step)
        for r in range(rows):
            arrays.multiplier[r] += step[r]
            column, links = solver.udot[1 + r], solver.acceleration[1 + r]
            for k in range(udot.size):
                udot[k] += step[r] * column[k]
            for i in range(total.shape[0]):
                for k in range(6):
                    total[i, k] += step[r] * links[i, k]


def dividing(
    forest: Forest,
    loops: Loops,
    tau: np.ndarray,
    wrench: np.ndarray,
    gravity: np.ndarray,
    factor: np.ndarray,
    ws: Workspace,
    solver: DividedScratch,
    udot: np.ndarray,
    parallel: bool,
) -> Iterator[Bound]:
    """Yield the passes that find u' (nu,) with all loops, for placed and moved links and evaluated given motions."""
    s = solver
    common = (gravity, factor, ws, s.assembly, parallel)
    if not loops.kind.size:
        columns = Columns(tau[None], wrench[None], s.moving, udot[None], s.acceleration)
        yield sweeping(forest, s.tree, columns, *common)
        return
    yield set_columns.bind(forest, loops, tau, wrench, ws, s)
    yield sweeping(forest, s.tree, Columns(s.tau, s.wrench, s.moving, s.udot, s.acceleration), *common)
    yield combine_columns.bind(loops, gravity, factor, ws, s, udot)
