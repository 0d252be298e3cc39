"""The Lennard-Jones law."""

from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Flag
from articulon.errors import ModelError
from articulon.forces.sites.between import NEVER, BetweenGroups
from articulon.forces.sites.laws.cutoffs import CutPairs, Truncation, cut_rows, ends_of, force_shifted, switched
from articulon.forces.sites.mixing import (
    Groups,
    LennardJonesKind,
    LennardJonesPair,
    Mixing,
    mixed,
    pair_parameters,
)
from articulon.forces.sites.site_terms import PairTerm
from articulon.forces.sites.tails import check_tails, power_tails, tails_in_box
from articulon.kernels import jit
from articulon.model import Model


class LennardJones(BetweenGroups, CutPairs):
    """U = 4ε[(σ/r)¹² − (σ/r)⁶] between all sites, or those of some pairs of groups.

    Parameters of a pair follow from those of the two kinds by the mixing rule, unless the pair has its own.
    """

    positional: ClassVar[tuple[str, ...]] = ("parameters",)
    kind: Literal["lennard-jones"] = "lennard-jones"
    curved: ClassVar[tuple[str, ...]] = ("parameters", "pairs")
    parameters: dict[str, LennardJonesKind] = {}
    """Parameters by kind."""
    pairs: tuple[LennardJonesPair, ...] = ()
    """Parameters of pairs of kinds; they override the mixing rule."""
    mixing: Mixing = "lorentz-berthelot"
    """ε = √(ε₁ε₂) with σ = (σ₁ + σ₂)/2 or, ``geometric``, σ = √(σ₁σ₂); ``sixth-power`` is Waldman and Hagler's."""
    tail_correction: Flag = False
    """Whether energy and pressure include the contribution of a uniform fluid beyond the cutoff."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.parameters and not self.pairs:
            raise ValueError("give parameters by kind, or of pairs of kinds")
        check_tail_fields(self.tail_correction, self.cutoff, self.truncation)
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for kinds that do not exist or have no parameters, and for a cutoff that does not fit the
        box."""
        self.check_ends(model, where)
        if not (self.powers(model, where) > 0.0).any():
            raise ModelError(f"{where}: no pair of sites interacts: epsilon is zero for all; leave the force out")
        if self.tail_correction:
            check_tails(model, where)

    def powers(self, model: Model, where: str) -> np.ndarray:
        """4εσ¹² and 4εσ⁶ of every ordered pair of kinds, shape (kinds², 2)."""
        groups = self.group_pairs(model, where)
        return lennard_jones_powers(model, where, self.parameters, self.pairs, self.mixing, groups)

    def site_terms(self, model: Model) -> list[PairTerm]:
        """Return the law as a term of the site forces."""
        powers = self.powers(model, self.kind)
        return [power_term(model, powers, self, self.tail_correction, self.group_pairs(model, self.kind))]

    def bare_terms(self, model: Model) -> list[PairTerm]:
        """Return the law without a cutoff, for scaled pairs."""
        return [power_term(model, self.powers(model, self.kind), groups=self.group_pairs(model, self.kind))]


def check_tail_fields(tail: bool, cutoff: object, truncation: Truncation) -> None:
    """Raises ValueError for a tail correction of a law that has none."""
    if tail and cutoff is None:
        raise ValueError("tail_correction needs a cutoff")
    if tail and truncation not in ("truncated", "switched"):
        raise ValueError(f"tail_correction applies to 'truncated' and 'switched' laws, not to '{truncation}' ones")


def lennard_jones_powers(
    model: Model,
    where: str,
    parameters: dict[str, LennardJonesKind],
    pairs: tuple[LennardJonesPair, ...],
    mixing: Mixing,
    groups: Groups = None,
) -> np.ndarray:
    """4εσ¹² and 4εσ⁶ of every ordered pair of kinds, shape (kinds², 2)."""
    well = pair_parameters(
        model,
        where,
        parameters,
        pairs,
        lambda one, two: mixed(mixing, one, two),
        lambda pair: (float(pair.epsilon), float(pair.sigma)),
        groups=groups,
    )
    epsilon, sigma6 = well[:, 0], well[:, 1] ** 6
    return np.stack([4.0 * epsilon * sigma6 * sigma6, 4.0 * epsilon * sigma6], axis=1)


def power_term(
    model: Model, powers: np.ndarray, ends: CutPairs | None = None, tails: bool = False, groups: Groups = None
) -> PairTerm:
    """Return the term A/r¹² − B/r⁶, with A and B the columns of ``powers``, between pairs of groups, all by default;
    without a cutoff if none is given."""
    truncation, rc, start, skin = ends_of(ends)
    A, B = powers.T
    energy = A / rc**12 - B / rc**6
    slope = -12.0 * A / rc**13 + 6.0 * B / rc**7
    constant = power_tails(model, ((12, A), (6, -B)), rc, start, groups) if tails else (0.0, 0.0)
    leaf, name = LEAVES[truncation]
    rows = cut_rows(powers, rc, truncation, start, energy, slope)
    rows[~powers.any(axis=1), 0] = NEVER
    in_box = tails_in_box(model, constant) if tails else None
    return PairTerm(
        leaf,
        name,
        rows,
        rc,
        constant=constant,
        skin=skin,
        between=groups,
        in_box=in_box,
        side_by_side=True,
        columns=(1, 2, 4) if truncation == "force-shifted" else (1, 2),
    )


@jit
def lennard_jones(r2, rows, k, charges):
    """U = A/r¹² − B/r⁶ − shift."""
    A, B = rows[k, 1], rows[k, 2]
    inverse2 = 1.0 / r2
    inverse6 = inverse2 * inverse2 * inverse2
    return (
        (A * inverse6 - B) * inverse6 - rows[k, 3],
        (12.0 * A * inverse6 - 6.0 * B) * inverse6 * inverse2,
        (132.0 * A * inverse6 - 30.0 * B) * inverse6 * inverse2,
    )


@jit
def lennard_jones_force_shifted(r2, rows, k, charges):
    """U = A/r¹² − B/r⁶ − shift − U'(r_c) r."""
    U, g, L = lennard_jones(r2, rows, k, charges)
    return force_shifted(U, g, L, r2, rows[k, 4])


@jit
def lennard_jones_switched(r2, rows, k, charges):
    """U = A/r¹² − B/r⁶, multiplied by a switching function."""
    U, g, L = lennard_jones(r2, rows, k, charges)
    return switched(U, g, L, r2, rows[k, 4], rows[k, 5])


LEAVES: dict[Truncation, tuple] = {
    "truncated": (lennard_jones, "lennard-jones"),
    "shifted": (lennard_jones, "lennard-jones"),
    "force-shifted": (lennard_jones_force_shifted, "lennard-jones-force-shifted"),
    "switched": (lennard_jones_switched, "lennard-jones-switched"),
}
