"""Featherstone's divide-and-conquer algorithm for forests of links (IJRR 18, 1999; Poursina 2012, section 2).

Assembly proceeds up the levels of the assembly tree: first blocks of links, then joins of assemblies and sums of loads.
Disassembly proceeds down. It splits assemblies, for which the acceleration of the carrier and the wrench on the tip are
known, until both are known for every block. Each block then computes the accelerations of its own links. The equations
are those of ``two_handle``.

After this, the two sides of a join have slightly different accelerations at their common link. This *gap* is a rounding
error of the size ε times the wrench that the tip carries, not ε times the acceleration. The whole assembly beyond the
join, with all its inertia, moves with this error. Therefore assembly and disassembly are repeated for the gaps alone,
with the same matrices. This costs a fifth of the first pass and makes the accelerations as accurate as those of the
articulated-body algorithm. Without this correction, their backward error is up to a hundred times larger (nearly
straight chains of 300 links).

Several right-hand sides, *columns*, are solved at once: joint forces and wrenches on the links. For columns with
``moving`` equal to 1, velocity products and gravity are included. For other columns, the right-hand side consists of
forces alone, or of impulses, whose solution is the jumps of the speeds. Every node of a level is solved separately by
the same code, in one thread or in many, so that the results are bitwise the same for any number of threads.
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
    """Quantities that the assembly stores for the disassembly, and scratch; it is not part of the state.

    The symbols are those of ``two_handle`` and ``two_handle_join``. Six-vectors are angular, then linear, or moment,
    then force; world axes throughout.
    """

    inertia: np.ndarray
    """Inertia K of every node at its carrier, shape (nodes, 6, 6)."""
    transfer: np.ndarray
    """Transfer T of every node, from the acceleration of its carrier to that of its tip, shape (nodes, 6, 6)."""
    inverse: np.ndarray
    """Inverse inertia C of every node at its tip, shape (nodes, 6, 6)."""
    scale: np.ndarray
    """Diagonal of K before joints are eliminated, with which pivots are compared, shape (nodes, 6)."""
    bias: np.ndarray
    """Bias wrench p of every node at its carrier, shape (nodes, columns, 6)."""
    bias_acceleration: np.ndarray
    """Bias acceleration d of every node at its tip, shape (nodes, columns, 6)."""
    joined: np.ndarray
    """Matrices E, X and Y of every join, shape (nodes, 3, 6, 6)."""
    work: np.ndarray
    """Scratch of every join, shape (nodes, 6, 6, 6)."""
    vector: np.ndarray
    """Scratch of every node, shape (nodes, columns, 6)."""
    force: np.ndarray
    """Wrench f₀ of every join, shape (nodes, columns, 6)."""
    carrier_acceleration: np.ndarray
    """Acceleration of every node's carrier, shape (nodes, columns, 6)."""
    tip_wrench: np.ndarray
    """Wrench on every node's tip, shape (nodes, columns, 6)."""
    gathered: np.ndarray
    """Inertia of a link's children in the same block, as it acts on the link, shape (links, 21)."""
    link_wrench: np.ndarray
    """Sum of the biases p of these children and of the link itself, shape (columns, links, 6). The outward correction
    replaces it by the change of the link's acceleration."""
    gain: np.ndarray
    """U/D of every speed, shape (nu, 6)."""
    tip_response: np.ndarray
    """y/D of every speed, shape (nu, 6)."""
    flexibility: np.ndarray
    """1/D of every speed, shape (nu,)."""
    rate: np.ndarray
    """(τ − Pᵀ p)/D of every speed, shape (columns, nu)."""
    locked: np.ndarray
    """Whether each speed is locked, shape (nu,); empty if no speed can be locked."""
    given: np.ndarray
    """Given u' of the locked speeds, shape (columns, nu); empty if no speed can be locked."""
    reaction: np.ndarray
    """Generalised force that produces the given u', shape (columns, nu); empty if no speed can be locked."""


def assembly_scratch(forest: Forest, tree: AssemblyTree, columns: int = 1, lockable: bool = False) -> AssemblyScratch:
    """Return scratch for a forest and ``columns`` right-hand sides. With one column it takes 450 bytes for a link of
    one speed."""
    links, nodes = forest.parent.size, tree.kind.size
    speeds = sum(joints.DEGREES_OF_FREEDOM[kind] for kind in forest.kind.tolist())
    speeds += 0 if forest.flexible is None else int(forest.flexible.mode[-1])
    shapes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(("inertia", "transfer", "inverse"), (nodes, 6, 6)),
        **dict.fromkeys(
            ("bias", "bias_acceleration", "vector", "force", "carrier_acceleration", "tip_wrench"), (nodes, columns, 6)
        ),
        **dict.fromkeys(("gain", "tip_response"), (speeds, 6)),
        "scale": (nodes, 6),
        "joined": (nodes, 3, 6, 6),
        "work": (nodes, 6, 6, 6),
        "gathered": (links, 21),
        "link_wrench": (columns, links, 6),
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
    """Add the inertias K of two loads on the same link."""
    inertia = scratch.inertia
    for r in range(6):
        for s in range(6):
            inertia[node, r, s] = inertia[a, r, s] + inertia[b, r, s]


