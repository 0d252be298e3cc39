"""Adjoint and tangent of the site forces of ``site-pairs``, as sums over pairs.

With V and V' the virtual velocities of the two sites of a pair, forces g d have the virtual power P = Σ g d·(V − V')
over pairs. The derivative of P with respect to the position of the first site is K (V − V'), with K = ∂(g d)/∂d
(``site_pair_law.py``); with respect to that of the second it is the opposite. Each moving site sums over its own
partners, as for the forces.

The adjoint also writes to the fixed partners. The compiler does not vectorise a loop with such stores, so the adjoint
takes four partners at a time in lanes. Wider registers need proportionally more time for a quotient or a root.
"""

from articulon.algebra.vectors import (
    ZERO,
    add,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    scale,
    store,
    store_from,
    sub,
)
from articulon.forces.point_springs import arm_of, end_changes, motion_of, place_of, pull_change
from articulon.forces.site_pair_law import pair_change, site_law, site_law_by_parameters
from articulon.kernels import jit
from articulon.lane_registers import in_all, load_run, store_run, total
from articulon.passes import pass_of

LANES = 4
"""Partners that the adjoint takes at a time."""


@jit
def column(array, s):
    return (array[0, s], array[1, s], array[2, s])


@jit
def store_column(array, s, a):
    array[0, s], array[1, s], array[2, s] = a[0], a[1], a[2]


@jit
def column_run(like, array, s):
    """Return consecutive columns from s on, in lanes."""
    return (load_run(like, array[0], s), load_run(like, array[1], s), load_run(like, array[2], s))


@jit
def store_column_run(array, s, a):
    store_run(array[0], s, a[0])
    store_run(array[1], s, a[1])
    store_run(array[2], s, a[2])


@jit
def totals(a):
    return (total(a[0]), total(a[1]), total(a[2]))


@jit
def partner_adjoint(law, x, V, place, velocity, sums):
    """Add the terms of one partner to the sums of a site: the force, and the derivatives of the power with respect to
    the position of the site and to A, B and C. Return these sums and K (V − V'). Partners may be in lanes."""
    d = sub(x, place)
    r2, power = dot(d, d), dot(d, V)
    _, g, L = site_law(r2, law[0], law[1], law[2])
    change = pair_change(g, L, d, sub(V, velocity))
    by_law = scale(power, site_law_by_parameters(r2))
    return (add(sums[0], scale(g, d)), add(sums[1], change), add(sums[2], by_law)), change


@jit
def run_adjoint(low, high, fixed, law, x, V, place, velocity, by_fixed):
    """Return the sums of ``partner_adjoint`` over a run of partners; subtract K (V − V') from ``by_fixed`` (3, sites)
    where the partners are fixed."""
    none = in_all(0.0, LANES)
    start = (none, none, none)
    lanes = (start, start, start)
    whole = high - (high - low) % LANES
    for p in range(low, whole, LANES):
        at, moved = column_run(none, place, p), column_run(none, velocity, p)
        lanes, change = partner_adjoint(law, x, V, at, moved, lanes)
        if fixed:
            store_column_run(by_fixed, p, sub(column_run(none, by_fixed, p), change))
    sums = (totals(lanes[0]), totals(lanes[1]), totals(lanes[2]))
    for p in range(whole, high):
        sums, change = partner_adjoint(law, x, V, column(place, p), column(velocity, p), sums)
        if fixed:
            store_column(by_fixed, p, sub(column(by_fixed, p), change))
    return sums


@pass_of
def pair_adjoint(pairs, gradient, ws, motion, velocity, by_place):
    """Add the derivatives of Σ F·V with respect to displacements of links (links, 6) and to the numbers of the table;
    ``velocity`` (3, sites) is scratch for V, zero for fixed sites."""
    links, place, moving = pairs.link, pairs.place, pairs.link.size
    for s in range(moving):
        i = links[s]
        store_column(place, s, place_of(i, arm_of(i, load(pairs.local, s), ws), ws))
        store_column(velocity, s, motion_of(i, sub(column(place, s), load(ws.position, i)), motion)[0])
    for s in range(moving):
        x, V, force, by_x = column(place, s), column(velocity, s), ZERO, ZERO
        for run in range(pairs.start[s], pairs.start[s + 1]):
            low, high, law = pairs.low[run], pairs.high[run], load(pairs.law, run)
            given = law, x, V, place, velocity, gradient.place
            pull, change, by_law = run_adjoint(low, high, low >= moving, *given)
            force, by_x = add(force, pull), add(by_x, change)
            store(gradient.law, run, add(load(gradient.law, run), by_law))
        i = links[s]
        arm = sub(x, load(ws.position, i))
        by_arm = add(by_x, cross(force, load_from(motion, i, 0)))
        store_from(by_place, i, 0, add(load_from(by_place, i, 0), by_x))
        store_from(by_place, i, 3, add(load_from(by_place, i, 3), cross(arm, by_arm)))
        local = apply_t(load_matrix(ws.rotation, i), by_arm)
        store_from(gradient.local, s, 0, add(load(gradient.local, s), local))


@pass_of
def pair_tangent(pairs, change, ws, moved, twist, shift, wrench):
    """Add the changes of the forces to the wrenches (links, 6); ``shift`` (3, sites) is scratch for the displacements
    of the sites."""
    links, place, moving = pairs.link, pairs.place, pairs.link.size
    for s in range(place.shape[1]):
        if s < moving:
            i = links[s]
            arm = arm_of(i, load(pairs.local, s), ws)
            store_column(place, s, place_of(i, arm, ws))
            store_column(shift, s, end_changes(i, arm, load(change.local, s), ws, moved, twist)[1])
        else:
            store_column(shift, s, column(change.place, s))
    for s in range(moving):
        x, dx, force, changed = column(place, s), column(shift, s), ZERO, ZERO
        for run in range(pairs.start[s], pairs.start[s + 1]):
            A, B, C = pairs.law[run, 0], pairs.law[run, 1], pairs.law[run, 2]
            for p in range(pairs.low[run], pairs.high[run]):
                d = sub(x, column(place, p))
                r2 = dot(d, d)
                _, g, L = site_law(r2, A, B, C)
                a, b, c = site_law_by_parameters(r2)
                dg = a * change.law[run, 0] + b * change.law[run, 1] + c * change.law[run, 2]
                found = pair_change(g, L, d, sub(dx, column(shift, p)))
                force, changed = add(force, scale(g, d)), add(changed, add(found, scale(dg, d)))
        i = links[s]
        arm = arm_of(i, load(pairs.local, s), ws)
        arms, _, _ = end_changes(i, arm, load(change.local, s), ws, moved, twist)
        pull_change(wrench, i, arm, arms, force, changed)
