"""Two factors for a thermostatted system: Case III of Guy (2018, table 4.1)."""

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import THERMOSTAT
from articulon.scaling.base import ScalingPolicy


@first_class
def atomistic_two_factor(parameters, sums, factor):
    for channel in range(factor.size):
        factor[channel] = parameters[0] * parameters[1]
    factor[THERMOSTAT] = parameters[0]


class AtomisticTwoFactor(ScalingPolicy):
    """Scale the thermostat's ζ by a2, and the other forces by a2 b2: M q'' + (a2 ζ + a2 b2 kd ζ') M q' = a2 b2 Γ.

    The symbols are those of ``atomistic``. Guy (2018) names this case, in which ζ is large as well, but prints no
    equation for it. This equation is analogous to 2.15, with ζ in place of the drag. ζ still grows until the kinetic
    temperature is at its target Td, so that the configuration is that of **Td/(a2 b2)**.
    """

    positional: ClassVar[tuple[str, ...]] = ("a2", "b2")
    policy: Literal["atomistic-two-factor"] = "atomistic-two-factor"
    a2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Factor of ζ."""
    b2: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)]
    """Additional factor of the other forces and of kd ζ'."""
    law = staticmethod(atomistic_two_factor)
    thermostatted: ClassVar[bool] = True

    def parameters(self, damping: float) -> np.ndarray:
        """Return (a2, b2)."""
        return np.array([float(self.a2), float(self.b2)])

    def least_factor(self) -> float:
        """Return a2 b2."""
        return float(self.a2) * float(self.b2)

    def configurational_factor(self) -> float:
        """Return 1/(a2 b2)."""
        return 1.0 / self.least_factor()
