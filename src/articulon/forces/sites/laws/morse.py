"""Morse's law."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.between import BetweenGroups
from articulon.forces.sites.laws.cutoffs import CutPairs, Truncation, cut_rows, ends_of, force_shifted, switched
from articulon.forces.sites.laws.exponential import exponential
from articulon.forces.sites.mixing import pair_parameters
from articulon.forces.sites.site_terms import PairTerm
from articulon.kernels import jit
from articulon.model import Model


class MorseKind(Declaration):
    """Morse parameters of one kind."""

    depth: Annotated[Quantity, Dimension("energy", minimum=0)]
    """Depth D of the well [energy]; 0 for a pair that does not interact."""
    width: Annotated[Quantity, Dimension("wavenumber", minimum=0, exclusive=True)]
    """a, the inverse width of the well [1/length]."""
    distance: Annotated[Quantity, Dimension("length", minimum=0)]
    """r₀, position of the minimum [length]."""


class MorsePair(MorseKind):
    """Morse parameters of a pair of kinds."""

    kinds: tuple[str, str]
    """The two kinds."""


class Morse(BetweenGroups, CutPairs):
    """U = D[(1 − e^{−a(r − r₀)})² − 1] between all sites, or those of some pairs of groups (Morse, Phys. Rev. 34, 57,
    1929); U = −D at r₀.

    If a pair has no parameters of its own, D is √(D₁D₂), and a and r₀ are the means of the two kinds.
    """

    positional: ClassVar[tuple[str, ...]] = ("parameters",)
    kind: Literal["morse"] = "morse"
    not_differentiated: ClassVar[tuple[str, ...]] = (*CutPairs.not_differentiated, "width", "distance")
    curved: ClassVar[tuple[str, ...]] = ("parameters",)
    parameters: dict[str, MorseKind] = {}
    """Parameters by kind."""
    pairs: tuple[MorsePair, ...] = ()
    """Parameters of pairs of kinds."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.parameters and not self.pairs:
            raise ValueError("give parameters by kind, or of pairs of kinds")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for kinds that do not exist or have no parameters, and for a cutoff that does not fit the
        box."""
        self.check_ends(model, where)
        if not self._wells(model, where)[:, 0].any():
            raise ModelError(f"{where}: no pair of sites interacts: depth is zero for all; leave the force out")

    def site_terms(self, model: Model) -> list[PairTerm]:
        """Return the law as a term of the site forces."""
        return [self._term(model, self)]

    def bare_terms(self, model: Model) -> list[PairTerm]:
        """Return the law without a cutoff, for scaled pairs."""
        return [self._term(model, None)]

    def _term(self, model: Model, ends: CutPairs | None) -> PairTerm:
        wells = self._wells(model, self.kind)
        truncation, rc, start, skin = ends_of(ends)
        D, a, r0 = wells.T
        E = np.exp(-a * (rc - r0)) if math.isfinite(rc) else np.zeros(len(wells))
        leaf, name = LEAVES[truncation]
        rows = cut_rows(wells, rc, truncation, start, D * E * (E - 2.0), -2.0 * a * D * E * (E - 1.0))
        columns = (1, 5) if truncation == "force-shifted" else (1,)
        groups = self.group_pairs(model, self.kind)
        return PairTerm(leaf, name, rows, rc, skin=skin, between=groups, columns=columns)

    def _wells(self, model: Model, where: str) -> np.ndarray:
        """D, a and r₀ of every ordered pair of kinds, shape (kinds², 3)."""
        groups = self.group_pairs(model, where)
        return pair_parameters(model, where, self.parameters, self.pairs, _mixed, _read, groups=groups)


def _read(well: MorseKind) -> tuple[float, float, float]:
    return float(well.depth), float(well.width), float(well.distance)


def _mixed(one: MorseKind, two: MorseKind) -> tuple[float, float, float]:
    (D, a, r), (E, b, s) = _read(one), _read(two)
    return math.sqrt(D * E), 0.5 * (a + b), 0.5 * (r + s)


@jit
def morse(r2, rows, k, charges):
    """U = D(E² − 2E) − shift with E = e^{−a(r − r₀)}."""
    D, a = rows[k, 1], rows[k, 2]
    inverse = np.sqrt(1.0 / r2)
    E = exponential(-a * (r2 * inverse - rows[k, 3]))
    g = 2.0 * a * D * E * (E - 1.0) * inverse
    return D * E * (E - 2.0) - rows[k, 4], g, 2.0 * a * a * D * E * (2.0 * E - 1.0) - 2.0 * g


@jit
def morse_force_shifted(r2, rows, k, charges):
    """U = D(E² − 2E) − shift − U'(r_c) r with E = e^{−a(r − r₀)}."""
    U, g, L = morse(r2, rows, k, charges)
    return force_shifted(U, g, L, r2, rows[k, 5])


@jit
def morse_switched(r2, rows, k, charges):
    """U = D(E² − 2E) with E = e^{−a(r − r₀)}, multiplied by a switching function."""
    U, g, L = morse(r2, rows, k, charges)
    return switched(U, g, L, r2, rows[k, 5], rows[k, 6])


LEAVES: dict[Truncation, tuple] = {
    "truncated": (morse, "morse"),
    "shifted": (morse, "morse"),
    "force-shifted": (morse_force_shifted, "morse-force-shifted"),
    "switched": (morse_switched, "morse-switched"),
}
