"""What is done to all grains at once, shared among threads or not: the sum of each grain's forces with the second half
kick and its works, and the first half kick of the next step with the drift.

Arrays are in the order of cells, one row for each grain. Sums are taken over blocks of a fixed size and these in
order, which gives the same bits for any number of threads.
"""

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import prange, types

from articulon.algebra.rotations import turn_in_world
from articulon.algebra.vectors import dot
from articulon.forces.contact.carried import add_couples, add_record, follow_images
from articulon.forces.contact.pairs import add_to_load
from articulon.forces.contact.powers import add_wall_powers
from articulon.forces.contact.tables import (
    ARM,
    EASE,
    FORCE,
    FREE,
    KIND,
    LIGHT,
    NORMAL,
    OTHER_ARM,
    PLACES,
    RADIUS,
    SPIN,
    SYSTEM,
    TORQUE,
    WORKS,
    V,
    X,
    aligned_zeros,
)
from articulon.forces.sites.cells import IMAGES
from articulon.kernels import jit, kernel, leaf_variant, prepare, specialised

PARALLEL_GRAINS = 2000
"""From this number of grains on, the threads share the passes over them."""
PLACE, TURN, PUSH, TWIST, FROM = 0, 3, 7, 10, 13
ROW = 16
"""Columns of ``Grains.row``, two lines of memory: coordinates, unwrapped; Euler parameters; acceleration and angular
acceleration in the world frame; coordinates at the last list."""
DRAG, SPIN_DRAG, FLOW = 0, 1, 2
DRAGS_ROW = 5
"""Columns of ``Grains.drag``: drag of translation and of rotation, and flow."""
WAY, FINITE, DONE = 0, 1, 2
"""Columns of ``Grains.partial``; powers in the half kick that is done begin here, those in the next at ``DUE``."""
FALLS, DRAGS = WORKS, WORKS + 1
LINES = WORKS + 2
"""Lines of the ledger: those of contacts, gravity and drag."""
DUE = DONE + LINES
KICKS, DONE_TIME, DUE_TIME, DRIFTS = range(4)
"""Places in ``Grains.ask``."""
TOGETHER = 64
"""Slots that are looked through together."""
RESISTS = False
"""Stands for whether something resists rolling and twisting."""


class Grains(NamedTuple):
    """Free spheres, in the order of cells; scratch but for what it takes from the state."""

    row: np.ndarray
    """Shape (grains, 16)."""
    drag: np.ndarray
    """Shape (grains, 5), or (0, 5) where there is none."""
    line: np.ndarray
    """Rows in the order of the model, with velocities and angular velocities behind, shape (grains, 22)."""
    ease: np.ndarray
    """Inverse moments of inertia in the order of the model, shape (grains,)."""
    drags: np.ndarray
    """``drag`` in the order of the model."""
    partial: np.ndarray
    """Of blocks of grains: the square of the longest way since the last list, a sum that is finite where all
    accelerations are, and powers of walls, gravity and drag in the half kick that is done and in the next one, shape
    (blocks, 16)."""
    ask: np.ndarray
    """What a pass is to do: whether to kick, for how long, for how long the next time, and how long to drift; shape
    (4,)."""
    gravity: np.ndarray
    """Shape (3,)."""
    works: np.ndarray
    """As in ``State.contact_work``, shape (2, 7)."""


def grains_of(count: int, dragged: bool) -> Grains:
    """Scratch for a number of grains, which drag acts on or not."""
    blocks = (count + PLACES - 1) // PLACES
    return Grains(
        aligned_zeros(count, ROW),
        np.zeros((count if dragged else 0, DRAGS_ROW)),
        np.zeros((count, ROW + 6)),
        np.zeros(count),
        np.zeros((count if dragged else 0, DRAGS_ROW)),
        np.zeros((blocks, 2 + 2 * LINES)),
        np.zeros(4),
        np.zeros(3),
        np.zeros((2, LINES)),
    )