@routine
def add_biases(a, b, node, scratch):
    """Add the biases p of two loads on the same link."""
    bias = scratch.bias
    for c in range(bias.shape[1]):
        for k in range(6):
            bias[node, c, k] = bias[a, c, k] + bias[b, c, k]


@pass_at
def assemble(node, forest, tree, tau, wrench, moving, ws, scratch):
    """Compute the two-handle equations of a node."""
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
def set_handles(carrier, node, ground, moving, acceleration, scratch):
    """Set the acceleration of the carrier of a complete assembly, and a zero wrench on its tip."""
    carrier_acceleration, tip_wrench = scratch.carrier_acceleration, scratch.tip_wrench
    for c in range(carrier_acceleration.shape[1]):
        for k in range(6):
            tip_wrench[node, c, k] = 0.0
            if carrier >= 0:
                carrier_acceleration[node, c, k] = acceleration[c, carrier, k]
            else:
                carrier_acceleration[node, c, k] = -ground[k - 3] if k >= 3 and moving[c] else 0.0


@pass_at
def disassemble(node, forest, tree, moving, gravity, factor, ws, scratch, udot, acceleration):
    """Pass the accelerations and wrenches of a node on to its parts. Gravity (3,), times a factor (1,), enters as an
    acceleration of the inertial frame."""
    kind = tree.kind[node]
    if tree.whole[node]:
        s = factor[0]
        ground = (s * gravity[0], s * gravity[1], s * gravity[2])
        set_handles(tree.carrier[node], node, ground, moving, acceleration, scratch)
    if kind == BLOCK:
        accelerate_block(forest, tree, node, moving, ws, scratch, udot, acceleration)
    elif kind == JOIN:
        split(tree.inboard[node], tree.outboard[node], node, tree.tip[node] >= 0, scratch)


@pass_at
def correct_inward(node, forest, tree, ws, scratch, acceleration):
    """Repeat ``assemble`` for the gaps alone."""
    kind, a, b = tree.kind[node], tree.inboard[node], tree.outboard[node]
    if kind == BLOCK:
        if tree.carries_load[node]:
            correct_block_inward(forest, tree, node, ws, scratch)
    elif kind == JOIN:
        close_gap(a, b, node, tree.tip[a], tree.tip[node] >= 0, scratch, acceleration)
    else:
        add_biases(a, b, node, scratch)


@pass_at
def correct_outward(node, forest, tree, moving, ws, scratch, udot, acceleration):
    """Repeat ``disassemble`` for the gaps alone."""
    kind = tree.kind[node]
    if tree.whole[node]:
        set_handles(tree.carrier[node], node, (0.0, 0.0, 0.0), moving, scratch.link_wrench, scratch)
    if kind == BLOCK:
        correct_block_outward(forest, tree, node, ws, scratch, udot, acceleration)
    elif kind == JOIN:
        split(tree.inboard[node], tree.outboard[node], node, tree.tip[node] >= 0, scratch)


ASSEMBLE, DISASSEMBLE, CORRECT_INWARD, CORRECT_OUTWARD = range(4)
"""Operations on a node: the rows of the program that a sweep runs."""
NODE = (assemble, disassemble, correct_inward, correct_outward)


@pass_of
def sweep(tree, node):
    """Compute the accelerations of placed and moved links. The program ``node`` holds the passes that run for every
    node."""
    order = tree.order
    for k in range(order.size):
        run_at(node, ASSEMBLE, order[k])
    for k in range(order.size - 1, -1, -1):
        run_at(node, DISASSEMBLE, order[k])
    if tree.joins[0]:
        for k in range(tree.level[1], order.size):
            run_at(node, CORRECT_INWARD, order[k])
        for k in range(order.size - 1, -1, -1):
            run_at(node, CORRECT_OUTWARD, order[k])


@kernel(parallel=True)
def run_shared(node, which, order, start, end):
    """Run a pass on the nodes of a level, shared out among threads."""
    for k in prange(start, end):
        run_at(node, which, order[k])


@jit
def run_level(tree, level, node, which):
    """Run a pass on the nodes of a level, on several threads if the level has enough work."""
    start, end = tree.level[level], tree.level[level + 1]
    if tree.parallel[level]:
        run_shared(node, which, tree.order, start, end)
    else:
        for k in range(start, end):
            run_at(node, which, tree.order[k])


@pass_of
def sweep_in_parallel(tree, node):
    """Run ``sweep`` on all threads."""
    levels = tree.parallel.size
    for h in range(levels):
        run_level(tree, h, node, ASSEMBLE)
    for h in range(levels - 1, -1, -1):
        run_level(tree, h, node, DISASSEMBLE)
    if tree.joins[0]:
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
    """Return the pass that solves for the accelerations of placed and moved links.

    ``gravity`` (3,) is multiplied by ``factor`` (1,). ``node`` holds the passes of a node.
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
