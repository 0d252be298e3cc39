"""The law A/r¹² − B/r⁶ + C/r."""

from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Flag
from articulon.errors import ModelError
from articulon.forces.site_pair_law import site_law
from articulon.forces.site_pairs import PairLaw
from articulon.forces.sites.between import BetweenGroups
from articulon.forces.sites.laws.cutoffs import CutPairs, Truncation, cut_rows, ends_of, force_shifted, switched
from articulon.forces.sites.laws.lennard_jones import check_tail_fields, power_term
from articulon.forces.sites.mixing import pair_parameters
from articulon.forces.sites.site_terms import PairTerm
from articulon.forces.sites.tails import check_tails
from articulon.kernels import jit
from articulon.model import Model


class TwelveSix(BetweenGroups, CutPairs):
    """U = A/r¹² − B/r⁶ + C/r between all sites, or those of some pairs of groups, with A, B and C given for each pair
    of kinds (Guy 2018, 2.18 and 3.8)."""

    positional: ClassVar[tuple[str, ...]] = ("table",)
    kind: Literal["twelve-six"] = "twelve-six"
    table: tuple[PairLaw, ...]
    """Law of each pair of kinds that interact."""
    tail_correction: Flag = False
    """Whether energy and pressure include the contribution of a uniform fluid beyond the cutoff; C must be zero."""

    @model_validator(mode="after")
    def _finite_tails(self) -> Self:
        check_tail_fields(self.tail_correction, self.cutoff, self.truncation)
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for kinds that do not exist or have no law, and for a cutoff that does not fit the box."""
        self.check_ends(model, where)
        laws = self.laws(model, where)
        if not laws.any():
            raise ModelError(f"{where}.table: no pair of sites interacts: A, B and C are zero for all")
        if self.tail_correction:
            check_tails(model, where)
            if laws[:, 2].any():
                raise ModelError(f"{where}.tail_correction: the tail of C/r diverges; leave it out, or set C to zero")

    def laws(self, model: Model, where: str) -> np.ndarray:
        """A, B and C of every ordered pair of kinds, shape (kinds², 3)."""
        return pair_parameters(
            model,
            where,
            {},
            self.table,
            lambda *_: (),
            lambda law: (float(law.A), float(law.B), float(law.C)),
            "table",
            self.group_pairs(model, where),
        )

    def site_terms(self, model: Model) -> list[PairTerm]:
        """Return the law as a term of the site forces."""
        laws, groups = self.laws(model, self.kind), self.group_pairs(model, self.kind)
        if not laws[:, 2].any():
            return [power_term(model, laws[:, :2], self, self.tail_correction, groups)]
        truncation, rc, start, skin = ends_of(self)
        A, B, C = laws.T
        energy = A / rc**12 - B / rc**6 + C / rc
        slope = -12.0 * A / rc**13 + 6.0 * B / rc**7 - C / rc**2
        leaf, name = LEAVES[truncation]
        rows = cut_rows(laws, rc, truncation, start, energy, slope)
        columns = (1, 2, 3, 5) if truncation == "force-shifted" else (1, 2, 3)
        return [PairTerm(leaf, name, rows, rc, skin=skin, between=groups, side_by_side=True, columns=columns)]

    def bare_terms(self, model: Model) -> list[PairTerm]:
        """Return the law without a cutoff, for scaled pairs: A/r¹² − B/r⁶, and C/r, which scales like a law of
        charges."""
        laws, groups = self.laws(model, self.kind), self.group_pairs(model, self.kind)
        found = [power_term(model, laws[:, :2], groups=groups)]
        if laws[:, 2].any():
            coulomb = cut_rows(laws * np.array([0.0, 0.0, 1.0]), np.inf, "truncated", None, 0.0, 0.0)
            found.append(
                PairTerm(twelve_six, "twelve-six", coulomb, np.inf, charged=True, between=groups, columns=(3,))
            )
        return found


@jit
def twelve_six(r2, rows, k, charges):
    """U = A/r¹² − B/r⁶ + C/r − shift."""
    U, g, L = site_law(r2, rows[k, 1], rows[k, 2], rows[k, 3])
    return U - rows[k, 4], g, L


@jit
def twelve_six_force_shifted(r2, rows, k, charges):
    """U = A/r¹² − B/r⁶ + C/r − shift − U'(r_c) r."""
    U, g, L = twelve_six(r2, rows, k, charges)
    return force_shifted(U, g, L, r2, rows[k, 5])


@jit
def twelve_six_switched(r2, rows, k, charges):
    """U = A/r¹² − B/r⁶ + C/r, multiplied by a switching function."""
    U, g, L = twelve_six(r2, rows, k, charges)
    return switched(U, g, L, r2, rows[k, 5], rows[k, 6])


LEAVES: dict[Truncation, tuple] = {
    "truncated": (twelve_six, "twelve-six"),
    "shifted": (twelve_six, "twelve-six"),
    "force-shifted": (twelve_six_force_shifted, "twelve-six-force-shifted"),
    "switched": (twelve_six_switched, "twelve-six-switched"),
}
