"""How fast the net forces change along a run: what a scaling law that bounds the lag reads.

Scaled by a2, a tree of bodies with the mass m and the drag coefficient β follows the net force G on it by
(τ/a2) v' + v = G/β with τ = m/β: its velocity lags the steady one by about (τ/a2) |G'|/|G|, where G is that of all
forces but drag and noise. G' is the mean rate over the tree's own memory, ∫ Ġ(t') exp(−(t − t') a2/τ) dt' a2/τ, since a
tree feels nothing faster; so noise in the positions counts as far as it moves the trees.

That mean over the memory is no approximation: where the factor is steady, ∫ Ġ(t') exp(−(t − t') a2/τ) dt' is just what
the velocity, times β, is short of G. A tree that is short of the part y of its speed gets later by y in a unit of time,
so that the scaling makes it late by ∫ (1/a2 − 1) τ |G'|/|G| dt, and by about τ more for its start from rest. Noise
only adds to this: |G'| is at least the size of its mean.
"""

import math

import numpy as np

from articulon.errors import CaseError
from articulon.forces.evaluation import Evaluator
from articulon.kernels import jit
from articulon.model.joints import FREE, XYZ
from articulon.model.state import CONFORMATIONAL, CONTACT, DAMPING, EXTERNAL, POTENTIAL
from articulon.scaling.base import AGE, DELAY, ELAPSED, LAG, RELAXATION

LOOKS, TIME, FACTOR, CHANGED, BEGAN, LATE, TREES = range(7)
"""What ``State.memory`` holds: the number of looks so far, the time of the last, the factor of the drag then, the time
at which that last changed, the time of the first look, and the delay since then; then G and its rate (6,) of every
tree."""


def memory_size(trees: int) -> int:
    """Size of ``State.memory`` for a number of trees."""
    return TREES + 6 * trees


def check_followed(evaluator: Evaluator, policy: str) -> None:
    """Raises CaseError, naming a body, where no tree floats freely, one that does has no drag, or a loop binds a tree:
    then no net force says how it moves."""
    model, drag = evaluator.model, evaluator.system.forces.drag.mass
    forest, floating = model.forest, 0
    for t in range(model.trees):
        start, end = int(forest.tree[t]), int(forest.tree[t + 1])
        if int(forest.kind[start]) not in (FREE, XYZ):
            continue
        floating += 1
        if not drag[start:end].any():
            raise CaseError(
                f"scaling.policy: '{policy}' bounds how far bodies lag behind the forces on them by their relaxation "
                f"times m/β, and there is no drag on '{model.names[int(model.head[start])]}' or what hangs on it; add "
                "stokes-drag, or choose another policy (without drag, scaling is only a slower clock)"
            )
    if not floating:
        root = int(model.head[0])
        raise CaseError(
            f"scaling.policy: '{policy}' follows the net force on bodies that float freely, and there are none: "
            f"'{model.names[root]}' hangs on the ground by a {model.joint_name(root)} joint; choose another policy, "
            "such as constant"
        )
    for row, (a, b) in enumerate(zip(model.loops.link_a.tolist(), model.loops.link_b.tolist(), strict=True)):
        if a < 0 or b < 0 or model.tree_of_link[a] != model.tree_of_link[b]:
            raise CaseError(
                f"scaling.policy: '{policy}' follows the net forces on bodies that float freely, and "
                f"{model.loop_name(row)} binds some to others or to the ground; choose another policy, such as constant"
            )


@jit
def net_force(system, channels, start, end):
    """The net force on the links from start to end but for drag and noise, with their mass and drag coefficient."""
    wrench, forces = channels.wrench, system.forces
    x, y, z, mass, drag = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(start, end):
        mass += system.forest.mass[i]
        drag += forces.drag.mass[i]
    for c in forces.wrench_channels:
        if c == POTENTIAL or c == CONFORMATIONAL or c == CONTACT or c == EXTERNAL:
            for i in range(start, end):
                x, y, z = x + wrench[c, i, 0], y + wrench[c, i, 1], z + wrench[c, i, 2]
    g = forces.gravity
    return (x + mass * g[0], y + mass * g[1], z + mass * g[2]), mass, drag


@jit
def follow(system, channels, time, factor, memory, sums):
    """Looks at the net forces: writes the largest τ |G'|/|G| of all floating trees, infinite before two looks, their
    longest τ, the times since the factor last changed and since the first look, and the delay since that."""
    tree, looks, h = system.forest.tree, memory[LOOKS], time - memory[TIME]
    if looks == 0.0:
        memory[CHANGED] = memory[BEGAN] = time
    elif factor[DAMPING] != memory[FACTOR]:
        memory[CHANGED] = memory[TIME]
    largest, longest = 0.0, 0.0
    for t in range(tree.size - 1):
        k, root = TREES + 6 * t, system.forest.kind[tree[t]]
        if root != FREE and root != XYZ:  # the ground takes part of the force
            continue
        force, mass, drag = net_force(system, channels, tree[t], tree[t + 1])
        relaxation = mass / drag
        keep = math.exp(-h * memory[FACTOR] / relaxation) if looks > 1.0 else 0.0
        rate, size = 0.0, 0.0
        for a in range(3):
            if h > 0.0:
                memory[k + 3 + a] = keep * memory[k + 3 + a] + (1.0 - keep) * (force[a] - memory[k + a]) / h
            memory[k + a] = force[a]
            rate += memory[k + 3 + a] ** 2
            size += force[a] ** 2
        if rate > 0.0:
            largest = max(largest, relaxation * math.sqrt(rate / size))
        longest = max(longest, relaxation)
    if looks == 0.0:
        memory[LATE] = longest
    else:
        memory[LATE] += h * (1.0 / memory[FACTOR] - 1.0) * largest
    sums[LAG] = largest if looks > 0.0 else np.inf
    sums[RELAXATION], sums[AGE], sums[DELAY] = longest, time - memory[BEGAN], memory[LATE]
    sums[ELAPSED] = time - memory[CHANGED]
    memory[LOOKS], memory[TIME], memory[FACTOR] = min(looks + 1.0, 2.0), time, factor[DAMPING]
