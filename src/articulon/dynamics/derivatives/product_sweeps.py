"""The sweeps of a single product of the derivatives of u' with a vector.

The sweeps of long chains wait for memory, so here a link keeps only what a later sweep cannot compute again. Columns
are computed where they are read. What is handed to a parent waits in the parent's slot (``Forest.slot``), and a chain
has one slot, which stays in the cache. Every speed of a joint is eliminated by itself, as in
``damped_articulated.py``, which also serves armatures; weights of u' are eliminated in the same sweep as the forces.
"""

from articulon.algebra.inertia import force_of, moment_of, shift, skew
from articulon.algebra.vectors import (
    ZERO,
    add,
    cross,
    load,
    load_at,
    load_from,
    matrix_add,
    scale,
    skew_times,
    sub,
    symmetric_less_outer,
)
from articulon.dynamics import joints
from articulon.dynamics.articulated import carried_outward, gathered_at, hand_inward
from articulon.dynamics.derivatives.composites import (
    add_composites,
    coupling_transposed,
    inertia_times,
    load_composite,
    load_rows,
    loads_transposed,
    matrix_scale,
    outer,
    own_composite,
    shifted_composite,
    store_composite,
    store_rows,
)
from articulon.dynamics.derivatives.force_jacobians import power
from articulon.dynamics.derivatives.motion_columns import SHIFT, fill_columns, load_motion, store_motion
from articulon.dynamics.derivatives.products import (
    carried_motion,
    carry_changes,
    columns_times,
    load_sums,
    multiply_columns,
    store_sums,
    subtract_change,
)
from articulon.dynamics.kinematics import frames
from articulon.kernels import jit
from articulon.passes import pass_of

RECORD = 8
"""Length of what a speed keeps of its elimination: U/D (moment, force), (τ − s·p)/D, and the same of the weights. In
products from the right there are no weights at that time, and 1/D is kept."""


@jit
def eliminate_speeds(kind, axis, frame, body, tau, weight, diagonal, first, record, A, H, M, n, f, x, y):
    """Eliminates the speeds of a joint, the last first, from an inertia, a bias force (n, f), and the wrench (x, y) on
    the link that the weights further out cause. Returns all of them."""
    for k in range(joints.degrees_of_freedom(kind) - 1, -1, -1):
        sw, sv = joints.column(kind, axis, k, frame, body)
        uw, uv = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
        d = power(sw, sv, uw, uv)
        if diagonal is not None:
            d += diagonal[first + k]
        d = 1.0 / d
        dw, dv = scale(d, uw), scale(d, uv)
        g = tau[first + k] - power(sw, sv, n, f)
        n, f = add(n, scale(g, dw)), add(f, scale(g, dv))
        store_motion(record, first + k, 0, dw, dv)
        record[first + k, 6], record[first + k, 7] = d * g, d
        if weight is not None:
            h = weight[first + k] - power(sw, sv, x, y)
            x, y = add(x, scale(h, dw)), add(y, scale(h, dv))
            record[first + k, 7] = d * h
        H = matrix_add(H, matrix_scale(-d, outer(uw, uv)))
        A, M = symmetric_less_outer(A, d, uw), symmetric_less_outer(M, d, uv)
    return A, H, M, n, f, x, y


@jit
def gather_wrench(forest, pushed, i):
    """The wrench that waits in the slot of link i, in ``pushed`` (slots, 6)."""
    if forest.slot[i] < 0:
        return ZERO, ZERO
    return load_motion(pushed, forest.slot[i], 0)


@jit
def hand_wrench(forest, ws, pushed, i, n, f):
    """Adds a wrench on link i to the slot of its parent, about the parent's origin."""
    p = forest.parent[i]
    if p >= 0:
        n = add(n, cross(load(ws.reach, i), f))
        if not forest.first[i]:
            a, b = load_motion(pushed, forest.slot[p], 0)
            n, f = add(n, a), add(f, b)
        store_motion(pushed, forest.slot[p], 0, n, f)


