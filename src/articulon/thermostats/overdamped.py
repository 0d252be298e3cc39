"""Overdamped motion. The friction is so large that speeds decorrelate within a step."""

from typing import ClassVar, Literal

from articulon.thermostats.base import OVERDAMPS
from articulon.thermostats.langevin import Frictional


class Overdamped(Frictional):
    """x' = Γ/(m γ) + √(2 k T/(m γ)) ξ, for the integrator ``ermak-mccammon`` (Ermak and McCammon, J. Chem. Phys. 69,
    1352, 1978, without hydrodynamic interactions).

    Ensemble: positions are canonical to first order in the step; there are no speeds and no kinetic energy.
    """

    kind: Literal["overdamped"] = "overdamped"
    way: ClassVar[int] = OVERDAMPS
