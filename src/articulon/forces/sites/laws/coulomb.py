"""Coulomb interaction with a cutoff."""

import math
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BeforeValidator, model_validator

from articulon.declaration import Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.between import BetweenGroups
from articulon.forces.sites.error_function import SMOOTH_PARTS, coefficients, number_of_terms
from articulon.forces.sites.laws.cutoffs import check_cutoff, cut_rows
from articulon.forces.sites.site_terms import PairTerm
from articulon.kernels import jit
from articulon.model import Model

_DAMPABLE = ("force-shifted", "wolf")


def _infinite(value: Any) -> Any:
    return "infinite" if isinstance(value, float) and value == math.inf else value


Permittivity = Annotated[
    Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] | Literal["infinite"],
    BeforeValidator(_infinite),
]
"""A relative permittivity; ``"infinite"`` or an infinite number means a conductor."""


class Coulomb(BetweenGroups):
    """U = q₁q₂/(4πε₀ε_r) φ(r) between all charged sites, or those of some pairs of groups, up to a cutoff r_c.

    ``truncated``
        φ = 1/r.
    ``shifted``
        φ = 1/r − 1/r_c.
    ``reaction-field``
        φ = 1/r + k r² − 1/r_c − k r_c² with k = (ε_s − ε_r)/((2ε_s + ε_r) r_c³), for a medium ε_s beyond r_c (Tironi et
        al., J. Chem. Phys. 102, 5451, 1995). As in OpenMM, charges have no self-energy.
    ``force-shifted``
        φ = v(r) − v(r_c) − (r − r_c) v'(r_c) with v = erfc(αr)/r (Fennell and Gezelter, J. Chem. Phys. 124, 234104,
        2006, eq. 18): energy and force are continuous. The self-energy, which is constant, is omitted.
    ``wolf``
        φ = v(r) − v(r_c), with the self-energy −(v(r_c)/2 + α/√π) of each charge (Wolf et al., J. Chem. Phys. 110,
        8254, 1999, eq. 5.13). Forces are the gradient of this energy, and are discontinuous at r_c by v'(r_c).
    """

    kind: Literal["coulomb"] = "coulomb"
    not_differentiated: ClassVar[tuple[str, ...]] = ("cutoff", "damping", "skin")
    curved: ClassVar[tuple[str, ...]] = ("relative_permittivity", "reaction_permittivity")
    cutoff: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """r_c, at most half of the smallest width of a periodic box [length]; without it all pairs interact."""
    truncation: Literal["truncated", "shifted", "reaction-field", "force-shifted", "wolf"] = "truncated"
    """Form of φ, as above."""
    damping: Annotated[Quantity, Dimension("wavenumber", minimum=0)] = 0.0
    """α, for ``force-shifted`` and ``wolf`` [1/length]."""
    relative_permittivity: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1.0
    """ε_r between the charges."""
    reaction_permittivity: Permittivity = "infinite"
    """ε_s, for ``reaction-field``."""
    skin: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """Skin of the neighbour list beyond the cutoff [length]; by default chosen by a fixed rule."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.cutoff is None and self.truncation != "truncated":
            raise ValueError(f"the truncation '{self.truncation}' needs a cutoff")
        if self.damping != 0.0 and self.truncation not in _DAMPABLE:
            raise ValueError(f"damping applies to 'force-shifted' and 'wolf', not to '{self.truncation}'")
        if self.reaction_permittivity != "infinite" and self.truncation != "reaction-field":
            raise ValueError(f"reaction_permittivity applies to 'reaction-field', not to '{self.truncation}'")
        if self.between is not None and self.truncation == "wolf":
            raise ValueError("between is not possible with 'wolf', where all charges neutralise each other")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError if no site is charged, and for a cutoff that does not fit the box."""
        check_charges(model, where)
        self.group_pairs(model, where)
        check_cutoff(model, self.cutoff, where)
        if self.cutoff is not None and self.damping != 0.0:
            coefficients(float(self.damping), float(self.cutoff), f"{where}.damping")

    def site_terms(self, model: Model) -> list[PairTerm]:
        """Return the law as terms of the site forces."""
        kinds = len(model.sites.kinds) ** 2
        rc, alpha = np.inf if self.cutoff is None else float(self.cutoff), float(self.damping)
        factor = 1.0 / float(self.relative_permittivity)
        energy, slope, field, own = 1.0 / rc, 0.0, 0.0, 0.0
        if self.truncation == "truncated":
            energy = 0.0
        elif self.truncation == "reaction-field":
            field = self._reaction() / rc**3
            energy += field * rc**2
        elif self.truncation in _DAMPABLE:
            energy = math.erfc(alpha * rc) / rc
            own = 0.5 * energy + alpha / math.sqrt(math.pi)
            if self.truncation == "force-shifted":
                own = 0.0
                slope = -energy / rc - 2.0 * alpha / math.sqrt(math.pi) * math.exp(-((alpha * rc) ** 2)) / rc
                energy -= rc * slope
        charge = model.sites.charge
        constant = (-own * factor * model.units.coulomb * float(charge @ charge), 0.0)
        if alpha > 0.0:
            smooth = coefficients(alpha, rc, self.kind)
            terms = number_of_terms(smooth)
            leaf, name = DAMPED[terms], f"coulomb-damped-{terms}"
            parameters = np.tile([factor, energy, slope, *smooth], (kinds, 1))
            rows = np.insert(parameters, 0, rc**2, axis=1)
        else:
            leaf, name = coulomb, "coulomb"
            parameters = np.tile([factor, field, slope], (kinds, 1))
            rows = cut_rows(parameters, rc, "shifted", None, energy, 0.0)
        groups, skin = self.group_pairs(model, self.kind), _number(self.skin)
        return [
            PairTerm(
                leaf,
                name,
                rows,
                rc,
                charged=True,
                constant=constant,
                skin=skin,
                between=groups,
                side_by_side=alpha == 0.0,
                columns=(1,) if alpha > 0.0 else (1, 2),
            )
        ]

    def bare_terms(self, model: Model) -> list[PairTerm]:
        """Return the law without a cutoff, for scaled pairs."""
        terms = bare_coulomb(model, float(self.relative_permittivity))
        return [replace(term, between=self.group_pairs(model, self.kind)) for term in terms]

    def _reaction(self) -> float:
        """The dimensionless factor k r_c³ of the reaction field."""
        if self.reaction_permittivity == "infinite":
            return 0.5
        inside, outside = float(self.relative_permittivity), float(self.reaction_permittivity)
        return (outside - inside) / (2.0 * outside + inside)


