"""What a device does to all particles at once in double precision, whatever the precision of their forces: the kick
that ends a step, counting steps, and moving particles between the order of the model and that of cells.

Every kernel but those of a rebuild looks first whether the steps have been stopped: a batch of steps is sent to a
device as a whole, and what is left of it does nothing once neighbours must be listed anew.
"""

# No annotations as strings: Warp reads the types of arguments where a kernel is defined.
from typing import Any

from articulon.gpu.devices import load_warp

wp: Any = load_warp()

wp.set_module_options({"enable_backward": False})

STOPPED = wp.constant(0)
"""Flag: steps are at rest, for one of these reasons."""
STALE = wp.constant(1)
"""Flag: neighbours must be listed anew, before the forces of the present step."""
LOST = wp.constant(2)
"""Flag: a number is no longer finite."""
DONE = wp.constant(3)
"""Steps that have been taken since the flags were cleared."""
SHORT = wp.constant(4)
"""Flag: the lists that were made anew have too little room."""
LEAPT = wp.constant(5)
"""Flag: a particle has gone through half of the box in one step."""
FLAGS = 6
BLOCK = wp.constant(1024)
"""Particles whose sums are taken together."""


@wp.struct
class Moving:
    """Particles in the order of cells."""

    x: wp.array(dtype=wp.vec3d)
    """Coordinates, unwrapped [length], shape (n,)."""
    v: wp.array(dtype=wp.vec3d)
    """Velocities [velocity], shape (n,)."""
    wrap: wp.array(dtype=wp.vec3d)
    """What brings a particle into the box [length], shape (n,)."""
    reference: wp.array(dtype=wp.vec3d)
    """Coordinates when neighbours were last listed [length], shape (n,)."""
    inverse_mass: wp.array(dtype=wp.float64)
    """Inverse masses [1/mass], shape (n,)."""
    heat: wp.array(dtype=wp.float64)
    """Energy that a thermostat has given each since the start [energy], shape (n,)."""
    kind: wp.array(dtype=wp.int32)
    """Kinds, shape (n,)."""
    order: wp.array(dtype=wp.int32)
    """Which particle of the model it is, shape (n,)."""


@wp.func
def total_force(force: wp.array2d(dtype=wp.vec3d), p: int):
    """The force on a particle, from what each of the threads that share it has summed, in order."""
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
    """v += ½ h F/m."""
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
    """Counts a step, or stops all that follow."""
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
    """Lets steps go on once neighbours have been listed anew, if there was room for them."""
    longest[0] = wp.float64(0.0)
    flags[STALE] = 0
    flags[SHORT] = wp.where(needed[0] > 0, 1, 0)
    flags[STOPPED] = flags[SHORT]


@wp.kernel
def collect(moving: Moving, x: wp.array(dtype=wp.vec3d), v: wp.array(dtype=wp.vec3d), heat: wp.array(dtype=wp.float64)):
    """Writes coordinates, velocities and heats in the order of the model."""
    p = wp.tid()
    x[moving.order[p]] = moving.x[p]
    v[moving.order[p]] = moving.v[p]
    heat[moving.order[p]] = moving.heat[p]


@wp.kernel
def collect_reference(moving: Moving, reference: wp.array(dtype=wp.vec3d)):
    """Writes where neighbours were last listed in the order of the model."""
    p = wp.tid()
    reference[moving.order[p]] = moving.reference[p]


@wp.kernel
def collect_forces(moving: Moving, force: wp.array2d(dtype=wp.vec3d), result: wp.array(dtype=wp.vec3d)):
    """Writes forces in the order of the model."""
    p = wp.tid()
    result[moving.order[p]] = total_force(force, p)


@wp.func
def fractions(x: wp.vec3d, frame: wp.array(dtype=wp.float64)):
    """Coordinates along the edges of the box, of which ``frame`` holds vectors, inverse, origin and what is
    periodic."""
    d = wp.vec3d(x[0] - frame[18], x[1] - frame[19], x[2] - frame[20])
    return wp.vec3d(
        d[0] * frame[9] + d[1] * frame[12] + d[2] * frame[15],
        d[1] * frame[13] + d[2] * frame[16],
        d[2] * frame[17],
    )


@wp.func
def wrapping(x: wp.vec3d, cell: wp.array(dtype=wp.float64)):
    """What brings a point into the box, by whole edges."""
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
    """Least and largest coordinates along the edges of the box of blocks of points."""
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
    """Which cell a coordinate lies in, by one axis."""
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
    """The cell of every point, and its number."""
    s = wp.tid()
    f = fractions(x[s] + wrapping(x[s], cell), cell)
    i = along(f[0], grid, shape, 0)
    j = along(f[1], grid, shape, 1)
    k = along(f[2], grid, shape, 2)
    keys[s] = (i * shape[1] + j) * shape[2] + k
    values[s] = s


@wp.kernel
def start_cells(keys: wp.array(dtype=wp.int32), particles: int, cells: int, start: wp.array(dtype=wp.int32)):
    """First particle of each cell, from the cells of sorted ones; at the end, how many there are."""
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
    """Sums of rows over blocks of particles."""
    m, b = wp.tid()
    total = wp.float64(0.0)
    for p in range(b * BLOCK, wp.min(b * BLOCK + BLOCK, values.shape[1])):
        total += values[m, p]
    result[m, b] = total
