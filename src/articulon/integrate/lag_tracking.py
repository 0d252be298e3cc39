"""How far the motions of a model lag behind the forces on them: what a scaling law that bounds the lag reads.

Without inertia the bodies would move at the drift velocities w of ζ(q) w = Γ(q, t), with the drag ζ and all other
forces Γ but noise. Scaled by a2 they are short of these by the lag ζ⁻¹ M w'/a2, with w' averaged over the memory of
each motion, τ/a2. What is looked at is this lag without the factor, z = ζ⁻¹ M w', of every speed of every joint, by the
articulated equations: M and ζ of the trees, not of points. It is gathered by *groups*: the translation of a free body,
the rotation of a body or of a joint. A group that moves at the velocity w falls behind by |z|/(a2 |w|) of its way, and
where it hardly moves, of the range over the time that it has moved in so far. Scaling therefore makes it late by

    dD/dt = (1/a2 − 1) z·w/|w|²,

with the sign that a lag has: what is lost while a force grows is won back while it falls. A joint that a spring holds
forgets what it has lost as fast as its spring draws it back, at the rate κ, less what its own motion slows down at: in
a time t its lag counts for t/(1 + κ t).

Looks are a hundredth of the slowest memory apart, so that they cost little where steps are much shorter.

Where noise acts, w' is the mean over the slowest memory for all groups. The noise then has a say in a2, and through it
in the mass m/a2. A body whose a2 follows its place would feel a force of −kT ∇ ln a2 if its speeds were kept when a2
changes, half of it where a2 follows over τ/a2. So what is kept of the thermal part v of the speeds is its momentum
m v/a2: places then follow β x' = Γ + noise − p' with p = m v/a2, in which no product of noise and factor is left.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.inertia import skew
from articulon.algebra.rotations import load_quaternion, matrix
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    load,
    load_from,
    load_matrix,
    load_symmetric,
    scale,
    store_from,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.kinematics import move
from articulon.dynamics.kinetic_energies import kinetic_energy
from articulon.dynamics.loops.constrained_articulated import at_rest
from articulon.forces.gravity import gravity_wrenches
from articulon.forces.stokes_drag import drag_wrenches
from articulon.kernels import jit
from articulon.model.forest_tables import Workspace
from articulon.model.joints import FREE, XYZ
from articulon.model.state import CONFORMATIONAL, CONTACT, DAMPING, EXTERNAL, POTENTIAL
from articulon.passes import pass_of
from articulon.scaling.base import AGE, DELAY, ELAPSED, LAG, MEMORY, NEEDED, NEEDED_MEMORY, RATE, RELAXATION

LOOKS, TIME, FACTOR, CHANGED, BEGAN, LATE, HEADER = range(7)
"""What ``State.memory`` holds first: the number of looks so far, the time of the last, the factor of the drag then, the
time at which that last changed, the time of the first look, and the delay since then. Then, for every speed, the drift
velocity, its mean rate, the lag z and the displacement so far; and for every group its range and how late it is."""
APART = 0.01
"""Time between two looks, over the slowest memory."""
SPENT = 0.2
"""Part of the time since the start in which a joint may spend what is left of its delay."""


class Followed(NamedTuple):
    """What is followed, and scratch."""

    start: np.ndarray
    """First speed of each group, and the number of speeds, shape (groups + 1,)."""
    relaxation: np.ndarray
    """τ of each group [time], 0 where no drag holds it back and it is not followed, shape (groups,)."""
    stiffness: np.ndarray
    """κ, the rate at which a spring draws a joint back against drag [1/time], shape (groups,)."""
    within: np.ndarray
    """Whether a group is of a joint between bodies, and not of what a tree does as a whole, shape (groups,)."""
    least: np.ndarray
    """Range below which a group counts as one that has that range [length or rad], shape (groups,)."""
    wholes: np.ndarray
    """First link of every tree, and the number of links, where trees are followed as wholes and nothing else is, shape
    (trees + 1,); (0,) where joints are."""
    slowest: np.ndarray
    """The longest relaxation time of the model [time], 1 where noise acts, and the delay that is aimed at, relative to
    the time since the start, shape (3,)."""
    inertia: np.ndarray
    """Drag of the links as if it were an inertia, without zeros where a rotation has no drag, shape (links, 6)."""
    total: np.ndarray
    """Forces on the links, shape (links, 6)."""
    tau: np.ndarray
    """Forces on the joints, shape (nu,)."""
    drift: np.ndarray
    """Drift velocities, shape (nu,)."""
    still: np.ndarray
    """Zero twists, shape (links, 6)."""
    no_bias: np.ndarray
    """Zero velocity-product accelerations, shape (links, 6)."""
    twist: np.ndarray
    """Of the rates w', shape (links, 6)."""
    bias: np.ndarray
    """Scratch, shape (links, 6)."""


