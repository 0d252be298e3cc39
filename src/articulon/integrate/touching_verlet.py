"""Velocity Verlet for bodies on joints, rigid or flexible, with spheres in contact.

A step is half a kick by the forces, u += ½ h M⁻¹F; the motion without forces over the step, with velocity products
only; the evaluation of contacts at the resulting speeds; and half a kick by the new forces. Contact forces are constant
while the equations of motion are solved, so that any algorithm can solve them. Driven joints follow their motions in
the free part, in which their drives do work.

Because M is constant during a kick, the kick changes the kinetic energy by exactly F·(u + u⁺)/2 times its length. It
changes the linear and the angular momentum by the sums of the forces and of their moments, times its length. The motion
without forces conserves the kinetic energy and both momenta. Classical Runge-Kutta steps conserve them to (h ω)⁵. This
is no more than rounding, because the steps h resolve contacts, whose frequency is much higher than the joint speeds ω.
Schemes for forces that change little in a step treat velocity products as part of the kicks. Here the balance of energy
would then be off by (h u'/u)², which is (h/t_c)² in a collision of duration t_c. The whole method is of second order
(Strang, SIAM J. Numer. Anal. 5, 506, 1968).
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import normalised, quaternion_at
from articulon.algebra.vectors import copy_into
from articulon.columns import Columns
from articulon.dynamics.loops.constrained_articulated import OPEN
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.forces.base import At
from articulon.forces.contact.contact_tables import WALL_WORK, WORKS
from articulon.forces.derivatives import close, evaluate
from articulon.forces.evaluation import Evaluator
from articulon.forces.filling import booking
from articulon.integrate.grain_verlet import sort_works, sort_works_to_come
from articulon.integrate.status import CAPACITY_EXCEEDED, DIVERGED, NOT_CLOSED, REACHED
from articulon.integrate.touching_contacts import EXCEEDED, SUCCEEDED
from articulon.integrate.variables import blocks
from articulon.kernels import jit
from articulon.model import Model, kernel_tables
from articulon.model.state import CONTACT, DAMPING, EVALUATIONS, EXTERNAL, STEPS, STOCHASTIC, WINDOW
from articulon.passes import Program, pass_of, run


class HistoryPlaces(Columns):
    """Places in ``State.rule.history``."""

    begun: int = 0
    """1 after the first step."""
    done: int = 1
    """Works by channel, up to the end of the pending half kick (8) [energy]."""
    due: int = 9
    """Works by channel in the pending half kick (8) [energy]."""
    lines_done: int = 17
    """Works by ledger line of the contacts, up to the end of the pending half kick (5) [energy]."""
    lines_due: int = 22
    """Works by ledger line of the contacts in the pending half kick (5) [energy]."""
    width: int = 27


HISTORY = HistoryPlaces()


class Scratch(NamedTuple):
    """Arrays of a step; they may be discarded between steps."""

    y: np.ndarray
    """q, u and works, as the right-hand side takes them."""
    dy: np.ndarray
    """Rates of q, u and works."""
    free: np.ndarray
    """Rates of q, u and works without any forces."""
    trial: np.ndarray
    """q, u and works within a step of the free motion."""
    total: np.ndarray
    """Weighted sum of the rates in a step of the free motion."""
    none: np.ndarray
    """Factors of the channels that turn all forces off, shape (8,)."""
    quaternion: np.ndarray
    """First of each set of four Euler parameters in q, shape (quaternions,)."""
    mean: np.ndarray
    """Mean speeds of a kick, shape (nu,)."""
    works: np.ndarray
    """Works at the same places as in the history, shape (27,)."""
    now: np.ndarray
    """Time at which contacts are evaluated, and time since the last evaluation [time], shape (2,)."""
    span: np.ndarray
    """Time over which the works of contacts are recorded [time], shape (1,)."""
    found: np.ndarray
    """Result of a pass over contacts, see :mod:`articulon.integrate.touching_contacts`, shape (1,)."""


def scratch(model: Model) -> Scratch:
    """Arrays for a model."""
    y, dy, free, trial, total = np.zeros((5, model.nq + model.nu + 8))
    quaternion = blocks(kernel_tables(model).forest, model.nq, model.nu).quaternion
    mean, works, found = np.zeros(model.nu), np.zeros(HISTORY.width), np.zeros(1, dtype=np.int64)
    return Scratch(y, dy, free, trial, total, np.zeros(8), quaternion, mean, works, np.zeros(2), np.zeros(1), found)


class Passes(NamedTuple):
    """Programs of a step, and the arrays through which they are called."""

    locate: np.ndarray
    """Computes poses and velocities of the links at q and u."""
    book: np.ndarray
    """Power of the channels at ``mean``."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    power: np.ndarray
    """Powers of the channels, unscaled, shape (8,)."""


