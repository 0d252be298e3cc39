"""The pass over pairs of spheres: which of the candidates touch, and what forces they exert.

Those that touch are gathered, some at a time, in an array in which the law is a few vector loops, and written back to
their records. What acts on the sphere in whose row a contact is, is summed here, in the order of slots; the other one
sums its own from the records. So no two threads write to one place, and the bits do not depend on how many there are.

Works are booked here. A force F acts from one half step to the next, in two half kicks, and does in them the work
½ h F·(v + v'), with v and v' the velocities at its own evaluation and at the next one: so each evaluation adds the
power of the force that was and of the force that is.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from articulon.forces.contact.laws import (
    DAMPING,
    KINETIC,
    NEVER,
    SHEAR,
    STATIC,
    STIFFNESS,
    TANGENTIAL_DAMPING,
)
from articulon.forces.contact.powers import add_powers, powers, surface_velocity
from articulon.forces.contact.tables import (
    ARM,
    BEGUN,
    CLOSING,
    DEEP_FIRST,
    DEEP_OTHER,
    DEEPEST,
    DISPLACEMENT,
    DURATIONS,
    EASE,
    ELASTIC,
    ENDED,
    FORCE,
    FREE,
    FRICTION_WORK,
    KIND,
    LIGHT,
    LONGEST,
    NORMAL,
    NORMAL_WORK,
    OTHER_ARM,
    PLACES,
    RADIUS,
    RECORD,
    SEEN,
    SLIDES,
    SPIN,
    SPRING_WORK,
    STICKS,
    TANGENTIAL_VISCOUS,
    TORQUE,
    VISCOUS_WORK,
    V,
    X,
)
from articulon.kernels import jit

LANES = 32
"""Contacts whose law is evaluated together."""
STRIDE = 40
"""From one of their fields to the next: some more, so that not all of them lie in the same lines of the cache."""
APART, RADII, LIGHTS, CLOSING_IN, SPIN_I, SPIN_J, SLID, OLD = 0, 3, 5, 6, 9, 12, 15, 16
"""Fields that are gathered: vector from j to i, the two radii, the sum of the inverse masses, relative velocity,
angular velocities, whether the surfaces slid, and the record."""
TABLE = OLD + RECORD
"""The row of the table, where there are several kinds."""
WIDTH, DEPTH, DAMPED, MASS, SURFACE, TURNED, TURNING = 38, 39, 40, 41, 42, 45, 48
"""Between the loops: ``contact_width``, overlap, ``damping_of``, m*, velocity of the surfaces, tangential displacement
in the new tangent plane, and the velocity at the arms of the torques."""
NEW, SLIDES_NOW, DEEP = 51, 67, 68
"""The record as it will be, whether the surfaces slide, and the overlap by the smaller radius."""
FIELDS = 69
OLD_DISPLACEMENT, OLD_CLOSING, OLD_FORCE, OLD_ELASTIC, OLD_NORMAL, OLD_ARM, OLD_VISCOUS, OLD_OTHER_ARM = (
    OLD + column for column in (DISPLACEMENT, CLOSING, FORCE, ELASTIC, NORMAL, ARM, TANGENTIAL_VISCOUS, OTHER_ARM)
)
NEW_DISPLACEMENT, NEW_CLOSING, NEW_FORCE, NEW_ELASTIC, NEW_NORMAL, NEW_ARM, NEW_VISCOUS, NEW_OTHER_ARM = (
    NEW + column for column in (DISPLACEMENT, CLOSING, FORCE, ELASTIC, NORMAL, ARM, TANGENTIAL_VISCOUS, OTHER_ARM)
)
RADIUS_I, RADIUS_J = RADII, RADII + 1
"""Named, since a loop whose indices have sums of constants in them does not become a vector loop."""
CARRIED: Any = None
CONTACT_WIDTH: Any = None
DAMPING_OF: Any = None
FORCES: Any = None
ARMS: Any = None
"""Stand for the parts of the law."""
ONE_KIND, TWO_ARMS = False, False
"""Whether there is but one kind, and whether velocities and torques have arms of their own."""


@jit
def put(batch, field, k, value):
    """Sets a field of the k-th contact. An index without a sign is not counted from the end."""
    batch[np.uint64(field * STRIDE) + np.uint64(k)] = value


@jit
def get(batch, field, k):
    """A field of the k-th contact."""
    return batch[np.uint64(field * STRIDE) + np.uint64(k)]


@jit
def put3(batch, field, k, v):
    """Sets a vector of the k-th contact, in the loops below."""
    batch[field * STRIDE + k], batch[(field + 1) * STRIDE + k], batch[(field + 2) * STRIDE + k] = v


@jit
def get3(batch, field, k):
    """A vector of the k-th contact, in the loops below."""
    return batch[field * STRIDE + k], batch[(field + 1) * STRIDE + k], batch[(field + 2) * STRIDE + k]


@jit
def entry(batch, column, k, one):
    """A column of the table for the k-th contact; ``one`` where there is but one kind."""
    return one if ONE_KIND else batch[(TABLE + column) * STRIDE + k]


@jit
def book_old(batch, count, sums):
    """What the old forces do at the velocities of this half step."""
    normal_work, spring_work, viscous_work, friction_work = 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        nx, ny, nz = get3(batch, OLD_NORMAL, k)
        fx, fy, fz = get3(batch, OLD_FORCE, k)
        wx, wy, wz = get3(batch, OLD_VISCOUS, k)
        dvx, dvy, dvz = get3(batch, CLOSING_IN, k)
        wix, wiy, wiz = get3(batch, SPIN_I, k)
        wjx, wjy, wjz = get3(batch, SPIN_J, k)
        ai, aj = batch[OLD_ARM * STRIDE + k], batch[OLD_OTHER_ARM * STRIDE + k]
        elastic, slid = batch[OLD_ELASTIC * STRIDE + k], batch[SLID * STRIDE + k]
        ux, uy, uz = surface_velocity(dvx, dvy, dvz, ai, wix, wiy, wiz, aj, wjx, wjy, wjz, nx, ny, nz)
        p0, p1, p2, p3 = powers(nx, ny, nz, elastic, fx, fy, fz, wx, wy, wz, slid > 0.5, ux, uy, uz)
        normal_work += p0
        spring_work += p1
        viscous_work += p2
        friction_work += p3
    sums[NORMAL_WORK] += normal_work
    sums[SPRING_WORK] += spring_work
    sums[VISCOUS_WORK] += viscous_work
    sums[FRICTION_WORK] += friction_work


@jit
def measure(batch, count, rows):
    """Normals, arms and overlaps, with what depends on these alone."""
    c0 = rows[0, DAMPING]
    for k in range(count):
        dx, dy, dz = get3(batch, APART, k)
        Ri, Rj, light = get3(batch, RADII, k)
        r = math.sqrt(dx * dx + dy * dy + dz * dz)
        reach, least = Ri + Rj, min(Ri, Rj)
        # One division for four quotients.
        here, there = reach * light, r * least
        inverse = 1.0 / (here * there)
        by_r, by_least, by_reach, ms = (
            inverse * here * least,
            inverse * here * r,
            inverse * there * light,
            inverse * there * reach,
        )
        delta = reach - r
        depth = max(delta, 0.0)
        a = CONTACT_WIDTH(Ri * Rj * by_reach, depth)
        put3(batch, NEW_NORMAL, k, (dx * by_r, dy * by_r, dz * by_r))
        batch[WIDTH * STRIDE + k] = a
        batch[DEPTH * STRIDE + k] = depth
        batch[DAMPED * STRIDE + k] = DAMPING_OF(a, ms, entry(batch, DAMPING, k, c0))
        batch[MASS * STRIDE + k] = ms
        batch[DEEP * STRIDE + k] = depth * by_least


@jit
def find_velocities(batch, count):
    """Velocities of the surfaces."""
    for k in range(count):
        ai, aj, bi, bj = ARMS(batch[RADIUS_I * STRIDE + k], batch[RADIUS_J * STRIDE + k], batch[DEPTH * STRIDE + k])
        batch[NEW_ARM * STRIDE + k] = bi
        batch[NEW_OTHER_ARM * STRIDE + k] = bj
        nx, ny, nz = get3(batch, NEW_NORMAL, k)
        wix, wiy, wiz = get3(batch, SPIN_I, k)
        wjx, wjy, wjz = get3(batch, SPIN_J, k)
        dvx, dvy, dvz = get3(batch, CLOSING_IN, k)
        ux, uy, uz = surface_velocity(dvx, dvy, dvz, ai, wix, wiy, wiz, aj, wjx, wjy, wjz, nx, ny, nz)
        put3(batch, SURFACE, k, (ux, uy, uz))
        batch[NEW_CLOSING * STRIDE + k] = ux * nx + uy * ny + uz * nz
        if TWO_ARMS:
            put3(batch, TURNING, k, surface_velocity(dvx, dvy, dvz, bi, wix, wiy, wiz, bj, wjx, wjy, wjz, nx, ny, nz))


@jit
def turn(batch, count, h):
    """Tangential displacements in the new tangent planes."""
    for k in range(count):
        nx, ny, nz = get3(batch, NEW_NORMAL, k)
        wix, wiy, wiz = get3(batch, SPIN_I, k)
        wjx, wjy, wjz = get3(batch, SPIN_J, k)
        spin = 0.5 * ((wix + wjx) * nx + (wiy + wjy) * ny + (wiz + wjz) * nz)
        x, y, z = get3(batch, OLD_DISPLACEMENT, k)
        put3(batch, TURNED, k, CARRIED(x, y, z, nx, ny, nz, spin, h))


@jit
def act(batch, count, h, rows, sums):
    """The forces, and what they do at the velocities of this half step."""
    normal_work, spring_work, viscous_work, friction_work = 0.0, 0.0, 0.0, 0.0
    k0, kt0, ct0, s0, m0 = (
        rows[0, STIFFNESS],
        rows[0, SHEAR],
        rows[0, TANGENTIAL_DAMPING],
        rows[0, STATIC],
        rows[0, KINETIC],
    )
    for k in range(count):
        nx, ny, nz = get3(batch, NEW_NORMAL, k)
        vx, vy, vz = get3(batch, SURFACE, k)
        x, y, z = get3(batch, TURNED, k)
        elastic, viscous, fx, fy, fz, wx, wy, wz, slides, x, y, z = FORCES(
            batch[DEPTH * STRIDE + k],
            batch[WIDTH * STRIDE + k],
            batch[MASS * STRIDE + k],
            batch[DAMPED * STRIDE + k],
            nx,
            ny,
            nz,
            vx,
            vy,
            vz,
            x,
            y,
            z,
            batch[OLD_CLOSING * STRIDE + k],
            h,
            entry(batch, STIFFNESS, k, k0),
            entry(batch, SHEAR, k, kt0),
            entry(batch, TANGENTIAL_DAMPING, k, ct0),
            entry(batch, STATIC, k, s0),
            entry(batch, KINETIC, k, m0),
        )
        pull = elastic + viscous
        fx, fy, fz = pull * nx + fx, pull * ny + fy, pull * nz + fz
        put3(batch, NEW_DISPLACEMENT, k, (x, y, z))
        put3(batch, NEW_FORCE, k, (fx, fy, fz))
        batch[NEW_ELASTIC * STRIDE + k] = elastic
        put3(batch, NEW_VISCOUS, k, (wx, wy, wz))
        batch[SLIDES_NOW * STRIDE + k] = slides
        if TWO_ARMS:
            vx, vy, vz = get3(batch, TURNING, k)
        p0, p1, p2, p3 = powers(nx, ny, nz, elastic, fx, fy, fz, wx, wy, wz, slides > 0.5, vx, vy, vz)
        normal_work += p0
        spring_work += p1
        viscous_work += p2
        friction_work += p3
    sums[NORMAL_WORK] += normal_work
    sums[SPRING_WORK] += spring_work
    sums[VISCOUS_WORK] += viscous_work
    sums[FRICTION_WORK] += friction_work


@jit
def write_back(batch, slots, count, order, candidates, load, seen):
    """What the law has found, to the record of each contact, and to the sphere in whose row it is."""
    first, touches, record = candidates.first, candidates.touches, candidates.record
    deepest, at = seen[DEEPEST], np.uint64(0)
    for k in range(count):
        slot = slots[np.uint64(k)]
        for a in range(RECORD):
            record[slot, a] = get(batch, NEW + a, k)
        touches[slot] = SLIDES if get(batch, SLIDES_NOW, k) > 0.5 else STICKS
        deeper = get(batch, DEEP, k) > deepest
        deepest, at = (get(batch, DEEP, k), slot) if deeper else (deepest, at)
        f = get(batch, NEW_FORCE, k), get(batch, NEW + FORCE + 1, k), get(batch, NEW + FORCE + 2, k)
        n = get(batch, NEW_NORMAL, k), get(batch, NEW + NORMAL + 1, k), get(batch, NEW + NORMAL + 2, k)
        add_to_load(load, np.uint64(first[slot]), 1.0, get(batch, NEW_ARM, k), f, n)
    if deepest > seen[DEEPEST]:
        seen[DEEPEST], seen[DEEP_FIRST], seen[DEEP_OTHER] = deepest, order[first[at]], order[candidates.root[at]]


@jit
def add_to_load(load, p, s, arm, f, n):
    """Adds a contact to the force and the torque on a sphere, the first of it where s is 1, the second where it is
    −1."""
    load[p, 0] += s * f[0]
    load[p, 1] += s * f[1]
    load[p, 2] += s * f[2]
    load[p, TORQUE] -= arm * (n[1] * f[2] - n[2] * f[1])
    load[p, TORQUE + 1] -= arm * (n[2] * f[0] - n[0] * f[2])
    load[p, TORQUE + 2] -= arm * (n[0] * f[1] - n[1] * f[0])


@jit
def end_contact(slot, time, dv, wi, wj, candidates, seen):
    """Ends a contact: books what its last forces do in this half step."""
    record, touches = candidates.record, candidates.touches
    n = record[slot, NORMAL], record[slot, NORMAL + 1], record[slot, NORMAL + 2]
    ai, aj = record[slot, ARM], record[slot, OTHER_ARM]
    ux, uy, uz = surface_velocity(
        dv[0], dv[1], dv[2], ai, wi[0], wi[1], wi[2], aj, wj[0], wj[1], wj[2], n[0], n[1], n[2]
    )
    add_powers(record, slot, touches[slot] == SLIDES, ux, uy, uz, seen)
    lasted = time - candidates.since[slot]
    seen[ENDED] += 1.0
    seen[DURATIONS] += lasted
    seen[LONGEST] = max(seen[LONGEST], lasted)
    touches[slot] = FREE


@jit
def begin_contact(slot, time, candidates, seen):
    """Begins a contact, which has had no forces so far."""
    for a in range(RECORD):
        candidates.record[slot, a] = 0.0
    candidates.record[slot, CLOSING] = NEVER
    candidates.since[slot] = time
    candidates.touches[slot] = STICKS
    seen[BEGUN] += 1.0


@jit
def difference(motion, column, p, q):
    """Of a vector of two spheres."""
    return (
        motion[p, column] - motion[q, column],
        motion[p, column + 1] - motion[q, column + 1],
        motion[p, column + 2] - motion[q, column + 2],
    )


@jit
def find_slots(spheres, candidates, at, end, slots, found):
    """Appends those slots from ``at`` on, LANES at most, whose spheres touch or did; without a branch, which none could
    foresee. Returns how many there are then."""
    motion, first, second, touches = spheres.motion, candidates.first, candidates.second, candidates.touches
    for k in range(at, min(at + LANES, end)):
        slot = np.uint64(k)
        p, q = np.uint64(first[slot]), np.uint64(second[slot])
        dx, dy, dz = (
            motion[p, X] - motion[q, X],
            motion[p, X + 1] - motion[q, X + 1],
            motion[p, X + 2] - motion[q, X + 2],
        )
        reach = motion[p, RADIUS] + motion[q, RADIUS]
        slots[np.uint64(found)] = slot
        found += (dx * dx + dy * dy + dz * dz < reach * reach) | (touches[slot] != FREE)
    return found


@jit
def gather(spheres, candidates, table, slots, number, time, batch, seen):
    """Gathers some contacts, ends those that touch no longer, and leaves the slots of the others in front; returns how
    many these are."""
    motion, record, touches, kinds = spheres.motion, candidates.record, candidates.touches, table.kinds[0]
    first, second = candidates.first, candidates.second
    count = 0
    for m in range(number):
        slot = slots[np.uint64(m)]
        p, j = np.uint64(first[slot]), np.uint64(second[slot])
        dx, dy, dz = (
            motion[p, X] - motion[j, X],
            motion[p, X + 1] - motion[j, X + 1],
            motion[p, X + 2] - motion[j, X + 2],
        )
        Ri, Rj = motion[p, RADIUS], motion[j, RADIUS]
        dv = difference(motion, V, p, j)
        wi = motion[p, SPIN], motion[p, SPIN + 1], motion[p, SPIN + 2]
        wj = motion[j, SPIN], motion[j, SPIN + 1], motion[j, SPIN + 2]
        if not dx * dx + dy * dy + dz * dz < (Ri + Rj) * (Ri + Rj):
            end_contact(slot, time, dv, wi, wj, candidates, seen)
            continue
        if touches[slot] == FREE:
            begin_contact(slot, time, candidates, seen)
        slots[np.uint64(count)] = slot
        put(batch, APART, count, dx)
        put(batch, APART + 1, count, dy)
        put(batch, APART + 2, count, dz)
        put(batch, RADII, count, Ri)
        put(batch, RADII + 1, count, Rj)
        put(batch, LIGHTS, count, motion[p, LIGHT] + motion[j, LIGHT])
        for a in range(3):
            put(batch, CLOSING_IN + a, count, dv[a])
            put(batch, SPIN_I + a, count, wi[a])
            put(batch, SPIN_J + a, count, wj[a])
        put(batch, SLID, count, 1.0 if touches[slot] == SLIDES else 0.0)
        for a in range(RECORD):
            put(batch, OLD + a, count, record[slot, a])
        if not ONE_KIND:
            row = kinds * int(motion[p, KIND]) + int(motion[j, KIND])
            for a in range(KINETIC + 1):
                put(batch, TABLE + a, count, table.rows[row, a])
        count += 1
    return count


@jit
def pair_block(order, spheres, candidates, table, first, last, time, h, batch, slots, seen):
    """The contacts in the rows of some places."""
    load, rows = spheres.load, table.rows
    for a in range(SEEN):
        seen[a] = 0.0
    for p in range(first, last):
        for a in range(EASE):
            load[p, a] = 0.0
    at, end, found = candidates.start[first], candidates.start[last], 0
    while at < end or found > 0:
        while at < end and found < LANES:
            found = find_slots(spheres, candidates, at, end, slots, found)
            at += LANES
        taken = min(found, LANES)
        count = gather(spheres, candidates, table, slots, taken, time, batch, seen)
        book_old(batch, count, seen)
        measure(batch, count, rows)
        find_velocities(batch, count)
        turn(batch, count, h)
        act(batch, count, h, rows, seen)
        write_back(batch, slots, count, order, candidates, load, seen)
        found -= taken
        for m in range(found):
            slots[np.uint64(m)] = slots[np.uint64(m + taken)]


def share_pairs(order, spheres, candidates, table, time, h):
    """The rows of all places, block by block. Loops that are shared out take no tuples of tuples."""
    n, seen = spheres.load.shape[0], candidates.block
    for b in prange(seen.shape[0]):
        batch, slots = np.zeros(FIELDS * STRIDE), np.zeros(2 * LANES, np.uint64)
        first = PLACES * np.int64(b)
        last = min(first + PLACES, n)
        pair_block(order, spheres, candidates, table, first, last, time, h, batch, slots, seen[np.int64(b)])


SHARE: Any = None
"""Stands for this, compiled."""


def pair_pass(system, time, h):
    """Records of all pairs of spheres that touch, at a time, a time h after the last pass."""
    SHARE(system.particles.order, system.spheres, system.candidates, system.table, time, h)
