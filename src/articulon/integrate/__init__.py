"""Integration rules, one file each, and the drivers that choose their steps."""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.integrate.declarations import Explicit, FrictionImplicit

Integrator: TypeAlias = Annotated[Explicit | FrictionImplicit, Field(discriminator="rule")]
"""Any integration rule with its driver, chosen by its ``rule``."""

__all__ = ["Explicit", "FrictionImplicit", "Integrator"]
