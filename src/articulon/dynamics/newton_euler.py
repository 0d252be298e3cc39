"""Newton–Euler inverse dynamics and the projection of wrenches on the joints (Featherstone 2008, table 5.1)."""

from articulon.algebra.inertia import skew
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_symmetric,
    scale,
    store_from,
    sub,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import frames, move, place
from articulon.kernels import jit, kernel
from articulon.passes import Pass, pass_of


@by_forest
def project(forest, ws, force, tau):
    """Joint forces tau = Sᵀ f of every joint; ``force`` (links, 6) is summed towards the roots in place."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, reach = ws.quaternion, ws.rotation, ws.reach
    for i in range(parent.size - 1, -1, -1):
        kind, p = kinds[i], parent[i]
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        f, n = load_from(force, i, 0), load_from(force, i, 3)
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, i), k, frame, body)
            tau[u_start[i] + k] = dot(sw, n) + dot(sv, f)
        if p >= 0:
            store_from(force, p, 0, add(load_from(force, p, 0), f))
            store_from(force, p, 3, add(load_from(force, p, 3), add(n, cross(load(reach, i), f))))


@pass_of
def project_on_joints(forest, ws, force, tau):
    """Joint forces τ of wrenches (links, 6) on links with known poses. The wrenches are summed towards the roots in
    place."""
    project(forest, ws, force, tau)


@jit
def newton_euler(forest, udot, wrench, gravity, ws, force, tau):
    """Joint forces tau (nu,) that produce ``udot``, for links with known poses and velocities; ``force`` (links, 6) is
    scratch."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    n_links = parent.size
    quaternion, rotations, reach, bias = ws.quaternion, ws.rotation, ws.reach, ws.bias
    acceleration, twist = ws.acceleration, ws.twist
    for i in range(n_links):
        kind, p = kinds[i], parent[i]
        frame, R = frames(kind, parent, rotation, quaternion, rotations, i)
        aw, av = ZERO, (-gravity[0], -gravity[1], -gravity[2])
        if p >= 0:
            aw = load_from(acceleration, p, 0)
            av = add(load_from(acceleration, p, 3), cross(aw, load(reach, i)))
        aw, av = add(aw, load_from(bias, i, 0)), add(av, load_from(bias, i, 3))
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, i), k, frame, R)
            a = udot[u_start[i] + k]
            aw, av = add(aw, scale(a, sw)), add(av, scale(a, sv))
        store_from(acceleration, i, 0, aw)
        store_from(acceleration, i, 3, av)
        w, h = load_from(twist, i, 3), apply(R, load(forest.moment, i))
        A = symmetric_rotate(R, load_symmetric(forest.inertia, i))
        H = skew(h)
        moment = add(add(symmetric_apply(A, aw), apply(H, av)), cross(w, symmetric_apply(A, w)))
        linear = add(add(apply_t(H, aw), scale(forest.mass[i], av)), cross(w, cross(w, h)))
        store_from(force, i, 0, sub(linear, load_from(wrench, i, 0)))
        store_from(force, i, 3, sub(moment, load_from(wrench, i, 3)))
    project(forest, ws, force, tau)


find_joint_forces = Pass(newton_euler)
"""The pass of :func:`newton_euler`."""


@kernel
def inverse_dynamics(forest, q, u, udot, wrench, gravity, ws, force, tau):
    """Joint forces tau (nu,) that produce ``udot`` at q and u; ``force`` (links, 6) is scratch."""
    place(forest, q, ws, 0, forest.parent.size)
    move(forest, u, ws, 0, forest.parent.size)
    newton_euler(forest, udot, wrench, gravity, ws, force, tau)


@kernel
def project_wrenches(forest, q, ws, force, tau):
    """Generalised forces (nu,) of wrenches (links, 6) about the links' origins; ``force`` is overwritten."""
    place(forest, q, ws, 0, forest.parent.size)
    project(forest, ws, force, tau)
