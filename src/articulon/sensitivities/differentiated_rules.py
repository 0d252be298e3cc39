"""Integrators with known derivatives: the :class:`Stepping` for each integrator declaration."""

from typing import Any

from articulon.integrate.integrators import BrownianDynamics, Canonical, Explicit, FrictionImplicit
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.explicit_stepping import ExplicitStepping
from articulon.sensitivities.friction_implicit_stepping import FrictionImplicitStepping
from articulon.sensitivities.overdamped_stepping import OverdampedStepping
from articulon.sensitivities.stepping import Stepping
from articulon.sensitivities.verlet_stepping import VelocityVerletStepping

STEPPINGS: dict[Any, Any] = {
    Explicit: ExplicitStepping,
    FrictionImplicit: FrictionImplicitStepping,
    BrownianDynamics: OverdampedStepping,
    Canonical: VelocityVerletStepping,
}


def stepping_of(run: DifferentiableRun) -> Stepping:
    """Return the stepping of a run for its integrator."""
    found: Stepping = STEPPINGS[type(run.integrator)](run)
    return found
