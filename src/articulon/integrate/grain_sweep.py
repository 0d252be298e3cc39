"""The sweep over grains: contacts, the half kick that ends a step with its works, and the half kick and drift that
begin the next step, all done for a block of places while it is in the cache.

The places of a strip are taken in order, and a thread takes the strips of its group in order, except that the strip
which the next group's thread waits for comes first. After the rows of a block, all contacts of its grains are evaluated
except those with grains of earlier strips. If one of these strips is not finished, the grains of the block are moved
after all strips are. Contributions of distant contacts to a grain, those in earlier strips or slabs of cells, are added
after those of near contacts, in whichever order they are computed. Sums over blocks and over these contributions have a
fixed order. So the results have the same bits for any number of threads.

Contributions of contacts to the grains of a block, and to their neighbours in later blocks, are added up in a ring of
rows that the thread reuses for later blocks. The ring stays in the cache, whereas a row for each grain would travel
from memory and back in every step. A block that has to wait is moved out of the ring.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from articulon.forces.contact.carried_spheres import follow_images
from articulon.forces.contact.contact_batches import LANES, STRIDE
from articulon.forces.contact.contact_columns import BATCH, LOAD
from articulon.forces.contact.contact_pairs import BY_PLACE, ROWS, add_across, is_by_place, pair_block, row_in
from articulon.forces.contact.contact_tables import PLACES, RING
from articulon.forces.contact.written_marks import is_marked, mark
from articulon.forces.sites.cells import IMAGES
from articulon.forces.sites.prefetching import LINE, prefetch
from articulon.integrate.grain_columns import (
    GRAIN,
    GRAIN_ACCELERATION,
    GRAIN_PARTIAL,
    GRAIN_REQUEST,
    GRAIN_ROW,
    GROUP,
    LINES,
)
from articulon.integrate.grain_groups import copy
from articulon.integrate.grain_moves import (
    clear_displacements,
    drift_group,
    kick_group,
    note_ways,
    put_velocities,
    take_velocities,
)
from articulon.integrate.grain_passes import PASS
from articulon.kernel_variants import leaf_variant, part, specialised
from articulon.kernels import jit, prepare, routine

PAIR_BLOCK: Any = pair_block
"""Placeholder for the function that processes the pairs of a block."""


@jit
def ask_ahead(candidates, walls, row, group):
    """Prefetch the data that the moves of a group of grains need and that have left the cache since the last step."""
    first = group * GRAIN_ROW.width * GROUP
    for k in range(first, min(first + GRAIN_ROW.width * GROUP, row.size), LINE // 8):
        prefetch(row, k)
    behind = min((group + 1) * GROUP, walls.start.size - 1)
    prefetch(candidates.across, behind)
    prefetch(walls.start, behind)


@routine
def move_block(spheres, candidates, walls, grains, ring, first, last, columns, rows, partial):
    """Apply the kick and the drift that ``request`` requests to some grains. The request is read here, so that kick and
    drift are compiled once, whether they come together or not: two copies could round differently."""
    request, accelerations, row, size = (
        grains.request,
        grains.acceleration,
        grains.row,
        GRAIN_ACCELERATION.width * GROUP,
    )
    kicks, drifts, h, place = (
        request[GRAIN_REQUEST.kicks] > 0.0,
        request[GRAIN_REQUEST.drifts] > 0.0,
        request[GRAIN_REQUEST.drifts],
        grains.place,
    )
    if kicks:
        for line in range(GRAIN_PARTIAL.finite, GRAIN_PARTIAL.due + LINES):
            partial[line] = 0.0
    if drifts:
        partial[GRAIN_PARTIAL.displacement] = 0.0
        clear_displacements(columns)
    for begin in range(first, last, GROUP):
        count, group = min(GROUP, last - begin), begin // GROUP
        ask_ahead(candidates, walls, row, group + 1)
        copy(row, group * GRAIN_ROW.width * GROUP, columns, GRAIN.turn * GROUP, GRAIN_ROW.width * GROUP)
        take_velocities(spheres.motion, columns, rows, begin, count)
        if kicks:
            load, done, due = row_in(ring, begin), request[GRAIN_REQUEST.done_time], request[GRAIN_REQUEST.due_time]
            if candidates.across[begin + count] > candidates.across[begin]:
                for k in range(count):
                    add_across(candidates, spheres.load, begin + k, load + k)
            drag, gravity = grains.drag, grains.gravity
            kick_group(spheres, walls, drag, gravity, columns, rows, begin, count, load, done, due, partial)
        if kicks and not drifts:
            copy(columns, GRAIN.acceleration * GROUP, accelerations, group * size, size)
        if drifts and not kicks:
            copy(accelerations, group * size, columns, GRAIN.acceleration * GROUP, size)
        if drifts:
            drift_group(spheres, row, place, grains.middle, columns, rows, group, begin, count, h, partial)
        put_velocities(spheres.motion, columns, rows, begin, count)
    if drifts and partial[GRAIN_PARTIAL.displacement] == 0.0:
        note_ways(columns, partial)


@jit
def first_strip(strips, group, groups):
    """The first strip of a group, whose strips a thread takes in order."""
    return group * strips // groups


@jit
def strip_in_turn(begin, end, k, leads):
    """The k-th strip that the thread of a group takes, of those from ``begin`` up to ``end``: in order, but the last
    one first if another thread waits for it."""
    if not leads:
        return begin + k
    return end - 1 if k == 0 else begin + k - 1


@jit
def waits(candidates, b):
    """Whether a block has to wait for contacts in earlier strips."""
    waiting = False
    for s in range(candidates.earliest[b], candidates.belongs[b]):
        waiting = waiting or not is_marked(candidates.done, s)
    return waiting


@jit
def ring_of(spheres, request, group):
    """The ring of a group of strips. If contacts are evaluated without kicks, each place has its own row."""
    if request[GRAIN_REQUEST.touches] > 0.0 and request[GRAIN_REQUEST.kicks] > 0.0:
        return spheres.load.shape[0] - RING * (group + 1), RING - 1
    return BY_PLACE


@jit
def park(load, ring, first, last):
    """Move the rows of some places from a ring to the rows of these places, where they can wait."""
    if is_by_place(ring):
        return
    for p in range(first, last):
        row = row_in(ring, p)
        for c in range(LOAD.width):
            load[p, c] = load[row, c]
            load[row, c] = 0.0


@jit
def sweep_group(order, spheres, candidates, table, walls, grains, group, groups, late, batch, slots, rows, columns):
    """Evaluate the contacts of a group of strips and move those of its blocks that do not have to wait; or, if
    ``late``, move a share of the blocks that had to wait. The same code moves them in both cases: two copies could
    round differently, and which blocks have to wait depends on the threads."""
    n, request, strip, statistics, partial = (
        spheres.radius.shape[0],
        grains.request,
        candidates.strip,
        candidates.block,
        grains.partial,
    )
    time, h, whole, touches = (
        request[GRAIN_REQUEST.time],
        request[GRAIN_REQUEST.lasts],
        request[GRAIN_REQUEST.records] > 0.0,
        request[GRAIN_REQUEST.touches] > 0.0 and not late,
    )
    strips = strip.shape[0] - 1
    from_strip, to_strip = first_strip(strips, group, groups), first_strip(strips, group + 1, groups)
    leads, ring = touches and group < groups - 1, BY_PLACE if late else ring_of(spheres, request, group)
    for k in range(1 if late else to_strip - from_strip):
        s = strip_in_turn(from_strip, to_strip, k, leads)
        begin, end, stride = (group, partial.shape[0], groups) if late else (strip[s], strip[s + 1], 1)
        for b in range(begin, end, stride):
            if late and candidates.late[b] == 0:
                continue
            first = PLACES * b
            last = min(first + PLACES, n)
            if touches:
                PAIR_BLOCK(
                    order,
                    spheres,
                    candidates,
                    table,
                    ring,
                    first,
                    last,
                    time,
                    h,
                    whole,
                    batch,
                    slots,
                    rows,
                    statistics[b],
                )
            if touches and waits(candidates, b):
                park(spheres.load, ring, first, last)
                candidates.late[b] = 1
            else:
                move_block(spheres, candidates, walls, grains, ring, first, last, columns, rows, partial[b])
                candidates.late[b] = 0
        if touches:
            mark(candidates.done, s)


def sweep_all(order, particles, spheres, candidates, table, walls, grains):
    """Sweep over all strips, the blocks that had to wait, and images. Parallel loops cannot take tuples of tuples."""
    groups = min(max(np.int64(grains.request[GRAIN_REQUEST.threads]), 1), candidates.strip.shape[0] - 1)
    for s in range(candidates.done.shape[0]):
        candidates.done[s] = 0
    for turn in range(2 if groups > 1 and grains.request[GRAIN_REQUEST.touches] > 0.0 else 1):
        for g in prange(groups):
            batch, slots, rows = (
                np.zeros(BATCH.width * STRIDE),
                np.zeros(2 * LANES, np.uint64),
                np.zeros(ROWS, np.uint64),
            )
            columns, group, many, late = np.zeros(GRAIN.width * GROUP), np.int64(g), np.int64(groups), turn == 1
            sweep_group(
                order, spheres, candidates, table, walls, grains, group, many, late, batch, slots, rows, columns
            )
    images = particles.counts[IMAGES] if grains.request[GRAIN_REQUEST.drifts] > 0.0 else 0
    for b in prange((images + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        follow_images(particles, spheres.motion, first, min(first + PLACES, images))


SHARE: Any = None
"""Placeholder for the compiled ``sweep_all``."""


def sweep(system, grains):
    """Carry out what ``request`` requests, for all grains."""
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
    """The sweep with a given leaf function for the pairs of a block, shared among threads or not."""
    how = f"{name}_{'parallel' if parallel else 'serial'}"
    group = leaf_variant(sweep_group, f"sweep_group_{name}", PAIR_BLOCK=block)
    share = part(sweep_all, f"share_sweep_{how}", parallel, sweep_group=group)
    return prepare(specialised(sweep, f"sweep_{how}", allocates=True, called="value", SHARE=share), PASS)
