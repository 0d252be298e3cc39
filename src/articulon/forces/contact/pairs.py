"""The pass over pairs of spheres: which of the candidates touch, and what forces they exert.

Those that touch are gathered, some at a time, in an array in which the law is a vector loop, and written back: to their
memory and to their record, from which each sphere sums its own in a fixed order. So no two threads write to one place,
and the bits do not depend on how many there are.

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
    DEEPEST,
    DURATIONS,
    ENDED,
    FORCE,
    FREE,
    FRICTION_WORK,
    KIND,
    LIGHT,
    LONGEST,
    MEMORY,
    NORMAL,
    NORMAL_WORK,
    OTHER_ARM,
    PLACES,
    RADIUS,
    SEEN,
    SINCE,
    SLIDES,
    SPIN,
    SPRING_WORK,
    STICKS,
    VISCOUS_WORK,
    V,
    X,
)
from articulon.kernels import jit

LANES = 32
"""Contacts whose law is evaluated together."""
STRIDE = 40
"""From one of their fields to the next: some more, so that not all of them lie in the same lines of the cache."""
FIELDS = 62
LAW: Any = None
ARMS: Any = None
"""Stand for the law and its arms."""
ONE_KIND = False


@jit
def evaluate(batch, count, h, rows, sums):
    """The law of all contacts that have been gathered: a vector loop. Adds to the works by twice the power."""
    normal_work, spring_work, viscous_work, friction_work = 0.0, 0.0, 0.0, 0.0
    k0, kt0, c0, ct0, s0, m0 = (
        rows[0, STIFFNESS],
        rows[0, SHEAR],
        rows[0, DAMPING],
        rows[0, TANGENTIAL_DAMPING],
        rows[0, STATIC],
        rows[0, KINETIC],
    )
    for k in range(count):
        dx = batch[0 * STRIDE + k]
        dy = batch[1 * STRIDE + k]
        dz = batch[2 * STRIDE + k]
        Ri = batch[3 * STRIDE + k]
        Rj = batch[4 * STRIDE + k]
        li = batch[5 * STRIDE + k]
        lj = batch[6 * STRIDE + k]
        dvx = batch[7 * STRIDE + k]
        dvy = batch[8 * STRIDE + k]
        dvz = batch[9 * STRIDE + k]
        wix = batch[10 * STRIDE + k]
        wiy = batch[11 * STRIDE + k]
        wiz = batch[12 * STRIDE + k]
        wjx = batch[13 * STRIDE + k]
        wjy = batch[14 * STRIDE + k]
        wjz = batch[15 * STRIDE + k]
        xx = batch[16 * STRIDE + k]
        xy = batch[17 * STRIDE + k]
        xz = batch[18 * STRIDE + k]
        ofx = batch[19 * STRIDE + k]
        ofy = batch[20 * STRIDE + k]
        ofz = batch[21 * STRIDE + k]
        oai = batch[22 * STRIDE + k]
        oaj = batch[23 * STRIDE + k]
        onx = batch[24 * STRIDE + k]
        ony = batch[25 * STRIDE + k]
        onz = batch[26 * STRIDE + k]
        oel = batch[27 * STRIDE + k]
        ovi = batch[28 * STRIDE + k]
        owx = batch[29 * STRIDE + k]
        owy = batch[30 * STRIDE + k]
        owz = batch[31 * STRIDE + k]
        oslides = batch[32 * STRIDE + k]
        lane33 = 0.0 if ONE_KIND else batch[33 * STRIDE + k]
        lane34 = 0.0 if ONE_KIND else batch[34 * STRIDE + k]
        lane35 = 0.0 if ONE_KIND else batch[35 * STRIDE + k]
        lane36 = 0.0 if ONE_KIND else batch[36 * STRIDE + k]
        lane37 = 0.0 if ONE_KIND else batch[37 * STRIDE + k]
        lane38 = 0.0 if ONE_KIND else batch[38 * STRIDE + k]
        # What the old forces do at the velocities of this half step.
        ux, uy, uz = surface_velocity(dvx, dvy, dvz, oai, wix, wiy, wiz, oaj, wjx, wjy, wjz, onx, ony, onz)
        pull = oel + ovi
        gx, gy, gz = ofx - pull * onx, ofy - pull * ony, ofz - pull * onz
        p0, p1, p2, p3 = powers(onx, ony, onz, oel, ovi, gx, gy, gz, owx, owy, owz, oslides > 0.5, ux, uy, uz)
        # The law.
        r = math.sqrt(dx * dx + dy * dy + dz * dz)
        inverse = 1.0 / r
        nx, ny, nz = dx * inverse, dy * inverse, dz * inverse
        reach = Ri + Rj
        delta = reach - r
        ai, aj, bi, bj = ARMS(Ri, Rj, delta)
        ux, uy, uz = surface_velocity(dvx, dvy, dvz, ai, wix, wiy, wiz, aj, wjx, wjy, wjz, nx, ny, nz)
        spin = 0.5 * ((wix + wjx) * nx + (wiy + wjy) * ny + (wiz + wjz) * nz)
        stiffness, shear, damping, tangential_damping, static, kinetic = (
            k0 if ONE_KIND else lane33,
            kt0 if ONE_KIND else lane34,
            c0 if ONE_KIND else lane35,
            ct0 if ONE_KIND else lane36,
            s0 if ONE_KIND else lane37,
            m0 if ONE_KIND else lane38,
        )
        batch[61 * STRIDE + k] = ux * nx + uy * ny + uz * nz
        elastic, viscous, fx, fy, fz, wx, wy, wz, slides, x, y, z = LAW(
            delta,
            Ri * Rj / reach,
            1.0 / (li + lj),
            nx,
            ny,
            nz,
            ux,
            uy,
            uz,
            spin,
            xx,
            xy,
            xz,
            batch[60 * STRIDE + k],
            h,
            stiffness,
            shear,
            damping,
            tangential_damping,
            static,
            kinetic,
        )
        # And what the new ones do, with the arms of their torques.
        ux, uy, uz = surface_velocity(dvx, dvy, dvz, bi, wix, wiy, wiz, bj, wjx, wjy, wjz, nx, ny, nz)
        q0, q1, q2, q3 = powers(nx, ny, nz, elastic, viscous, fx, fy, fz, wx, wy, wz, slides > 0.5, ux, uy, uz)
        normal_work += p0 + q0
        spring_work += p1 + q1
        viscous_work += p2 + q2
        friction_work += p3 + q3
        pull = elastic + viscous
        batch[39 * STRIDE + k] = x
        batch[40 * STRIDE + k] = y
        batch[41 * STRIDE + k] = z
        batch[42 * STRIDE + k] = pull * nx + fx
        batch[43 * STRIDE + k] = pull * ny + fy
        batch[44 * STRIDE + k] = pull * nz + fz
        batch[45 * STRIDE + k] = ny * fz - nz * fy
        batch[46 * STRIDE + k] = nz * fx - nx * fz
        batch[47 * STRIDE + k] = nx * fy - ny * fx
        batch[48 * STRIDE + k] = bi
        batch[49 * STRIDE + k] = bj
        batch[50 * STRIDE + k] = nx
        batch[51 * STRIDE + k] = ny
        batch[52 * STRIDE + k] = nz
        batch[53 * STRIDE + k] = elastic
        batch[54 * STRIDE + k] = viscous
        batch[55 * STRIDE + k] = wx
        batch[56 * STRIDE + k] = wy
        batch[57 * STRIDE + k] = wz
        batch[58 * STRIDE + k] = slides
        batch[59 * STRIDE + k] = delta / min(Ri, Rj)
    sums[NORMAL_WORK] += normal_work
    sums[SPRING_WORK] += spring_work
    sums[VISCOUS_WORK] += viscous_work
    sums[FRICTION_WORK] += friction_work


@jit
def put(batch, field, k, value):
    """Sets a field of the k-th contact. An index without a sign is not counted from the end."""
    batch[np.uint64(field * STRIDE) + np.uint64(k)] = value


@jit
def get(batch, field, k):
    """A field of the k-th contact."""
    return batch[np.uint64(field * STRIDE) + np.uint64(k)]


@jit
def write_back(batch, slots, count, touches, memory, record, seen):
    """What the law has found, to where each contact keeps it."""
    deepest = seen[DEEPEST]
    for k in range(count):
        slot = slots[np.uint64(k)]
        for a in range(3):
            memory[slot, a] = get(batch, 39 + a, k)
        for a in range(16):
            record[slot, a] = get(batch, 42 + a, k)
        memory[slot, CLOSING] = get(batch, 61, k)
        touches[slot] = SLIDES if get(batch, 58, k) > 0.5 else STICKS
        deepest = max(deepest, get(batch, 59, k))
    seen[DEEPEST] = deepest


@jit
def end_contact(slot, time, dvx, dvy, dvz, wix, wiy, wiz, wjx, wjy, wjz, touches, memory, record, seen):
    """Ends a contact: books what its last forces do in this half step, and forgets it."""
    nx, ny, nz = record[slot, NORMAL], record[slot, NORMAL + 1], record[slot, NORMAL + 2]
    ux, uy, uz = surface_velocity(
        dvx, dvy, dvz, record[slot, ARM], wix, wiy, wiz, record[slot, OTHER_ARM], wjx, wjy, wjz, nx, ny, nz
    )
    add_powers(record, slot, touches[slot] == SLIDES, ux, uy, uz, seen)
    lasted = time - memory[slot, SINCE]
    seen[ENDED] += 1.0
    seen[DURATIONS] += lasted
    seen[LONGEST] = max(seen[LONGEST], lasted)
    touches[slot] = FREE
    for a in range(MEMORY):
        memory[slot, a] = 0.0
    for a in range(16):
        record[slot, a] = 0.0


@jit
def pair_block(particles, spheres, candidates, table, first, last, time, h, batch, slots, some, seen):
    """The contacts in the rows of some places."""
    motion, rows, kinds = spheres.motion, table.rows, table.kinds[0]
    start, second, root, touches = candidates.start, candidates.second, candidates.root, candidates.touches
    memory, record = candidates.memory, candidates.record
    px, py, pz = particles.x, particles.y, particles.z
    for a in range(SEEN):
        seen[a] = 0.0
    count = 0
    for p in range(first, last):
        xi, yi, zi, Ri, li = motion[p, X], motion[p, X + 1], motion[p, X + 2], motion[p, RADIUS], motion[p, LIGHT]
        vx, vy, vz = motion[p, V], motion[p, V + 1], motion[p, V + 2]
        wix, wiy, wiz = motion[p, SPIN], motion[p, SPIN + 1], motion[p, SPIN + 2]
        at, end = start[p], start[p + 1]
        while at < end:
            last_at, found = min(at + LANES, end), 0
            for k in range(at, last_at):  # what touches or did is appended without a branch, which none could foresee
                slot = np.uint64(k)
                q, j = np.uint64(second[slot]), np.uint64(root[slot])
                dx, dy, dz = xi - px[q], yi - py[q], zi - pz[q]
                reach = Ri + motion[j, RADIUS]
                some[np.uint64(found)] = slot
                found += (dx * dx + dy * dy + dz * dz < reach * reach) | (touches[slot] != FREE)
            at = last_at
            for m in range(found):
                slot = some[np.uint64(m)]
                q, j = np.uint64(second[slot]), np.uint64(root[slot])
                dx, dy, dz = xi - px[q], yi - py[q], zi - pz[q]
                Rj = motion[j, RADIUS]
                reach = Ri + Rj
                near = dx * dx + dy * dy + dz * dz < reach * reach
                dvx, dvy, dvz = vx - motion[j, V], vy - motion[j, V + 1], vz - motion[j, V + 2]
                wjx, wjy, wjz = motion[j, SPIN], motion[j, SPIN + 1], motion[j, SPIN + 2]
                if not near:
                    end_contact(slot, time, dvx, dvy, dvz, wix, wiy, wiz, wjx, wjy, wjz, touches, memory, record, seen)
                    continue
                if touches[slot] == FREE:
                    touches[slot] = STICKS
                    seen[BEGUN] += 1.0
                    memory[slot, SINCE], memory[slot, CLOSING] = time, NEVER
                put(batch, 0, count, dx)
                put(batch, 1, count, dy)
                put(batch, 2, count, dz)
                put(batch, 3, count, Ri)
                put(batch, 4, count, Rj)
                put(batch, 5, count, li)
                put(batch, 6, count, motion[j, LIGHT])
                put(batch, 7, count, dvx)
                put(batch, 8, count, dvy)
                put(batch, 9, count, dvz)
                put(batch, 10, count, wix)
                put(batch, 11, count, wiy)
                put(batch, 12, count, wiz)
                put(batch, 13, count, wjx)
                put(batch, 14, count, wjy)
                put(batch, 15, count, wjz)
                for a in range(3):
                    put(batch, 16 + a, count, memory[slot, a])
                    put(batch, 19 + a, count, record[slot, FORCE + a])
                for a in range(10):
                    put(batch, 22 + a, count, record[slot, ARM + a])
                put(batch, 60, count, memory[slot, CLOSING])
                put(batch, 32, count, 1.0 if touches[slot] == SLIDES else 0.0)
                if not ONE_KIND:
                    row = kinds * int(motion[p, KIND]) + int(motion[j, KIND])
                    put(batch, 33, count, rows[row, STIFFNESS])
                    put(batch, 34, count, rows[row, SHEAR])
                    put(batch, 35, count, rows[row, DAMPING])
                    put(batch, 36, count, rows[row, TANGENTIAL_DAMPING])
                    put(batch, 37, count, rows[row, STATIC])
                    put(batch, 38, count, rows[row, KINETIC])
                slots[np.uint64(count)] = slot
                count += 1
                if count == LANES:
                    evaluate(batch, count, h, rows, seen)
                    write_back(batch, slots, count, touches, memory, record, seen)
                    count = 0
    evaluate(batch, count, h, rows, seen)
    write_back(batch, slots, count, touches, memory, record, seen)


def share_pairs(particles, spheres, candidates, table, time, h):
    """The rows of all places, block by block. Loops that are shared out take no tuples of tuples."""
    n, seen = spheres.motion.shape[0], candidates.block
    for b in prange(seen.shape[0]):
        batch, slots, some = np.zeros(FIELDS * STRIDE), np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
        first = PLACES * np.int64(b)
        last = min(first + PLACES, n)
        pair_block(particles, spheres, candidates, table, first, last, time, h, batch, slots, some, seen[np.int64(b)])


SHARE: Any = None
"""Stands for this, compiled."""


def pair_pass(system, time, h):
    """Memory and records of all pairs of spheres that touch, at a time, a time h after the last pass."""
    SHARE(system.particles, system.spheres, system.candidates, system.table, time, h)
