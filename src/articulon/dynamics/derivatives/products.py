"""Products of the derivatives of the joint forces with vectors, in O(n) and without a matrix.

With λ a set of joint speeds and V the motion of the links at these speeds, λᵀτ is a virtual power. Its derivative by
joint j's column t is, with the composites and wrenches of ``force_jacobians.py``,

    λᵀ ∂τ/∂q_t = R·t'' + r·t' + g·t + V_p·(I t'' + 2 B t' + t × F),   R = Σ I S λ,  r = Σ (2 B)ᵀ S λ,

where the sums are over joint j and all joints that it carries. V_p is the motion of the link that carries joint j, and
g is the corresponding sum for the given wrenches (``loads_transposed``).
"""

from articulon.algebra.vectors import ZERO, add, cross, dot, load, load_from, scale
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
"""Length of what a link hands to its parent: R (moment, force), r, g."""


@jit
def columns_times(kind, columns, c, speeds, j):
    """The sum of a joint's columns, from row ``c`` on, each times its speed, from ``j`` on."""
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
    """Adds a link's row, about its parent's origin, to its parent's."""
    p = forest.parent[i]
    if p >= 0:
        f = load_from(rows, i, 3)
        add_from(rows, p, 0, add(load_from(rows, i, 0), cross(load(ws.reach, i), f)))
        add_from(rows, p, 3, f)
        add_from(rows, p, 6, load_from(rows, i, 6))
        add_from(rows, p, 9, load_from(rows, i, 9))


@jit
def stays(kind, columns, c, weight, j):
    """The sum of those columns of a joint, from row ``c`` on, that are fixed in the joint frame, each times its weight,
    from ``j`` on."""
    w, v = ZERO, ZERO
    for k in range(joints.degrees_of_freedom(kind)):
        if not joints.fixed_in_body(kind, k):
            sw, sv = load_motion(columns, c + k, SHIFT)
            w, v = add(w, scale(weight[j + k], sw)), add(v, scale(weight[j + k], sv))
    return w, v


@jit
def load_sums(rows, i):
    """Four vectors in row i, such as the sums R (moment, force), r and g."""
    return load_from(rows, i, 0), load_from(rows, i, 3), load_from(rows, i, 6), load_from(rows, i, 9)


@jit
def store_sums(rows, i, sums):
    """Writes four vectors to row i."""
    store_motion(rows, i, 0, sums[0], sums[1])
    store_motion(rows, i, 6, sums[2], sums[3])


