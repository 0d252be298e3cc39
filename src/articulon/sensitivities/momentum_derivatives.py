"""Derivatives of momenta μ = ∂T/∂u and of generalised forces F = ∂T/∂q of the kinetic energy T(q, u), in O(n).

A column s of a joint displaces all bodies that the joint carries by s, and changes their velocities v by s × v + ψ'
with ψ' = m × s. Here m is the velocity of the joint's inner frame, which ``motion_columns.py`` calls p. In the frames
of the bodies, which move along, the velocity changes only by ψ'. With the momentum H of all bodies that a joint
carries,

    μ = s·H,   F = ψ'·H.

Changes δq and δu, and a displacement X of the joint frame in its parent, change the velocities in the frames of the
bodies by x = Σ (s δu + ψ' δq) + p × X, where p is the velocity of the parent. Let H' be the change of H, and x' the
change of m, both in the frame in which the column s is fixed. Then δμ = s·H', δF = ψ'·H' + (x' × s)·H.

H' is the sum of I x + δI v over the links, with I the inertia of a link. In the inward sweep, (Σ s δq + X) ×* H is
added to H' at every joint. Here a ×* H is the rate of change of an H that is carried along with the motion a.

These are second derivatives of T, which are symmetric. So the derivatives of w·F + λ·μ are the changes of F and μ due
to δq = w and δu = λ. There is one exception, because rotations do not commute: for the three numbers of a joint that
leaves all rotations free, ∂(w·F)/∂q has w × F in addition. For a displacement X, the change of w·F + λ·μ is −(p ×* H' +
x_p ×* H)·X. Here H' is taken on the inner side of the joint, after the addition of (Σ s δq + X) ×* H, and x_p is the
change of p.
"""

from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    dot,
    load,
    load_at,
    load_from,
    load_matrix,
    load_symmetric,
    scale,
    store_at,
    sub,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import add_from
from articulon.dynamics.derivatives.motion_columns import FIRST, SHIFT, load_motion, motion_cross, store_motion
from articulon.dynamics.derivatives.products import carried_motion
from articulon.dynamics.hamiltonian import link_momentum, plain
from articulon.kernels import jit
from articulon.passes import pass_of
from articulon.sensitivities.frame_derivatives import add_gradient, frame_changes, frame_motion, parent_velocity

WIDTH = 12
"""Length of the row of a link: H, then H' on the inner side of the joint, each with the moment first."""


@jit
def force_cross(w, v, n, f):
    """Return the rates of a moment n and a force f that are carried along with the motion (w, v); all are taken about
    one point."""
    return add(cross(w, n), cross(v, f)), cross(w, f)


@jit
def momentum_of(ws, mass, moment, inertia, i, w, v):
    """Return the angular momentum about the origin of link i, and the linear momentum, for the velocity (w, v) and the
    mass properties in row i of ``mass``, ``moment`` and ``inertia``."""
    R = load_matrix(ws.rotation, i)
    h = apply(R, load(moment, i))
    turning = symmetric_apply(symmetric_rotate(R, load_symmetric(inertia, i)), w)
    return add(turning, cross(h, v)), add(scale(mass[i], v), cross(w, h))


@jit
def columns_at(forest, columns, i, part, fixed, numbers):
    """Return the sum of one part (``SHIFT`` for s, ``FIRST`` for ψ') of the columns of joint i, times their entries of
    ``numbers`` (nu,). The sum is over the columns that are fixed in the body (``fixed`` 1) or in the joint frame
    (0)."""
    kind, j, w, v = forest.kind[i], forest.u_start[i], ZERO, ZERO
    for k in range(joints.degrees_of_freedom(kind)):
        if joints.fixed_in_body(kind, k) == fixed:
            sw, sv = load_motion(columns, j + k, part)
            w, v = add(w, scale(numbers[j + k], sw)), add(v, scale(numbers[j + k], sv))
    return w, v


@jit
def change_joint(forest, columns, i, fixed, held, x, n, f, by_momentum, by_force):
    """Compute δμ and δF for those columns of joint i that are fixed in its body (``fixed`` 1) or in the joint frame
    (0). ``held`` is the row that contains H, x is the change of m, and (n, f) is the change of H."""
    kind, j, (hn, hf) = forest.kind[i], forest.u_start[i], load_motion(held, i, 0)
    for k in range(joints.degrees_of_freedom(kind)):
        if joints.fixed_in_body(kind, k) == fixed:
            sw, sv = load_motion(columns, j + k, SHIFT)
            fw, fv = load_motion(columns, j + k, FIRST)
            cw, cv = motion_cross(x[0], x[1], sw, sv)
            by_momentum[j + k] = dot(sw, n) + dot(sv, f)
            by_force[j + k] = dot(fw, n) + dot(fv, f) + dot(cw, hn) + dot(cv, hf)


