"""Which thermostat goes with which rule, model and policy."""

from typing import Any

from articulon.baths import Overdamped
from articulon.baths.base import BaseThermostat
from articulon.errors import CaseError
from articulon.forces.sites.places import only_particles
from articulon.integrate.declarations import (
    BrownianDynamics,
    Canonical,
    Explicit,
    FrictionImplicit,
    PredictorCorrector,
    SciPy,
)
from articulon.integrate.rules import EXPLICIT
from articulon.model import Model
from articulon.scaling.base import ScalingPolicy

PARTICLES = ("velocity-verlet", "r-respa")
"""Rules that take a thermostat as a part of their step on free particles."""
OVERDAMPED = "ermak-mccammon"


def check_thermostat(
    thermostat: BaseThermostat | None, integrator: Any, policy: ScalingPolicy, model: Model, duration: float
) -> None:
    """Raises CaseError for a thermostat that cannot go with the rule, the policy, the model or the duration [time]."""
    if policy.thermostatted and not (thermostat is not None and thermostat.deterministic):
        has = "there is none" if thermostat is None else f"it is '{_kind(thermostat)}'"
        raise CaseError(
            f"scaling.policy: '{getattr(policy, 'policy', '')}' scales the force of a thermostat of Nosé and Hoover, "
            f"and {has}; add [thermostat] with the kind modified-nose-hoover, or choose another policy"
        )
    rule = integrator.rule
    if thermostat is None:
        if rule == OVERDAMPED:
            raise CaseError(f"integrator.rule: '{rule}' needs a thermostat of the kind overdamped; add [thermostat]")
        return
    if isinstance(integrator, BrownianDynamics):
        raise CaseError(
            f"integrator.rule: '{rule}' has no speeds that '{_kind(thermostat)}' could keep at a temperature: leave "
            "out [thermostat] and add the forces stokes-drag and brownian, or choose friction-implicit"
        )
    if isinstance(thermostat, Overdamped) != (rule == OVERDAMPED):
        raise CaseError(
            f"thermostat.kind: '{_kind(thermostat)}' and integrator.rule '{rule}' do not go together: overdamped "
            f"motion has no speeds, and only '{OVERDAMPED}' takes its steps"
        )
    if rule == OVERDAMPED and not only_particles(model):
        raise CaseError(
            f"integrator.rule: '{rule}' moves free particles under forces between their sites, and this model has "
            "other bodies or forces; choose friction-implicit with the thermostat langevin"
        )
    splits = isinstance(integrator, FrictionImplicit) or (rule in PARTICLES and only_particles(model))
    integrates = thermostat.deterministic and isinstance(integrator, Explicit | PredictorCorrector | SciPy)
    if rule != OVERDAMPED and not splits and not integrates:
        choice = f"'friction-implicit', or '{PARTICLES[0]}' for a model of free particles"
        if thermostat.deterministic:
            choice += f", or one of {', '.join(EXPLICIT)}"
        why = "is a map of canonical momenta" if isinstance(integrator, Canonical) else "integrates equations of motion"
        raise CaseError(f"integrator.rule: '{rule}' {why} and cannot carry '{_kind(thermostat)}'; choose {choice}")
    if getattr(policy, "policy", "none") != "none" and not thermostat.deterministic:
        raise CaseError(
            f"scaling.policy: a policy weighs forces, and '{_kind(thermostat)}' is none; choose the policy 'none', or "
            "a thermostat of Nosé and Hoover"
        )
    if policy.varies and policy.thermostatted and isinstance(integrator, FrictionImplicit):
        raise CaseError(
            f"scaling.policy: '{getattr(policy, 'policy', '')}' follows kd ζ', which '{rule}' does not follow within a "
            f"step; choose a policy of constant factors, or one of the rules {', '.join(EXPLICIT)}"
        )
    thermostat.check(model)
    thermostat.check_schedule(duration)


def _kind(thermostat: BaseThermostat) -> str:
    return str(getattr(thermostat, "kind", ""))
