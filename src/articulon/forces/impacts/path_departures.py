"""Bounds on the deviations of spheres on rotating bodies from the paths that the search for impacts uses.

The search assumes that a centre moves on a straight line or a cubic between the ends of a step, but on a rotating body
it moves on an arc. Its position is a sum over the links that carry it, x = Σ R r. Here R is the rotation of a link, and
r the offset from its origin to the next joint. While the joints keep their speeds, the nth derivative of R is at most
Ωⁿ, where Ω is the sum of the angular speeds of the joints up to that link. Angular accelerations are taken to be
constant in a step. With e the deviation at a fraction s of a step of length h, the remainders of interpolation are (P.
J. Davis, Interpolation and Approximation, 1963, 3.1 and 3.5)

    line:   |e| ≤ 4 s (1 − s) D,       D = h² max|x''|/8
    cubic:  |e| ≤ 16 s² (1 − s)² D,    D = h⁴ max|x⁗|/384

A gap that is always larger than this bound cannot close. Otherwise the step is halved, which makes D 4 or 16 times
smaller, until D is a small fraction of the distance at which the two objects touch. A path interpolated in the
coordinates would need no shorter steps. But an impact is located by steps of the integrator itself, and an integrator
that rotates a body by radians in one step does not follow such a path. The bound costs a few operations per link, and
steps are shortened only near a contact.
"""

from articulon.algebra.vectors import ZERO, dot, load, load_from, store, sub
from articulon.dynamics.joints import translates
from articulon.kernels import jit

LINE, CUBIC = 2, 4
"""The path that is searched, by the order of the derivative in its remainder."""
FINE_LINE, FINE_CUBIC = 1e-2, 1e-3
"""Deviation that counts as zero, as a fraction of the distance at which two objects touch."""


@jit
def link_motion(parent, ws, angular_velocity, arm):
    """Angular velocity of each link relative to its parent (links, 3), and its origin relative to the origin of its
    parent (links, 3), world axes; the origin is 0 for a link on the ground."""
    for i in range(parent.size):
        p = parent[i]
        for k in range(3):
            angular_velocity[i, k] = ws.twist[i, 3 + k] - (ws.twist[p, 3 + k] if p >= 0 else 0.0)
        store(arm, i, sub(load(ws.position, i), load(ws.position, p)) if p >= 0 else ZERO)


@jit
def derivative_bound(path, turn, change, arm, slide):
    """Bound of hⁿ |dⁿ(R r)/dtⁿ|, n = 2 for a line and 4 for a cubic.

    ``turn`` is h Ω, ``change`` is h² times the angular acceleration, ``arm`` the length of r, ``slide`` its change in
    the step. The factors are those of the powers of ω and ω' in R'' and R⁗, and for r' those in R' and R'''.
    """
    if path == LINE:
        return (turn * turn + change) * arm + 2.0 * turn * slide
    bend = turn * turn
    return (bend * bend + 6.0 * bend * change + 3.0 * change * change) * arm + 4.0 * turn * (
        bend + 3.0 * change
    ) * slide


@jit
def departures(table, forest, path, turn, change, arm0, arm1, depart, found):
    """Write the largest deviation D of each sphere from its path to ``found`` (spheres,).

    ``turn`` and ``change`` (links,) are described in :func:`derivative_bound`; ``arm0`` and ``arm1`` (links, 3) are the
    links' origins relative to their parents' origins at the two ends; ``depart`` (links,) is scratch.
    """
    share = 1.0 / 8.0 if path == LINE else 1.0 / 384.0
    for i in range(depart.size):
        p = forest.parent[i]
        depart[i] = 0.0
        if p >= 0:
            a, b = load(arm0, i), load(arm1, i)
            arm, slide = max(dot(a, a), dot(b, b)) ** 0.5, 0.0
            if translates(forest.kind[i]):
                gone = sub(b, a)
                slide = dot(gone, gone) ** 0.5 + turn[p] * arm  # second term: change by rotation alone
            depart[i] = depart[p] + share * derivative_bound(path, turn[p], change[p], arm, slide)
    for s in range(found.size):
        i = table.link[s]
        found[s] = 0.0
        if i >= 0:
            local = load(table.local, s)
            arm = dot(local, local) ** 0.5
            found[s] = depart[i] + share * derivative_bound(path, turn[i], change[i], arm, 0.0)


@jit
def cubic_departures(table, forest, start, end, h, scratch, found):
    """Write the deviations of all spheres from cubics to ``found`` (spheres,). ``start`` and ``end`` are the motions of
    the links at the two ends, see :func:`link_motion`; ``scratch`` has shape (3, links)."""
    w0, arm0 = start
    w1, arm1 = end
    turn, change = scratch[0], scratch[1]
    for i in range(turn.size):
        p = forest.parent[i]
        a, b = load_from(w0, i, 0), load_from(w1, i, 0)
        d = sub(b, a)
        turn[i] = h * max(dot(a, a), dot(b, b)) ** 0.5 + (turn[p] if p >= 0 else 0.0)
        change[i] = h * dot(d, d) ** 0.5 + (change[p] if p >= 0 else 0.0)
    departures(table, forest, CUBIC, turn, change, arm0, arm1, scratch[2], found)


@jit
def departure_at(path, most, s):
    """Bound of the deviation at a fraction s of the step, and the derivative of the bound with respect to s, if the
    largest deviation is ``most``."""
    w, slope = 4.0 * s * (1.0 - s), 4.0 * (1.0 - 2.0 * s)
    if path == LINE:
        return most * w, most * slope
    return most * w * w, 2.0 * most * w * slope


@jit
def departure_bounds(path, most):
    """Bounds of the first and second derivatives of :func:`departure_at` with respect to s."""
    return 4.0 * most, (8.0 if path == LINE else 32.0) * most


@jit
def counted(path, departure, reach):
    """A deviation, or 0 if it is a small fraction of the distance ``reach`` at which two objects touch."""
    fine = FINE_LINE if path == LINE else FINE_CUBIC
    return departure if departure > fine * reach else 0.0