def memory_size(speeds: int, groups: int) -> int:
    """Size of ``State.memory`` for numbers of speeds and groups."""
    return HEADER + 4 * speeds + 2 * groups


@jit
def find_drift(forest, drag, gravity, wrench, joint, wrench_channels, joint_channels, ws, followed):
    """Drift velocities, into ``followed.drift``, at links that have been placed and whose channels have been filled."""
    total, tau = followed.total, followed.tau
    find_forces(wrench, wrench_channels, followed)
    tau[:] = 0.0
    for c in joint_channels:
        if c != DAMPING:
            for k in range(tau.size):
                tau[k] += joint[c, k]
    still = at_rest(ws, followed)
    drag_wrenches(drag, still, total)  # that of the flow
    gravity_wrenches(forest, (gravity[0], gravity[1], gravity[2]), ws, total)
    balance(forest, drag, tau, total, ws, followed, followed.drift)


@jit
def find_drift_of_wholes(forest, drag, gravity, wrench, wrench_channels, ws, followed):
    """The drift velocities of trees as wholes: the net force on them over their drag, in the frames of their roots."""
    find_forces(wrench, wrench_channels, followed)
    drag_wrenches(drag, at_rest(ws, followed), followed.total)
    tree, g = followed.wholes, (gravity[0], gravity[1], gravity[2])
    for t in range(tree.size - 1):
        root, k = tree[t], forest.u_start[tree[t]]
        if forest.kind[root] != FREE and forest.kind[root] != XYZ:  # the ground takes part of the force
            continue
        net, held = ZERO, 0.0
        for i in range(root, tree[t + 1]):
            net = add(net, add(load_from(followed.total, i, 0), scale(forest.mass[i], g)))
            held += drag.mass[i]
        frame = matrix(load_quaternion(forest.rotation, root))
        w = scale(1.0 / held, apply_t(frame, net))
        followed.drift[k], followed.drift[k + 1], followed.drift[k + 2] = w[0], w[1], w[2]


@jit
def find_forces(wrench, wrench_channels, followed):
    """The sum of all forces on the links but drag and noise."""
    total = followed.total
    total[:] = 0.0
    for c in wrench_channels:
        if c == POTENTIAL or c == CONFORMATIONAL or c == CONTACT or c == EXTERNAL:
            for i in range(total.shape[0]):
                for k in range(6):
                    total[i, k] += wrench[c, i, k]


@jit
def balance(forest, drag, tau, wrench, ws, followed, u):
    """u of ζ u = τ + Jᵀ w."""
    still, links = at_rest(ws, followed), drag.mass.size
    eliminate(forest, drag.mass, drag.moment, followed.inertia, tau, wrench, still, 0, links)
    accelerate(forest, (0.0, 0.0, 0.0), still, u, 0, links)


@jit
def find_lag(forest, drag, rates, lag, ws, followed):
    """ζ⁻¹ M w' of rates w'."""
    moving = Workspace(
        ws.quaternion,
        ws.rotation,
        ws.position,
        ws.reach,
        followed.twist,
        followed.bias,
        ws.gathered,
        ws.record,
        ws.acceleration,
        ws.modal,
    )
    move(forest, rates, moving, 0, forest.mass.size)
    for i in range(forest.mass.size):
        R = load_matrix(ws.rotation, i)
        av, aw = load_from(followed.twist, i, 0), load_from(followed.twist, i, 3)
        A, H = symmetric_rotate(R, load_symmetric(forest.inertia, i)), skew(apply(R, load(forest.moment, i)))
        store_from(followed.total, i, 0, add(apply_t(H, aw), scale(forest.mass[i], av)))
        store_from(followed.total, i, 3, add(symmetric_apply(A, aw), apply(H, av)))
    followed.tau[:] = 0.0
    balance(forest, drag, followed.tau, followed.total, ws, followed, lag)


