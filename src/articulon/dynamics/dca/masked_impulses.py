"""Impulses on a forest of which some speeds are locked: divide and conquer without the locked degrees of freedom.

A freedom that is locked is simply not eliminated (``two_handle_block``): its joint's free-motion map is the remaining
columns (Poursina 2012, 2.2). What is found for a column are jumps of the speeds x (nu,) with

    x = given at locked speeds,  J x = target,   (M x) = 0 at free speeds but for the loops' impulses Jᵀ λ,

so that x leaves the momentum of the coarser model as it was, and the impulses that it takes at the locked speeds: with
a unit jump of one of them they are a row of the Schur complement of M. Several columns are solved by one assembly; the
rows of loops are further ones, as in ``divided.py``.
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
"""More columns than these are solved by several assemblies, so that the scratch of long chains stays small."""
KEPT = 4
"""How many sizes of scratch are kept for a model."""

_BLOCK = {
    name: variant(getattr(two_handle_block, name), f"{name}_masked", MASKED=True)
    for name in ("assemble_block", "accelerate_block", "correct_block_inward", "correct_block_outward")
}
_NODE = tuple(pass_at(copied(one.leaf.py_func, f"{one.leaf.__name__}_masked", **_BLOCK)) for one in NODE)
"""The passes of a node with the locks that the scratch has."""


class MaskedScratch(NamedTuple):
    """Arrays for some columns; deleting them changes nothing. The first columns are the caller's, the others of unit
    impulses of the loops' rows."""

    loops: LoopScratch
    """Of the rows."""
    tree: AssemblyTree
    """In which order links are assembled."""
    assembly: AssemblyScratch
    """Of the assembly, with the locks, the jumps that are given and the impulses that they take."""
    moving: np.ndarray
    """Zeros: every column is of impulses, shape (columns + rows,)."""
    tau: np.ndarray
    """Generalised impulses of every column, shape (columns + rows, nu)."""
    wrench: np.ndarray
    """Impulses on the links of every column, shape (columns + rows, links, 6)."""
    target: np.ndarray
    """J x of the caller's columns, shape (columns, rows)."""
    jump: np.ndarray
    """x, shape (columns + rows, nu)."""
    twist: np.ndarray
    """Jumps of the links' velocities, angular then linear, shape (columns + rows, links, 6)."""


class Call(NamedTuple):
    """The solution for some columns, bound to arrays of its own."""

    q: np.ndarray
    """Coordinates, shape (nq,)."""
    scratch: MaskedScratch
    """What is asked for, and what comes of it."""
    program: Program


class Jumps(NamedTuple):
    """What some columns give."""

    speeds: np.ndarray
    """x, shape (columns, nu)."""
    impulses: np.ndarray
    """Generalised impulses at the locked speeds, zero elsewhere, shape (columns, nu)."""
    rank: int
    """How many of the loops' rows are independent on the speeds that are free."""


def masked_scratch(model: Model, tree: AssemblyTree, columns: int) -> MaskedScratch:
    """Zeroed arrays for a model and so many columns."""
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
    """The unit impulse of every row, in the columns after the caller's."""
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
    """Row r of J times the jump of column c."""
    if loops.kind[r] == DRIVE:
        return s.jump[c, loops.speed[r]]
    return on_links(loops, s.loops.wrench, r, s.twist[c], 3, 0)


@pass_of
def fulfil_rows(loops, s):
    """Adds to the caller's columns what the loops' impulses do, so that J x is as it should be."""
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
        for _ in range(2):  # the second turn removes the rounding of the first, as in divided.py
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
    """Jumps and impulses of so many columns, for the locks and given jumps in the scratch."""
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
    """This thread's call for a model and so many columns, kept between calls."""
    if not hasattr(_store, "models"):
        _store.models = weakref.WeakKeyDictionary()
    if model not in _store.models:
        _store.models[model] = (assembly_tree(kernel_tables(model).forest), {})
    tree, kept = _store.models[model]
    found = kept.pop(columns, None) or masked_call(model, tree, columns)
    while len(kept) >= KEPT:
        del kept[next(iter(kept))]  # the one not used for longest
    kept[columns] = found
    return found


def jumps(
    model: Model, q: np.ndarray, locked: np.ndarray, given: np.ndarray, target: np.ndarray | None = None
) -> Jumps:
    """Jumps of the speeds that leave the momentum of the free ones as it was, in O(n) for each column.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,).
    locked
        Which speeds are locked (nu,), bool.
    given
        The jumps of the locked speeds, zero elsewhere (columns, nu).
    target
        How the rates of the loops' conditions should jump (columns, rows); None is not at all.
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