def passes(e: Evaluator, arrays: Scratch) -> tuple[Passes, list[Program]]:
    """The programs of a model's steps: in the form for kernels, and the objects that must be kept alive."""
    forest, ws, channels, rhs = e.system.forest, e.ws, e.channels, e.rhs
    q, u = np.zeros(e.model.nq), np.zeros(e.model.nu)
    friction = channels.wrench[DAMPING], channels.wrench[STOCHASTIC]
    at = At(forest, ws, q, arrays.mean, rhs.time, rhs.window, channels, *friction)
    programs = [
        Program([place_links.bind(forest, q, ws), move_links.bind(forest, u, ws)]),
        Program([move_links.bind(forest, arrays.mean, ws), *booking(e, at)]),
    ]
    return Passes(programs[0].code, programs[1].code, q, u, channels.power), programs


@jit
def locate(passes, y, nq):
    """Compute poses and velocities of the links at q and u of y."""
    copy_into(passes.q, y[:nq])
    copy_into(passes.u, y[nq : nq + passes.u.size])
    run(passes.locate)


@jit
def book(passes, arrays, time, channel, contacts):
    """Add the works of all forces over a time at the mean speeds to those of each channel. The program ``contacts``
    adds the works of contacts to their ledger lines."""
    run(passes.book)
    for c in range(8):
        arrays.works[channel + c] += time * passes.power[c]
    arrays.span[0] = time
    run(contacts)


@jit
def flow(rhs, state, arrays, time, h):
    """Advance the motion by a time h without forces except those of drives: a classical Runge-Kutta step of q and u,
    and of the work of the drives, which is returned."""
    y, rate, trial, total, none = arrays.y, arrays.free, arrays.trial, arrays.total, arrays.none
    window, n = state.counters[WINDOW], y.size - 8
    copy_into(trial, y)
    evaluate(rhs, time, window, none, trial, rate)
    power = rhs.driving[0]
    for k in range(n):
        total[k] = rate[k]
        trial[k] = y[k] + 0.5 * h * rate[k]
    for fraction in (0.5, 1.0):
        evaluate(rhs, time + 0.5 * h, window, none, trial, rate)
        power += 2.0 * rhs.driving[0]
        for k in range(n):
            total[k] += 2.0 * rate[k]
            trial[k] = y[k] + fraction * h * rate[k]
    evaluate(rhs, time + h, window, none, trial, rate)
    power += rhs.driving[0]
    for k in range(n):
        y[k] += h / 6.0 * (total[k] + rate[k])
    for k in arrays.quaternion:
        y[k], y[k + 1], y[k + 2], y[k + 3] = normalised(quaternion_at(y, k))
    return h / 6.0 * power


@jit
def kick(rhs, passes, state, block, arrays, time, h, done, booking_done, booking_due):
    """Compute M⁻¹F at links whose contacts have been evaluated, and kick over a time ``done``; record the works of this
    kick and of the next one.

    M⁻¹F is u' minus u' without forces; drag is evaluated at the predicted speeds at the end of the step. A kick does
    not change the speeds of driven joints. The power of their drives in a kick is therefore only the part with which
    they hold these speeds against the forces; ``flow`` records the rest.
    """
    y, dy, free, mean, works = arrays.y, arrays.dy, arrays.free, arrays.mean, arrays.works
    nu, half, window = mean.size, 0.5 * h, state.counters[WINDOW]
    nq = y.size - nu - 8
    for k in range(nu):  # predicted speeds at the end of the step
        mean[k] = y[nq + k]
        y[nq + k] += done * state.rule.acceleration[k]
    evaluate(rhs, time, window, arrays.none, y, free)
    drives = -rhs.driving[0]
    evaluate(rhs, time, window, state.factor, y, dy)
    drives += rhs.driving[0]
    for k in range(nu):
        a = dy[nq + k] - free[nq + k]
        state.rule.acceleration[k] = a
        y[nq + k] = mean[k] + done * a
        mean[k] += 0.5 * done * a
    sort_works(block, works[HISTORY.lines_done : HISTORY.lines_done + WORKS])
    # The pending half kick is now done.
    book(passes, arrays, done, HISTORY.done, booking_done)
    works[HISTORY.done + EXTERNAL] += done * drives
    for k in range(HISTORY.due, HISTORY.due + 8):
        works[k] = 0.0
    for k in range(HISTORY.lines_due, HISTORY.lines_due + WORKS):
        works[k] = 0.0
    for k in range(nu):
        mean[k] = y[nq + k] + 0.5 * half * state.rule.acceleration[k]
    book(passes, arrays, half, HISTORY.due, booking_due)
    works[HISTORY.due + EXTERNAL] += half * drives
    sort_works_to_come(block, works[HISTORY.lines_due : HISTORY.lines_due + WORKS], half)
    for k in range(8):
        works[HISTORY.done + k] += works[HISTORY.due + k]
    for k in range(WORKS):
        works[HISTORY.lines_done + k] += works[HISTORY.lines_due + k]


