"""Positions of particles in double or mixed precision, and the kernels that depend on the precision: drifts and lists.

In double precision, a position is a point in the box, and distances use the nearest image. In mixed precision, a
position is a fraction of the box as an integer multiple of 2⁻³². Differences of these are exact and wrap around whole
boxes automatically, so only the arithmetic of a pair is rounded to single precision, not the positions.
"""

# No ``from __future__ import annotations`` here: Warp needs the types of arguments, not strings, to define a kernel.
from functools import cache
from typing import Any, NamedTuple

from articulon.gpu.devices import load_warp
from articulon.gpu.particle_moves import DONE, LOST, STOPPED, Moving, fractions, total_force, wrapping
from articulon.gpu.particle_noise import particle_normals

wp: Any = load_warp()


WHOLE = wp.constant(wp.float64(4294967296.0))
"""2³², the length of a box."""
AROUND = wp.constant(2)
"""Number of cells on each side that can hold neighbours."""


class Places(NamedTuple):
    """Kernels of a precision, and their types."""

    real: Any
    """Type of numbers."""
    point: Any
    """Type of a position."""
    apart: Any
    """Function of two positions and the frame that returns the displacement from the second to the first."""
    load: Any
    """Loads particles in the order of the model, and marks those that have moved too far."""
    distribute: Any
    """Moves the particles into the order of new cells."""
    start_step: Any
    """Kick and drift step."""
    start_shaken_step: Any
    """Kick and drift step with friction and noise in the middle of the drift."""
    list_neighbours: Any
    """Lists the neighbours of all particles."""


@wp.func
def nearest(d: wp.vec3d, frame: wp.array(dtype=wp.float64)):
    """Subtract whole edges from a displacement: gives the shortest image if it is below half of the box's least
    width."""
    x = d[0]
    y = d[1]
    z = d[2]
    if frame[23] != wp.float64(0.0):
        k = wp.rint(z * frame[17])
        x -= k * frame[6]
        y -= k * frame[7]
        z -= k * frame[8]
    if frame[22] != wp.float64(0.0):
        k = wp.rint(y * frame[13])
        x -= k * frame[3]
        y -= k * frame[4]
    if frame[21] != wp.float64(0.0):
        x -= wp.rint(x * frame[9]) * frame[0]
    return wp.vec3d(x, y, z)


@wp.func
def place_double(x: wp.vec3d, frame: wp.array(dtype=wp.float64)):
    """Return the point itself."""
    return x


@wp.func
def apart_double(a: wp.vec3d, b: wp.vec3d, frame: wp.array(dtype=wp.float64)):
    """Return the nearest-image displacement from b to a."""
    return nearest(a - b, frame)


@wp.func
def place_single(x: wp.vec3d, frame: wp.array(dtype=wp.float64)):
    """Return fractions of the edges as integers."""
    s = fractions(x, frame)
    return wp.vec3ui(
        wp.uint32(wp.int64(wp.floor(s[0] * WHOLE))),
        wp.uint32(wp.int64(wp.floor(s[1] * WHOLE))),
        wp.uint32(wp.int64(wp.floor(s[2] * WHOLE))),
    )


@wp.func
def apart_single(a: wp.vec3ui, b: wp.vec3ui, frame: wp.array(dtype=wp.float32)):
    """Return the nearest-image displacement from b to a: a difference of more than half an edge overflows to a negative
    number."""
    part = wp.float32(2.3283064365386963e-10)  # 2⁻³²
    s = part * wp.float32(wp.int32(a[0] - b[0]))
    t = part * wp.float32(wp.int32(a[1] - b[1]))
    w = part * wp.float32(wp.int32(a[2] - b[2]))
    return wp.vec3f(
        s * frame[0] + t * frame[3] + w * frame[6],
        t * frame[4] + w * frame[7],
        w * frame[8],
    )


@wp.func
def reflect(x: wp.float64, v: wp.float64, low: wp.float64, high: wp.float64):
    """Reflect a coordinate and its velocity at walls; NaN if the particle has moved through the whole box in one
    step."""
    y = x
    w = v
    if x < low:
        y = wp.float64(2.0) * low - x
        w = -v
    elif x > high:
        y = wp.float64(2.0) * high - x
        w = -v
    if y < low or y > high:
        y = wp.float64(wp.nan)
    return y, w