@jit
def drift_block(particles, spheres, grains, first, last, h):
    """v += ½ h a, then x += h v, with rotations likewise, of some grains; how far the farthest has gone."""
    motion, row = spheres.motion, grains.row
    wrap, half = particles.wrap, 0.5 * h
    worst, everything = 0.0, 0.0
    for p in range(first, last):
        way = 0.0
        for a in range(3):
            v = motion[p, V + a] + half * row[p, PUSH + a]
            x = row[p, PLACE + a] + h * v
            motion[p, V + a], row[p, PLACE + a], motion[p, X + a] = v, x, x + wrap[a, p]
            d = x - row[p, FROM + a]
            way += d * d
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


@jit
def add_back(candidates, load, first, last, slots):
    """Adds to the loads of some places what contacts in the rows of others do, in the order of slots."""
    root, touches, record, back = candidates.root, candidates.touches, candidates.record, candidates.back
    at, end = candidates.back_start[first], candidates.back_start[last]
    while at < end:
        found, upto = 0, min(at + TOGETHER, end)
        for k in range(at, upto):  # without a branch, which none could foresee
            slot = np.uint64(back[np.uint64(k)])
            slots[np.uint64(found)] = slot
            found += touches[slot] != FREE
        for m in range(found):
            slot = slots[np.uint64(m)]
            f = record[slot, FORCE], record[slot, FORCE + 1], record[slot, FORCE + 2]
            n = record[slot, NORMAL], record[slot, NORMAL + 1], record[slot, NORMAL + 2]
            add_to_load(load, np.uint64(root[slot]), -1.0, record[slot, OTHER_ARM], f, n)
        at = upto


@jit
def kick_block(spheres, candidates, walls, grains, first, last, done, due, partial):
    """Kicks some grains, whose loads have been summed, for a time ``done``; the next kick, by the same forces, will be
    for a time ``due``. Powers are those at the mean velocities of the two."""
    row, motion, load, drag = grains.row, spheres.motion, spheres.load, grains.drag
    dragged = drag.shape[0] > 0
    gravity = (grains.gravity[0], grains.gravity[1], grains.gravity[2])
    quarter, more = 0.5 * done, done + 0.5 * due
    for line in range(DONE, DUE + LINES):
        partial[line] = 0.0
    finite, falls, falls_next, drags, drags_next = 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(first, last):
        f, t = (load[p, 0], load[p, 1], load[p, 2]), (load[p, TORQUE], load[p, TORQUE + 1], load[p, TORQUE + 2])
        for k in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[k] != FREE:
                f, t = add_record(walls.record, k, 1.0, ARM, f, t)
        if RESISTS:
            t = add_couples(candidates, walls, p, t)
        light, ease = motion[p, LIGHT], load[p, EASE]
        v = (motion[p, V], motion[p, V + 1], motion[p, V + 2])
        w = (motion[p, SPIN], motion[p, SPIN + 1], motion[p, SPIN + 2])
        df, dt = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if dragged:
            c, cw = drag[p, DRAG], drag[p, SPIN_DRAG]
            df = (c * (drag[p, FLOW] - v[0]), c * (drag[p, FLOW + 1] - v[1]), c * (drag[p, FLOW + 2] - v[2]))
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
        fall, pull = dot(gravity, v) / light, dot(gravity, a) / light
        falls += fall + quarter * pull
        falls_next += fall + more * pull
        if dragged:
            fall, pull = dot(df, v) + dot(dt, w), dot(df, a) + dot(dt, g)
            drags += fall + quarter * pull
            drags_next += fall + more * pull
        for k in range(3):
            row[p, PUSH + k], row[p, TWIST + k] = a[k], g[k]
            motion[p, V + k] = v[k] + done * a[k]
            motion[p, SPIN + k] = w[k] + done * g[k]
        finite += dot(a, a) + dot(g, g)
    partial[FINITE] = finite
    partial[DONE + FALLS], partial[DONE + DRAGS] = falls, drags
    partial[DUE + FALLS], partial[DUE + DRAGS] = falls_next, drags_next


