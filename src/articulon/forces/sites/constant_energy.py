"""A part of the potential energy that does not change, and acts on nothing."""

from typing import Annotated, ClassVar, Literal

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.site_terms import ConstantTerm
from articulon.model import Model


class ConstantEnergy(Declaration):
    """U = constant: of terms within rigid bodies, so that the potential energy is the sum of all terms."""

    positional: ClassVar[tuple[str, ...]] = ("energy",)
    kind: Literal["constant-energy"] = "constant-energy"
    energy: Annotated[Quantity, Dimension("energy")]
    """U [energy]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError in a model without sites, of whose potential this is a part."""
        if not model.sites.body.size:
            raise ModelError(f"{where}: the model has no sites; add them with add_particles or add_site")

    def site_terms(self, model: Model) -> list[ConstantTerm]:
        """The energy."""
        return [ConstantTerm((float(self.energy), 0.0))]
