"""Integrators with known derivatives: the :class:`Stepping` for each integrator declaration."""

from typing import Any

from articulon.integrate.integrators import BrownianDynamics, Canonical, Explicit, FrictionImplicit
from articulon.sensitivities.canonical_stepping import CanonicalStepping
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.explicit_stepping import ExplicitStepping
from articulon.sensitivities.friction_implicit_stepping import FrictionImplicitStepping
from articulon.sensitivities.overdamped_stepping import OverdampedStepping
from articulon.sensitivities.rule_limits import only_slides
from articulon.sensitivities.stepping import Stepping
from articulon.sensitivities.verlet_stepping import VelocityVerletStepping


def _verlet_stepping(run: DifferentiableRun) -> Stepping:
    """Return the stepping of velocity Verlet; it is explicit if no body rotates."""
    return VelocityVerletStepping(run) if only_slides(run.model) else CanonicalStepping(run)


STEPPINGS: dict[Any, Any] = {
    Explicit: ExplicitStepping,
    FrictionImplicit: FrictionImplicitStepping,
    BrownianDynamics: OverdampedStepping,
    Canonical: _verlet_stepping,
}


def stepping_of(run: DifferentiableRun) -> Stepping:
    """Return the stepping that belongs to the integrator of a run."""
    found: Stepping = STEPPINGS[type(run.integrator)](run)
    return found
