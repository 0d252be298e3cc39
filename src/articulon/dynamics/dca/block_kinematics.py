"""Kinematics of long chains on several threads. The blocks of the assembly tree are computed in three passes.

The first pass computes poses and velocities of the links of every block as if the carrier of the block were at rest in
world axes. The second pass composes the poses and velocities of the carriers, from the ground outward. The last pass
rotates and shifts every block, adds the motion of its carrier, and computes the velocity products. The first and last
passes are shared out among threads. The links of a block are always computed by one thread and in the same order, so
that the results are bitwise the same for any number of threads. They differ from the results of ``kinematics`` by
rounding.
"""

from typing import NamedTuple

import numpy as np
from numba import prange

from articulon.algebra.rotations import IDENTITY, load_quaternion, matrix, product, store_quaternion
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    load,
    load_from,
    load_matrix,
    store,
    store_from,
    store_matrix,
)
from articulon.dynamics import joints
from articulon.dynamics.dca.assembly_tree import BLOCK, AssemblyTree
from articulon.dynamics.kinematics import joint_motion
from articulon.kernels import jit, kernel


class BlockScratch(NamedTuple):
    """Scratch with the poses and motions of the blocks' carriers; it is not part of the state."""

    blocks: np.ndarray
    """Nodes that are blocks, those nearer to the ground first, shape (blocks,)."""
    head: np.ndarray
    """Block that holds the carrier of each block, −1 for the ground, shape (blocks,)."""
    quaternion: np.ndarray
    """Rotation from carrier to world, shape (blocks, 4)."""
    position: np.ndarray
    """Origin of the carrier [length], shape (blocks, 3)."""
    twist: np.ndarray
    """Velocity of the carrier's origin, then its angular velocity, shape (blocks, 6)."""


def block_scratch(tree: AssemblyTree) -> BlockScratch:
    """Return zeroed scratch with the blocks of an assembly tree in order."""
    blocks = np.flatnonzero(tree.kind == BLOCK)
    blocks = blocks[np.argsort(tree.link[tree.start[blocks]], kind="stable")]
    home = np.full(tree.link.size, -1, dtype=np.int64)
    for place, node in enumerate(blocks.tolist()):
        home[tree.link[tree.start[node] : tree.end[node]]] = place
    carrier = tree.carrier[blocks]
    head = np.where(carrier >= 0, home[carrier], -1)
    count = blocks.size
    return BlockScratch(blocks, head, np.zeros((count, 4)), np.zeros((count, 3)), np.zeros((count, 6)))


@jit
def place_block(forest, tree, node, q, u, ws):
    """Compute poses and velocities of the links of a block, with its carrier at rest at the origin."""
    parent, kinds, q_start, u_start, axes = forest.parent, forest.kind, forest.q_start, forest.u_start, forest.axis
    offset, rotation = forest.position, forest.rotation
    quaternion, R, reach, position, twist = ws.quaternion, ws.rotation, ws.reach, ws.position, ws.twist
    for m in range(tree.start[node], tree.end[node]):
        i = tree.link[m]
        p, kind, inside = parent[i], kinds[i], tree.inside[i]
        frame, r, origin, pw, pv = load_quaternion(rotation, i), load(offset, i), ZERO, ZERO, ZERO
        if inside:
            frame = product(load_quaternion(quaternion, p), frame)
            r, origin = apply(load_matrix(R, p), r), load(position, p)
            pw, pv = load_from(twist, p, 3), load_from(twist, p, 0)
        e, d = joints.place(kind, load(axes, i), q, q_start[i], frame)
        body = matrix(e)
        fixed = matrix(frame) if joints.framed(kind) else body
        if joints.translates(kind):
            r = add(r, apply(fixed, d))
        jw, jv = joints.velocity(kind, load(axes, i), u, u_start[i], fixed, body)
        store_quaternion(quaternion, i, e)
        store_matrix(R, i, body)
        store(reach, i, r)
        store(position, i, add(origin, r))
        store_from(twist, i, 3, add(pw, jw))
        store_from(twist, i, 0, add(add(pv, cross(pw, r)), jv))


@jit
def carry_blocks(tree, ws, blocks):
    """Compute the pose and velocity of every block's carrier, from the ground outward."""
    for k in range(blocks.blocks.size):
        h, c = blocks.head[k], tree.carrier[blocks.blocks[k]]
        e, x, w, v = IDENTITY, ZERO, ZERO, ZERO
        if c >= 0:
            base, R = load_quaternion(blocks.quaternion, h), matrix(load_quaternion(blocks.quaternion, h))
            bw, bv = load_from(blocks.twist, h, 3), load_from(blocks.twist, h, 0)
            arm = apply(R, load(ws.position, c))
            e = product(base, load_quaternion(ws.quaternion, c))
            x = add(load(blocks.position, h), arm)
            w = add(bw, apply(R, load_from(ws.twist, c, 3)))
            v = add(add(bv, cross(bw, arm)), apply(R, load_from(ws.twist, c, 0)))
        store_quaternion(blocks.quaternion, k, e)
        store(blocks.position, k, x)
        store_from(blocks.twist, k, 0, v)
        store_from(blocks.twist, k, 3, w)


@jit
def sweep_block(forest, tree, node, k, u, ws, blocks):
    """Add the carrier's motion to the links of a block, and compute their velocity products."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    quaternion, rotation, reach, position = ws.quaternion, ws.rotation, ws.reach, ws.position
    twist, bias = ws.twist, ws.bias
    base, x = load_quaternion(blocks.quaternion, k), load(blocks.position, k)
    w, v, R = load_from(blocks.twist, k, 3), load_from(blocks.twist, k, 0), matrix(base)
    carried = tree.carrier[node] >= 0
    for m in range(tree.start[node], tree.end[node]):
        i = tree.link[m]
        p, kind, inside = parent[i], kinds[i], tree.inside[i]
        if carried:
            e = product(base, load_quaternion(quaternion, i))
            store_quaternion(quaternion, i, e)
            store_matrix(rotation, i, matrix(e))
            store(reach, i, apply(R, load(reach, i)))
            store(position, i, add(x, apply(R, load(position, i))))
        carrier, pw, pv = base, w, v
        if inside:
            carrier, pw, pv = load_quaternion(quaternion, p), load_from(twist, p, 3), load_from(twist, p, 0)
        frame = body = load_matrix(rotation, i)
        if joints.framed(kind):
            frame = matrix(product(carrier, load_quaternion(forest.rotation, i)))
        lw, lv, cw, cv = joint_motion(kind, load(axes, i), u, u_start[i], frame, body, load(reach, i), pw, pv)
        store_from(twist, i, 3, lw)
        store_from(twist, i, 0, lv)
        store_from(bias, i, 0, cw)
        store_from(bias, i, 3, cv)


@kernel(parallel=True)
def locate_by_blocks(forest, tree, q, u, ws, blocks):
    """Compute poses and velocities of all links, block by block."""
    order = blocks.blocks
    for k in prange(order.size):
        place_block(forest, tree, order[k], q, u, ws)
    carry_blocks(tree, ws, blocks)
    for k in prange(order.size):
        sweep_block(forest, tree, order[k], k, u, ws, blocks)
