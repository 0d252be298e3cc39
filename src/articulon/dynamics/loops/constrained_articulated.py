"""The articulated-body algorithm with loops: O(n + m d + m² d + m³) for m rows on paths of d joints.

The recursion first solves the open tree. A unit force of each row is then carried inward along its two paths, with the
joints already eliminated. Its effects on the joints of the paths, each divided by the root of the joint's inertia, are
a row of E, and J M⁻¹ Jᵀ = E Eᵀ. The multipliers follow from the error of the open tree's accelerations, and a second
recursion adds their forces. The pivoted factorisation leaves out rows that depend on others.
"""

import math

from articulon.algebra.inertia import force_of, moment_of
from articulon.algebra.vectors import add, cross, dot, load, load_from, load_symmetric
from articulon.dynamics import joints
from articulon.dynamics.articulated import accelerate, eliminate_and_keep
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import accelerate_at_constant_speeds, frames, move, place
from articulon.dynamics.loops.conditions import (
    add_loop_forces,
    evaluate_motions,
    mark_live_rows,
    on_links,
    row_biases,
    row_rates,
    row_residuals,
    row_wrenches,
)
from articulon.dynamics.loops.semidefinite import factorise_semidefinite, solve_semidefinite
from articulon.kernels import jit, kernel
from articulon.model.forest_tables import Workspace
from articulon.model.joints.base import TRANSLATION
from articulon.model.loop_declarations import DRIVE

CLOSED = 1e-14
"""Relative error of a row at which a projection of positions ends: φ, divided by the size of the terms whose difference
is φ."""
OPEN = 1e-9
"""Relative error of the same kind above which a state does not satisfy its loops."""


@jit
def factor_paths(forest, loops, ws, diagonal, arrays):
    """W = S L⁻ᵀ, V = I S L⁻ᵀ and L⁻¹ of the joints on paths, with Sᵀ I S + diag(d) = L Lᵀ, by Gram–Schmidt in that
    product. The vector d, ``diagonal`` (nu,), is added to the mass matrix; None adds nothing."""
    parent, kinds, axes, rotation = forest.parent, forest.kind, forest.axis, forest.rotation
    quaternion, rotations = ws.quaternion, ws.rotation
    columns, inverse, kept = arrays.columns, arrays.inverse, arrays.articulated
    for place_, i in enumerate(loops.path):
        kind, first = kinds[i], forest.u_start[i]
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        A = load_symmetric(kept, i)
        H = (load_from(kept, i, 6), load_from(kept, i, 9), load_from(kept, i, 12))
        M = (kept[i, 15], kept[i, 16], kept[i, 17], kept[i, 18], kept[i, 19], kept[i, 20])
        W, V, K = columns[place_, 0], columns[place_, 1], inverse[place_]
        count = joints.degrees_of_freedom(kind)
        for k in range(count):
            sw, sv = joints.column(kind, load(axes, i), k, frame, body)
            n, f = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
            for c in range(3):
                W[k, c], W[k, 3 + c] = sw[c], sv[c]
                V[k, c], V[k, 3 + c] = n[c], f[c]
            for c in range(6):
                K[k, c] = 1.0 if c == k else 0.0
            for j in range(k):  # orthogonalise column k against those before it
                shared = shared_by(W, V, K, diagonal, first, count, j, k)
                for c in range(6):
                    W[k, c] -= shared * W[j, c]
                    V[k, c] -= shared * V[j, c]
                    K[k, c] -= shared * K[j, c]
            size = 1.0 / math.sqrt(shared_by(W, V, K, diagonal, first, count, k, k))
            for c in range(6):
                W[k, c] *= size
                V[k, c] *= size
                K[k, c] *= size


@jit
def shared_by(W, V, K, diagonal, first, count, j, k):
    """Product of columns j and k in Sᵀ I S + diag(d), for a joint whose speeds begin with ``first``."""
    total = 0.0
    for c in range(6):
        total += W[j, c] * V[k, c]
    if diagonal is not None:
        for c in range(count):
            total += K[j, c] * diagonal[first + c] * K[k, c]
    return total