@jit
def give(state, arrays, nq, nu):
    """Store all variables into the state except the contacts."""
    y, works = arrays.y, arrays.works
    copy_into(state.q, y[:nq])
    copy_into(state.u, y[nq : nq + nu])
    copy_into(state.rule.history, works)
    state.rule.history[HISTORY.begun] = 1.0
    for k in range(WORKS):
        state.contacts.work[0, k] = works[HISTORY.lines_done + k] - works[HISTORY.lines_due + k]
    for c in range(8):
        state.work[c] = works[HISTORY.done + c] - works[HISTORY.due + c]
    state.work[CONTACT] -= state.contacts.work[0, WALL_WORK]
    state.work[EXTERNAL] += state.contacts.work[0, WALL_WORK]


@pass_of
def advance_touching(
    rhs,
    closing,
    passes,
    h,
    state,
    counters,
    clock,
    block,
    arrays,
    chunk,
    taking,
    placing,
    listing,
    following,
    looking,
    booking_done,
    booking_due,
    giving,
):
    """Advance the state by ``chunk[0]`` steps of length h, and write the status to ``chunk[1]``: REACHED, DIVERGED
    if a number is no longer finite or a sphere is at an impossible position, NOT_CLOSED, or CAPACITY_EXCEEDED if a list
    is too short. After a failure the state must not be used."""
    y, now, found = arrays.y, arrays.now, arrays.found
    nq, nu = state.q.size, state.u.size
    u, half = y[nq : nq + nu], 0.5 * h
    copy_into(y[:nq], state.q)
    copy_into(u, state.u)
    copy_into(arrays.works, state.rule.history)
    run(taking)
    locate(passes, y, nq)
    if state.rule.history[HISTORY.begun] == 0.0:
        run(placing)
    run(listing)
    if found[0] == EXCEEDED:
        chunk[1] = CAPACITY_EXCEEDED
        return
    run(placing)
    if state.rule.history[HISTORY.begun] == 0.0:
        now[0], now[1] = clock[0], 0.0
        run(looking)
        if found[0] == EXCEEDED:
            chunk[1] = CAPACITY_EXCEEDED
            return
        kick(rhs, passes, state, block, arrays, clock[0], h, 0.0, booking_done, booking_due)
    for _ in range(chunk[0]):
        step = counters[STEPS]
        time = h * (step + 1)
        for k in range(nu):
            u[k] += half * state.rule.acceleration[k]
        arrays.works[HISTORY.done + EXTERNAL] += flow(rhs, state, arrays, clock[0], h)
        if closing.code.shape[0] > 0:
            close(closing, rhs, time, y)
            if not closing.left[0] <= OPEN:
                chunk[1] = NOT_CLOSED
                return
            for k in range(2):
                state.rule.drift[k] = max(state.rule.drift[k], closing.drift[k])
        locate(passes, y, nq)
        run(placing)
        run(following)
        if found[0] == SUCCEEDED:
            now[0], now[1] = time, h
            run(looking)
        if found[0] != SUCCEEDED:
            chunk[1] = CAPACITY_EXCEEDED if found[0] == EXCEEDED else DIVERGED
            return
        kick(rhs, passes, state, block, arrays, time, h, half, booking_done, booking_due)
        total = 0.0
        for k in range(nq + nu):
            total += y[k] * y[k]
        if not total < np.inf:
            chunk[1] = DIVERGED
            return
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 1
        clock[0] = time
    give(state, arrays, nq, nu)
    run(giving)
    chunk[1] = REACHED if found[0] == SUCCEEDED else DIVERGED
