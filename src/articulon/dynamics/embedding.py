"""Euler parameters integrated by their accelerations, with the constraint |e| = 1 embedded (Guy 2018, appendices B and
C).

The rotational equation of a spherical or free joint, M ω' = g, becomes an equation for e'' by ω = L e' with L = 2E(e),
3×4: M₄ e'' = Lᵀ g with M₄ = Lᵀ M L of rank three, since E(e')e' = 0 leaves no velocity products (B.58). One parameter,
p, depends on the three others, m, by e·e' = 0: e'_p = A e'_m with A = −e_mᵀ/e_p (C.2), e''_p = A e''_m − |e'|²/e_p
(C.6). A permutation sorts the parameters into (m, p) (C.4). The reduced equation

    (M_mm + Aᵀ M_pm + M_mp A + Aᵀ M_pp A) e''_m = Γ_m + Aᵀ Γ_p − (M_mp + Aᵀ M_pp)(−|e'|²/e_p)          (C.14)

is solved for the independent accelerations, from which the dependent one follows. This is done joint by joint, on the
equation that the recursion leaves for each joint, with M the link's articulated inertia. So the result is the angular
accelerations, expressed in other variables, and does not depend on which parameter is dependent. At the end of a step
the dependent parameter and its rate follow from the others too, so that the constraint holds to rounding without
renormalisation. A is singular where e_p = 0. The dependent parameter is therefore switched when another has become
twice as large (Haghshenas-Jaryani and Bowling 2013 choose by conditioning), so that |e_p| > 1/4 and no entry of A is
above 4.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import quaternion_at
from articulon.algebra.vectors import (
    dot,
    factorise,
    load_at,
    load_matrix,
    load_symmetric,
    solve,
    store_at,
    symmetric_apply,
    symmetric_rotate,
    transpose,
)
from articulon.dynamics import joints
from articulon.dynamics.loops.conditions import LoopScratch, loop_scratch
from articulon.kernels import jit, kernel
from articulon.model import Model, kernel_tables

SWITCH = 2.0
"""Ratio of another parameter to the dependent one, above which the other one becomes dependent."""


class EmbeddingScratch(NamedTuple):
    """Scratch for embedded Euler parameters."""

    loops: LoopScratch
    """Scratch of the loops, including every link's articulated inertia."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    udot: np.ndarray
    """Rates of the speeds, shape (nu,)."""
    dependent: np.ndarray
    """Index of the dependent parameter, at the first coordinate of each set of Euler parameters, shape (nq,)."""
    switches: np.ndarray
    """Total number of switches, shape (1,)."""


@jit
def angular_velocity(e, edot):
    """ω = 2E(e) e', body frame (Guy 2018, B.17; rows of E in scalar-first order)."""
    return (
        2.0 * (-e[1] * edot[0] + e[0] * edot[1] + e[3] * edot[2] - e[2] * edot[3]),
        2.0 * (-e[2] * edot[0] - e[3] * edot[1] + e[0] * edot[2] + e[1] * edot[3]),
        2.0 * (-e[3] * edot[0] + e[2] * edot[1] - e[1] * edot[2] + e[0] * edot[3]),
    )


@jit
def speeds_of_rates(forest, q, qdot, u):
    """Speeds u (nu,) of the coordinate rates q'."""
    for i in range(forest.kind.size):
        kind, k, j = forest.kind[i], forest.q_start[i], forest.u_start[i]
        at = joints.quaternion(kind)
        plain = joints.degrees_of_freedom(kind) if at < 0 else at
        for c in range(plain):
            u[j + c] = qdot[k + c]
        if at >= 0:
            store_at(u, j + at, angular_velocity(quaternion_at(q, k + at), quaternion_at(qdot, k + at)))


@jit
def permuted(p):
    """The three independent parameters, in order, when p is the dependent one (C.5)."""
    return (1 if p == 0 else 0, 1 if p > 1 else 2, 2 if p == 3 else 3)


