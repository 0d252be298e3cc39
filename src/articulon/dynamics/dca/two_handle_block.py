"""Blocks of links in the divide-and-conquer algorithm: the articulated-body algorithm with a handle at the far end.

The inward pass eliminates the links' joints one after the other, as in ``articulated.py``; T, C and d record the
resulting motion of the block's tip. The outward pass finds the accelerations of the links from the carrier's
acceleration and the wrench on the tip. The equations are in ``two_handle``.

A *locked* degree of freedom is not eliminated. With a given u' its motion acts like a velocity product,

    p ← p + U u'    d ← d + y u'    τ = D (u' − s)    with s the u' that it would have if it were free and unforced,

so that K, T and C are those of the coarser model, and τ is the force that holds the degree of freedom. ``MASKED`` says
whether there can be locks. It is a constant of each compilation, so locks cost nothing in a solver without them
(``masked_impulses.py`` compiles the version with locks).
"""

from articulon.algebra.vectors import ZERO, add, cross, dot, load, load_from, scale, store_from
from articulon.dynamics import joints
from articulon.dynamics.dca.two_handle import (
    HELD,
    NOTHING,
    diagonal_add,
    free_transfer,
    freedom_gain,
    inertia_add,
    inertia_apply,
    less_square,
    link_bias,
    link_inertia,
    load_inertia,
    load_whole,
    shift_inertia,
    shift_transfer,
    store_inertia,
    store_transfer,
    store_whole,
    transfer_apply,
)
from articulon.dynamics.dca.two_handle_modes import (
    accelerate_block_modes,
    add_bias_to_modes,
    add_modes,
    add_swept,
    begin_block_correction,
    begin_block_modes,
    condense_block_correction,
    condense_block_modes,
    follow_block_modes,
    keep_modes,
    load_block_modes,
)
from articulon.dynamics.kinematics import frames
from articulon.kernels import routine

MASKED = False
"""Whether degrees of freedom can be locked."""


