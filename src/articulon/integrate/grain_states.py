"""Loading of free spheres in contact from a state, and storing into it."""

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from articulon.algebra.rotations import matrix
from articulon.algebra.vectors import apply, apply_t, load_from
from articulon.forces.contact.contact_history import KEEP_RECORDS
from articulon.forces.contact.contact_tables import PLACES, WALL_WORK
from articulon.integrate.grain_columns import DRAG_WORK, FALL_WORK, GRAIN_ACCELERATION, GRAIN_LINE, GRAIN_PARTIAL, LINES
from articulon.integrate.grain_passes import at
from articulon.integrate.grain_verlet import COLLECT, find_middle, list_contacts, sort_works_to_come, summed
from articulon.kernel_variants import part
from articulon.kernels import jit
from articulon.model.state import CONTACT, DAMPING, EXTERNAL
from articulon.passes import Pass

ANGULAR_VELOCITY_AT, ACCELERATION_AT, NUMBERS = 1, 4, 9
"""Offsets in ``State.rule.history`` of the world-frame angular velocity and of the accelerations of the first grain,
and the number of values per grain."""


def history_size(grains: int) -> int:
    """Size of ``State.rule.history``: a flag that is 1 after the first step, and the values of all grains."""
    return ANGULAR_VELOCITY_AT + NUMBERS * grains


@jit
def load_block(q, u, history, site, particles, grains, first, last):
    """Load some grains, in the order of the model."""
    line = grains.line
    for s in range(first, last):
        e = (q[7 * s + 3], q[7 * s + 4], q[7 * s + 5], q[7 * s + 6])
        w = apply(matrix(e), (u[6 * s + 3], u[6 * s + 4], u[6 * s + 5]))
        for a in range(3):
            particles.site[a, s] = site[a, s] if site[a, s] == site[a, s] else q[7 * s + a]
            line[s, GRAIN_LINE.place + a], line[s, GRAIN_LINE.velocity + a] = q[7 * s + a], u[6 * s + a]
            # The angular velocity in the world frame is stored, because conversion to the grain's frame and back would
            # round it.
            line[s, GRAIN_LINE.angular_velocity + a] = (
                history[ANGULAR_VELOCITY_AT + NUMBERS * s + a] if history[0] != 0.0 else w[a]
            )
        for a in range(4):
            line[s, GRAIN_LINE.turn + a] = e[a]


@jit
def load_accelerations(history, order, acceleration, first, last):
    """Load the accelerations of some grains into the order of cells."""
    for p in range(first, last):
        for a in range(GRAIN_ACCELERATION.width):
            acceleration[at(GRAIN_ACCELERATION.width, p, GRAIN_ACCELERATION.acceleration + a)] = history[
                ACCELERATION_AT + NUMBERS * order[p] + a
            ]


@jit
def store_block(q, u, history, rebuild, particles, grains, first, last):
    """Store some grains into a state, from the order of the model."""
    line, reference = grains.line, particles.reference
    for s in range(first, last):
        turn = GRAIN_LINE.turn
        e = (line[s, turn], line[s, turn + 1], line[s, turn + 2], line[s, turn + 3])
        w = apply_t(matrix(e), load_from(line, s, GRAIN_LINE.angular_velocity))
        for a in range(3):
            q[7 * s + a] = line[s, GRAIN_LINE.place + a]
            u[6 * s + a], u[6 * s + 3 + a] = line[s, GRAIN_LINE.velocity + a], w[a]
            history[ANGULAR_VELOCITY_AT + NUMBERS * s + a] = line[s, GRAIN_LINE.angular_velocity + a]
            rebuild[a, s] = reference[a, s]
        for a in range(4):
            q[7 * s + 3 + a] = e[a]


@jit
def store_accelerations(history, order, acceleration, first, last):
    """Store the accelerations of some grains from the order of cells."""
    for p in range(first, last):
        for a in range(GRAIN_ACCELERATION.width):
            history[ACCELERATION_AT + NUMBERS * order[p] + a] = acceleration[
                at(GRAIN_ACCELERATION.width, p, GRAIN_ACCELERATION.acceleration + a)
            ]


def load_all(q, u, history, site, particles, grains):
    """Load all grains."""
    n = grains.line.shape[0]
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        load_block(q, u, history, site, particles, grains, first, min(first + PLACES, n))


def load_all_accelerations(history, order, acceleration):
    """Load all accelerations."""
    n = order.size
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        load_accelerations(history, order, acceleration, first, min(first + PLACES, n))


def store_all(q, u, history, rebuild, particles, grains):
    """Store all grains."""
    n, order, acceleration = grains.line.shape[0], particles.order, grains.acceleration
    for b in prange((n + PLACES - 1) // PLACES):
        first = PLACES * np.int64(b)
        last = min(first + PLACES, n)
        store_block(q, u, history, rebuild, particles, grains, first, last)
        store_accelerations(history, order, acceleration, first, last)


ROWS: Any = None
ACCELERATIONS: Any = None
"""Placeholders for the compiled passes that load or store all grains and all accelerations."""


def load_state(system, grains, moving, lists, refresh, state):
    """Load a state whose lists were built at the positions ``particles.site``, with contacts in ``kept``."""
    history = state.rule.history
    ROWS(state.q, state.u, history, state.contacts.rebuild, system.particles, grains)
    for k in range(LINES):
        # If the integrator has not taken a step yet, the pending half kick is dropped.
        grains.works[1, k] = state.contacts.work[1 if history[0] != 0.0 else 0, k]
    list_contacts(system, grains, moving, lists, refresh)
    find_middle(system, grains)
    ACCELERATIONS(history, system.particles.order, grains.acceleration)


def store_state(system, grains, moving, lists, h, state):
    """Store a state after a step, except for the contacts, which are then in ``kept``."""
    moving[COLLECT](system, grains)
    history = state.rule.history
    history[0] = 1.0
    ROWS(state.q, state.u, history, state.contacts.rebuild, system.particles, grains)
    lists[KEEP_RECORDS](system)
    works, half = grains.works, 0.5 * h
    for k in range(LINES):
        works[0, k] = works[1, k] - half * summed(grains, GRAIN_PARTIAL.due + k)  # without the pending half kick
    sort_works_to_come(system.candidates.block, works[0], -half)
    for k in range(LINES):
        state.contacts.work[0, k], state.contacts.work[1, k] = works[0, k], works[1, k]
    state.work[CONTACT] = works[0, 0] + works[0, 1] + works[0, 2] + works[0, 3]
    state.work[EXTERNAL] = works[0, FALL_WORK] + works[0, WALL_WORK]
    state.work[DAMPING] = works[0, DRAG_WORK]


@cache
def state_passes(parallel: bool) -> tuple[Any, Any]:
    """The passes ``load_state`` and ``store_state``, shared among threads or not."""
    how = "parallel" if parallel else "serial"

    def one(function: Any, name: str) -> Any:
        return part(function, f"{name}_{how}", parallel)

    rows, accelerations, store = (
        one(load_all, "load_grains"),
        one(load_all_accelerations, "load_accelerations"),
        one(store_all, "store_grains"),
    )
    load = part(load_state, f"load_state_{how}", ROWS=rows, ACCELERATIONS=accelerations)
    return Pass(load, allocates=True), Pass(part(store_state, f"store_state_{how}", ROWS=store), allocates=True)
