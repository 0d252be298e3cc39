"""Products of the derivatives of the joint forces with vectors, in O(n) and without a matrix.

With λ a set of joint speeds and V the motion of the links at these speeds, λᵀτ is a virtual power. Its derivative with
respect to a displacement along joint j's column t is, with the composites and wrenches of ``force_jacobians.py``,

    λᵀ ∂τ/∂q_t = R·t'' + r·t' + g·t + V_p·(I t'' + 2 B t' + t × F),   R = Σ I S λ,  r = Σ (2 B)ᵀ S λ,

where the sums are over joint j and all joints that it carries. V_p is the motion of the link that carries joint j, and
g is the corresponding sum for the given wrenches (``loads_transposed``).
"""

from articulon.algebra.vectors import ZERO, add, cross, dot, load, load_from, scale
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import (
    FORCE,
    MOMENT,
    coupling_times,
    coupling_transposed,
    gather_composite,
    hand_composite,
    hand_loads_to_parent,
    inertia_times,
    loads_times,
    loads_transposed,
)
from articulon.dynamics.derivatives.force_jacobians import power
from articulon.dynamics.derivatives.motion_columns import (
    FIRST,
    SECOND,
    SHIFT,
    SPEED,
    load_motion,
    motion_cross,
    store_motion,
)
from articulon.kernels import jit

WIDTH = 12
"""Length of the vectors that a link passes on to its parent: R (moment, force), r, g."""


@jit
def columns_times(kind, columns, c, speeds, j):
    """The sum of a joint's columns, each times its speed. The columns begin in row ``c``, the speeds at index ``j``."""
    w, v = ZERO, ZERO
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = load_motion(columns, c + k, SHIFT)
        w, v = add(w, scale(speeds[j + k], sw)), add(v, scale(speeds[j + k], sv))
    return w, v


@jit
def joint_motion(forest, columns, speeds, i):
    """The motion of link i relative to its parent at given joint speeds."""
    first = forest.u_start[i]
    return columns_times(forest.kind[i], columns, first, speeds, first)


@jit
def move_link(forest, ws, columns, speeds, motion, i):
    """Write the motion of link i at given joint speeds to row i of ``motion`` (links, 6); the row of its parent must
    have been written before."""
    w, v = joint_motion(forest, columns, speeds, i)
    pw, pv = carried_motion(forest.parent, ws, motion, i)
    store_motion(motion, i, 0, add(pw, w), add(pv, v))


@jit
def move_by(forest, ws, columns, speeds, motion):
    """The motion of the links (links, 6) at given joint speeds, angular part first."""
    for i in range(forest.parent.size):
        move_link(forest, ws, columns, speeds, motion, i)


@jit
def carried_motion(parent, ws, motion, i):
    """The parent's motion, taken about the link's origin."""
    p = parent[i]
    if p < 0:
        return ZERO, ZERO
    w, v = load_motion(motion, p, 0)
    return w, add(v, cross(w, load(ws.reach, i)))


@jit
def load_sums(rows, i):
    """Four vectors in row i, such as the sums R (moment, force), r and g."""
    return load_from(rows, i, 0), load_from(rows, i, 3), load_from(rows, i, 6), load_from(rows, i, 9)


@jit
def add_sums(one, other):
    """Sums of four vectors each."""
    return add(one[0], other[0]), add(one[1], other[1]), add(one[2], other[2]), add(one[3], other[3])


@jit
def store_sums(rows, i, sums):
    """Writes four vectors to row i."""
    store_motion(rows, i, 0, sums[0], sums[1])
    store_motion(rows, i, 6, sums[2], sums[3])


@jit
def gathered_sums(kind, columns, c, weight, j, composites, loads, at, carried, rows, s):
    """The sums R, r and g over a joint and all joints that it carries. The columns of the joint begin in row ``c``, its
    weights at index ``j``; ``at`` is its row of ``composites`` and ``loads``. If it carries joints (``carried``), the
    sums over these are in row ``s`` of ``rows``."""
    w, v = columns_times(kind, columns, c, weight, j)
    n, f = inertia_times(composites, at, w, v)
    r, g = coupling_transposed(composites, at, w, v), loads_transposed(loads, at, w, v)
    if not carried:
        return n, f, r, g
    return add_sums((n, f, r, g), load_sums(rows, s))


