"""The sweeps of a single product of the derivatives of u' with a vector.

For long chains, memory access takes most of the time. So these sweeps store only numbers that a later sweep cannot
compute again at low cost. Columns are computed where they are read. Sums over children are in the slot of the parent
(``Forest.slot``). A chain has one slot, which stays in the cache. The speeds of a joint are eliminated one by one, as
in ``damped_articulated.py``, and armatures are added to D.

After poses and velocities, a product wᵀ ∂u' takes three sweeps. The first, inward, eliminates the joints from the
equations of motion and from M λ = w. The second, outward, finds accelerations and λ. The third, inward, applies the
formula of ``products.py``. A product ∂u' v takes four sweeps. The second finds the effect of the changes on the links
in place of λ. The third finds the changes of the joint forces and eliminates the joints from M δu' = δτ. The fourth,
outward, finds δu'.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

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
from articulon.dynamics.articulated import add_to_parent, carried_outward, gathered_at
from articulon.dynamics.derivatives.composites import WIDTH as COMPOSITE
from articulon.dynamics.derivatives.composites import (
    WRENCH_WIDTH,
    gather_composite,
    hand_composite,
    load_rows,
    matrix_scale,
    outer,
    store_rows,
)
from articulon.dynamics.derivatives.force_jacobians import power
from articulon.dynamics.derivatives.motion_columns import (
    SHIFT,
    fill_columns,
    fill_displacements,
    load_motion,
    store_motion,
)
from articulon.dynamics.derivatives.motion_columns import WIDTH as COLUMN
from articulon.dynamics.derivatives.products import WIDTH as SUMS
from articulon.dynamics.derivatives.products import (
    carried_motion,
    carry_changes,
    gathered_sums,
    hand_sums,
    load_sums,
    multiply_columns,
    own_changes,
    store_sums,
    subtract_change,
)
from articulon.dynamics.kinematics import frames
from articulon.dynamics.state_functions import At, moving
from articulon.kernels import jit
from articulon.passes import Bound, pass_of

LOADED = 3
"""Index of the first wrench array among the inputs of a state: wrenches on the links, then the loads that
``composites.py`` reads."""
RECORD = 8
"""Length of the record of the elimination of a speed: U/D (moment, force), (τ − s·p)/D, and the same for the weights.
In products ∂u' v, 1/D takes the place of the last number."""


@jit
def eliminate_speeds(kind, axis, frame, body, tau, weight, diagonal, first, record, A, H, M, n, f, x, y):
    """Eliminates the speeds of a joint, the last first. Takes the inertia and the bias force (n, f) of the link, and
    the wrench (x, y) on it that is due to the weights further out. Returns these quantities without the joint."""
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
    """The wrench on link i from its children, in its slot of ``pushed`` (slots, 6)."""
    if forest.slot[i] < 0:
        return ZERO, ZERO
    return load_motion(pushed, forest.slot[i], 0)


@jit
def hand_wrench(forest, ws, pushed, i, n, f):
    """Adds a wrench on link i, about its parent's origin, to the slot of the parent."""
    p = forest.parent[i]
    if p >= 0:
        n = add(n, cross(load(ws.reach, i), f))
        if not forest.first[i]:
            a, b = load_motion(pushed, forest.slot[p], 0)
            n, f = add(n, a), add(f, b)
        store_motion(pushed, forest.slot[p], 0, n, f)


@pass_of
def eliminate_all(forest, tau, weight, wrench, ws, diagonal, record, pushed):
    """Inward sweep: eliminates the joints from the equations of motion under the given forces, and from M λ =
    ``weight`` unless ``weight`` is None. ``diagonal`` (nu,) is added to the mass matrix; None adds nothing. ``pushed``
    (slots, 6) is scratch."""
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
        add_to_parent(forest, ws.gathered, i, A, H, M, add(n, cross(r, f)), f)
        if weight is not None:
            hand_wrench(forest, ws, pushed, i, x, y)


