"""Featherstone's divide-and-conquer algorithm for forests of links (IJRR 18, 1999; Poursina 2012, section 2).

Assembly goes up the levels of the assembly tree: blocks of links, then joins of assemblies, then what hangs on them.
Disassembly goes back down. Given the accelerations of their carriers and the wrenches on their tips, assemblies are
split, until every block knows both and accelerates its own links. The equations are those of ``two_handle``.

After this the two sides of a join differ by rounding in the acceleration at their common link: by ε times the wrench
that the tip carries, not ε times the acceleration, and a whole assembly follows this *gap* with all its inertia. So
assembly and disassembly are repeated for the gaps alone, with the matrices already found. This costs a fifth of the
first pass and makes the accelerations as accurate as those of the articulated-body algorithm. Without it their backward
error is up to a hundred times larger (nearly straight chains of 300 links).

Several right-hand sides, *columns*, are solved at once: joint forces and wrenches on the links, with velocity products
and gravity where ``moving`` is 1. Where it is 0 the column consists of forces alone, or of impulses and the jumps of
the speeds. Within a level every node is solved on its own, by the same code in one thread or in many: the bits do not
depend on the number of threads.
"""

from typing import NamedTuple

import numpy as np
from numba import prange

from articulon.dynamics import joints
from articulon.dynamics.dca.assembly_tree import BLOCK, JOIN, AssemblyTree
from articulon.dynamics.dca.two_handle_block import (
    accelerate_block,
    assemble_block,
    correct_block_inward,
    correct_block_outward,
)
from articulon.dynamics.dca.two_handle_join import close_gap, join_columns, join_inertias, split
from articulon.kernels import jit, kernel, routine
from articulon.model.forest_tables import Forest, Workspace
from articulon.passes import Bound, Pass, Program, pass_at, pass_of, run_at


class AssemblyScratch(NamedTuple):
    """What the assembly leaves for the disassembly, and scratch; it is not part of the state.

    Six-vectors are angular, then linear, or moment, then force; world axes throughout.
    """

    inertia: np.ndarray
    """K of every node, shape (nodes, 6, 6)."""
    transfer: np.ndarray
    """T of every node, shape (nodes, 6, 6)."""
    inverse: np.ndarray
    """C of every node, shape (nodes, 6, 6)."""
    scale: np.ndarray
    """Diagonal of the sums that K is left from when joints are eliminated, shape (nodes, 6)."""
    bias: np.ndarray
    """p of every node, shape (nodes, columns, 6)."""
    drift: np.ndarray
    """d of every node, shape (nodes, columns, 6)."""
    joined: np.ndarray
    """E, X and Y of every join, shape (nodes, 3, 6, 6)."""
    work: np.ndarray
    """Scratch of every join, shape (nodes, 6, 6, 6)."""
    vector: np.ndarray
    """Scratch of every node, shape (nodes, columns, 6)."""
    force: np.ndarray
    """f₀ of every join, shape (nodes, columns, 6)."""
    inflow: np.ndarray
    """Acceleration of every node's carrier, shape (nodes, columns, 6)."""
    pull: np.ndarray
    """Wrench on every node's tip, shape (nodes, columns, 6)."""
    gathered: np.ndarray
    """Apparent inertia of a link's children of the same block, shape (links, 21)."""
    push: np.ndarray
    """Biases p of these children, then the link's own; finally the correction of its acceleration, shape (columns,
    links, 6)."""
    gain: np.ndarray
    """U/D of every speed, shape (nu, 6)."""
    answer: np.ndarray
    """y/D of every speed, shape (nu, 6)."""
    flexibility: np.ndarray
    """1/D of every speed, shape (nu,)."""
    rate: np.ndarray
    """(τ − Pᵀ p)/D of every speed, shape (columns, nu)."""
    locked: np.ndarray
    """Whether each speed is locked, shape (nu,); empty where none can be."""
    given: np.ndarray
    """Given u' of the locked speeds, shape (columns, nu); empty where none can be locked."""
    reaction: np.ndarray
    """Generalised force that produces the given u', shape (columns, nu); empty where none can be locked."""


