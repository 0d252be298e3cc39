"""Kinetic energy."""

from articulon.algebra.vectors import apply_t, cross, dot, load, load_from, load_matrix, load_symmetric, symmetric_apply
from articulon.dynamics.kinematics import move, place
from articulon.kernels import jit, kernel


@jit
def kinetic_energy(forest, ws):
    """T = Σ ½ m v² + v·(ω × m c) + ½ ω·I ω about the links' origins, of links that have been moved."""
    mass, moment, inertia = forest.mass, forest.moment, forest.inertia
    rotation, twist = ws.rotation, ws.twist
    total = 0.0
    for i in range(mass.size):
        R = load_matrix(rotation, i)
        w, v = apply_t(R, load_from(twist, i, 3)), apply_t(R, load_from(twist, i, 0))
        spin = dot(w, symmetric_apply(load_symmetric(inertia, i), w))
        total += 0.5 * (mass[i] * dot(v, v) + spin) + dot(v, cross(w, load(moment, i)))
    return total


@kernel
def kinetic_energy_at(forest, q, u, ws):
    """T at q and u."""
    place(forest, q, ws, 0, forest.mass.size)
    move(forest, u, ws, 0, forest.mass.size)
    return kinetic_energy(forest, ws)
