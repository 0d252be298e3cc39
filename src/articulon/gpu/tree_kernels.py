"""Kinematics and forward dynamics of a batch of states, with a thread for each (Featherstone 2008, table 7.1).

The equations are those of ``dynamics/kinematics.py`` and ``dynamics/articulated.py``, in world axes. ``y`` holds
coordinates, then speeds, and ``dy`` their rates, (nq + nu, states). No thread reads what another one writes, so the
bits of a state do not depend on the other states.
"""

from typing import Any

from articulon.gpu.devices import load_warp
from articulon.gpu.tree_algebra import (
    isotropic,
    load3,
    load4,
    load6,
    normalised,
    of_table3,
    of_table4,
    of_table6,
    product,
    rotation,
    store3,
    store4,
    store6,
    symmetric_apply,
    symmetric_rotate,
)
from articulon.gpu.tree_joints import accelerate, displaced, eliminate, framed, placed, rates, velocity

wp = load_warp()


def kernel(function: Any) -> Any:
    """Make a kernel in a module of its own, compiled once for each precision: in a shared module, each use of another
    kernel would recompile it. Code for derivatives, which would double the compilation time, is left out."""
    return wp.kernel(function, module="unique", module_options={"enable_backward": False})


@wp.func
def joint_frame(forest: Any, work: Any, i: int, s: int):
    """Rotation of link i's joint frame in the world."""
    p = forest.parent[i]
    e = of_table4(forest.rotation, i)
    if p >= 0:
        e = product(load4(work.quaternion, 4 * p, s), e)
    return e


@wp.func
def body_rotation(work: Any, i: int, s: int):
    """Rotation matrix of link i."""
    return rotation(load4(work.quaternion, 4 * i, s))


@wp.func
def frame_rotation(forest: Any, work: Any, kind: int, i: int, s: int, body: Any):
    """Rotation matrix of link i's joint frame, if it differs from the link's."""
    result = body
    if framed(kind):
        result = rotation(joint_frame(forest, work, i, s))
    return result


@kernel
def place_and_move(forest: Any, work: Any, y: Any):
    """Compute poses and velocities of the links, outward from the ground."""
    s = wp.tid()
    for i in range(forest.parent.shape[0]):
        p = forest.parent[i]
        kind = forest.kind[i]
        axis = of_table3(forest.axis, i)
        frame = joint_frame(forest, work, i, s)
        e = placed(kind, axis, y, forest.q[i], s, frame)
        body = rotation(e)
        joint = body
        if framed(kind):
            joint = rotation(frame)
        r = of_table3(forest.position, i)
        origin = axis * axis.dtype(0.0)
        pw = origin
        pv = origin
        if p >= 0:
            r = body_rotation(work, p, s) * r
            origin = load3(work.position, 3 * p, s)
            pv = load3(work.twist, 6 * p, s)
            pw = load3(work.twist, 6 * p + 3, s)
        r = r + joint * displaced(kind, axis, y, forest.q[i], s)
        store4(work.quaternion, 4 * i, s, e)
        store3(work.reach, 3 * i, s, r)
        store3(work.position, 3 * i, s, origin + r)
        # Velocities, and the joint's velocity-product accelerations; see ``move`` in dynamics/kinematics.py.
        jw, jv, own = velocity(kind, axis, y, forest.u[i], s, joint, body)
        swept = wp.cross(pw, r)
        store3(work.twist, 6 * i, s, pv + swept + jv)
        store3(work.twist, 6 * i + 3, s, pw + jw)
        store3(work.bias, 6 * i, s, wp.cross(pw, jw) + wp.cross(jw, own))
        store3(work.bias, 6 * i + 3, s, wp.cross(pw, swept + jv + jv))


