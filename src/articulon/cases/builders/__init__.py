"""The named model builders: the values of ``[model] builder = "..."``.

A builder derives from ``BaseBuilder``. It has ``builder: Literal["its-name"] = "its-name"``, its parameters, and a
method ``populate`` that adds bodies, sites and forces. Builders in this package are found automatically.
"""

from typing import Annotated, TypeAlias

from articulon.cases.builders.builder_base import BaseBuilder
from articulon.families import Family

BUILDERS = Family("builder of models", "builder", lambda member: issubclass(member, BaseBuilder))
"""All builders by name: the classes of this package that have a name."""
BUILDERS.discover(__name__, __path__)
ModelDeclaration: TypeAlias = Annotated[BaseBuilder, BUILDERS]
"""Any declared model, chosen by its ``builder``."""

__all__ = ["BUILDERS", "BaseBuilder", "ModelDeclaration"]
