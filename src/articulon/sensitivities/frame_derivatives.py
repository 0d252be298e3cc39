"""Derivatives with respect to joint frames: the positions of their origins and their orientations in the frames of the
parents.

Let the origin J of a joint frame be displaced by t, and the frame rotate by a small θ about J, both fixed in the
parent. One motion s, about the link's origin O, then displaces everything that the joint carries:

    s = (θ, t + θ × (O − J)),   ψ' = p × s,   ψ'' = b × s + p × ψ',

Here p and b are the velocity and the acceleration of the parent about O, with b = (0, −g) on the ground. This motion
acts like one more column, inboard of the joint's own columns, and the joint's own columns move with it
(``motion_columns.py``, ``products.py``). With λ, V, R, r and g as in those modules, −λ·τ of inverse dynamics changes by

    −(R·ψ'' + r·ψ' + g·s + V_p·(I ψ'' + 2 B ψ' + s × F)),

The virtual power of forces changes by s·A + ψ'·B, with the sums A and B of ``adjoint_program.py``.
"""

import numpy as np

from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    load,
    load_at,
    load_from,
    load_matrix,
    scale,
    sub,
)
from articulon.dynamics.derivatives import composites
from articulon.dynamics.derivatives.composites import (
    FORCE,
    MOMENT,
    add_from,
    coupling_times,
    coupling_transposed,
    inertia_times,
    loads_transposed,
    store_own,
)
from articulon.dynamics.derivatives.motion_columns import load_motion, motion_cross, store_motion
from articulon.dynamics.derivatives.products import WIDTH, carried_motion
from articulon.kernels import jit
from articulon.passes import pass_of


@jit
def arm_of(forest, ws, i):
    """Return the vector O − J of link i, world frame."""
    p, origin = forest.parent[i], load(forest.position, i)
    if p >= 0:
        origin = apply(load_matrix(ws.rotation, p), origin)
    return sub(load(ws.reach, i), origin)


@jit
def frame_changes(position, turn, i):
    """Whether link i's joint frame is displaced or rotates."""
    size = 0.0
    for k in range(3):
        size += abs(position[i, k]) + abs(turn[i, k])
    return size != 0.0


@jit
def some_change(position, turn):
    """Whether any joint frame is displaced or rotates."""
    found = False
    for i in range(position.shape[0]):
        found = found or frame_changes(position, turn, i)
    return found


@jit
def frame_motion(forest, ws, position, turn, i):
    """Return the motion s of link i's joint frame, whose origin is displaced by ``position`` and which rotates by
    ``turn``, (links, 3) each."""
    p, slid, turned = forest.parent[i], load(position, i), load(turn, i)
    if p >= 0:
        R = load_matrix(ws.rotation, p)
        slid, turned = apply(R, slid), apply(R, turned)
    return turned, add(slid, cross(turned, arm_of(forest, ws, i)))


@jit
def parent_velocity(forest, ws, i):
    """Return the parent's velocity p about the origin of link i."""
    p = forest.parent[i]
    if p < 0:
        return ZERO, ZERO
    w = load_from(ws.twist, p, 3)
    return w, add(load_from(ws.twist, p, 0), cross(w, load(ws.reach, i)))


@jit
def parent_acceleration(forest, ws, gravity, acceleration, i):
    """Return the parent's acceleration b about the origin of link i."""
    p = forest.parent[i]
    if p < 0:
        return ZERO, scale(-1.0, load_at(gravity, 0))
    w, v = load_motion(acceleration, p, 0)
    return w, add(v, cross(w, load(ws.reach, i)))


@jit
def cross_transposed(pw, pv, n, f):
    """Return the factor that multiplies a motion s in the power of a moment n and a force f on the motion p × s."""
    return add(cross(n, pw), cross(f, pv)), cross(f, pw)


