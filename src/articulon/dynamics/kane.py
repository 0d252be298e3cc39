"""Kane's method: O(n³), dense, from partial velocities (Kane and Levinson 1985; Guy 2018, B.36 to B.38).

The k-th partial velocity of a link is its twist at unit speed k and all other speeds zero. Each speed has one equation,
F_k + F*_k = 0: the active forces and the inertia forces, projected on its partial velocities. Loops are embedded: with
M = L Lᵀ and the singular value decomposition of L⁻¹ Jᵀ, the accelerations are split into a part that the loops
prescribe and a part that they leave free. Redundant rows drop out with their singular values.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.inertia import force_of, moment_of, skew
from articulon.algebra.vectors import (
    add,
    apply,
    cross,
    dot,
    isotropic,
    load,
    load_from,
    load_symmetric,
    sub,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.algebra.vectors import load_matrix as load_rotation
from articulon.dynamics import joints
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import accelerate_at_constant_speeds, frames
from articulon.dynamics.loops.conditions import (
    LoopScratch,
    mark_live_rows,
    row_accelerations,
    row_biases,
    row_wrenches,
)
from articulon.dynamics.loops.semidefinite import INDEPENDENT
from articulon.kernels import jit, kernel, routine_that_allocates
from articulon.model.loop_declarations import DRIVE

BLOCK = 64
"""Number of links whose partial velocities are multiplied at once."""


class KaneScratch(NamedTuple):
    """Scratch of Kane's method; it is not part of the state."""

    loops: LoopScratch
    """Scratch of the constraint rows."""
    mass: np.ndarray
    """M, shape (nu, nu)."""
    active: np.ndarray
    """Generalised active forces minus the inertia forces at constant speeds, shape (nu,)."""
    velocity: np.ndarray
    """Partial velocities of a block of links, angular then linear of the origin, shape (6 BLOCK, nu)."""
    momentum: np.ndarray
    """Inertias of the links times their partial velocities, shape (6 BLOCK, nu)."""
    jacobian: np.ndarray
    """Jᵀ, shape (nu, rows)."""
    armature: np.ndarray
    """Diagonal that is added to M, shape (nu,)."""


def kane_scratch(loops: LoopScratch, nu: int, armature: np.ndarray | None = None) -> KaneScratch:
    """Scratch for a model with ``nu`` speeds and armatures (nu,)."""
    rows = loops.residual.size
    return KaneScratch(
        loops,
        np.zeros((nu, nu)),
        np.zeros(nu),
        np.zeros((6 * BLOCK, nu)),
        np.zeros((6 * BLOCK, nu)),
        np.zeros((nu, rows)),
        np.zeros(nu) if armature is None else armature.copy(),
    )


@by_forest
def partial_velocities(forest, ws, i, row, velocity):
    """Writes the partial velocities of link i to rows ``row`` to ``row + 5``, which are zero before. They are those of
    the joints that carry it, (s_ω, s_v + s_ω × r), with r from the joint's link to this one."""
    parent, kinds, axes, u_start = forest.parent, forest.kind, forest.axis, forest.u_start
    here, j = load(ws.position, i), i
    while j >= 0:
        kind = kinds[j]
        frame, body = frames(kind, parent, forest.rotation, ws.quaternion, ws.rotation, j)
        arm = sub(here, load(ws.position, j))
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, j), k, frame, body)
            sv = add(sv, cross(sw, arm))
            for c in range(3):
                velocity[row + c, u_start[j] + k] = sw[c]
                velocity[row + 3 + c, u_start[j] + k] = sv[c]
        j = parent[j]


@by_forest
def project_link(forest, tau, wrench, ws, i, row, solver):
    """Adds link i's active forces, minus its inertia forces at constant speeds, to each equation that it enters. Keeps
    its inertia times its partial velocities for the mass matrix."""
    velocity, momentum, active = solver.velocity, solver.momentum, solver.active
    R = load_rotation(ws.rotation, i)
    w, h = load_from(ws.twist, i, 3), apply(R, load(forest.moment, i))
    A, H, M = symmetric_rotate(R, load_symmetric(forest.inertia, i)), skew(h), isotropic(forest.mass[i])
    aw, av = load_from(ws.acceleration, i, 0), load_from(ws.acceleration, i, 3)
    n = sub(load_from(wrench, i, 3), add(moment_of(A, H, aw, av), cross(w, symmetric_apply(A, w))))
    f = sub(load_from(wrench, i, 0), add(force_of(H, M, aw, av), cross(w, cross(w, h))))
    for k in range(active.size):
        sw = (velocity[row, k], velocity[row + 1, k], velocity[row + 2, k])
        sv = (velocity[row + 3, k], velocity[row + 4, k], velocity[row + 5, k])
        active[k] += dot(sw, n) + dot(sv, f)
        mw, mv = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
        for c in range(3):
            momentum[row + c, k], momentum[row + 3 + c, k] = mw[c], mv[c]


