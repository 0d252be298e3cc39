"""Stiffness and damping of the modes of flexible bodies: −K η in the channel ``conformational``, −D η' in ``damping``;
and the power and energy of gravity on deformed bodies."""

from articulon.algebra.vectors import add, apply, cross, dot, load, load_from, load_matrix
from articulon.dynamics.by_forest import by_forest, for_flexible
from articulon.dynamics.flexible.floating_frame import modal_speeds_of
from articulon.forces.gravity import gravity_energy, gravity_power
from articulon.kernels import jit


@by_forest
def modal_springs(forest, q, tau):
    """Do nothing: rigid bodies have no modes."""


@by_forest
def modal_damping(forest, u, tau):
    """Do nothing: rigid bodies have no modes."""


@by_forest
def modal_energy(forest, q):
    """Return zero: rigid bodies have no modes."""
    return 0.0


@jit
def subtract_products(tables, matrix, x, x_start, tau):
    """Subtract matrix x of every flexible body from tau, with x its modal coordinates or speeds from ``x_start``
    (bodies,) on."""
    for b in range(tables.u_start.size):
        count, at = tables.mode[b + 1] - tables.mode[b], tables.u_start[b]
        for j in range(count):
            s = 0.0
            for k in range(count):
                s += matrix[tables.own_pair[b] + j * count + k] * x[x_start[b] + k]
            tau[at + j] -= s


@for_flexible(modal_springs)
def modal_springs_flexible(forest, q, tau):
    """Add −K η to the generalised forces, including that of locked modes."""
    tables = forest.flexible
    subtract_products(tables, tables.stiffness, q, tables.q_start, tau)
    for b in range(tables.u_start.size):
        start = tables.mode[b]
        for j in range(tables.mode[b + 1] - start):
            tau[tables.u_start[b] + j] += tables.locked_force[start + j]


@for_flexible(modal_damping)
def modal_damping_flexible(forest, u, tau):
    """Add −D η' to the generalised forces."""
    subtract_products(forest.flexible, forest.flexible.damping, u, forest.flexible.u_start, tau)


@for_flexible(modal_energy)
def modal_energy_flexible(forest, q):
    """Compute ½ ηᵀ K η of all flexible bodies, without the terms between two locked modes."""
    tables, total = forest.flexible, 0.0
    for b in range(tables.q_start.size):
        count, at = tables.mode[b + 1] - tables.mode[b], tables.q_start[b]
        for j in range(count):
            total -= tables.locked_force[tables.mode[b] + j] * q[at + j]
            for k in range(count):
                total += 0.5 * tables.stiffness[tables.own_pair[b] + j * count + k] * q[at + j] * q[at + k]
    return total


@for_flexible(gravity_power)
def gravity_power_flexible(forest, gravity, ws):
    """Compute the power Σ m g·v of gravity on the nodes and on rigid bodies' centres of mass."""
    g = (gravity[0], gravity[1], gravity[2])
    total = 0.0
    for i in range(forest.mass.size):
        R = load_matrix(ws.rotation, i)
        p = cross(load_from(ws.twist, i, 3), apply(R, load(ws.modal.moment, i)))
        if forest.flexible.body[i] >= 0:
            p = add(p, apply(R, modal_speeds_of(forest, ws, i)[0]))
        total += forest.mass[i] * dot(g, load_from(ws.twist, i, 0)) + dot(g, p)
    return total


@for_flexible(gravity_energy)
def gravity_energy_flexible(forest, gravity, ws):
    """Compute the energy −Σ m g·x of the nodes and of rigid bodies' centres of mass."""
    g = (gravity[0], gravity[1], gravity[2])
    total = 0.0
    for i in range(forest.mass.size):
        h = apply(load_matrix(ws.rotation, i), load(ws.modal.moment, i))
        total -= forest.mass[i] * dot(g, load(ws.position, i)) + dot(g, h)
    return total
