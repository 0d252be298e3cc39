"""Lag of the motions of a model behind the forces on them, for scaling laws that bound the lag.

Without inertia the bodies would move at the drift velocities w of ζ(q) w = Γ(q, t), with the drag ζ and all other
forces Γ except noise. With the scaling factor a2, the bodies lag behind the drift velocities by ζ⁻¹ M w'/a2, where w'
is averaged over the memory of each motion, τ/a2. This module computes the lag without the factor, z = ζ⁻¹ M w', of
every speed of every joint, by the articulated equations, with the matrices M and ζ of the trees, not with those of
separate points. Lags are combined by *groups*: the translation of a free body, the rotation of a body or of a joint. A
group that moves at the velocity w falls behind by the fraction |z|/(a2 |w|) of its displacement; if it hardly moves,
|w| is replaced by the range of its motion so far, divided by the elapsed time. Scaling therefore delays the group by a
time D with

    dD/dt = (1/a2 − 1) z·w/|w|²,

with the sign of the lag: the displacement that is lost while a force grows is regained while the force falls. A joint
held by a spring forgets its delay as fast as the spring restores the joint, at the rate κ minus the rate at which its
own motion slows down: in a time t its lag counts for t/(1 + κ t).

Samples are taken at intervals of a hundredth of the slowest memory, so that they cost little if steps are much shorter.

Where noise acts, w' is the mean over the slowest memory for all groups. The noise then affects a2, and through it the
mass m/a2. If the speeds were kept when a2 changes, a body whose a2 depends on its position would feel the force
−kT ∇ ln a2, and half of it if a2 follows with the delay τ/a2. Therefore the thermal part v of the speeds keeps its
momentum m v/a2: positions then follow β x' = Γ + noise − p' with p = m v/a2, which contains no product of noise and
factor.
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
"""Places in ``State.memory``: the number of samples so far, the time of the last sample, the factor of the drag at that
time, the time at which that factor last changed, the time of the first sample, and the delay since then. For every
speed the drift velocity, its mean rate, the lag z and the displacement so far follow; and for every group its range and
its delay."""
APART = 0.01
"""Time between two samples, relative to the slowest memory."""
SPENT = 0.2
"""Fraction of the time since the start in which a joint may use up the rest of its allowed delay."""


class Followed(NamedTuple):
    """Tracked groups, and scratch arrays."""

    start: np.ndarray
    """First speed of each group, and the number of speeds, shape (groups + 1,)."""
    relaxation: np.ndarray
    """τ of each group [time], 0 if it has no drag and is not tracked, shape (groups,)."""
    stiffness: np.ndarray
    """Rate κ at which a spring restores a joint against drag [1/time], shape (groups,)."""
    within: np.ndarray
    """Whether a group belongs to a joint between bodies, and not to the motion of a whole tree, shape (groups,)."""
    least: np.ndarray
    """Smallest range of a group: smaller ranges are replaced by it [length or rad], shape (groups,)."""
    wholes: np.ndarray
    """First link of every tree, and the number of links, if only whole trees are tracked, shape (trees + 1,); (0,) if
    joints are tracked."""
    slowest: np.ndarray
    """The longest relaxation time of the model [time]; 1 if noise acts, else 0; and the target delay, relative to the
    time since the start; shape (3,)."""
    inertia: np.ndarray
    """Drag of the links in the form of an inertia, with substitutes for zeros if a rotation has no drag, shape (links,
    6)."""
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
    """Twists with the rates w', shape (links, 6)."""
    bias: np.ndarray
    """Scratch, shape (links, 6)."""


def memory_size(speeds: int, groups: int) -> int:
    """Size of ``State.memory`` for given numbers of speeds and groups."""
    return HEADER + 4 * speeds + 2 * groups


@jit
def find_drift(forest, drag, gravity, wrench, joint, wrench_channels, joint_channels, ws, followed):
    """Compute drift velocities, into ``followed.drift``, at links whose poses and channels are known."""
    total, tau = followed.total, followed.tau
    find_forces(wrench, wrench_channels, followed)
    tau[:] = 0.0
    for c in joint_channels:
        if c != DAMPING:
            for k in range(tau.size):
                tau[k] += joint[c, k]
    still = at_rest(ws, followed)
    drag_wrenches(drag, still, total)  # the drag by the flow
    gravity_wrenches(forest, (gravity[0], gravity[1], gravity[2]), ws, total)
    balance(forest, drag, tau, total, ws, followed, followed.drift)


@jit
def find_drift_of_wholes(forest, drag, gravity, wrench, wrench_channels, ws, followed):
    """Compute the drift velocities of whole trees: the net force divided by the total drag of each, in the frame of its
    root."""
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
    """Sum all forces on the links except drag and noise."""
    total = followed.total
    total[:] = 0.0
    for c in wrench_channels:
        if c == POTENTIAL or c == CONFORMATIONAL or c == CONTACT or c == EXTERNAL:
            for i in range(total.shape[0]):
                for k in range(6):
                    total[i, k] += wrench[c, i, k]


@jit
def balance(forest, drag, tau, wrench, ws, followed, u):
    """Solve ζ u = τ + Jᵀ w for u."""
    still, links = at_rest(ws, followed), drag.mass.size
    eliminate(forest, drag.mass, drag.moment, followed.inertia, tau, wrench, still, 0, links)
    accelerate(forest, (0.0, 0.0, 0.0), still, u, 0, links)


@jit
def find_lag(forest, drag, rates, lag, ws, followed):
    """Compute ζ⁻¹ M w' for rates w'."""
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
    """Take a sample of the forces after an evaluation, if it is due; ``looked`` (1,) is then 1, else 0.

    Writes the largest lag of all trees, unscaled and as a fraction of the displacement, infinite at the first sample,
    with its rate and its relaxation time; the factor that joints need; the longest relaxation time; the times since the
    factor last changed and since the first sample; and the largest delay of a tree.
    """
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
            # The mean starts from zero, so that a change which is over after the first step does not count as lasting.
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
    """Change the speeds u, at links whose poses are known, with the factor, from ``change[0]`` to ``change[1]``:
    the part without noise, w − z/a2, is kept, and the rest keeps its momentum. ``change[2]`` is the kinetic energy that
    this adds."""
    nu, before, after = u.size, change[0], change[1]
    move(forest, u, ws, 0, forest.mass.size)
    energy = kinetic_energy(forest, ws)
    for k in range(nu):
        free = memory[HEADER + k] - memory[HEADER + 2 * nu + k] / before
        u[k] = free + (u[k] - free) * after / before
    move(forest, u, ws, 0, forest.mass.size)
    change[2] = kinetic_energy(forest, ws) - energy