def frame_scratch(links: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Allocate the scratch arrays of :func:`frame_tangent` for a number of links."""
    return np.zeros((links, WIDTH)), np.zeros((links, composites.WIDTH)), np.zeros((links, 6))


@pass_of
def frame_tangent(forest, acting, ws, gravity, acceleration, position, turn, changes, own, force, wrench):
    """Subtract the effect of displacements and rotations of joint frames from the wrenches (links, 6). The wrenches
    ``acting`` (links, 6) are held fixed; ``changes`` (links, 12), ``own`` (links, 28) and ``force`` (links, 6) are
    scratch arrays."""
    parent = forest.parent
    if not some_change(position, turn):  # the usual case, for parameters of forces or of the initial state
        return
    for i in range(parent.size):
        p = parent[i]
        aw, av, rate, turned = ZERO, ZERO, ZERO, ZERO
        if p >= 0:
            aw, rate, turned = load_from(changes, p, 0), load_from(changes, p, 6), load_from(changes, p, 9)
            av = add(load_from(changes, p, 3), cross(aw, load(ws.reach, i)))
        pw, pv = parent_velocity(forest, ws, i)
        bw, bv = parent_acceleration(forest, ws, gravity, acceleration, i)
        sw, sv = frame_motion(forest, ws, position, turn, i)
        fw, fv = motion_cross(pw, pv, sw, sv)
        gw, gv = motion_cross(pw, pv, fw, fv)
        hw, hv = motion_cross(bw, bv, sw, sv)
        aw, av = add(aw, add(gw, hw)), add(av, add(gv, hv))
        rate, turned = add(rate, fw), add(turned, sw)
        store_motion(changes, i, 0, aw, av)
        store_motion(changes, i, 6, rate, turned)
        store_own(forest, acting, ws, acceleration, own, i)
        n, f = inertia_times(own, i, aw, av)
        a, b = coupling_times(own, i, rate)
        n = add(add(n, a), cross(turned, load_from(acting, i, 3)))
        f = add(add(f, b), cross(turned, load_from(acting, i, 0)))
        add_from(wrench, i, 0, scale(-1.0, f))
        add_from(wrench, i, 3, scale(-1.0, n))
        store_motion(force, i, 0, load_from(own, i, MOMENT), load_from(own, i, FORCE))
    for i in range(parent.size - 1, -1, -1):
        p = parent[i]
        if p >= 0:
            # The wrench that all carried links need moves with the frame; this changes the wrenches of inboard joints.
            (sw, sv), (n, f), r = (
                frame_motion(forest, ws, position, turn, i),
                load_motion(force, i, 0),
                load(ws.reach, i),
            )
            moved = cross(sw, f)
            add_from(wrench, p, 0, scale(-1.0, moved))
            add_from(wrench, p, 3, scale(-1.0, add(add(cross(sw, n), cross(sv, f)), cross(r, moved))))
            add_from(force, p, 0, add(n, cross(r, f)))
            add_from(force, p, 3, f)


@pass_of
def frame_adjoint(forest, ws, gravity, acceleration, composite, loads, motion, rows, position, turn):
    """Add the derivatives of −λ·τ of inverse dynamics with respect to displacements of the origins of joint frames and
    rotations of the frames (links, 3), from the results of ``transposed_products``."""
    for i in range(forest.parent.size):
        pw, pv = parent_velocity(forest, ws, i)
        bw, bv = parent_acceleration(forest, ws, gravity, acceleration, i)
        w, v = carried_motion(forest.parent, ws, motion, i)
        moment, strength = load_from(composite, i, MOMENT), load_from(composite, i, FORCE)
        n, f = inertia_times(composite, i, w, v)
        n, f = scale(-1.0, add(load_from(rows, i, 0), n)), scale(-1.0, add(load_from(rows, i, 3), f))
        by_rate = add(load_from(rows, i, 6), coupling_transposed(composite, i, w, v))
        by_turn = add(load_from(rows, i, 9), loads_transposed(loads, i, w, v))
        by_turn = add(by_turn, add(cross(moment, w), cross(strength, v)))
        n1, f1 = cross_transposed(pw, pv, n, f)
        n1 = sub(n1, by_rate)
        a, b = cross_transposed(bw, bv, n, f)
        c, d = cross_transposed(pw, pv, n1, f1)
        add_gradient(forest, ws, i, sub(add(a, c), by_turn), sub(add(b, d), cross(strength, w)), position, turn)


@pass_of
def frame_power_adjoint(forest, ws, by_place, by_velocity, position, turn):
    """Add the derivatives of the virtual power of forces with respect to displacements and rotations of joint frames
    (links, 3). They are computed from the derivatives with respect to poses and velocities (links, 6), which
    ``project_powers`` has summed over everything that the joints carry."""
    for i in range(forest.parent.size):
        pw, pv = parent_velocity(forest, ws, i)
        n, f = cross_transposed(pw, pv, load_from(by_velocity, i, 3), load_from(by_velocity, i, 0))
        n, f = add(n, load_from(by_place, i, 3)), add(f, load_from(by_place, i, 0))
        add_gradient(forest, ws, i, n, f, position, turn)


@jit
def add_gradient(forest, ws, i, n, f, position, turn):
    """Add a moment n and a force f that multiply s, converted to factors of t and θ in the parent's frame."""
    p, n = forest.parent[i], add(n, cross(arm_of(forest, ws, i), f))
    if p >= 0:
        R = load_matrix(ws.rotation, p)
        n, f = apply_t(R, n), apply_t(R, f)
    for k in range(3):
        position[i, k] += f[k]
        turn[i, k] += n[k]
