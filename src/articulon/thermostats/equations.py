"""Thermostats as forces, for rules that integrate any right-hand side.

−ζ M q' is, on every link of any tree or mechanism, the wrench −ζ times the link's momentum and angular momentum about
its origin: Σ Jᵀ I J q' = M q'.
"""

from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    cross,
    load,
    load_from,
    load_matrix,
    load_symmetric,
    scale,
    store_from,
    symmetric_apply,
)
from articulon.dynamics.kinetic_energies import kinetic_energy
from articulon.kernels import jit
from articulon.model.state import THERMOSTAT, THERMOSTAT_RATE
from articulon.thermostats.base import GAIN
from articulon.thermostats.chains import chain_rates
from articulon.thermostats.schedule import target


@jit
def thermostat_wrenches(forest, bath, time, ws, variables, wrench, rates):
    """Fills the wrenches −ζ p and −kd ζ' p (8, links, 6) of links that have been placed and moved, p their momenta, and
    the rates of the thermostat's variables."""
    chain_rates(bath, 2.0 * kinetic_energy(forest, ws), target(bath, time), variables, rates)
    mass, moment, inertia, rotation, twist = forest.mass, forest.moment, forest.inertia, ws.rotation, ws.twist
    zeta, rate = variables[0], bath.constants[GAIN] * rates[0]
    for i in range(mass.size):
        R, v, w = load_matrix(rotation, i), load_from(twist, i, 0), load_from(twist, i, 3)
        h = apply(R, load(moment, i))
        p = add(scale(mass[i], v), cross(w, h))
        turning = add(apply(R, symmetric_apply(load_symmetric(inertia, i), apply_t(R, w))), cross(h, v))
        store_from(wrench[THERMOSTAT], i, 0, scale(-zeta, p))
        store_from(wrench[THERMOSTAT], i, 3, scale(-zeta, turning))
        if bath.constants[GAIN] > 0.0:
            store_from(wrench[THERMOSTAT_RATE], i, 0, scale(-rate, p))
            store_from(wrench[THERMOSTAT_RATE], i, 3, scale(-rate, turning))
