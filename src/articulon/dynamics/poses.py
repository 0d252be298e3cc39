"""Positions and rotations of bodies, including welded ones."""

from articulon.algebra.rotations import load_quaternion, normalised, product, quaternion_at, store_quaternion
from articulon.algebra.vectors import add, apply, load, load_matrix, store
from articulon.dynamics import joints
from articulon.dynamics.kinematics import drift, move, place
from articulon.kernels import jit, kernel
from articulon.passes import Pass


@jit
def body_pose(link, offset_position, offset_rotation, ws, k):
    """Position and unit Euler parameters of body k in the world."""
    i, x, e = link[k], load(offset_position, k), load_quaternion(offset_rotation, k)
    if i >= 0:
        x = add(load(ws.position, i), apply(load_matrix(ws.rotation, i), x))
        e = product(load_quaternion(ws.quaternion, i), e)
    return x, normalised(e)


@jit
def fill_poses(link, offset_position, offset_rotation, ws, positions, rotations):
    """Positions (bodies, 3) and rotations (bodies, 4) of the bodies on links with known poses."""
    for k in range(link.size):
        x, e = body_pose(link, offset_position, offset_rotation, ws, k)
        store(positions, k, x)
        store_quaternion(rotations, k, e)


find_poses = Pass(fill_poses)
"""The pass of :func:`fill_poses`."""


@kernel
def body_poses(forest, link, offset_position, offset_rotation, q, ws, positions, rotations):
    """Fills positions (bodies, 3) and rotations (bodies, 4) at q."""
    place(forest, q, ws, 0, forest.mass.size)
    fill_poses(link, offset_position, offset_rotation, ws, positions, rotations)


@kernel
def displace(forest, q, u, time):
    """Moves q, in place, for ``time`` at constant joint speeds. Euler parameters keep unit norm."""
    drift(forest, q, u, time)
    for i in range(forest.kind.size):
        at = joints.quaternion(forest.kind[i])
        if at >= 0:
            k = forest.q_start[i] + at
            e = normalised(quaternion_at(q, k))
            q[k], q[k + 1], q[k + 2], q[k + 3] = e[0], e[1], e[2], e[3]


@kernel
def link_velocities(forest, q, u, ws):
    """Computes poses and velocities of all links."""
    place(forest, q, ws, 0, forest.kind.size)
    move(forest, u, ws, 0, forest.kind.size)
