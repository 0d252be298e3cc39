"""The conditions of loops and driven joints: their values, their rates and their constraint forces.

A row requires φ(q, t) = 0. Its rate is J u − v(t), and its second derivative is J u' + J' u − a(t). Here v and a are
the rate and acceleration of a given motion; they are zero for a loop. The links' accelerations contain the velocity
products of the tree's own joints. So the second derivative is the row's wrench applied to these accelerations, plus the
row's own velocity products γ. The force of a row on the links is Jᵀλ, a wrench on each of two links or a force on one
speed (Mukherjee and Anderson 2007: constraint forces lie in the orthogonal complement of the loop joint's motion). All
vectors are in world axes.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import types

from articulon.algebra.vectors import ZERO, add, apply, cross, dot, load, load_from, load_matrix, scale, store_from, sub
from articulon.dynamics import joints
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import frames
from articulon.kernels import first_class, jit
from articulon.model.forest_tables import Forest, Loops, Motions
from articulon.model.joints.base import TRANSLATION
from articulon.model.loop_declarations import DRIVE

MOTION = types.void(types.float64, types.float64[::1])
"""A motion as a function: (time, result), with result = (coordinate, rate, acceleration)."""

ROUNDING = 1e-10
"""An entry of J below this, relative to the sizes of its terms, counts as zero: rounding of the levers adds some 1e-16
for each link of a path, and loops are closed to 1e-13."""


class LoopScratch(NamedTuple):
    """Scratch for the solution of loops; it is not part of the state."""

    wrench: np.ndarray
    """Unit force of each row on link b, then on link a: force and moment about the link's origin, shape (rows, 12)."""
    residual: np.ndarray
    """φ of each row, or the error of its rate or acceleration, shape (rows,)."""
    gamma: np.ndarray
    """Part γ of each row's second derivative that does not contain the links' accelerations, shape (rows,)."""
    motion: np.ndarray
    """Value, rate and acceleration of each given motion, shape (motions, 3)."""
    multiplier: np.ndarray
    """Multipliers λ, shape (rows,)."""
    correction: np.ndarray
    """Correction of λ, shape (rows,)."""
    matrix: np.ndarray
    """J M⁻¹ Jᵀ, then its factor, shape (rows, rows)."""
    scale: np.ndarray
    """1/√ of the diagonal of ``matrix``, shape (rows,)."""
    pivot: np.ndarray
    """Order of elimination, shape (rows,)."""
    whitened: np.ndarray
    """Effect of each row on every joint on a path, divided by the root of the joint's inertia, shape (rows, speeds on
    paths)."""
    articulated: np.ndarray
    """Articulated inertia of every link before its joint is eliminated, shape (links, 21)."""
    columns: np.ndarray
    """S L⁻ᵀ and I S L⁻ᵀ of the joints on paths, with Sᵀ I S = L Lᵀ, shape (path, 2, 6, 6)."""
    inverse: np.ndarray
    """L⁻¹ of the same joints, shape (path, 6, 6)."""
    tau: np.ndarray
    """Generalised forces, including those of the loops, shape (nu,)."""
    total: np.ndarray
    """Wrenches, including those of the loops, shape (links, 6)."""
    response: np.ndarray
    """Accelerations, displacements or jumps of speed that the loops' forces cause, shape (nu,)."""
    still: np.ndarray
    """Zero twists, shape (links, 6)."""
    no_bias: np.ndarray
    """Zero velocity products, shape (links, 6)."""
    live: np.ndarray
    """1 for rows that act on some joint, shape (rows,)."""
    rank: np.ndarray
    """Number of independent rows in the latest solution, and the row with the largest error after the latest
    projection, shape (2,)."""
    left: np.ndarray
    """Error of that row, relative to its size, shape (1,)."""
    drift: np.ndarray
    """Largest error of any row, and of its rate, before the latest projection removed it, shape (2,)."""


def loop_scratch(forest: Forest, loops: Loops, motions: Motions, nu: int) -> LoopScratch:
    """Zeroed arrays for a model's loops."""
    m, n, path = loops.kind.size, forest.mass.size, loops.path.size
    some = n if m else 0
    return LoopScratch(
        wrench=np.zeros((m, 12)),
        residual=np.zeros(m),
        gamma=np.zeros(m),
        motion=np.zeros((motions.function.size, 3)),
        multiplier=np.zeros(m),
        correction=np.zeros(m),
        matrix=np.zeros((m, m)),
        scale=np.zeros(m),
        pivot=np.zeros(m, dtype=np.int64),
        whitened=np.zeros((m, int(loops.column[-1]))),
        articulated=np.zeros((some, 21)),
        columns=np.zeros((path, 2, 6, 6)),
        inverse=np.zeros((path, 6, 6)),
        tau=np.zeros(nu),
        total=np.zeros((n, 6)),
        response=np.zeros(nu),
        still=np.zeros((some, 6)),
        no_bias=np.zeros((some, 6)),
        live=np.zeros(m, dtype=np.int64),
        rank=np.zeros(2, dtype=np.int64),
        left=np.zeros(1),
        drift=np.zeros(2),
    )


