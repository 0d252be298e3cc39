"""Kicks and drifts of a group of grains, as vector loops over columns.

Sums over contacts and motions of grains are stored in rows, which are transposed into columns and back; all other data
are stored in columns for each group (``Grains.row``, ``Grains.place``).
"""

import math

import numpy as np

from articulon.algebra.rotations import product
from articulon.algebra.vectors import add_scaled, dot, load_from, scale
from articulon.forces.contact.carried_spheres import add_wall_contact
from articulon.forces.contact.contact_columns import LOAD, MOTION
from articulon.forces.contact.contact_powers import powers_at_wall
from articulon.forces.contact.contact_tables import FREE, NORMAL_WORK, WORKS
from articulon.forces.contact.row_exchange import LANES as FOUR
from articulon.forces.contact.row_exchange import take_columns
from articulon.integrate.grain_columns import (
    DRAG_WORK,
    FALL_WORK,
    GRAIN,
    GRAIN_DRAG,
    GRAIN_PARTIAL,
    GRAIN_PLACE,
    GRAIN_ROW,
    GROUP,
)
from articulon.integrate.grain_groups import copy, get, get3, put, put3, put_rows, take_rows
from articulon.kernels import jit

SMALL = 0.0625
"""Square of an angle up to which Taylor series for half the angle are exact to rounding."""


@jit
def take_loads(sums, columns, rows, first, count):
    """Move the sums over contacts from the rows, from the first on, into columns, and zero the rows."""
    full = count - count % FOUR
    for k in range(count):
        rows[np.uint64(GROUP) + np.uint64(k)] = np.uint64(first + k)
    for k in range(0, full, FOUR):
        for c in range(0, LOAD.width, FOUR):
            take_columns(sums, LOAD.width, rows, GROUP + k, c, columns, (GRAIN.load + c) * GROUP + k, GROUP)
    for k in range(full, count):
        for c in range(LOAD.width):
            put(columns, GRAIN.load + c, k, sums[first + k, c])
    for row in range(first, first + count):
        for c in range(LOAD.width):
            sums[row, c] = 0.0


@jit
def add_outer(walls, drag, columns, begin, count):
    """Add forces and torques of walls and of drag."""
    for k in range(6 * GROUP):
        columns[GRAIN.outer_force * GROUP + k] = 0.0
    for slot in range(walls.start[begin], walls.start[begin + count]):
        if walls.touches[slot] != FREE:
            k = walls.place[slot] - begin
            f, t = get3(columns, GRAIN.outer_force, k), get3(columns, GRAIN.outer_torque, k)
            f, t = add_wall_contact(walls, slot, f, t)
            put3(columns, GRAIN.outer_force, k, f)
            put3(columns, GRAIN.outer_torque, k, t)
    if drag.shape[0] > 0:
        for k in range(count):
            p = begin + k
            flow = load_from(drag, p, GRAIN_DRAG.flow)
            c, cw = drag[p, GRAIN_DRAG.translation], drag[p, GRAIN_DRAG.rotation]
            v, w = get3(columns, GRAIN.velocity, k), get3(columns, GRAIN.angular_velocity, k)
            df, dt = (c * (flow[0] - v[0]), c * (flow[1] - v[1]), c * (flow[2] - v[2])), scale(-cw, w)
            put3(columns, GRAIN.drag_force, k, df)
            put3(columns, GRAIN.drag_torque, k, dt)
            put3(columns, GRAIN.outer_force, k, add_scaled(get3(columns, GRAIN.outer_force, k), 1.0, df))
            put3(columns, GRAIN.outer_torque, k, add_scaled(get3(columns, GRAIN.outer_torque, k), 1.0, dt))


