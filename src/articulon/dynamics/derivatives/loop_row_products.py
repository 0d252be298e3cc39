"""Products of the derivatives of loop rows with vectors, row by row and without a matrix.

A row compares a point or a direction of link b with a direction n = R_a f of link a (``loops/conditions.py``). Let d
lead from the origin of a to that of b, let arm lead from there to b's point, and let lever = d + arm. The rate of the
row at velocities w, v is

    J u = n·(x_b − x_a),   x_b = v_b + w_b × arm,   x_a = v_a + w_a × lever      of a point,
    J u = (m × n)·Δ,       Δ = w_b − w_a                                         of a direction m,

and with the spatial accelerations α, a of the links its second derivative is

    φ'' = n·(a_b + α_b × arm − a_a − α_a × lever + w_b × x_b + w_a × x_a − 2 w_a × x_b),
    φ'' = (m × n)·(α_b − α_a) + Δ·((w_b × m) × n + m × (w_a × n)).

Derivatives with respect to displacements, velocities and accelerations of links are wrenches, force and moment about
the link's origin. Those of J u with respect to velocities, and of φ'' with respect to accelerations, are the row's own
wrenches.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import ZERO, add, apply_t, cross, dot, load, load_at, load_matrix, scale, sub
from articulon.dynamics.derivatives.composites import add_from
from articulon.dynamics.derivatives.motion_columns import load_motion
from articulon.dynamics.loops.conditions import row_vectors, turned, twist_of
from articulon.kernels import jit
from articulon.model import Loops
from articulon.model.joints.base import TRANSLATION
from articulon.model.loop_declarations import DRIVE
from articulon.passes import pass_of


class RowNumbers(NamedTuple):
    """Parameters of the rows that have derivatives (see :class:`articulon.model.Loops`)."""

    point_a: np.ndarray
    """Point on link a, shape (rows, 3)."""
    point_b: np.ndarray
    """Point on link b, shape (rows, 3)."""
    fixed: np.ndarray
    """Direction fixed in link a, shape (rows, 3)."""
    moving: np.ndarray
    """Direction fixed in link b, shape (rows, 3)."""


def row_numbers(loops: Loops) -> RowNumbers:
    """The parameters of a model's loop rows."""
    return RowNumbers(loops.point_a, loops.point_b, loops.fixed, loops.moving)


@jit
def turned_back(ws, i, v):
    """A direction given in world axes, in the axes of link i or of the ground."""
    if i < 0:
        return v
    return apply_t(load_matrix(ws.rotation, i), v)


@jit
def motion_of(motion, i):
    """Angular velocity and velocity of link i in an array (links, 6), angular part first; zero for the ground."""
    if i < 0:
        return ZERO, ZERO
    return load_motion(motion, i, 0)


@jit
def acceleration_of(acceleration, gravity, i):
    """Spatial acceleration of link i, angular part first; for the ground, the negative of gravity."""
    if i < 0:
        return ZERO, scale(-1.0, load_at(gravity, 0))
    return load_motion(acceleration, i, 0)


@jit
def add_wrench(i, f, n, wrench):
    """Adds a force and a moment to those on link i, unless it is the ground."""
    if i >= 0:
        add_from(wrench, i, 0, f)
        add_from(wrench, i, 3, n)


@jit
def weigh_vectors(loops, ws, r, by_n, by_arm, by_lever, by_place, gradient):
    """Converts derivatives with respect to n, to the arm or m, and to the lever to derivatives with respect to
    displacements of the links (links, 6) and to the row's parameters, and adds these."""
    a, b = loops.link_a[r], loops.link_b[r]
    n, arm, _ = row_vectors(loops, ws, r)
    by_arm = add(by_arm, by_lever)
    add_wrench(a, scale(-1.0, by_lever), cross(n, by_n), by_place)
    add_wrench(b, by_lever, cross(arm, by_arm), by_place)
    add_from(gradient.fixed, r, 0, turned_back(ws, a, by_n))
    if loops.kind[r] == TRANSLATION:
        add_from(gradient.point_b, r, 0, turned_back(ws, b, by_arm))
    else:
        add_from(gradient.moving, r, 0, turned_back(ws, b, by_arm))


@pass_of
def weigh_residuals(loops, ws, multiplier, by_place, by_coordinate, gradient):
    """Adds the derivatives of Σ μ φ with respect to displacements of links (links, 6), to driven coordinates in the
    tangent space (nu,), and to the rows' parameters. Each row has its ``multiplier`` μ."""
    for r in range(loops.kind.size):
        c = multiplier[r]
        if loops.kind[r] == DRIVE:
            by_coordinate[loops.speed[r]] += c
            continue
        n, arm, lever = row_vectors(loops, ws, r)
        if loops.kind[r] == TRANSLATION:
            weigh_vectors(loops, ws, r, scale(c, lever), ZERO, scale(c, n), by_place, gradient)
            a = loops.link_a[r]
            # The lever ends at a's point, which rotates with n.
            add_from(gradient.fixed, r, 0, scale(-c, load(loops.point_a, r)))
            add_from(gradient.point_a, r, 0, scale(-c, turned_back(ws, a, n)))
        else:
            weigh_vectors(loops, ws, r, scale(c, arm), scale(c, n), ZERO, by_place, gradient)


