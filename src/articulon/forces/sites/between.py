"""Restriction of pair laws to groups of sites: the key ``between`` of pair laws.

Kernels identify sites by kind alone, and read the cutoff of a pair from the row of its two kinds. If a law acts only
between some groups, sites of one kind but of different groups become separate classes. The kernels use these classes as
kinds. Pairs of classes that do not interact have no cutoff; the neighbour list contains them only if another law needs
them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from articulon.declaration import Declaration, nearest
from articulon.errors import ModelError
from articulon.forces.sites.site_terms import PairTerm, Term
from articulon.model import Model

NEVER = -1.0
"""Value of the squared cutoff of pairs that do not interact."""


class BetweenGroups(Declaration):
    """A pair law that may be restricted to some groups of sites."""

    between: tuple[tuple[str, str], ...] | None = None
    """Pairs of groups that interact, such as ``[("ligand", "receptor")]``; all by default. A group interacts with
    itself if a pair names it twice."""

    def group_pairs(self, model: Model, where: str) -> tuple[tuple[int, int], ...] | None:
        """Return the pairs of groups that interact, by indices, None for all; raises ModelError for groups that do not
        exist."""
        return group_pairs(model, self.between, where)


def group_pairs(
    model: Model, between: Sequence[tuple[str, str]] | None, where: str
) -> tuple[tuple[int, int], ...] | None:
    """Return pairs of groups by their indices, None for all; raises ModelError for groups that do not exist."""
    if between is None:
        return None
    names = model.sites.groups
    for pair in between:
        for group in pair:
            if group not in names:
                raise ModelError(f"{where}.between: there is no group of sites '{group}'{nearest(group, names)}")
    return tuple((names.index(g), names.index(h)) for g, h in between)


def interacting(model: Model, groups: Sequence[tuple[int, int]] | None) -> np.ndarray:
    """Whether two groups interact, shape (groups, groups)."""
    count = len(model.sites.groups)
    if groups is None:
        return np.ones((count, count), dtype=bool)
    found = np.zeros((count, count), dtype=bool)
    for g, h in groups:
        found[g, h] = found[h, g] = True
    return found


def pair_counts(model: Model, groups: Sequence[tuple[int, int]] | None) -> np.ndarray:
    """Number of ordered pairs of sites of two kinds that interact, including each site with itself, shape (kinds²,)."""
    sites = model.sites
    count = np.zeros((len(sites.kinds), len(sites.groups)))
    np.add.at(count, (sites.kind, sites.group), 1.0)
    return (count @ interacting(model, groups).astype(float) @ count.T).ravel()


def chosen_pairs(model: Model, groups: Sequence[tuple[int, int]] | None, pairs: np.ndarray) -> np.ndarray:
    """Whether the groups of each pair of sites (n, 2) interact, shape (n,)."""
    group = model.sites.group
    return interacting(model, groups)[group[pairs[:, 0]], group[pairs[:, 1]]]


class Classes(NamedTuple):
    """Classes of sites, which kernels use as kinds."""

    of_site: np.ndarray
    """Class of each site, shape (sites,)."""
    kind: np.ndarray
    """Kind of each class, shape (classes,)."""
    group: np.ndarray
    """Group of each class, shape (classes,)."""


def classes_of(model: Model, terms: Sequence[Term]) -> Classes:
    """Return the classes of a model with the given terms: the classes are the kinds if all terms act between all
    sites."""
    sites, kinds = model.sites, len(model.sites.kinds)
    restricted = [term for term in terms if isinstance(term, PairTerm) and term.between is not None]
    if not restricted:
        return Classes(sites.kind, np.arange(kinds), np.zeros(kinds, dtype=np.int64))
    both, of_site = np.unique(np.stack([sites.kind, sites.group]), axis=1, return_inverse=True)
    kind, group = both
    return Classes(of_site.reshape(-1).astype(np.int64), kind, group)


def class_rows(model: Model, term: PairTerm, classes: Classes) -> np.ndarray:
    """Return the rows of a term by pair of classes, shape (classes², width)."""
    kinds = len(model.sites.kinds)
    if classes.kind.size == kinds and term.between is None and np.array_equal(classes.kind, np.arange(kinds)):
        return term.rows
    rows = term.rows[(kinds * classes.kind[:, None] + classes.kind[None, :]).ravel()]
    met = interacting(model, term.between)[np.ix_(classes.group, classes.group)].ravel()
    rows[~met, 0] = NEVER
    return np.ascontiguousarray(rows)
