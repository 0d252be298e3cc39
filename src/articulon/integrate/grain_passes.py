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

from articulon.algebra.rotations import turn_in_world
from articulon.forces.contact.powers import add_wall_powers
from articulon.forces.contact.tables import (
    ARM,
    COUPLE,
    FORCE,
    FREE,
    KIND,
    LIGHT,
    MOMENT,
    OTHER_ARM,
    PLACES,
    RADIUS,
    SPIN,
    SYSTEM,
    WORKS,
    V,
    X,
)
from articulon.forces.sites.cells import IMAGES
from articulon.integrate.particle_passes import follow_block
from articulon.kernels import jit, kernel, leaf_variant, prepare, specialised

PARALLEL_GRAINS = 2000
"""From this number of grains on, the threads share the passes over them."""
PLACE, TURN, PUSH, TWIST, EASE, FROM, DRAG, SPIN_DRAG, FLOW = 0, 3, 7, 10, 13, 14, 17, 18, 19
ROW = 22
"""Columns of ``Grains.row``: coordinates, unwrapped; Euler parameters; acceleration and angular acceleration in the
world frame; inverse moment of inertia; coordinates at the last list; drag of translation and rotation; flow."""
WAY, FINITE, DONE = 0, 1, 2
"""Columns of ``Grains.partial``; powers in the half kick that is done begin here, those in the next at ``DUE``."""
FALLS, DRAGS = WORKS, WORKS + 1
LINES = WORKS + 2
"""Lines of the ledger: those of contacts, gravity and drag."""
DUE = DONE + LINES
RESISTS = False
"""Stands for whether something resists rolling and twisting."""


class Grains(NamedTuple):
    """Free spheres, in the order of cells; scratch but for what it takes from the state."""

    row: np.ndarray
    """Shape (grains, 22)."""
    line: np.ndarray
    """The same in the order of the model, with velocities and angular velocities behind, shape (grains, 28)."""
    partial: np.ndarray
    """Of blocks of grains: the square of the longest way since the last list, a sum that is finite where all
    accelerations are, and powers of walls, gravity and drag in the half kick that is done and in the next one, shape
    (blocks, 16)."""
    gravity: np.ndarray
    """Shape (3,)."""
    works: np.ndarray
    """As in ``State.contact_work``, shape (2, 7)."""


def grains_of(count: int) -> Grains:
    """Scratch for a number of grains."""
    blocks = (count + PLACES - 1) // PLACES
    return Grains(
        np.zeros((count, ROW)),
        np.zeros((count, ROW + 6)),
        np.zeros((blocks, 2 + 2 * LINES)),
        np.zeros(3),
        np.zeros((2, LINES)),
    )


@jit
def drift_block(particles, spheres, grains, first, last, h):
    """v += ½ h a, then x += h v, with rotations likewise, of some grains; how far the farthest has gone."""
    motion, row = spheres.motion, grains.row
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
            motion[p, SPIN] + half * row[p, TWIST],
            motion[p, SPIN + 1] + half * row[p, TWIST + 1],
            motion[p, SPIN + 2] + half * row[p, TWIST + 2],
        )
        e = turn_in_world((row[p, TURN], row[p, TURN + 1], row[p, TURN + 2], row[p, TURN + 3]), w, h)
        # Of unit length but for rounding, which one step of Newton's takes away.
        keep = 1.5 - 0.5 * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        for a in range(3):
            motion[p, SPIN + a] = w[a]
        for a in range(4):
            row[p, TURN + a] = keep * e[a]
        worst = max(worst, way)
        everything += way
    # A way that is not a number hides in a maximum, not in a sum.
    return worst if everything < np.inf else np.nan


