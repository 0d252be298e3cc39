"""Impulses on a forest with locked speeds: divide and conquer without the locked degrees of freedom.

A locked degree of freedom is not eliminated (``two_handle_block``): the free-motion map of its joint consists of the
remaining columns (Poursina 2012, 2.2). M is the mass matrix, J the Jacobian of the loops, and λ their multipliers. The
solution of a right-hand side, or *column*, is the jumps x (nu,) of the speeds with

    x = given at locked speeds,  J x = target,   (M x) = 0 at free speeds except for the loops' impulses Jᵀ λ.

These jumps leave the momentum of the coarser model unchanged. The solution also contains the impulses at the locked
speeds that cause the jumps. For a unit jump of one locked speed, these impulses are a row of the Schur complement of M.
One assembly solves several columns. The rows of loops are further columns, as in ``constrained_assembly.py``.
"""

import threading
import weakref
from typing import NamedTuple

import numpy as np

from articulon.dynamics.dca import two_handle_block
from articulon.dynamics.dca.assembly_tree import AssemblyTree, assembly_tree
from articulon.dynamics.dca.divide_and_conquer import NODE, AssemblyScratch, Columns, assembly_scratch, sweeping
from articulon.dynamics.loops.conditions import (
    LoopScratch,
    loop_scratch,
    mark_live_rows,
    on_links,
    row_wrenches,
)
from articulon.dynamics.loops.semidefinite import factorise_semidefinite, solve_semidefinite
from articulon.dynamics.motion_passes import place_links
from articulon.dynamics.multibody_functions import vector
from articulon.dynamics.state_functions import scratch
from articulon.kernel_variants import copied, variant
from articulon.kernels import jit
from articulon.model import Model, kernel_tables
from articulon.model.loop_declarations import DRIVE
from articulon.passes import Program, pass_at, pass_of

COLUMNS_AT_ONCE = 32
"""Largest number of columns of one assembly. More columns are solved by several assemblies, so that the scratch of long
chains stays small."""
KEPT = 4
"""Number of scratch sizes that are kept for a model."""

_BLOCK = {
    name: variant(getattr(two_handle_block, name), f"{name}_masked", MASKED=True)
    for name in ("assemble_block", "accelerate_block", "correct_block_inward", "correct_block_outward")
}
_NODE = tuple(pass_at(copied(one.leaf.py_func, f"{one.leaf.__name__}_masked", **_BLOCK)) for one in NODE)
"""The passes of a node, compiled for forests with locked speeds."""


class MaskedScratch(NamedTuple):
    """Scratch for several columns; it is not part of the state. The first columns are those of the caller, and the
    others are unit impulses of the loops' rows."""

    loops: LoopScratch
    """Scratch of the constraint rows."""
    tree: AssemblyTree
    """The order in which links are assembled."""
    assembly: AssemblyScratch
    """Scratch of the assembly, with the locks, the given jumps, and the impulses that cause them."""
    moving: np.ndarray
    """Zeros, since every column consists of impulses, shape (columns + rows,)."""
    tau: np.ndarray
    """Generalised impulses, one row per column, shape (columns + rows, nu)."""
    wrench: np.ndarray
    """Impulses on the links, one row per column, shape (columns + rows, links, 6)."""
    target: np.ndarray
    """Required J x of the caller's columns, shape (columns, rows)."""
    jump: np.ndarray
    """Jumps x of the speeds, shape (columns + rows, nu)."""
    twist: np.ndarray
    """Jumps of the links' velocities, angular then linear, shape (columns + rows, links, 6)."""


class Call(NamedTuple):
    """Solution for several columns, bound to its own arrays."""

    q: np.ndarray
    """Coordinates, shape (nq,)."""
    scratch: MaskedScratch
    """Inputs and results."""
    program: Program


class Jumps(NamedTuple):
    """Results for several columns."""

    speeds: np.ndarray
    """Jumps x of the speeds, shape (columns, nu)."""
    impulses: np.ndarray
    """Generalised impulses at the locked speeds, zero elsewhere, shape (columns, nu)."""
    rank: int
    """Number of the loops' rows that are independent on the free speeds."""


def masked_scratch(model: Model, tree: AssemblyTree, columns: int) -> MaskedScratch:
    """Return zeroed scratch for a model and ``columns`` columns."""
    forest, loops, motions = kernel_tables(model)
    rows, nu = loops.kind.size, model.nu
    total, links = columns + rows, forest.mass.size
    return MaskedScratch(
        loop_scratch(forest, loops, motions, nu),
        tree,
        assembly_scratch(forest, tree, total, lockable=True),
        np.zeros(total, dtype=np.int64),
        np.zeros((total, nu)),
        np.zeros((total, links, 6)),
        np.zeros((columns, rows)),
        np.zeros((total, nu)),
        np.zeros((total, links, 6)),
    )


