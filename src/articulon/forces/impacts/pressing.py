"""Resting contacts: unilateral constraints whose forces keep gaps closed while the equations of motion are solved.

A resting contact has a normal force λ along n. With friction it either slides, with a force μ λ against its slip, or
sticks, with a force across the normal that keeps its slip at zero. The forces make the accelerations J u' + J' u of
these gaps and slips zero, and follow from this condition. The λ of a sliding contact acts along n − μ s, with s the
direction of the slip (F. Pfeiffer and C. Glocker, Multibody Dynamics with Unilateral Contacts, 1996, chapter 5).
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    copy_into,
    cross,
    dot,
    load,
    load_at,
    load_from,
    load_matrix,
    scale,
    sub,
)
from articulon.dynamics.kinematics import accelerate_at_constant_speeds
from articulon.forces.contact.contact_columns import WALL_POSE
from articulon.forces.contact.wall_motion import rotation_of
from articulon.forces.contact.wall_shapes import EDGE_AB, EDGE_BC, FACE, INSIDE, MESH, PLANE, triangle_gap
from articulon.forces.contact.wall_touching import in_wall_frame
from articulon.forces.impacts.impact_geometry import between, contact_gap, sphere_states, wall_gap
from articulon.forces.impacts.impact_tables import MOST_PRESSED, STOP, ImpactTable, most_resting
from articulon.forces.impacts.impulse_response import across, unit_row
from articulon.kernels import jit, kernel, routine
from articulon.model.state import CONTACT
from articulon.passes import pass_of, run

SLIDES, STICKS = 0, 1
"""Tangential modes of a resting contact; a contact without friction slides."""
SMALLEST = 1e-11
"""A pivot below this fraction of the largest counts as zero: the row depends on others."""


class Pressed(NamedTuple):
    """Resting contacts, and the scratch for their forces."""

    total: np.ndarray
    """Number of resting contacts, shape (1,)."""
    contact: np.ndarray
    """The contacts, shape (capacity, 2)."""
    mode: np.ndarray
    """``SLIDES`` or ``STICKS``, shape (capacity,)."""
    along: np.ndarray
    """Direction of the slip, used if the slip speed is too small to define one, world frame, shape (capacity, 3)."""
    friction: np.ndarray
    """Coefficient of friction μ, shape (capacity,)."""
    force: np.ndarray
    """Force along the normal and two directions across it, at the latest evaluation, shape (capacity, 3)."""
    slip: np.ndarray
    """Velocity along these directions, shape (capacity, 3)."""
    jammed: np.ndarray
    """1 + the number of a contact whose force along n − μ s does not push the two objects apart; 0 for none, shape
    (1,)."""
    normal: np.ndarray
    """Unit normals, shape (capacity, 3)."""
    gamma: np.ndarray
    """J' u, shape (3 capacity,)."""
    row: np.ndarray
    """J, shape (3 capacity, nu)."""
    jump: np.ndarray
    """M⁻¹ Jᵀ, shape (3 capacity, nu)."""
    column: np.ndarray
    """M⁻¹ times the force direction of each unknown, shape (3 capacity, nu)."""
    number: np.ndarray
    """Row number of each unknown, shape (3 capacity,)."""
    matrix: np.ndarray
    """Matrix of the unknowns, shape (3 capacity, 3 capacity)."""
    right: np.ndarray
    """Right-hand side, then the solution, shape (3 capacity,)."""
    order: np.ndarray
    """Columns in the order of elimination, shape (3 capacity,)."""
    x: np.ndarray
    """Centres of the spheres, shape (spheres, 3)."""
    v: np.ndarray
    """Velocities of the centres, shape (spheres, 3)."""


def pressed_contacts(table: ImpactTable, nu: int) -> Pressed:
    """Allocate the largest number of contacts that may rest at a time; none of them rests."""
    room, spheres = min(most_resting(table), MOST_PRESSED), table.link.size
    numbers = np.zeros((2, 3 * room), dtype=np.int64)
    return Pressed(
        total=np.zeros(1, dtype=np.int64),
        contact=np.zeros((room, 2), dtype=np.int64),
        mode=np.zeros(room, dtype=np.int64),
        along=np.zeros((room, 3)),
        friction=np.zeros(room),
        force=np.zeros((room, 3)),
        slip=np.zeros((room, 3)),
        jammed=np.zeros(1, dtype=np.int64),
        normal=np.zeros((room, 3)),
        gamma=np.zeros(3 * room),
        row=np.zeros((3 * room, nu)),
        jump=np.zeros((3 * room, nu)),
        column=np.zeros((3 * room, nu)),
        number=numbers[0],
        matrix=np.zeros((3 * room, 3 * room)),
        right=np.zeros(3 * room),
        order=numbers[1],
        x=np.zeros((spheres, 3)),
        v=np.zeros((spheres, 3)),
    )