@pass_of
def eliminate_all(forest, tau, weight, wrench, ws, diagonal, record, pushed):
    """Inward: eliminates the joints from the equations of motion under given forces, and from M λ = ``weight`` unless
    that is None. ``diagonal`` (nu,) is added to the mass matrix; None adds nothing. ``pushed`` (slots, 6) is
    scratch."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    rotation, quaternion, rotations, bias = forest.rotation, ws.quaternion, ws.rotation, ws.bias
    nothing = ws.gathered[:0]
    for i in range(parent.size - 1, -1, -1):
        kind, r = kinds[i], load(ws.reach, i)
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        A, H, M, n, f = gathered_at(forest, forest.mass, forest.moment, forest.inertia, body, wrench, ws, i, nothing)
        x, y = gather_wrench(forest, pushed, i)
        A, H, M, n, f, x, y = eliminate_speeds(
            kind, load(axes, i), frame, body, tau, weight, diagonal, u_start[i], record, A, H, M, n, f, x, y
        )
        # The joint's acceleration at constant speeds acts through what is left of the inertia.
        cw, cv = load_from(bias, i, 0), load_from(bias, i, 3)
        n, f = add(n, moment_of(A, H, cw, cv)), add(f, force_of(H, M, cw, cv))
        A, H = shift(r, A, H, M)
        hand_inward(forest, ws.gathered, i, A, H, M, add(n, cross(r, f)), f)
        if weight is not None:
            hand_wrench(forest, ws, pushed, i, x, y)


@jit
def accelerate_speeds(kind, axis, frame, body, first, record, solution, found, w, v):
    """Finds the rates of a joint's speeds from column ``solution`` of their records, and adds what they cause to the
    motion (w, v) of the link that carries the joint."""
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = joints.column(kind, axis, k, frame, body)
        s = record[first + k, solution] - power(*load_motion(record, first + k, 0), w, v)
        found[first + k] = s
        w, v = add(w, scale(s, sw)), add(v, scale(s, sv))
    return w, v


@pass_of
def accelerate_both(forest, gravity, ws, record, udot, motion, line):
    """Outward: accelerations u', and the joint speeds λ = M⁻¹ w (nu,) with the motion of the links at these speeds
    (links, 6)."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    rotation, quaternion, rotations, fall = forest.rotation, ws.quaternion, ws.rotation, load_at(gravity, 0)
    for i in range(parent.size):
        kind, first = kinds[i], u_start[i]
        aw, av = carried_outward(forest, fall, ws, i)
        w, v = carried_motion(parent, ws, motion, i)
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        aw, av = accelerate_speeds(kind, load(axes, i), frame, body, first, record, 6, udot, aw, av)
        w, v = accelerate_speeds(kind, load(axes, i), frame, body, first, record, 7, line, w, v)
        store_motion(ws.acceleration, i, 0, aw, av)
        store_motion(motion, i, 0, w, v)


@jit
def carried_at(forest, fall, ws, i):
    """Velocity and spatial acceleration of the link that carries link i, about the origin of link i."""
    p = forest.parent[i]
    if p < 0:
        return ZERO, ZERO, ZERO, (-fall[0], -fall[1], -fall[2])
    r, w, v = load(ws.reach, i), load_from(ws.twist, p, 3), load_from(ws.twist, p, 0)
    aw, av = load_motion(ws.acceleration, p, 0)  # of the origin, so without the part v of which w × v is the rate
    return w, add(v, cross(w, r)), aw, add(sub(av, cross(w, v)), cross(aw, r))


@jit
def gather_composite(forest, wrench, ws, aw, av, composites, i):
    """Writes the composite of link i to the last row of ``composites``, from its own part and its slot."""
    composite = own_composite(forest, wrench, ws, aw, av, i)
    if forest.slot[i] >= 0:
        composite = add_composites(composite, load_composite(composites, forest.slot[i]))
    store_composite(composites, composites.shape[0] - 1, composite)


@jit
def hand_composite(forest, ws, composites, i):
    """Adds the composite in the last row, which is that of link i, to the slot of its parent."""
    p = forest.parent[i]
    if p >= 0:
        moved = shifted_composite(load_composite(composites, composites.shape[0] - 1), load(ws.reach, i))
        if not forest.first[i]:
            moved = add_composites(moved, load_composite(composites, forest.slot[p]))
        store_composite(composites, forest.slot[p], moved)


@jit
def gather_loads(forest, loads, given, i):
    """Writes the given wrenches on all that link i carries to the last row of ``loads``. Without given wrenches there
    are no rows."""
    for k in range(given.shape[1] if given.shape[0] > 0 else 0):
        loads[loads.shape[0] - 1, k] = given[i, k]
        if forest.slot[i] >= 0:
            loads[loads.shape[0] - 1, k] += loads[forest.slot[i], k]


@jit
def hand_loads(forest, ws, loads, i):
    """Adds the last row, which is that of link i, to the slot of its parent."""
    p = forest.parent[i]
    if p < 0 or loads.shape[0] == 0:
        return
    own, s = loads.shape[0] - 1, forest.slot[p]
    f, n, G = load_from(loads, own, 0), load_from(loads, own, 3), load_rows(loads, own, 6)
    G = matrix_add(G, skew_times(load(ws.reach, i), skew(f)))
    if not forest.first[i]:
        f, n = add(f, load_from(loads, s, 0)), add(n, load_from(loads, s, 3))
        G = matrix_add(G, load_rows(loads, s, 6))
    store_motion(loads, s, 0, f, n)
    store_rows(loads, s, 6, G)


