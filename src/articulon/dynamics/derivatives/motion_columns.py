"""Columns of the joints' motion subspaces, and the changes of the motion of all that a joint carries.

Motions are spatial: the angular velocity and the velocity of the point at the link's origin, and their rates. A joint
is displaced in the tangent space of its coordinates: the k-th part of the change is the displacement that its k-th
speed makes in unit time, a twist s about the link's origin. Everything that the joint carries is displaced too, and its
motions X change by s × X. The rest of the change is the same for every carried link (compare Singh, Russell and
Wensing, IEEE Robot. Autom. Lett. 7, 1783, 2022, where all columns are fixed in the body):

    δv = s × v + ψ',   δa = s × a + ψ'' − v × ψ',   ψ' = p × s,   ψ'' = b × s + p × ψ'

where p and b are the velocity and the acceleration of the joint's *inner frame*: the sum of the parent's and those of
the columns that are fixed in the joint frame. With c the velocity of the frame in which a column is fixed, s' = c × s,
and a speed changes v by s and a by ψ' + s' − v × s.
"""

from articulon.algebra.vectors import ZERO, add, cross, load, load_from, scale, store_from
from articulon.dynamics import joints
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import frames
from articulon.kernels import jit

WIDTH = 24
"""Length of a column: s, ψ', ψ'' and ψ' + s', each with the angular part first."""
SHIFT, FIRST, SECOND, SPEED = 0, 6, 12, 18
"""Where the four parts begin."""


@jit
def motion_cross(aw, av, bw, bv):
    """Rate of a motion b that is carried along at the velocity a, both about the same point."""
    return cross(aw, bw), add(cross(aw, bv), cross(av, bw))


@jit
def store_motion(a, i, k, w, v):
    """Writes a motion to row i, from column k on."""
    store_from(a, i, k, w)
    store_from(a, i, k + 3, v)


@jit
def load_motion(a, i, k):
    """The motion in row i, from column k on."""
    return load_from(a, i, k), load_from(a, i, k + 3)


@jit
def add_columns(kind, u, udot, j, columns, c, fixed, vw, vv, aw, av, cw, cv):
    """Adds columns of a joint to a velocity and an acceleration: those that are fixed in its body (``fixed`` 1) or in
    the joint frame (0), a frame that moves at the velocity c. It also stores the rates s' of the columns. The speeds of
    the joint begin at index ``j``, its columns in row ``c``."""
    for k in range(joints.degrees_of_freedom(kind)):
        if joints.fixed_in_body(kind, k) == fixed:
            sw, sv = load_motion(columns, c + k, SHIFT)
            rw, rv = motion_cross(cw, cv, sw, sv)
            store_motion(columns, c + k, SPEED, rw, rv)
            aw = add(aw, add(scale(udot[j + k], sw), scale(u[j + k], rw)))
            av = add(av, add(scale(udot[j + k], sv), scale(u[j + k], rv)))
            vw, vv = add(vw, scale(u[j + k], sw)), add(vv, scale(u[j + k], sv))
    return vw, vv, aw, av


@jit
def fill_displacements(forest, ws, i, columns, c):
    """Writes the displacements s of a link's joint to its columns, which begin in row ``c``."""
    kind = forest.kind[i]
    frame, body = frames(kind, forest.parent, forest.rotation, ws.quaternion, ws.rotation, i)
    for k in range(joints.degrees_of_freedom(kind)):
        sw, sv = joints.column(kind, load(forest.axis, i), k, frame, body)
        store_motion(columns, c + k, SHIFT, sw, sv)