@routine
def assemble_block(forest, tree, node, tau, wrench, moving, ws, scratch):
    """Inward pass over the links of a block: eliminates their joints one after the other."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, twist = ws.quaternion, ws.rotation, ws.twist
    reach, velocity_products = ws.reach, ws.bias
    links, insides, spines = tree.link, tree.inside, tree.spine
    carries, firsts, loads = tree.carries, tree.first, tree.load
    inertia, scales, bias, bias_acceleration = scratch.inertia, scratch.scale, scratch.bias, scratch.bias_acceleration
    gathered, link_wrench, gain, tip_response = (
        scratch.gathered,
        scratch.link_wrench,
        scratch.gain,
        scratch.tip_response,
    )
    flexibility, rate, locked, given = scratch.flexibility, scratch.rate, scratch.locked, scratch.given
    columns = tau.shape[0]
    for k in range(6):
        scales[node, k] = 0.0
        for c in range(columns):
            bias[node, c, k] = bias_acceleration[node, c, k] = 0.0
    T, C, whole = HELD, NOTHING, NOTHING
    begin_block_modes(forest, tree, node, ws, moving, scratch)
    for m in range(tree.end[node] - 1, tree.start[node] - 1, -1):
        i = links[m]
        kind, p, spine, load_node = kinds[i], parent[i], spines[i], loads[i]
        frame, R = frames(kind, parent, rotation, quaternion, rotations, i)
        K = link_inertia(forest, ws, i, R)
        for c in range(columns):
            n, f = scale(-1.0, load_from(wrench[c], i, 3)), scale(-1.0, load_from(wrench[c], i, 0))
            if moving[c]:
                n, f = link_bias(K, load_from(twist, i, 3), load_from(wrench[c], i, 3), load_from(wrench[c], i, 0))
                n, f = add_swept(forest, ws, i, n, f)
            if carries[i]:
                n, f = add(n, load_from(link_wrench[c], i, 0)), add(f, load_from(link_wrench[c], i, 3))
            if load_node >= 0:
                n, f = add(n, load_from(bias[load_node], c, 0)), add(f, load_from(bias[load_node], c, 3))
            store_from(link_wrench[c], i, 0, n)
            store_from(link_wrench[c], i, 3, f)
        if carries[i]:
            K = inertia_add(K, load_inertia(gathered, i))
        if load_node >= 0:
            K = inertia_add(K, load_whole(inertia, load_node))
        axis, r = load(axes, i), load(reach, i)
        if not insides[i]:
            diagonal_add(scales, node, shift_inertia(r, K))
        K, T, C = condense_block_modes(forest, node, tau, ws, i, spine, K, T, C, scratch, MASKED)
        for k in range(joints.degrees_of_freedom(kind)):
            j = u_start[i] + k
            w, v = joints.column(kind, axis, k, frame, R)
            uw, uv, d = freedom_gain(K, w, v)
            held = MASKED and locked[j]
            if not held:
                K = less_square(K, d, uw, uv)
            flexibility[j] = d
            store_from(gain, j, 0, scale(d, uw))
            store_from(gain, j, 3, scale(d, uv))
            yw, yv = ZERO, ZERO
            if spine:
                yw, yv = transfer_apply(T, w, v)
                if not held:
                    C = less_square(C, -d, yw, yv)
                    T = free_transfer(T, d, yw, yv, uw, uv)
                store_from(tip_response, j, 0, scale(d, yw))
                store_from(tip_response, j, 3, scale(d, yv))
            for c in range(columns):
                n, f = load_from(link_wrench[c], i, 0), load_from(link_wrench[c], i, 3)
                s = d * (tau[c, j] - dot(w, n) - dot(v, f))
                rate[c, j] = s
                if held:
                    s = given[c, j]
                store_from(link_wrench[c], i, 0, add(n, scale(s, uw)))
                store_from(link_wrench[c], i, 3, add(f, scale(s, uv)))
                if spine:
                    store_from(
                        bias_acceleration[node], c, 0, add(load_from(bias_acceleration[node], c, 0), scale(s, yw))
                    )
                    store_from(
                        bias_acceleration[node], c, 3, add(load_from(bias_acceleration[node], c, 3), scale(s, yv))
                    )
        cw, cv = load_from(velocity_products, i, 0), load_from(velocity_products, i, 3)
        bn, bf = inertia_apply(K, cw, cv)
        load_block_modes(forest, ws, i, spine, K, T, scratch)
        for c in range(columns):
            n, f = load_from(link_wrench[c], i, 0), load_from(link_wrench[c], i, 3)
            if moving[c]:
                n, f = add(n, bn), add(f, bf)
                if spine:
                    dw, dv = transfer_apply(T, cw, cv)
                    store_from(bias_acceleration[node], c, 0, add(load_from(bias_acceleration[node], c, 0), dw))
                    store_from(bias_acceleration[node], c, 3, add(load_from(bias_acceleration[node], c, 3), dv))
            add_bias_to_modes(forest, ws, i, n, f, rate[c])
            n = add(n, cross(r, f))
            if insides[i]:
                if not firsts[i]:
                    n, f = add(n, load_from(link_wrench[c], p, 0)), add(f, load_from(link_wrench[c], p, 3))
                store_from(link_wrench[c], p, 0, n)
                store_from(link_wrench[c], p, 3, f)
            else:
                store_from(bias[node], c, 0, add(load_from(bias[node], c, 0), n))
                store_from(bias[node], c, 3, add(load_from(bias[node], c, 3), f))
        K = shift_inertia(r, K)
        if spine:
            T = shift_transfer(r, T)
        if insides[i]:
            if not firsts[i]:
                K = inertia_add(K, load_inertia(gathered, p))
            store_inertia(gathered, p, K)
        else:
            whole = inertia_add(whole, K)
    store_whole(inertia, node, whole)
    if tree.tip[node] >= 0:
        store_transfer(scratch.transfer, node, T)
        store_whole(scratch.inverse, node, C)


@routine
def accelerate_block(forest, tree, node, moving, ws, scratch, udot, acceleration):
    """Outward pass over the links of a block: u' = rate − gainᵀ A + tip_responseᵀ g, with the tables of that name in
    the scratch."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, reach, velocity_products = ws.quaternion, ws.rotation, ws.reach, ws.bias
    links, insides, spines = tree.link, tree.inside, tree.spine
    carrier_acceleration, tip_wrench = scratch.carrier_acceleration, scratch.tip_wrench
    gain, tip_response, rate = scratch.gain, scratch.tip_response, scratch.rate
    bias, bias_acceleration = scratch.bias, scratch.bias_acceleration
    locked, given, reaction, flexibility = scratch.locked, scratch.given, scratch.reaction, scratch.flexibility
    columns = udot.shape[0]
    for c in range(columns):
        for k in range(6):  # no longer needed; a correction starts from zero
            bias[node, c, k] = bias_acceleration[node, c, k] = 0.0
    for m in range(tree.start[node], tree.end[node]):
        i = links[m]
        p, kind, axis, r = parent[i], kinds[i], load(axes, i), load(reach, i)
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        for c in range(columns):
            if insides[i]:
                aw, av = load_from(acceleration[c], p, 0), load_from(acceleration[c], p, 3)
            else:
                aw, av = load_from(carrier_acceleration[node], c, 0), load_from(carrier_acceleration[node], c, 3)
            av = add(av, cross(aw, r))
            if moving[c]:
                aw = add(aw, load_from(velocity_products, i, 0))
                av = add(av, load_from(velocity_products, i, 3))
            aw, av = follow_block_modes(forest, ws, i, udot[c], aw, av)
            for k in range(joints.degrees_of_freedom(kind) - 1, -1, -1):
                j = u_start[i] + k
                s = rate[c, j] - dot(load_from(gain, j, 0), aw) - dot(load_from(gain, j, 3), av)
                if spines[i]:
                    s += dot(load_from(tip_response, j, 0), load_from(tip_wrench[node], c, 0))
                    s += dot(load_from(tip_response, j, 3), load_from(tip_wrench[node], c, 3))
                if MASKED and locked[j]:
                    reaction[c, j] = (given[c, j] - s) / flexibility[j]
                    s = given[c, j]
                udot[c, j] = s
                w, v = joints.column(kind, axis, k, frame, body)
                aw, av = add(aw, scale(s, w)), add(av, scale(s, v))
            pw, pv = load_from(tip_wrench[node], c, 0), load_from(tip_wrench[node], c, 3)
            accelerate_block_modes(forest, ws, i, rate[c], aw, av, pw, pv, scratch, udot[c], reaction[c], MASKED)
            store_from(acceleration[c], i, 0, aw)
            store_from(acceleration[c], i, 3, av)


