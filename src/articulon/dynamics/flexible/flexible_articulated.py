"""The O(n) articulated-body algorithm with flexible bodies.

In the inward pass, the inertia and bias that a node carries are added to the equations of the twist and the modes of
its body. The modes of a flexible body are eliminated first, by the Cholesky factor of Γ_FF = L Lᵀ. With G = L⁻¹ Γ_FR
and z = L⁻¹ (Q − bias),

    Γ_RR ← Γ_RR − Gᵀ G        bias_R ← bias_R + Gᵀ z        η'' = L⁻ᵀ (z − G A)

The result has the form of a rigid link. Its joint is eliminated next.
"""

from articulon.algebra.inertia import force_of, moment_of, shift
from articulon.algebra.vectors import (
    ZERO,
    add,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    scale,
    store_from,
    sub,
    symmetric_less_outer,
)
from articulon.dynamics.articulated import (
    accelerate,
    add_to_parent,
    eliminate_and_keep,
    gather,
    gathered_at,
    store_inertia,
)
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.flexible.flexible_kinematics import carrying_modes
from articulon.dynamics.flexible.floating_frame import begin_bodies, factorise_modes
from articulon.kernels import jit
from articulon.model.joints import WELD

eliminate_link, accelerate_link = eliminate_and_keep.rigid, accelerate.rigid

NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NONE = (ZERO, ZERO, ZERO)


@for_flexible(eliminate_and_keep)
def eliminate_flexible(forest, mass, moment, inertia, tau, wrench, ws, start, end, kept):
    """Inward pass, with the inertias of the deformed bodies instead of the given ones."""
    body, kinds, modal = forest.flexible.body, forest.kind, ws.modal
    begin_bodies(forest, ws, start, end)
    for i in range(end - 1, start - 1, -1):
        if body[i] >= 0:
            eliminate_modes(forest, tau, ws, i)
        if kinds[i] == WELD:
            eliminate_follower(forest, wrench, ws, i, kept)
        else:
            eliminate_link(forest, mass, modal.moment, modal.inertia, tau, wrench, ws, i, i + 1, kept)


@jit
def eliminate_follower(forest, wrench, ws, i, kept):
    """Adds the inertia and bias that a node carries to its body, or those of a welded flexible body, without its modes,
    to its parent."""
    R, inertias = load_matrix(ws.rotation, i), (forest.mass, ws.modal.moment, ws.modal.inertia)
    A, H, M, n, f = gathered_at(forest, *inertias, R, wrench, ws, i, kept)
    if forest.parent[i] < 0:
        return
    r, cw, cv = load(ws.reach, i), load_from(ws.bias, i, 0), load_from(ws.bias, i, 3)
    n, f = add(n, moment_of(A, H, cw, cv)), add(f, force_of(H, M, cw, cv))
    load_modes(forest, ws, i, r, A, H, M)
    add_modal_bias(forest, ws, i, n, f)
    A, H = shift(r, A, H, M)
    add_to_parent(forest, ws.gathered, i, A, H, M, add(n, cross(r, f)), f)


@jit
def load_modes(forest, ws, i, r, A, H, M):
    """Adds an inertia that node i carries, about the node, to Γ_FF and Γ_FR of its body."""
    modal = ws.modal
    start, count, pair, row, _, _ = carrying_modes(forest, i)
    for j in range(count):
        sw, sv = load_from(modal.column, row + j, 0), load_from(modal.column, row + j, 3)
        mw, mv = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
        for k in range(j + 1):
            tw, tv = load_from(modal.column, row + k, 0), load_from(modal.column, row + k, 3)
            modal.matrix[pair + j * count + k] += dot(tw, mw) + dot(tv, mv)
        at = start + j
        store_from(modal.coupling, at, 0, add(load_from(modal.coupling, at, 0), add(mw, cross(r, mv))))
        store_from(modal.coupling, at, 3, add(load_from(modal.coupling, at, 3), mv))


@jit
def add_modal_bias(forest, ws, i, n, f):
    """Adds a bias moment and force at node i to the modal bias of its body."""
    modal = ws.modal
    start, count, _, row, _, _ = carrying_modes(forest, i)
    for j in range(count):
        sw, sv = load_from(modal.column, row + j, 0), load_from(modal.column, row + j, 3)
        modal.rate[start + j] += dot(sw, n) + dot(sv, f)


