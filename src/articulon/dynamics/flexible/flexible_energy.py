"""Kinetic energy and momentum of forests with flexible bodies."""

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
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.flexible.floating_frame import modal_kinetic_energy, modal_speeds_of
from articulon.dynamics.kinetic_energies import first_moment, kinetic_energy, link_momentum


@for_flexible(kinetic_energy)
def kinetic_energy_flexible(forest, ws):
    """Kinetic energy T = Σ ½ m v² + v·(ω × h + S1 η') + ½ ω·A ω + ω·B η' + ½ η'·M η' of links with known velocities."""
    mass, body, modal = forest.mass, forest.flexible.body, ws.modal
    total = 0.0
    for i in range(mass.size):
        R = load_matrix(ws.rotation, i)
        w, v = apply_t(R, load_from(ws.twist, i, 3)), apply_t(R, load_from(ws.twist, i, 0))
        spin = dot(w, symmetric_apply(load_symmetric(modal.inertia, i), w))
        total += 0.5 * (mass[i] * dot(v, v) + spin) + dot(v, cross(w, load(modal.moment, i)))
        if body[i] >= 0:
            p, turning = modal_speeds_of(forest, ws, i)
            total += dot(v, p) + dot(w, turning) + modal_kinetic_energy(forest, ws, i)
    return total


@for_flexible(first_moment)
def first_moment_flexible(forest, ws, i):
    """First moment of mass h(η) of link i."""
    return load(ws.modal.moment, i)


@for_flexible(link_momentum)
def link_momentum_flexible(forest, ws, i):
    """Momentum m v + ω × h + S1 η' and angular momentum A ω + h × v + B η', world axes, of links with known
    velocities."""
    modal = ws.modal
    R = load_matrix(ws.rotation, i)
    v, w = load_from(ws.twist, i, 0), load_from(ws.twist, i, 3)
    h = apply(R, load(modal.moment, i))
    p = add(scale(forest.mass[i], v), cross(w, h))
    turning = add(apply(R, symmetric_apply(load_symmetric(modal.inertia, i), apply_t(R, w))), cross(h, v))
    if forest.flexible.body[i] >= 0:
        more, spin = modal_speeds_of(forest, ws, i)
        p, turning = add(p, apply(R, more)), add(turning, apply(R, spin))
    return p, turning
