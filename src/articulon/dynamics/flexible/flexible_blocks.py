"""Flexible bodies in the blocks of the divide-and-conquer algorithm (``two_handle.py``; Poursina 2012, 4.1).

Let Γ_FF = L Lᵀ, G = L⁻¹ Γ_FR and y = L⁻¹ Y. Here Y_j = T S_j is the acceleration of the tip at unit acceleration of
mode j, which moves the node that carries the tip. All modes are eliminated at once, like a joint:

    K ← K − Gᵀ G    T ← T − yᵀ G    C ← C + yᵀ y    p ← p + Gᵀ z    d ← d + yᵀ z    with z = L⁻¹ (Q − bias)

    η'' = L⁻ᵀ (z − G A + y g)

A body is always in the same block as its nodes. For a mode, the tables ``gain``, ``tip_response`` and ``rate`` of the
assembly hold G, y and z; for a joint's degree of freedom they hold U/D, y/D and (τ − Pᵀ p)/D.
"""

from articulon.algebra.vectors import add, dot, load, load_from, scale, store_from
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.dca.two_handle import (
    free_transfer,
    inertia_add,
    less_square,
    link_inertia,
    skew_and_rotate,
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
from articulon.dynamics.flexible.flexible_articulated import condense_modes, load_modes
from articulon.dynamics.flexible.flexible_kinematics import carrying_modes
from articulon.dynamics.flexible.floating_frame import begin_modes
from articulon.kernels import jit


@jit
def modes_of(forest, i):
    """First mode, number of modes, first pair and first speed of link i, a flexible body."""
    tables, b = forest.flexible, forest.flexible.body[i]
    return tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.pair[b], tables.u_start[b]


@for_flexible(link_inertia)
def link_inertia_flexible(forest, ws, i, R):
    """Inertia of link i, deformed, about its origin, world axes."""
    return skew_and_rotate(R, ws.modal.moment, ws.modal.inertia, forest.mass, i)


@for_flexible(begin_block_modes)
def begin_modes_of_block(forest, tree, node, ws, moving, scratch):
    """Γ and biases of the flexible bodies of a block, without what they carry, for every column in ``moving``."""
    for m in range(tree.start[node], tree.end[node]):
        i = tree.link[m]
        if forest.flexible.body[i] < 0:
            continue
        begin_modes(forest, ws, i)
        start, count, _, at = modes_of(forest, i)
        for j in range(count):
            for c in range(6):
                scratch.tip_response[at + j, c] = 0.0
            for c in range(moving.size):
                scratch.rate[c, at + j] = ws.modal.rate[start + j] if moving[c] else 0.0


@for_flexible(add_swept)
def add_swept_flexible(forest, ws, i, n, f):
    """Adds the velocity products of the deformation to the bias of link i."""
    b = forest.flexible.body[i]
    if b >= 0:
        n, f = add(n, load_from(ws.modal.swept, b, 0)), add(f, load_from(ws.modal.swept, b, 3))
    return n, f


@jit
def solve_lower(matrix, pair, count, rate, at):
    """Multiplies the numbers from ``at`` on by L⁻¹, in place."""
    for j in range(count):
        s = rate[at + j]
        for k in range(j):
            s -= matrix[pair + j * count + k] * rate[at + k]
        rate[at + j] = s / matrix[pair + j * count + j]


@jit
def hold_modes(forest, node, tau, ws, i, spine, scratch):
    """Treats the locked modes of link i: they are decoupled from all other motions, and with their given u' act like
    velocity products. Their coupling is stored to find the forces that hold them."""
    start, count, pair, at = modes_of(forest, i)
    modal, locked, tip_response, rate = ws.modal, scratch.locked, scratch.tip_response, scratch.rate
    matrix, coupling, given, reaction = modal.matrix, modal.coupling, scratch.given, scratch.reaction
    for j in range(count):
        if not locked[at + j]:
            continue
        cw, cv = load_from(coupling, start + j, 0), load_from(coupling, start + j, 3)
        for k in range(6):
            modal.held_coupling[start + j, k] = coupling[start + j, k]
            modal.locked_response[start + j, k] = tip_response[at + j, k]
        for k in range(count):
            modal.held_matrix[pair + j * count + k] = matrix[pair + max(j, k) * count + min(j, k)]
        for c in range(tau.shape[0]):
            s = given[c, at + j]
            reaction[c, at + j] = rate[c, at + j] - tau[c, at + j]
            for k in range(count):
                if not locked[at + k]:
                    rate[c, at + k] += s * modal.held_matrix[pair + j * count + k]
            rate[c, at + j] = tau[c, at + j] - s
            link_wrench = scratch.link_wrench[c]
            store_from(link_wrench, i, 0, add(load_from(link_wrench, i, 0), scale(s, cw)))
            store_from(link_wrench, i, 3, add(load_from(link_wrench, i, 3), scale(s, cv)))
            if spine:
                for k in range(6):
                    scratch.bias_acceleration[node, c, k] += s * tip_response[at + j, k]
    for j in range(count):
        if locked[at + j]:
            for k in range(count):
                matrix[pair + max(j, k) * count + min(j, k)] = 1.0 if j == k else 0.0
            for k in range(6):
                coupling[start + j, k] = tip_response[at + j, k] = 0.0


@for_flexible(condense_block_modes)
def condense_modes_of_block(forest, node, tau, ws, i, spine, K, T, C, scratch, masked):
    """Eliminates the modes of link i. If it is on the path from the carrier to the tip (``spine``), also updates T, C
    and the tip's bias."""
    if forest.flexible.body[i] < 0:
        return K, T, C
    start, count, pair, at = modes_of(forest, i)
    matrix, tip_response, rate, link_wrench, bias_acceleration = (
        ws.modal.matrix,
        scratch.tip_response,
        scratch.rate,
        scratch.link_wrench,
        scratch.bias_acceleration,
    )
    if masked:
        hold_modes(forest, node, tau, ws, i, spine, scratch)
    K = inertia_add(K, condense_modes(forest, ws, i))
    for j in range(count):
        gw, gv = load_from(ws.modal.gain, start + j, 0), load_from(ws.modal.gain, start + j, 3)
        store_from(scratch.gain, at + j, 0, gw)
        store_from(scratch.gain, at + j, 3, gv)
        if spine:
            for c in range(6):
                s = tip_response[at + j, c]
                for k in range(j):
                    s -= matrix[pair + j * count + k] * tip_response[at + k, c]
                tip_response[at + j, c] = s / matrix[pair + j * count + j]
            yw, yv = load_from(tip_response, at + j, 0), load_from(tip_response, at + j, 3)
            T = free_transfer(T, 1.0, yw, yv, gw, gv)
            C = less_square(C, -1.0, yw, yv)
    for c in range(tau.shape[0]):
        for j in range(count):
            rate[c, at + j] = tau[c, at + j] - rate[c, at + j]
        solve_lower(matrix, pair, count, rate[c], at)
        n, f = load_from(link_wrench[c], i, 0), load_from(link_wrench[c], i, 3)
        for j in range(count):
            z = rate[c, at + j]
            n = add(n, scale(z, load_from(scratch.gain, at + j, 0)))
            f = add(f, scale(z, load_from(scratch.gain, at + j, 3)))
            if spine:
                for k in range(6):
                    bias_acceleration[node, c, k] += z * tip_response[at + j, k]
        store_from(link_wrench[c], i, 0, n)
        store_from(link_wrench[c], i, 3, f)
    return K, T, C


@for_flexible(load_block_modes)
def load_modes_of_block(forest, ws, i, spine, K, T, scratch):
    """Adds what node i carries to Γ of its body. For a node on the path from the carrier to the tip (``spine``),
    records the motion of the tip with the modes."""
    _, count, _, row, _, at = carrying_modes(forest, i)
    load_modes(forest, ws, i, load(ws.reach, i), K[0], K[1], K[2])
    if spine:
        for j in range(count):
            sw, sv = load_from(ws.modal.column, row + j, 0), load_from(ws.modal.column, row + j, 3)
            yw, yv = transfer_apply(T, sw, sv)
            store_from(scratch.tip_response, at + j, 0, yw)
            store_from(scratch.tip_response, at + j, 3, yv)


@for_flexible(add_bias_to_modes)
def add_bias_to_modes_of_block(forest, ws, i, n, f, rate):
    """Adds a bias at node i to the biases of its body's modes, which are in ``rate`` (nu,)."""
    _, count, _, row, _, at = carrying_modes(forest, i)
    for j in range(count):
        sw, sv = load_from(ws.modal.column, row + j, 0), load_from(ws.modal.column, row + j, 3)
        rate[at + j] += dot(sw, n) + dot(sv, f)


@for_flexible(follow_block_modes)
def follow_modes_of_block(forest, ws, i, speeds, aw, av):
    """Acceleration of node i including that of the modes."""
    _, count, _, row, _, at = carrying_modes(forest, i)
    for j in range(count):
        aw = add(aw, scale(speeds[at + j], load_from(ws.modal.column, row + j, 0)))
        av = add(av, scale(speeds[at + j], load_from(ws.modal.column, row + j, 3)))
    return aw, av


@for_flexible(accelerate_block_modes)
def accelerate_modes_of_block(forest, ws, i, rate, aw, av, pw, pv, scratch, speeds, reaction, masked):
    """Modal accelerations η'' = L⁻ᵀ (z − G A + y g) of link i, with z in ``rate`` (nu,); adds to the ``reaction`` (nu,)
    of locked modes."""
    if forest.flexible.body[i] < 0:
        return
    start, count, pair, at = modes_of(forest, i)
    gain, tip_response, matrix = scratch.gain, scratch.tip_response, ws.modal.matrix
    for j in range(count - 1, -1, -1):
        s = rate[at + j]
        s -= dot(load_from(gain, at + j, 0), aw) + dot(load_from(gain, at + j, 3), av)
        s += dot(load_from(tip_response, at + j, 0), pw) + dot(load_from(tip_response, at + j, 3), pv)
        for k in range(j + 1, count):
            s -= matrix[pair + k * count + j] * speeds[at + k]
        speeds[at + j] = s / matrix[pair + j * count + j]
    if not masked:
        return
    held = ws.modal.held_coupling, ws.modal.locked_response
    for j in range(count):
        if scratch.locked[at + j]:
            s = dot(load_from(held[0], start + j, 0), aw) + dot(load_from(held[0], start + j, 3), av)
            s -= dot(load_from(held[1], start + j, 0), pw) + dot(load_from(held[1], start + j, 3), pv)
            for k in range(count):
                s += ws.modal.held_matrix[pair + j * count + k] * speeds[at + k]
            reaction[at + j] += s


@for_flexible(begin_block_correction)
def begin_correction_of_block(forest, tree, node, rate):
    """Zeroes ``rate`` (nu,) for the modes of a block."""
    for m in range(tree.start[node], tree.end[node]):
        i = tree.link[m]
        if forest.flexible.body[i] >= 0:
            _, count, _, at = modes_of(forest, i)
            for j in range(count):
                rate[at + j] = 0.0


@for_flexible(condense_block_correction)
def condense_correction_of_block(forest, ws, i, n, f, rate, bias_acceleration, spine, scratch, reaction, masked):
    """Effect of a corrected bias of the modes of link i on the bias of the link and on the tip."""
    if forest.flexible.body[i] < 0:
        return n, f
    _, count, pair, at = modes_of(forest, i)
    for j in range(count):
        if masked and scratch.locked[at + j]:
            reaction[at + j] += rate[at + j]
            rate[at + j] = 0.0
        rate[at + j] = -rate[at + j]
    solve_lower(ws.modal.matrix, pair, count, rate, at)
    for j in range(count):
        z = rate[at + j]
        n = add(n, scale(z, load_from(scratch.gain, at + j, 0)))
        f = add(f, scale(z, load_from(scratch.gain, at + j, 3)))
        if spine:
            for k in range(6):
                bias_acceleration[k] += z * scratch.tip_response[at + j, k]
    return n, f


@for_flexible(keep_modes)
def keep_modes_of(forest, i, rate, carries_load):
    """Clears the modes of link i in ``rate`` (nu,) unless the block carries corrected loads (``carries_load``)."""
    if forest.flexible.body[i] >= 0 and not carries_load:
        _, count, _, at = modes_of(forest, i)
        for j in range(count):
            rate[at + j] = 0.0


@for_flexible(add_modes)
def add_modes_of(forest, i, change, udot):
    """Adds the change (nu,) of the modes of link i to ``udot`` (nu,)."""
    if forest.flexible.body[i] >= 0:
        _, count, _, at = modes_of(forest, i)
        for j in range(count):
            udot[at + j] += change[at + j]