@first_class
def no_motion(time, result):
    pass


@jit
def evaluate_motions(motions, functions, time, motion):
    """Value, rate and acceleration of every given motion at a time."""
    for k in range(motions.function.size):
        if motions.function[k] >= 0:
            functions[motions.function[k]](time, motion[k])
            continue
        i, last = motions.start[k], motions.start[k + 1] - 2
        while i < last and motions.knots[i + 1] <= time:
            i += 1
        x = time - motions.knots[i]
        a, b, c, d = (
            motions.coefficients[i, 0],
            motions.coefficients[i, 1],
            motions.coefficients[i, 2],
            motions.coefficients[i, 3],
        )
        motion[k, 0] = ((a * x + b) * x + c) * x + d
        motion[k, 1] = (3.0 * a * x + 2.0 * b) * x + c
        motion[k, 2] = 6.0 * a * x + 2.0 * b


@jit
def turned(ws, i, v):
    """A direction of link i, or of the ground, in world axes."""
    if i < 0:
        return v
    return apply(load_matrix(ws.rotation, i), v)


@jit
def origin_of(ws, i):
    """Origin of link i, or of the world for the ground, world axes."""
    if i < 0:
        return ZERO
    return load(ws.position, i)


@jit
def twist_of(array, i):
    """Angular velocity and velocity of the origin of link i in an array (links, 6) whose linear part is first; zero for
    the ground."""
    if i < 0:
        return ZERO, ZERO
    return load_from(array, i, 3), load_from(array, i, 0)


@jit
def row_vectors(loops, ws, r):
    """Direction n of a row, the arm from b's origin to b's point, and the lever from a's origin to that point, world
    axes. For a row that compares directions, the direction m replaces both arm and lever."""
    a, b = loops.link_a[r], loops.link_b[r]
    n = turned(ws, a, load(loops.fixed, r))
    if loops.kind[r] == TRANSLATION:
        arm = turned(ws, b, load(loops.point_b, r))
        return n, arm, add(arm, sub(origin_of(ws, b), origin_of(ws, a)))
    m = turned(ws, b, load(loops.moving, r))
    return n, m, m


@jit
def row_residuals(loops, q, ws, motion, residual):
    """Residuals φ of every row for links with known poses."""
    for r in range(loops.kind.size):
        kind, a, b = loops.kind[r], loops.link_a[r], loops.link_b[r]
        if kind == DRIVE:
            residual[r] = q[loops.coordinate[r]] - motion[loops.motion[r], 0]
            continue
        n = turned(ws, a, load(loops.fixed, r))
        if kind == TRANSLATION:
            # Subtract the origins first: both may be far from the world's origin, and their difference is exact if they
            # are close to each other.
            apart = sub(origin_of(ws, b), origin_of(ws, a))
            arms = sub(turned(ws, b, load(loops.point_b, r)), turned(ws, a, load(loops.point_a, r)))
            residual[r] = dot(n, add(apart, arms))
        else:
            residual[r] = dot(n, turned(ws, b, load(loops.moving, r)))


@jit
def row_wrenches(loops, ws, wrench):
    """The unit force of every row on its two links, for links with known poses: the rows of J."""
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            continue
        n, arm, lever = row_vectors(loops, ws, r)
        if loops.kind[r] == TRANSLATION:  # both forces act at b's point
            store_from(wrench, r, 0, n)
            store_from(wrench, r, 3, cross(arm, n))
            store_from(wrench, r, 6, scale(-1.0, n))
            store_from(wrench, r, 9, cross(n, lever))
        else:
            t = cross(arm, n)
            store_from(wrench, r, 0, ZERO)
            store_from(wrench, r, 3, t)
            store_from(wrench, r, 6, ZERO)
            store_from(wrench, r, 9, scale(-1.0, t))


@jit
def mark_live_rows(forest, loops, ws, arrays, locked=None):
    """Marks the rows that act on any joint: those with an entry of J above the rounding of its terms. If no joint
    allows the motion that the row constrains, its entries are only rounding errors of zero. Speeds that are ``locked``
    (nu,) do not count."""
    parent, live, wrench = forest.parent, arrays.live, arrays.wrench
    for r in range(loops.kind.size):
        live[r] = 1
        if loops.kind[r] == DRIVE:
            continue
        a, b = loops.link_a[r], loops.link_b[r]
        fb, nb = load_from(wrench, r, 0), load_from(wrench, r, 3)
        fa, na = load_from(wrench, r, 6), load_from(wrench, r, 9)
        # Sizes of force and moment before terms cancel: a unit force with its lever, or the product of two unit
        # directions.
        force, size_a, size_b = 0.0, 1.0, 1.0
        if loops.kind[r] == TRANSLATION:
            arm = turned(ws, b, load(loops.point_b, r))
            force, size_b, size_a = 1.0, norm(arm), norm(arm) + norm(sub(origin_of(ws, b), origin_of(ws, a)))
        live[r] = 0
        # Parents come before their children, so the outer of the two links has the larger index. Below the link where
        # the paths meet, the two sides act on different joints; above it they cancel.
        while a != b:
            if b > a:
                if acts(forest, ws, b, nb, fb, size_b, force, locked):
                    live[r] = 1
                    break
                nb = add(nb, cross(load(ws.reach, b), fb))
                size_b += force * norm(load(ws.reach, b))
                b = parent[b]
            else:
                if acts(forest, ws, a, na, fa, size_a, force, locked):
                    live[r] = 1
                    break
                na = add(na, cross(load(ws.reach, a), fa))
                size_a += force * norm(load(ws.reach, a))
                a = parent[a]