def assembly_scratch(forest: Forest, tree: AssemblyTree, columns: int = 1, lockable: bool = False) -> AssemblyScratch:
    """Scratch for a forest and ``columns`` right-hand sides; with one column, 450 bytes for a link of one speed."""
    links, nodes = forest.parent.size, tree.kind.size
    speeds = sum(joints.DEGREES_OF_FREEDOM[kind] for kind in forest.kind.tolist())
    speeds += 0 if forest.flexible is None else int(forest.flexible.mode[-1])
    shapes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(("inertia", "transfer", "inverse"), (nodes, 6, 6)),
        **dict.fromkeys(("bias", "drift", "vector", "force", "inflow", "pull"), (nodes, columns, 6)),
        **dict.fromkeys(("gain", "answer"), (speeds, 6)),
        "scale": (nodes, 6),
        "joined": (nodes, 3, 6, 6),
        "work": (nodes, 6, 6, 6),
        "gathered": (links, 21),
        "push": (columns, links, 6),
        "flexibility": (speeds,),
        "rate": (columns, speeds),
        "locked": (speeds if lockable else 0,),
        **dict.fromkeys(("given", "reaction"), (columns, speeds if lockable else 0)),
    }
    return AssemblyScratch(
        **{name: np.zeros(shapes[name], dtype=np.bool_ if name == "locked" else np.float64) for name in shapes}
    )


@routine
def add_inertias(a, b, node, scratch):
    """Adds K of two loads on the same link."""
    inertia = scratch.inertia
    for r in range(6):
        for s in range(6):
            inertia[node, r, s] = inertia[a, r, s] + inertia[b, r, s]


@routine
def add_biases(a, b, node, scratch):
    """Adds p of two loads on the same link."""
    bias = scratch.bias
    for c in range(bias.shape[1]):
        for k in range(6):
            bias[node, c, k] = bias[a, c, k] + bias[b, c, k]


@pass_at
def assemble(node, forest, tree, tau, wrench, moving, ws, scratch):
    """Finds the two-handle equations of a node."""
    kind, a, b, tip = tree.kind[node], tree.inboard[node], tree.outboard[node], tree.tip[node] >= 0
    if kind == BLOCK:
        assemble_block(forest, tree, node, tau, wrench, moving, ws, scratch)
    elif kind == JOIN:
        join_inertias(a, b, node, tip, scratch)
        join_columns(a, b, node, tip, scratch)
    else:
        add_inertias(a, b, node, scratch)
        add_biases(a, b, node, scratch)


@routine
def set_out(carrier, node, ground, moving, acceleration, scratch):
    """Gives a whole assembly its carrier's acceleration, and no wrench on its tip."""
    inflow, pull = scratch.inflow, scratch.pull
    for c in range(inflow.shape[1]):
        for k in range(6):
            pull[node, c, k] = 0.0
            if carrier >= 0:
                inflow[node, c, k] = acceleration[c, carrier, k]
            else:
                inflow[node, c, k] = -ground[k - 3] if k >= 3 and moving[c] else 0.0


@pass_at
def disassemble(node, forest, tree, moving, gravity, factor, ws, scratch, udot, acceleration):
    """Hands the accelerations and wrenches of a node to its parts. Gravity (3,), times a factor (1,), enters as an
    acceleration of the inertial frame."""
    kind = tree.kind[node]
    if tree.whole[node]:
        s = factor[0]
        ground = (s * gravity[0], s * gravity[1], s * gravity[2])
        set_out(tree.carrier[node], node, ground, moving, acceleration, scratch)
    if kind == BLOCK:
        accelerate_block(forest, tree, node, moving, ws, scratch, udot, acceleration)
    elif kind == JOIN:
        split(tree.inboard[node], tree.outboard[node], node, tree.tip[node] >= 0, scratch)


@pass_at
def correct_inward(node, forest, tree, ws, scratch, acceleration):
    """Does ``assemble`` for the gaps alone."""
    kind, a, b = tree.kind[node], tree.inboard[node], tree.outboard[node]
    if kind == BLOCK:
        if tree.laden[node]:
            correct_block_inward(forest, tree, node, ws, scratch)
    elif kind == JOIN:
        close_gap(a, b, node, tree.tip[a], tree.tip[node] >= 0, scratch, acceleration)
    else:
        add_biases(a, b, node, scratch)


