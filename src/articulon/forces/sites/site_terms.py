"""Terms that a declared site force consists of: pair laws, summed over neighbours, and terms with sums of their own.

A declaration whose ``laplacian`` is ``"not known"`` omits the Laplacian of its energy from its measures. A declaration
that confines sites to a box has ``faces_of(model)``, which returns the faces that do so, and ``distances(model,
point)`` to them. A declaration that does not act between sites alone returns from ``momentum_changes(model)`` the
reason why it changes the total momentum. A declaration that has no virial in some models reports it by
``virial_known(model)``. ``notes(model)`` returns lines for the notes of a run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from articulon.forces.sites.site_tables import SiteTable
from articulon.forces.sites.term_derivatives import TermPasses
from articulon.forces.user_functions import UserFunctions

InBox = Callable[[np.ndarray], tuple[SiteTable | None, tuple[float, float]]]
"""Box-dependent part of a term: a function of the edges of the box, one per row [length], that returns the term's
table, or None if the table does not change, and the term's constant."""
Level = Literal["bonded", "short", "long"]
"""How fast a term's force changes, which determines how often r-RESPA evaluates it."""
LEVELS: tuple[Level, ...] = get_args(Level)
BONDED, SHORT, LONG = range(len(LEVELS))
"""Index of each level."""


@dataclass(frozen=True)
class PairTerm:
    """A pair law, summed over neighbours.

    ``law(r2, rows, k, charges)`` is a leaf that returns U(r), −U'(r)/r and U'' + 2U'/r. It reads its parameters from
    row k of the table, whose first column is the squared cutoff, applied by the loop; ``charges`` is the product of the
    two charges with Coulomb's constant [energy length].
    """

    law: Any
    """The leaf."""
    name: str
    """Name, unique among laws: compiled loops are cached under it."""
    rows: np.ndarray
    """A row for each ordered pair of kinds, shape (kinds², width)."""
    cutoff: float
    """Largest cutoff, infinity for none [length]."""
    charged: bool = False
    """Whether the law acts between charges; it then shares a loop with a law that does not."""
    constant: tuple[float, float] = (0.0, 0.0)
    """Position-independent energy and trace of the virial: tails and self terms [energy]."""
    skin: float | None = None
    """Skin beyond the cutoff, if the user gives one [length]."""
    level: Level = "short"
    between: tuple[tuple[int, int], ...] | None = None
    """Pairs of groups of sites that interact, by indices; None for all."""
    in_box: InBox | None = None
    """Box-dependent part, if any; for a pair term only the constant."""
    side_by_side: bool = False
    """Whether the law accepts the distances of several pairs in lanes (``lanes.py``): it consists of sums, products,
    quotients, roots and ``choose``, without branches."""
    columns: tuple[int, ...] | None = None
    """Columns of ``rows`` with respect to which the law has derivatives; U is linear in each of them at fixed values of
    the others. None if the law has no derivatives, because its second derivative is unknown."""


@dataclass(frozen=True)
class SumTerm:
    """A term with a sum of its own."""

    forces: Callable[..., None]
    """Kernel that adds the forces, with the signature ``FORCES``."""
    measure: Callable[..., None]
    """Kernel that adds the measures, with the signature ``MEASURE``."""
    table: SiteTable
    """Table that the kernels read."""
    level: Level = "bonded"
    constant: tuple[float, float] = (0.0, 0.0)
    """Position-independent energy and trace of the virial [energy]."""
    users: UserFunctions | None = None
    """Records errors in Python code that the kernels call."""
    alone: tuple[Callable[..., None], Callable[..., None]] | None = None
    """The two kernels for one thread, if ``forces`` and ``measure`` are parallel."""
    in_box: InBox | None = None
    """Box-dependent part, if any."""
    reach: float = 0.0
    """Distance within which the term needs partners from the neighbour list; 0 if it needs none [length]."""
    skin: float | None = None
    """Skin beyond that distance, if the user gives one [length]."""
    derivatives: TermPasses | None = None
    """Passes of the derivatives of its forces, if these are known."""


@dataclass(frozen=True)
class ConstantTerm:
    """A position-independent part of the energy."""

    constant: tuple[float, float]
    """Energy and trace of the virial [energy]."""


Term = PairTerm | SumTerm | ConstantTerm