@jit
def norm(v):
    return math.sqrt(dot(v, v))


@by_forest
def acts(forest, ws, i, n, f, moment, force, locked):
    """Whether a moment and force on link i, about its origin, have power in its joint. Power below the rounding error
    of terms of the sizes ``moment`` and ``force`` does not count."""
    kind = forest.kind[i]
    frame, body = frames(kind, forest.parent, forest.rotation, ws.quaternion, ws.rotation, i)
    for k in range(joints.degrees_of_freedom(kind)):
        if locked is not None and locked[forest.u_start[i] + k]:
            continue
        sw, sv = joints.column(kind, load(forest.axis, i), k, frame, body)
        if abs(dot(sw, n) + dot(sv, f)) > ROUNDING * (moment * norm(sw) + force * norm(sv)):
            return True
    return False


@jit
def row_biases(loops, ws, gamma):
    """Velocity products γ: the part of every row's second derivative that does not contain the links' accelerations,
    for links with known poses and velocities."""
    for r in range(loops.kind.size):
        gamma[r] = 0.0
        if loops.kind[r] == DRIVE:
            continue
        n, arm, lever = row_vectors(loops, ws, r)
        wa, va = twist_of(ws.twist, loops.link_a[r])
        wb, vb = twist_of(ws.twist, loops.link_b[r])
        if loops.kind[r] == TRANSLATION:
            # Motion of b's point in the frame of a, and its Coriolis and centripetal accelerations.
            slip = sub(add(vb, cross(wb, arm)), add(va, cross(wa, lever)))
            swept = sub(cross(wb, cross(wb, arm)), cross(wa, cross(wa, lever)))
            gamma[r] = dot(n, sub(swept, scale(2.0, cross(wa, slip))))
        else:
            change = add(cross(cross(wb, arm), n), cross(arm, cross(wa, n)))
            gamma[r] = dot(sub(wb, wa), change)


@jit
def on_links(loops, wrench, r, array, linear, angular):
    """Row r of J times the link vectors in ``array``, from columns ``linear`` and ``angular`` on."""
    total = 0.0
    a, b = loops.link_a[r], loops.link_b[r]
    if b >= 0:
        total += dot(load_from(wrench, r, 0), load_from(array, b, linear))
        total += dot(load_from(wrench, r, 3), load_from(array, b, angular))
    if a >= 0:
        total += dot(load_from(wrench, r, 6), load_from(array, a, linear))
        total += dot(load_from(wrench, r, 9), load_from(array, a, angular))
    return total


@jit
def row_rates(loops, u, ws, wrench, motion, rate):
    """Rates φ' = J u − v of every row for links with known velocities."""
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            rate[r] = u[loops.speed[r]] - motion[loops.motion[r], 1]
        else:
            rate[r] = on_links(loops, wrench, r, ws.twist, 0, 3)


@jit
def row_accelerations(loops, udot, ground, acceleration, arrays):
    """Writes φ'' of every row to ``residual``, from the accelerations of the links, angular then linear, in a frame in
    which the ground has the acceleration ``ground``."""
    wrench, gamma, motion, result = arrays.wrench, arrays.gamma, arrays.motion, arrays.residual
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            result[r] = udot[loops.speed[r]] - motion[loops.motion[r], 2]
            continue
        total = on_links(loops, wrench, r, acceleration, 3, 0)
        if loops.link_b[r] < 0:
            total += dot(load_from(wrench, r, 0), ground)
        if loops.link_a[r] < 0:
            total += dot(load_from(wrench, r, 6), ground)
        result[r] = total + gamma[r]


@jit
def add_loop_forces(loops, wrench, multiplier, tau, total):
    """Adds Jᵀλ: wrenches to ``total`` (links, 6), forces of drives to ``tau`` (nu,)."""
    for r in range(loops.kind.size):
        s = multiplier[r]
        if loops.kind[r] == DRIVE:
            tau[loops.speed[r]] += s
            continue
        a, b = loops.link_a[r], loops.link_b[r]
        for k in range(6):
            if b >= 0:
                total[b, k] += s * wrench[r, k]
            if a >= 0:
                total[a, k] += s * wrench[r, 6 + k]


@jit
def drive_power(loops, u, multiplier):
    """Power of the forces that drive joints [energy/time]; the forces of loops do no work."""
    power = 0.0
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            power += multiplier[r] * u[loops.speed[r]]
    return power
