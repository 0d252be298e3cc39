"""The pass over spheres and walls: it finds the *wall places*, which are the points of walls that a sphere touches, and
computes their forces.

A contact continues as its sphere slides from triangle to triangle: among the contacts of the sphere with the same wall,
a wall place takes over the history of the contact whose normal is nearest to its own.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from articulon.algebra.vectors import add, cross, dot, load_from, scale, store_from, sub
from articulon.forces.contact.contact_columns import (
    COUNTS,
    KEPT,
    LAW,
    MOTION,
    RECORD,
    RESISTANCE,
    STATISTICS,
    WALL_NUMBER,
    WALL_PLACE,
    WALL_POSE,
)
from articulon.forces.contact.contact_law import NEVER, arms
from articulon.forces.contact.contact_tables import FREE, OVERRUN, PASSED, PLACES, SLIDES, STICKS
from articulon.forces.contact.wall_lists import walls_moved
from articulon.forces.contact.wall_motion import place_walls, wall_velocity
from articulon.forces.contact.wall_touching import TOUCHED, sort_by_feature, touch
from articulon.forces.sites.prefetching import LINE, prefetch
from articulon.kernels import jit, kernel

AHEAD = 8
"""Number of slots by which data are prefetched ahead of their sphere."""
CONTACT: Any = None
"""Placeholder for the compiled law."""
SHARE: Any = None
"""Placeholder for the compiled pass over all places."""
SWAY = (math.cos(0.1), math.sin(0.1))
"""Cosine and sine of the angle by which, in addition to a mesh's smooth angle, a normal may rotate between two
evaluations and still belong to the same contact."""


@jit
def places_of(slots, walls, lists, motion, p, places, numbers):
    """Write the wall places that a sphere touches, in the order of features; return their number, −1 if it exceeds the
    capacity."""
    rows, x = 0, load_from(motion, p, MOTION.position)
    for g in range(lists.group_start[p], lists.group_start[p + 1]):
        at = add(x, load_from(lists.shift, g, 0))
        first, last = lists.entry_start[g], lists.entry_start[g + 1]
        if rows == TOUCHED:
            return -1
        rows = touch(
            walls, lists.wall[g], lists.entry, first, last, at, motion[p, MOTION.radius], places, numbers, rows
        )
        if rows < 0:
            return -1
    sort_by_feature(places, numbers, rows)
    if rows > slots.start[p + 1] - slots.start[p]:
        return -1
    return rows


@jit
def is_taken(old, rows, m):
    """Whether a contact is already continued."""
    taken = False
    for k in range(rows):
        taken = taken or old[k] == m
    return taken


@jit
def match(slots, walls, first, had, places, numbers, rows, old):
    """Find the contact that each wall place continues: ``old`` (rows,) gets the slot of that contact, counted from
    ``first``, −1 for none. A contact of the same feature has priority, then one of the same wall with the nearest
    normal. Return a wall with a place whose normal is opposite to that of the previous contact of its triangle, −1 for
    none."""
    through = -1
    for k in range(rows):
        old[k] = -1
    for stage in range(2):
        for k in range(rows):
            w, n = numbers[k, WALL_NUMBER.wall], load_from(places, k, WALL_PLACE.normal)
            smooth, best = walls.smooth[w], 0.0
            if stage == 1:
                best = smooth * SWAY[0] - math.sqrt(max(1.0 - smooth * smooth, 0.0)) * SWAY[1]
            for m in range(had if old[k] < 0 else 0):
                same = slots.feature[first + m] == numbers[k, WALL_NUMBER.feature]
                if (same or stage == 1) and slots.wall[first + m] == w and not is_taken(old, rows, m):
                    along = dot(n, load_from(slots.record, first + m, RECORD.normal))
                    if same and along < -0.5:
                        through = w
                    if along >= best:
                        best, old[k] = along, m
    return through


@jit
def continues_only_contact(slots, first, places, numbers):
    """Whether the only wall place that a sphere touches continues its only contact. This is the usual case, and
    ``match`` would find the same result."""
    along = dot(load_from(places, 0, WALL_PLACE.normal), load_from(slots.record, first, RECORD.normal))
    return slots.feature[first] == numbers[0, WALL_NUMBER.feature] and along >= 0.0


@jit
def carry_over(slots, first, had, rows, old, spare):
    """Move records, and the kept resistance, to the new slots of their contacts; clear the others."""
    still = had == rows
    for k in range(rows):
        still = still and old[k] == k
    if still:
        return
    record, since, resistance = slots.record, slots.since, slots.resistance
    resists = resistance.shape[0] > 0
    for m in range(had):
        for a in range(RECORD.width):
            spare[m, a] = record[first + m, a]
        spare[m, KEPT.since] = since[first + m]
        if resists:
            for a in range(RESISTANCE.width):
                spare[m, KEPT.resistance + a] = resistance[first + m, a]
    for k in range(max(rows, had)):
        known = k < rows and old[k] >= 0
        source = old[k] if known else 0
        for a in range(RECORD.width):
            record[first + k, a] = spare[source, a] if known else 0.0
        since[first + k] = spare[source, KEPT.since] if known else 0.0
        if resists:
            for a in range(RESISTANCE.width):
                resistance[first + k, a] = spare[source, KEPT.resistance + a] if known else 0.0


@jit
def act(slots, walls, motion, table, p, slot, gap, n, at, h):
    """Evaluate the law at a wall place and write the record of its slot; return the overlap."""
    record = slots.record
    w, R = slots.wall[slot], motion[p, MOTION.radius]
    delta = R - gap
    reach, _, lever, _ = arms(R, 0.0, delta)
    angular_velocity, turning = (
        load_from(motion, p, MOTION.angular_velocity),
        load_from(walls.pose, w, WALL_POSE.angular_velocity),
    )
    moving = wall_velocity(walls.pose, w, at)
    store_from(slots.velocity, slot, 0, moving)
    store_from(slots.velocity, slot, 3, turning)
    v = sub(sub(load_from(motion, p, MOTION.velocity), scale(reach, cross(angular_velocity, n))), moving)
    row = table.kinds[0] * int(motion[p, MOTION.kind]) + walls.material[w]
    rows = table.rows
    out = CONTACT(
        delta,
        R,
        1.0 / motion[p, MOTION.inverse_mass],
        n[0],
        n[1],
        n[2],
        v[0],
        v[1],
        v[2],
        0.5 * dot(add(angular_velocity, turning), n),
        record[slot, RECORD.displacement],
        record[slot, RECORD.displacement + 1],
        record[slot, RECORD.displacement + 2],
        record[slot, RECORD.closing],
        h,
        rows[row, LAW.stiffness],
        rows[row, LAW.shear],
        rows[row, LAW.damping],
        rows[row, LAW.tangential_damping],
        rows[row, LAW.static_friction],
        rows[row, LAW.kinetic_friction],
    )
    record[slot, RECORD.closing] = dot(v, n)
    tangential = (out[2], out[3], out[4])
    store_from(record, slot, RECORD.force, add(scale(out[0] + out[1], n), tangential))
    store_from(record, slot, RECORD.normal, n)
    record[slot, RECORD.arm], record[slot, RECORD.other_arm] = lever, delta
    record[slot, RECORD.elastic] = out[0]
    store_from(record, slot, RECORD.tangential_viscous, (out[5], out[6], out[7]))
    store_from(record, slot, RECORD.displacement, (out[9], out[10], out[11]))
    slots.touches[slot] = SLIDES if out[8] > 0.5 else STICKS
    return delta


@jit
def ask_ahead(slots, lists, motion, slot, behind):
    """Prefetch the data of the sphere of a slot that is evaluated later: few spheres are near walls, and they are far
    apart in memory."""
    if slot + AHEAD < behind:
        p = slots.place[slot + AHEAD]
        prefetch(motion, MOTION.width * p)
        prefetch(motion, MOTION.width * p + LINE // 8)
        prefetch(lists.group_start, p)
        prefetch(slots.start, p)


@jit
def wall_block(
    slots, walls, lists, motion, order, table, first, last, time, h, places, numbers, old, spare, statistics
):
    """Evaluate the contacts of some places with walls; return the fault, the sphere and the wall."""
    start, touches, since = slots.start, slots.touches, slots.since
    begun, ended, durations, longest, deepest = 0.0, 0.0, 0.0, 0.0, 0.0
    fault, sphere, wall = 0, -1, -1
    whose, what = 0, 0
    coming, behind = start[first], start[last]
    while coming < behind:
        p, base = slots.place[coming], coming
        end = start[p + 1]
        coming = end
        ask_ahead(slots, lists, motion, base, behind)
        had = 0
        while base + had < end and touches[base + had] != FREE:
            had += 1
        rows = places_of(slots, walls, lists, motion, p, places, numbers)
        if rows < 0:
            fault, sphere, rows = OVERRUN, order[p], 0
        if rows == 0 and had == 0:
            continue
        if had == 1 and rows == 1 and continues_only_contact(slots, base, places, numbers):
            old[0] = 0
        else:
            through = match(slots, walls, base, had, places, numbers, rows, old)
            if through >= 0:
                fault, sphere, wall = PASSED, order[p], through
            for m in range(had):
                if not is_taken(old, rows, m):
                    lasted = time - since[base + m]
                    ended += 1.0
                    durations += lasted
                    longest = max(longest, lasted)
            carry_over(slots, base, had, rows, old, spare)
        for k in range(rows):
            slot = base + k
            if old[k] < 0:
                begun += 1.0
                since[slot], slots.record[slot, RECORD.closing] = time, NEVER
            slots.feature[slot], slots.wall[slot] = numbers[k, WALL_NUMBER.feature], numbers[k, WALL_NUMBER.wall]
            n, at = load_from(places, k, WALL_PLACE.normal), load_from(places, k, WALL_PLACE.point)
            delta = act(slots, walls, motion, table, p, slot, places[k, WALL_PLACE.gap], n, at, h)
            if delta > deepest * motion[p, MOTION.radius]:
                deepest, whose, what = delta / motion[p, MOTION.radius], order[p], order.size + slots.feature[slot]
        for k in range(rows, had):
            touches[base + k] = FREE
    (
        statistics[STATISTICS.begun],
        statistics[STATISTICS.ended],
        statistics[STATISTICS.durations],
        statistics[STATISTICS.longest],
    ) = begun, ended, durations, longest
    statistics[STATISTICS.deepest], statistics[STATISTICS.deep_first], statistics[STATISTICS.deep_other] = (
        deepest,
        whose,
        what,
    )
    return fault, sphere, wall


def share_walls(slots, walls, lists, spheres, particles, table, time, h):
    """Evaluate all places in parallel. Numba's parallel loops accept no tuples of tuples."""
    n, statistics, counts = spheres.radius.shape[0], slots.block, slots.counts
    for b in prange(statistics.shape[0]):
        places, numbers = np.empty((TOUCHED, WALL_PLACE.width)), np.empty((TOUCHED, WALL_NUMBER.width), np.int64)
        old, spare = np.empty(TOUCHED, np.int64), np.empty((TOUCHED, KEPT.width))
        block = np.int64(b)
        first = PLACES * block
        fault, sphere, wall = wall_block(
            slots,
            walls,
            lists,
            spheres.motion,
            particles.order,
            table,
            first,
            min(first + PLACES, n),
            time,
            h,
            places,
            numbers,
            old,
            spare,
            statistics[block],
        )
        if fault != 0:  # threads may overwrite each other: any fault ends the run
            counts[COUNTS.fault], counts[COUNTS.sphere], counts[COUNTS.wall] = fault, sphere, wall


def wall_pass(system, time, h):
    """Compute the records of all spheres and walls that touch, at a time, a time h after the last pass. Do nothing if
    ``counts`` reports that a wall has moved too far for the lists, or that a list exceeded its capacity."""
    slots = system.walls
    place_walls(system.shapes, time)
    slots.counts[COUNTS.moved] = walls_moved(system.shapes, system.near_walls, system.skin[0])
    if slots.counts[COUNTS.moved] == 0 and slots.counts[COUNTS.exceeded] == 0:
        SHARE(slots, system.shapes, system.near_walls, system.spheres, system.particles, system.table, time, h)


@kernel
def set_walls(system, time):
    """Place the walls at a given time."""
    place_walls(system.shapes, time)
