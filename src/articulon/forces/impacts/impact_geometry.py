"""Gaps of spheres and stops, and the time at which they first close within a step.

Within a step each centre follows the cubic defined by its positions and velocities at the two ends, up to a deviation
that is bounded for bodies that rotate (``path_departures.py``). The search uses bounds of the velocity and curvature of
that cubic, so that it misses no contact at any speed of the spheres. It finds which two objects meet and approximately
when, or it reports that only a shorter step can tell. The integrator's own steps then determine the exact time.
"""

import math

import numpy as np

from articulon.algebra.vectors import add, apply, cross, dot, load, load_from, load_matrix, scale, store, sub
from articulon.forces.contact.wall_motion import place_walls, rotation_of
from articulon.forces.contact.wall_shapes import INSIDE, MESH, PLANE, triangle_gap
from articulon.forces.contact.wall_touching import in_wall_frame, smooth_gap
from articulon.forces.impacts.impact_tables import STOP, TOUCH
from articulon.forces.impacts.path_departures import (
    CUBIC,
    counted,
    cubic_departures,
    departure_at,
    departure_bounds,
)
from articulon.forces.sites.nearest_images import minimum_image
from articulon.kernels import jit, kernel, routine

DEEPEST = 24
"""Largest number of bisections of a step in the search for a contact."""
MOST_LOOKS = 4096
"""Largest number of parts of a step that are examined; two bodies that move side by side for a long time without
touching need many."""
NONE, UNSURE = 2.0, -1.0
"""Values in place of the fraction of a step: no contact closes; only a shorter step can tell whether a contact
closes."""


@kernel
def set_walls(walls):
    """Place walls that do not move."""
    place_walls(walls, 0.0)


@jit
def norm(v):
    return math.sqrt(dot(v, v))


@jit
def sphere_states(table, ws, x, v):
    """Compute the centres (spheres, 3) of the spheres and their velocities, for links whose poses and velocities are
    computed."""
    for s in range(table.link.size):
        i, at, speed = table.link[s], load(table.local, s), (0.0, 0.0, 0.0)
        if i >= 0:
            arm = apply(load_matrix(ws.rotation, i), at)
            at = add(load(ws.position, i), arm)
            speed = add(load_from(ws.twist, i, 0), cross(load_from(ws.twist, i, 3), arm))
        store(x, s, at)
        store(v, s, speed)


@jit
def between(table, xa, xb):
    """Nearest image of xa minus xb."""
    d = sub(xa, xb)
    return minimum_image(table.cell, d[0], d[1], d[2])


@routine
def wall_gap(table, feature, x):
    """Distance of a point from a wall feature, and the unit vector from the feature to the point."""
    w = table.wall_of[feature]
    walls = table.walls
    if walls.shape[w] != MESH:
        return smooth_gap(walls, w, x)
    triangle = feature - walls.feature[w] + walls.triangle[w]
    gap, n, _ = triangle_gap(walls.corners, triangle, in_wall_frame(walls, w, x))
    return gap, apply(rotation_of(walls.pose, w), n)


@jit
def reach_of(table, a, b):
    """Distance between the centres of two spheres that touch: the sum of their radii, or the size of the pair's
    core."""
    core = table.core_size[table.core[a], table.core[b]]
    return core if core > 0.0 else table.radius[a] + table.radius[b]


@jit
def spheres_apart(table, a, b, d):
    """Gap of two spheres whose centres are d apart, and the unit vector along d."""
    r = norm(d)
    n = scale(1.0 / r, d) if r > 0.0 else (0.0, 0.0, 1.0)
    return r - reach_of(table, a, b), n


@jit
def all_contacts(table):
    """Return the number of all possible contacts, see :func:`contact_number`."""
    return table.pair.shape[0] + table.walled[0] * table.wall_of.size + table.stop_speed.size


@routine
def contact_gap(table, x, q, a, b):
    """Gap, unit vector from the second to the first, and size of the terms whose difference is the gap."""
    if a == STOP:
        bound, side, at = table.stop[b, 0], table.stop[b, 1], q[table.stop_coordinate[b]]
        return side * (at - bound), (0.0, 0.0, 0.0), table.stop[b, 4]
    xa, spheres = load(x, a), table.link.size
    size = table.radius[a] + abs(xa[0]) + abs(xa[1]) + abs(xa[2])
    if b < spheres:
        gap, n = spheres_apart(table, a, b, between(table, xa, load(x, b)))
        return gap, n, size + reach_of(table, a, b) - table.radius[a]
    gap, n = wall_gap(table, b - spheres, xa)
    return gap - table.radius[a], n, size


@kernel
def touching(table, x, q, found):
    """Write the contacts that are closed, up to rounding, into ``found`` (capacity, 2). Return their number, which may
    exceed the capacity."""
    count = 0
    for k in range(all_contacts(table)):
        a, b = contact_number(table, k)
        gap, _, size = contact_gap(table, x, q, a, b)
        if gap <= TOUCH * size:
            if count < found.shape[0]:
                found[count, 0], found[count, 1] = a, b
            count += 1
    return count


