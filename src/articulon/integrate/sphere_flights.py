"""Times at which hard spheres in flight hit each other and leave their cells: roots of quadratics without cancellation.

Each sphere has its own time, that of its latest event; other spheres are extrapolated to that time.
"""

import numpy as np

from articulon.integrate.hard_sphere_tables import EVENT, LINK, MOTION, NOBODY, OPEN, PERIODIC, SETTING, WALL
from articulon.kernels import jit, routine

UNSHIFTED = 13
"""Index of the zero shift."""
ROUNDING = (8.0 * 2.0**-52) ** 2
"""Square of the speed of approach of two spheres, relative to their squared speeds, below which they count as not
approaching: an impulse would be lost in the last digits of their velocities, and they would hit each other again at
once, without end."""
GRAZING = 1e-20
"""Square of the cosine of the angle to the line of centres below which two touching spheres pass each other. They would
overlap by half this number of diameters, far below rounding, and only rounding makes them approach."""


@jit
def impact_time(c, b, a, square):
    """Time until two spheres meet, |r + w τ| = σ: the earlier root of a τ² + 2 b τ + c = 0 for a = w², b = r·w,
    c = r² − σ² and ``square`` = σ²; infinity if they do not approach or miss each other.

    It is computed as c/(√(b² − ac) − b), without cancellation. Spheres that approach while they touch, or overlap by
    rounding, hit each other at once.
    """
    forward = b * b
    discriminant = forward - a * c
    if b >= 0.0 or discriminant < 0.0 or forward <= GRAZING * a * (c + square):
        return np.inf
    return max(c / (np.sqrt(discriminant) - b), 0.0)


@jit
def exit_time(distance, speed, acceleration):
    """Time until a point at a distance d inside a face leaves through it, with speed v and acceleration a towards it:
    ½ a τ² + v τ = d, at the root at which it moves outwards; infinity if it never leaves.

    A point that is beyond the face by rounding leaves at once, and a point that has just entered through the face does
    not leave through it at once.
    """
    if acceleration == 0.0:
        return max(distance / speed, 0.0) if speed > 0.0 else np.inf
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
    """Advance a sphere to a time."""
    motion, settings = spheres.motion, spheres.settings
    step = time - motion[i, MOTION.time]
    motion[i, MOTION.time] = time
    for axis in range(3):
        gain = settings[SETTING.gravity + axis] * step
        motion[i, MOTION.place + axis] += (motion[i, MOTION.velocity + axis] + 0.5 * gain) * step
        motion[i, MOTION.velocity + axis] += gain


@jit
def cell_at(grid, x, y, z):
    """Number of the cell with three indices along the axes."""
    return (x * grid.cells[1] + y) * grid.cells[2] + z


@jit
def cell_numbers(grid, cell):
    """Indices of a cell along the three axes."""
    plane, z = cell // grid.cells[2], cell % grid.cells[2]
    return plane // grid.cells[1], plane % grid.cells[1], z


@routine
def find_crossing(spheres, i):
    """Find the time at which a sphere, from its own time on, leaves its cell or hits a wall, and through which face."""
    grid, motion, settings = spheres.grid, spheres.motion, spheres.settings
    numbers = cell_numbers(grid, np.int64(spheres.links[i, LINK.cell]))
    best, face = np.inf, 0
    for axis in range(3):
        kind, count, cell = grid.faces[axis], grid.cells[axis], numbers[axis]
        x = motion[i, MOTION.place + axis] - grid.low[axis]
        v, g = motion[i, MOTION.velocity + axis], settings[SETTING.gravity + axis]
        for side in range(2):
            if g == 0.0 and (v > 0.0) != (side == 1):
                continue
            outer = cell == (0 if side == 0 else count - 1)
            if outer and kind == OPEN:
                continue
            place = (cell + side) * grid.edge[axis]
            if outer and kind == WALL:
                place = (
                    spheres.events[i, EVENT.radius]
                    if side == 0
                    else grid.length[axis] - spheres.events[i, EVENT.radius]
                )
            sign = 1.0 if side == 1 else -1.0
            ahead = exit_time(sign * (place - x), sign * v, sign * g)
            if ahead < best:
                best, face = ahead, 2 * axis + side
    spheres.events[i, EVENT.crossing] = motion[i, MOTION.time] + best
    spheres.links[i, LINK.face] = face


@routine
def gather(spheres, i, lowest, highest):
    """List the spheres in the cell of a sphere and in its neighbours, with their shifts, in ``near``; return their
    number, and whether all shifts are zero. Four slots of a cell are copied at once, because a branch on the number of
    filled slots cannot be predicted; the next cell overwrites the empty ones."""
    grid, found = spheres.grid, np.uint64(0)
    home = np.int64(spheres.links[i, LINK.cell])
    cx, cy, cz = cell_numbers(grid, home)
    plane, row = grid.cells[1] * grid.cells[2], grid.cells[2]
    if _inside(grid, 0, cx) and _inside(grid, 1, cy) and _inside(grid, 2, cz):
        for ox in range(lowest[0], highest[0] + 1):
            for oy in range(lowest[1], highest[1] + 1):
                cell = home + ox * plane + oy * row
                for oz in range(lowest[2], highest[2] + 1):
                    found = _copy_cell(spheres, np.uint64(cell + oz), np.int32(UNSHIFTED), found, False)
        return np.int64(found), True
    for ox in range(lowest[0], highest[0] + 1):
        kx, way_x = wrapped(grid, 0, cx + ox)
        for oy in range(lowest[1], highest[1] + 1):
            ky, way_y = wrapped(grid, 1, cy + oy)
            if kx == NOBODY or ky == NOBODY:
                continue
            for oz in range(lowest[2], highest[2] + 1):
                kz, way_z = wrapped(grid, 2, cz + oz)
                if kz != NOBODY:
                    shift = np.int32(9 * way_x + 3 * way_y + way_z + UNSHIFTED)
                    found = _copy_cell(spheres, np.uint64(cell_at(grid, kx, ky, kz)), shift, found, True)
    return np.int64(found), False


@jit
def _inside(grid, axis, cell):
    """Whether a cell has neighbours on both sides along an axis."""
    return 0 < cell < grid.cells[axis] - 1


@jit
def _copy_cell(spheres, cell, shift, found, shifted):
    """Copy the slots of a cell and return the number of spheres found by then. Indices are unsigned, because signed
    indices would need a check for negative values."""
    slots, near = spheres.grid.slots, spheres.near
    filled = spheres.grid.filled[cell]
    for slot in range(4):
        near[0, found + np.uint64(slot)] = slots[cell, slot]
        if shifted:
            near[1, found + np.uint64(slot)] = shift
    if filled > 4:
        for slot in range(4, filled):
            near[0, found + np.uint64(slot)] = slots[cell, slot]
            if shifted:
                near[1, found + np.uint64(slot)] = shift
    return found + np.uint64(filled)


@jit
def wrapped(grid, axis, cell):
    """The index of a cell beyond the ends of an axis, wrapped, or NOBODY if there is none; and −1 if the cell lies
    beyond the lower face, 1 if it lies beyond the upper face, else 0."""
    count = grid.cells[axis]
    if 0 <= cell < count:
        return cell, 0
    if grid.faces[axis] != PERIODIC:
        return NOBODY, 0
    return (cell + count, -1) if cell < 0 else (cell - count, 1)


@routine
def find_impact(spheres, i, lowest, highest):
    """Find the earliest impact of a sphere, from its own time on, with spheres in cells around it. Only impacts earlier
    than the present impacts of both spheres count. The cells have offsets from ``lowest`` to ``highest`` by axis.

    Returns
    -------
    float, int
        Time and partner, the lowest number among equal times; the time of the sphere's present impact and NOBODY if
        there is none.
    """
    motion, settings, shifts = spheres.motion, spheres.settings, spheres.grid.shifts
    near, meeting = spheres.near, spheres.meeting
    x, y, z = motion[i, MOTION.place], motion[i, MOTION.place + 1], motion[i, MOTION.place + 2]
    vx, vy, vz = motion[i, MOTION.velocity], motion[i, MOTION.velocity + 1], motion[i, MOTION.velocity + 2]
    time, best, mate = motion[i, MOTION.time], motion[i, MOTION.impact], np.int64(NOBODY)
    gx, gy, gz = settings[SETTING.gravity], settings[SETTING.gravity + 1], settings[SETTING.gravity + 2]
    falls = gx != 0.0 or gy != 0.0 or gz != 0.0
    diameter = settings[SETTING.diameter]
    square = diameter * diameter
    hits = 0
    found, inside = gather(spheres, i, lowest, highest)
    for k in range(found):
        other = np.uint64(near[0, k])
        shift = np.uint64(UNSHIFTED) if inside else np.uint64(near[1, k])
        step = time - motion[other, MOTION.time]
        ux, uy, uz = (
            motion[other, MOTION.velocity],
            motion[other, MOTION.velocity + 1],
            motion[other, MOTION.velocity + 2],
        )
        rx = motion[other, MOTION.place] + shifts[shift, 0] - x + ux * step
        ry = motion[other, MOTION.place + 1] + shifts[shift, 1] - y + uy * step
        rz = motion[other, MOTION.place + 2] + shifts[shift, 2] - z + uz * step
        if falls:
            half = 0.5 * step * step
            rx, ry, rz = rx + gx * half, ry + gy * half, rz + gz * half
            ux, uy, uz = ux + gx * step, uy + gy * step, uz + gz * step
        if diameter == 0.0:
            apart = spheres.events[i, EVENT.radius] + spheres.events[other, EVENT.radius]
            square = apart * apart
        wx, wy, wz = ux - vx, uy - vy, uz - vz
        a, b = wx * wx + wy * wy + wz * wz, rx * wx + ry * wy + rz * wz
        c = rx * rx + ry * ry + rz * rz - square
        meeting[hits, 0], meeting[hits, 1], meeting[hits, 2], meeting[hits, 3] = c, b, a, square
        near[0, hits] = near[0, k]
        # About half of the spheres approach, so that a branch would be mispredicted half of the time.
        # The sphere itself is excluded, as its relative velocity is zero.
        hits += (b < 0.0) & (b * b >= a * c)
    speed_squared = vx * vx + vy * vy + vz * vz
    for k in range(hits):
        j = np.int64(near[0, k])
        c, b, square = meeting[k, 0], meeting[k, 1], meeting[k, 3]
        ux, uy, uz = motion[j, MOTION.velocity], motion[j, MOTION.velocity + 1], motion[j, MOTION.velocity + 2]
        speeds = speed_squared + ux * ux + uy * uy + uz * uz
        if b * b <= ROUNDING * (c + square) * speeds:
            continue
        when = time + impact_time(c, b, meeting[k, 2], square)
        if when <= best and when < motion[j, MOTION.impact] and (when < best or (mate != NOBODY and j < mate)):
            best, mate = when, j
    return best, mate