@pass_of
def follow(
    forest,
    drag,
    gravity,
    wrench,
    joint,
    wrench_channels,
    joint_channels,
    ws,
    clock,
    factor,
    memory,
    followed,
    sums,
    looked,
):
    """Looks at the forces after an evaluation, where it is time for that; ``looked`` (1,) is 1 if so.

    Writes what lags most of all trees, unscaled and as a part of its way, infinite at the first look, with its rate and
    its relaxation time; the factor that joints need; the longest relaxation time, the times since the factor last
    changed and since the first look, and how late the latest tree is."""
    time = clock[0]
    looks, h = memory[LOOKS], time - memory[TIME]
    slowest, noisy = followed.slowest[0], followed.slowest[1]
    looked[0] = 0
    if looks > 1.0 and h < APART * slowest / memory[FACTOR]:
        return
    looked[0] = 1
    if looks == 0.0:
        memory[CHANGED] = memory[BEGAN] = time
    elif factor[DAMPING] != memory[FACTOR]:
        memory[CHANGED] = memory[TIME]
    nu, groups, a2 = followed.drift.size, followed.start.size - 1, memory[FACTOR]
    drift, rate = memory[HEADER : HEADER + nu], memory[HEADER + nu : HEADER + 2 * nu]
    lag, place = memory[HEADER + 2 * nu : HEADER + 3 * nu], memory[HEADER + 3 * nu : HEADER + 4 * nu]
    reach, late = memory[HEADER + 4 * nu : HEADER + 4 * nu + groups], memory[HEADER + 4 * nu + groups :]
    whole = followed.wholes.size > 0
    if whole:
        find_drift_of_wholes(forest, drag, gravity, wrench, wrench_channels, ws, followed)
    else:
        find_drift(forest, drag, gravity, wrench, joint, wrench_channels, joint_channels, ws, followed)
    age = time - memory[BEGAN]
    for g in range(groups):
        tau = followed.relaxation[g]
        if h > 0.0 and tau > 0.0:
            # From no rate at all, so that what settles in the first step is no rate that lasts.
            keep = math.exp(-h * a2 / (slowest if noisy > 0.0 else tau))
            for k in range(followed.start[g], followed.start[g + 1]):
                rate[k] = keep * rate[k] + (1.0 - keep) * (followed.drift[k] - drift[k]) / h
                place[k] += 0.5 * h * (followed.drift[k] + drift[k])
    for k in range(nu):
        drift[k] = followed.drift[k]
    if whole:
        for g in range(groups):
            for k in range(followed.start[g], followed.start[g + 1]):
                lag[k] = followed.relaxation[g] * rate[k]
    else:
        find_lag(forest, drag, rate, lag, ws, followed)
    latest = 0.0
    sums[LAG], sums[RATE], sums[MEMORY], sums[NEEDED], sums[NEEDED_MEMORY] = 0.0, 0.0, slowest, 0.0, slowest
    for g in range(groups):
        if not followed.relaxation[g] > 0.0:
            continue
        short, pace, gone, along, growth, fast = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(followed.start[g], followed.start[g + 1]):
            short += lag[k] * lag[k]
            pace += drift[k] * drift[k]
            gone += place[k] * place[k]
            along += lag[k] * drift[k]
            growth += rate[k] * drift[k]
            fast += rate[k] * rate[k]
        reach[g] = max(reach[g], math.sqrt(gone))
        if looks == 0.0 or not (pace > 0.0 or reach[g] > 0.0):
            continue
        pace = max(pace, (max(reach[g], followed.least[g]) / age) ** 2)
        forgets = followed.stiffness[g]
        if forgets > 0.0:
            forgets = max(0.0, forgets + growth / pace)
        late[g] = (late[g] + h * (1.0 / a2 - 1.0) * along / pace) / (1.0 + forgets * h)
        if followed.within[g]:
            left = followed.slowest[2] - abs(late[g]) / age
            allowed = min(1.0, max(0.25 * followed.slowest[2], left / SPENT))
            needed = abs(along) / pace / (1.0 + forgets * age) / allowed
            if needed > sums[NEEDED]:
                sums[NEEDED], sums[NEEDED_MEMORY] = needed, followed.relaxation[g]
            continue
        part = math.sqrt(short / pace)
        if part > sums[LAG]:
            sums[LAG], sums[RATE], sums[MEMORY] = part, math.sqrt(fast / pace), followed.relaxation[g]
        latest = max(latest, abs(late[g]))
    if looks == 0.0:
        sums[LAG] = np.inf
    memory[LATE] = slowest + latest
    sums[RELAXATION], sums[AGE], sums[DELAY] = slowest, age, memory[LATE]
    sums[ELAPSED] = time - memory[CHANGED]
    memory[LOOKS], memory[TIME], memory[FACTOR] = min(looks + 1.0, 2.0), time, factor[DAMPING]


@pass_of
def rescale(forest, change, memory, u, ws):
    """Changes the speeds u of placed links with the factor, from ``change[0]`` to ``change[1]``: what they would be
    without noise, w − z/a2, stays as it is, and of the rest the momentum. ``change[2]`` is the kinetic energy that this
    brings in."""
    nu, before, after = u.size, change[0], change[1]
    move(forest, u, ws, 0, forest.mass.size)
    energy = kinetic_energy(forest, ws)
    for k in range(nu):
        free = memory[HEADER + k] - memory[HEADER + 2 * nu + k] / before
        u[k] = free + (u[k] - free) * after / before
    move(forest, u, ws, 0, forest.mass.size)
    change[2] = kinetic_energy(forest, ws) - energy
