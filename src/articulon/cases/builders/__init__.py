"""The named builders of models: what ``[model] builder = "..."`` may say.

A builder derives from ``BaseBuilder`` and has ``builder: Literal["its-name"] = "its-name"``, its parameters, and a
method ``populate`` that adds bodies, sites and forces. It is found by being here.
"""

from typing import Annotated, TypeAlias

from articulon.cases.builders.builder_base import BaseBuilder
from articulon.families import Family

BUILDERS = Family("builder of models", "builder", lambda member: issubclass(member, BaseBuilder))
"""All builders by their names: the classes of this package that have one."""
BUILDERS.discover(__name__, __path__)
ModelDeclaration: TypeAlias = Annotated[BaseBuilder, BUILDERS]
"""Any declared model, chosen by its ``builder``."""

__all__ = ["BUILDERS", "BaseBuilder", "ModelDeclaration"]