@jit
def accelerate_speeds(kind, axis, frame, body, first, record, solution, found, w, v):
    """Finds the rates of a joint's speeds from column ``solution`` of their records. Takes the motion (w, v) of the
    link that carries the joint, and returns the motion of the joint's own link."""
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = joints.column(kind, axis, k, frame, body)
        s = record[first + k, solution] - power(*load_motion(record, first + k, 0), w, v)
        found[first + k] = s
        w, v = add(w, scale(s, sw)), add(v, scale(s, sv))
    return w, v


@pass_of
def accelerate_both(forest, gravity, ws, record, udot, motion, line):
    """Outward sweep: finds the accelerations u', the joint speeds λ = M⁻¹ w (nu,), and the motion of the links at these
    speeds (links, 6)."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    rotation, quaternion, rotations, fall = forest.rotation, ws.quaternion, ws.rotation, load_at(gravity, 0)
    for i in range(parent.size):
        kind, first = kinds[i], u_start[i]
        aw, av = carried_outward(forest, fall, ws, i)
        w, v = carried_motion(parent, ws, motion, i)
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, i), k, frame, body)
            n, f = load_motion(record, first + k, 0)
            s = record[first + k, 6] - power(n, f, aw, av)
            t = record[first + k, 7] - power(n, f, w, v)
            udot[first + k], line[first + k] = s, t
            aw, av = add(aw, scale(s, sw)), add(av, scale(s, sv))
            w, v = add(w, scale(t, sw)), add(v, scale(t, sv))
        store_motion(ws.acceleration, i, 0, aw, av)
        store_motion(motion, i, 0, w, v)


@jit
def carried_at(forest, fall, ws, i):
    """Velocity and spatial acceleration of the link that carries link i, about the origin of link i."""
    p = forest.parent[i]
    if p < 0:
        return ZERO, ZERO, ZERO, (-fall[0], -fall[1], -fall[2])
    r, w, v = load(ws.reach, i), load_from(ws.twist, p, 3), load_from(ws.twist, p, 0)
    aw, av = load_motion(ws.acceleration, p, 0)  # av is that of the origin: the spatial one plus w × v
    return w, add(v, cross(w, r)), aw, add(sub(av, cross(w, v)), cross(aw, r))


@jit
def gather_loads(forest, loads, given, i):
    """Writes the given wrenches on link i and on all links that it carries to the last row of ``loads``. Without given
    wrenches there are no rows."""
    for k in range(given.shape[1] if given.shape[0] > 0 else 0):
        loads[loads.shape[0] - 1, k] = given[i, k]
        if forest.slot[i] >= 0:
            loads[loads.shape[0] - 1, k] += loads[forest.slot[i], k]


@jit
def hand_loads(forest, ws, loads, i):
    """Adds the last row, the loads of link i, to the slot of its parent."""
    if loads.shape[0] == 0:
        return
    own, s = loads.shape[0] - 1, forest.slot[forest.parent[i]]
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
    """Inward sweep: finds the products wᵀ ∂u'/∂q = −λᵀ ∂τ/∂q and wᵀ ∂u'/∂u = −λᵀ ∂τ/∂u (nu,), with λ in ``line`` and
    the motion of the links at these speeds in ``motion``.

    ``columns`` (6, 24), ``composites`` (slots + 1, 28), ``loads`` (slots + 1, 15) and ``rows`` (slots, 12) are scratch;
    ``given`` are the wrenches on the links' bodies."""
    parent, kinds, u_start, slot, fall = forest.parent, forest.kind, forest.u_start, forest.slot, load_at(gravity, 0)
    own = composites.shape[0] - 1
    for i in range(parent.size - 1, -1, -1):
        p, kind, j = parent[i], kinds[i], u_start[i]
        pw, pv, aw, av = carried_at(forest, fall, ws, i)
        aw, av = fill_columns(forest, u, udot, ws, i, pw, pv, aw, av, columns, 0)
        gather_composite(forest, wrench, ws, aw, av, composites, i, slot[i], own)
        gather_loads(forest, loads, given, i)
        sums = gathered_sums(kind, columns, 0, line, j, composites, loads, own, slot[i] >= 0, rows, slot[i])
        pw, pv = carried_motion(parent, ws, motion, i)
        multiply_columns(kind, columns, 0, line, j, composites, loads, own, sums, pw, pv, dq, du)
        for k in range(j, j + joints.degrees_of_freedom(kind)):
            dq[k], du[k] = -dq[k], -du[k]
        if p >= 0:
            hand_composite(forest, ws, composites, i, own, slot[p])
            hand_loads(forest, ws, loads, i)
            hand_sums(forest, ws, sums, rows, i, slot[p])


