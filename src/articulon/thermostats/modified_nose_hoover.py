"""Guy's modified Nosé–Hoover thermostat (Guy 2018, 3.6)."""

import math
from typing import Annotated, Literal

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class, jit
from articulon.model.state import THERMOSTAT, THERMOSTAT_RATE
from articulon.thermostats.base import DEGREES_OF_FREEDOM, GAIN
from articulon.thermostats.chains import chain_step
from articulon.thermostats.nose_hoover import OneVariable
from articulon.thermostats.schedule import target


@jit
def rate_part(kinetic, degrees_of_freedom, kT, gain, Q, h):
    """Return the kinetic energy K after a time h of K' = −2 kd ζ' K with ζ' = (2K − N k T)/Q. This logistic equation is
    solved exactly."""
    rate, slope = 2.0 * gain * degrees_of_freedom * kT / Q, 4.0 * gain / Q
    grown = -math.expm1(-rate * h) / rate if rate > 0.0 else h
    return kinetic / (math.exp(-rate * h) + slope * kinetic * grown)


@first_class
def advance_modified(bath, kinetic, time, h, count, factor, variables, works):
    """Advance the chain over a time h, between two halves of the part with ζ'; return the factor of all speeds."""
    kT, Q = target(bath, time + 0.5 * h), bath.masses[0]
    degrees_of_freedom, gain = bath.constants[DEGREES_OF_FREEDOM], factor[THERMOSTAT_RATE] * bath.constants[GAIN]
    first = rate_part(kinetic, degrees_of_freedom, kT, gain, Q, 0.5 * h)
    second = chain_step(bath, first, kT, h, factor[THERMOSTAT], variables)
    third = rate_part(second, degrees_of_freedom, kT, gain, Q, 0.5 * h)
    works[THERMOSTAT] += second - first
    works[THERMOSTAT_RATE] += (first - kinetic) + (third - second)
    return math.sqrt(third / kinetic) if kinetic > 0.0 else 1.0


class ModifiedNoseHoover(OneVariable):
    """M q'' = Γ − (ζ + kd ζ') M q', Q ζ' = q'ᵀ M q' − N k T (Guy 2018, 3.6 and 4.1).

    Ensemble: positions are canonical, speeds are nearly isokinetic. In the canonical ensemble, the kinetic temperature
    has the standard deviation σ_T = T √(2/N); the ζ' part damps these fluctuations. If 2 kd N k T/Q is much larger than
    the fastest frequency, σ_T = T Q σ(q'ᵀΓ / q'ᵀMq')/(kd N k T). Use it as an isokinetic thermostat, and not if
    fluctuations of the kinetic energy matter, for example for heat capacities. The ledger records the works of the two
    parts separately, as thermostat and thermostat_rate.

    If some speeds hardly exchange energy with the others, they slowly collect all kinetic energy, because the ζ' part
    damps only the fluctuations of the other speeds. The total momentum of particles in a periodic box is the first to
    grow; remove it by ``centre_of_mass = "removed"``. At a constant kinetic energy ½ N k T, positions are sampled at
    the temperature T N/(N − 1).

    Conserved: K + Φ + ½ Q ζ² + N k ∫T ζ dt minus the work of the ζ' part.
    """

    kind: Literal["modified-nose-hoover"] = "modified-nose-hoover"
    derivative_gain: Annotated[Quantity, Dimension("time", minimum=0)]
    """Gain kd of the ζ' part [time]; 0 gives the standard thermostat."""
    advance = staticmethod(advance_modified)

    def numbers(self) -> tuple[float, float, float]:
        """Return kd, and zero for friction and relaxation time."""
        return float(self.derivative_gain), 0.0, 0.0