@jit
def weigh_rates(loops, ws, multiplier, motion, by_place, gradient):
    """Adds the derivatives of Σ μ J Y with respect to displacements of links and to the rows' parameters, at fixed
    velocities Y (links, 6), angular part first. Each row has its ``multiplier`` μ."""
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            continue
        c, a, b = multiplier[r], loops.link_a[r], loops.link_b[r]
        n, arm, lever = row_vectors(loops, ws, r)
        (wa, va), (wb, vb) = motion_of(motion, a), motion_of(motion, b)
        if loops.kind[r] == TRANSLATION:
            rate = sub(add(vb, cross(wb, arm)), add(va, cross(wa, lever)))
            by_arm, by_lever = scale(c, cross(n, wb)), scale(-c, cross(n, wa))
            weigh_vectors(loops, ws, r, scale(c, rate), by_arm, by_lever, by_place, gradient)
        else:
            apart = sub(wb, wa)
            by_n, by_m = scale(c, cross(apart, arm)), scale(c, cross(n, apart))
            weigh_vectors(loops, ws, r, by_n, by_m, ZERO, by_place, gradient)


@jit
def weigh_accelerations(loops, ws, multiplier, acceleration, gravity, by_place, by_velocity, gradient):
    """Adds the derivatives of Σ μ φ'' with respect to displacements and velocities of links (links, 6) and to the rows'
    parameters, at fixed spatial accelerations (links, 6). Each row has its ``multiplier`` μ."""
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            continue
        c, a, b = multiplier[r], loops.link_a[r], loops.link_b[r]
        n, arm, lever = row_vectors(loops, ws, r)
        (wa, va), (wb, vb) = twist_of(ws.twist, a), twist_of(ws.twist, b)
        ua, la = acceleration_of(acceleration, gravity, a)
        ub, lb = acceleration_of(acceleration, gravity, b)
        if loops.kind[r] == TRANSLATION:
            xb, xa, g = add(vb, cross(wb, arm)), add(va, cross(wa, lever)), scale(c, n)
            whole = sub(add(lb, cross(ub, arm)), add(la, cross(ua, lever)))
            whole = add(whole, add(cross(wb, xb), cross(wa, sub(xa, scale(2.0, xb)))))
            by_xb, by_xa = sub(cross(g, wb), scale(2.0, cross(g, wa))), cross(g, wa)
            by_wb = add(cross(xb, g), cross(arm, by_xb))
            by_wa = add(cross(sub(xa, scale(2.0, xb)), g), cross(lever, by_xa))
            by_arm, by_lever = add(cross(g, ub), cross(by_xb, wb)), sub(cross(by_xa, wa), cross(g, ua))
            weigh_vectors(loops, ws, r, scale(c, whole), by_arm, by_lever, by_place, gradient)
            add_wrench(b, by_xb, by_wb, by_velocity)
            add_wrench(a, by_xa, by_wa, by_velocity)
        else:
            apart, faster, y, z = sub(wb, wa), sub(ub, ua), cross(wb, arm), cross(wa, n)
            by_y, by_z = cross(n, apart), cross(apart, arm)
            by_n = add(cross(faster, arm), add(cross(apart, y), cross(by_z, wa)))
            by_m = add(cross(n, faster), add(cross(z, apart), cross(by_y, wb)))
            by_apart = add(cross(y, n), cross(arm, z))
            weigh_vectors(loops, ws, r, scale(c, by_n), scale(c, by_m), ZERO, by_place, gradient)
            add_wrench(b, ZERO, scale(c, add(by_apart, cross(arm, by_y))), by_velocity)
            add_wrench(a, ZERO, scale(c, sub(cross(n, by_z), by_apart)), by_velocity)


@jit
def vector_changes(loops, ws, r, moved, change):
    """Changes of n, of the arm or m, and of the lever with displacements of the links (links, 6), linear part first,
    and with changes of the rows' parameters."""
    a, b = loops.link_a[r], loops.link_b[r]
    n, arm, _ = row_vectors(loops, ws, r)
    (turn_a, way_a), (turn_b, way_b) = twist_of(moved, a), twist_of(moved, b)
    dn = add(cross(turn_a, n), turned(ws, a, load(change.fixed, r)))
    if loops.kind[r] == TRANSLATION:
        darm = add(cross(turn_b, arm), turned(ws, b, load(change.point_b, r)))
        return dn, darm, add(darm, sub(way_b, way_a))
    return dn, add(cross(turn_b, arm), turned(ws, b, load(change.moving, r))), ZERO