@pass_at
def correct_outward(node, forest, tree, moving, ws, scratch, udot, acceleration):
    """Does ``disassemble`` for the gaps alone."""
    kind = tree.kind[node]
    if tree.whole[node]:
        set_out(tree.carrier[node], node, (0.0, 0.0, 0.0), moving, scratch.push, scratch)
    if kind == BLOCK:
        correct_block_outward(forest, tree, node, ws, scratch, udot, acceleration)
    elif kind == JOIN:
        split(tree.inboard[node], tree.outboard[node], node, tree.tip[node] >= 0, scratch)


ASSEMBLE, DISASSEMBLE, CORRECT_INWARD, CORRECT_OUTWARD = range(4)
"""Operations on a node: the rows of the program that a sweep runs."""
NODE = (assemble, disassemble, correct_inward, correct_outward)


@pass_of
def sweep(tree, node):
    """Accelerations of placed and moved links; runs the passes of every node, in the program ``node``."""
    order = tree.order
    for k in range(order.size):
        run_at(node, ASSEMBLE, order[k])
    for k in range(order.size - 1, -1, -1):
        run_at(node, DISASSEMBLE, order[k])
    if tree.gaps[0]:
        for k in range(tree.level[1], order.size):
            run_at(node, CORRECT_INWARD, order[k])
        for k in range(order.size - 1, -1, -1):
            run_at(node, CORRECT_OUTWARD, order[k])


@kernel(parallel=True)
def run_shared(node, which, order, start, end):
    """Runs a pass on the nodes of a level, shared out among threads."""
    for k in prange(start, end):
        run_at(node, which, order[k])


@jit
def run_level(tree, level, node, which):
    """Runs a pass on the nodes of a level, on several threads where that is worth it."""
    start, end = tree.level[level], tree.level[level + 1]
    if tree.parallel[level]:
        run_shared(node, which, tree.order, start, end)
    else:
        for k in range(start, end):
            run_at(node, which, tree.order[k])


@pass_of
def sweep_in_parallel(tree, node):
    """Does ``sweep`` on all threads."""
    levels = tree.parallel.size
    for h in range(levels):
        run_level(tree, h, node, ASSEMBLE)
    for h in range(levels - 1, -1, -1):
        run_level(tree, h, node, DISASSEMBLE)
    if tree.gaps[0]:
        for h in range(1, levels):
            run_level(tree, h, node, CORRECT_INWARD)
        for h in range(levels - 1, -1, -1):
            run_level(tree, h, node, CORRECT_OUTWARD)


class Columns(NamedTuple):
    """Right-hand sides that are solved at once, and their solutions."""

    tau: np.ndarray
    """Generalised forces, shape (columns, nu)."""
    wrench: np.ndarray
    """Force, then moment about the link's origin, shape (columns, links, 6)."""
    moving: np.ndarray
    """1 for columns with velocity products and gravity, shape (columns,)."""
    udot: np.ndarray
    """Accelerations of the joints, shape (columns, nu)."""
    acceleration: np.ndarray
    """Accelerations of the links, angular then linear of the origin, shape (columns, links, 6)."""


def sweeping(
    forest: Forest,
    tree: AssemblyTree,
    columns: Columns,
    gravity: np.ndarray,
    factor: np.ndarray,
    ws: Workspace,
    scratch: AssemblyScratch,
    parallel: bool = False,
    node: tuple[Pass, ...] = NODE,
) -> Bound:
    """The pass that solves for the accelerations of placed and moved links.

    ``gravity`` (3,) is multiplied by ``factor`` (1,); ``node`` holds the passes of a node.
    """
    c, on = columns, (forest, tree)
    program = Program(
        [
            node[ASSEMBLE].bind(*on, c.tau, c.wrench, c.moving, ws, scratch),
            node[DISASSEMBLE].bind(*on, c.moving, gravity, factor, ws, scratch, c.udot, c.acceleration),
            node[CORRECT_INWARD].bind(*on, ws, scratch, c.acceleration),
            node[CORRECT_OUTWARD].bind(*on, c.moving, ws, scratch, c.udot, c.acceleration),
        ]
    )
    return (sweep_in_parallel if parallel else sweep).bind(tree, program)