@jit
def condense_modes(forest, ws, i):
    """Finds L and G = L⁻¹ Γ_FR of body i; returns −Gᵀ G as (A, H, M)."""
    tables, modal = forest.flexible, ws.modal
    b = tables.body[i]
    start, count, pair = tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.pair[b]
    factorise_modes(modal.matrix, pair, count)
    A, H, M = NOTHING, NONE, NOTHING
    for j in range(count):
        gw, gv = load_from(modal.coupling, start + j, 0), load_from(modal.coupling, start + j, 3)
        for k in range(j):
            low = -modal.matrix[pair + j * count + k]
            gw = add(gw, scale(low, load_from(modal.gain, start + k, 0)))
            gv = add(gv, scale(low, load_from(modal.gain, start + k, 3)))
        size = 1.0 / modal.matrix[pair + j * count + j]
        gw, gv = scale(size, gw), scale(size, gv)
        store_from(modal.gain, start + j, 0, gw)
        store_from(modal.gain, start + j, 3, gv)
        A, M = symmetric_less_outer(A, 1.0, gw), symmetric_less_outer(M, 1.0, gv)
        H = (sub(H[0], scale(gw[0], gv)), sub(H[1], scale(gw[1], gv)), sub(H[2], scale(gw[2], gv)))
    return A, H, M


@jit
def eliminate_modes(forest, tau, ws, i):
    """Eliminates the modes of body i; adds the resulting change of inertia and bias to the sums over its children."""
    tables, modal, gathered, s = forest.flexible, ws.modal, ws.gathered, forest.slot[i]
    b = tables.body[i]
    start, count, pair = tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.pair[b]
    n, f = load_from(modal.swept, b, 0), load_from(modal.swept, b, 3)
    A, H, M = condense_modes(forest, ws, i)
    for j in range(count):
        z = tau[tables.u_start[b] + j] - modal.rate[start + j]
        for k in range(j):
            z -= modal.matrix[pair + j * count + k] * modal.rate[start + k]
        z /= modal.matrix[pair + j * count + j]
        modal.rate[start + j] = z
        n = add(n, scale(z, load_from(modal.gain, start + j, 0)))
        f = add(f, scale(z, load_from(modal.gain, start + j, 3)))
    if tables.carries[i]:
        A, H, M, n, f = gather(gathered, s, A, H, M, n, f)
    store_inertia(gathered, s, A, H, M)
    store_from(gathered, s, 21, n)
    store_from(gathered, s, 24, f)


@for_flexible(accelerate)
def accelerate_flexible(forest, gravity, ws, udot, start, end):
    """Outward pass: joint and modal accelerations."""
    body, kinds, acceleration = forest.flexible.body, forest.kind, ws.acceleration
    for i in range(start, end):
        if kinds[i] == WELD:
            accelerate_follower(forest, gravity, ws, udot, i)
        else:
            accelerate_link(forest, gravity, ws, udot, i, i + 1)
        if body[i] >= 0:
            accelerate_modes(forest, ws, load_from(acceleration, i, 0), load_from(acceleration, i, 3), udot, i)


@jit
def accelerate_modes(forest, ws, aw, av, udot, i):
    """Modal accelerations η'' = L⁻ᵀ (z − G A) of body i."""
    tables, modal = forest.flexible, ws.modal
    b = tables.body[i]
    start, count, pair, at = tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.pair[b], tables.u_start[b]
    for j in range(count - 1, -1, -1):
        s = modal.rate[start + j]
        s -= dot(load_from(modal.gain, start + j, 0), aw) + dot(load_from(modal.gain, start + j, 3), av)
        for k in range(j + 1, count):
            s -= modal.matrix[pair + k * count + j] * udot[at + k]
        udot[at + j] = s / modal.matrix[pair + j * count + j]


@jit
def accelerate_follower(forest, gravity, ws, udot, i):
    """Acceleration of a node from its body and the modes, or of a welded flexible body from its parent."""
    modal, acceleration, p = ws.modal, ws.acceleration, forest.parent[i]
    _, count, _, row, _, at = carrying_modes(forest, i)
    aw, av = ZERO, (-gravity[0], -gravity[1], -gravity[2])
    if p >= 0:
        aw = load_from(acceleration, p, 0)
        av = add(load_from(acceleration, p, 3), cross(aw, load(ws.reach, i)))
    aw, av = add(aw, load_from(ws.bias, i, 0)), add(av, load_from(ws.bias, i, 3))
    for j in range(count):
        aw = add(aw, scale(udot[at + j], load_from(modal.column, row + j, 0)))
        av = add(av, scale(udot[at + j], load_from(modal.column, row + j, 3)))
    store_from(acceleration, i, 0, aw)
    store_from(acceleration, i, 3, av)