@wp.func
def drift(x: wp.vec3d, v: wp.vec3d, walls: wp.array(dtype=wp.vec3d), h: wp.float64):
    """Move a point for a time h, with reflections at walls; return point and velocity."""
    y = x + h * v
    low = walls[0]
    high = walls[1]
    ax, bx = reflect(y[0], v[0], low[0], high[0])
    ay, by = reflect(y[1], v[1], low[1], high[1])
    az, bz = reflect(y[2], v[2], low[2], high[2])
    return wp.vec3d(ax, ay, az), wp.vec3d(bx, by, bz)


@wp.func
def first_and_count(c: int, size: int, periodic: int):
    """Cells along one axis that can hold neighbours of cell c: the first, before wrapping, and their number."""
    first = wp.max(c - AROUND, 0)
    count = wp.min(c + AROUND, size - 1) - first + 1
    if periodic != 0:
        first = 0
        count = size
        if size > 2 * AROUND:
            first = (c - AROUND + size) % size
            count = 2 * AROUND + 1
    return first, count


@cache
def places(precision: str) -> Places:
    """Return the kernels of a precision, ``"double"`` or ``"mixed"``."""
    double = precision == "double"
    real = wp.float64 if double else wp.float32
    point = wp.vec3d if double else wp.vec3ui
    place, apart = (place_double, apart_double) if double else (place_single, apart_single)
    module = wp.get_module(f"articulon_particles_{precision}")

    @wp.func
    def put(
        p: wp.int32,
        x: wp.vec3d,
        v: wp.vec3d,
        moving: Moving,
        frame: wp.array(dtype=wp.float64),
        limit: wp.float64,
        near: wp.array(dtype=point),
        longest: wp.array(dtype=wp.float64),
        flags: wp.array(dtype=wp.int32),
    ):
        """Set the position and velocity of a particle, and mark it if it is further than the limit from its position
        when neighbours were listed."""
        moving.x[p] = x
        moving.v[p] = v
        near[p] = place(x + moving.wrap[p], frame)
        d = x - moving.reference[p]
        d2 = wp.dot(d, d)
        # Only the few particles beyond the limit access the shared maximum.
        if not d2 <= limit:
            if wp.isfinite(d2):
                wp.atomic_max(longest, 0, d2)
            else:
                flags[LOST] = 1

    @wp.kernel(module=module, enable_backward=False)
    def load(
        x: wp.array(dtype=wp.vec3d),
        v: wp.array(dtype=wp.vec3d),
        heat: wp.array(dtype=wp.float64),
        frame: wp.array(dtype=wp.float64),
        limit: wp.float64,
        moving: Moving,
        near: wp.array(dtype=point),
        longest: wp.array(dtype=wp.float64),
        flags: wp.array(dtype=wp.int32),
    ):
        p = wp.tid()
        s = moving.order[p]
        moving.heat[p] = heat[s]
        put(p, x[s], v[s], moving, frame, limit, near, longest, flags)

    @wp.kernel(module=module, enable_backward=False)
    def distribute(
        x: wp.array(dtype=wp.vec3d),
        v: wp.array(dtype=wp.vec3d),
        heat: wp.array(dtype=wp.float64),
        inverse_mass: wp.array(dtype=wp.float64),
        kind: wp.array(dtype=wp.int32),
        sorted_order: wp.array(dtype=wp.int32),
        cell: wp.array(dtype=wp.float64),
        frame: wp.array(dtype=wp.float64),
        moving: Moving,
        near: wp.array(dtype=point),
    ):
        p = wp.tid()
        s = sorted_order[p]
        wrap = wrapping(x[s], cell)
        moving.order[p] = s
        moving.x[p] = x[s]
        moving.v[p] = v[s]
        moving.heat[p] = heat[s]
        moving.reference[p] = x[s]
        moving.inverse_mass[p] = inverse_mass[s]
        moving.kind[p] = kind[s]
        moving.wrap[p] = wrap
        near[p] = place(x[s] + wrap, frame)

    @wp.kernel(module=module, enable_backward=False)
    def start_step(
        moving: Moving,
        force: wp.array2d(dtype=wp.vec3d),
        frame: wp.array(dtype=wp.float64),
        walls: wp.array(dtype=wp.vec3d),
        half: wp.float64,
        h: wp.float64,
        limit: wp.float64,
        near: wp.array(dtype=point),
        longest: wp.array(dtype=wp.float64),
        flags: wp.array(dtype=wp.int32),
    ):
        """Apply the kick v += ½ h F/m, then the drift x += h v."""
        if flags[STOPPED] != 0:
            return
        p = wp.tid()
        v = moving.v[p] + (half * moving.inverse_mass[p]) * total_force(force, p)
        x, v = drift(moving.x[p], v, walls, h)
        put(p, x, v, moving, frame, limit, near, longest, flags)

    @wp.kernel(module=module, enable_backward=False)
    def start_shaken_step(
        moving: Moving,
        force: wp.array2d(dtype=wp.vec3d),
        frame: wp.array(dtype=wp.float64),
        walls: wp.array(dtype=wp.vec3d),
        half: wp.float64,
        h: wp.float64,
        limit: wp.float64,
        near: wp.array(dtype=point),
        longest: wp.array(dtype=wp.float64),
        flags: wp.array(dtype=wp.int32),
        decay: wp.float64,
        noise: wp.array(dtype=wp.float64),
        first: wp.array(dtype=wp.int64),
        seed: wp.uint64,
        stream: wp.uint64,
    ):
        """Apply the kick and the drift, with the Langevin thermostat's friction and noise between two halves of the
        drift: v → c v + √((1 − c²) kT/m) ξ. ``decay`` is c; ``noise`` is √((1 − c²) kT), of each step
        or of all steps."""
        if flags[STOPPED] != 0:
            return
        p = wp.tid()
        done = flags[DONE]
        v = moving.v[p] + (half * moving.inverse_mass[p]) * total_force(force, p)
        x, v = drift(moving.x[p], v, walls, wp.float64(0.5) * h)
        size = noise[wp.min(done, noise.shape[0] - 1)] * wp.sqrt(moving.inverse_mass[p])
        step = wp.uint64(first[0] + wp.int64(done))
        before = wp.dot(v, v)
        v = decay * v + size * particle_normals(seed, stream, step, moving.order[p])
        moving.heat[p] = moving.heat[p] + wp.float64(0.5) / moving.inverse_mass[p] * (wp.dot(v, v) - before)
        x, v = drift(x, v, walls, wp.float64(0.5) * h)
        put(p, x, v, moving, frame, limit, near, longest, flags)

    @wp.kernel(module=module, enable_backward=False)
    def list_neighbours(
        near: wp.array(dtype=point),
        frame: wp.array(dtype=real),
        keys: wp.array(dtype=wp.int32),
        start: wp.array(dtype=wp.int32),
        shape: wp.array(dtype=wp.int32),
        reach2: real,
        number: wp.array(dtype=wp.int32),
        neighbours: wp.array2d(dtype=wp.int32),
        needed: wp.array(dtype=wp.int32),
    ):
        """List the neighbours of each particle, cell by cell in a fixed order; record the length of the longest
        list."""
        p = wp.tid()
        room = neighbours.shape[0]
        here = near[p]
        c = keys[p]
        n1 = shape[1]
        n2 = shape[2]
        cz = c % n2
        cy = (c // n2) % n1
        cx = c // (n2 * n1)
        first0, count0 = first_and_count(cx, shape[0], shape[3])
        first1, count1 = first_and_count(cy, n1, shape[4])
        first2, count2 = first_and_count(cz, n2, shape[5])
        found = wp.int32(0)
        for i in range(count0):
            for j in range(count1):
                row = (((first0 + i) % shape[0]) * n1 + (first1 + j) % n1) * n2
                # Cells along the last axis are contiguous, except where they wrap around to the front.
                for part in range(2):
                    begin = row + first2
                    end = row + wp.min(first2 + count2, n2)
                    if part == 1:
                        begin = row
                        end = row + wp.max(first2 + count2 - n2, 0)
                    for other in range(start[begin], start[end]):
                        d = apart(here, near[other], frame)
                        if wp.dot(d, d) < reach2 and other != p:
                            if found < room:
                                neighbours[found, p] = other
                            found += 1
        number[p] = found
        if found > room:
            wp.atomic_max(needed, 0, found)

    return Places(real, point, apart, load, distribute, start_step, start_shaken_step, list_neighbours)