@pass_of
def accelerate_and_change(forest, gravity, u, ws, record, udot, shift, speed, columns, owns, changes):
    """Outward sweep: finds the accelerations u', and the effect of the changes of coordinates and speeds on the links:
    of the link's own joint in ``owns`` (links, 12), and of all joints that carry it in ``changes`` (links, 12).
    ``columns`` (6, 24) is scratch."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    rotation, quaternion, rotations, fall = forest.rotation, ws.quaternion, ws.rotation, load_at(gravity, 0)
    for i in range(parent.size):
        aw, av = carried_outward(forest, fall, ws, i)
        frame, body = frames(kinds[i], parent, rotation, quaternion, rotations, i)
        aw, av = accelerate_speeds(kinds[i], load(axes, i), frame, body, u_start[i], record, 6, udot, aw, av)
        store_motion(ws.acceleration, i, 0, aw, av)
        pw, pv, aw, av = carried_at(forest, fall, ws, i)
        fill_columns(forest, u, udot, ws, i, pw, pv, aw, av, columns, 0)
        own = own_changes(kinds[i], columns, 0, shift, speed, u_start[i])
        store_sums(owns, i, own)
        carry_changes(forest, ws, own, changes, i)


@pass_of
def multiply_and_eliminate(
    forest, wrench, shift, force, ws, record, columns, owns, changes, composites, loads, given, inner, pushed, line
):
    """Inward sweep: finds the changes of the joint forces, δτ = ``force`` − (∂τ/∂q δq + ∂τ/∂u δu), and eliminates the
    joints from M δu' = δτ."""
    parent, kinds, u_start, slot, own = forest.parent, forest.kind, forest.u_start, forest.slot, composites.shape[0] - 1
    for i in range(parent.size - 1, -1, -1):
        p, kind, j, (aw, av) = parent[i], kinds[i], u_start[i], load_motion(ws.acceleration, i, 0)
        av = sub(av, cross(load_from(ws.twist, i, 3), load_from(ws.twist, i, 0)))  # as in ``carried_at``
        fill_displacements(forest, ws, i, columns, 0)
        gather_composite(forest, wrench, ws, aw, av, composites, i, slot[i], own)
        gather_loads(forest, loads, given, i)
        for k in range(j, j + joints.degrees_of_freedom(kind)):
            line[k] = force[k]
        change, alone, (n, f) = load_sums(changes, i), load_sums(owns, i), gather_wrench(forest, inner, i)
        n, f = subtract_change(kind, columns, 0, shift, j, composites, loads, own, change, alone, n, f, line)
        hand_wrench(forest, ws, inner, i, n, f)
        if p >= 0:
            hand_composite(forest, ws, composites, i, own, slot[p])
            hand_loads(forest, ws, loads, i)
        n, f = gather_wrench(forest, pushed, i)
        for k in range(joints.degrees_of_freedom(kind) - 1, -1, -1):
            t = line[j + k] - power(n, f, *load_motion(columns, k, SHIFT))
            n, f = add(n, scale(t, load_from(record, j + k, 0))), add(f, scale(t, load_from(record, j + k, 3)))
            record[j + k, 7] *= t
        hand_wrench(forest, ws, pushed, i, n, f)


