"""Arrays for derivatives with respect to the numbers of a model's tables, in the layout of the tables."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from articulon.dynamics.derivatives.loop_row_products import RowNumbers, row_numbers
from articulon.forces.base import LinkNumbers
from articulon.forces.sites.between import class_rows, classes_of
from articulon.forces.sites.list_sizes import has_site_forces, terms_of
from articulon.forces.sites.pair_sums import no_rows, pair_table
from articulon.forces.sites.site_positions import site_places
from articulon.forces.sites.site_terms import PairTerm, SumTerm
from articulon.forces.solver_tables import Drag, Forces, LinearFlow
from articulon.model import Forest, Loops, Model
from articulon.model.array_rotations import rotation_vectors


class SiteNumbers(NamedTuple):
    """Numbers of forces between sites, except those of ``site-pairs``."""

    rows: tuple[np.ndarray, ...]
    """Numbers of every term, in the layout of its table."""
    local: np.ndarray
    """Positions of the sites in the frames of their links, or in the world [length], shape (sites, 3)."""
    charge: np.ndarray
    """Charges of the sites [charge], shape (sites,)."""


class Tables(NamedTuple):
    """Tables of a model with numbers that have derivatives."""

    factor: np.ndarray
    """Factor that multiplies all forces, shape (1,)."""
    gravity: np.ndarray
    """Acceleration of gravity, world frame [length/time²], shape (3,)."""
    drag: Drag
    """Stokes drag."""
    flow: LinearFlow | None
    """Forces of the medium on bodies at rest, if the velocity of its flow varies in space; None otherwise."""
    noise: np.ndarray
    """Variances 2 β k T of the noise, for translation and rotation with their drag coefficients β, shape (bodies,
    2)."""
    bath: np.ndarray
    """k_B T of the noise [energy], shape (1,)."""
    terms: tuple[Any, ...]
    """Tables of all other forces that do not act between sites."""
    sites: SiteNumbers
    """Numbers of forces between sites."""
    mass: np.ndarray
    """Masses of the links [mass], shape (links,)."""
    moment: np.ndarray
    """First moments of mass of the links about their origins, link frames [mass length], shape (links, 3)."""
    inertia: np.ndarray
    """Inertias of the links about their origins, link frames [mass length²], shape (links, 6)."""
    position: np.ndarray
    """Origins of the links' joint frames in their parents' frames [length], shape (links, 3)."""
    turn: np.ndarray
    """Small rotations of the joint frames about their origins, rotation vectors in the parents' frames [rad], shape
    (links, 3)."""
    rows: RowNumbers
    """Numbers of loops."""


def links_of(tables: Tables) -> LinkNumbers:
    """Return the numbers of links and of their joint frames."""
    return LinkNumbers(tables.mass, tables.moment, tables.inertia, tables.position, tables.turn)


def differentiated(forest: Forest, forces: Forces, loops: Loops, frames: np.ndarray | None = None) -> Tables:
    """Return those tables of a model's links, forces and loops that have derivatives. Rotations of joint frames are
    measured from ``frames``, Euler parameters of shape (links, 4); they are zero if ``frames`` is None."""
    terms = tuple(term.kind.numbers(term.table) for term in forces.terms)
    sites = SiteNumbers(tuple(one.rows for one in forces.sites.tables), forces.sites.local, forces.sites.charges)
    variances = forces.noise.amplitude * forces.noise.amplitude
    turn = np.zeros((forest.mass.size, 3)) if frames is None else rotation_vectors(forest.rotation, of=frames)
    of_links = forest.mass, forest.moment, forest.inertia, forest.position, turn
    of_forces = np.ones(1), forces.gravity, forces.drag, forces.flow, variances, forces.noise.bath, terms, sites
    return Tables(*of_forces, *of_links, row_numbers(loops))


def site_numbers(model: Model) -> SiteNumbers:
    """Return the numbers of a model's forces between sites. No compiled code is needed for this. Infinite numbers
    become zero."""
    terms = terms_of(model)
    classes, some = classes_of(model, terms), slice(None) if has_site_forces(model) else slice(0, 0)
    pairs = [[term for term in terms if isinstance(term, PairTerm) and term.charged is kind] for kind in (False, True)]
    rows = []
    for both in zip_longest(*pairs):
        one, two = (no_rows(classes.kind.size) if term is None else class_rows(model, term, classes) for term in both)
        rows.append(pair_table(one, two, model.units.coulomb).rows)
    rows += [term.table.rows for term in terms if isinstance(term, SumTerm)]
    finite = tuple(np.where(np.isfinite(one), one, 0.0) for one in rows)
    return SiteNumbers(finite, site_places(model, some)[1], model.sites.charge[some].copy())


def arrays_of(table: Any) -> Iterator[np.ndarray]:
    """Yield the arrays of floats in a table and in its nested tables, in order."""
    if isinstance(table, np.ndarray):
        if table.dtype == np.float64:
            yield table
    elif isinstance(table, tuple):
        for one in table:
            yield from arrays_of(one)


def in_one(table: Any) -> tuple[Any, np.ndarray]:
    """Return a table of zeros in the layout of the given table, and one array of its numbers; the table consists of
    views of this array."""
    numbers = np.zeros(sum(one.size for one in arrays_of(table)))
    ends = 0

    def made(part: Any) -> Any:
        nonlocal ends
        if isinstance(part, np.ndarray):
            if part.dtype != np.float64:
                return part
            ends += part.size
            return numbers[ends - part.size : ends].reshape(part.shape)
        if isinstance(part, tuple):
            parts = [made(one) for one in part]
            return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
        return part

    return made(table), numbers


def flat(table: Any) -> np.ndarray:
    """Return the numbers of a table as one array."""
    return np.concatenate([one.reshape(-1) for one in arrays_of(table)])
