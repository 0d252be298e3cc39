"""Integrators, one file each, and the drivers that take their steps."""

from typing import Annotated, TypeAlias

from articulon.families import Family
from articulon.integrate import integrators
from articulon.integrate.integrators import (
    BrownianDynamics,
    Canonical,
    ErmakMcCammon,
    EventDriven,
    Explicit,
    FrictionImplicit,
    PredictorCorrector,
    Respa,
    SciPy,
)

INTEGRATORS = Family("integrator", "rule", lambda member: True)
"""All integrators by their ``rule``."""
INTEGRATORS.take(integrators)
Integrator: TypeAlias = Annotated[
    Explicit
    | PredictorCorrector
    | Canonical
    | Respa
    | ErmakMcCammon
    | SciPy
    | FrictionImplicit
    | BrownianDynamics
    | EventDriven,
    INTEGRATORS,
]
"""Any integrator, chosen by its ``rule``."""

FIXED = (PredictorCorrector, Canonical, Respa, ErmakMcCammon, FrictionImplicit, BrownianDynamics)
"""Integrators whose steps all have the same length; a whole number of steps fills the time between frames."""

__all__ = [
    "FIXED",
    "INTEGRATORS",
    "BrownianDynamics",
    "Canonical",
    "ErmakMcCammon",
    "EventDriven",
    "Explicit",
    "FrictionImplicit",
    "Integrator",
    "PredictorCorrector",
    "Respa",
    "SciPy",
]
