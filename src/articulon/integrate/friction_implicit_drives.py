"""Drives that resist speeds, in friction-implicit steps.

The torque of a drive with damping or a largest speed, τ(q, t, u) of ``forces/joint_drive.py``, never increases with the
speed u of its joint. The whole torque is taken implicitly, together with drag, at the coordinates and the time of the
middle of the step and at the middle speeds ū = u + h/2 u'. So no step is too long for the damping; the spring of the
drive bounds the step as in velocity Verlet. With f all other forces, u' is the unique minimum of the convex function

    ½ u'·A u' − f·u' + 2/h Φ(ū),   ∂Φ/∂ū = S ū − τ,   A = M + h/2 D,

where D is the drag, and S the diagonal of the damping and friction of joints (``friction_implicit_joints.py``). The
minimum is found by Newton's method: each iteration replaces τ by the linear function τ(ū₀) − s (ū − ū₀) with s = −τ' ≥
0, a diagonal in joint space like damping. An iteration that goes too far is shortened by a line search to the minimum
of the function. The search needs no further recursion over the links, because A u' − f is linear in u' and known at
both ends of the iteration: it is the linearised resistance with which u' was computed there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.base import Term
from articulon.forces.joint_drive import Drives, bounded, lag, resisting_drives
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.kernels import jit
from articulon.model import Forest
from articulon.model.state import DAMPING, EXTERNAL

SETTLED = 1e-12
"""Convergence tolerance: largest difference between the resistance at u' and the resistance with which u' was computed,
relative to the size of its terms."""
HALVINGS = 60
"""Halvings of the line search along a Newton iteration that goes too far."""


class Driving(NamedTuple):
    """Drives that resist speeds, and scratch arrays, which may be discarded between steps."""

    table: Drives
    forest: Forest
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    clock: np.ndarray
    """Time at the start of the step, and its length [time], shape (2,)."""
    factor: np.ndarray
    """Factors of the channels, shape (8,)."""
    driven: np.ndarray
    """1 if a speed has a drive, else 0, shape (nu,)."""
    before: np.ndarray
    """u' at the start of the latest Newton iteration, shape (nu,)."""
    found: np.ndarray
    """u' at the end of the latest Newton iteration, shape (nu,)."""
    resisted: np.ndarray
    """A u' − f at u', shape (nu,)."""
    there: np.ndarray
    """−S ū + τ at u', with the factors of their channels, shape (nu,)."""
    size: np.ndarray
    """Sizes of the terms of ``there``, shape (nu,)."""
    speed: np.ndarray
    """Middle speeds ū, shape (nu,)."""
    steps: np.ndarray
    """A u' − f at the start and at the end of the latest Newton iteration, shape (2, nu)."""


def driving_of(terms: Iterable[Term], forest: Forest, arrays: Scratch) -> Driving | None:
    """The drives of a model that resist speeds; None if there are none."""
    table = resisting_drives(terms)
    if table is None:
        return None
    nu = arrays.u.size
    driven = np.zeros(nu)
    driven[forest.u_start[table.link] + table.component] = 1.0
    before, found, resisted, there, size, speed = np.zeros((6, nu))
    scratch = before, found, resisted, there, size, speed, np.zeros((2, nu))
    return Driving(table, forest, arrays.q, arrays.clock, arrays.factor, driven, *scratch)


@jit
def torque_of(driving, s):
    """Torque of a drive at ū in the middle of a step, its derivative by the speed of the joint, and the size of its
    terms."""
    table = driving.table
    j = driving.forest.u_start[table.link[s]] + table.component[s]
    time, v = driving.clock[0] + 0.5 * driving.clock[1], driving.speed[j]
    behind, slower = lag(driving.forest, table, s, time, driving.q, driving.speed)
    spring, damper = table.stiffness[s] * behind, table.damping[s] * slower
    torque, free, direct, _, _, _ = bounded(table, s, spring + damper, v)
    return j, torque, direct - free * table.damping[s], abs(spring) + abs(damper) + table.damping[s] * abs(v)


@jit
def find_resistance(driving, coefficient, half, u, rates):
    """Compute −S ū + τ, with the factors of their channels, into ``there``, at the speeds ū = u + half u' for
    accelerations u', ``rates`` (nu,)."""
    for k in range(u.size):
        driving.speed[k] = u[k] + half * rates[k]
        driving.there[k] = -driving.factor[DAMPING] * coefficient[k] * driving.speed[k]
        driving.size[k] = abs(driving.there[k])
    for s in range(driving.table.link.size):
        j, torque, _, size = torque_of(driving, s)
        driving.there[j] += driving.factor[EXTERNAL] * torque
        driving.size[j] += driving.factor[EXTERNAL] * size


@jit
def add_drives(driving, half, u, udot, tau, diagonal):
    """Add the drives, linearised at the speeds u + half u', to the right-hand side ``tau`` and to the ``diagonal`` of
    the system that gives the next u'; keep u' in ``before``."""
    if driving is None:
        return
    for k in range(u.size):
        driving.before[k] = udot[k]
        driving.speed[k] = u[k] + half * udot[k]
    for s in range(driving.table.link.size):
        j, torque, slope, _ = torque_of(driving, s)
        diagonal[j] -= half * driving.factor[EXTERNAL] * slope
        tau[j] += driving.factor[EXTERNAL] * (torque - slope * (driving.speed[j] - u[j]))


@jit
def note_resistance(driving, other, tau, diagonal, armature, udot):
    """Compute A u' − f of a solution, into ``resisted``."""
    for k in range(udot.size):
        driving.resisted[k] = tau[k] - other[k] - (diagonal[k] - armature[k]) * udot[k]


@jit
def begin_search(driving, udot):
    """Begin a line search along the latest Newton iteration: keep A u' − f of its start and u' of its end. Call it
    before :func:`note_resistance`, which overwrites A u' − f."""
    copy_into(driving.steps[0], driving.resisted)
    copy_into(driving.found, udot)


@jit
def set_along_iteration(driving, part, udot):
    """Set u' and A u' − f at a fraction of the Newton iteration."""
    for k in range(udot.size):
        udot[k] = driving.before[k] + part * (driving.found[k] - driving.before[k])
        driving.resisted[k] = (1.0 - part) * driving.steps[0, k] + part * driving.steps[1, k]


@jit
def rises(driving, coefficient, half, u, udot):
    """Whether the minimised function increases at u' in the direction of the iteration."""
    find_resistance(driving, coefficient, half, u, udot)
    total, size = 0.0, 0.0
    for k in range(u.size):
        step = driving.found[k] - driving.before[k]
        total += step * (driving.resisted[k] - driving.there[k])
        size += abs(step) * driving.size[k]
    return total > SETTLED * size


@jit
def differs(driving, coefficient, half, u, udot):
    """Whether the resistance differs from the one with which u' was computed."""
    find_resistance(driving, coefficient, half, u, udot)
    found = False
    for k in range(u.size):
        # NaN counts as different.
        found = found or not abs(driving.resisted[k] - driving.there[k]) <= SETTLED * driving.size[k]
    return found