@jit
def contact_number(table, k):
    """The k-th of all possible contacts: pairs of spheres, then spheres and wall features, then stops."""
    pairs, features = table.pair.shape[0], table.wall_of.size
    spheres = table.link.size
    if k < pairs:
        return table.pair[k, 0], table.pair[k, 1]
    k -= pairs
    if k < table.walled[0] * features:
        return k // features, spheres + k % features
    return STOP, k - table.walled[0] * features


@kernel
def gaps_of(table, x, q, contacts, gaps):
    """Write the gaps of some contacts (n, 2), and their sizes, into ``gaps`` (n, 2)."""
    for k in range(contacts.shape[0]):
        gaps[k, 0], _, gaps[k, 1] = contact_gap(table, x, q, contacts[k, 0], contacts[k, 1])


@kernel
def deepest_overlap(table, x, q, skipped, found):
    """Largest overlap of all contacts except those in ``skipped`` (n, 2), relative to the size that determines the
    rounding of its gap; the contact is written into ``found`` (2,)."""
    worst = 0.0
    for k in range(all_contacts(table)):
        a, b = contact_number(table, k)
        gap, _, size = contact_gap(table, x, q, a, b)
        if -gap > worst * size and not is_among(skipped, a, b):
            worst, found[0], found[1] = -gap / size, a, b
    return worst


@jit
def cubic(p0, p1, p2, p3, s):
    """Evaluate a Bézier cubic and its derivative at s in [0, 1]."""
    r = 1.0 - s
    value = add(add(scale(r * r * r, p0), scale(3.0 * r * r * s, p1)), add(scale(3.0 * r * s * s, p2), scale(s**3, p3)))
    rate = add(add(scale(3.0 * r * r, sub(p1, p0)), scale(6.0 * r * s, sub(p2, p1))), scale(3.0 * s * s, sub(p3, p2)))
    return value, rate


@routine
def gap_on_path(table, a, b, path, s):
    """Gap at a fraction s of the step, and its derivative with respect to s. ``path`` is the cubic of the moving
    quantity: the vector between two centres, a centre, or, in the first component, a coordinate."""
    at, rate = cubic(path[0], path[1], path[2], path[3], s)
    if a == STOP:
        return table.stop[b, 1] * (at[0] - table.stop[b, 0]), table.stop[b, 1] * rate[0]
    spheres = table.link.size
    if b < spheres:
        gap, n = spheres_apart(table, a, b, at)
        return gap, dot(n, rate)
    gap, n = wall_gap(table, b - spheres, at)
    return gap - table.radius[a], dot(n, rate)


@jit
def path_bounds(table, a, b, path):
    """Bounds of the rate of change of the gap along the path, and of its second derivative."""
    fastest = 3.0 * max(norm(sub(path[1], path[0])), norm(sub(path[2], path[1])), norm(sub(path[3], path[2])))
    first = add(sub(path[2], scale(2.0, path[1])), path[0])
    last = add(sub(path[3], scale(2.0, path[2])), path[1])
    bend = 6.0 * max(norm(first), norm(last))
    spheres = table.link.size
    if a == STOP:
        return fastest, bend
    if b < spheres:  # the centres stay apart by at least the sum of the radii until the two meet
        return fastest, bend + fastest * fastest / reach_of(table, a, b)
    w = table.wall_of[b - spheres]
    if table.walls.shape[w] == PLANE or table.walls.shape[w] == INSIDE:
        return fastest, bend
    round_ = table.radius[a] if table.walls.shape[w] == MESH else table.walls.constants[w, 3]
    return fastest, bend + fastest * fastest / round_


@jit
def least_gap(table, a, b, path, order, departure, s):
    """The smallest possible gap at a fraction s of the step, and its derivative with respect to s. The true path
    deviates from the path of the given order by at most ``departure``."""
    gap, rate = gap_on_path(table, a, b, path, s)
    off, slope = departure_at(order, departure, s)
    return gap - off, rate - slope


@routine
def first_meeting(table, a, b, path, size, order, departure, until):
    """Fraction of the step at which the gap of a path can first close, at most ``until``; 2 if it does not.

    A part of the step is skipped if no path within the bounds can close the gap there by more than rounding. This is so
    if the gap at the ends of the part is larger than its largest possible change, or than the largest possible dip
    between the ends.
    """
    fastest, bend = path_bounds(table, a, b, path)
    off = departure_bounds(order, departure)
    fastest, bend = fastest + off[0], bend + off[1]
    least = -0.5 * TOUCH * size
    level, k, looks = 0, 0, 0
    while looks < MOST_LOOKS:
        looks += 1
        width = 1.0 / (1 << level)
        low, high = k * width, (k + 1) * width
        if low >= until:
            return NONE
        g0, _ = least_gap(table, a, b, path, order, departure, low)
        g1, rate = least_gap(table, a, b, path, order, departure, high)
        clear = 0.5 * (g0 + g1 - fastest * width) > least or min(g0, g1) - 0.125 * bend * width * width > least
        if not clear and level < DEEPEST:
            level, k = level + 1, 2 * k
            continue
        if not clear and g1 < 0.0 and rate < 0.0:
            return high
        k += 1
        while level > 0 and k % 2 == 0:
            level, k = level - 1, k // 2
        if level == 0 and k == 1:
            return NONE
    g1, rate = gap_on_path(table, a, b, path, 1.0)
    return 1.0 if g1 < least and rate < 0.0 else NONE