@jit
def move_block(particles, spheres, candidates, walls, grains, first, last, slots, partial):
    """What ``ask`` asks for, of some grains. It is read here, so that kicks and drifts are compiled once, whether both
    come together or not: two copies could be rounded in two ways."""
    ask = grains.ask
    if ask[KICKS] > 0.0:
        add_back(candidates, spheres.load, first, last, slots)
        kick_block(spheres, candidates, walls, grains, first, last, ask[DONE_TIME], ask[DUE_TIME], partial)
    if ask[DRIFTS] > 0.0:
        partial[WAY] = drift_block(particles, spheres, grains, first, last, ask[DRIFTS])


def move_all(particles, spheres, candidates, walls, grains):
    """What ``ask`` asks for, of all grains and images. Loops that are shared out take no tuples of tuples."""
    partial, n = grains.partial, grains.row.shape[0]
    for b in prange(partial.shape[0]):
        slots, block = np.zeros(TOGETHER, np.uint64), np.int64(b)
        first = PLACES * block
        last = min(first + PLACES, n)
        move_block(particles, spheres, candidates, walls, grains, first, last, slots, partial[block])
    images = particles.counts[IMAGES]
    for b in prange((images + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        follow_images(particles, spheres.motion, first, min(first + PLACES, images))


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
        for a in range(DRAGS_ROW if grains.drag.shape[0] > 0 else 0):
            grains.drag[p, a] = grains.drags[s, a]
        spheres.load[p, EASE] = grains.ease[s]
        motion[p, RADIUS] = spheres.radius[s]
        motion[p, LIGHT] = spheres.light[s]
        motion[p, KIND] = numbers[s]


def distribute_all(particles, spheres, numbers, grains):
    """Reads all of them into the order of cells."""
    n = grains.row.shape[0]
    for b in prange(grains.partial.shape[0]):
        first = PLACES * np.int64(b)
        distribute_block(particles, spheres, numbers, grains, first, min(first + PLACES, n))
    images = particles.counts[IMAGES]
    for b in prange((images + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        follow_images(particles, spheres.motion, first, min(first + PLACES, images))


SHARE: Any = None
"""Stands for one of these, compiled."""


def move(system, grains, done, due, h):
    """The second half kick, for a time ``done``, by the contacts as they are, unless the next one, for a time ``due``,
    never comes; then the first half kick and the drift over a time h, unless that is zero."""
    ask = grains.ask
    ask[KICKS], ask[DONE_TIME], ask[DUE_TIME], ask[DRIFTS] = due, done, due, h
    SHARE(system.particles, system.spheres, system.candidates, system.walls, grains)


def collect(system, grains, done, due, h):
    """Writes the grains in the order of the model."""
    SHARE(system.particles, system.spheres, grains)


def distribute(system, grains, done, due, h):
    """Reads the grains into the order of cells."""
    SHARE(system.particles, system.spheres, system.numbers, grains)


GRAINS = numba.typeof(grains_of(1, False))
"""Numba's type of ``Grains``."""
PASS = types.void(SYSTEM, GRAINS, types.float64, types.float64, types.float64)
"""Signature of the passes over grains."""


@cache
def passes(parallel: bool, resists: bool) -> tuple[Any, ...]:
    """The passes, shared among threads or not, ready to be handed to others."""
    how = "parallel" if parallel else "serial"
    kicks = leaf_variant(kick_block, f"kick_block_{resists}", RESISTS=resists)
    block = leaf_variant(move_block, f"move_block_{resists}", kick_block=kicks)
    shared: tuple[tuple[Any, Any, str, dict[str, Any]], ...] = (
        (move, move_all, "_resisted" if resists else "", {"move_block": block}),
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
