"""The pass over pairs of spheres: which of the candidates touch, and what forces they exert.

Those that touch are gathered, some at a time, in an array in which the law is a vector loop, and written back: to their
memory and to their record, from which each sphere sums its own in a fixed order. So no two threads write to one place,
and the bits do not depend on how many there are.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from articulon.forces.contact.laws import (
    DAMPING,
    KINETIC,
    SHEAR,
    STATIC,
    STIFFNESS,
    TANGENTIAL_DAMPING,
    arms,
)
from articulon.forces.contact.tables import (
    BEGUN,
    DURATIONS,
    ELASTIC,
    ENDED,
    KIND,
    LIGHT,
    LONGEST,
    OVERLAP,
    PLACES,
    RADIUS,
    SINCE,
    SPIN,
    V,
    X,
)
from articulon.kernels import jit

LANES = 64
"""Contacts whose law is evaluated together."""
FIELDS = 40
CONTACT: Any = None
"""Stands for the law."""
ONE_KIND = False

# Fields of the gathered contacts, each LANES numbers long.
_DELTA, _RS, _MS, _N, _V, _SPIN, _XI, _ROW, _ARM, _OTHER, _OUT = 0, 1, 2, 3, 6, 9, 10, 13, 19, 20, 21


@jit
def lane(batch, field, k):
    """A number of the k-th contact."""
    return batch[field * LANES + k]


@jit
def evaluate(batch, count, h):
    """The law of all contacts that have been gathered: a vector loop."""
    for k in range(count):
        out = CONTACT(
            lane(batch, 0, k),
            lane(batch, 1, k),
            lane(batch, 2, k),
            lane(batch, 3, k),
            lane(batch, 4, k),
            lane(batch, 5, k),
            lane(batch, 6, k),
            lane(batch, 7, k),
            lane(batch, 8, k),
            lane(batch, 9, k),
            lane(batch, 10, k),
            lane(batch, 11, k),
            lane(batch, 12, k),
            h,
            lane(batch, 13, k),
            lane(batch, 14, k),
            lane(batch, 15, k),
            lane(batch, 16, k),
            lane(batch, 17, k),
            lane(batch, 18, k),
        )
        batch[21 * LANES + k] = out[0]
        batch[22 * LANES + k] = out[1]
        batch[23 * LANES + k] = out[2]
        batch[24 * LANES + k] = out[3]
        batch[25 * LANES + k] = out[4]
        batch[26 * LANES + k] = out[5]
        batch[27 * LANES + k] = out[6]
        batch[28 * LANES + k] = out[7]
        batch[29 * LANES + k] = out[8]
        batch[30 * LANES + k] = out[9]
        batch[31 * LANES + k] = out[10]
        batch[32 * LANES + k] = out[11]


@jit
def write_back(batch, slots, count, memory, record):
    """What the law has found, to where each contact keeps it."""
    for k in range(count):
        slot = slots[k]
        for a in range(3):
            memory[slot, a] = batch[(30 + a) * LANES + k]
            record[slot, a] = batch[(3 + a) * LANES + k]
        for a in range(9):
            record[slot, ELASTIC + a] = batch[(21 + a) * LANES + k]
        record[slot, OVERLAP] = batch[k]
        record[slot, 13] = batch[19 * LANES + k]
        record[slot, 14] = batch[20 * LANES + k]


@jit
def pair_block(system, first, last, time, h, batch, slots, seen):
    """The contacts in the rows of some places."""
    spheres, candidates, table = system.spheres, system.candidates, system.table
    motion, rows, kinds = spheres.motion, table.rows, table.kinds
    start, second, root, touches = candidates.start, candidates.second, candidates.root, candidates.touches
    memory, record = candidates.memory, candidates.record
    px, py, pz, n = system.particles.x, system.particles.y, system.particles.z, motion.shape[0]
    begun, ended, durations, longest, deepest = 0.0, 0.0, 0.0, 0.0, 0.0
    count = 0
    for p in range(first, last):
        xi, yi, zi, Ri = motion[p, X], motion[p, X + 1], motion[p, X + 2], motion[p, RADIUS]
        for slot in range(start[p], start[p + 1]):
            q, j = second[slot], root[slot]
            if q < n:
                dx, dy, dz = xi - motion[q, X], yi - motion[q, X + 1], zi - motion[q, X + 2]
            else:
                dx, dy, dz = xi - px[q], yi - py[q], zi - pz[q]
            Rj = motion[j, RADIUS]
            reach, r2 = Ri + Rj, dx * dx + dy * dy + dz * dz
            if r2 >= reach * reach:
                if touches[slot] != 0:
                    touches[slot] = 0
                    since = memory[slot, SINCE]
                    ended += 1.0
                    durations += time - since
                    longest = max(longest, time - since)
                    for a in range(3):
                        memory[slot, a] = 0.0
                continue
            if touches[slot] == 0:
                touches[slot] = 1
                begun += 1.0
                memory[slot, SINCE] = time
            r = math.sqrt(r2)
            inverse = 1.0 / r
            delta = reach - r
            deepest = max(deepest, delta / min(Ri, Rj))
            ai, aj, bi, bj = arms(Ri, Rj, delta)
            nx, ny, nz = dx * inverse, dy * inverse, dz * inverse
            wix, wiy, wiz = motion[p, SPIN], motion[p, SPIN + 1], motion[p, SPIN + 2]
            wjx, wjy, wjz = motion[j, SPIN], motion[j, SPIN + 1], motion[j, SPIN + 2]
            wx, wy, wz = ai * wix + aj * wjx, ai * wiy + aj * wjy, ai * wiz + aj * wjz
            light = motion[p, LIGHT] + motion[j, LIGHT]
            batch[0 * LANES + count] = delta
            batch[1 * LANES + count] = Ri * Rj / reach
            batch[2 * LANES + count] = 1.0 / light
            batch[3 * LANES + count] = nx
            batch[4 * LANES + count] = ny
            batch[5 * LANES + count] = nz
            # The first surface is at −a_i n from its centre, the second at a_j n.
            batch[6 * LANES + count] = motion[p, V] - motion[j, V] - (wy * nz - wz * ny)
            batch[7 * LANES + count] = motion[p, V + 1] - motion[j, V + 1] - (wz * nx - wx * nz)
            batch[8 * LANES + count] = motion[p, V + 2] - motion[j, V + 2] - (wx * ny - wy * nx)
            batch[9 * LANES + count] = 0.5 * ((wix + wjx) * nx + (wiy + wjy) * ny + (wiz + wjz) * nz)
            for a in range(3):
                batch[(10 + a) * LANES + count] = memory[slot, a]
            row = 0 if ONE_KIND else kinds * int(motion[p, KIND]) + int(motion[j, KIND])
            batch[13 * LANES + count] = rows[row, STIFFNESS]
            batch[14 * LANES + count] = rows[row, SHEAR]
            batch[15 * LANES + count] = rows[row, DAMPING]
            batch[16 * LANES + count] = rows[row, TANGENTIAL_DAMPING]
            batch[17 * LANES + count] = rows[row, STATIC]
            batch[18 * LANES + count] = rows[row, KINETIC]
            batch[19 * LANES + count] = bi
            batch[20 * LANES + count] = bj
            slots[count] = slot
            count += 1
            if count == LANES:
                evaluate(batch, count, h)
                write_back(batch, slots, count, memory, record)
                count = 0
    evaluate(batch, count, h)
    write_back(batch, slots, count, memory, record)
    seen[BEGUN], seen[ENDED], seen[DURATIONS], seen[LONGEST], seen[4] = begun, ended, durations, longest, deepest


def pair_pass(system, time, h):
    """Memory and records of all pairs of spheres that touch, at a time, a time h after the last pass."""
    n, seen = system.spheres.motion.shape[0], system.candidates.block
    for b in prange(seen.shape[0]):
        batch, slots = np.zeros(FIELDS * LANES), np.empty(LANES, np.int64)
        first = PLACES * np.int64(b)
        pair_block(system, first, min(first + PLACES, n), time, h, batch, slots, seen[np.int64(b)])
