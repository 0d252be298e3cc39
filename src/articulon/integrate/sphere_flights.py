"""When hard spheres in flight hit each other, and when they leave their cells: roots of quadratics that do not cancel.

Each sphere has its own time, that of its latest event; others are looked at where they will be at that time.
"""

import numpy as np

from articulon.integrate.hard_sphere_tables import EVENT, LINK, MOTION, NOBODY, OPEN, PERIODIC, SETTING, WALL
from articulon.kernels import jit, routine


GRAZING = 1e-20
"""Square of the cosine of an angle to the line of centres, below which two that touch pass each other: they would go in
by half of that in diameters, far less than rounding lets them, and rounding alone says that they approach."""


@jit
def impact_time(c, b, a, square):
    """When two spheres meet, |r + w τ| = σ: the earlier root of a τ² + 2 b τ + c = 0 for a = w², b = r·w, c = r² − σ²
    and ``square`` = σ²; infinity where they do not approach or miss each other.

    It is written c/(√(b² − ac) − b), where nothing cancels. Two that touch, or overlap by rounding, and approach hit
    each other at once.
    """
    forward = b * b
    discriminant = forward - a * c
    if b >= 0.0 or discriminant < 0.0 or forward <= GRAZING * a * (c + square):
        return np.inf
    return max(c / (np.sqrt(discriminant) - b), 0.0)


@jit
def exit_time(distance, speed, acceleration):
    """When something at a distance inside of a face goes out through it, at a speed and acceleration towards it:
    ½ a τ² + v τ = d, at the root at which it moves outwards; infinity where it never does.

    What has passed the face by rounding does so at once, and what has just come in through it does not go out where it
    came in.
    """
    square = speed * speed + 2.0 * acceleration * distance
    if speed > 0.0:
        if square < 0.0:
            return np.inf
        return max(2.0 * distance / (speed + np.sqrt(square)), 0.0)
    if acceleration <= 0.0:
        return np.inf
    return (np.sqrt(max(square, 0.0)) - speed) / acceleration


@jit
def fly(spheres, i, time):
    """Brings a sphere to a time."""
    motion, settings = spheres.motion, spheres.settings
    step = time - motion[i, MOTION.time]
    motion[i, MOTION.time] = time
    for axis in range(3):
        gain = settings[SETTING.gravity + axis] * step
        motion[i, MOTION.place + axis] += (motion[i, MOTION.velocity + axis] + 0.5 * gain) * step
        motion[i, MOTION.velocity + axis] += gain


@jit
def cell_at(grid, x, y, z):
    """Cell of three cell numbers."""
    return (x * grid.cells[1] + y) * grid.cells[2] + z


@jit
def cell_numbers(grid, cell):
    """Three numbers of a cell."""
    plane, z = cell // grid.cells[2], cell % grid.cells[2]
    return plane // grid.cells[1], plane % grid.cells[1], z


@routine
def find_crossing(spheres, i):
    """Finds when a sphere, at its own time, leaves its cell or hits a wall, and through which face."""
    grid, motion, settings = spheres.grid, spheres.motion, spheres.settings
    numbers = cell_numbers(grid, np.int64(spheres.links[i, LINK.cell]))
    best, face = np.inf, 0
    for axis in range(3):
        kind, count, cell = grid.faces[axis], grid.cells[axis], numbers[axis]
        x = motion[i, MOTION.place + axis] - grid.low[axis]
        v, g = motion[i, MOTION.velocity + axis], settings[SETTING.gravity + axis]
        for side in range(2):
            outer = cell == (0 if side == 0 else count - 1)
            if outer and kind == OPEN:
                continue
            place = (cell + side) * grid.edge[axis]
            if outer and kind == WALL:
                place = spheres.radius[i] if side == 0 else grid.length[axis] - spheres.radius[i]
            way = 1.0 if side == 1 else -1.0
            ahead = exit_time(way * (place - x), way * v, way * g)
            if ahead < best:
                best, face = ahead, 2 * axis + side
    spheres.events[i, EVENT.crossing] = motion[i, MOTION.time] + best
    spheres.links[i, LINK.face] = face