@pass_of
def accelerate_changed(forest, ws, record, motion, line):
    """Outward sweep: finds the changes δu' (nu,). ``motion`` (links, 6) is scratch."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    rotation, quaternion, rotations = forest.rotation, ws.quaternion, ws.rotation
    for i in range(parent.size):
        w, v = carried_motion(parent, ws, motion, i)
        frame, body = frames(kinds[i], parent, rotation, quaternion, rotations, i)
        w, v = accelerate_speeds(kinds[i], load(axes, i), frame, body, u_start[i], record, 7, line, w, v)
        store_motion(motion, i, 0, w, v)


class _Sweeping(NamedTuple):
    """Arrays of the sweeps of both products, by the names of their arguments."""

    wrench: np.ndarray | None
    loads: np.ndarray
    given: np.ndarray
    diagonal: np.ndarray | None
    record: np.ndarray
    udot: np.ndarray
    columns: np.ndarray
    composites: np.ndarray


def _sweeping(at: At) -> _Sweeping:
    """Scratch for the sweeps of a product. Wrenches, if given, are the last inputs."""
    rows, nu = len(at.ws.gathered) + 1, at.model.nu
    wrench, given = at.given[LOADED:] if len(at.given) > LOADED else (None, np.zeros((0, WRENCH_WIDTH)))
    loads = np.zeros((rows if len(given) else 0, WRENCH_WIDTH))
    diagonal = None if at.model.armature is None else at.model.armature.copy()
    record, columns = np.zeros((nu, RECORD)), np.zeros((6, COLUMN))
    return _Sweeping(wrench, loads, given, diagonal, record, np.zeros(nu), columns, np.zeros((rows, COMPOSITE)))


def transposed_product_passes(at: At) -> Iterator[Bound]:
    """The passes for wᵀ ∂u'/∂q, wᵀ ∂u'/∂u and wᵀ M⁻¹, from q, u, τ and w."""
    forest, ws, gravity, u, s = at.forest, at.ws, at.shared.gravity, at.given[1], _sweeping(at)
    (tau, weight), (dq, du, line), slots = at.given[2], at.found, len(ws.gathered)
    motion, rows, pushed = np.zeros((forest.mass.size, 6)), np.zeros((slots, SUMS)), np.zeros((slots, 6))
    carried = s.columns, s.composites, s.loads, s.given, rows
    yield from moving(at)
    yield eliminate_all.bind(forest, tau, weight, s.wrench, ws, s.diagonal, s.record, pushed)
    yield accelerate_both.bind(forest, gravity, ws, s.record, s.udot, motion, line)
    yield multiply_transposed.bind(forest, s.wrench, gravity, u, s.udot, line, ws, motion, *carried, dq, du)


def product_passes(at: At) -> Iterator[Bound]:
    """The passes for the change of u' with δq, δu and δτ, from q, u, τ and these."""
    forest, ws, gravity, u, s = at.forest, at.ws, at.shared.gravity, at.given[1], _sweeping(at)
    (tau, shift, speed, force), (line,), links, slots = at.given[2], at.found, forest.mass.size, len(ws.gathered)
    owns, changes = np.zeros((links, SUMS)), np.zeros((links, SUMS))
    inner, pushed = np.zeros((slots, 6)), np.zeros((slots, 6))
    carried = s.columns, owns, changes, s.composites, s.loads, s.given, inner, pushed
    yield from moving(at)
    yield eliminate_all.bind(forest, tau, None, s.wrench, ws, s.diagonal, s.record, pushed)
    moved = u, ws, s.record, s.udot, shift, speed, s.columns
    yield accelerate_and_change.bind(forest, gravity, *moved, owns, changes)
    yield multiply_and_eliminate.bind(forest, s.wrench, shift, force, ws, s.record, *carried, line)
    yield accelerate_changed.bind(forest, ws, s.record, np.zeros((links, 6)), line)
