"""Adjoint and tangent of the site forces of ``site-pairs``, as sums over pairs.

With V and V' the virtual velocities of the two sites of a pair, forces g d have the virtual power P = Σ g d·(V − V')
over pairs. The derivative of P with respect to the position of the first site is K (V − V'), with K = ∂(g d)/∂d
(``site_pair_law.py``); with respect to that of the second it is the opposite. Each moving site sums over its own
partners, as for the forces.
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
    store_from,
    sub,
)
from articulon.forces.point_springs import arm_of, end_changes, motion_of, place_of, pull_change
from articulon.forces.site_pair_law import pair_change, site_law, site_law_by_parameters
from articulon.kernels import jit
from articulon.passes import pass_of


@jit
def column(array, s):
    return (array[0, s], array[1, s], array[2, s])


@jit
def store_column(array, s, a):
    array[0, s], array[1, s], array[2, s] = a[0], a[1], a[2]


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
            A, B, C = pairs.law[run, 0], pairs.law[run, 1], pairs.law[run, 2]
            by_A, by_B, by_C = 0.0, 0.0, 0.0
            stands = pairs.low[run] >= moving
            for p in range(pairs.low[run], pairs.high[run]):
                d = sub(x, column(place, p))
                r2, power = dot(d, d), dot(d, V)
                _, g, L = site_law(r2, A, B, C)
                a, b, c = site_law_by_parameters(r2)
                by_A, by_B, by_C = by_A + a * power, by_B + b * power, by_C + c * power
                change = pair_change(g, L, d, sub(V, column(velocity, p)))
                force, by_x = add(force, scale(g, d)), add(by_x, change)
                if stands:
                    store_column(gradient.place, p, sub(column(gradient.place, p), change))
            gradient.law[run, 0] += by_A
            gradient.law[run, 1] += by_B
            gradient.law[run, 2] += by_C
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
