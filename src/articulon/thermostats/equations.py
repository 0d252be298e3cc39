"""Thermostats as forces, for integrators of any right-hand side.

On every link of a tree or mechanism, the force −ζ M q' is a wrench: −ζ times the link's momentum and its angular
momentum about its origin. This follows from Σ Jᵀ I J q' = M q', with the Jacobians J and inertias I of the links. On a
mode of a flexible body, it is −ζ times the momentum conjugate to the mode's speed. On a joint with the armature a and
the speed u, it is −ζ a u.
"""

from articulon.algebra.vectors import scale, store_from
from articulon.dynamics.flexible.floating_frame import modal_momentum
from articulon.dynamics.kinetic_energies import kinetic_energy, link_momentum
from articulon.kernels import jit
from articulon.model.state import THERMOSTAT, THERMOSTAT_RATE
from articulon.thermostats.base import GAIN
from articulon.thermostats.chains import chain_rates
from articulon.thermostats.schedule import target


@jit
def thermostat_wrenches(forest, bath, time, ws, more, variables, wrench, rates):
    """Compute the wrenches −ζ p and −kd ζ' p (8, links, 6), and the rates of the thermostat's variables. Here p are the
    momenta of the links; their poses and velocities must be known. ``more`` is the kinetic energy of the armatures."""
    chain_rates(bath, 2.0 * (kinetic_energy(forest, ws) + more), target(bath, time), variables, rates)
    zeta, rate = variables[0], bath.constants[GAIN] * rates[0]
    for i in range(forest.mass.size):
        p, turning = link_momentum(forest, ws, i)
        store_from(wrench[THERMOSTAT], i, 0, scale(-zeta, p))
        store_from(wrench[THERMOSTAT], i, 3, scale(-zeta, turning))
        if bath.constants[GAIN] > 0.0:
            store_from(wrench[THERMOSTAT_RATE], i, 0, scale(-rate, p))
            store_from(wrench[THERMOSTAT_RATE], i, 3, scale(-rate, turning))


@jit
def thermostat_on_modes(forest, bath, ws, variables, rates, joint):
    """Add the thermostat's forces on modes, −ζ and −kd ζ' times their momenta, to the joint forces (8, nu)."""
    tables = forest.flexible
    for i in range(forest.mass.size):
        b = tables.body[i]
        if b < 0:
            continue
        for j in range(tables.mode[b + 1] - tables.mode[b]):
            p, at = modal_momentum(forest, ws, i, j), tables.u_start[b] + j
            joint[THERMOSTAT, at] -= variables[0] * p
            joint[THERMOSTAT_RATE, at] -= bath.constants[GAIN] * rates[0] * p


@jit
def thermostat_on_rotors(bath, armature, u, variables, rates, joint):
    """Add the thermostat's forces on rotors, −ζ and −kd ζ' times the armature times u, to the joint forces (8, nu)."""
    for k in range(armature.size):
        joint[THERMOSTAT, k] -= variables[0] * armature[k] * u[k]
        joint[THERMOSTAT_RATE, k] -= bath.constants[GAIN] * rates[0] * armature[k] * u[k]