def bare_coulomb(model: Model, relative_permittivity: float) -> list[PairTerm]:
    """q₁q₂/(4πε₀ε_r r) without a cutoff."""
    parameters = np.tile([1.0 / relative_permittivity, 0.0, 0.0], (len(model.sites.kinds) ** 2, 1))
    rows = cut_rows(parameters, np.inf, "truncated", None, 0.0, 0.0)
    return [PairTerm(coulomb, "coulomb", rows, np.inf, charged=True, side_by_side=True, columns=(1,))]


def check_charges(model: Model, where: str) -> None:
    """Raises ModelError if no site is charged."""
    if not model.sites.charge.any():
        raise ModelError(f"{where}: no site has a charge; give charges to add_particles or add_site, or leave it out")


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)


@jit
def coulomb(r2, rows, k, charges):
    """U = charges factor [1/r + field r² − shift − slope r]; all kinds share one row, so that the loop reads no table
    by kind."""
    q, field, slope = charges * rows[0, 1], rows[0, 2], rows[0, 3]
    inverse2 = 1.0 / r2
    inverse = np.sqrt(inverse2)
    return (
        q * (inverse + field * r2 - slope * (r2 * inverse) - rows[0, 4]),
        q * ((inverse2 + slope) * inverse - 2.0 * field),
        q * (6.0 * field - 2.0 * slope * inverse),
    )


def _damped(terms: int) -> Any:
    smooth = SMOOTH_PARTS[terms]

    @jit
    def damped(r2, rows, k, charges):
        q, slope = charges * rows[0, 1], rows[0, 3]
        inverse2 = 1.0 / r2
        inverse = np.sqrt(inverse2)
        error, G, H = smooth(r2, rows)
        return (
            q * (inverse - error - rows[0, 2] - slope * (r2 * inverse)),
            q * ((inverse2 + slope) * inverse - G),
            q * (H - 2.0 * slope * inverse),
        )

    return damped


DAMPED = {terms: _damped(terms) for terms in SMOOTH_PARTS}
"""U = charges factor [erfc(αr)/r − shift − slope r] for each number of terms in the sum for erf(αr)/r."""
