"""One factor for a thermostatted system (Guy 2018, 4.12)."""

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import THERMOSTAT
from articulon.scaling.base import ScalingPolicy


@first_class
def atomistic(parameters, sums, factor):
    for channel in range(factor.size):
        factor[channel] = parameters[0]
    factor[THERMOSTAT] = 1.0


class Atomistic(ScalingPolicy):
    """Multiply every force except the thermostat's friction ζ by a2: M q'' + (ζ + a2 kd ζ') M q' = a2 Γ, as published.

    M is the mass matrix, q the coordinates, Γ the forces, and kd the gain of the thermostat's term in the rate ζ'.
    The thermostat keeps the kinetic temperature at its target Td. Because the forces are scaled by a2, the system
    samples positions with the weight exp(−a2 Φ/(k Td)) for a potential Φ: the configuration is that of temperature
    **Td/a2**. With a2 = 10⁻³ and 773 K this is 773,000 K, and molten ions disperse like a gas. The policy
    ``atomistic-clock`` preserves the configuration.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2",)
    policy: Literal["atomistic"] = "atomistic"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor a2; Guy proposes ε = 1/(kd ζ') in the chosen unit of time as a first guess."""
    law = staticmethod(atomistic)
    thermostatted: ClassVar[bool] = True

    def parameters(self, damping: float) -> np.ndarray:
        """Return (a2,)."""
        return np.array([float(self.a2)])

    def least_factor(self) -> float:
        """Return a2."""
        return float(self.a2)

    def configurational_factor(self) -> float:
        """Return 1/a2."""
        return 1.0 / float(self.a2)
