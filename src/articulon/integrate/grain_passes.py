"""What is done to all grains at once, shared among threads or not: the first half kick with the drift, and the sum of
each grain's forces with the second half kick and its works.

Arrays are in the order of cells, one row for each grain. Sums are taken over blocks of a fixed size and these in
order, which gives the same bits for any number of threads.
"""

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import prange, types

from articulon.algebra.rotations import matrix, turn
from articulon.algebra.vectors import apply, apply_t
from articulon.forces.contact.tables import (
    ARM,
    COUPLE,
    ELASTIC,
    LIGHT,
    NORMAL,
    OTHER_ARM,
    PLACES,
    SLIDES,
    SPIN,
    SYSTEM,
    TANGENTIAL,
    TANGENTIAL_VISCOUS,
    VISCOUS,
    V,
    X,
)
from articulon.kernels import jit, leaf_variant, prepare, specialised

PARALLEL_GRAINS = 2000
"""From this number of grains on, the threads share the passes over them."""
PLACE, TURN, OMEGA, PUSH, TWIST, EASE, FROM, DRAG, SPIN_DRAG, FLOW = 0, 3, 7, 10, 13, 16, 17, 20, 21, 22
ROW = 25
"""Columns of ``Grains.row``: coordinates, unwrapped; Euler parameters; angular velocity in the grain's frame;
acceleration; angular acceleration in the grain's frame; inverse moment of inertia; coordinates at the last list; drag
of translation and rotation; flow."""
NORMAL_LINE, SPRING_LINE, VISCOUS_LINE, FRICTION_LINE, GRAVITY_LINE, DRAG_LINE, WALL_LINE = range(7)
LINES = 7
"""Lines of the ledger. The first four are of relative motion: what a moving wall does by its motion is the last."""
RESISTS = False
"""Stands for whether something resists rolling and twisting."""


class Grains(NamedTuple):
    """Free spheres, in the order of cells; scratch but for what it takes from the state."""

    row: np.ndarray
    """Shape (grains, 25)."""
    line: np.ndarray
    """The same in the order of the model, with velocities behind, shape (grains, 28)."""
    partial: np.ndarray
    """Of blocks of grains: the square of the longest way since the last list, twice the kinetic energy by unit mass (to
    see what is not finite), the works of the half kick that is done, and of the next one, shape (blocks, 16)."""
    gravity: np.ndarray
    """Shape (3,)."""
    works: np.ndarray
    """Booked and pending works, shape (2, 7)."""
    held: np.ndarray
    """1 where all is here from the chunk before, shape (1,)."""


def grains_of(count: int) -> Grains:
    """Scratch for a number of grains."""
    blocks = (count + PLACES - 1) // PLACES
    return Grains(
        np.zeros((count, ROW)),
        np.zeros((count, ROW + 3)),
        np.zeros((blocks, 2 + 2 * LINES)),
        np.zeros(3),
        np.zeros((2, LINES)),
        np.zeros(1, dtype=np.int64),
    )


@jit
def drift_block(system, grains, first, last, h):
    """v += ½ h a, then x += h v, with rotations likewise, of some grains; how far the farthest has gone."""
    motion, row = system.spheres.motion, grains.row
    particles = system.particles
    wrap, px, py, pz, half = particles.wrap, particles.x, particles.y, particles.z, 0.5 * h
    worst, everything = 0.0, 0.0
    for p in range(first, last):
        way = 0.0
        for a in range(3):
            v = motion[p, V + a] + half * row[p, PUSH + a]
            x = row[p, PLACE + a] + h * v
            motion[p, V + a], row[p, PLACE + a], motion[p, X + a] = v, x, x + wrap[a, p]
            d = x - row[p, FROM + a]
            way += d * d
        px[p], py[p], pz[p] = motion[p, X], motion[p, X + 1], motion[p, X + 2]
        w = (
            row[p, OMEGA] + half * row[p, TWIST],
            row[p, OMEGA + 1] + half * row[p, TWIST + 1],
            row[p, OMEGA + 2] + half * row[p, TWIST + 2],
        )
        e = turn((row[p, TURN], row[p, TURN + 1], row[p, TURN + 2], row[p, TURN + 3]), w, h)
        world = apply(matrix(e), w)
        for a in range(3):
            row[p, OMEGA + a], motion[p, SPIN + a] = w[a], world[a]
        for a in range(4):
            row[p, TURN + a] = e[a]
        worst = max(worst, way)
        everything += way
    # A way that is not a number hides in a maximum, not in a sum.
    return worst if everything < np.inf else np.nan


