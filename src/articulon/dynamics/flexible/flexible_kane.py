"""Kane's method with flexible bodies: partial velocities of modes, and the contribution of a body's own deformation.

The modes of a body move everything that its nodes carry. The inertia of the body itself enters with its twist, and its
modes enter by Γ_FR and Γ_FF of the body alone.
"""

from articulon.algebra.inertia import force_of, moment_of, skew
from articulon.algebra.vectors import (
    add,
    apply,
    cross,
    dot,
    isotropic,
    load,
    load_from,
    load_matrix,
    load_symmetric,
    sub,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.flexible.flexible_kinematics import carrying_modes
from articulon.dynamics.flexible.floating_frame import begin_modes
from articulon.dynamics.kane import partial_velocities, project_link
from articulon.dynamics.kinematics import frames
from articulon.kernels import jit
from articulon.model.joints import WELD


@jit
def set_column(velocity, row, k, sw, sv):
    for c in range(3):
        velocity[row + c, k] = sw[c]
        velocity[row + 3 + c, k] = sv[c]


@for_flexible(partial_velocities)
def partial_velocities_flexible(forest, ws, i, row, velocity):
    """Writes the partial velocities of link i to rows ``row`` to ``row + 5``, which are zero before: those of the
    joints and of the modes that carry it."""
    parent, kinds, axes, u_start = forest.parent, forest.kind, forest.axis, forest.u_start
    here, j = load(ws.position, i), i
    while j >= 0:
        kind = kinds[j]
        arm = sub(here, load(ws.position, j))
        if kind == WELD:
            _, count, _, first, _, at = carrying_modes(forest, j)
            for k in range(count):
                sw, sv = load_from(ws.modal.column, first + k, 0), load_from(ws.modal.column, first + k, 3)
                set_column(velocity, row, at + k, sw, add(sv, cross(sw, arm)))
        frame, body = frames(kind, parent, forest.rotation, ws.quaternion, ws.rotation, j)
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, j), k, frame, body)
            set_column(velocity, row, u_start[j] + k, sw, add(sv, cross(sw, arm)))
        j = parent[j]


@for_flexible(project_link)
def project_link_flexible(forest, tau, wrench, ws, i, row, solver):
    """Adds link i's active forces, minus its inertia forces at constant speeds, to each equation that it enters. Keeps
    its momentum at unit speeds for the mass matrix. The coupling of its modes to each other and to its twist is added
    here."""
    velocity, momentum, active, tables, modal = (
        solver.velocity,
        solver.momentum,
        solver.active,
        forest.flexible,
        ws.modal,
    )
    R, b = load_matrix(ws.rotation, i), tables.body[i]
    w, h = load_from(ws.twist, i, 3), apply(R, load(modal.moment, i))
    A, H, M = symmetric_rotate(R, load_symmetric(modal.inertia, i)), skew(h), isotropic(forest.mass[i])
    aw, av = load_from(ws.acceleration, i, 0), load_from(ws.acceleration, i, 3)
    n = sub(load_from(wrench, i, 3), add(moment_of(A, H, aw, av), cross(w, symmetric_apply(A, w))))
    f = sub(load_from(wrench, i, 0), add(force_of(H, M, aw, av), cross(w, cross(w, h))))
    if b >= 0:
        begin_modes(forest, ws, i)
        n, f = sub(n, load_from(modal.swept, b, 0)), sub(f, load_from(modal.swept, b, 3))
    for k in range(active.size):
        sw = (velocity[row, k], velocity[row + 1, k], velocity[row + 2, k])
        sv = (velocity[row + 3, k], velocity[row + 4, k], velocity[row + 5, k])
        active[k] += dot(sw, n) + dot(sv, f)
        mw, mv = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
        for c in range(3):
            momentum[row + c, k], momentum[row + 3 + c, k] = mw[c], mv[c]
    if b < 0:
        return
    start, count, at = tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.u_start[b]
    for j in range(count):
        cw, cv = load_from(modal.coupling, start + j, 0), load_from(modal.coupling, start + j, 3)
        active[at + j] -= modal.rate[start + j] + dot(cw, aw) + dot(cv, av)
        for c in range(3):
            momentum[row + c, at + j] += cw[c]
            momentum[row + 3 + c, at + j] += cv[c]
        for k in range(active.size):
            sw = (velocity[row, k], velocity[row + 1, k], velocity[row + 2, k])
            sv = (velocity[row + 3, k], velocity[row + 4, k], velocity[row + 5, k])
            solver.mass[at + j, k] += dot(cw, sw) + dot(cv, sv)
        for k in range(count):
            solver.mass[at + j, at + k] += tables.mass[tables.own_pair[b] + j * count + k]
