"""Integration rules, one file each, and the drivers that choose their steps."""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.integrate.declarations import (
    BrownianDynamics,
    Canonical,
    ErmakMcCammon,
    Explicit,
    FrictionImplicit,
    PredictorCorrector,
    Respa,
    SciPy,
)

Integrator: TypeAlias = Annotated[
    Explicit | PredictorCorrector | Canonical | Respa | ErmakMcCammon | SciPy | FrictionImplicit | BrownianDynamics,
    Field(discriminator="rule"),
]
"""Any integration rule with its driver, chosen by its ``rule``."""

FIXED = (PredictorCorrector, Canonical, Respa, ErmakMcCammon, FrictionImplicit, BrownianDynamics)
"""Rules whose steps are all equal, and fill the time between frames."""

__all__ = [
    "FIXED",
    "BrownianDynamics",
    "Canonical",
    "ErmakMcCammon",
    "Explicit",
    "FrictionImplicit",
    "Integrator",
    "PredictorCorrector",
    "Respa",
    "SciPy",
]