@jit
def hand_sums(forest, ws, sums, rows, i, s):
    """Adds the sums of link i, about its parent's origin, to the sums of the parent in row ``s`` of ``rows``. The first
    child overwrites this row."""
    n, f, r, g = sums
    moved = add(n, cross(load(ws.reach, i), f)), f, r, g
    if not forest.first[i]:
        moved = add_sums(moved, load_sums(rows, s))
    store_sums(rows, s, moved)


@jit
def stays(kind, columns, c, weight, j):
    """The sum of those columns of a joint that are fixed in the joint frame, each times its weight. The columns begin
    in row ``c``, the weights at index ``j``."""
    w, v = ZERO, ZERO
    for k in range(joints.degrees_of_freedom(kind)):
        if not joints.fixed_in_body(kind, k):
            sw, sv = load_motion(columns, c + k, SHIFT)
            w, v = add(w, scale(weight[j + k], sw)), add(v, scale(weight[j + k], sv))
    return w, v


@jit
def multiply_columns(kind, columns, c, weight, j, composites, loads, at, sums, pw, pv, dq, du):
    """Writes the products for one joint, from its ``sums`` R, r and g, and from the motion p of the link that carries
    it. The columns of the joint begin in row ``c``, its speeds at index ``j``; ``at`` is its row of ``composites`` and
    ``loads``."""
    lw, lv = stays(kind, columns, c, weight, j)
    moment, force = load_from(composites, at, MOMENT), load_from(composites, at, FORCE)
    # The factors of the columns are the same for all columns of the joint: V_p·(I t'') is t''·(I V_p), and so on.
    n, f = inertia_times(composites, at, pw, pv)
    rn, rf = add(sums[0], n), add(sums[1], f)
    r = add(sums[2], coupling_transposed(composites, at, pw, pv))
    given = add(sums[3], loads_transposed(loads, at, pw, pv))
    aw, av = add(pw, lw), add(pv, lv)
    given = add(given, add(cross(moment, aw), cross(force, av)))
    pushed = cross(force, aw)
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = load_motion(columns, c + k, SHIFT)
        gw, gv = load_motion(columns, c + k, SECOND)
        hw, hv = load_motion(columns, c + k, SPEED)
        part = power(rn, rf, gw, gv) + dot(r, load_from(columns, c + k, FIRST))
        dq[j + k] = part + power(given, pushed, sw, sv)
        du[j + k] = power(rn, rf, hw, hv) + dot(r, sw)