@jit
def follow_images(particles, first, last):
    """Moves some images to where their spheres have gone."""
    x, y, z, parent, shift = particles.x, particles.y, particles.z, particles.parent, particles.shift
    n = particles.order.size
    for m in range(first, last):
        root = parent[m]
        x[n + m], y[n + m], z[n + m] = x[root] + shift[0, m], y[root] + shift[1, m], z[root] + shift[2, m]


def drift(system, grains, h, due):
    """The first half kick and the drift of all grains; ``partial`` holds how far they have gone."""
    partial, n = grains.partial, grains.row.shape[0]
    for b in prange(partial.shape[0]):
        first = PLACES * np.int64(b)
        partial[b, 0] = drift_block(system, grains, first, min(first + PLACES, n), h)
    images = system.particles.counts[0]
    for b in prange((images + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        follow_images(system.particles, first, min(first + PLACES, images))


@jit
def add_contact(record, resistance, slot, s, arm, sums):
    """Adds a contact to (elastic, spring, viscous, friction) forces and (spring, viscous, friction) torques on a
    sphere, the first where s is 1, the second where it is −1."""
    el, sp, vi, fr, tsp, tvi, tfr = sums
    n = (record[slot, NORMAL], record[slot, NORMAL + 1], record[slot, NORMAL + 2])
    f = (record[slot, TANGENTIAL], record[slot, TANGENTIAL + 1], record[slot, TANGENTIAL + 2])
    w = (
        record[slot, TANGENTIAL_VISCOUS],
        record[slot, TANGENTIAL_VISCOUS + 1],
        record[slot, TANGENTIAL_VISCOUS + 2],
    )
    slides = record[slot, SLIDES]
    e, d, lever = s * record[slot, ELASTIC], s * record[slot, VISCOUS], -record[slot, arm]
    cf = (n[1] * f[2] - n[2] * f[1], n[2] * f[0] - n[0] * f[2], n[0] * f[1] - n[1] * f[0])
    cw = (n[1] * w[2] - n[2] * w[1], n[2] * w[0] - n[0] * w[2], n[0] * w[1] - n[1] * w[0])
    grips, rubs = 1.0 - slides, slides
    el = (el[0] + e * n[0], el[1] + e * n[1], el[2] + e * n[2])
    vi = (vi[0] + d * n[0] + s * w[0], vi[1] + d * n[1] + s * w[1], vi[2] + d * n[2] + s * w[2])
    sp = (
        sp[0] + s * grips * (f[0] - w[0]),
        sp[1] + s * grips * (f[1] - w[1]),
        sp[2] + s * grips * (f[2] - w[2]),
    )
    fr = (fr[0] + s * rubs * f[0], fr[1] + s * rubs * f[1], fr[2] + s * rubs * f[2])
    tvi = (tvi[0] + lever * cw[0], tvi[1] + lever * cw[1], tvi[2] + lever * cw[2])
    tsp = (
        tsp[0] + lever * grips * (cf[0] - cw[0]),
        tsp[1] + lever * grips * (cf[1] - cw[1]),
        tsp[2] + lever * grips * (cf[2] - cw[2]),
    )
    tfr = (tfr[0] + lever * rubs * cf[0], tfr[1] + lever * rubs * cf[1], tfr[2] + lever * rubs * cf[2])
    if RESISTS:  # whatever resists rolling is booked as friction
        tfr = (
            tfr[0] + s * resistance[slot, COUPLE],
            tfr[1] + s * resistance[slot, COUPLE + 1],
            tfr[2] + s * resistance[slot, COUPLE + 2],
        )
    return el, sp, vi, fr, tsp, tvi, tfr


@jit
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def wall_powers(record, velocity, slot, powers):
    """Adds the powers of a wall's (elastic, spring, viscous, friction) forces on a sphere by the wall's own motion."""
    n = (record[slot, NORMAL], record[slot, NORMAL + 1], record[slot, NORMAL + 2])
    f = (record[slot, TANGENTIAL], record[slot, TANGENTIAL + 1], record[slot, TANGENTIAL + 2])
    w = (
        record[slot, TANGENTIAL_VISCOUS],
        record[slot, TANGENTIAL_VISCOUS + 1],
        record[slot, TANGENTIAL_VISCOUS + 2],
    )
    v = (velocity[slot, 0], velocity[slot, 1], velocity[slot, 2])
    along, held, damped, slides = dot3(n, v), dot3(f, v), dot3(w, v), record[slot, SLIDES]
    return (
        powers[0] + record[slot, ELASTIC] * along,
        powers[1] + (1.0 - slides) * (held - damped),
        powers[2] + record[slot, VISCOUS] * along + damped,
        powers[3] + slides * held,
    )


@jit
def kick_block(system, grains, first, last, done, due, partial):
    """Sums the forces on some grains and kicks them for a time ``done``; the powers of this kick and of the next one,
    by the same forces for a time ``due``, so that ΔT is the sum of the works to rounding."""
    spheres, candidates, walls, row = system.spheres, system.candidates, system.walls, grains.row
    motion, record, resistance, touches = spheres.motion, candidates.record, candidates.resistance, candidates.touches
    start, back_start, back = candidates.start, candidates.back_start, candidates.back
    zero = (0.0, 0.0, 0.0)
    gravity = (grains.gravity[0], grains.gravity[1], grains.gravity[2])
    finite = 0.0
    b0, b1, b2, b3, b4, b5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    c0, c1, c2, c3, c4, c5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    pushed = (0.0, 0.0, 0.0, 0.0)
    for p in range(first, last):
        sums = (zero, zero, zero, zero, zero, zero, zero)
        for slot in range(start[p], start[p + 1]):
            if touches[slot] != 0:
                sums = add_contact(record, resistance, slot, 1.0, ARM, sums)
        for k in range(back_start[p], back_start[p + 1]):
            slot = back[k]
            if touches[slot] != 0:
                sums = add_contact(record, resistance, slot, -1.0, OTHER_ARM, sums)
        for slot in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[slot] != 0:
                sums = add_contact(walls.record, walls.resistance, slot, 1.0, ARM, sums)
                pushed = wall_powers(walls.record, walls.velocity, slot, pushed)
        el, sp, vi, fr, tsp, tvi, tfr = sums
        light, ease = motion[p, LIGHT], row[p, EASE]
        v = (motion[p, V], motion[p, V + 1], motion[p, V + 2])
        w = (motion[p, SPIN], motion[p, SPIN + 1], motion[p, SPIN + 2])
        c, cw = row[p, DRAG], row[p, SPIN_DRAG]
        dr = (c * (row[p, FLOW] - v[0]), c * (row[p, FLOW + 1] - v[1]), c * (row[p, FLOW + 2] - v[2]))
        tdr = (-cw * w[0], -cw * w[1], -cw * w[2])
        f = (
            el[0] + sp[0] + vi[0] + fr[0] + dr[0],
            el[1] + sp[1] + vi[1] + fr[1] + dr[1],
            el[2] + sp[2] + vi[2] + fr[2] + dr[2],
        )
        a = (light * f[0] + gravity[0], light * f[1] + gravity[1], light * f[2] + gravity[2])
        t = (
            ease * (tsp[0] + tvi[0] + tfr[0] + tdr[0]),
            ease * (tsp[1] + tvi[1] + tfr[1] + tdr[1]),
            ease * (tsp[2] + tvi[2] + tfr[2] + tdr[2]),
        )
        R = matrix((row[p, TURN], row[p, TURN + 1], row[p, TURN + 2], row[p, TURN + 3]))
        tb = apply_t(R, t)
        # Mean velocities of this kick and of the next one.
        quarter, more = 0.5 * done, done + 0.5 * due
        vm = (v[0] + quarter * a[0], v[1] + quarter * a[1], v[2] + quarter * a[2])
        vn = (v[0] + more * a[0], v[1] + more * a[1], v[2] + more * a[2])
        wm = (w[0] + quarter * t[0], w[1] + quarter * t[1], w[2] + quarter * t[2])
        wn = (w[0] + more * t[0], w[1] + more * t[1], w[2] + more * t[2])
        b0 += dot3(el, vm)
        b1 += dot3(sp, vm) + dot3(tsp, wm)
        b2 += dot3(vi, vm) + dot3(tvi, wm)
        b3 += dot3(fr, vm) + dot3(tfr, wm)
        b4 += dot3(gravity, vm) / light
        b5 += dot3(dr, vm) + dot3(tdr, wm)
        c0 += dot3(el, vn)
        c1 += dot3(sp, vn) + dot3(tsp, wn)
        c2 += dot3(vi, vn) + dot3(tvi, wn)
        c3 += dot3(fr, vn) + dot3(tfr, wn)
        c4 += dot3(gravity, vn) / light
        c5 += dot3(dr, vn) + dot3(tdr, wn)
        for k in range(3):
            row[p, PUSH + k], row[p, TWIST + k] = a[k], tb[k]
            motion[p, V + k] = v[k] + done * a[k]
            row[p, OMEGA + k] += done * tb[k]
        finite += dot3(a, a) + dot3(t, t)
    p0, p1, p2, p3 = pushed
    walls_push = p0 + p1 + p2 + p3
    partial[1] = finite
    partial[2], partial[3], partial[4], partial[5] = b0 - p0, b1 - p1, b2 - p2, b3 - p3
    partial[6], partial[7], partial[8] = b4, b5, walls_push
    partial[9], partial[10], partial[11], partial[12] = c0 - p0, c1 - p1, c2 - p2, c3 - p3
    partial[13], partial[14], partial[15] = c4, c5, walls_push


def kick(system, grains, done, due):
    """Sums of the forces on all grains, and their second half kick; ``partial`` holds powers."""
    partial, n = grains.partial, grains.row.shape[0]
    for b in prange(partial.shape[0]):
        first = PLACES * np.int64(b)
        kick_block(system, grains, first, min(first + PLACES, n), done, due, partial[np.int64(b)])


@jit
def collect_block(system, grains, first, last):
    """Writes some grains in the order of the model."""
    order, motion, site = system.particles.order, system.spheres.motion, system.particles.site
    for p in range(first, last):
        s = order[p]
        for a in range(ROW):
            grains.line[s, a] = grains.row[p, a]
        for a in range(3):
            grains.line[s, ROW + a] = motion[p, V + a]
            site[a, s] = grains.row[p, PLACE + a]


def collect(system, grains, h, due):
    """Writes all of them in the order of the model."""
    n = grains.row.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        collect_block(system, grains, first, min(first + PLACES, n))


@jit
def distribute_block(system, grains, first, last):
    """Reads some grains into the order of cells."""
    particles, spheres, numbers = system.particles, system.spheres, system.numbers
    order, motion, wrap, reference = particles.order, spheres.motion, particles.wrap, particles.reference
    for p in range(first, last):
        s = order[p]
        for a in range(ROW):
            grains.row[p, a] = grains.line[s, a]
        e = (grains.line[s, TURN], grains.line[s, TURN + 1], grains.line[s, TURN + 2], grains.line[s, TURN + 3])
        w = apply(matrix(e), (grains.line[s, OMEGA], grains.line[s, OMEGA + 1], grains.line[s, OMEGA + 2]))
        for a in range(3):
            grains.row[p, FROM + a] = reference[a, s]
            motion[p, X + a] = grains.row[p, PLACE + a] + wrap[a, p]
            motion[p, V + a] = grains.line[s, ROW + a]
            motion[p, SPIN + a] = w[a]
        particles.x[p], particles.y[p], particles.z[p] = motion[p, X], motion[p, X + 1], motion[p, X + 2]
        motion[p, 3] = spheres.radius[s]
        motion[p, LIGHT] = spheres.light[s]
        motion[p, 11] = numbers[s]


def distribute(system, grains, h, due):
    """Reads all of them into the order of cells."""
    n = grains.row.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        distribute_block(system, grains, first, min(first + PLACES, n))


GRAINS = numba.typeof(grains_of(1))
"""Numba's type of ``Grains``."""
PASS = types.void(SYSTEM, GRAINS, types.float64, types.float64)
"""Signature of the passes over grains."""


@cache
def passes(parallel: bool, resists: bool) -> tuple[Any, ...]:
    """The passes, shared among threads or not, ready to be handed to others."""
    how = "parallel" if parallel else "serial"
    add = leaf_variant(add_contact, f"add_contact_{resists}", RESISTS=resists)
    block = leaf_variant(kick_block, f"kick_block_{resists}", add_contact=add)
    functions = (
        specialised(drift, f"drift_{how}", parallel=parallel),
        specialised(kick, f"kick_{how}_{resists}", parallel=parallel, kick_block=block),
        specialised(collect, f"collect_{how}", parallel=parallel),
        specialised(distribute, f"distribute_{how}", parallel=parallel),
    )
    return tuple(prepare(function, PASS) for function in functions)