@pass_of
def set_row_columns(forest, loops, ws, s):
    """Set the unit impulse of every row, in the columns after those of the caller."""
    arrays, first = s.loops, s.target.shape[0]
    row_wrenches(loops, ws, arrays.wrench)
    mark_live_rows(forest, loops, ws, arrays, s.assembly.locked)
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            s.tau[first + r, loops.speed[r]] = 1.0
            continue
        a, b, total = loops.link_a[r], loops.link_b[r], s.wrench[first + r]
        for k in range(6):
            if b >= 0:
                total[b, k] = arrays.wrench[r, k]
            if a >= 0:
                total[a, k] = arrays.wrench[r, 6 + k]


@jit
def row_jump(loops, r, s, c):
    """Return row r of J times the jump of column c."""
    if loops.kind[r] == DRIVE:
        return s.jump[c, loops.speed[r]]
    return on_links(loops, s.loops.wrench, r, s.twist[c], 3, 0)


@pass_of
def fulfil_rows(loops, s):
    """Add the effect of the loops' impulses to the columns of the caller, so that J x equals the target."""
    arrays, rows, first = s.loops, loops.kind.size, s.target.shape[0]
    A, reaction = arrays.matrix, s.assembly.reaction
    for r in range(rows):
        for k in range(rows):
            A[r, k] = row_jump(loops, r, s, first + k)
    for r in range(rows):
        for k in range(r):
            A[r, k] = A[k, r] = 0.5 * (A[r, k] + A[k, r])
    arrays.rank[0] = factorise_semidefinite(A, arrays.live, loops.rank[0], arrays.scale, arrays.pivot)
    step = arrays.correction
    for c in range(first):
        for _ in range(2):  # the second pass removes the rounding of the first, as in constrained_assembly.py
            for r in range(rows):
                arrays.residual[r] = s.target[c, r] - row_jump(loops, r, s, c)
            solve_semidefinite(A, arrays.scale, arrays.pivot, arrays.rank[0], arrays.residual, step)
            for r in range(rows):
                for k in range(s.jump.shape[1]):
                    s.jump[c, k] += step[r] * s.jump[first + r, k]
                    reaction[c, k] += step[r] * reaction[first + r, k]
                for i in range(s.twist.shape[1]):
                    for k in range(6):
                        s.twist[c, i, k] += step[r] * s.twist[first + r, i, k]


def masked_call(model: Model, tree: AssemblyTree, count: int) -> Call:
    """Return the call that finds jumps and impulses of ``count`` columns, for the locks and given jumps in the
    scratch."""
    q, s = np.zeros(model.nq), masked_scratch(model, tree, count)
    (forest, loops, _), ws = kernel_tables(model), scratch(model)
    columns = Columns(s.tau, s.wrench, s.moving, s.jump, s.twist)
    swept = sweeping(forest, s.tree, columns, np.zeros(3), np.zeros(1), ws, s.assembly, node=_NODE)
    passes = [swept]
    if loops.kind.size:
        passes = [set_row_columns.bind(forest, loops, ws, s), swept, fulfil_rows.bind(loops, s)]
    return Call(q, s, Program([place_links.bind(forest, q, ws), *passes]))


_store = threading.local()


def _call(model: Model, columns: int) -> Call:
    """Return the call of this thread for a model and a number of columns. It is kept between calls."""
    if not hasattr(_store, "models"):
        _store.models = weakref.WeakKeyDictionary()
    if model not in _store.models:
        _store.models[model] = (assembly_tree(kernel_tables(model).forest), {})
    tree, kept = _store.models[model]
    found = kept.pop(columns, None) or masked_call(model, tree, columns)
    while len(kept) >= KEPT:
        del kept[next(iter(kept))]  # the least recently used
    kept[columns] = found
    return found


def jumps(
    model: Model, q: np.ndarray, locked: np.ndarray, given: np.ndarray, target: np.ndarray | None = None
) -> Jumps:
    """Return jumps of the speeds that leave the momentum of the free speeds unchanged, in O(n) for each column.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,).
    locked
        Whether each speed is locked (nu,), bool.
    given
        The jumps of the locked speeds, zero elsewhere (columns, nu).
    target
        Jumps of the rates of the loops' conditions (columns, rows); None for zero jumps.
    """
    count, nu = given.shape
    speeds, impulses, rank = np.empty((count, nu)), np.empty((count, nu)), 0
    coordinates = vector(q, model.nq, "q")
    for start in range(0, count, COLUMNS_AT_ONCE):
        part = slice(start, min(start + COLUMNS_AT_ONCE, count))
        columns = part.stop - start
        call = _call(model, columns)
        s = call.scratch
        s.assembly.locked[:] = locked
        s.assembly.given[:columns] = given[part]
        s.assembly.reaction[:] = 0.0
        s.target[:] = 0.0 if target is None else target[part]
        call.q[:] = coordinates
        call.program()
        speeds[part], impulses[part] = s.jump[:columns], s.assembly.reaction[:columns]
        rank = int(s.loops.rank[0])
    return Jumps(speeds, impulses, rank)
