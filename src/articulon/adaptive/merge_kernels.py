"""Kernels that merge the links of a forest into bodies: positions of the links, and masses of the merged bodies."""

from articulon.algebra.rotations import load_quaternion, matrix, product, store_quaternion
from articulon.algebra.vectors import add, apply, dot, load, load_symmetric, scale, store, symmetric_rotate
from articulon.dynamics import joints
from articulon.kernels import jit, kernel
from articulon.model.joints import WELD


@jit
def inertia_about(A, h, m, r):
    """Inertia about another origin r away, from an inertia A with first moment h and mass m about its own origin:
    A + 2 (h·r) 1 − h rᵀ − r hᵀ + m (r² 1 − r rᵀ)."""
    s = 2.0 * dot(h, r) + m * dot(r, r)
    return (
        A[0] + s - 2.0 * h[0] * r[0] - m * r[0] * r[0],
        A[1] - h[0] * r[1] - r[0] * h[1] - m * r[0] * r[1],
        A[2] - h[0] * r[2] - r[0] * h[2] - m * r[0] * r[2],
        A[3] + s - 2.0 * h[1] * r[1] - m * r[1] * r[1],
        A[4] - h[1] * r[2] - r[1] * h[2] - m * r[1] * r[2],
        A[5] + s - 2.0 * h[2] * r[2] - m * r[2] * r[2],
    )


@kernel
def merge(forest, q, fixed, locked, tables):
    """Fill ``tables``, a :class:`articulon.adaptive.merged_bodies.Merged`, for links that are ``fixed`` on their
    parents.

    Links whose joints are ``locked`` are placed at their locked coordinates.
    """
    parent, kinds, q_start = forest.parent, forest.kind, forest.q_start
    lead, position, rotation = tables.lead, tables.position, tables.rotation
    mass, moment, inertia = tables.mass, tables.moment, tables.inertia
    for i in range(parent.size):
        p, kind, frame, x = parent[i], kinds[i], load_quaternion(forest.rotation, i), load(forest.position, i)
        lead[i] = -1 if fixed[i] else i
        if locked[i] and kind != WELD:
            e, d = joints.place(kind, load(forest.axis, i), q, q_start[i], frame)
            if joints.translates(kind):
                x = add(x, apply(matrix(frame if joints.framed(kind) else e), d))
            frame = e
        # Position and rotation of the joint frame in the body that contains the parent. For a fixed link, they are
        # those of the link.
        if p >= 0 and lead[p] != p:
            x = add(load(position, p), apply(matrix(load_quaternion(rotation, p)), x))
            frame = product(load_quaternion(rotation, p), frame)
        h, A, m = load(forest.moment, i), load_symmetric(forest.inertia, i), forest.mass[i]
        if fixed[i]:
            if p >= 0:
                lead[i] = lead[p]
            store(position, i, x)
            store_quaternion(rotation, i, frame)
            R = matrix(frame)
            h = apply(R, h)
            A = inertia_about(symmetric_rotate(R, A), h, m, x)
            h = add(h, scale(m, x))
        else:
            store(position, i, (0.0, 0.0, 0.0))
            store_quaternion(rotation, i, (1.0, 0.0, 0.0, 0.0))
            store(tables.joint_position, i, x)
            store_quaternion(tables.joint_rotation, i, frame)
            mass[i] = 0.0
            for k in range(3):
                moment[i, k] = 0.0
            for k in range(6):
                inertia[i, k] = 0.0
        c = lead[i]
        if c >= 0:
            mass[c] += m
            for k in range(3):
                moment[c, k] += h[k]
            for k in range(6):
                inertia[c, k] += A[k]


@kernel
def find_slots(parent, own, slot, first, free):
    """Assign to each link the slot in which the inertias of its children are summed, as in ``model/assemble.py``. A
    link with ``own`` contributions always has a slot; ``free`` (links + 1,) is scratch."""
    used, count = 0, 0
    for i in range(parent.size):
        slot[i], first[i] = -1, 0
    for i in range(parent.size - 1, -1, -1):
        if slot[i] < 0 and own[i]:
            if count == 0:
                free[0] = used
                used, count = used + 1, 1
            count -= 1
            slot[i] = free[count]
        if slot[i] >= 0:
            free[count] = slot[i]
            count += 1
        p = parent[i]
        if p < 0:
            count = 0
            continue
        if slot[p] < 0:
            first[i] = 1
            if count == 0:
                free[0] = used
                used, count = used + 1, 1
            count -= 1
            slot[p] = free[count]


@kernel
def points_on(links, points, position, rotation, result):
    """Convert points (n, 3) from the frames of their links to the frames of the bodies that the links are merged
    into."""
    for k in range(links.size):
        i = links[k]
        x = load(points, k)
        if i >= 0:
            x = add(load(position, i), apply(matrix(load_quaternion(rotation, i)), x))
        store(result, k, x)
