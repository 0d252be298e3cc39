"""Stochastic velocity rescaling (Bussi, Donadio and Parrinello, J. Chem. Phys. 126, 014101, 2007)."""

import math
from typing import Annotated, ClassVar, Literal

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class, jit
from articulon.model.state import THERMOSTAT
from articulon.rng import normal_pair, uniform_pair
from articulon.thermostats.base import DEGREES_OF_FREEDOM, RELAXATION, SCALES, SEED, STREAM, BaseThermostat
from articulon.thermostats.schedule import target


@jit
def gamma_number(shape, seed, stream, count, index):
    """Draw a number from the gamma distribution with the given shape and the scale 1. Random numbers are used from
    number ``index`` of the stream on.

    Marsaglia and Tsang, ACM Trans. Math. Softw. 26, 363, 2000. For a shape below 1, the result is U^{1/shape} times a
    draw for shape + 1, with a uniform random number U.
    """
    boost = 1.0
    if shape < 1.0:
        u, _ = uniform_pair(seed, stream, count, index)
        boost, shape = u ** (1.0 / shape), shape + 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        index += 2
        x, _ = normal_pair(seed, stream, count, index)
        u, _ = uniform_pair(seed, stream, count, index + 1)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost * d * v


@jit
def sum_of_squares(number, seed, stream, count, index):
    """Draw the sum of the squares of ``number`` standard normal numbers."""
    if number == 0:
        return 0.0
    return 2.0 * gamma_number(0.5 * number, seed, stream, count, index)


@first_class
def rescale(bath, kinetic, time, h, count, factor, variables, works):
    """Return the factor of all speeds after a time h (Bussi and Parrinello, Comput. Phys. Commun. 179, 26, 2008,
    appendix)."""
    if not kinetic > 0.0:
        return 1.0
    N, seed, stream = bath.constants[DEGREES_OF_FREEDOM], bath.choice[SEED], bath.choice[STREAM]
    c = math.exp(-h / bath.constants[RELAXATION])
    mean = target(bath, time + 0.5 * h) / (2.0 * kinetic)
    normal, _ = normal_pair(seed, stream, count, 0)
    others = sum_of_squares(int(N) - 1, seed, stream, count, 1)
    # Friction and noise act on one component of the speeds; the sum of the squares of the others is drawn directly.
    along = math.sqrt(c) + math.sqrt((1.0 - c) * mean) * normal
    squared = along * along + (1.0 - c) * mean * others
    works[THERMOSTAT] += (squared - 1.0) * kinetic
    return math.copysign(math.sqrt(squared), along)


class StochasticVelocityRescaling(BaseThermostat):
    """Multiplies all speeds by one random number, such that the kinetic energy follows dK = (N k T/2 − K) dt/τ + 2 √(K
    k T/2τ) dW, exactly.

    Ensemble: canonical if the motion itself distributes energy over all degrees of freedom. The distribution of the
    kinetic energy is exact for any τ and step. The dynamics is hardly disturbed, and a total momentum of zero stays
    zero. A model at rest stays at rest. Conserved, except for errors of the integrator: K + Φ minus the thermostat's
    work.
    """

    kind: Literal["stochastic-velocity-rescaling"] = "stochastic-velocity-rescaling"
    time: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """Relaxation time τ, in which an excess of kinetic energy decays to 1/e [time]."""
    way: ClassVar[int] = SCALES
    advance = staticmethod(rescale)

    def numbers(self) -> tuple[float, float, float]:
        """Return τ, and zero for gain and friction."""
        return 0.0, 0.0, float(self.time)