@jit
def change_residual(loops, ws, r, moved, change):
    """Change of φ of a row that does not belong to a driven joint."""
    n, arm, lever = row_vectors(loops, ws, r)
    dn, darm, dlever = vector_changes(loops, ws, r, moved, change)
    if loops.kind[r] == TRANSLATION:
        a = loops.link_a[r]
        own, (turn, _) = turned(ws, a, load(loops.point_a, r)), twist_of(moved, a)
        down = add(cross(turn, own), turned(ws, a, load(change.point_a, r)))
        return dot(dn, sub(lever, own)) + dot(n, sub(dlever, down))
    return dot(darm, n) + dot(arm, dn)


@jit
def change_rate(loops, ws, r, moved, twist, change):
    """Change of J u of a row that does not belong to a driven joint, with changes (links, 6) of the displacements and
    velocities of the links, linear part first."""
    a, b = loops.link_a[r], loops.link_b[r]
    n, arm, lever = row_vectors(loops, ws, r)
    dn, darm, dlever = vector_changes(loops, ws, r, moved, change)
    (wa, va), (wb, vb) = twist_of(ws.twist, a), twist_of(ws.twist, b)
    (dwa, dva), (dwb, dvb) = twist_of(twist, a), twist_of(twist, b)
    if loops.kind[r] == TRANSLATION:
        rate = sub(add(vb, cross(wb, arm)), add(va, cross(wa, lever)))
        on_b = add(dvb, add(cross(dwb, arm), cross(wb, darm)))
        on_a = add(dva, add(cross(dwa, lever), cross(wa, dlever)))
        return dot(dn, rate) + dot(n, sub(on_b, on_a))
    both = add(cross(darm, n), cross(arm, dn))
    return dot(both, sub(wb, wa)) + dot(cross(arm, n), sub(dwb, dwa))


@jit
def change_acceleration(loops, ws, r, acceleration, gravity, moved, twist, faster, change):
    """Change of φ'' of a row that does not belong to a driven joint. The changes (links, 6) of displacements and
    velocities have the linear part first, those of spatial accelerations the angular part."""
    a, b = loops.link_a[r], loops.link_b[r]
    n, arm, lever = row_vectors(loops, ws, r)
    dn, darm, dlever = vector_changes(loops, ws, r, moved, change)
    (wa, va), (wb, vb) = twist_of(ws.twist, a), twist_of(ws.twist, b)
    (dwa, dva), (dwb, dvb) = twist_of(twist, a), twist_of(twist, b)
    (ua, la), (ub, lb) = acceleration_of(acceleration, gravity, a), acceleration_of(acceleration, gravity, b)
    (dua, dla), (dub, dlb) = motion_of(faster, a), motion_of(faster, b)
    if loops.kind[r] == TRANSLATION:
        xb, xa = add(vb, cross(wb, arm)), add(va, cross(wa, lever))
        dxb = add(dvb, add(cross(dwb, arm), cross(wb, darm)))
        dxa = add(dva, add(cross(dwa, lever), cross(wa, dlever)))
        rest, drest = sub(xa, scale(2.0, xb)), sub(dxa, scale(2.0, dxb))
        whole = sub(add(lb, cross(ub, arm)), add(la, cross(ua, lever)))
        whole = add(whole, add(cross(wb, xb), cross(wa, rest)))
        part = add(dlb, add(cross(dub, arm), cross(ub, darm)))
        part = sub(part, add(dla, add(cross(dua, lever), cross(ua, dlever))))
        part = add(part, add(cross(dwb, xb), cross(wb, dxb)))
        part = add(part, add(cross(dwa, rest), cross(wa, drest)))
        return dot(dn, whole) + dot(n, part)
    apart, dapart = sub(wb, wa), sub(dwb, dwa)
    y, z = cross(wb, arm), cross(wa, n)
    dy, dz = add(cross(dwb, arm), cross(wb, darm)), add(cross(dwa, n), cross(wa, dn))
    whole = add(cross(y, n), cross(arm, z))
    part = add(add(cross(dy, n), cross(y, dn)), add(cross(darm, z), cross(arm, dz)))
    both = add(cross(darm, n), cross(arm, dn))
    change_of_speed = dot(both, sub(ub, ua)) + dot(cross(arm, n), sub(dub, dua))
    return change_of_speed + dot(dapart, whole) + dot(apart, part)


@jit
def change_forces(loops, ws, multiplier, moved, change, wrench):
    """Adds the changes of the rows' forces at fixed λ to the changes of the wrenches on the links (links, 6)."""
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            continue
        c, a, b = multiplier[r], loops.link_a[r], loops.link_b[r]
        n, arm, lever = row_vectors(loops, ws, r)
        dn, darm, dlever = vector_changes(loops, ws, r, moved, change)
        if loops.kind[r] == TRANSLATION:
            add_wrench(b, scale(c, dn), scale(c, add(cross(darm, n), cross(arm, dn))), wrench)
            add_wrench(a, scale(-c, dn), scale(c, add(cross(dn, lever), cross(n, dlever))), wrench)
        else:
            turn = scale(c, add(cross(darm, n), cross(arm, dn)))
            add_wrench(b, ZERO, turn, wrench)
            add_wrench(a, ZERO, scale(-1.0, turn), wrench)