@routine
def find_impact(spheres, i, lowest, highest):
    """Finds the earliest impact of a sphere, at its own time, that is earlier than those that it and the other one have,
    with spheres in its cell and around it; offsets of cells from ``lowest`` to ``highest`` by axis.

    Returns
    -------
    float, int
        When, and with which, the lowest of several; that of the sphere's own and NOBODY where there is none.
    """
    grid, motion, links, settings = spheres.grid, spheres.motion, spheres.links, spheres.settings
    x, y, z = motion[i, MOTION.place], motion[i, MOTION.place + 1], motion[i, MOTION.place + 2]
    vx, vy, vz = motion[i, MOTION.velocity], motion[i, MOTION.velocity + 1], motion[i, MOTION.velocity + 2]
    time, best, mate = motion[i, MOTION.time], motion[i, MOTION.impact], NOBODY
    gx, gy, gz = settings[SETTING.gravity], settings[SETTING.gravity + 1], settings[SETTING.gravity + 2]
    falls = gx != 0.0 or gy != 0.0 or gz != 0.0
    reach = settings[SETTING.diameter]
    square = reach * reach
    cx, cy, cz = cell_numbers(grid, np.int64(links[i, LINK.cell]))
    for ox in range(lowest[0], highest[0] + 1):
        kx, shift_x, there = wrapped(grid, 0, cx + ox)
        if not there:
            continue
        for oy in range(lowest[1], highest[1] + 1):
            ky, shift_y, there = wrapped(grid, 1, cy + oy)
            if not there:
                continue
            for oz in range(lowest[2], highest[2] + 1):
                kz, shift_z, there = wrapped(grid, 2, cz + oz)
                if not there:
                    continue
                j = grid.first[cell_at(grid, kx, ky, kz)]
                while j != NOBODY:
                    step = time - motion[j, MOTION.time]
                    ux, uy, uz = (
                        motion[j, MOTION.velocity],
                        motion[j, MOTION.velocity + 1],
                        motion[j, MOTION.velocity + 2],
                    )
                    rx = motion[j, MOTION.place] + shift_x - x + ux * step
                    ry = motion[j, MOTION.place + 1] + shift_y - y + uy * step
                    rz = motion[j, MOTION.place + 2] + shift_z - z + uz * step
                    if falls:
                        half = 0.5 * step * step
                        rx, ry, rz = rx + gx * half, ry + gy * half, rz + gz * half
                        ux, uy, uz = ux + gx * step, uy + gy * step, uz + gz * step
                    wx, wy, wz = ux - vx, uy - vy, uz - vz
                    b = rx * wx + ry * wy + rz * wz
                    if b < 0.0 and j != i:
                        if reach == 0.0:
                            sum_of_radii = spheres.radius[i] + spheres.radius[j]
                            square = sum_of_radii * sum_of_radii
                        c = rx * rx + ry * ry + rz * rz - square
                        a = wx * wx + wy * wy + wz * wz
                        when = time + impact_time(c, b, a, square)
                        if when <= best and when < motion[j, MOTION.impact]:
                            if when < best or (mate != NOBODY and j < mate):
                                best, mate = when, j
                    j = links[j, LINK.next]
    return best, mate


@jit
def wrapped(grid, axis, cell):
    """The number of a cell beyond the ends of an axis, what brings its spheres beside those at this end, and whether
    there is such a cell."""
    count = grid.cells[axis]
    if 0 <= cell < count:
        return cell, 0.0, True
    if grid.faces[axis] != PERIODIC:
        return cell, 0.0, False
    if cell < 0:
        return cell + count, -grid.length[axis], True
    return cell - count, grid.length[axis], True