@jit
def fill_columns(forest, u, udot, ws, i, pw, pv, aw, av, columns, c):
    """Writes the columns of a link's joint from row ``c`` of ``columns`` on, and returns the spatial acceleration of
    the link. The velocity p and the spatial acceleration a of the parent are taken about the origin of the link."""
    kind, j = forest.kind[i], forest.u_start[i]
    fill_displacements(forest, ws, i, columns, c)
    mw, mv, bw, bv = add_columns(kind, u, udot, j, columns, c, 0, pw, pv, aw, av, pw, pv)
    vw, vv = load_from(ws.twist, i, 3), load_from(ws.twist, i, 0)
    _, _, aw, av = add_columns(kind, u, udot, j, columns, c, 1, mw, mv, bw, bv, vw, vv)
    for k in range(c, c + joints.degrees_of_freedom(kind)):
        sw, sv = load_motion(columns, k, SHIFT)
        fw, fv = motion_cross(mw, mv, sw, sv)
        gw, gv = motion_cross(mw, mv, fw, fv)
        hw, hv = motion_cross(bw, bv, sw, sv)
        rw, rv = load_motion(columns, k, SPEED)
        store_motion(columns, k, FIRST, fw, fv)
        store_motion(columns, k, SECOND, add(gw, hw), add(gv, hv))
        store_motion(columns, k, SPEED, add(fw, rw), add(fv, rv))
    return aw, av


@by_forest
def find_columns(forest, u, udot, gravity, ws, columns, acceleration, start, end):
    """Columns (nu, 24) of links with known poses and velocities from ``start`` to ``end``, and their spatial
    accelerations about their origins (links, 6), angular part first."""
    parent, u_start = forest.parent, forest.u_start
    for i in range(start, end):
        p, pw, pv, aw, av = parent[i], ZERO, ZERO, ZERO, (-gravity[0], -gravity[1], -gravity[2])
        if p >= 0:
            r = load(ws.reach, i)
            pw, aw = load_from(ws.twist, p, 3), load_from(acceleration, p, 0)
            pv, av = add(load_from(ws.twist, p, 0), cross(pw, r)), add(load_from(acceleration, p, 3), cross(aw, r))
        aw, av = fill_columns(forest, u, udot, ws, i, pw, pv, aw, av, columns, u_start[i])
        store_motion(acceleration, i, 0, aw, av)


@jit
def find_columns_apart(forest, u, udot, ws, moving, resting, acceleration):
    """Columns of links with known poses, in two tables (nu, 24). ``moving`` receives s and ψ' of links that move at the
    speeds u, whose velocities are in ``ws``. ``resting`` receives s and ψ'' of the same links at rest with
    accelerations ``udot`` of the joints. The other parts of both tables are zero. Also finds the accelerations of the
    links at rest (links, 6)."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    for i in range(parent.size):
        p, kind, j = parent[i], kinds[i], u_start[i]
        frame, body = frames(kind, parent, rotation, ws.quaternion, ws.rotation, i)
        mw, mv, bw, bv = ZERO, ZERO, ZERO, ZERO
        if p >= 0:
            r = load(ws.reach, i)
            mw, bw = load_from(ws.twist, p, 3), load_from(acceleration, p, 0)
            mv, bv = add(load_from(ws.twist, p, 0), cross(mw, r)), add(load_from(acceleration, p, 3), cross(bw, r))
        aw, av = ZERO, ZERO
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, i), k, frame, body)
            store_motion(moving, j + k, SHIFT, sw, sv)
            store_motion(resting, j + k, SHIFT, sw, sv)
            if joints.fixed_in_body(kind, k):
                aw, av = add(aw, scale(udot[j + k], sw)), add(av, scale(udot[j + k], sv))
            else:
                mw, mv = add(mw, scale(u[j + k], sw)), add(mv, scale(u[j + k], sv))
                bw, bv = add(bw, scale(udot[j + k], sw)), add(bv, scale(udot[j + k], sv))
        store_motion(acceleration, i, 0, add(bw, aw), add(bv, av))
        for k in range(j, j + joints.degrees_of_freedom(kind)):
            sw, sv = load_motion(resting, k, SHIFT)
            fw, fv = motion_cross(mw, mv, sw, sv)
            gw, gv = motion_cross(bw, bv, sw, sv)
            store_motion(moving, k, FIRST, fw, fv)
            store_motion(resting, k, SECOND, gw, gv)