@jit
def multiply_columns(kind, columns, c, weight, j, composites, loads, at, sums, pw, pv, dq, du):
    """Writes the products for the columns of one joint, which begin in row ``c``; its speeds begin at ``j``, what it
    carries is in row ``at`` of ``composites`` and ``loads``, and p is the motion of the link that carries it."""
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
    (links, 6), ``composites`` and ``rows`` (links, 12) are scratch, and ``loads`` start as the wrenches on the links'
    bodies."""
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size):  # one sweep, since long chains wait for memory
        store_own(forest, wrench, ws, acceleration, composites, i)
        move_link(forest, ws, columns, weight, motion, i)
        for k in range(WIDTH):
            rows[i, k] = 0.0
    for i in range(parent.size - 1, -1, -1):
        j = u_start[i]
        gather_rows(forest, ws, columns, composites, loads, weight, rows, i)
        pw, pv = carried_motion(parent, ws, motion, i)
        sums = load_sums(rows, i)
        multiply_columns(kinds[i], columns, j, weight, j, composites, loads, i, sums, pw, pv, dq, du)
        hand_to_parent(forest, ws, composites, i)
        hand_loads_to_parent(forest, ws, loads, i)
        hand_rows_to_parent(forest, ws, rows, i)


@jit
def carried_changes(kind, columns, c, shift, speed, j, r, carried):
    """Effect of joint displacements and speeds (nu,) on a link: Σ (s'' δq + (s' + s˙) δu), then the angular parts of
    Σ (s' δq + s δu) and of Σ s δq. The sums are over the joint, whose columns begin in row ``c`` and whose speeds begin
    at ``j``, and over all joints that carry it: theirs, about the origin of the parent at −r, are ``carried``."""
    aw, av, x, y = carried
    av = add(av, cross(aw, r))
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
def carry_changes(forest, ws, columns, c, shift, speed, changes, i):
    """Writes the effect of joint displacements and speeds on link i to its row of ``changes`` (links, 12); that of its
    parent must have been written before. The columns of its joint begin in row ``c``."""
    p, kind, j, carried = forest.parent[i], forest.kind[i], forest.u_start[i], (ZERO, ZERO, ZERO, ZERO)
    if p >= 0:
        carried = load_sums(changes, p)
    store_sums(changes, i, carried_changes(kind, columns, c, shift, speed, j, load(ws.reach, i), carried))


@jit
def subtract_change(kind, columns, c, shift, speed, j, composites, loads, at, change, inner_n, inner_f, dtau):
    """Subtracts the change of one joint's forces from ``dtau``. The joint's columns begin in row ``c``, its speeds at
    ``j``; what it carries is in row ``at`` of ``composites`` and ``loads``, and ``change`` is the effect on that (see
    :func:`carried_changes`). Takes the change of the wrench on its link that the joints further out cause, and returns
    it with that of this joint."""
    moment, strength = load_from(composites, at, MOMENT), load_from(composites, at, FORCE)
    # Change of the wrench that all that this joint carries needs, due to the joint itself and all joints that carry
    # it, without the part s × F of a wrench that only moves along.
    n, f = inertia_times(composites, at, change[0], change[1])
    a, b = coupling_times(composites, at, change[2])
    m, d = loads_times(loads, at, change[3])
    n, f = add(n, add(a, m)), add(f, add(b, d))
    lw, lv = columns_times(kind, columns, c, shift, j)
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = load_motion(columns, c + k, SHIFT)
        dtau[j + k] -= power(add(n, inner_n), add(f, inner_f), sw, sv)
        if not joints.fixed_in_body(kind, k):
            aw, av = motion_cross(lw, lv, sw, sv)
            dtau[j + k] += power(moment, strength, aw, av)
    # Change of that wrench due to this joint alone, now with s × F: it changes the forces of the joints that carry this
    # one.
    for k in range(joints.degrees_of_freedom(kind)):
        n, f, x, y = moved_column(composites, loads, columns, at, c + k)
        carried = carried_wrench(composites, columns, at, c + k)
        inner_n = add(inner_n, add(scale(shift[j + k], add(n, carried[0])), scale(speed[j + k], x)))
        inner_f = add(inner_f, add(scale(shift[j + k], add(f, carried[1])), scale(speed[j + k], y)))
    return inner_n, inner_f


@jit
def products(forest, wrench, ws, columns, acceleration, composites, loads, shift, speed, changes, force, dtau):
    """Subtracts ∂τ/∂q δq + ∂τ/∂u δu from ``dtau`` (nu,), for the changes ``shift`` and ``speed``.

    ``changes`` (links, 12), ``composites`` and ``force`` (links, 6) are scratch, and ``loads`` start as the wrenches on
    the links' bodies.
    """
    parent, kinds, u_start = forest.parent, forest.kind, forest.u_start
    for i in range(parent.size):  # one sweep, since long chains wait for memory
        store_own(forest, wrench, ws, acceleration, composites, i)
        carry_changes(forest, ws, columns, u_start[i], shift, speed, changes, i)
        store_motion(force, i, 0, ZERO, ZERO)
    for i in range(parent.size - 1, -1, -1):
        j, p = u_start[i], parent[i]
        change, (n, f) = load_sums(changes, i), load_motion(force, i, 0)
        n, f = subtract_change(kinds[i], columns, j, shift, speed, j, composites, loads, i, change, n, f, dtau)
        if p >= 0:
            add_from(force, p, 0, add(n, cross(load(ws.reach, i), f)))
            add_from(force, p, 3, f)
        hand_to_parent(forest, ws, composites, i)
        hand_loads_to_parent(forest, ws, loads, i)
