"""Langevin's thermostat: friction and noise, solved exactly over a step."""

import math
from typing import Annotated, ClassVar, Literal

from articulon.declaration import Dimension, Quantity
from articulon.errors import CaseError
from articulon.kernels import jit
from articulon.model import Model
from articulon.rng import normal_pair
from articulon.thermostats.base import FRICTION, KICKS, BaseThermostat
from articulon.thermostats.schedule import target


@jit
def ornstein_uhlenbeck(v, c, s, normal):
    """Return v after a step h of v' = −γ v + noise, with c = e^{−γ h}, s = √((1 − c²) k T/m) and a standard normal
    number."""
    return c * v + s * normal


@jit
def decay_and_noise(friction, h, kT):
    """Return c = e^{−γ h} and √((1 − c²) k T) of a step h, without cancellation for small γ h."""
    return math.exp(-friction * h), math.sqrt(-math.expm1(-2.0 * friction * h) * kT)


@jit
def langevin_speeds(bath, clock, u, noise):
    """Apply friction and noise to the speeds u, over a step that starts at the time ``clock[0]`` and has the length
    ``clock[1]``; ``noise`` is drawn from N(0, M⁻¹).

    The arrays hold one state, or several states side by side.
    """
    time, h = clock[0], clock[1]
    c, s = decay_and_noise(bath.constants[FRICTION], h, target(bath, time + 0.5 * h))
    for k in range(u.shape[0]):
        u[k] = c * u[k] + s * noise[k]


@jit
def particle_normals(seed, stream, step, particle):
    """Return three independent standard normal numbers for a particle in a step."""
    x, y = normal_pair(seed, stream, step, 2 * particle)
    z, _ = normal_pair(seed, stream, step, 2 * particle + 1)
    return x, y, z


class Frictional(BaseThermostat):
    """Base of the thermostats with friction and noise."""

    friction: Annotated[Quantity, Dimension("frequency", minimum=0, exclusive=True)]
    """Friction γ, the inverse of the time over which speeds decorrelate [1/time]."""

    def check(self, model: Model, where: str = "thermostat") -> None:
        """See :class:`BaseThermostat`. Removed momentum is also rejected, because noise would change the momentum."""
        if self.centre_of_mass == "removed":
            raise CaseError(
                f"{where}.centre_of_mass: noise moves the centre of mass, so its momentum does not stay zero; use "
                "'free'"
            )
        super().check(model, where)

    def numbers(self) -> tuple[float, float, float]:
        """Return γ, and zero for gain and relaxation time."""
        return 0.0, float(self.friction), 0.0


class Langevin(Frictional):
    """M u' = Γ − γ M u + √(2 γ k T) M^½ ξ, with friction and noise solved exactly between the two halves of a step
    (BAOAB: Leimkuhler and Matthews, Appl. Math. Res. Express 2013, 34).

    Ensemble: canonical for speeds and positions, for any friction and model. Errors are of second order in the step,
    and small for positions. Momentum is not conserved, and γ slows down diffusion: this thermostat is good for
    sampling, but not for dynamics. On trees and rigid bodies the noise is drawn from N(0, k T M⁻¹).
    """

    kind: Literal["langevin"] = "langevin"
    way: ClassVar[int] = KICKS