@jit
def accelerate_group(columns, count, gravity):
    """Compute accelerations; return a sum that is finite if all of them are."""
    finite, gx, gy, gz = 0.0, gravity[0], gravity[1], gravity[2]
    for k in range(count):
        inverse_mass = columns[GRAIN.inverse_mass * GROUP + k]
        inverse_inertia = columns[GRAIN.inverse_inertia * GROUP + k]
        cx, cy, cz = get3(columns, GRAIN.load_force, k)
        fx, fy, fz = get3(columns, GRAIN.outer_force, k)
        ax, ay, az = gx + inverse_mass * (cx + fx), gy + inverse_mass * (cy + fy), gz + inverse_mass * (cz + fz)
        cx, cy, cz = get3(columns, GRAIN.load_torque, k)
        fx, fy, fz = get3(columns, GRAIN.outer_torque, k)
        bx, by, bz = inverse_inertia * (cx + fx), inverse_inertia * (cy + fy), inverse_inertia * (cz + fz)
        put3(columns, GRAIN.acceleration, k, (ax, ay, az))
        put3(columns, GRAIN.angular_acceleration, k, (bx, by, bz))
        finite += ax * ax + ay * ay + az * az + bx * bx + by * by + bz * bz
    return finite


@jit
def works_of(columns, count, force, torque):
    """Power of a force and a torque, and its rate of change along the kick."""
    power, growth = 0.0, 0.0
    for k in range(count):
        fx, fy, fz = get3(columns, force, k)
        tx, ty, tz = get3(columns, torque, k)
        vx, vy, vz = get3(columns, GRAIN.velocity, k)
        wx, wy, wz = get3(columns, GRAIN.angular_velocity, k)
        ax, ay, az = get3(columns, GRAIN.acceleration, k)
        bx, by, bz = get3(columns, GRAIN.angular_acceleration, k)
        power += (fx * vx + fy * vy + fz * vz) + (tx * wx + ty * wy + tz * wz)
        growth += (fx * ax + fy * ay + fz * az) + (tx * bx + ty * by + tz * bz)
    return power, growth


@jit
def falls_of(columns, count, gravity):
    """Power of gravity, and its rate of change along the kick."""
    power, growth, gx, gy, gz = 0.0, 0.0, gravity[0], gravity[1], gravity[2]
    for k in range(count):
        mass = 1.0 / columns[GRAIN.inverse_mass * GROUP + k]
        vx, vy, vz = get3(columns, GRAIN.velocity, k)
        ax, ay, az = get3(columns, GRAIN.acceleration, k)
        power += mass * (gx * vx + gy * vy + gz * vz)
        growth += mass * (gx * ax + gy * ay + gz * az)
    return power, growth


@jit
def book(partial, line, works, quarter, more):
    """Add the powers at the mean velocities of the half kick that ends the step and of the next one to a line; powers
    change linearly along a kick."""
    partial[GRAIN_PARTIAL.done + line] += works[0] + quarter * works[1]
    partial[GRAIN_PARTIAL.due + line] += works[0] + more * works[1]


@jit
def book_group(walls, drag, gravity, columns, begin, count, quarter, more, partial):
    """Add the powers of all forces on a group to the lines. The whole work of contacts between grains is recorded as
    that of elastic forces; ``grains.sort_works`` then moves the parts of other lines."""
    works = works_of(columns, count, GRAIN.load_force, GRAIN.load_torque)
    book(partial, NORMAL_WORK, works, quarter, more)
    works = falls_of(columns, count, gravity)
    book(partial, FALL_WORK, works, quarter, more)
    if drag.shape[0] > 0:
        works = works_of(columns, count, GRAIN.drag_force, GRAIN.drag_torque)
        book(partial, DRAG_WORK, works, quarter, more)
    for slot in range(walls.start[begin], walls.start[begin + count]):
        if walls.touches[slot] != FREE:
            k = walls.place[slot] - begin
            v, w = get3(columns, GRAIN.velocity, k), get3(columns, GRAIN.angular_velocity, k)
            a, b = get3(columns, GRAIN.acceleration, k), get3(columns, GRAIN.angular_acceleration, k)
            done = powers_at_wall(walls, slot, add_scaled(v, quarter, a), add_scaled(w, quarter, b))
            due = powers_at_wall(walls, slot, add_scaled(v, more, a), add_scaled(w, more, b))
            for line in range(WORKS):
                partial[GRAIN_PARTIAL.done + line] += done[line]
                partial[GRAIN_PARTIAL.due + line] += due[line]


