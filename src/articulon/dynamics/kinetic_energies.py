"""Kinetic energy and momentum of links."""

from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    load_symmetric,
    scale,
    symmetric_apply,
)
from articulon.dynamics.by_forest import by_forest
from articulon.dynamics.kinematics import move, place
from articulon.kernels import jit, kernel
from articulon.passes import pass_of


@by_forest
def kinetic_energy(forest, ws):
    """Kinetic energy T = Σ ½ m v² + v·(ω × m c) + ½ ω·I ω of links with known velocities, about their origins."""
    mass, moment, inertia = forest.mass, forest.moment, forest.inertia
    rotation, twist = ws.rotation, ws.twist
    total = 0.0
    for i in range(mass.size):
        R = load_matrix(rotation, i)
        w, v = apply_t(R, load_from(twist, i, 3)), apply_t(R, load_from(twist, i, 0))
        spin = dot(w, symmetric_apply(load_symmetric(inertia, i), w))
        total += 0.5 * (mass[i] * dot(v, v) + spin) + dot(v, cross(w, load(moment, i)))
    return total


@by_forest
def first_moment(forest, ws, i):
    """First moment of the mass of link i, link frame."""
    return load(forest.moment, i)


@by_forest
def link_momentum(forest, ws, i):
    """Momentum of link i and its angular momentum about its origin, world axes, for links with known velocities."""
    R = load_matrix(ws.rotation, i)
    v, w = load_from(ws.twist, i, 0), load_from(ws.twist, i, 3)
    h = apply(R, load(forest.moment, i))
    p = add(scale(forest.mass[i], v), cross(w, h))
    return p, add(apply(R, symmetric_apply(load_symmetric(forest.inertia, i), apply_t(R, w))), cross(h, v))


@jit
def rotor_energy(armature, u):
    """Kinetic energy ½ Σ a u² of armatures (nu,)."""
    total = 0.0
    for k in range(armature.size):
        total += 0.5 * armature[k] * u[k] * u[k]
    return total


@kernel
def kinetic_energy_at(forest, q, u, ws):
    """Kinetic energy T at q and u."""
    place(forest, q, ws, 0, forest.mass.size)
    move(forest, u, ws, 0, forest.mass.size)
    return kinetic_energy(forest, ws)


@pass_of
def find_kinetic_energy(forest, ws, result):
    """Kinetic energy (1,) of links with known poses and velocities."""
    result[0] = kinetic_energy(forest, ws)