@jit
def add_bracket(forest, columns, i, shift, held, by_force):
    """Add w × F for a joint that leaves all rotations free, with w its part of ``shift``."""
    kind = forest.kind[i]
    if joints.quaternion(kind) >= 0:
        k, (hn, hf) = forest.u_start[i] + plain(kind), load_motion(held, i, 0)
        ax, bx = load_motion(columns, k, FIRST)
        ay, by = load_motion(columns, k + 1, FIRST)
        az, bz = load_motion(columns, k + 2, FIRST)
        F = (dot(ax, hn) + dot(bx, hf), dot(ay, hn) + dot(by, hf), dot(az, hn) + dot(bz, hf))
        store_at(by_force, k, add(load_at(by_force, k), cross(load_at(shift, k), F)))


@pass_of
def change_momenta(
    forest,
    ws,
    columns,
    shift,
    u_change,
    position,
    turn,
    mass,
    moment,
    inertia,
    transposed,
    field,
    held,
    by_momentum,
    by_force,
):
    """Compute δμ and δF (nu,), for links whose places and velocities are known. They are due to changes of the
    coordinates in their tangent space (``shift``), of the speeds (nu,), of joint frames (links, 3), and of masses,
    first moments and inertias. With ``transposed``, ``shift`` and ``u_change`` are the weights w and λ instead; then
    ``by_force`` and ``by_momentum`` are the derivatives of w·F + λ·μ with respect to the coordinates and the speeds. On
    return, ``field`` (links, 6) holds x, and ``held`` (links, 12) the momenta H and their changes H'."""
    for i in range(forest.parent.size):
        w, v = carried_motion(forest.parent, ws, field, i)
        if frame_changes(position, turn, i):
            sw, sv = frame_motion(forest, ws, position, turn, i)
            pw, pv = parent_velocity(forest, ws, i)
            fw, fv = motion_cross(pw, pv, sw, sv)
            w, v = add(w, fw), add(v, fv)
        for k in range(forest.u_start[i], forest.u_start[i] + joints.degrees_of_freedom(forest.kind[i])):
            sw, sv = load_motion(columns, k, SHIFT)
            fw, fv = load_motion(columns, k, FIRST)
            w = add(w, add(scale(u_change[k], sw), scale(shift[k], fw)))
            v = add(v, add(scale(u_change[k], sv), scale(shift[k], fv)))
        store_motion(field, i, 0, w, v)
        P, L = link_momentum(forest, ws, i)
        store_motion(held, i, 0, L, P)
        n, f = momentum_of(ws, forest.mass, forest.moment, forest.inertia, i, w, v)
        dn, df = momentum_of(ws, mass, moment, inertia, i, load_from(ws.twist, i, 3), load_from(ws.twist, i, 0))
        store_motion(held, i, 6, add(n, dn), add(f, df))
    for i in range(forest.parent.size - 1, -1, -1):
        p, (hn, hf), (n, f) = forest.parent[i], load_motion(held, i, 0), load_motion(held, i, 6)
        xw, xv = load_motion(field, i, 0)
        for fixed in (1, 0):
            uw, uv = columns_at(forest, columns, i, SHIFT, fixed, u_change)
            if fixed == 1:
                # The change of m, in the body frame.
                xw, xv = sub(xw, uw), sub(xv, uv)
                change_joint(forest, columns, i, fixed, held, (xw, xv), n, f, by_momentum, by_force)
                fw, fv = columns_at(forest, columns, i, FIRST, fixed, shift)
                xw, xv = sub(xw, fw), sub(xv, fv)
            else:
                change_joint(forest, columns, i, fixed, held, (xw, xv), n, f, by_momentum, by_force)
            sw, sv = columns_at(forest, columns, i, SHIFT, fixed, shift)
            dn, df = force_cross(sw, sv, hn, hf)
            n, f = add(n, dn), add(f, df)
        if transposed:
            add_bracket(forest, columns, i, shift, held, by_force)
        if frame_changes(position, turn, i):
            sw, sv = frame_motion(forest, ws, position, turn, i)
            dn, df = force_cross(sw, sv, hn, hf)
            n, f = add(n, dn), add(f, df)
        store_motion(held, i, 6, n, f)
        if p >= 0:
            r = load(ws.reach, i)
            add_from(held, p, 0, add(hn, cross(r, hf)))
            add_from(held, p, 3, hf)
            add_from(held, p, 6, add(n, cross(r, f)))
            add_from(held, p, 9, f)


@pass_of
def momentum_frame_adjoint(forest, ws, field, held, position, turn):
    """Subtract the derivatives of w·F + λ·μ with respect to translations and rotations of joint frames (links, 3).
    ``field`` and ``held`` are the results of :func:`change_momenta` for δq = w and δu = λ."""
    for i in range(forest.parent.size):
        pw, pv = parent_velocity(forest, ws, i)
        xw, xv = carried_motion(forest.parent, ws, field, i)
        (hn, hf), (dn, df) = load_motion(held, i, 0), load_motion(held, i, 6)
        n, f = force_cross(pw, pv, dn, df)
        a, b = force_cross(xw, xv, hn, hf)
        add_gradient(forest, ws, i, add(n, a), add(f, b), position, turn)