@pass_of
def multiply_transposed(
    forest, wrench, gravity, u, udot, line, ws, motion, columns, composites, loads, given, rows, dq, du
):
    """Inward: the products −λᵀ ∂τ/∂q and −λᵀ ∂τ/∂u (nu,), for λ in ``line`` and the ``motion`` of the links.

    ``columns`` (6, 24), ``composites`` (slots + 1, 28), ``loads`` (slots + 1, 15) and ``rows`` (slots, 12) are scratch;
    ``given`` are the wrenches on the links' bodies."""
    parent, kinds, u_start, slot, fall = forest.parent, forest.kind, forest.u_start, forest.slot, load_at(gravity, 0)
    own = composites.shape[0] - 1
    for i in range(parent.size - 1, -1, -1):
        p, kind, j = parent[i], kinds[i], u_start[i]
        pw, pv, aw, av = carried_at(forest, fall, ws, i)
        aw, av = fill_columns(forest, u, udot, ws, i, pw, pv, aw, av, columns, 0)
        gather_composite(forest, wrench, ws, aw, av, composites, i)
        gather_loads(forest, loads, given, i)
        w, v = columns_times(kind, columns, 0, line, j)
        n, f = inertia_times(composites, own, w, v)
        r, g = coupling_transposed(composites, own, w, v), loads_transposed(loads, own, w, v)
        if slot[i] >= 0:
            a, b, c, d = load_sums(rows, slot[i])
            n, f, r, g = add(n, a), add(f, b), add(r, c), add(g, d)
        pw, pv = carried_motion(parent, ws, motion, i)
        multiply_columns(kind, columns, 0, line, j, composites, loads, own, (n, f, r, g), pw, pv, dq, du)
        hand_composite(forest, ws, composites, i)
        hand_loads(forest, ws, loads, i)
        if p >= 0:
            s = slot[p]
            n = add(n, cross(load(ws.reach, i), f))
            if not forest.first[i]:
                a, b, c, d = load_sums(rows, s)
                n, f, r, g = add(n, a), add(f, b), add(r, c), add(g, d)
            store_sums(rows, s, (n, f, r, g))


@pass_of
def accelerate_and_change(forest, gravity, u, ws, record, udot, shift, speed, columns, changes):
    """Outward: accelerations u', and the effect of displacements and speeds of the joints on the links that they carry,
    ``changes`` (links, 12). ``columns`` (6, 24) is scratch."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    rotation, quaternion, rotations, fall = forest.rotation, ws.quaternion, ws.rotation, load_at(gravity, 0)
    for i in range(parent.size):
        aw, av = carried_outward(forest, fall, ws, i)
        frame, body = frames(kinds[i], parent, rotation, quaternion, rotations, i)
        aw, av = accelerate_speeds(kinds[i], load(axes, i), frame, body, u_start[i], record, 6, udot, aw, av)
        store_motion(ws.acceleration, i, 0, aw, av)
        pw, pv, aw, av = carried_at(forest, fall, ws, i)
        fill_columns(forest, u, udot, ws, i, pw, pv, aw, av, columns, 0)
        carry_changes(forest, ws, columns, 0, shift, speed, changes, i)


@pass_of
def multiply_and_eliminate(
    forest,
    wrench,
    gravity,
    u,
    udot,
    shift,
    speed,
    force,
    ws,
    record,
    columns,
    changes,
    composites,
    loads,
    given,
    inner,
    pushed,
    line,
):
    """Inward: changes of the joint forces, ``force`` − (∂τ/∂q δq + ∂τ/∂u δu), and the elimination of the joints with
    these."""
    kinds, u_start, fall, own = forest.kind, forest.u_start, load_at(gravity, 0), composites.shape[0] - 1
    for i in range(kinds.size - 1, -1, -1):
        kind, j = kinds[i], u_start[i]
        pw, pv, aw, av = carried_at(forest, fall, ws, i)
        aw, av = fill_columns(forest, u, udot, ws, i, pw, pv, aw, av, columns, 0)
        gather_composite(forest, wrench, ws, aw, av, composites, i)
        gather_loads(forest, loads, given, i)
        for k in range(j, j + joints.degrees_of_freedom(kind)):
            line[k] = force[k]
        change, (n, f) = load_sums(changes, i), gather_wrench(forest, inner, i)
        n, f = subtract_change(kind, columns, 0, shift, speed, j, composites, loads, own, change, n, f, line)
        hand_wrench(forest, ws, inner, i, n, f)
        hand_composite(forest, ws, composites, i)
        hand_loads(forest, ws, loads, i)
        n, f = gather_wrench(forest, pushed, i)
        for k in range(joints.degrees_of_freedom(kind) - 1, -1, -1):
            t = line[j + k] - power(n, f, *load_motion(columns, k, SHIFT))
            n, f = add(n, scale(t, load_from(record, j + k, 0))), add(f, scale(t, load_from(record, j + k, 3)))
            record[j + k, 7] *= t
        hand_wrench(forest, ws, pushed, i, n, f)


@pass_of
def accelerate_changed(forest, ws, record, motion, line):
    """Outward: the changes of u' (nu,); ``motion`` (links, 6) is scratch."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    rotation, quaternion, rotations = forest.rotation, ws.quaternion, ws.rotation
    for i in range(parent.size):
        w, v = carried_motion(parent, ws, motion, i)
        frame, body = frames(kinds[i], parent, rotation, quaternion, rotations, i)
        w, v = accelerate_speeds(kinds[i], load(axes, i), frame, body, u_start[i], record, 7, line, w, v)
        store_motion(motion, i, 0, w, v)
