"""Resting contacts within friction-implicit steps: every part of a step leads from closed gaps to closed gaps.

A kick and a step of friction change the speeds at fixed coordinates, with impulses along the normals that leave J u
unchanged; for friction these act on M + h/2 D. A drift step is that of RATTLE, as for loops
(``friction_implicit_loops.py``): impulses at its start bring its end onto closed gaps, impulses at the end make J u =
0. The sum of a contact's impulses tells whether it has pressed or pulled.
"""

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.impacts.impact_geometry import contact_gap, sphere_states
from articulon.forces.impacts.pressing import press_rows, product, solve_pivoted
from articulon.integrate.status import DIVERGED, REACHED
from articulon.kernels import jit, routine
from articulon.model.state import CONTACT
from articulon.passes import pass_of, run

MOST_IMPULSES = 60
"""Most iterations for the impulses of a drift."""
CLOSED = 4.0 * float(np.finfo(np.float64).eps)
"""Gap, relative to the size of the numbers whose difference it is, below which a contact is closed."""
OPEN = 1e-9
"""Gap, relative in the same sense, above which a drift step has not reached closed gaps."""


@pass_of
def find_held_rows(r, table, p, q):
    """Compute the rows of the resting contacts at coordinates q (nq,), with the inertias of ``r``."""
    if p.total[0] > 0:
        copy_into(r.q, q)
        press_rows(r, table, p)


@routine
def solve_held(p):
    """Compute the impulses of the resting contacts that change their normal velocities by ``p.right``, into
    ``p.right``."""
    count = p.total[0]
    for i in range(count):
        for j in range(count):
            p.matrix[i, j] = product(p.row, 3 * i, p.jump[3 * j])
    solve_pivoted(p.matrix, p.right, p.order, count)


@jit
def add_jumps(p, change):
    """Add the changes of speeds, or accelerations, (nu,) by the impulses ``p.right``."""
    for k in range(p.total[0]):
        for i in range(change.size):
            change[i] += p.right[k] * p.jump[3 * k, i]


@pass_of
def hold(p, udot, span):
    """Add to accelerations the terms that keep J u' = 0, and accumulate the impulses over a time ``span`` (1,)."""
    count = p.total[0]
    if count == 0:
        return
    for k in range(count):
        p.right[k] = -product(p.row, 3 * k, udot)
    solve_held(p)
    add_jumps(p, udot)
    for k in range(count):
        p.force[k, 0] += span[0] * p.right[k]


@jit
def largest_gap(r, table, p, q):
    """Compute the gaps of the resting contacts at q into ``p.slip``; return the largest, relative to the size of its
    terms."""
    copy_into(r.q, q)
    run(r.place)
    sphere_states(table, r.ws, p.x, p.v)
    worst = 0.0
    for k in range(p.total[0]):
        gap, _, size = contact_gap(table, p.x, q, p.contact[k, 0], p.contact[k, 1])
        p.slip[k, 0] = gap
        # NaN counts as larger than any number.
        if not abs(gap) <= worst * size:
            worst = abs(gap) / size
    return worst


@pass_of
def drift_held(r, table, p, q, u, start, span, work, status, placing, moving, travelling):
    """A drift over a time ``span`` (1,) on closed gaps, from links whose poses and velocities are known;
    ``travelling`` is the drift without resting contacts, ``start`` (2, nq + nu) is scratch."""
    count = p.total[0]
    if count == 0:
        run(travelling)
        return
    q0, u0 = start[0, : q.size], start[1, : u.size]
    copy_into(q0, q)
    copy_into(u0, u)
    copy_into(r.q, q)
    press_rows(r, table, p)
    for k in range(count):
        p.gamma[k] = 0.0
    before = np.inf
    for turn in range(MOST_IMPULSES + 1):
        run(travelling)
        if status[0] != REACHED:
            return
        error = largest_gap(r, table, p, q)
        if error <= CLOSED or turn == MOST_IMPULSES or (error < OPEN and not error < 0.5 * before):
            break
        before = error
        for k in range(count):
            p.right[k] = -p.slip[k, 0] / span[0]
        solve_held(p)
        for k in range(count):
            p.gamma[k] += p.right[k]
            p.right[k] = p.gamma[k]
        copy_into(q, q0)
        copy_into(u, u0)
        add_jumps(p, u)
        run(placing)
        run(moving)
    if not error <= OPEN:
        status[0] = DIVERGED
        return
    for k in range(count):
        own = 0.0
        for j in range(count):
            own += product(p.row, 3 * k, p.jump[3 * j]) * p.gamma[j]
        work[CONTACT] += p.gamma[k] * (product(p.row, 3 * k, u0) + 0.5 * own)
        p.force[k, 0] += p.gamma[k]
    copy_into(r.q, q)
    press_rows(r, table, p)
    for k in range(count):
        p.slip[k, 0] = product(p.row, 3 * k, u)
        p.right[k] = -p.slip[k, 0]
    solve_held(p)
    add_jumps(p, u)
    for k in range(count):
        work[CONTACT] += 0.5 * p.right[k] * p.slip[k, 0]
        p.force[k, 0] += p.right[k]
