"""Solution of the stages of partitioned schemes, by iteration until only rounding changes them.

Stages that depend on each other form a group, and groups are solved one after the other: the first stage of the Lobatto
pair of two stages is solved before the second is begun. A sweep evaluates the stages of a group one after the other,
each with the latest rates of all stages. Plain iteration continues from the result of a sweep. If that converges slowly
or not at all, accelerated iteration mixes it with the results of earlier sweeps (``stage_acceleration``); the limit is
the same. If accelerated iteration fails for a group, plain iteration is tried.
"""

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.integrate.stage_acceleration import DEPTH, are_others, find_places, mix_sweeps, note_stage
from articulon.integrate.status import DIVERGED, NOT_CONVERGED, REACHED
from articulon.kernels import jit
from articulon.model.state import EVALUATIONS
from articulon.passes import run

ITERATIONS = 100
"""Most sweeps of a group; a step that needs more is too long."""
SETTLED = 1e-11
"""Change of the coordinates, in radians or relative to the largest length, below which a change that no longer falls
counts as rounding."""
NEAR = 1e-8
"""Change of the coordinates at which mixed sweeps are checked: near the solution, and far above rounding."""
STALLS = 2
"""Number of sweeps without a new smallest change that end a settled iteration."""


@jit
def next_stage(pair, i, h, lost, arrays):
    """Set stage i from the known rates; return whether it is finite."""
    q, p, rate_q, rate_p = arrays.q, arrays.p, arrays.rate_q, arrays.rate_p
    nq, total = q.size, 0.0
    for v in range(nq):
        x, y = 0.0, 0.0
        for j in range(pair.b.size):
            x += pair.a[i, j] * rate_q[j, v]
            y += pair.ahat[i, j] * rate_p[j, v]
        x, y = q[v] + (h * x + lost[v]), p[v] + (h * y + lost[nq + v])
        arrays.stage_q[v], arrays.stage_p[v] = x, y
        total += abs(x) + abs(y)
    return total < np.inf


@jit
def keep_rates(i, h, arrays):
    """Accept the latest rates of stage i; return by how much they change the coordinates in a step, in radians or
    relative to the largest length, and infinity if a rate is not finite.

    Changes of momenta need no separate measure: the rates are M⁻¹ p, and changes of momenta that do not move the
    coordinates are rounding.
    """
    q, turning, fresh, rate = arrays.q, arrays.turning, arrays.fresh, arrays.rate_q[i]
    fresh_p, rate_p = arrays.fresh_p, arrays.rate_p[i]
    turn, shift, length, total = 0.0, 0.0, arrays.length[0], 0.0
    for v in range(q.size):
        change = h * abs(fresh[v] - rate[v])
        if turning[v]:
            turn = max(turn, change)
        else:
            shift, length = max(shift, change), max(length, max(abs(q[v]), h * abs(fresh[v])))
        total += abs(fresh[v]) + abs(fresh_p[v])
        rate[v], rate_p[v] = fresh[v], fresh_p[v]
    if not total < np.inf:  # a comparison alone would ignore NaN
        return np.inf
    return max(turn, shift / length if shift > 0.0 else 0.0)


@jit
def solve_stages(passes, factor, time, h, pair, lost, arrays, sweeps, counters):
    """Iterate the stages from the rates at the step's start, which are those of stage 0; return REACHED, NOT_CONVERGED,
    or DIVERGED if a number is not finite."""
    start_q, start_p = sweeps.start[0], sweeps.start[1]
    copy_into(start_q, arrays.rate_q[0])
    copy_into(start_p, arrays.rate_p[0])
    for group in range(pair.group.size - 1):
        first, end = pair.group[group], pair.group[group + 1]
        status = NOT_CONVERGED
        for mixes in (True, False):
            if status == REACHED:
                break
            # The latest solved stage is a better start than the step's start.
            known_q, known_p = start_q, start_p
            if first > 0:
                known_q, known_p = arrays.rate_q[first - 1], arrays.rate_p[first - 1]
            for i in range(first, end):
                copy_into(arrays.rate_q[i], known_q)
                copy_into(arrays.rate_p[i], known_p)
            status = solve_group(passes, factor, time, h, pair, first, end, lost, arrays, sweeps, mixes, counters)
        if status != REACHED:
            return status
    return REACHED


@jit
def solve_group(passes, factor, time, h, pair, first, end, lost, arrays, sweeps, mixes, counters):
    """Iterate the stages from ``first`` to before ``end``, which depend on no later stages; ``mixes`` tells whether a
    slow iteration is accelerated."""
    least, stalls, parts = np.inf, 0, find_places(pair, first, end, sweeps)
    before, earlier, looked = np.inf, np.inf, False
    noted = -1  # number of sweeps stored before this one; sweeps are not stored while they converge fast
    for _ in range(ITERATIONS):
        change = 0.0
        for i in range(first, end):
            # Numbers overflow here only after changes have grown without bound.
            failure = NOT_CONVERGED if stalls > 0 else DIVERGED
            if not next_stage(pair, i, h, lost, arrays):
                return failure
            copy_into(arrays.held, factor)
            arrays.time[0] = time + pair.c[i] * h
            run(passes.field)
            copy_into(arrays.power[i], arrays.channel_power)
            counters[EVALUATIONS] += 1
            if noted >= 0:
                note_stage(noted, i, arrays, sweeps)
            change = max(change, keep_rates(i, h, arrays))
            if change == np.inf:
                return failure
        if change < least:
            least, stalls = change, 0
        else:
            stalls += 1
        if change == 0.0 or (least < SETTLED and stalls >= STALLS):
            return REACHED
        if change < NEAR and noted >= 2 * DEPTH and not looked:  # other solutions are many sweeps away
            looked = True
            if are_others(noted, parts, arrays, sweeps):
                return NOT_CONVERGED
        if noted >= 0:
            mix_sweeps(noted, parts, first, end, arrays, sweeps)
            noted += 1
        elif mixes and change > sweeps.slow[0] ** 2 * earlier and change > SETTLED:
            noted = 0
        before, earlier = change, before
    return NOT_CONVERGED
