"""Loops and driven joints of forests with flexible bodies.

J M⁻¹ Jᵀ is computed row by row, from the accelerations of links at rest under the unit force of each row, which costs
O(n) for each row. At rest there are no velocity products of deformations either, since all of them contain an angular
velocity or the bias of a node.
"""

from articulon.algebra.vectors import ZERO, copy_into, dot, load_from
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.damped_articulated import multiply_damped_rows, solve_damped
from articulon.dynamics.flexible.flexible_kinematics import carrying_modes
from articulon.dynamics.loops.conditions import ROUNDING, acts, mark_live_rows, norm, on_links, row_wrenches
from articulon.dynamics.loops.constrained_articulated import (
    add_entries,
    at_rest,
    factor_loops,
    solve_tree_and_keep,
)
from articulon.dynamics.loops.semidefinite import factorise_semidefinite
from articulon.kernels import jit
from articulon.model.joints import WELD
from articulon.model.loop_declarations import DRIVE

acts_on_joint, add_entries_of_joint = acts.rigid, add_entries.rigid


@for_flexible(acts)
def acts_on_modes(forest, ws, i, n, f, moment, force, locked):
    """Whether a moment and force on link i have power in its joint, or in the modes that move it as a node. Power below
    the rounding error of terms of the sizes ``moment`` and ``force`` does not count."""
    if forest.kind[i] != WELD:
        return acts_on_joint(forest, ws, i, n, f, moment, force, locked)
    _, count, _, row, _, at = carrying_modes(forest, i)
    for k in range(count):
        if locked is not None and locked[at + k]:
            continue
        sw, sv = load_from(ws.modal.column, row + k, 0), load_from(ws.modal.column, row + k, 3)
        if abs(dot(sw, n) + dot(sv, f)) > ROUNDING * (moment * norm(sw) + force * norm(sv)):
            return True
    return False


@for_flexible(add_entries)
def add_entries_of_modes(forest, ws, i, n, f, row):
    """Adds to a row the entries of a moment and force on link i for the speeds of its joint, or of the modes that move
    it."""
    if forest.kind[i] != WELD:
        add_entries_of_joint(forest, ws, i, n, f, row)
        return
    _, count, _, first, _, at = carrying_modes(forest, i)
    for k in range(count):
        sw, sv = load_from(ws.modal.column, first + k, 0), load_from(ws.modal.column, first + k, 3)
        row[at + k] += dot(sw, n) + dot(sv, f)


@for_flexible(factor_loops)
def factor_flexible_loops(forest, loops, ws, arrays):
    """Factors of J M⁻¹ Jᵀ for links with known poses; the accelerations of the links are left unchanged."""
    row_wrenches(loops, ws, arrays.wrench)
    mark_live_rows(forest, loops, ws, arrays)
    multiply_flexible_rows(forest, loops, ws, None, arrays)
    arrays.rank[0] = factorise_semidefinite(arrays.matrix, arrays.live, loops.rank[0], arrays.scale, arrays.pivot)


@jit
def multiply_flexible_rows(forest, loops, ws, damping, arrays):
    """The matrix J A⁻¹ Jᵀ, where A is the mass matrix plus, unless ``damping`` is None, the damping of joints. The
    accelerations of the links are left unchanged."""
    A, tau, total, kept = arrays.matrix, arrays.tau, arrays.total, ws.modal.accelerations
    copy_into(kept.reshape(-1), ws.acceleration.reshape(-1))
    still = at_rest(ws, arrays)
    for r in range(loops.kind.size):
        for k in range(tau.size):
            tau[k] = 0.0
        for i in range(total.shape[0]):
            for k in range(6):
                total[i, k] = 0.0
        if loops.kind[r] == DRIVE:
            tau[loops.speed[r]] = 1.0
        else:
            for k in range(6):
                if loops.link_b[r] >= 0:
                    total[loops.link_b[r], k] += arrays.wrench[r, k]
                if loops.link_a[r] >= 0:
                    total[loops.link_a[r], k] += arrays.wrench[r, 6 + k]
        if damping is None:
            solve_tree_and_keep(forest, tau, total, ZERO, still, arrays.response, arrays.articulated[:0])
        else:
            solve_damped(forest, tau, total, ZERO, still, damping, arrays.response, arrays.articulated[:0])
        for s in range(loops.kind.size):
            if loops.kind[s] == DRIVE:
                A[s, r] = arrays.response[loops.speed[s]]
            else:
                A[s, r] = on_links(loops, arrays.wrench, s, ws.acceleration, 3, 0)
    for r in range(loops.kind.size):
        for s in range(r):
            A[r, s] = A[s, r] = 0.5 * (A[r, s] + A[s, r])
    copy_into(ws.acceleration.reshape(-1), kept.reshape(-1))


@for_flexible(multiply_damped_rows)
def multiply_damped_flexible_rows(forest, loops, ws, damping, arrays):
    """J (M + diag(d))⁻¹ Jᵀ, with the rows of J in the scratch."""
    multiply_flexible_rows(forest, loops, ws, damping, arrays)
