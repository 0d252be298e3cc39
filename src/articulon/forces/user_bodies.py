"""Positions and motion of the bodies that a user's force reads."""

from articulon.algebra.rotations import load_quaternion, normalised, product, store_quaternion
from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, store, store_from
from articulon.kernels import jit


@jit
def body_states(bodies, ws, positions, rotations, velocities):
    """Compute positions, Euler parameters and velocities of the bodies in the world."""
    links, offset_position, offset_rotation = bodies.link, bodies.offset_position, bodies.offset_rotation
    matrices, position, quaternion = ws.rotation, ws.position, ws.quaternion
    twist = ws.twist
    for k in range(links.size):
        i, r, e = links[k], load(offset_position, k), load_quaternion(offset_rotation, k)
        if i < 0:
            store(positions, k, r)
            store_quaternion(rotations, k, e)
            continue
        r, w = apply(load_matrix(matrices, i), r), load_from(twist, i, 3)
        store(positions, k, add(load(position, i), r))
        store_quaternion(rotations, k, normalised(product(load_quaternion(quaternion, i), e)))
        store_from(velocities, k, 0, add(load_from(twist, i, 0), cross(w, r)))
        store_from(velocities, k, 3, w)