@jit
def control_points(x0, v0, x1, v1, h):
    """Control points of the cubic with given ends and velocities over a time h."""
    return x0, add(x0, scale(h / 3.0, v0)), sub(x1, scale(h / 3.0, v1)), x1


@kernel
def first_event(table, forest, skipped, start, end, h, links, spheres, found):
    """Call :func:`find_first_event` on cubics. ``start`` and ``end`` are the fields of ``Spheres`` at the two ends;
    ``links`` (3, links) and ``spheres`` (2, spheres) are scratch."""
    cubic_departures(table, forest, start[4:], end[4:], h, links, spheres[0])
    return find_first_event(table, skipped, start[:4], end[:4], h, CUBIC, spheres[0], spheres[1], found)


@jit
def shortest_flight(cell):
    """The smallest relative displacement after which a centre can meet an image other than the nearest one: half the
    smallest width of a periodic box."""
    half = np.inf
    for k in range(3):
        if cell.periodic[k] != 0:
            face = (cell.inverse[0, k], cell.inverse[1, k], cell.inverse[2, k])
            half = min(half, 0.5 / norm(face))
    return half


@routine
def find_first_event(table, skipped, start, end, h, order, departures, extents, found):
    """Find the contact that closes first in a step of length h, and write it into ``found`` (2,). Return the
    approximate fraction of the step at which it closes, 2 if none does, or −1 if only a shorter step can tell.

    ``start`` and ``end`` are (x, v, q, u) at the two ends; ``skipped`` (n, 2) are contacts to ignore; ``departures``
    (spheres,) are bounds on the deviations of spheres from paths of the given order; ``extents`` (spheres,) is scratch.
    """
    x0, v0, q0, u0 = start
    x1, v1, q1, u1 = end
    spheres, best, sure = table.link.size, NONE, True
    half = shortest_flight(table.cell)
    for s in range(spheres):
        p = control_points(load(x0, s), load(v0, s), load(x1, s), load(v1, s), h)
        hull = max(norm(sub(p[1], p[0])), norm(sub(p[2], p[0])), norm(sub(p[3], p[0])))
        extents[s] = hull + departures[s]
    for k in range(all_contacts(table)):
        a, b = contact_number(table, k)
        departure = 0.0
        if a == STOP:
            i, j = table.stop_coordinate[b], table.stop_speed[b]
            path = control_points((q0[i], 0.0, 0.0), (u0[j], 0.0, 0.0), (q1[i], 0.0, 0.0), (u1[j], 0.0, 0.0), h)
            size = table.stop[b, 4]
        elif b < spheres:
            xa, xb = load(x0, a), load(x0, b)
            d = between(table, xa, xb)
            reach, flight = reach_of(table, a, b), extents[a] + extents[b]
            # The sphere may meet an image other than the one that is nearest at the start.
            far = flight > max(half - reach, 0.25 * half)
            if not far and dot(d, d) > (reach * (1.0 + 2.0 * TOUCH) + flight) ** 2:
                continue
            if far and not is_among(skipped, a, b):
                found[0], found[1] = a, b
                return UNSURE
            gone = add(d, sub(sub(load(x1, a), xa), sub(load(x1, b), xb)))
            path = control_points(d, sub(load(v0, a), load(v0, b)), gone, sub(load(v1, a), load(v1, b)), h)
            size = reach + abs(xa[0]) + abs(xa[1]) + abs(xa[2])
            departure = counted(order, departures[a] + departures[b], reach)
        else:
            xa = load(x0, a)
            gap, _ = wall_gap(table, b - spheres, xa)
            if gap > table.radius[a] * (1.0 + 2.0 * TOUCH) + extents[a]:
                continue
            path = control_points(xa, load(v0, a), load(x1, a), load(v1, a), h)
            size = table.radius[a] + abs(xa[0]) + abs(xa[1]) + abs(xa[2])
            departure = counted(order, departures[a], table.radius[a])
        if is_among(skipped, a, b):
            continue
        when = first_meeting(table, a, b, path, size, order, departure, best)
        if when < best:
            best, sure, found[0], found[1] = when, departure == 0.0, a, b
    return best if sure else UNSURE


@jit
def is_among(contacts, a, b):
    """Whether a contact is in a list (n, 2)."""
    found = False
    for k in range(contacts.shape[0]):
        found = found or (contacts[k, 0] == a and contacts[k, 1] == b)
    return found


def no_contacts() -> np.ndarray:
    """An empty list of contacts, shape (0, 2)."""
    return np.zeros((0, 2), dtype=np.int64)