@jit
def multiply_rows(arrays):
    """Symmetric matrix E Eᵀ of the rows."""
    E, A = arrays.whitened, arrays.matrix
    for r in range(E.shape[0]):
        for s in range(r + 1):
            total = 0.0
            for k in range(E.shape[1]):
                total += E[r, k] * E[s, k]
            A[r, s] = A[s, r] = total


@jit
def _carry(forest, loops, ws, arrays, row, i, n, f, driven):
    """Carries the moment n and force f on link i through its joint to the parent's origin, and writes their effect on
    the joint to the row of E; ``driven`` is the joint's own driven speed, −1 for none."""
    at = loops.place[i]
    first = loops.column[at]
    W, V, K = arrays.columns[at, 0], arrays.columns[at, 1], arrays.inverse[at]
    for k in range(joints.degrees_of_freedom(forest.kind[i])):
        e = dot((W[k, 0], W[k, 1], W[k, 2]), n) + dot((W[k, 3], W[k, 4], W[k, 5]), f)
        if driven >= 0:
            e += K[k, driven]
        arrays.whitened[row, first + k] = e
    for k in range(joints.degrees_of_freedom(forest.kind[i])):
        e = arrays.whitened[row, first + k]
        n = (n[0] - e * V[k, 0], n[1] - e * V[k, 1], n[2] - e * V[k, 2])
        f = (f[0] - e * V[k, 3], f[1] - e * V[k, 4], f[2] - e * V[k, 5])
    return add(n, cross(load(ws.reach, i), f)), f


@jit
def whiten_rows(forest, loops, ws, arrays):
    """Matrix E (rows, speeds on paths): the effect of each row's unit force on the joints between its links and the
    ground."""
    parent, wrench, whitened = forest.parent, arrays.wrench, arrays.whitened
    for r in range(loops.kind.size):
        for k in range(whitened.shape[1]):
            whitened[r, k] = 0.0
        a, b = loops.link_a[r], loops.link_b[r]
        zero = (0.0, 0.0, 0.0)
        fb, nb, fa, na = zero, zero, zero, zero
        driven = -1
        if loops.kind[r] == DRIVE:
            driven = loops.speed[r] - forest.u_start[b]
        else:
            fb, nb = load_from(wrench, r, 0), load_from(wrench, r, 3)
            fa, na = load_from(wrench, r, 6), load_from(wrench, r, 9)
        # Parents come before their children, so the outer of the two links has the larger index.
        while a >= 0 or b >= 0:
            if a == b:
                nb, fb = add(na, nb), add(fa, fb)
                na, fa = zero, zero
                a = -1
            if b > a:
                nb, fb = _carry(forest, loops, ws, arrays, r, b, nb, fb, driven)
                b, driven = parent[b], -1
            else:
                na, fa = _carry(forest, loops, ws, arrays, r, a, na, fa, -1)
                a = parent[a]


@by_forest
def factor_loops(forest, loops, ws, arrays):
    """Factors of J M⁻¹ Jᵀ for links whose articulated inertias have been stored."""
    row_wrenches(loops, ws, arrays.wrench)
    mark_live_rows(forest, loops, ws, arrays)
    factor_paths(forest, loops, ws, None, arrays)
    whiten_rows(forest, loops, ws, arrays)
    multiply_rows(arrays)
    arrays.rank[0] = factorise_semidefinite(arrays.matrix, arrays.live, loops.rank[0], arrays.scale, arrays.pivot)


@jit
def solve_tree_and_keep(forest, tau, wrench, gravity, ws, udot, kept):
    """Accelerations of the open forest for links with known poses and velocities."""
    links = forest.mass.size
    eliminate_and_keep(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, ws, 0, links, kept)
    accelerate(forest, gravity, ws, udot, 0, links)