@jit
def drawn(table, r, s):
    """Acceleration of a sphere's centre and angular acceleration of its link at constant joint speeds, and the angular
    velocity of the link."""
    i = table.link[s]
    if i < 0:
        return ZERO, ZERO, ZERO
    arm = apply(load_matrix(r.ws.rotation, i), load(table.local, s))
    w, aw = load_from(r.ws.twist, i, 3), load_from(r.ws.acceleration, i, 0)
    a = add(load_from(r.ws.acceleration, i, 3), add(cross(aw, arm), cross(w, cross(w, arm))))
    return a, aw, w


@jit
def about(axis, v, n, distance):
    """Rate of change of the unit vector n from an axis (its unit vector, or zero for a point) to a point that moves
    with v, at the given distance from the axis."""
    swept = sub(v, add(scale(dot(axis, v), axis), scale(dot(n, v), n)))
    return scale(1.0 / distance, swept)


@routine
def normal_rate(table, feature, x, v, n, gap):
    """Rate of change of the normal of a wall feature, for a point that moves with v at the distance ``gap``."""
    w = table.wall_of[feature]
    walls = table.walls
    shape = walls.shape[w]
    if shape == PLANE:
        return ZERO
    if shape != MESH:
        axis, radius = load_from(walls.pose, w, WALL_POSE.direction), walls.constants[w, 3]
        if shape == INSIDE:
            return scale(-1.0, about(axis, v, scale(-1.0, n), radius - gap))
        return about(axis, v, n, radius + gap)
    triangle = feature - walls.feature[w] + walls.triangle[w]
    where = triangle_gap(walls.corners, triangle, in_wall_frame(walls, w, x))[2]
    if where == FACE:
        return ZERO
    axis = ZERO
    if where >= EDGE_AB:
        ab, ac = load_at(walls.corners, 12 * triangle + 3), load_at(walls.corners, 12 * triangle + 6)
        edge = ab if where == EDGE_AB else sub(ac, ab) if where == EDGE_BC else ac
        axis = apply(rotation_of(walls.pose, w), scale(1.0 / dot(edge, edge) ** 0.5, edge))
    return about(axis, v, n, gap)


@routine
def press_rows(r, table, p):
    """Compute normals, J, M⁻¹ Jᵀ and J' u of the resting contacts, at the coordinates and speeds of ``r``."""
    run(r.place)
    sphere_states(table, r.ws, p.x, p.v)
    accelerate_at_constant_speeds(r.forest, r.ws)
    count, spheres = p.total[0], table.link.size
    for k in range(count):
        a, b = p.contact[k, 0], p.contact[k, 1]
        for j in range(3):
            p.gamma[3 * k + j] = p.normal[k, j] = 0.0
        if a == STOP:
            continue
        _, n, _ = contact_gap(table, p.x, r.q, a, b)
        acceleration, turning, w = drawn(table, r, a)
        velocity, turn = load(p.v, a), ZERO
        turning, w = scale(table.radius[a], turning), scale(table.radius[a], w)
        if b < spheres:
            other, turning_b, wb = drawn(table, r, b)
            acceleration, velocity = sub(acceleration, other), sub(velocity, load(p.v, b))
            turning = add(turning, scale(table.radius[b], turning_b))
            w = add(w, scale(table.radius[b], wb))
            d = between(table, load(p.x, a), load(p.x, b))
            turn = about(ZERO, velocity, n, dot(d, d) ** 0.5)
        else:
            at = load(p.x, a)
            gap, _ = wall_gap(table, b - spheres, at)
            turn = normal_rate(table, b - spheres, at, velocity, n, gap)
        slipping = sub(sub(acceleration, cross(turning, n)), cross(w, turn))
        t = across(n)
        p.gamma[3 * k] = dot(n, acceleration) + dot(turn, velocity)
        p.gamma[3 * k + 1], p.gamma[3 * k + 2] = dot(t, slipping), dot(cross(n, t), slipping)
        for j in range(3):
            p.normal[k, j] = n[j]
    for k in range(count):
        a, b = p.contact[k, 0], p.contact[k, 1]
        n = load(p.normal, k)
        at = other = ZERO
        if a != STOP:
            gap, _, _ = contact_gap(table, p.x, r.q, a, b)
            at = other = add(load(p.x, a), scale(-(table.radius[a] + 0.5 * gap), n))
            if b < spheres:
                other = add(load(p.x, b), scale(table.radius[b] + 0.5 * gap, n))
        unit_row(r, table, a, b, at, other, n, p.row[3 * k], p.jump[3 * k])
        if p.friction[k] > 0.0:
            t = across(n)
            unit_row(r, table, a, b, at, other, t, p.row[3 * k + 1], p.jump[3 * k + 1])
            unit_row(r, table, a, b, at, other, cross(n, t), p.row[3 * k + 2], p.jump[3 * k + 2])
        for j in range(3):
            p.slip[k, j] = 0.0
            if j == 0 or p.friction[k] > 0.0:
                for i in range(r.u.size):
                    p.slip[k, j] += p.row[3 * k + j, i] * r.u[i]


