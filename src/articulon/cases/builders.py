"""The named builders of models: what ``[model] builder = "..."`` may say.

A builder is a Declaration with ``builder: Literal["its-name"] = "its-name"``, its parameters, and a method
``populate(builder: ModelBuilder) -> None`` that adds bodies and sites; by then its quantities are floats in the case's
units. A new one is a file and its name in the two places below.
"""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.cases.conjugated_nanoparticle import ConjugatedNanoparticle
from articulon.cases.explicit import ExplicitModel

ModelDeclaration: TypeAlias = Annotated[ExplicitModel | ConjugatedNanoparticle, Field(discriminator="builder")]
"""Any declared model, chosen by its ``builder``."""

BUILDERS: dict[str, type[ExplicitModel | ConjugatedNanoparticle]] = {
    cls.model_fields["builder"].default: cls for cls in (ExplicitModel, ConjugatedNanoparticle)
}
"""The builders by name."""
