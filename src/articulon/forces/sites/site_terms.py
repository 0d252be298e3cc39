"""What a declared site force comes to: laws of pairs, summed over neighbours, and terms that sum by themselves.

A declaration whose ``laplacian`` is ``"not known"`` leaves that of its energy out of what it measures. One that
confines sites to a box has ``faces_of(model)``, the faces that do so, and ``distances(model, point)`` to them. One that
does not act between sites alone says by ``momentum_changes(model)`` why it changes the total momentum. One that has no
virial in some models says so by ``virial_known(model)``, and one that a user should know something of by
``notes(model)``, lines that go into the notes of a run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from articulon.forces.sites.site_tables import SiteTable
from articulon.forces.sites.term_derivatives import TermPasses
from articulon.forces.user_functions import UserFunctions

InBox = Callable[[np.ndarray], tuple[SiteTable | None, tuple[float, float]]]
"""Of a term that depends on the box: its table, None where that does not change, and its constant, by the edges of the
box, one a row [length]."""
Level = Literal["bonded", "short", "long"]
"""How fast a term's force changes: what r-RESPA evaluates how often."""
LEVELS: tuple[Level, ...] = get_args(Level)
BONDED, SHORT, LONG = range(len(LEVELS))
"""Where each is among them."""


@dataclass(frozen=True)
class PairTerm:
    """A law of pairs, summed over neighbours.

    ``law(r2, rows, k, charges)`` is a leaf that returns U(r), −U'(r)/r and U'' + 2U'/r. It reads its parameters from
    row k of the table, of which the first is the square of the cutoff, where the loop cuts it off; ``charges`` is the
    product of the two charges with Coulomb's constant [energy length].
    """

    law: Any
    """The leaf."""
    name: str
    """Of the law, unique among laws: compiled loops are kept under it."""
    rows: np.ndarray
    """A row for each ordered pair of kinds, shape (kinds², width)."""
    cutoff: float
    """The largest of the cutoffs, infinity for none [length]."""
    charged: bool = False
    """Whether the law is one of charges: those share a loop with one that is not."""
    constant: tuple[float, float] = (0.0, 0.0)
    """Energy and trace of the virial that do not depend on positions: tails, self terms [energy]."""
    skin: float | None = None
    """How far beyond the cutoff neighbours are listed, where the user says so [length]."""
    level: Level = "short"
    between: tuple[tuple[int, int], ...] | None = None
    """Pairs of groups of sites that interact, by indices; None for all."""
    in_box: InBox | None = None
    """What is another in another box, where something is; of a pair term the constant alone."""
    side_by_side: bool = False
    """Whether the law takes the distances of several pairs in lanes (``lanes.py``): it has sums, products, quotients,
    roots and ``choose``, and no branch."""
    columns: tuple[int, ...] | None = None
    """Columns of its rows in each of which U is a straight line while the others stay, and by which it has derivatives;
    None for a law that has none, because its second derivative is not known."""


@dataclass(frozen=True)
class SumTerm:
    """A term that sums by itself."""

    forces: Callable[..., None]
    """Kernel of the signature ``FORCES``."""
    measure: Callable[..., None]
    """Kernel of the signature ``MEASURE``."""
    table: SiteTable
    """What they read."""
    level: Level = "bonded"
    constant: tuple[float, float] = (0.0, 0.0)
    """As for a pair term."""
    users: UserFunctions | None = None
    """What knows of an error in Python code that the kernels call."""
    alone: tuple[Callable[..., None], Callable[..., None]] | None = None
    """The two kernels on one thread, where those above share their work out among threads."""
    in_box: InBox | None = None
    """What is another in another box, where something is."""
    reach: float = 0.0
    """How far it looks for partners in the list of neighbours; 0 where it needs none [length]."""
    skin: float | None = None
    """As for a pair term."""
    derivatives: TermPasses | None = None
    """Passes of the derivatives of its forces, where these are known."""


@dataclass(frozen=True)
class ConstantTerm:
    """A part of the energy that depends on no position."""

    constant: tuple[float, float]
    """As for a pair term."""


Term = PairTerm | SumTerm | ConstantTerm