@kernel
def solve(forest: Any, work: Any, start: int, factor: Any, dy: Any):
    """Compute u' under the link wrenches, joint forces and gravity in ``work``, into the rows of ``dy`` from ``start``
    on. Gravity, times ``factor``, is an acceleration of the inertial frame (POEMS, 5.3)."""
    s = wp.tid()
    links = forest.parent.shape[0]
    for back in range(links):
        i = links - 1 - back
        kind = forest.kind[i]
        p = forest.parent[i]
        axis = of_table3(forest.axis, i)
        body = body_rotation(work, i, s)
        frame = frame_rotation(forest, work, kind, i, s, body)
        w = load3(work.twist, 6 * i + 3, s)
        h = body * of_table3(forest.moment, i)
        A = symmetric_rotate(body, of_table6(forest.inertia, i))
        H = wp.skew(h)
        M = isotropic(forest.mass[i])
        n = wp.cross(w, symmetric_apply(A, w)) - load3(work.wrench, 6 * i + 3, s)
        f = wp.cross(w, wp.cross(w, h)) - load3(work.wrench, 6 * i, s)
        if forest.slot[i] >= 0:
            at = 27 * forest.slot[i]
            A = A + load6(work.gathered, at, s)
            H = H + wp.matrix_from_rows(
                load3(work.gathered, at + 6, s), load3(work.gathered, at + 9, s), load3(work.gathered, at + 12, s)
            )
            M = M + load6(work.gathered, at + 15, s)
            n = n + load3(work.gathered, at + 21, s)
            f = f + load3(work.gathered, at + 24, s)
        r = load3(work.reach, 3 * i, s)
        cw = load3(work.bias, 6 * i, s)
        cv = load3(work.bias, 6 * i + 3, s)
        B, G, L, m, force = eliminate(
            kind,
            axis,
            work.tau,
            forest.u[i] - start,
            frame,
            body,
            r,
            cw,
            cv,
            A,
            H,
            M,
            n,
            f,
            work.record,
            12 * i,
            s,
        )
        if p >= 0:
            to = 27 * forest.slot[p]
            if forest.first[i] == 0:  # a sibling has already been added
                B = B + load6(work.gathered, to, s)
                G = G + wp.matrix_from_rows(
                    load3(work.gathered, to + 6, s), load3(work.gathered, to + 9, s), load3(work.gathered, to + 12, s)
                )
                L = L + load6(work.gathered, to + 15, s)
                m = m + load3(work.gathered, to + 21, s)
                force = force + load3(work.gathered, to + 24, s)
            store6(work.gathered, to, s, B)
            store3(work.gathered, to + 6, s, G[0])
            store3(work.gathered, to + 9, s, G[1])
            store3(work.gathered, to + 12, s, G[2])
            store6(work.gathered, to + 15, s, L)
            store3(work.gathered, to + 21, s, m)
            store3(work.gathered, to + 24, s, force)
    fall = -factor * load3(work.gravity, 0, s)
    for i in range(links):
        kind = forest.kind[i]
        p = forest.parent[i]
        body = body_rotation(work, i, s)
        frame = frame_rotation(forest, work, kind, i, s, body)
        aw = fall * fall.dtype(0.0)
        av = fall
        if p >= 0:
            aw = load3(work.acceleration, 6 * p, s)
            av = load3(work.acceleration, 6 * p + 3, s) + wp.cross(aw, load3(work.reach, 3 * i, s))
        aw = aw + load3(work.bias, 6 * i, s)
        av = av + load3(work.bias, 6 * i + 3, s)
        lw, lv = accelerate(
            kind, of_table3(forest.axis, i), frame, body, work.record, 12 * i, s, aw, av, dy, forest.u[i]
        )
        store3(work.acceleration, 6 * i, s, lw)
        store3(work.acceleration, 6 * i + 3, s, lv)


@kernel
def gather_wrenches(forest: Any, work: Any, given: Any):
    """Add wrenches on bodies about their own origins (6 bodies, states) to those of their links."""
    s = wp.tid()
    for k in range(forest.body_link.shape[0]):
        i = forest.body_link[k]
        if i >= 0:
            force = load3(given, 6 * k, s)
            arm = body_rotation(work, i, s) * of_table3(forest.body_offset, k)
            moment = load3(given, 6 * k + 3, s) + wp.cross(arm, force)
            store3(work.wrench, 6 * i, s, load3(work.wrench, 6 * i, s) + force)
            store3(work.wrench, 6 * i + 3, s, load3(work.wrench, 6 * i + 3, s) + moment)


@wp.func
def kinetic_energy_of(forest: Any, work: Any, s: int):
    """Return T = Σ ½ m v² + m v·(ω × c) + ½ ω·(I ω) of state s, about the links' origins."""
    half = type(forest.mass[0])(0.5)
    total = type(forest.mass[0])(0.0)
    for i in range(forest.parent.shape[0]):
        body = body_rotation(work, i, s)
        v = load3(work.twist, 6 * i, s)
        w = load3(work.twist, 6 * i + 3, s)
        turning = wp.transpose(body) * w
        total = total + half * forest.mass[i] * wp.dot(v, v)
        total = total + wp.dot(v, wp.cross(w, body * of_table3(forest.moment, i)))
        total = total + half * wp.dot(turning, symmetric_apply(of_table6(forest.inertia, i), turning))
    return total


@kernel
def kinetic_energies(forest: Any, work: Any, result: Any):
    """Compute T of every state with known poses and velocities of the links."""
    s = wp.tid()
    result[0, s] = kinetic_energy_of(forest, work, s)


@kernel
def body_poses(forest: Any, work: Any, positions: Any, rotations: Any):
    """Compute origins (3 bodies, states) and unit Euler parameters (4 bodies, states) of the bodies from the poses of
    their links, with a thread for each body and state."""
    k, s = wp.tid()
    i = forest.body_link[k]
    at = of_table3(forest.body_offset, k)
    turn = of_table4(forest.body_turn, k)
    if i >= 0:
        at = load3(work.position, 3 * i, s) + body_rotation(work, i, s) * at
        turn = product(load4(work.quaternion, 4 * i, s), turn)
    store3(positions, 3 * k, s, at)
    store4(rotations, 4 * k, s, normalised(turn))


@kernel
def coordinate_rates(forest: Any, y: Any, dy: Any):
    """Compute q' of every joint, with a thread for each joint and state."""
    i, s = wp.tid()
    rates(forest.kind[i], y, forest.q[i], forest.u[i], s, dy)