@kernel
def find_press_rows(r, table, p):
    """Call ``press_rows`` from Python."""
    press_rows(r, table, p)


@jit
def slip_direction(p, k):
    """Direction of the slip in the two directions across the normal: that of its velocity, or that in which it
    starts."""
    n = load(p.normal, k)
    t = across(n)
    s1, s2 = p.slip[k, 1], p.slip[k, 2]
    g1, g2 = dot(load(p.along, k), t), dot(load(p.along, k), cross(n, t))
    size = (s1 * s1 + s2 * s2) ** 0.5
    if not s1 * g1 + s2 * g2 > 0.0:  # a step that passes the end of the slip is repeated up to that end
        s1, s2, size = g1, g2, (g1 * g1 + g2 * g2) ** 0.5
    if size > 0.0:
        return s1 / size, s2 / size
    return 0.0, 0.0


@jit
def product(a, i, b):
    """Product of row i of a with b."""
    total = 0.0
    for k in range(b.size):
        total += a[i, k] * b[k]
    return total


@routine
def solve_pivoted(A, b, order, m):
    """Solve A x = b in place by elimination with complete pivoting; unknowns that depend on others stay zero."""
    for k in range(m):
        order[k] = k
    first = 0.0
    rank = m
    for k in range(m):
        best, row, col = -1.0, k, k
        for i in range(k, m):
            for j in range(k, m):
                if abs(A[i, j]) > best:
                    best, row, col = abs(A[i, j]), i, j
        if k == 0:
            first = best
        if not best > SMALLEST * first:
            rank = k
            break
        if row != k:
            for j in range(m):
                A[k, j], A[row, j] = A[row, j], A[k, j]
            b[k], b[row] = b[row], b[k]
        if col != k:
            for i in range(m):
                A[i, k], A[i, col] = A[i, col], A[i, k]
            order[k], order[col] = order[col], order[k]
        for i in range(k + 1, m):
            s = A[i, k] / A[k, k]
            if s != 0.0:
                for j in range(k, m):
                    A[i, j] -= s * A[k, j]
                b[i] -= s * b[k]
    for k in range(m - 1, -1, -1):
        if k >= rank:
            b[k] = 0.0
            continue
        for j in range(k + 1, rank):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]
    for k in range(m):  # restore the order of the unknowns
        A[0, order[k]] = b[k]
    for k in range(m):
        b[k] = A[0, k]


@pass_of
def press(r, table, p, q, u, udot, power):
    """Add the accelerations that resting contacts cause, and book their power.

    The forces are written to ``p.force``.
    """
    power[CONTACT] = 0.0
    count, m = p.total[0], 0
    if count == 0:
        return
    copy_into(r.q, q)
    copy_into(r.u, u)
    press_rows(r, table, p)
    for k in range(count):
        p.number[m] = 3 * k
        mu = p.friction[k]
        s1, s2 = 0.0, 0.0
        if mu > 0.0 and p.mode[k] == SLIDES:
            s1, s2 = slip_direction(p, k)
        for i in range(udot.size):
            p.column[m, i] = p.jump[3 * k, i]
            if mu > 0.0:
                p.column[m, i] -= mu * (s1 * p.jump[3 * k + 1, i] + s2 * p.jump[3 * k + 2, i])
        if mu > 0.0 and not product(p.row, 3 * k, p.column[m]) > SMALLEST * product(p.row, 3 * k, p.jump[3 * k]):
            p.jammed[0] = k + 1
        p.force[k, 1], p.force[k, 2] = s1, s2
        m += 1
        if p.mode[k] == STICKS and mu > 0.0:
            for j in range(1, 3):
                p.number[m] = 3 * k + j
                for i in range(udot.size):
                    p.column[m, i] = p.jump[3 * k + j, i]
                m += 1
    for i in range(m):
        row = p.number[i]
        p.right[i] = -p.gamma[row] - product(p.row, row, udot)
        for j in range(m):
            p.matrix[i, j] = product(p.row, row, p.column[j])
    solve_pivoted(p.matrix, p.right, p.order, m)
    for i in range(m):
        row, size = p.number[i], p.right[i]
        for j in range(udot.size):
            udot[j] += size * p.column[i, j]
        k, j = row // 3, row % 3
        if j == 0:
            p.force[k, 0] = size
            p.force[k, 1] *= -p.friction[k] * size
            p.force[k, 2] *= -p.friction[k] * size
        else:
            p.force[k, j] = size
    for k in range(count):
        for j in range(3):
            power[CONTACT] += p.force[k, j] * p.slip[k, j]