@jit
def transposed_products(forest, wrench, ws, columns, acceleration, composites, loads, weight, motion, rows, dq, du):
    """The products weightᵀ ∂τ/∂q and weightᵀ ∂τ/∂u (nu,), for links whose columns have been computed. ``motion``
    (links, 6), ``composites`` and ``rows`` (links, 12) are scratch, and ``loads`` contain the wrenches on the links'
    bodies at the start."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    move_by(forest, ws, columns, weight, motion)
    for i in range(parent.size - 1, -1, -1):
        kind, j, p = kinds[i], u_start[i], parent[i]
        aw, av = load_motion(acceleration, i, 0)
        gather_composite(forest, wrench, ws, aw, av, composites, i, i, i)
        sums = gathered_sums(kind, columns, j, weight, j, composites, loads, i, forest.slot[i] >= 0, rows, i)
        store_sums(rows, i, sums)
        pw, pv = carried_motion(parent, ws, motion, i)
        multiply_columns(kind, columns, j, weight, j, composites, loads, i, sums, pw, pv, dq, du)
        hand_loads_to_parent(forest, ws, loads, i)
        if p >= 0:
            hand_composite(forest, ws, composites, i, i, p)
            hand_sums(forest, ws, sums, rows, i, p)


@jit
def own_changes(kind, columns, c, shift, speed, j):
    """Effect of the displacements δq and speeds δu of one joint on all links that it carries, about the origin of its
    own: Σ (s'' δq + (s' + s˙) δu), then the angular parts of Σ (s' δq + s δu) and of Σ s δq. The columns of the joint
    begin in row ``c``, its speeds at index ``j``."""
    aw, av, x, y = ZERO, ZERO, ZERO, ZERO
    for k in range(joints.degrees_of_freedom(kind)):
        sw = load_from(columns, c + k, SHIFT)
        gw, gv = load_motion(columns, c + k, SECOND)
        hw, hv = load_motion(columns, c + k, SPEED)
        aw = add(aw, add(scale(shift[j + k], gw), scale(speed[j + k], hw)))
        av = add(av, add(scale(shift[j + k], gv), scale(speed[j + k], hv)))
        x = add(x, add(scale(shift[j + k], load_from(columns, c + k, FIRST)), scale(speed[j + k], sw)))
        y = add(y, scale(shift[j + k], sw))
    return aw, av, x, y


@jit
def carry_changes(forest, ws, own, changes, i):
    """Writes the effect of all joints that carry link i, also its own, to its row of ``changes`` (links, 12). ``own``
    is the effect of its own joint. The row of its parent must have been written before."""
    p = forest.parent[i]
    if p >= 0:
        aw, av, x, y = load_sums(changes, p)
        own = add_sums(own, (aw, add(av, cross(aw, load(ws.reach, i))), x, y))
    store_sums(changes, i, own)


@jit
def subtract_change(kind, columns, c, shift, j, composites, loads, at, change, own, inner_n, inner_f, dtau):
    """Subtracts the change of the forces of one joint from ``dtau``. The columns of the joint begin in row ``c``, its
    speeds at index ``j``; ``at`` is its row of ``composites`` and ``loads``. ``own`` is the effect of this joint on the
    links that it carries, ``change`` the effect of all joints that carry them. (``inner_n``, ``inner_f``) is the change
    of the wrench on the link that is due to the joints further out. Returns its sum with the part of this joint."""
    moment, strength = load_from(composites, at, MOMENT), load_from(composites, at, FORCE)
    # It leaves out s × F, the change because the wrench moves with the bodies.
    n, f = needed_wrench(composites, loads, at, change)
    n, f = add(n, inner_n), add(f, inner_f)
    lw, lv = columns_times(kind, columns, c, shift, j)
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = load_motion(columns, c + k, SHIFT)
        dtau[j + k] -= power(n, f, sw, sv)
        if not joints.fixed_in_body(kind, k):
            aw, av = motion_cross(lw, lv, sw, sv)
            dtau[j + k] += power(moment, strength, aw, av)
    # Now due to this joint alone, and with s × F. It acts on the joints that carry this one.
    n, f = needed_wrench(composites, loads, at, own)
    n, f = add(n, add(cross(lw, moment), cross(lv, strength))), add(f, cross(lw, strength))
    return add(inner_n, n), add(inner_f, f)


@jit
def needed_wrench(composites, loads, at, change):
    """Change of the wrench that the links carried by a joint need, for an effect as in :func:`own_changes`."""
    n, f = inertia_times(composites, at, change[0], change[1])
    a, b = coupling_times(composites, at, change[2])
    c, d = loads_times(loads, at, change[3])
    return add(n, add(a, c)), add(f, add(b, d))


@jit
def products(forest, wrench, ws, columns, acceleration, composites, loads, shift, speed, changes, force, dtau):
    """Subtracts ∂τ/∂q δq + ∂τ/∂u δu from ``dtau`` (nu,), for the changes ``shift`` and ``speed``.

    ``changes`` (links, 12), ``composites`` and ``force`` (links, 6) are scratch, and ``loads`` contain the wrenches on
    the links' bodies at the start."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size):
        own = own_changes(kinds[i], columns, u_start[i], shift, speed, u_start[i])
        carry_changes(forest, ws, own, changes, i)
    for i in range(parent.size - 1, -1, -1):
        kind, j, p = kinds[i], u_start[i], parent[i]
        aw, av = load_motion(acceleration, i, 0)
        gather_composite(forest, wrench, ws, aw, av, composites, i, i, i)
        change, n, f = load_sums(changes, i), ZERO, ZERO
        if forest.slot[i] >= 0:
            n, f = load_motion(force, i, 0)
        own = own_changes(kind, columns, j, shift, speed, j)
        n, f = subtract_change(kind, columns, j, shift, j, composites, loads, i, change, own, n, f, dtau)
        if p >= 0:
            n = add(n, cross(load(ws.reach, i), f))
            if not forest.first[i]:
                a, b = load_motion(force, p, 0)
                n, f = add(n, a), add(f, b)
            store_motion(force, p, 0, n, f)
            hand_composite(forest, ws, composites, i, i, p)
        hand_loads_to_parent(forest, ws, loads, i)
