"""The repulsive part of the Lennard-Jones law."""

from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.between import BetweenGroups
from articulon.forces.sites.laws.cutoffs import check_cutoff
from articulon.forces.sites.laws.lennard_jones import lennard_jones, lennard_jones_powers
from articulon.forces.sites.mixing import LennardJonesKind, LennardJonesPair, Mixing
from articulon.forces.sites.site_terms import PairTerm
from articulon.model import Model


class WeeksChandlerAndersen(BetweenGroups):
    """U = 4ε[(σ/r)¹² − (σ/r)⁶] + ε up to its minimum at 2^{1/6}σ, and zero beyond, between all sites, or those of some
    pairs of groups (Weeks, Chandler and Andersen, J. Chem. Phys. 54, 5237, 1971)."""

    positional: ClassVar[tuple[str, ...]] = ("parameters",)
    kind: Literal["weeks-chandler-andersen"] = "weeks-chandler-andersen"
    not_differentiated: ClassVar[tuple[str, ...]] = ("skin",)
    curved: ClassVar[tuple[str, ...]] = ("parameters", "pairs")
    parameters: dict[str, LennardJonesKind] = {}
    """Parameters by kind."""
    pairs: tuple[LennardJonesPair, ...] = ()
    """Parameters of pairs of kinds; they override the mixing rule."""
    mixing: Mixing = "lorentz-berthelot"
    """ε = √(ε₁ε₂) with σ = (σ₁ + σ₂)/2 or, ``geometric``, σ = √(σ₁σ₂); ``sixth-power`` is Waldman and Hagler's."""
    skin: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """Skin of the neighbour list beyond the largest range [length]; by default chosen by a fixed rule."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.parameters and not self.pairs:
            raise ValueError("give parameters by kind, or of pairs of kinds")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for kinds that do not exist or have no parameters, and for a range beyond half the box."""
        rows = self._rows(model, where)
        if not rows[:, 1].any():
            raise ModelError(f"{where}: no pair of sites interacts: epsilon is zero for all; leave the force out")
        check_cutoff(model, float(np.sqrt(rows[:, 0].max())), where, "the range 2^(1/6) sigma")

    def site_terms(self, model: Model) -> list[PairTerm]:
        """Return the law as a term of the site forces."""
        rows = self._rows(model, self.kind)
        skin = None if self.skin is None else float(self.skin)
        longest, groups = float(np.sqrt(rows[:, 0].max())), self.group_pairs(model, self.kind)
        return [
            PairTerm(
                lennard_jones,
                "lennard-jones",
                rows,
                longest,
                skin=skin,
                between=groups,
                side_by_side=True,
                columns=(1, 2),
            )
        ]

    def bare_terms(self, model: Model) -> list[PairTerm]:
        """Return the law for scaled pairs, with its cutoff, which is part of the law."""
        return self.site_terms(model)

    def _rows(self, model: Model, where: str) -> np.ndarray:
        groups = self.group_pairs(model, where)
        A, B = lennard_jones_powers(model, where, self.parameters, self.pairs, self.mixing, groups).T
        some = B > 0.0
        safe = np.where(some, B, 1.0)
        # σ⁶ = A/B and ε = B²/4A; a pair of zero depth has no range.
        squared = np.where(some, np.cbrt(2.0 * A / safe), 0.0)
        depth = np.where(some, B * B / (4.0 * np.where(some, A, 1.0)), 0.0)
        return np.ascontiguousarray(np.stack([squared, A, B, -depth], axis=1))
