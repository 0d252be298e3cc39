"""A constant part of the potential energy, which exerts no force."""

from typing import Annotated, ClassVar, Literal

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.site_terms import ConstantTerm
from articulon.model import Model


class ConstantEnergy(Declaration):
    """U = constant: the terms within rigid bodies, which complete the potential energy to the sum of all terms."""

    positional: ClassVar[tuple[str, ...]] = ("energy",)
    kind: Literal["constant-energy"] = "constant-energy"
    energy: Annotated[Quantity, Dimension("energy")]
    """U [energy]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for a model without sites: the energy belongs to the potential of the sites."""
        if not model.sites.body.size:
            raise ModelError(f"{where}: the model has no sites; add them with add_particles or add_site")

    def site_terms(self, model: Model) -> list[ConstantTerm]:
        """Return the energy as a term of the site forces."""
        return [ConstantTerm((float(self.energy), 0.0))]