@routine
def correct_block_inward(forest, tree, node, ws, scratch):
    """Inward correction of a block that carries corrected loads: only p, d and the rates change."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, reach = ws.quaternion, ws.rotation, ws.reach
    links, insides, spines = tree.link, tree.inside, tree.spine
    carries, firsts, loads = tree.carries, tree.first, tree.load
    bias, bias_acceleration, link_wrench, rate = (
        scratch.bias,
        scratch.bias_acceleration,
        scratch.link_wrench,
        scratch.rate,
    )
    gain, tip_response, flexibility, locked = scratch.gain, scratch.tip_response, scratch.flexibility, scratch.locked
    for c in range(rate.shape[0]):
        begin_block_correction(forest, tree, node, rate[c])
        for m in range(tree.end[node] - 1, tree.start[node] - 1, -1):
            i = links[m]
            kind, p, r, axis = kinds[i], parent[i], load(reach, i), load(axes, i)
            frame, R = frames(kind, parent, rotation, quaternion, rotations, i)
            n, f = ZERO, ZERO
            if carries[i]:
                n, f = load_from(link_wrench[c], i, 0), load_from(link_wrench[c], i, 3)
            if loads[i] >= 0:
                n, f = add(n, load_from(bias[loads[i]], c, 0)), add(f, load_from(bias[loads[i]], c, 3))
            n, f = condense_block_correction(
                forest,
                ws,
                i,
                n,
                f,
                rate[c],
                bias_acceleration[node, c],
                spines[i],
                scratch,
                scratch.reaction[c],
                MASKED,
            )
            for k in range(joints.degrees_of_freedom(kind)):
                j = u_start[i] + k
                w, v = joints.column(kind, axis, k, frame, R)
                s = -dot(w, n) - dot(v, f)
                rate[c, j] = flexibility[j] * s
                if MASKED and locked[j]:
                    continue
                n, f = add(n, scale(s, load_from(gain, j, 0))), add(f, scale(s, load_from(gain, j, 3)))
                if spines[i]:
                    for h in range(6):
                        bias_acceleration[node, c, h] += s * tip_response[j, h]
            add_bias_to_modes(forest, ws, i, n, f, rate[c])
            n = add(n, cross(r, f))
            if not insides[i]:
                n, f = add(n, load_from(bias[node], c, 0)), add(f, load_from(bias[node], c, 3))
                store_from(bias[node], c, 0, n)
                store_from(bias[node], c, 3, f)
                continue
            if not firsts[i]:
                n, f = add(n, load_from(link_wrench[c], p, 0)), add(f, load_from(link_wrench[c], p, 3))
            store_from(link_wrench[c], p, 0, n)
            store_from(link_wrench[c], p, 3, f)


@routine
def correct_block_outward(forest, tree, node, ws, scratch, udot, acceleration):
    """Outward correction of a block: changes of u' and of the accelerations. The changes of the accelerations remain in
    ``link_wrench`` for the assemblies that the block carries."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, reach = ws.quaternion, ws.rotation, ws.reach
    links, insides, spines, carries_load = tree.link, tree.inside, tree.spine, tree.carries_load[node]
    carrier_acceleration, tip_wrench, change = scratch.carrier_acceleration, scratch.tip_wrench, scratch.link_wrench
    gain, tip_response, rate = scratch.gain, scratch.tip_response, scratch.rate
    locked, reaction, flexibility = scratch.locked, scratch.reaction, scratch.flexibility
    for m in range(tree.start[node], tree.end[node]):
        i = links[m]
        p, kind, axis, r = parent[i], kinds[i], load(axes, i), load(reach, i)
        frame, body = frames(kind, parent, rotation, quaternion, rotations, i)
        for c in range(udot.shape[0]):
            if insides[i]:
                aw, av = load_from(change[c], p, 0), load_from(change[c], p, 3)
            else:
                aw, av = load_from(carrier_acceleration[node], c, 0), load_from(carrier_acceleration[node], c, 3)
            av = add(av, cross(aw, r))
            aw, av = follow_block_modes(forest, ws, i, rate[c], aw, av)
            for k in range(joints.degrees_of_freedom(kind) - 1, -1, -1):
                j = u_start[i] + k
                s = -dot(load_from(gain, j, 0), aw) - dot(load_from(gain, j, 3), av)
                if carries_load:
                    s += rate[c, j]
                if spines[i]:
                    s += dot(load_from(tip_response, j, 0), load_from(tip_wrench[node], c, 0))
                    s += dot(load_from(tip_response, j, 3), load_from(tip_wrench[node], c, 3))
                if MASKED and locked[j]:
                    reaction[c, j] -= s / flexibility[j]
                    continue
                udot[c, j] += s
                w, v = joints.column(kind, axis, k, frame, body)
                aw, av = add(aw, scale(s, w)), add(av, scale(s, v))
            keep_modes(forest, i, rate[c], carries_load)
            pw, pv = load_from(tip_wrench[node], c, 0), load_from(tip_wrench[node], c, 3)
            accelerate_block_modes(forest, ws, i, rate[c], aw, av, pw, pv, scratch, rate[c], reaction[c], MASKED)
            add_modes(forest, i, rate[c], udot[c])
            store_from(change[c], i, 0, aw)
            store_from(change[c], i, 3, av)
            store_from(acceleration[c], i, 0, add(load_from(acceleration[c], i, 0), aw))
            store_from(acceleration[c], i, 3, add(load_from(acceleration[c], i, 3), av))
