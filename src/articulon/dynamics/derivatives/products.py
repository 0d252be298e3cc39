"""Products of the derivatives of the joint forces with vectors, in O(n) and without a matrix.

With λ a set of joint speeds and V the motion of the links at these speeds, λᵀτ is a virtual power. Its derivative with
respect to a displacement along joint j's column t is, with the composites and wrenches of ``force_jacobians.py``,

    λᵀ ∂τ/∂q_t = R·t'' + r·t' + g·t + V_p·(I t'' + 2 B t' + t × F),   R = Σ I S λ,  r = Σ (2 B)ᵀ S λ,

where the sums are over joint j and all joints that it carries. V_p is the motion of the link that carries joint j, and
g is the corresponding sum for the given wrenches (``loads_transposed``).
"""

from articulon.algebra.vectors import ZERO, add, cross, dot, load, load_from, scale, store_from
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import (
    FORCE,
    MOMENT,
    add_from,
    coupling_times,
    coupling_transposed,
    hand_loads_to_parent,
    hand_to_parent,
    inertia_times,
    loads_times,
    loads_transposed,
    store_own,
)
from articulon.dynamics.derivatives.force_jacobians import carried_wrench, moved_column, power
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
def joint_motion(forest, columns, speeds, i):
    """The motion of link i relative to its parent at given joint speeds."""
    first, w, v = forest.u_start[i], ZERO, ZERO
    for k in range(first, first + joints.degrees_of_freedom(forest.kind[i])):
        sw, sv = load_motion(columns, k, SHIFT)
        w, v = add(w, scale(speeds[k], sw)), add(v, scale(speeds[k], sv))
    return w, v


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
def gather_rows(forest, ws, columns, composites, loads, weight, rows, i):
    """Adds to a link's row of ``rows`` (links, 12) the terms of its own joint in the sums R, r and g: the columns of
    the joint times their weights."""
    w, v = joint_motion(forest, columns, weight, i)
    n, f = inertia_times(composites, i, w, v)
    add_from(rows, i, 0, n)
    add_from(rows, i, 3, f)
    add_from(rows, i, 6, coupling_transposed(composites, i, w, v))
    add_from(rows, i, 9, loads_transposed(loads, i, w, v))


@jit
def hand_rows_to_parent(forest, ws, rows, i):
    """Adds a link's row, about its parent's origin, to the row of the parent."""
    p = forest.parent[i]
    if p >= 0:
        f = load_from(rows, i, 3)
        add_from(rows, p, 0, add(load_from(rows, i, 0), cross(load(ws.reach, i), f)))
        add_from(rows, p, 3, f)
        add_from(rows, p, 6, load_from(rows, i, 6))
        add_from(rows, p, 9, load_from(rows, i, 9))


@jit
def stays(kind, columns, j, weight):
    """The sum of those columns of a joint that are fixed in the joint frame, each times its weight."""
    w, v = ZERO, ZERO
    for k in range(joints.degrees_of_freedom(kind)):
        if not joints.fixed_in_body(kind, k):
            sw, sv = load_motion(columns, j + k, SHIFT)
            w, v = add(w, scale(weight[j + k], sw)), add(v, scale(weight[j + k], sv))
    return w, v


