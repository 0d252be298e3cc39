"""Positions and velocities of flexible bodies and their nodes (Shabana, Dynamics of Multibody Systems, 5.1)."""

from articulon.algebra.rotations import IDENTITY, load_quaternion, matrix, normalised, product, store_quaternion
from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    scale,
    store,
    store_from,
    store_matrix,
)
from articulon.dynamics import joints
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.kinematics import coordinate_rates, drift, move, place
from articulon.kernels import jit
from articulon.model.joints import WELD

ONE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

place_link, move_link = place.rigid, move.rigid


@for_flexible(place)
def place_flexible(forest, q, ws, start, end):
    """Positions and rotations of the links from ``start`` to ``end``, and the inertias of deformed bodies."""
    body, kinds = forest.flexible.body, forest.kind
    for i in range(start, end):
        if kinds[i] == WELD:
            place_follower(forest, q, ws, i)
        else:
            place_link(forest, q, ws, i, i + 1)
        if body[i] >= 0:
            deform(forest, q, ws, i)


@jit
def deform(forest, q, ws, i):
    """Integrals h(η), A(η) and N_j(η) of flexible body i.

    With ∂A/∂η_j = N_j + N_jᵀ, A is A0 + Σ_j η_j (N0_jᵀ + N_j(η)).
    """
    tables, modal = forest.flexible, ws.modal
    b = tables.body[i]
    start, count, k = tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.q_start[b]
    own, pair, coriolis = tables.own_mode[b], tables.own_pair[b], modal.coriolis
    h = load(forest.moment, i)
    for c in range(6):
        modal.inertia[i, c] = forest.inertia[i, c]
    for j in range(count):
        for c in range(9):
            coriolis[start + j, c] = tables.coriolis[own + j, c]
        for other in range(count):
            eta, row = q[k + other], pair + j * count + other
            for c in range(9):
                coriolis[start + j, c] += eta * tables.coriolis_slope[row, c]
        eta, now, rest = q[k + j], coriolis[start + j], tables.coriolis[own + j]
        h = add(h, scale(eta, load(tables.first, own + j)))
        modal.inertia[i, 0] += eta * (now[0] + rest[0])
        modal.inertia[i, 1] += 0.5 * eta * (now[1] + now[3] + rest[1] + rest[3])
        modal.inertia[i, 2] += 0.5 * eta * (now[2] + now[6] + rest[2] + rest[6])
        modal.inertia[i, 3] += eta * (now[4] + rest[4])
        modal.inertia[i, 4] += 0.5 * eta * (now[5] + now[7] + rest[5] + rest[7])
        modal.inertia[i, 5] += eta * (now[8] + rest[8])
    store(modal.moment, i, h)


@jit
def carrying_modes(forest, i):
    """The modes of the body of which link i is a node: first, number, first pair, first node mode, first coordinate and
    first speed. The number is 0 for a body welded to its parent."""
    tables, n = forest.flexible, forest.flexible.node[i]
    if n < 0:
        return 0, 0, 0, 0, 0, 0
    b = tables.body[forest.parent[i]]
    first = tables.mode[b]
    return first, tables.mode[b + 1] - first, tables.pair[b], tables.node_mode[n], tables.q_start[b], tables.u_start[b]


@jit
def place_follower(forest, q, ws, i):
    """The frame of a node on its deformed body, with its velocities at unit modal speeds, or the frame of a flexible
    body that is welded to its parent."""
    tables, modal, p = forest.flexible, ws.modal, forest.parent[i]
    _, count, _, row, k, _ = carrying_modes(forest, i)
    x, half = load(forest.position, i), ZERO
    if count > 0:
        half = load(tables.half_turn, tables.node[i])
    for j in range(count):
        x = add(x, scale(q[k + j], load(tables.displacement, row + j)))
        half = add(half, scale(0.5 * q[k + j], load(tables.turn, row + j)))
    R, frame, origin = ONE, IDENTITY, ZERO
    if p >= 0:
        R, frame, origin = load_matrix(ws.rotation, p), load_quaternion(ws.quaternion, p), load(ws.position, p)
    r, shrink = apply(R, x), 1.0 / (1.0 + dot(half, half))
    for j in range(count):
        turn = load(tables.turn, row + j)
        store_from(modal.column, row + j, 0, apply(R, scale(shrink, add(turn, cross(half, turn)))))
        store_from(modal.column, row + j, 3, apply(R, load(tables.displacement, row + j)))
    e = product(frame, load_quaternion(forest.rotation, i))
    if count > 0:
        e = product(frame, normalised((1.0, half[0], half[1], half[2])))
        store(modal.half_turn, tables.node[i], half)
    store_quaternion(ws.quaternion, i, e)
    store_matrix(ws.rotation, i, matrix(e))
    store(ws.reach, i, r)
    store(ws.position, i, add(origin, r))