@jit
def advance_velocities(columns, count, time):
    """Apply v += a t, and the same formula to angular velocities."""
    for k in range(count):
        v, w = get3(columns, GRAIN.velocity, k), get3(columns, GRAIN.angular_velocity, k)
        put3(columns, GRAIN.velocity, k, add_scaled(v, time, get3(columns, GRAIN.acceleration, k)))
        put3(columns, GRAIN.angular_velocity, k, add_scaled(w, time, get3(columns, GRAIN.angular_acceleration, k)))


@jit
def kick_group(spheres, walls, drag, gravity, columns, rows, begin, count, load, done, due, partial):
    """Kick some grains for a time ``done`` by the loads summed in the rows from ``load`` on, and zero these rows; the
    next kick, by the same forces, will last for a time ``due``."""
    take_loads(spheres.load, columns, rows, load, count)
    add_outer(walls, drag, columns, begin, count)
    partial[GRAIN_PARTIAL.finite] += accelerate_group(columns, count, gravity)
    book_group(walls, drag, gravity, columns, begin, count, 0.5 * done, done + 0.5 * due, partial)
    advance_velocities(columns, count, done)


@jit
def go(columns, count, h, middle):
    """Apply x += h v; return a sum that is finite if all displacements are."""
    everything, mx, my, mz = 0.0, middle[0], middle[1], middle[2]
    for k in range(count):
        vx, vy, vz = get3(columns, GRAIN.velocity, k)
        x, y, z = get3(columns, GRAIN.place, k)
        x, y, z = x + h * vx, y + h * vy, z + h * vz
        hx, hy, hz = get3(columns, GRAIN.home, k)
        sx, sy, sz = get3(columns, GRAIN.wrap, k)
        put3(columns, GRAIN.place, k, (x, y, z))
        put3(columns, GRAIN.position, k, (x + sx, y + sy, z + sz))
        dx, dy, dz = x - hx, y - hy, z - hz
        lx, ly, lz = get3(columns, GRAIN.least, k)
        put3(columns, GRAIN.least, k, (dx if dx < lx else lx, dy if dy < ly else ly, dz if dz < lz else lz))
        lx, ly, lz = get3(columns, GRAIN.most, k)
        put3(columns, GRAIN.most, k, (dx if dx > lx else lx, dy if dy > ly else ly, dz if dz > lz else lz))
        dx, dy, dz = dx - mx, dy - my, dz - mz
        square = dx * dx + dy * dy + dz * dz
        farthest = columns[GRAIN.far * GROUP + k]
        columns[GRAIN.far * GROUP + k] = square if square > farthest else farthest
        everything += square
    return everything


@jit
def halve_angles(columns, count, h):
    """Compute the cosine of half the angle of each rotation, and the sine over the angle."""
    large = 0.0
    for k in range(count):
        wx, wy, wz = get3(columns, GRAIN.angular_velocity, k)
        angle2 = (h * h) * (wx * wx + wy * wy + wz * wz)
        x = 0.25 * angle2
        columns[GRAIN.sine * GROUP + k] = 0.5 * (1 - x / 6 * (1 - x / 20 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110)))))
        columns[GRAIN.cosine * GROUP + k] = 1 - x / 2 * (
            1 - x / 12 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90 * (1 - x / 132))))
        )
        large += 0.0 if angle2 < SMALL else 1.0
    if large > 0.0:
        for k in range(count):
            w = get3(columns, GRAIN.angular_velocity, k)
            angle = h * math.sqrt(dot(w, w))
            if not angle * angle < SMALL:
                columns[GRAIN.sine * GROUP + k] = math.sin(0.5 * angle) / angle
                columns[GRAIN.cosine * GROUP + k] = math.cos(0.5 * angle)