@jit
def transposed_products(forest, wrench, ws, columns, acceleration, composites, loads, weight, motion, rows, dq, du):
    """The products weightᵀ ∂τ/∂q and weightᵀ ∂τ/∂u (nu,), for links whose columns have been computed. ``motion``
    (links, 6), ``composites`` and ``rows`` (links, 12) are scratch, and ``loads`` contain the wrenches on the links'
    bodies at the start."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size):  # one sweep: for long chains, memory access takes most of the time
        store_own(forest, wrench, ws, acceleration, composites, i)
        move_link(forest, ws, columns, weight, motion, i)
        for k in range(WIDTH):
            rows[i, k] = 0.0
    for i in range(parent.size - 1, -1, -1):
        kind, j = kinds[i], u_start[i]
        gather_rows(forest, ws, columns, composites, loads, weight, rows, i)
        pw, pv = carried_motion(parent, ws, motion, i)
        lw, lv = stays(kind, columns, j, weight)
        moment, force = load_from(composites, i, MOMENT), load_from(composites, i, FORCE)
        # The factors of the columns are the same for all columns of the joint: V_p·(I t'') is t''·(I V_p), and so on.
        n, f = inertia_times(composites, i, pw, pv)
        rn, rf = add(load_from(rows, i, 0), n), add(load_from(rows, i, 3), f)
        r = add(load_from(rows, i, 6), coupling_transposed(composites, i, pw, pv))
        given = add(load_from(rows, i, 9), loads_transposed(loads, i, pw, pv))
        aw, av = add(pw, lw), add(pv, lv)
        given = add(given, add(cross(moment, aw), cross(force, av)))
        pushed = cross(force, aw)
        for k in range(j, j + joints.degrees_of_freedom(kind)):
            sw, sv = load_motion(columns, k, SHIFT)
            gw, gv = load_motion(columns, k, SECOND)
            hw, hv = load_motion(columns, k, SPEED)
            dq[k] = power(rn, rf, gw, gv) + dot(r, load_from(columns, k, FIRST)) + power(given, pushed, sw, sv)
            du[k] = power(rn, rf, hw, hv) + dot(r, sw)
        hand_to_parent(forest, ws, composites, i)
        hand_loads_to_parent(forest, ws, loads, i)
        hand_rows_to_parent(forest, ws, rows, i)


@jit
def carry_changes(forest, ws, columns, shift, speed, changes, i):
    """Effect of joint displacements δq and speeds δu (nu,) on link i, written to ``changes`` (links, 12). It consists
    of Σ (s'' δq + (s' + s˙) δu), then of the angular parts of Σ (s' δq + s δu) and of Σ s δq. The sums include all
    joints that carry the link, also its own."""
    p, first = forest.parent[i], forest.u_start[i]
    aw, av, b, c = ZERO, ZERO, ZERO, ZERO
    if p >= 0:
        aw = load_from(changes, p, 0)
        av = add(load_from(changes, p, 3), cross(aw, load(ws.reach, i)))
        b, c = load_from(changes, p, 6), load_from(changes, p, 9)
    for k in range(first, first + joints.degrees_of_freedom(forest.kind[i])):
        sw = load_from(columns, k, SHIFT)
        gw, gv = load_motion(columns, k, SECOND)
        hw, hv = load_motion(columns, k, SPEED)
        aw = add(aw, add(scale(shift[k], gw), scale(speed[k], hw)))
        av = add(av, add(scale(shift[k], gv), scale(speed[k], hv)))
        b = add(b, add(scale(shift[k], load_from(columns, k, FIRST)), scale(speed[k], sw)))
        c = add(c, scale(shift[k], sw))
    store_motion(changes, i, 0, aw, av)
    store_from(changes, i, 6, b)
    store_from(changes, i, 9, c)


@jit
def products(forest, wrench, ws, columns, acceleration, composites, loads, shift, speed, changes, force, dtau):
    """Subtracts ∂τ/∂q δq + ∂τ/∂u δu from ``dtau`` (nu,), for the changes ``shift`` and ``speed``.

    ``changes`` (links, 12), ``composites`` and ``force`` (links, 6) are scratch, and ``loads`` contain the wrenches on
    the links' bodies at the start."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size):  # one sweep: for long chains, memory access takes most of the time
        store_own(forest, wrench, ws, acceleration, composites, i)
        carry_changes(forest, ws, columns, shift, speed, changes, i)
        store_motion(force, i, 0, ZERO, ZERO)
    for i in range(parent.size - 1, -1, -1):
        kind, j, p = kinds[i], u_start[i], parent[i]
        moment, strength = load_from(composites, i, MOMENT), load_from(composites, i, FORCE)
        # Change of the wrench on all that this joint carries, due to the joint itself and all joints that carry it. It
        # leaves out s × F, the change because the wrench moves with the bodies.
        n, f = inertia_times(composites, i, load_from(changes, i, 0), load_from(changes, i, 3))
        a, b = coupling_times(composites, i, load_from(changes, i, 6))
        c, d = loads_times(loads, i, load_from(changes, i, 9))
        n, f = add(n, add(a, c)), add(f, add(b, d))
        inner_n, inner_f = load_from(force, i, 0), load_from(force, i, 3)
        lw, lv = ZERO, ZERO
        for k in range(j, j + joints.degrees_of_freedom(kind)):
            sw, sv = load_motion(columns, k, SHIFT)
            lw, lv = add(lw, scale(shift[k], sw)), add(lv, scale(shift[k], sv))
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = load_motion(columns, j + k, SHIFT)
            dtau[j + k] -= power(add(n, inner_n), add(f, inner_f), sw, sv)
            if not joints.fixed_in_body(kind, k):
                aw, av = motion_cross(lw, lv, sw, sv)
                dtau[j + k] += power(moment, strength, aw, av)
        if p >= 0:
            # Change of that wrench due to this joint alone, now with s × F. It acts on the joints that carry this one.
            for k in range(j, j + joints.degrees_of_freedom(kind)):
                n, f, x, y = moved_column(composites, loads, columns, i, k)
                carried = carried_wrench(composites, columns, i, k)
                inner_n = add(inner_n, add(scale(shift[k], add(n, carried[0])), scale(speed[k], x)))
                inner_f = add(inner_f, add(scale(shift[k], add(f, carried[1])), scale(speed[k], y)))
            add_from(force, p, 0, add(inner_n, cross(load(ws.reach, i), inner_f)))
            add_from(force, p, 3, inner_f)
        hand_to_parent(forest, ws, composites, i)
        hand_loads_to_parent(forest, ws, loads, i)