@jit
def embedded_acceleration(M, g, e, edot, p):
    """Second derivative e'' from the rotational equation M ω' = g, with parameter p dependent (C.8 to C.17)."""
    m = permuted(p)
    # Columns of L = 2E(e): the body's ω when one parameter has unit rate.
    L = (
        (-2.0 * e[1], -2.0 * e[2], -2.0 * e[3]),
        (2.0 * e[0], -2.0 * e[3], 2.0 * e[2]),
        (2.0 * e[3], 2.0 * e[0], -2.0 * e[1]),
        (-2.0 * e[2], 2.0 * e[1], 2.0 * e[0]),
    )
    Lp, ML = L[p], symmetric_apply(M, L[p])
    a = (-e[m[0]] / e[p], -e[m[1]] / e[p], -e[m[2]] / e[p])
    b = (L[m[0]], L[m[1]], L[m[2]])
    Mb = (symmetric_apply(M, b[0]), symmetric_apply(M, b[1]), symmetric_apply(M, b[2]))
    Mmp = (dot(b[0], ML), dot(b[1], ML), dot(b[2], ML))
    Mpp = dot(Lp, ML)
    reduced = (
        dot(b[0], Mb[0]) + 2.0 * a[0] * Mmp[0] + a[0] * a[0] * Mpp,
        dot(b[0], Mb[1]) + a[0] * Mmp[1] + a[1] * Mmp[0] + a[0] * a[1] * Mpp,
        dot(b[0], Mb[2]) + a[0] * Mmp[2] + a[2] * Mmp[0] + a[0] * a[2] * Mpp,
        dot(b[1], Mb[1]) + 2.0 * a[1] * Mmp[1] + a[1] * a[1] * Mpp,
        dot(b[1], Mb[2]) + a[1] * Mmp[2] + a[2] * Mmp[1] + a[1] * a[2] * Mpp,
        dot(b[2], Mb[2]) + 2.0 * a[2] * Mmp[2] + a[2] * a[2] * Mpp,
    )
    speed2 = edot[0] * edot[0] + edot[1] * edot[1] + edot[2] * edot[2] + edot[3] * edot[3]
    s = -speed2 / e[p]
    gp = dot(Lp, g)
    right = (
        dot(b[0], g) + a[0] * gp - s * (Mmp[0] + a[0] * Mpp),
        dot(b[1], g) + a[1] * gp - s * (Mmp[1] + a[1] * Mpp),
        dot(b[2], g) + a[2] * gp - s * (Mmp[2] + a[2] * Mpp),
    )
    x = solve(factorise(reduced), right)
    xp = dot(a, x) + s
    # Restore the order of the parameters: those before p come first in m.
    return (
        xp if p == 0 else x[0],
        xp if p == 1 else (x[0] if p < 1 else x[1]),
        xp if p == 2 else (x[1] if p < 2 else x[2]),
        xp if p == 3 else x[2],
    )


@jit
def embedded_accelerations(forest, ws, articulated, q, qdot, udot, dependent, qddot):
    """Second derivatives q'' of every joint, from u' and the articulated inertias of its solution."""
    for i in range(forest.kind.size):
        kind, k, j = forest.kind[i], forest.q_start[i], forest.u_start[i]
        at = joints.quaternion(kind)
        plain = joints.degrees_of_freedom(kind) if at < 0 else at
        for c in range(plain):
            qddot[k + c] = udot[j + c]
        if at >= 0:
            # The equation of the joint alone, when the parent's acceleration is known. M is the articulated inertia for
            # its rotation, body frame. The translations of a free joint are eliminated or held in both forms of the
            # equation.
            M = symmetric_rotate(transpose(load_matrix(ws.rotation, i)), load_symmetric(articulated, i))
            g = symmetric_apply(M, load_at(udot, j + at))
            e, edot = quaternion_at(q, k + at), quaternion_at(qdot, k + at)
            x = embedded_acceleration(M, g, e, edot, dependent[k + at])
            qddot[k + at], qddot[k + at + 1], qddot[k + at + 2], qddot[k + at + 3] = x[0], x[1], x[2], x[3]


@jit
def embed_dependents(forest, q, qdot, dependent, switches):
    """Finds dependent parameters and rates from the independent ones; then switches if another one is much larger."""
    for i in range(forest.kind.size):
        at = joints.quaternion(forest.kind[i])
        if at < 0:
            continue
        k = forest.q_start[i] + at
        p, squares, products = dependent[k], 0.0, 0.0
        for c in range(4):
            if c != p:
                squares += q[k + c] * q[k + c]
                products += q[k + c] * qdot[k + c]
        q[k + p] = math.copysign(math.sqrt(max(1.0 - squares, 0.0)), q[k + p])
        qdot[k + p] = -products / q[k + p]
        largest = p
        for c in range(4):
            if abs(q[k + c]) > abs(q[k + largest]):
                largest = c
        if abs(q[k + largest]) > SWITCH * abs(q[k + p]):
            dependent[k] = largest
            switches[0] += 1


@jit
def rates_of_speeds(forest, q, u, qdot):
    """Coordinate rates q' (nq,) of the speeds u."""
    for i in range(forest.kind.size):
        joints.rates(forest.kind[i], q, forest.q_start[i], u, forest.u_start[i], qdot)


@kernel
def begin(forest, q, u, rate, dependent):
    """Coordinate rates (nq,) for the speeds of a state. The largest parameter of each set becomes the dependent one."""
    rates_of_speeds(forest, q, u, rate)
    for i in range(forest.kind.size):
        at = joints.quaternion(forest.kind[i])
        if at >= 0:
            k = forest.q_start[i] + at
            for c in range(4):
                if abs(q[k + c]) > abs(q[k + dependent[k]]):
                    dependent[k] = c


@kernel
def speeds(forest, q, rate, u):
    """Speeds u (nu,) of coordinate rates (nq,)."""
    speeds_of_rates(forest, q, rate, u)


def embedding_scratch(model: Model) -> EmbeddingScratch:
    """Zeroed arrays for a model."""
    loops = loop_scratch(*kernel_tables(model), model.nu)
    return EmbeddingScratch(
        loops._replace(articulated=np.zeros((model.forest.mass.size, 21))),
        np.zeros(model.nu),
        np.zeros(model.nu),
        np.zeros(model.nq, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )
