"""Friction-implicit steps between impacts: they are taken until a pair meets, a contact pulls or a step is too long.

The path of a sphere in a step is approximated by the straight line between its two ends, because the speeds at the ends
of a step that is long against relaxation times do not describe the path between them. The departure of spheres on
rotating bodies from that line is bounded (``path_departures.py``). A step in which a pair meets or may meet, or the
distance of hard cores changes too much, is undone, and the caller takes shorter steps.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import add, copy_into, dot, load, load_from, scale, store, sub
from articulon.forces.impacts.impact_geometry import (
    UNSURE,
    all_contacts,
    between,
    contact_gap,
    contact_number,
    find_first_event,
    norm,
    sphere_states,
)
from articulon.forces.impacts.impact_tables import STOP
from articulon.forces.impacts.path_departures import LINE, departures, link_motion
from articulon.integrate.friction_implicit import kick, rub
from articulon.integrate.law_inputs import book_unscaled_works
from articulon.integrate.status import REACHED, stop_reached
from articulon.kernels import jit, kernel, routine
from articulon.model import Forest
from articulon.model.state import EVALUATIONS, STEPS
from articulon.passes import run

CLEAR, FAR, MEETS, PULLS, ENDED, BROKEN = range(6)
"""Outcome of a call: all steps taken; or the reason why it ended: a step that is too long; a step in which a pair
meets; a step in which a resting contact pulls; the condition that ends the run; a step that fails by itself."""
FRACTION = 0.2
"""Largest change of the distance of two hard cores in a step, as a fraction of the distance."""
TURN = 0.05
"""Largest angle by which a body may turn in half a step if there are hard cores."""
PULL = 1e-9
"""Fraction of the largest impulse by which a contact may pull within rounding."""


class Ends(NamedTuple):
    """Positions of the spheres at the two ends of a step, and scratch arrays."""

    x0: np.ndarray
    """Centres, shape (spheres, 3)."""
    x1: np.ndarray
    v: np.ndarray
    """Mean velocities, shape (spheres, 3)."""
    w: np.ndarray
    """Velocities at one end, shape (spheres, 3)."""
    q: np.ndarray
    """Coordinates at the start of a step, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    rate: np.ndarray
    """Mean speeds of the coordinates of stops, shape (nu,)."""
    work: np.ndarray
    """Works, shape (8,)."""
    departure: np.ndarray
    """The largest departure of each sphere from its line [length], shape (spheres,)."""
    ways: np.ndarray
    """Scratch, shape (spheres,)."""
    found: np.ndarray
    """The pair that meets, shape (2,)."""
    part: np.ndarray
    """Fraction of the step at which the pair meets, approximately, shape (1,)."""
    twist: np.ndarray
    """Twists of the links in a step, shape (links, 6)."""
    forest: Forest
    turn: np.ndarray
    """Largest squared angular speed of each link's joint in the two drifts of a step; then the sum of the angles by
    which the joints up to each link turn in a step, shape (links,)."""
    still: np.ndarray
    """Zeros, since speeds are constant in a drift, shape (links,)."""
    angular_velocity: np.ndarray
    """Scratch, shape (links, 3)."""
    arm0: np.ndarray
    """Origin of each link relative to its parent's at the start of a step, world axes [length], shape (links, 3)."""
    arm1: np.ndarray
    """Origin of each link relative to its parent's at the end of a step, world axes [length], shape (links, 3)."""
    depart: np.ndarray
    """Scratch, shape (links,)."""
    fastest: np.ndarray
    """The largest angular speed of a link in the drifts of a step, if this speed limits the step, shape (1,)."""
    bounds: np.ndarray
    """``FRACTION`` and ``TURN``, shape (2,)."""
    pull: np.ndarray
    """Fraction of the largest impulse by which a contact may pull, shape (1,)."""
    outcome: np.ndarray
    """Outcome of the latest call (see ``CLEAR``), and the status of the step, shape (2,)."""


def ends_of(spheres: int, nq: int, nu: int, twist: np.ndarray, forest: Forest) -> Ends:
    """Zeroed arrays for a model; ``twist`` (links, 6) holds the links' twists in a step."""
    links = forest.parent.size
    return Ends(
        np.zeros((spheres, 3)),
        np.zeros((spheres, 3)),
        np.zeros((spheres, 3)),
        np.zeros((spheres, 3)),
        np.zeros(nq),
        np.zeros(nu),
        np.zeros(nu),
        np.zeros(8),
        np.zeros(spheres),
        np.zeros(spheres),
        np.zeros(2, dtype=np.int64),
        np.zeros(1),
        twist,
        forest,
        np.zeros(links),
        np.zeros(links),
        np.zeros((links, 3)),
        np.zeros((links, 3)),
        np.zeros((links, 3)),
        np.zeros(links),
        np.zeros(1),
        np.array([FRACTION, TURN]),
        np.full(1, PULL),
        np.zeros(2, dtype=np.int64),
    )


@jit
def watch_spins(table, ends):
    """Raise ``turn`` to the squared angular speeds of the joints. If there are hard cores, raise ``fastest`` to the
    largest angular speed of a link."""
    for i in range(ends.turn.size):
        p, w = ends.forest.parent[i], load_from(ends.twist, i, 3)
        if p >= 0:
            w = sub(w, load_from(ends.twist, p, 3))
        ends.turn[i] = max(ends.turn[i], dot(w, w))
    if table.core_size[0, 0] > 0.0 or table.core_size.size > 1:
        fastest2 = ends.fastest[0] ** 2
        for i in range(ends.twist.shape[0]):
            w = load_from(ends.twist, i, 3)
            fastest2 = max(fastest2, dot(w, w))
        ends.fastest[0] = fastest2**0.5


@jit
def take_step(passes, time, h, table, ends, arrays):
    """Take one step. Poses of links and forces must be known before the call, and they are known after it."""
    half = 0.5 * h
    arrays.span[0], arrays.clock[0], arrays.clock[1], arrays.time[0] = half, time, h, time
    kick(passes, half, True, arrays)
    run(passes.move)
    ends.fastest[0] = 0.0
    for i in range(ends.turn.size):
        ends.turn[i] = 0.0
    watch_spins(table, ends)
    run(passes.drift)
    if passes.friction.shape[0] > 0:
        run(passes.move)
        rub(passes, h, arrays)
    run(passes.move)
    watch_spins(table, ends)
    run(passes.arrive)
    arrays.time[0] = time + h
    run(passes.locate)
    run(passes.fill)
    kick(passes, half, True, arrays)


@jit
def centres(r, table, q, u, x, ends, arm):
    """Compute the centres of the spheres (spheres, 3) and the lengths of the links' arms (links,) at coordinates and
    speeds."""
    copy_into(r.q, q)
    copy_into(r.u, u)
    run(r.place)
    sphere_states(table, r.ws, x, ends.w)
    link_motion(ends.forest.parent, r.ws, ends.angular_velocity, arm)


@jit
def find_departures(table, ends, h):
    """Compute how far the spheres depart from their lines in a step; return the largest departure."""
    for i in range(ends.turn.size):
        p = ends.forest.parent[i]
        ends.turn[i] = h * ends.turn[i] ** 0.5 + (ends.turn[p] if p >= 0 else 0.0)
    on = ends.turn, ends.still, ends.arm0, ends.arm1, ends.depart, ends.departure
    departures(table, ends.forest, LINE, *on)
    most = 0.0
    for s in range(ends.departure.size):
        most = max(most, ends.departure[s])
    return most


@routine
def goes_far(table, ends):
    """Whether the distance of two hard cores changes by too large a fraction in a step."""
    for k in range(table.pair.shape[0]):
        a, b = table.pair[k, 0], table.pair[k, 1]
        if table.core_size[table.core[a], table.core[b]] > 0.0:
            d = between(table, load(ends.x0, a), load(ends.x0, b))
            gone = sub(sub(load(ends.x1, a), load(ends.x0, a)), sub(load(ends.x1, b), load(ends.x0, b)))
            # The distance may become zero.
            if not norm(gone) <= ends.bounds[0] * min(norm(d), norm(add(d, gone))):
                return True
    return False


@jit
def meets(table, p, ends, q, h):
    """Whether any two spheres that do not rest on each other meet on straight paths, or may meet on arcs."""
    for s in range(table.link.size):
        store(ends.v, s, scale(1.0 / h, sub(load(ends.x1, s), load(ends.x0, s))))
    for k in range(table.stop_speed.size):
        i = table.stop_coordinate[k]
        ends.rate[table.stop_speed[k]] = (q[i] - ends.q[i]) / h
    start, end = (ends.x0, ends.v, ends.q, ends.rate), (ends.x1, ends.v, q, ends.rate)
    held = p.contact[: p.total[0]]
    on = LINE, ends.departure, ends.ways, ends.found
    ends.part[0] = find_first_event(table, held, start, end, h, *on)
    return ends.part[0] <= 1.0


@jit
def pulls(p, part):
    """Whether the impulses of a step pull at a resting contact."""
    least, most = 0.0, 0.0
    for k in range(p.total[0]):
        least, most = min(least, p.force[k, 0]), max(most, abs(p.force[k, 0]))
    return least < -part * most


@routine
def room(table, x, q):
    """The smallest gap of all possible contacts, and the smallest distance of hard cores."""
    gap_left, apart = np.inf, np.inf
    for k in range(all_contacts(table)):
        a, b = contact_number(table, k)
        gap, _, _ = contact_gap(table, x, q, a, b)
        gap_left = min(gap_left, gap)
        if a != STOP and b < table.link.size:
            core = table.core_size[table.core[a], table.core[b]]
            if core > 0.0:
                apart = min(apart, gap + core)
    return gap_left, apart


