"""Newton–Euler inverse dynamics of forests with flexible bodies, and their mass matrix column by column."""

from articulon.algebra.inertia import force_of, moment_of, skew
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    dot,
    isotropic,
    load,
    load_from,
    load_matrix,
    load_symmetric,
    scale,
    store_from,
    sub,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.flexible.flexible_articulated import accelerate_follower
from articulon.dynamics.flexible.flexible_kinematics import carrying_modes
from articulon.dynamics.flexible.floating_frame import begin_modes
from articulon.dynamics.kinematics import frames, move, place
from articulon.dynamics.newton_euler import project
from articulon.kernels import jit, kernel
from articulon.model.joints import WELD


@for_flexible(project)
def project_flexible(forest, ws, force, tau):
    """Generalised forces tau = Sᵀ f of every joint and mode; ``force`` (links, 6) is summed towards the roots in
    place."""
    parent, kinds, u_start, axes, tables = forest.parent, forest.kind, forest.u_start, forest.axis, forest.flexible
    for b in range(tables.u_start.size):
        for j in range(tables.mode[b + 1] - tables.mode[b]):
            tau[tables.u_start[b] + j] = 0.0
    for i in range(parent.size - 1, -1, -1):
        p, f, n = parent[i], load_from(force, i, 0), load_from(force, i, 3)
        if kinds[i] == WELD:
            _, count, _, row, _, at = carrying_modes(forest, i)
            for j in range(count):
                sw, sv = load_from(ws.modal.column, row + j, 0), load_from(ws.modal.column, row + j, 3)
                tau[at + j] += dot(sw, n) + dot(sv, f)
        else:
            kind = kinds[i]
            frame, body = frames(kind, parent, forest.rotation, ws.quaternion, ws.rotation, i)
            for k in range(joints.degrees_of_freedom(kind)):
                sw, sv = joints.column(kind, load(axes, i), k, frame, body)
                tau[u_start[i] + k] = dot(sw, n) + dot(sv, f)
        if p >= 0:
            store_from(force, p, 0, add(load_from(force, p, 0), f))
            store_from(force, p, 3, add(load_from(force, p, 3), add(n, cross(load(ws.reach, i), f))))


@jit
def accelerate_as_given(forest, udot, gravity, ws):
    """Accelerations of links, from the accelerations of joints and modes; poses and velocities are known."""
    parent, kinds, u_start, axes = forest.parent, forest.kind, forest.u_start, forest.axis
    for i in range(parent.size):
        if kinds[i] == WELD:
            accelerate_follower(forest, gravity, ws, udot, i)
            continue
        p, kind = parent[i], kinds[i]
        frame, R = frames(kind, parent, forest.rotation, ws.quaternion, ws.rotation, i)
        aw, av = ZERO, (-gravity[0], -gravity[1], -gravity[2])
        if p >= 0:
            aw = load_from(ws.acceleration, p, 0)
            av = add(load_from(ws.acceleration, p, 3), cross(aw, load(ws.reach, i)))
        aw, av = add(aw, load_from(ws.bias, i, 0)), add(av, load_from(ws.bias, i, 3))
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, i), k, frame, R)
            a = udot[u_start[i] + k]
            aw, av = add(aw, scale(a, sw)), add(av, scale(a, sv))
        store_from(ws.acceleration, i, 0, aw)
        store_from(ws.acceleration, i, 3, av)


@kernel
def inverse_dynamics(forest, q, u, udot, wrench, gravity, ws, force, tau):
    """Generalised forces tau (nu,) that produce ``udot``; ``force`` (links, 6) is scratch."""
    place(forest, q, ws, 0, forest.parent.size)
    move(forest, u, ws, 0, forest.parent.size)
    inverse_at(forest, udot, wrench, gravity, ws, force, tau)


@jit
def inverse_at(forest, udot, wrench, gravity, ws, force, tau):
    """Generalised forces tau (nu,) that produce ``udot``, for links with known poses and velocities; ``force`` (links,
    6) is scratch."""
    tables, modal = forest.flexible, ws.modal
    accelerate_as_given(forest, udot, gravity, ws)
    for i in range(forest.parent.size):
        b, aw, av = tables.body[i], load_from(ws.acceleration, i, 0), load_from(ws.acceleration, i, 3)
        R, w = load_matrix(ws.rotation, i), load_from(ws.twist, i, 3)
        h, M = apply(R, load(modal.moment, i)), isotropic(forest.mass[i])
        A, H = symmetric_rotate(R, load_symmetric(modal.inertia, i)), skew(h)
        n = add(moment_of(A, H, aw, av), cross(w, symmetric_apply(A, w)))
        f = add(force_of(H, M, aw, av), cross(w, cross(w, h)))
        if b >= 0:
            begin_modes(forest, ws, i)
            n, f = add(n, load_from(modal.swept, b, 0)), add(f, load_from(modal.swept, b, 3))
            for j in range(tables.mode[b + 1] - tables.mode[b]):
                s, at = udot[tables.u_start[b] + j], tables.mode[b] + j
                n = add(n, scale(s, load_from(modal.coupling, at, 0)))
                f = add(f, scale(s, load_from(modal.coupling, at, 3)))
        store_from(force, i, 0, sub(f, load_from(wrench, i, 0)))
        store_from(force, i, 3, sub(n, load_from(wrench, i, 3)))
    project(forest, ws, force, tau)
    for i in range(forest.parent.size):
        b = tables.body[i]
        if b >= 0:
            aw, av = load_from(ws.acceleration, i, 0), load_from(ws.acceleration, i, 3)
            start, count, at = tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.u_start[b]
            for j in range(count):
                cw, cv = load_from(modal.coupling, start + j, 0), load_from(modal.coupling, start + j, 3)
                s = modal.rate[start + j] + dot(cw, aw) + dot(cv, av)
                for k in range(count):
                    s += tables.mass[tables.own_pair[b] + j * count + k] * udot[at + k]
                tau[at + j] += s


@kernel
def mass_matrix(forest, q, u, udot, wrench, gravity, ws, force, result):
    """Mass matrix M (nu, nu), column by column: the forces of a unit acceleration from rest. All inputs except ``q``
    are zeros."""
    place(forest, q, ws, 0, forest.parent.size)
    move(forest, u, ws, 0, forest.parent.size)
    for k in range(u.size):
        udot[k] = 1.0
        inverse_at(forest, udot, wrench, gravity, ws, force, result[k])
        udot[k] = 0.0
    for k in range(u.size):  # M is symmetric only to rounding until here
        for j in range(k):
            result[j, k] = result[k, j] = 0.5 * (result[j, k] + result[k, j])
