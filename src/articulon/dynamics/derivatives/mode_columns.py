"""Columns of the modes of flexible bodies at their nodes, and the rates of these columns.

A modal coordinate η_j displaces all that a node carries by the motion s_j = (Ψ̂_j, Φ_j) about the node. So it acts
there like an additional joint coordinate (``motion_columns.py``). Modes have coordinates and not only speeds. The
node's spatial velocity is v = v_p + Σ s_k η'_k. Therefore its derivative with respect to η_j is s˙_j + s_j × v, and the
derivative of its acceleration is s¨_j + s˙_j × v + s_j × a. So

    ψ' = s˙,   ψ'' = s¨,   ψ' + s' = 2 s˙

with the rates of s_j about a point at rest where the node is now. With the angular velocity ω and acceleration α of the
floating frame, the velocity v and the acceleration a of the node, and Ψ̂˙, Ψ̂¨ taken in the floating frame,

    s˙ = (ω × Ψ̂ + Ψ̂˙,  ω × Φ − Ψ̂ × v)
    s¨ = (α × Ψ̂ + ω × (ω × Ψ̂) + 2 ω × Ψ̂˙ + Ψ̂¨,  α × Φ + ω × (ω × Φ) − 2 s˙_angular × v − Ψ̂ × a)

and from Ψ̂_j = (Ψ_j + p × Ψ_j)/(1 + p²), p = Σ Ψ η/2 (``model/mode_tables.py``), with σ = 2 p·p'/(1 + p²),

    Ψ̂˙ = p' × Ψ/(1 + p²) − σ Ψ̂,   Ψ̂¨ = (p'' − σ p') × Ψ/(1 + p²) − σ˙ Ψ̂ − σ Ψ̂˙,
    σ˙ = 2 (p'·p' + p·p'')/(1 + p²) − σ².
"""

from articulon.algebra.vectors import ZERO, add, add_scaled, apply, cross, dot, load, load_from, load_matrix, scale, sub
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.derivatives.motion_columns import FIRST, SECOND, SHIFT, find_columns, store_motion
from articulon.dynamics.flexible.flexible_kinematics import carrying_modes
from articulon.kernels import jit
from articulon.model.joints import WELD
from articulon.passes import pass_of

WIDTH = 18
"""Length of a column: s, ψ' and ψ'', each with the angular part first."""

find_joint_columns = find_columns.rigid


@for_flexible(find_columns)
def find_columns_flexible(forest, u, udot, gravity, ws, columns, acceleration, start, end):
    """Columns of joints, and spatial accelerations of all links; the accelerations of nodes must be known."""
    for i in range(start, end):
        if forest.kind[i] == WELD:
            swept = cross(load_from(ws.twist, i, 3), load_from(ws.twist, i, 0))
            a = sub(load_from(ws.acceleration, i, 3), swept)
            store_motion(acceleration, i, 0, load_from(ws.acceleration, i, 0), a)
        else:
            find_joint_columns(forest, u, udot, gravity, ws, columns, acceleration, i, i + 1)


@jit
def half_turn_rate(forest, i, rates, at):
    """The rate p' of node i, floating frame, at given rates of its modes, which begin at index ``at`` of an array."""
    _, count, _, row, _, _ = carrying_modes(forest, i)
    half = ZERO
    for j in range(count):
        half = add_scaled(half, 0.5 * rates[at + j], load(forest.flexible.turn, row + j))
    return half


@jit
def slowing_of(forest, ws, i):
    """p', 1/(1 + p²) and σ of node i, for links with known poses and velocities."""
    first, _, _, _, _, _ = carrying_modes(forest, i)
    half, rate = load(ws.modal.half_turn, forest.flexible.node[i]), half_turn_rate(forest, i, ws.modal.speed, first)
    shrink = 1.0 / (1.0 + dot(half, half))
    return rate, shrink, 2.0 * dot(half, rate) * shrink


@jit
def first_rate(forest, ws, i, row, rate, shrink, slowing):
    """The rate s˙ of a column of node i, and its part Ψ̂˙, world axes; ``row`` is the node mode of the column."""
    p = forest.parent[i]
    R, w, v = load_matrix(ws.rotation, p), load_from(ws.twist, p, 3), load_from(ws.twist, i, 0)
    sw, sv = load_from(ws.modal.column, row, 0), load_from(ws.modal.column, row, 3)
    turned = apply(R, scale(shrink, cross(rate, load(forest.flexible.turn, row))))
    turned = add_scaled(turned, -slowing, sw)
    return add(cross(w, sw), turned), sub(cross(w, sv), cross(sw, v)), turned


@jit
def find_node_columns(forest, ws, udot, i, columns):
    """Columns of the modes that carry node i (node modes, 18), for links whose accelerations have been computed."""
    tables, p = forest.flexible, forest.parent[i]
    _, count, _, row, _, at = carrying_modes(forest, i)
    rate, shrink, slowing = slowing_of(forest, ws, i)
    half, faster = load(ws.modal.half_turn, tables.node[i]), half_turn_rate(forest, i, udot, at)
    change = 2.0 * (dot(rate, rate) + dot(half, faster)) * shrink - slowing * slowing
    R, w = load_matrix(ws.rotation, p), load_from(ws.twist, p, 3)
    aw, v, a = load_from(ws.acceleration, p, 0), load_from(ws.twist, i, 0), load_from(ws.acceleration, i, 3)
    curved = scale(shrink, add_scaled(faster, -slowing, rate))
    for k in range(row, row + count):
        sw, sv = load_from(ws.modal.column, k, 0), load_from(ws.modal.column, k, 3)
        fw, fv, turned = first_rate(forest, ws, i, k, rate, shrink, slowing)
        gw = apply(R, cross(curved, load(tables.turn, k)))
        gw = add_scaled(add_scaled(gw, -change, sw), -slowing, turned)
        gw = add(add(gw, scale(2.0, cross(w, turned))), add(cross(aw, sw), cross(w, cross(w, sw))))
        gv = sub(add(cross(aw, sv), cross(w, cross(w, sv))), add(scale(2.0, cross(fw, v)), cross(sw, a)))
        store_motion(columns, k, SHIFT, sw, sv)
        store_motion(columns, k, FIRST, fw, fv)
        store_motion(columns, k, SECOND, gw, gv)


@pass_of
def find_mode_columns(forest, ws, udot, columns):
    """Columns of the modes at all nodes (node modes, 18), for links whose accelerations have been computed."""
    for i in range(forest.parent.size):
        if forest.flexible.node[i] >= 0:
            find_node_columns(forest, ws, udot, i, columns)