def drift_all(particles, spheres, grains, h):
    """The first half kick and the drift of all grains. Loops that are shared out take no tuples of tuples."""
    partial, n = grains.partial, grains.row.shape[0]
    for b in prange(partial.shape[0]):
        first = PLACES * np.int64(b)
        partial[b, WAY] = drift_block(particles, spheres, grains, first, min(first + PLACES, n), h)
    images = particles.counts[IMAGES]
    for b in prange((images + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        follow_block(particles, first, min(first + PLACES, images))


@jit
def add_contact(record, resistance, slot, s, arm, f, t):
    """Adds a contact to the force and the torque on a sphere, the first where s is 1, the second where it is −1."""
    lever = record[slot, arm]
    f = (f[0] + s * record[slot, FORCE], f[1] + s * record[slot, FORCE + 1], f[2] + s * record[slot, FORCE + 2])
    t = (
        t[0] - lever * record[slot, MOMENT],
        t[1] - lever * record[slot, MOMENT + 1],
        t[2] - lever * record[slot, MOMENT + 2],
    )
    if RESISTS:
        t = (
            t[0] + s * resistance[slot, COUPLE],
            t[1] + s * resistance[slot, COUPLE + 1],
            t[2] + s * resistance[slot, COUPLE + 2],
        )
    return f, t


@jit
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def kick_block(spheres, candidates, walls, grains, first, last, done, due, partial):
    """Sums the forces on some grains and kicks them for a time ``done``; the next kick, by the same forces, will be for
    a time ``due``. Powers are those at the mean velocities of the two."""
    row, motion, record, resistance = grains.row, spheres.motion, candidates.record, candidates.resistance
    start, back_start, back = candidates.start, candidates.back_start, candidates.back
    gravity = (grains.gravity[0], grains.gravity[1], grains.gravity[2])
    quarter, more = 0.5 * done, done + 0.5 * due
    for line in range(DONE, DUE + LINES):
        partial[line] = 0.0
    finite, falls, falls_next, drags, drags_next = 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(first, last):
        f, t = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(start[p], start[p + 1]):
            # Records of what does not touch are zero: to add them costs less than to foresee which these are. An index
            # without a sign is not counted from the end.
            f, t = add_contact(record, resistance, np.uint64(k), 1.0, ARM, f, t)
        for k in range(back_start[p], back_start[p + 1]):
            f, t = add_contact(record, resistance, np.uint64(back[np.uint64(k)]), -1.0, OTHER_ARM, f, t)
        for k in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[k] != FREE:
                f, t = add_contact(walls.record, walls.resistance, k, 1.0, ARM, f, t)
        light, ease = motion[p, LIGHT], row[p, EASE]
        v = (motion[p, V], motion[p, V + 1], motion[p, V + 2])
        w = (motion[p, SPIN], motion[p, SPIN + 1], motion[p, SPIN + 2])
        c, cw = row[p, DRAG], row[p, SPIN_DRAG]
        df = (c * (row[p, FLOW] - v[0]), c * (row[p, FLOW + 1] - v[1]), c * (row[p, FLOW + 2] - v[2]))
        dt = (-cw * w[0], -cw * w[1], -cw * w[2])
        a = (
            light * (f[0] + df[0]) + gravity[0],
            light * (f[1] + df[1]) + gravity[1],
            light * (f[2] + df[2]) + gravity[2],
        )
        g = (ease * (t[0] + dt[0]), ease * (t[1] + dt[1]), ease * (t[2] + dt[2]))
        for k in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[k] != FREE:
                vm = (v[0] + quarter * a[0], v[1] + quarter * a[1], v[2] + quarter * a[2])
                wm = (w[0] + quarter * g[0], w[1] + quarter * g[1], w[2] + quarter * g[2])
                add_wall_powers(walls, k, vm, wm, partial, DONE)
                vm = (v[0] + more * a[0], v[1] + more * a[1], v[2] + more * a[2])
                wm = (w[0] + more * g[0], w[1] + more * g[1], w[2] + more * g[2])
                add_wall_powers(walls, k, vm, wm, partial, DUE)
        fall, pull = dot3(gravity, v) / light, dot3(gravity, a) / light
        falls += fall + quarter * pull
        falls_next += fall + more * pull
        fall, pull = dot3(df, v) + dot3(dt, w), dot3(df, a) + dot3(dt, g)
        drags += fall + quarter * pull
        drags_next += fall + more * pull
        for k in range(3):
            row[p, PUSH + k], row[p, TWIST + k] = a[k], g[k]
            motion[p, V + k] = v[k] + done * a[k]
            motion[p, SPIN + k] = w[k] + done * g[k]
        finite += dot3(a, a) + dot3(g, g)
    partial[FINITE] = finite
    partial[DONE + FALLS], partial[DONE + DRAGS] = falls, drags
    partial[DUE + FALLS], partial[DUE + DRAGS] = falls_next, drags_next


def kick_all(spheres, candidates, walls, grains, done, due):
    """Sums of the forces on all grains, and their second half kick."""
    partial, n = grains.partial, grains.row.shape[0]
    for b in prange(partial.shape[0]):
        first = PLACES * np.int64(b)
        last = min(first + PLACES, n)
        kick_block(spheres, candidates, walls, grains, first, last, done, due, partial[np.int64(b)])


@jit
def collect_block(particles, spheres, grains, first, last):
    """Writes some grains in the order of the model."""
    order, motion, site = particles.order, spheres.motion, particles.site
    for p in range(first, last):
        s = order[p]
        for a in range(ROW):
            grains.line[s, a] = grains.row[p, a]
        for a in range(3):
            grains.line[s, ROW + a], grains.line[s, ROW + 3 + a] = motion[p, V + a], motion[p, SPIN + a]
            site[a, s] = grains.row[p, PLACE + a]


def collect_all(particles, spheres, grains):
    """Writes all of them in the order of the model."""
    n = grains.row.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        collect_block(particles, spheres, grains, first, min(first + PLACES, n))


@jit
def distribute_block(particles, spheres, numbers, grains, first, last):
    """Reads some grains into the order of cells."""
    order, motion, wrap, reference = particles.order, spheres.motion, particles.wrap, particles.reference
    for p in range(first, last):
        s = order[p]
        for a in range(ROW):
            grains.row[p, a] = grains.line[s, a]
        for a in range(3):
            grains.row[p, FROM + a] = reference[a, s]
            motion[p, X + a] = grains.row[p, PLACE + a] + wrap[a, p]
            motion[p, V + a], motion[p, SPIN + a] = grains.line[s, ROW + a], grains.line[s, ROW + 3 + a]
        particles.x[p], particles.y[p], particles.z[p] = motion[p, X], motion[p, X + 1], motion[p, X + 2]
        motion[p, RADIUS] = spheres.radius[s]
        motion[p, LIGHT] = spheres.light[s]
        motion[p, KIND] = numbers[s]


def distribute_all(particles, spheres, numbers, grains):
    """Reads all of them into the order of cells."""
    n = grains.row.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        distribute_block(particles, spheres, numbers, grains, first, min(first + PLACES, n))


SHARE: Any = None
"""Stands for one of these, compiled."""


def drift(system, grains, h, due):
    """The first half kick and the drift over a time h; ``partial`` holds how far grains have gone."""
    SHARE(system.particles, system.spheres, grains, h)


def kick(system, grains, done, due):
    """The second half kick, by the contacts as they are; ``partial`` holds powers."""
    SHARE(system.spheres, system.candidates, system.walls, grains, done, due)


def collect(system, grains, h, due):
    """Writes the grains in the order of the model."""
    SHARE(system.particles, system.spheres, grains)


def distribute(system, grains, h, due):
    """Reads the grains into the order of cells."""
    SHARE(system.particles, system.spheres, system.numbers, grains)


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
    shared: tuple[tuple[Any, Any, str, dict[str, Any]], ...] = (
        (drift, drift_all, "", {}),
        (kick, kick_all, "_resisted" if resists else "", {"kick_block": block}),
        (collect, collect_all, "", {}),
        (distribute, distribute_all, "", {}),
    )
    result = []
    for outer, inner, label, replaced in shared:
        name = f"{outer.__name__}_grains{label}_{how}"
        share = specialised(inner, f"share_{name}", parallel=parallel, allocates=True, **replaced)
        result.append(prepare(specialised(outer, name, allocates=True, SHARE=share), PASS))
    return tuple(result)


@kernel
def show_accelerations(system, grains):
    """Puts accelerations in the place of velocities; the grains must be distributed anew then."""
    row, motion = grains.row, system.spheres.motion
    for p in range(row.shape[0]):
        for a in range(3):
            motion[p, V + a], motion[p, SPIN + a] = row[p, PUSH + a], row[p, TWIST + a]