@jit
def rotate(columns, count, h):
    """Rotate the Euler parameters e by ω h."""
    for k in range(count):
        w, s = get3(columns, GRAIN.angular_velocity, k), h * columns[GRAIN.sine * GROUP + k]
        turned = (columns[GRAIN.cosine * GROUP + k], s * w[0], s * w[1], s * w[2])
        v = get3(columns, GRAIN.turn_vector, k)
        e = product(turned, (columns[GRAIN.turn * GROUP + k], v[0], v[1], v[2]))
        # One Newton iteration brings the norm back to one.
        keep = 1.5 - 0.5 * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        columns[GRAIN.turn * GROUP + k] = keep * e[0]
        put3(columns, GRAIN.turn_vector, k, (keep * e[1], keep * e[2], keep * e[3]))


@jit
def drift_group(spheres, row, place, middle, columns, rows, group, begin, count, h, partial):
    """Apply v += ½ h a, then x += h v, and the corresponding rotations, to a group of grains. Without periodic
    directions coordinates are those of the spheres, and the displacement into the box stays zero, as the columns are
    initialised."""
    take_rows(spheres.motion, MOTION.width, MOTION.position, columns, GRAIN.position, rows, begin, count)
    wraps = place.shape[0] > 0
    if wraps:
        copy(place, group * GRAIN_PLACE.width * GROUP, columns, GRAIN.place * GROUP, GRAIN_PLACE.width * GROUP)
    else:
        copy(columns, GRAIN.position * GROUP, columns, GRAIN.place * GROUP, 3 * GROUP)
    advance_velocities(columns, count, 0.5 * h)
    everything = go(columns, count, h, middle)
    halve_angles(columns, count, h)
    rotate(columns, count, h)
    copy(columns, GRAIN.turn * GROUP, row, group * GRAIN_ROW.width * GROUP, GRAIN_ROW.inverse_inertia * GROUP)
    if wraps:
        copy(columns, GRAIN.place * GROUP, place, group * GRAIN_PLACE.width * GROUP, GRAIN_PLACE.wrap * GROUP)
    put_rows(spheres.motion, MOTION.width, MOTION.position, columns, GRAIN.position, rows, begin, count)
    if not everything < np.inf:  # a maximum would ignore NaN, a sum does not
        partial[GRAIN_PARTIAL.displacement] = np.nan


@jit
def clear_displacements(columns):
    """Reset the displacements of a group."""
    for k in range(GROUP):
        columns[GRAIN.far * GROUP + k] = 0.0
        put3(columns, GRAIN.least, k, (np.inf, np.inf, np.inf))
        put3(columns, GRAIN.most, k, (-np.inf, -np.inf, -np.inf))


@jit
def note_ways(columns, partial):
    """Compute the largest displacement, and the extremes along each axis, of the grains that have drifted since
    ``clear_displacements``."""
    worst = 0.0
    for k in range(GROUP):
        worst = max(worst, columns[GRAIN.far * GROUP + k])
    partial[GRAIN_PARTIAL.displacement] = worst
    for a in range(3):
        low, high = np.inf, -np.inf
        for k in range(GROUP):
            low, high = min(low, get(columns, GRAIN.least + a, k)), max(high, get(columns, GRAIN.most + a, k))
        partial[GRAIN_PARTIAL.low + a], partial[GRAIN_PARTIAL.high + a] = low, high


@jit
def take_velocities(motion, columns, rows, begin, count):
    """Read velocities of a group, with inverse masses and kinds, into its columns."""
    for k in range(count):
        rows[np.uint64(k)] = np.uint64(begin + k)
    take_rows(motion, MOTION.width, MOTION.velocity, columns, GRAIN.velocity, rows, begin, count)
    take_rows(motion, MOTION.width, MOTION.angular_velocity, columns, GRAIN.angular_velocity, rows, begin, count)


@jit
def put_velocities(motion, columns, rows, begin, count):
    """Write velocities of a group, with inverse masses and kinds, back into the rows."""
    put_rows(motion, MOTION.width, MOTION.velocity, columns, GRAIN.velocity, rows, begin, count)
    put_rows(motion, MOTION.width, MOTION.angular_velocity, columns, GRAIN.angular_velocity, rows, begin, count)
