"""The O(n) articulated-body algorithm (Featherstone 2008, table 7.1; Guy 2018, appendix A), in world axes.

The equation of motion of every link is stored about the origin of the link. The moment is n = A α + H a + bias, where α
is the angular acceleration and a the acceleration of the origin. The inward pass eliminates each joint, and adds the
remaining inertia and bias force of the link to its parent. The outward pass computes the accelerations. The caller
passes the mass, first moment and inertia of the links. The friction-implicit integrator adds the drag to them.
"""

from numba import prange

from articulon.algebra.inertia import skew
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    isotropic,
    load,
    load_from,
    load_symmetric,
    matrix_add,
    store6,
    store_from,
    sub,
    symmetric_add,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import frames, move, place
from articulon.kernels import jit, kernel


@jit
def gather(g, s, A, H, M, n, f):
    """Add the inertia and the bias force in slot s to the given ones."""
    A = symmetric_add(A, load_symmetric(g, s))
    H = matrix_add(H, (load_from(g, s, 6), load_from(g, s, 9), load_from(g, s, 12)))
    M = symmetric_add(M, (g[s, 15], g[s, 16], g[s, 17], g[s, 18], g[s, 19], g[s, 20]))
    return A, H, M, add(n, load_from(g, s, 21)), add(f, load_from(g, s, 24))


@jit
def store_inertia(g, s, A, H, M):
    """Write an inertia to the first 21 numbers of row s."""
    store6(g, s, 0, A)
    store_from(g, s, 6, H[0])
    store_from(g, s, 9, H[1])
    store_from(g, s, 12, H[2])
    store6(g, s, 15, M)


@jit
def add_to_parent(forest, gathered, i, A, H, M, n, f):
    """Add the remaining inertia and bias force of link i, about its parent's origin, to the parent's slot."""
    p = forest.parent[i]
    if p >= 0:
        s = forest.slot[p]
        if not forest.first[i]:  # a sibling has already written to the slot
            A, H, M, n, f = gather(gathered, s, A, H, M, n, f)
        store_inertia(gathered, s, A, H, M)
        store_from(gathered, s, 21, n)
        store_from(gathered, s, 24, f)


@jit
def wrench_on(wrench, i):
    """Force and moment on link i; ``wrench`` is (links, 6), or None if nothing acts."""
    if wrench is None:
        return ZERO, ZERO
    return load_from(wrench, i, 0), load_from(wrench, i, 3)


@jit
def gathered_at(forest, mass, moment, inertia, R, wrench, ws, i, kept):
    """Return the articulated inertia and bias force of link i at orientation R, world axes, before its joint is
    eliminated. The inertia is also stored in ``kept`` (links, 21), unless this array is empty."""
    w, h = load_from(ws.twist, i, 3), apply(R, load(moment, i))
    A, H, M = symmetric_rotate(R, load_symmetric(inertia, i)), skew(h), isotropic(mass[i])
    force, torque = wrench_on(wrench, i)
    n = sub(cross(w, symmetric_apply(A, w)), torque)
    f = sub(cross(w, cross(w, h)), force)
    if forest.slot[i] >= 0:
        A, H, M, n, f = gather(ws.gathered, forest.slot[i], A, H, M, n, f)
    if kept.shape[0] > 0:
        store_inertia(kept, i, A, H, M)
    return A, H, M, n, f


@jit
def carried_outward(forest, gravity, ws, i):
    """Return the acceleration that link i would have if the speeds of its joint were constant: the angular
    acceleration, and the acceleration of the origin, world axes. Gravity enters as an opposite acceleration of the
    ground."""
    p = forest.parent[i]
    aw, av = ZERO, (-gravity[0], -gravity[1], -gravity[2])
    if p >= 0:
        aw = load_from(ws.acceleration, p, 0)
        av = add(load_from(ws.acceleration, p, 3), cross(aw, load(ws.reach, i)))
    return add(aw, load_from(ws.bias, i, 0)), add(av, load_from(ws.bias, i, 3))


@jit
def eliminate(forest, mass, moment, inertia, tau, wrench, ws, start, end):
    """Inward pass: eliminate each joint, and add the remaining articulated inertia and bias force to the parent's
    slot."""
    eliminate_and_keep(forest, mass, moment, inertia, tau, wrench, ws, start, end, ws.gathered[:0])


@by_forest
def eliminate_and_keep(forest, mass, moment, inertia, tau, wrench, ws, start, end, kept):
    """Inward pass like ``eliminate``. The articulated inertia of each link, before its joint is eliminated, is stored
    in ``kept`` (links, 21)."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, bias, record = ws.quaternion, ws.rotation, ws.bias, ws.record
    for i in range(end - 1, start - 1, -1):
        kind = kinds[i]
        frame, R = frames(kind, parent, rotation, quaternion, rotations, i)
        A, H, M, n, f = gathered_at(forest, mass, moment, inertia, R, wrench, ws, i, kept)
        r, cw, cv = load(ws.reach, i), load_from(bias, i, 0), load_from(bias, i, 3)
        A, H, M, n, f, left = joints.eliminate(kind, load(axes, i), tau, u_start[i], frame, R, r, cw, cv, A, H, M, n, f)
        store6(record, i, 0, left)
        store6(record, i, 6, left[6:])
        add_to_parent(forest, ws.gathered, i, A, H, M, n, f)


@by_forest
def accelerate(forest, gravity, ws, udot, start, end):
    """Outward pass: compute the joint accelerations. Gravity enters as an acceleration of the inertial frame (POEMS,
    5.3)."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, record, acceleration = ws.quaternion, ws.rotation, ws.record, ws.acceleration
    for i in range(start, end):
        kind = kinds[i]
        aw, av = carried_outward(forest, gravity, ws, i)
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        aw, av = joints.accelerate(kind, load(axes, i), frame, body, record, i, aw, av, udot, u_start[i])
        store_from(acceleration, i, 0, aw)
        store_from(acceleration, i, 3, av)


@jit
def solve_tree(forest, q, u, tau, wrench, gravity, ws, udot, t):
    """Compute the accelerations of tree t. ``wrench`` (links, 6) is force, then moment about the link's origin, world
    axes."""
    start, end = forest.tree[t], forest.tree[t + 1]
    place(forest, q, ws, start, end)
    move(forest, u, ws, start, end)
    eliminate(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, ws, start, end)
    accelerate(forest, gravity, ws, udot, start, end)


@kernel
def forward_dynamics(forest, q, u, tau, wrench, gravity, ws, udot):
    """Compute the joint accelerations udot (nu,) of the whole forest, tree after tree."""
    for t in range(forest.tree.size - 1):
        solve_tree(forest, q, u, tau, wrench, gravity, ws, udot, t)


@kernel(parallel=True)
def forward_dynamics_parallel(forest, q, u, tau, wrench, gravity, ws, udot):
    """Compute the joint accelerations udot (nu,) of the whole forest, with the trees shared out among threads."""
    for t in prange(forest.tree.size - 1):
        solve_tree(forest, q, u, tau, wrench, gravity, ws, udot, t)
