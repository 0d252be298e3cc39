"""Armatures of joints in friction-implicit steps: their terms in addition to the diagonal a of the mass matrix.

A steady drift keeps the angular velocities of links on joints that leave all rotations free. On a rotating parent the
speeds of such a joint therefore change in the drift at the rate −d,

    d = R_iᵀ (g_p + ω_p × ω_i),

with g the angular accelerations of links in the drift (``keep_spins``). A kick solves the rest of (M + diag(a)) u' = f:
``keep_spins`` subtracts the accelerations that links have in the drift, and a d is the corresponding term of the
rotors.

Speeds of N(0, kT (M + diag(a))⁻¹) follow from speeds w of the links alone, of N(0, kT M⁻¹), and from as many further
normal numbers n: (M + diag(a))⁻¹ (M w + √(kT a) n) = w + (M + diag(a))⁻¹ (√(kT a) n − a w), by one recursion.
"""

from __future__ import annotations

import math

import numpy as np

from articulon.algebra.vectors import add, apply_t, cross, load, load_from, load_matrix
from articulon.dynamics import joints
from articulon.dynamics.armatures import open_solution
from articulon.dynamics.kinetic_energies import rotor_energy
from articulon.forces.evaluation_tables import ModelTables
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.model import Forest, Model, Workspace
from articulon.model.joints import FREE, SPHERICAL
from articulon.model.state import THERMOSTAT
from articulon.passes import Bound, pass_of
from articulon.rng import normal_pair
from articulon.thermostats.base import SEED, STREAM


def keeps_spins(forest: Forest) -> bool:
    """Whether a joint that leaves all rotations free is carried by another joint."""
    return bool((np.isin(forest.kind, (SPHERICAL, FREE)) & (forest.parent >= 0)).any())


def adding_energy(model: Model, u: np.ndarray, arrays: Scratch) -> list[Bound]:
    """The pass that adds ½ Σ a u² to the kinetic energy of a step; none without armatures."""
    if model.armature is None:
        return []
    return [add_rotor_energy.bind(model.armature.copy(), u, arrays.kinetic)]


def drawing_rotors(e: ModelTables, arrays: Scratch, still: Workspace) -> list[Bound]:
    """The passes that turn the Langevin noise of the links into that of the mass matrix with armatures."""
    model, nu = e.model, e.model.nu
    if model.armature is None:
        return []
    tau, change, speeds = np.zeros(nu), np.zeros(nu), arrays.draw.speeds
    loads = tau, np.zeros((e.system.forest.mass.size, 6)), np.zeros(3), np.ones(1)
    return [
        random_rotor_torques.bind(e.system.bath, arrays.number, model.armature.copy(), speeds, tau),
        open_solution(model, e.system.forest, loads, still, change),
        add_speeds.bind(change, speeds),
    ]


@pass_of
def keep_rotors(forest, ws, turning, armature, tau, pushed):
    """Compute joint forces (nu,) with the term a d for links that keep their angular velocities; the velocities of the
    links must be known, and ``keep_spins`` must have run."""
    for k in range(pushed.shape[0]):
        pushed[k] = tau[k]
    for i in range(forest.kind.size):
        kind, p = forest.kind[i], forest.parent[i]
        if p >= 0 and (kind == SPHERICAL or kind == FREE):
            g = add(load(turning, p), cross(load_from(ws.twist, p, 3), load_from(ws.twist, i, 3)))
            d, first = apply_t(load_matrix(ws.rotation, i), g), forest.u_start[i] + joints.degrees_of_freedom(kind) - 3
            for k in range(3):
                pushed[first + k] += armature[first + k] * d[k]


@pass_of
def add_rotor_energy(armature, u, kinetic):
    """Add ½ Σ a u² to a kinetic energy (1,)."""
    kinetic[0] += rotor_energy(armature, u)


@pass_of
def book_rotors(armature, u, work, sign):
    """Add ½ Σ a u², times a sign, to the work of a thermostat."""
    work[THERMOSTAT] += sign * rotor_energy(armature, u)


@pass_of
def random_rotor_torques(bath, count, armature, speeds, tau):
    """Compute √a n − a w (nu,) from the links' speeds w, with the normal numbers nu to 2 nu − 1 of the step
    ``count``."""
    nu = speeds.size
    for k in range(nu):
        n, _ = normal_pair(bath.choice[SEED], bath.choice[STREAM], count[0], nu + k)
        tau[k] = math.sqrt(armature[k]) * n - armature[k] * speeds[k]


@pass_of
def add_speeds(change, speeds):
    """Add changes (nu,) to speeds."""
    for k in range(speeds.size):
        speeds[k] += change[k]