@jit
def project_rows(loops, i, row, solver):
    """Adds the entries of the constraint rows on link i to Jᵀ."""
    velocity, wrench, jacobian = solver.velocity, solver.loops.wrench, solver.jacobian
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            continue
        for side in range(2):
            if (loops.link_b[r] if side == 0 else loops.link_a[r]) != i:
                continue
            f, n = load_from(wrench, r, 6 * side), load_from(wrench, r, 6 * side + 3)
            for k in range(jacobian.shape[0]):
                for c in range(3):
                    jacobian[k, r] += n[c] * velocity[row + c, k] + f[c] * velocity[row + 3 + c, k]


@kernel(allocates=True)
def solve_kane(forest, loops, tau, wrench, gravity, ws, solver, udot):
    """Accelerations (nu,) with all loops, when poses and velocities of the links and given motions are known."""
    links, velocity, momentum, jacobian = forest.mass.size, solver.velocity, solver.momentum, solver.jacobian
    ground = (-gravity[0], -gravity[1], -gravity[2])
    accelerate_at_constant_speeds(forest, ws)
    for i in range(links):
        for c in range(3):
            ws.acceleration[i, 3 + c] += ground[c]
    solver.mass[:] = 0.0
    solver.active[:] = tau
    jacobian[:] = 0.0
    row_wrenches(loops, ws, solver.loops.wrench)
    mark_live_rows(forest, loops, ws, solver.loops)
    for start in range(0, links, BLOCK):
        end = min(start + BLOCK, links)
        velocity[:] = 0.0
        for i in range(start, end):
            row = 6 * (i - start)
            partial_velocities(forest, ws, i, row, velocity)
            project_link(forest, tau, wrench, ws, i, row, solver)
            project_rows(loops, i, row, solver)
        rows = 6 * (end - start)
        solver.mass[:] += np.dot(velocity[:rows].T, momentum[:rows])
    for k in range(udot.size):
        solver.mass[k, k] += solver.armature[k]
    L = np.linalg.cholesky(solver.mass)
    y = forward(L, solver.active)
    if loops.kind.size > 0:
        embed(loops, L, y, ground, ws, solver, udot)
    udot[:] = backward(L, y)


@routine_that_allocates
def forward(L, b):
    """Solves L x = b."""
    x = b.copy()
    for i in range(x.size):
        s = x[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    return x


@routine_that_allocates
def backward(L, b):
    """Solves Lᵀ x = b."""
    x = b.copy()
    for i in range(x.size - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]
    return x


@routine_that_allocates
def embed(loops, L, y, ground, ws, solver, udot):
    """Replaces the part of y = Lᵀ u' that the loops prescribe. With B = L⁻¹ Jᵀ = U Σ Vᵀ, the part of y along U becomes
    −Σ⁻¹ Vᵀ b, where b is φ'' at u' = 0. The multipliers are V Σ⁻¹ times the change."""
    jacobian, rows = solver.jacobian, loops.kind.size
    udot[:] = 0.0
    row_biases(loops, ws, solver.loops.gamma)
    row_accelerations(loops, udot, ground, ws.acceleration, solver.loops)
    B = np.empty((y.size, rows))
    size = np.ones(rows)
    for r in range(rows):
        if loops.kind[r] == DRIVE:
            jacobian[loops.speed[r], r] = 1.0
        B[:, r] = forward(L, jacobian[:, r])
        length = np.sqrt((B[:, r] ** 2).sum())
        if solver.loops.live[r] == 0:
            B[:, r] = 0.0
        elif length > 0.0:
            size[r] = length
            B[:, r] /= length
    U, s, V = np.linalg.svd(B, False)
    multiplier = solver.loops.multiplier
    multiplier[:] = 0.0
    solver.loops.rank[0] = 0
    for k in range(s.size):
        if k >= loops.rank[0] or not s[k] > INDEPENDENT * s[0]:
            continue
        solver.loops.rank[0] += 1
        wanted, present = 0.0, 0.0
        for r in range(rows):
            wanted -= V[k, r] * solver.loops.residual[r] / size[r]
        for j in range(y.size):
            present += U[j, k] * y[j]
        change = wanted / s[k] - present
        for j in range(y.size):
            y[j] += change * U[j, k]
        for r in range(rows):
            multiplier[r] += V[k, r] * change / (s[k] * size[r])
