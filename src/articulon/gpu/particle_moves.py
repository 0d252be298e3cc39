"""Kernels on all particles that use double precision for any precision of the forces: the kick at the end of a step,
the step count, and reordering between the order of the model and that of cells.

Every kernel except those of a rebuild first checks whether the steps have been stopped: a batch of steps is sent to a
device as a whole, and the rest of it does nothing once the lists must be rebuilt.
"""

# Annotations must not be strings: Warp reads the types of arguments when a kernel is defined.
from typing import Any

from articulon.gpu.devices import load_warp

wp: Any = load_warp()

wp.set_module_options({"enable_backward": False})

STOPPED = wp.constant(0)
"""Flag: the steps are stopped, for one of the following reasons."""
STALE = wp.constant(1)
"""Flag: the lists must be rebuilt before the forces of the present step."""
LOST = wp.constant(2)
"""Flag: a number is no longer finite."""
DONE = wp.constant(3)
"""Number of steps taken since the flags were cleared."""
SHORT = wp.constant(4)
"""Flag: the rebuilt lists have exceeded their capacity."""
LEAPT = wp.constant(5)
"""Flag: a particle has moved through half of the box in one step."""
FLAGS = 6
BLOCK = wp.constant(1024)
"""Number of particles that are summed together."""


@wp.struct
class Moving:
    """Particles in cell order."""

    x: wp.array(dtype=wp.vec3d)
    """Coordinates, unwrapped [length], shape (n,)."""
    v: wp.array(dtype=wp.vec3d)
    """Velocities [velocity], shape (n,)."""
    wrap: wp.array(dtype=wp.vec3d)
    """Displacement that wraps a particle into the box [length], shape (n,)."""
    reference: wp.array(dtype=wp.vec3d)
    """Coordinates when neighbours were last listed [length], shape (n,)."""
    inverse_mass: wp.array(dtype=wp.float64)
    """Inverse masses [1/mass], shape (n,)."""
    heat: wp.array(dtype=wp.float64)
    """Energy from a thermostat to each particle since the start [energy], shape (n,)."""
    kind: wp.array(dtype=wp.int32)
    """Kinds, shape (n,)."""
    order: wp.array(dtype=wp.int32)
    """Index of each particle in the model, shape (n,)."""


@wp.func
def total_force(force: wp.array2d(dtype=wp.vec3d), p: int):
    """Sum the force on a particle over the threads that share it, in order."""
    total = force[0, p]
    for lane in range(1, force.shape[0]):
        total += force[lane, p]
    return total


@wp.kernel
def end_kick(
    moving: Moving,
    force: wp.array2d(dtype=wp.vec3d),
    half: wp.float64,
    limit: wp.float64,
    longest: wp.array(dtype=wp.float64),
    flags: wp.array(dtype=wp.int32),
):
    """Apply the kick v += ½ h F/m."""
    if flags[STOPPED] != 0 or longest[0] > limit:
        return
    p = wp.tid()
    v = moving.v[p] + (half * moving.inverse_mass[p]) * total_force(force, p)
    moving.v[p] = v
    if not wp.isfinite(wp.dot(v, v)):
        flags[LOST] = 1


@wp.kernel
def count_step(
    limit: wp.float64, farthest: wp.float64, longest: wp.array(dtype=wp.float64), flags: wp.array(dtype=wp.int32)
):
    """Count a step, or stop all following ones."""
    if flags[STOPPED] != 0:
        return
    if flags[LOST] != 0:
        flags[STOPPED] = 1
    elif longest[0] > limit:
        flags[STALE] = 1
        flags[STOPPED] = 1
        if longest[0] > farthest:
            flags[LEAPT] = 1
    else:
        flags[DONE] = flags[DONE] + 1


@wp.kernel
def go_on(needed: wp.array(dtype=wp.int32), longest: wp.array(dtype=wp.float64), flags: wp.array(dtype=wp.int32)):
    """Let steps continue after a rebuild, if the capacity was sufficient."""
    longest[0] = wp.float64(0.0)
    flags[STALE] = 0
    flags[SHORT] = wp.where(needed[0] > 0, 1, 0)
    flags[STOPPED] = flags[SHORT]


@wp.kernel
def collect(moving: Moving, x: wp.array(dtype=wp.vec3d), v: wp.array(dtype=wp.vec3d), heat: wp.array(dtype=wp.float64)):
    """Write coordinates, velocities and heats in the order of the model."""
    p = wp.tid()
    x[moving.order[p]] = moving.x[p]
    v[moving.order[p]] = moving.v[p]
    heat[moving.order[p]] = moving.heat[p]


@wp.kernel
def collect_reference(moving: Moving, reference: wp.array(dtype=wp.vec3d)):
    """Write the coordinates at the last listing in the order of the model."""
    p = wp.tid()
    reference[moving.order[p]] = moving.reference[p]


@wp.kernel
def collect_forces(moving: Moving, force: wp.array2d(dtype=wp.vec3d), result: wp.array(dtype=wp.vec3d)):
    """Write forces in the order of the model."""
    p = wp.tid()
    result[moving.order[p]] = total_force(force, p)


@wp.func
def fractions(x: wp.vec3d, frame: wp.array(dtype=wp.float64)):
    """Fractional coordinates along the edges of the box; ``frame`` holds edges, inverse, origin and periodic
    directions."""
    d = wp.vec3d(x[0] - frame[18], x[1] - frame[19], x[2] - frame[20])
    return wp.vec3d(
        d[0] * frame[9] + d[1] * frame[12] + d[2] * frame[15],
        d[1] * frame[13] + d[2] * frame[16],
        d[2] * frame[17],
    )


@wp.func
def wrapping(x: wp.vec3d, cell: wp.array(dtype=wp.float64)):
    """Displacement, by whole edges, that wraps a point into the box."""
    s = fractions(x, cell)
    a = -wp.floor(s[0]) * cell[21]
    b = -wp.floor(s[1]) * cell[22]
    c = -wp.floor(s[2]) * cell[23]
    return wp.vec3d(a * cell[0] + b * cell[3] + c * cell[6], b * cell[4] + c * cell[7], c * cell[8])


@wp.kernel
def find_extent(
    x: wp.array(dtype=wp.vec3d),
    cell: wp.array(dtype=wp.float64),
    low: wp.array(dtype=wp.vec3d),
    high: wp.array(dtype=wp.vec3d),
):
    """Find the least and largest fractional coordinates in each block of points."""
    b = wp.tid()
    first = b * BLOCK
    least = fractions(x[first], cell)
    most = least
    for s in range(first + 1, wp.min(first + BLOCK, x.shape[0])):
        f = fractions(x[s], cell)
        least = wp.min(least, f)
        most = wp.max(most, f)
    low[b] = least
    high[b] = most


@wp.func
def along(s: wp.float64, grid: wp.array(dtype=wp.float64), shape: wp.array(dtype=wp.int32), a: int):
    """Index of the cell of a fractional coordinate along one axis."""
    return wp.clamp(wp.int32((s - grid[a]) * grid[3 + a]), 0, shape[a] - 1)


@wp.kernel
def number_cells(
    x: wp.array(dtype=wp.vec3d),
    cell: wp.array(dtype=wp.float64),
    grid: wp.array(dtype=wp.float64),
    shape: wp.array(dtype=wp.int32),
    keys: wp.array(dtype=wp.int32),
    values: wp.array(dtype=wp.int32),
):
    """Write the cell and the number of every point."""
    s = wp.tid()
    f = fractions(x[s] + wrapping(x[s], cell), cell)
    i = along(f[0], grid, shape, 0)
    j = along(f[1], grid, shape, 1)
    k = along(f[2], grid, shape, 2)
    keys[s] = (i * shape[1] + j) * shape[2] + k
    values[s] = s


@wp.kernel
def start_cells(keys: wp.array(dtype=wp.int32), particles: int, cells: int, start: wp.array(dtype=wp.int32)):
    """Find the first particle of each cell in sorted order; the last entry is the number of particles."""
    p = wp.tid()
    before = -1
    if p > 0:
        before = keys[p - 1]
    for c in range(before + 1, keys[p] + 1):
        start[c] = p
    if p == particles - 1:
        for c in range(keys[p] + 1, cells + 1):
            start[c] = particles


@wp.kernel
def sum_blocks(values: wp.array2d(dtype=wp.float64), result: wp.array2d(dtype=wp.float64)):
    """Sum rows over blocks of particles."""
    m, b = wp.tid()
    total = wp.float64(0.0)
    for p in range(b * BLOCK, wp.min(b * BLOCK + BLOCK, values.shape[1])):
        total += values[m, p]
    result[m, b] = total
