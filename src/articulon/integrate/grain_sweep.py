"""The sweep over grains: contacts, the second half kick with its works, and the first half kick of the next step with
the drift, all of a block of places while it is at hand.

A strip's places are taken in their order. When the rows of a block have been gone through, all contacts of its grains
have, but those with grains of earlier strips: where there may be any, the block moves after all strips have been gone
through. Sums are taken over blocks and these in order, which gives the same bits for any number of threads.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from articulon.algebra.rotations import turn_in_world
from articulon.algebra.vectors import add, add_scaled, dot, load_from, scale, store_from
from articulon.forces.contact.batches import FIELDS, LANES, STRIDE
from articulon.forces.contact.carried import add_couples, add_wall_force, follow_images
from articulon.forces.contact.pairs import add_across, pair_block
from articulon.forces.contact.powers import add_wall_powers
from articulon.forces.contact.tables import (
    ELASTIC_FORCE,
    FREE,
    FRICTION_FORCE,
    FRICTION_TORQUE,
    FRICTION_WORK,
    LIGHT,
    LOAD,
    NORMAL_WORK,
    PLACES,
    SPIN,
    SPRING_FORCE,
    SPRING_TORQUE,
    SPRING_WORK,
    VISCOUS_FORCE,
    VISCOUS_TORQUE,
    VISCOUS_WORK,
    V,
    X,
)
from articulon.forces.sites.cells import IMAGES
from articulon.integrate.grain_passes import (
    DONE,
    DONE_TIME,
    DRAG,
    DRAGS,
    DRIFTS,
    DUE,
    DUE_TIME,
    EASE,
    FALLS,
    FINITE,
    FLOW,
    KICKS,
    LASTS,
    LINES,
    PASS,
    PLACE,
    PUSH,
    PUSHED,
    RECORDS,
    SPIN_DRAG,
    TIME,
    TOUCHES,
    TURN,
    TWIST,
    WAY,
)
from articulon.kernels import jit, leaf_variant, prepare, routine, specialised

GROUP = 64
"""Grains that are kicked, and then drift."""
PAIR_BLOCK: Any = pair_block
"""Stands for what takes the pairs of a block."""


@jit
def drift_group(particles, spheres, grains, first, last, h, push):
    """v += ½ h a, then x += h v, with rotations likewise, of some grains with accelerations in ``push``; how far the
    farthest has gone since the last list."""
    motion, row, home = spheres.motion, grains.row, grains.home
    wrap, half = particles.wrap, 0.5 * h
    worst, everything = 0.0, 0.0
    for p in range(first, last):
        k, way = p - first, 0.0
        for a in range(3):
            v = motion[p, V + a] + half * push[k, PUSH + a]
            x = row[p, PLACE + a] + h * v
            motion[p, V + a], row[p, PLACE + a], motion[p, X + a] = v, x, x + wrap[a, p]
            d = x - home[p, a]
            way += d * d
        w = add_scaled(load_from(motion, p, SPIN), half, load_from(push, k, TWIST))
        e = turn_in_world((row[p, TURN], row[p, TURN + 1], row[p, TURN + 2], row[p, TURN + 3]), w, h)
        # Of unit length but for rounding, which one step of Newton's takes away.
        keep = 1.5 - 0.5 * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        store_from(motion, p, SPIN, w)
        for a in range(4):
            row[p, TURN + a] = keep * e[a]
        worst = max(worst, way)
        everything += way
    # A way that is not a number hides in a maximum, not in a sum.
    return worst if everything < np.inf else np.nan


@jit
def works_of(force, torque, v, w):
    """The power of a force and a torque on a grain that moves at v and turns at w."""
    return dot(force, v) + dot(torque, w)


@jit
def book(partial, line, power, growth, quarter, more):
    """Adds to a line the powers at the mean velocities of the half kick that is done and of the next one; they grow
    along the kicks."""
    partial[DONE + line] += power + quarter * growth
    partial[DUE + line] += power + more * growth


@jit
def kick_group(spheres, walls, grains, first, last, done, due, push, partial):
    """Kicks some grains, whose loads have been summed, for a time ``done``, and empties these; the next kick, by the
    same forces, will be for a time ``due``."""
    row, motion, sums, drag = grains.row, spheres.motion, spheres.load, grains.drag
    dragged, gravity = drag.shape[0] > 0, (grains.gravity[0], grains.gravity[1], grains.gravity[2])
    quarter, more = 0.5 * done, done + 0.5 * due
    finite, falls, fallen, drags, dragging = 0.0, 0.0, 0.0, 0.0, 0.0
    normal, normal_more, spring, spring_more = 0.0, 0.0, 0.0, 0.0
    viscous, viscous_more, friction, friction_more = 0.0, 0.0, 0.0, 0.0
    for p in range(first, last):
        fe, fs, fv, ff = (
            load_from(sums, p, ELASTIC_FORCE),
            load_from(sums, p, SPRING_FORCE),
            load_from(sums, p, VISCOUS_FORCE),
            load_from(sums, p, FRICTION_FORCE),
        )
        ts, tv, tf = (
            load_from(sums, p, SPRING_TORQUE),
            load_from(sums, p, VISCOUS_TORQUE),
            load_from(sums, p, FRICTION_TORQUE),
        )
        for c in range(LOAD):
            sums[p, c] = 0.0
        f, t = add(add(fe, fs), add(fv, ff)), add(add(ts, tv), tf)
        for k in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[k] != FREE:
                f, t = add_wall_force(walls.record, k, f, t)
        t = add_couples(walls, p, t)
        light, ease = motion[p, LIGHT], row[p, EASE]
        v, w = load_from(motion, p, V), load_from(motion, p, SPIN)
        if dragged:
            flow, c, cw = load_from(drag, p, FLOW), drag[p, DRAG], drag[p, SPIN_DRAG]
            df, dt = (c * (flow[0] - v[0]), c * (flow[1] - v[1]), c * (flow[2] - v[2])), scale(-cw, w)
            f, t = add(f, df), add(t, dt)
        a, g = add_scaled(gravity, light, f), scale(ease, t)
        for k in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[k] != FREE:
                add_wall_powers(walls, k, add_scaled(v, quarter, a), add_scaled(w, quarter, g), partial, DONE)
                add_wall_powers(walls, k, add_scaled(v, more, a), add_scaled(w, more, g), partial, DUE)
        normal += dot(fe, v)
        normal_more += dot(fe, a)
        spring += works_of(fs, ts, v, w)
        spring_more += works_of(fs, ts, a, g)
        viscous += works_of(fv, tv, v, w)
        viscous_more += works_of(fv, tv, a, g)
        friction += works_of(ff, tf, v, w)
        friction_more += works_of(ff, tf, a, g)
        falls += dot(gravity, v) / light
        fallen += dot(gravity, a) / light
        if dragged:
            drags += works_of(df, dt, v, w)
            dragging += works_of(df, dt, a, g)
        store_from(push, p - first, PUSH, a)
        store_from(push, p - first, TWIST, g)
        store_from(motion, p, V, add_scaled(v, done, a))
        store_from(motion, p, SPIN, add_scaled(w, done, g))
        finite += dot(a, a) + dot(g, g)
    partial[FINITE] += finite
    book(partial, NORMAL_WORK, normal, normal_more, quarter, more)
    book(partial, SPRING_WORK, spring, spring_more, quarter, more)
    book(partial, VISCOUS_WORK, viscous, viscous_more, quarter, more)
    book(partial, FRICTION_WORK, friction, friction_more, quarter, more)
    book(partial, FALLS, falls, fallen, quarter, more)
    book(partial, DRAGS, drags, dragging, quarter, more)


@routine
def move_block(particles, spheres, candidates, walls, grains, first, last, push, partial):
    """The kick and the drift that ``ask`` asks for, of some grains. It is read here, so that they are compiled once,
    whether both come together or not: two copies could be rounded in two ways."""
    ask, pushes = grains.ask, grains.push
    kicks, drifts = ask[KICKS] > 0.0, ask[DRIFTS] > 0.0
    if kicks:
        for line in range(FINITE, DUE + LINES):
            partial[line] = 0.0
    if drifts:
        partial[WAY] = 0.0
    for begin in range(first, last, GROUP):
        end = min(begin + GROUP, last)
        if kicks:
            for p in range(begin, end):
                add_across(candidates, spheres.load, p)
            kick_group(spheres, walls, grains, begin, end, ask[DONE_TIME], ask[DUE_TIME], push, partial)
        if kicks and not drifts:
            for p in range(begin, end):
                for c in range(PUSHED):
                    pushes[p, c] = push[p - begin, c]
        if drifts and not kicks:
            for p in range(begin, end):
                for c in range(PUSHED):
                    push[p - begin, c] = pushes[p, c]
        if drifts:
            way = drift_group(particles, spheres, grains, begin, end, ask[DRIFTS], push)
            if partial[WAY] < np.inf and not way <= partial[WAY]:  # what is no number stays
                partial[WAY] = way


@jit
def waits(candidates, first, last):
    """Whether some places have to wait for contacts with earlier strips."""
    return candidates.across[last] > candidates.across[first]


@jit
def sweep_strip(order, particles, spheres, candidates, table, walls, grains, s, batch, loads, slots, push):
    """The blocks of a strip; those that have to wait do not move."""
    n, ask, strip, seen, partial = (
        spheres.radius.shape[0],
        grains.ask,
        candidates.strip,
        candidates.block,
        grains.partial,
    )
    time, h, whole = ask[TIME], ask[LASTS], ask[RECORDS] > 0.0
    for b in range(strip[s], strip[s + 1]):
        first = PLACES * b
        last = min(first + PLACES, n)
        if ask[TOUCHES] > 0.0:
            PAIR_BLOCK(order, spheres, candidates, table, first, last, time, h, whole, batch, loads, slots, seen[b])
        if not waits(candidates, first, last):
            move_block(particles, spheres, candidates, walls, grains, first, last, push, partial[b])


@jit
def move_late(particles, spheres, candidates, walls, grains, b, push):
    """Moves a block that had to wait."""
    first = PLACES * b
    last = min(first + PLACES, spheres.radius.shape[0])
    if waits(candidates, first, last):
        move_block(particles, spheres, candidates, walls, grains, first, last, push, grains.partial[b])


def sweep_all(order, particles, spheres, candidates, table, walls, grains):
    """All strips, what had to wait, and images. Loops that are shared out take no tuples of tuples."""
    strips = candidates.strip.shape[0] - 1
    for s in prange(strips):
        batch, loads, slots = np.zeros(FIELDS * STRIDE), np.zeros((LANES, LOAD)), np.zeros(2 * LANES, np.uint64)
        push, strip = np.zeros((GROUP, PUSHED)), np.int64(s)
        sweep_strip(order, particles, spheres, candidates, table, walls, grains, strip, batch, loads, slots, push)
    blocks = grains.partial.shape[0]
    for b in prange(blocks):
        push = np.zeros((GROUP, PUSHED))
        move_late(particles, spheres, candidates, walls, grains, np.int64(b), push)
    images = particles.counts[IMAGES] if grains.ask[DRIFTS] > 0.0 else 0
    for b in prange((images + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        follow_images(particles, spheres.motion, first, min(first + PLACES, images))


SHARE: Any = None
"""Stands for this, compiled."""


def sweep(system, grains):
    """What ``ask`` asks for, of all grains."""
    SHARE(
        system.particles.order,
        system.particles,
        system.spheres,
        system.candidates,
        system.table,
        system.walls,
        grains,
    )


@cache
def sweep_kernel(name: str, block: Any, parallel: bool) -> Any:
    """The sweep with a leaf that takes the pairs of a block, shared among threads or not."""
    how = f"{name}_{'parallel' if parallel else 'serial'}"
    strip = leaf_variant(sweep_strip, f"sweep_strip_{name}", PAIR_BLOCK=block)
    share = specialised(sweep_all, f"share_sweep_{how}", parallel=parallel, allocates=True, sweep_strip=strip)
    return prepare(specialised(sweep, f"sweep_{how}", allocates=True, SHARE=share), PASS)