@for_flexible(move)
def move_flexible(forest, u, ws, start, end):
    """Velocities of links with known poses, modal speeds, and the velocity-product accelerations."""
    body, kinds = forest.flexible.body, forest.kind
    for i in range(start, end):
        if kinds[i] == WELD:
            move_follower(forest, ws, i)
        else:
            move_link(forest, u, ws, i, i + 1)
        b = body[i]
        if b >= 0:
            first, k = forest.flexible.mode[b], forest.flexible.u_start[b]
            for j in range(forest.flexible.mode[b + 1] - first):
                ws.modal.speed[first + j] = u[k + j]


@jit
def move_follower(forest, ws, i):
    """Velocities of a node and its velocity products,
    c = (ω_p × ω_rel − (2 p·p'/(1 + p²)) ω_rel, ω_p × (ω_p × r) + 2 ω_p × v_rel)."""
    tables, modal, p = forest.flexible, ws.modal, forest.parent[i]
    first, count, _, row, _, _ = carrying_modes(forest, i)
    jw, jv, rate, half = ZERO, ZERO, ZERO, ZERO
    for j in range(count):
        s = modal.speed[first + j]
        jw = add(jw, scale(s, load_from(modal.column, row + j, 0)))
        jv = add(jv, scale(s, load_from(modal.column, row + j, 3)))
        rate = add(rate, scale(0.5 * s, load(tables.turn, row + j)))
        half = load(modal.half_turn, tables.node[i])
    slowing = 2.0 * dot(half, rate) / (1.0 + dot(half, half))
    pw, pv, r = ZERO, ZERO, load(ws.reach, i)
    if p >= 0:
        pw, pv = load_from(ws.twist, p, 3), load_from(ws.twist, p, 0)
    swept = cross(pw, r)
    store_from(ws.twist, i, 3, add(pw, jw))
    store_from(ws.twist, i, 0, add(add(pv, swept), jv))
    store_from(ws.bias, i, 0, add(cross(pw, jw), scale(-slowing, jw)))
    store_from(ws.bias, i, 3, cross(pw, add(swept, scale(2.0, jv))))


@for_flexible(coordinate_rates)
def coordinate_rates_flexible(forest, q, u, qdot):
    """Coordinate rates q' from q and u; modal speeds are the rates of modal coordinates."""
    kinds, q_start, u_start, tables = forest.kind, forest.q_start, forest.u_start, forest.flexible
    for i in range(kinds.size):
        if kinds[i] != WELD:
            joints.rates(kinds[i], q, q_start[i], u, u_start[i], qdot)
        b = tables.body[i]
        if b >= 0:
            for j in range(tables.mode[b + 1] - tables.mode[b]):
                qdot[tables.q_start[b] + j] = u[tables.u_start[b] + j]


@for_flexible(drift)
def drift_flexible(forest, q, u, time):
    """Moves the coordinates q for ``time`` at constant joint and modal speeds."""
    kinds, q_start, u_start, tables = forest.kind, forest.q_start, forest.u_start, forest.flexible
    for i in range(kinds.size):
        if kinds[i] != WELD:
            joints.drift(kinds[i], q, q_start[i], u, u_start[i], time)
        b = tables.body[i]
        if b >= 0:
            for j in range(tables.mode[b + 1] - tables.mode[b]):
                q[tables.q_start[b] + j] += time * u[tables.u_start[b] + j]