@jit
def correct_multipliers(loops, arrays):
    """Adds the correction that removes the residual to λ, and its forces to the scratch forces."""
    step = arrays.correction
    for r in range(arrays.residual.size):
        arrays.residual[r] = -arrays.residual[r]
    solve_semidefinite(arrays.matrix, arrays.scale, arrays.pivot, arrays.rank[0], arrays.residual, step)
    for r in range(step.size):
        arrays.multiplier[r] += step[r]
    add_loop_forces(loops, arrays.wrench, step, arrays.tau, arrays.total)


@jit
def at_rest(ws, arrays):
    """The workspace with links at rest, with which the recursions solve M x = f without velocity products."""
    return Workspace(
        ws.quaternion,
        ws.rotation,
        ws.position,
        ws.reach,
        arrays.still,
        arrays.no_bias,
        ws.gathered,
        ws.record,
        ws.acceleration,
        ws.modal,
    )


@jit
def largest_error(loops, q, ws, arrays):
    """The largest |φ|; then the largest |φ| relative to the size of the terms whose difference is φ, and its row."""
    absolute, relative, worst = 0.0, 0.0, 0
    for r in range(loops.kind.size):
        size = loops.size[r]
        if loops.kind[r] == DRIVE:
            size = max(abs(q[loops.coordinate[r]]), size)
        elif loops.kind[r] == TRANSLATION:
            for i in (loops.link_a[r], loops.link_b[r]):
                if i >= 0:
                    p = load(ws.position, i)
                    size = max(size, abs(p[0]) + abs(p[1]) + abs(p[2]))
        error = abs(arrays.residual[r])
        absolute = max(absolute, error)
        if not error <= relative * size:  # NaN counts as the worst
            relative, worst = error / size, r
    return absolute, relative, worst


@by_forest
def add_entries(forest, ws, i, n, f, row):
    """Adds to a row the entries of a moment and force on link i, about its origin, for the speeds that move it relative
    to its parent."""
    kind = forest.kind[i]
    frame, body = frames(kind, forest.parent, forest.rotation, ws.quaternion, ws.rotation, i)
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = joints.column(kind, load(forest.axis, i), k, frame, body)
        row[forest.u_start[i] + k] += dot(sw, n) + dot(sv, f)


@kernel
def loop_equations(forest, loops, motions, functions, time, q, u, ws, arrays, residual, rates, products, jacobian):
    """Writes φ, φ' and J' u to ``residual``, ``rates`` and ``products`` (rows,), and J to ``jacobian`` (rows, nu),
    which is zeroed."""
    place(forest, q, ws, 0, forest.mass.size)
    move(forest, u, ws, 0, forest.mass.size)
    evaluate_motions(motions, functions, time, arrays.motion)
    row_residuals(loops, q, ws, arrays.motion, residual)
    row_wrenches(loops, ws, arrays.wrench)
    mark_live_rows(forest, loops, ws, arrays)
    row_rates(loops, u, ws, arrays.wrench, arrays.motion, rates)
    row_biases(loops, ws, arrays.gamma)
    accelerate_at_constant_speeds(forest, ws)
    for r in range(loops.kind.size):
        products[r] = (
            0.0
            if loops.kind[r] == DRIVE
            else arrays.gamma[r] + on_links(loops, arrays.wrench, r, ws.acceleration, 3, 0)
        )
    for r in range(loops.kind.size):
        if loops.kind[r] == DRIVE:
            jacobian[r, loops.speed[r]] = 1.0
            continue
        for side in range(2):
            i = loops.link_b[r] if side == 0 else loops.link_a[r]
            f, n = load_from(arrays.wrench, r, 6 * side), load_from(arrays.wrench, r, 6 * side + 3)
            while i >= 0:
                add_entries(forest, ws, i, n, f, jacobian[r])
                n = add(n, cross(load(ws.reach, i), f))
                i = forest.parent[i]
