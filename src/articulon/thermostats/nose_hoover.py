"""The Nosé–Hoover thermostat, with one variable or with a chain of variables."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.declaration import Dimension, Quantity, Whole
from articulon.errors import CaseError
from articulon.model import Model
from articulon.thermostats.base import SCALES, BaseThermostat
from articulon.thermostats.chains import advance_chain

EITHER = "give either {} or period: one follows from the other"


class Deterministic(BaseThermostat):
    """Base of the thermostats that are equations of motion."""

    way: ClassVar[int] = SCALES
    deterministic: ClassVar[bool] = True

    period: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Period of small oscillations of the kinetic energy about the target, without a potential [time]. It sets Q = 2 N
    k T (period/2π)² at the first temperature, and Q = 2 k T (period/2π)² for the other members of a chain."""

    def check(self, model: Model, where: str = "thermostat") -> None:
        """See :class:`BaseThermostat`. A period is also rejected if the first temperature is zero."""
        super().check(model, where)
        if self.period is not None and not self.table(model, 0).masses.all():
            raise CaseError(f"{where}.period: at a temperature of 0 it does not define Q; give Q itself")

    def swing(self, thermal: float) -> float:
        """Return 2 (period/2π)² times an energy ``thermal``; this is a thermostat mass Q."""
        assert self.period is not None
        return 2.0 * thermal * (float(self.period) / (2.0 * math.pi)) ** 2


class OneVariable(Deterministic):
    """Base of the thermostats with one thermostat mass Q."""

    mass: Annotated[Quantity | None, Dimension("inertia", minimum=0, exclusive=True)] = None
    """Thermostat mass Q [energy time²]. Give either ``mass`` or ``period``."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.mass is None) == (self.period is None):
            raise ValueError(EITHER.format("mass"))
        return self

    def thermostat_masses(self, thermal: float, kT: float) -> np.ndarray:
        """Return the array of the single Q."""
        return np.array([self.swing(thermal) if self.mass is None else float(self.mass)])


class NoseHoover(OneVariable):
    """M q'' = Γ − ζ M q', Q ζ' = q'ᵀ M q' − N k T (Guy 2018, 3.1 to 3.4, with the sign of ζ that damps the motion).

    Ensemble: canonical if the motion is ergodic. Small or stiff models, such as one oscillator, are not ergodic; use a
    chain for these. The kinetic energy oscillates about its target with the period 2π √(Q/2NkT). These oscillations
    last long if other motions disturb them little. Conserved: K + Φ + ½ Q ζ² + N k ∫T ζ dt.

    Sources: Nosé, J. Chem. Phys. 81, 511, 1984; Hoover, Phys. Rev. A 31, 1695, 1985.
    """

    kind: Literal["nose-hoover"] = "nose-hoover"
    advance = staticmethod(advance_chain)


class NoseHooverChain(Deterministic):
    """A chain of Nosé–Hoover thermostats. Each controls the temperature of the previous one (Guy 2018, 3.5, with the
    sign of ζ that damps the motion).

    Ensemble: canonical, also for small and stiff models. Conserved: K + Φ + Σ ½ Q_j ζ_j² + N k ∫T ζ_1 dt +
    k ∫T Σ_{j>1} ζ_j dt.

    Source: Martyna, Klein and Tuckerman, J. Chem. Phys. 97, 2635, 1992.
    """

    kind: Literal["nose-hoover-chain"] = "nose-hoover-chain"
    length: Annotated[Whole, Field(ge=1, le=1000)] = 3
    """Number of thermostats in the chain, if ``period`` is given."""
    masses: Annotated[tuple[Quantity, ...] | None, Dimension("inertia", minimum=0, exclusive=True)] = None
    """Thermostat mass Q of each member [energy time²]. Give either ``masses`` or ``period``."""
    advance = staticmethod(advance_chain)

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.masses is None) == (self.period is None):
            raise ValueError(EITHER.format("masses"))
        if self.masses is not None and "length" in self.model_fields_set and len(self.masses) != self.length:
            raise ValueError(f"masses: {len(self.masses)} are given for a chain of length {self.length}")
        if self.masses is not None and not self.masses:
            raise ValueError("masses: a chain has at least one thermostat")
        return self

    def thermostat_masses(self, thermal: float, kT: float) -> np.ndarray:
        """Return the array (Q_1, ..., Q_k)."""
        if self.masses is not None:
            return np.array([float(Q) for Q in self.masses])
        return np.array([self.swing(thermal), *[self.swing(kT)] * (self.length - 1)])
