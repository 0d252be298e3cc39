"""Nosé–Hoover chains of any length, their equations of motion and their part of a step (Guy 2018, 3.2 to 3.6).

M q'' = Γ − ζ_1 M q', with Q_1 ζ_1' = 2K − N k T − Q_1 ζ_1 ζ_2 and Q_j ζ_j' = Q_{j−1} ζ_{j−1}² − k T − Q_j ζ_j ζ_{j+1}.
The equation of the last ζ_j has no term with ζ_{j+1} (Martyna, Klein and Tuckerman, J. Chem. Phys. 97, 2635, 1992). Guy
prints −ζ M q' on the side of M q'' (3.4, 3.5), which would drive the motion and not damp it. The last variable is the
energy of the reservoir, E' = N k T ζ_1 + k T Σ_{j>1} ζ_j. With the kinetic energy K and the potential energy Φ, K + Φ +
Σ ½ Q_j ζ_j² + E is conserved for any T(t).
"""

import math

from articulon.kernels import first_class, jit
from articulon.model.state import THERMOSTAT
from articulon.thermostats.base import DEGREES_OF_FREEDOM
from articulon.thermostats.schedule import target

OUTER = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
"""Suzuki's weight p: five substeps p, p, 1 − 4p, p, p turn a symmetric scheme of order 2 into a scheme of order 4."""
PARTS = 5
LONGEST = 0.5
"""Largest product of a substep of a chain and the thermostat's angular frequency."""


@jit
def chain_rates(bath, twice_kinetic, kT, variables, rates):
    """Compute the rates of ζ_1 to ζ_k and of the reservoir's energy, at given 2K and k T [energy]."""
    Q, last = bath.masses, bath.masses.size - 1
    driving, reservoir = (
        twice_kinetic - bath.constants[DEGREES_OF_FREEDOM] * kT,
        bath.constants[DEGREES_OF_FREEDOM] * kT * variables[0],
    )
    for j in range(last + 1):
        rate = driving / Q[j]
        if j < last:
            rate -= variables[j] * variables[j + 1]
        if j > 0:
            reservoir += kT * variables[j]
        rates[j] = rate
        driving = Q[j] * variables[j] * variables[j] - kT
    rates[last + 1] = reservoir


@jit
def chain_energy(bath, variables):
    """Return Σ ½ Q_j ζ_j² plus the energy of the reservoir [energy]."""
    total = variables[bath.masses.size]
    for j in range(bath.masses.size):
        total += 0.5 * bath.masses[j] * variables[j] * variables[j]
    return total


@jit
def advance_variable(bath, twice_kinetic, kT, j, h, variables):
    """Advance ζ_j over a time h at constant ζ_{j+1}: half of the decay of ζ_j, its driving term, and the other half of
    its decay."""
    Q, last = bath.masses, bath.masses.size - 1
    if j == 0:
        force = twice_kinetic - bath.constants[DEGREES_OF_FREEDOM] * kT
    else:
        force = Q[j - 1] * variables[j - 1] * variables[j - 1] - kT
    decay = math.exp(-0.5 * h * variables[j + 1]) if j < last else 1.0
    variables[j] = (variables[j] * decay + h * force / Q[j]) * decay


@jit
def chain_step(bath, kinetic, kT, h, weight, variables):
    """Advance a chain over a time h at constant positions (Martyna, Tuckerman, Tobias and Klein, Mol. Phys. 87, 1117,
    1996, with Suzuki's weights). Return the kinetic energy at the end. ``weight`` is the factor of the thermostat's
    force."""
    k = bath.masses.size
    fastest = bath.constants[DEGREES_OF_FREEDOM] * kT / bath.masses[0]
    for j in range(1, k):
        fastest = max(fastest, kT / bath.masses[j])
    repeats = 1 + int(h * math.sqrt(2.0 * fastest) / LONGEST)
    for part in range(PARTS * repeats):
        d = (1.0 - 4.0 * OUTER if part % PARTS == 2 else OUTER) * h / repeats
        for j in range(k - 1, -1, -1):
            advance_variable(bath, 2.0 * kinetic, kT, j, 0.5 * d, variables)
        kinetic *= math.exp(-2.0 * weight * d * variables[0])
        reservoir = bath.constants[DEGREES_OF_FREEDOM] * variables[0]
        for j in range(1, k):
            reservoir += variables[j]
        variables[k] += d * kT * reservoir
        for j in range(k):
            advance_variable(bath, 2.0 * kinetic, kT, j, 0.5 * d, variables)
    return kinetic


@first_class
def advance_chain(bath, kinetic, time, h, count, factor, variables, works):
    """Advance the chain over a time h and return the factor of all speeds."""
    after = chain_step(bath, kinetic, target(bath, time + 0.5 * h), h, factor[THERMOSTAT], variables)
    works[THERMOSTAT] += after - kinetic
    return math.sqrt(after / kinetic) if kinetic > 0.0 else 1.0