@routine
def widest(table, ends, q):
    """The largest displacement of a sphere, or of a stop's coordinate, in a step."""
    way2, most = 0.0, 0.0
    for s in range(table.link.size):
        d = sub(load(ends.x1, s), load(ends.x0, s))
        way2 = max(way2, dot(d, d))
    for k in range(table.stop_speed.size):
        i = table.stop_coordinate[k]
        most = max(most, abs(q[i] - ends.q[i]))
    return max(way2**0.5, most)


@kernel
def advance(passes, begin, h, steps, whole, impacts, ends, stop, state, arrays):
    """Take up to ``steps`` steps of length h from the time ``begin`` on, for as long as they are clear; return their
    number.

    If ``whole`` is set, each is a whole step of the integrator: the condition that ends the run is checked before it,
    and the time is a multiple of its length. ``impacts`` holds the response of the model, its tables and the resting
    contacts.
    """
    r, table, p = impacts
    q, u, work = arrays.q, arrays.u, arrays.work
    copy_into(q, state.q)
    copy_into(u, state.u)
    copy_into(work, state.work)
    copy_into(arrays.factor, state.factor)
    arrays.status[0], ends.outcome[0], ends.outcome[1] = REACHED, CLEAR, REACHED
    run(passes.locate)
    run(passes.fill)
    centres(r, table, q, u, ends.x0, ends, ends.arm0)
    left, apart = room(table, ends.x0, q)
    taken, done = 0.0, 0
    for _ in range(steps):
        if whole and stop_reached(stop, arrays):
            ends.outcome[0] = ENDED
            return done
        copy_into(ends.q, q)
        copy_into(ends.u, u)
        copy_into(ends.work, work)
        for k in range(p.total[0]):
            p.force[k, 0] = 0.0
        # The start time of a whole step must not depend on the number of steps per call.
        time = h * (state.counters[STEPS] + done) if whole else begin + h * done
        take_step(passes, time, h, table, ends, arrays)
        state.counters[EVALUATIONS] += 1
        total = 0.0
        for k in range(u.size):
            total += u[k] * u[k]
        for k in range(q.size):
            total += q[k] * q[k]
        if arrays.status[0] != REACHED or not total < np.inf:
            ends.outcome[0], ends.outcome[1] = BROKEN, arrays.status[0]
            return done
        centres(r, table, q, u, ends.x1, ends, ends.arm1)
        most = find_departures(table, ends, h)
        if not 0.5 * h * ends.fastest[0] <= ends.bounds[1]:
            ends.outcome[0] = FAR
            return done
        # Two spheres approach by at most twice the largest displacement: most steps need no search of pairs.
        travel = 2.0 * (widest(table, ends, q) + most)
        if not (taken + travel < left and travel <= ends.bounds[0] * (apart - taken - travel)):
            if goes_far(table, ends):
                ends.outcome[0] = FAR
                return done
            if meets(table, p, ends, q, h):
                ends.outcome[0] = FAR if ends.part[0] == UNSURE else MEETS
                return done
            if pulls(p, ends.pull[0]):
                ends.outcome[0] = PULLS
                return done
            if p.total[0] == 0:
                left, apart = room(table, ends.x1, q)
            taken = 0.0
        else:
            taken += travel
        done += 1
        book_unscaled_works(state, state.work, work)
        copy_into(state.q, q)
        copy_into(state.u, u)
        copy_into(state.work, work)
        copy_into(ends.x0.reshape(-1), ends.x1.reshape(-1))
        copy_into(ends.arm0.reshape(-1), ends.arm1.reshape(-1))
    if whole and stop_reached(stop, arrays):
        ends.outcome[0] = ENDED
    return done


@kernel
def try_step(passes, begin, h, impacts, ends, state, arrays):
    """Take one step regardless of events in it; return whether it was successful."""
    _, table, p = impacts
    copy_into(arrays.q, state.q)
    copy_into(arrays.u, state.u)
    copy_into(arrays.work, state.work)
    copy_into(arrays.factor, state.factor)
    arrays.status[0] = REACHED
    for k in range(p.total[0]):
        p.force[k, 0] = 0.0
    run(passes.locate)
    run(passes.fill)
    take_step(passes, begin, h, table, ends, arrays)
    state.counters[EVALUATIONS] += 1
    if arrays.status[0] != REACHED:
        return False
    book_unscaled_works(state, state.work, arrays.work)
    copy_into(state.q, arrays.q)
    copy_into(state.u, arrays.u)
    copy_into(state.work, arrays.work)
    return True
