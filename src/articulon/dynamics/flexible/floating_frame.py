"""The equations of motion of one flexible body in its floating frame, about the frame's origin (handle 1).

With the twist (ω, v) of the frame, the accelerations α and a, the integrals h, A, B, N, S1 and B1 at η
(``model/mode_tables.py``), and sums over repeated indices,

    moment   n = A α + h × a + B η'' + ω × A ω + 2 η'_j N_j ω
    force    f = m a + α × h + S1 η'' + ω × (ω × h) + 2 ω × S1 η'
    modal    Q = Bᵀ α + S1ᵀ a + M η'' − ωᵀ N_j ω + 2 ω·B1_jk η'_k

(Shabana, Dynamics of Multibody Systems, 5.5; Poursina 2012, 4.1, whose Γ_RR, Γ_RF and Γ_FF are the inertias here). B_j
is the axial part of N_j. The inertia that a node carries is added by means of the node's velocities at unit twist and
unit modal speeds.
"""

from articulon.algebra.vectors import (
    ZERO,
    add,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    scale,
    store_from,
)
from articulon.kernels import jit


@jit
def axial(N):
    """Axial part B_j = Σ m X × Φ_j of N_j."""
    return (N[1][2] - N[2][1], N[2][0] - N[0][2], N[0][1] - N[1][0])


@jit
def begin_modes(forest, ws, i):
    """Γ_FR, Γ_FF, the modal bias and the velocity products of body i, with known pose and velocity, without what it
    carries."""
    tables, modal = forest.flexible, ws.modal
    b = tables.body[i]
    start, count, pair = tables.mode[b], tables.mode[b + 1] - tables.mode[b], tables.pair[b]
    R, turning = load_matrix(ws.rotation, i), load_from(ws.twist, i, 3)
    w = apply_t(R, turning)
    n, f = ZERO, ZERO
    for j in range(count):
        N, S = load_matrix(modal.coriolis, start + j), load(tables.first, tables.own_mode[b] + j)
        spin = apply(N, w)
        n = add(n, scale(2.0 * modal.speed[start + j], spin))
        f = add(f, scale(2.0 * modal.speed[start + j], S))
        store_from(modal.coupling, start + j, 0, apply(R, axial(N)))
        store_from(modal.coupling, start + j, 3, apply(R, S))
        swept = ZERO
        for k in range(count):
            row = tables.own_pair[b] + j * count + k
            swept = add(swept, scale(modal.speed[start + k], load(tables.coupling_slope, row)))
            modal.matrix[pair + j * count + k] = tables.mass[row]
        modal.rate[start + j] = 2.0 * dot(w, swept) - dot(w, spin)
    store_from(modal.swept, b, 0, apply(R, n))
    store_from(modal.swept, b, 3, cross(turning, apply(R, f)))


@jit
def begin_bodies(forest, ws, start, end):
    """Calls ``begin_modes`` for every flexible body among the links from ``start`` to ``end``."""
    for i in range(start, end):
        if forest.flexible.body[i] >= 0:
            begin_modes(forest, ws, i)


@jit
def factorise_modes(matrix, start, count):
    """Factorises Γ_FF = L Lᵀ in place, row by row from ``start``, on and below the diagonal."""
    for j in range(count):
        for k in range(j + 1):
            s = matrix[start + j * count + k]
            for c in range(k):
                s -= matrix[start + j * count + c] * matrix[start + k * count + c]
            if k < j:
                matrix[start + j * count + k] = s / matrix[start + k * count + k]
            else:
                matrix[start + j * count + k] = s**0.5


@jit
def modal_speeds_of(forest, ws, i):
    """Products S1 η' and B η' of body i, floating frame."""
    tables, modal = forest.flexible, ws.modal
    b = tables.body[i]
    start, own = tables.mode[b], tables.own_mode[b]
    p, spin = ZERO, ZERO
    for j in range(tables.mode[b + 1] - start):
        p = add(p, scale(modal.speed[start + j], load(tables.first, own + j)))
        spin = add(spin, scale(modal.speed[start + j], axial(load_matrix(modal.coriolis, start + j))))
    return p, spin


@jit
def modal_momentum(forest, ws, i, j):
    """Momentum S1_j·v + B_j·ω + (M η')_j conjugate to η'_j, mode j of body i, for links with known poses and
    velocities."""
    tables, modal = forest.flexible, ws.modal
    b, R = tables.body[i], load_matrix(ws.rotation, i)
    v, w = apply_t(R, load_from(ws.twist, i, 0)), apply_t(R, load_from(ws.twist, i, 3))
    start, count = tables.mode[b], tables.mode[b + 1] - tables.mode[b]
    s = dot(load(tables.first, tables.own_mode[b] + j), v)
    s += dot(axial(load_matrix(modal.coriolis, start + j)), w)
    for k in range(count):
        s += tables.mass[tables.own_pair[b] + j * count + k] * modal.speed[start + k]
    return s


@jit
def modal_kinetic_energy(forest, ws, i):
    """Kinetic energy ½ η'ᵀ M η' of the modes of body i."""
    tables, modal = forest.flexible, ws.modal
    b = tables.body[i]
    start, count, total = tables.mode[b], tables.mode[b + 1] - tables.mode[b], 0.0
    for j in range(count):
        for k in range(count):
            row = tables.own_pair[b] + j * count + k
            total += 0.5 * tables.mass[row] * modal.speed[start + j] * modal.speed[start + k]
    return total
