"""Site forces of a model prepared for evaluation: their tables, compiled loops, and neighbour lists that grow as
needed."""

import copy
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from itertools import zip_longest
from typing import Any, Protocol, Self

import numba
import numpy as np
from numba import types

from articulon.errors import ArticulonError
from articulon.forces.capacity import with_capacity
from articulon.forces.sites.between import class_rows, classes_of
from articulon.forces.sites.cells import FAR, OVERFLOW, grid
from articulon.forces.sites.exclusions import exclusion_table
from articulon.forces.sites.kind_lists import refresh_by_kind, with_sorts
from articulon.forces.sites.list_sizes import has_site_forces, listing_of, room_for, terms_of
from articulon.forces.sites.nearest_images import cell_of
from articulon.forces.sites.neighbours import (
    REFRESH,
    VECTOR,
    refresh_parallel,
    refresh_places,
    refresh_serial,
)
from articulon.forces.sites.pair_loops import pair_loop
from articulon.forces.sites.pair_sums import (
    LANES_OF,
    PARALLEL_ALL,
    PARALLEL_SITES,
    Combination,
    forces_kernel,
    measure_kernel,
    no_rows,
    pair_table,
)
from articulon.forces.sites.pairs_once import once_kernel, once_table, visits_pairs_once
from articulon.forces.sites.site_positions import site_places
from articulon.forces.sites.site_sums import list_sites, no_forces, no_measure, site_forces, sum_forces, sum_measures
from articulon.forces.sites.site_tables import (
    ENERGY,
    FORCES,
    MEASURE,
    MEASURES,
    W_XX,
    W_ZZ,
    Cell,
    SiteSystem,
    SiteTable,
    aligned,
    empty_neighbours,
    empty_particles,
)
from articulon.forces.sites.site_terms import LEVELS, InBox, PairTerm, SumTerm, Term
from articulon.forces.sites.vector_appending import LANES
from articulon.kernels import prepare, ready
from articulon.model import Model, State
from articulon.passes import Function, Pass, Program, functions

SLOTS = 4
"""Number of terms for which kernels are compiled; if there are fewer, empty terms are added. If there are more, empty
terms are added up to a multiple of this number, and kernels are compiled again."""


class Elsewhere(Protocol):
    """Pair sums on another device."""

    def forces(self, x: np.ndarray) -> np.ndarray:
        """Forces on the sites at their positions (sites, 3) [force], shape (sites, 3)."""
        ...

    def measure(self, x: np.ndarray) -> np.ndarray:
        """Measures of the pairs at these positions, without the parts that depend on no position, shape (8,)."""
        ...


class SiteForces:
    """The site forces of a model.

    Parameters
    ----------
    model
        The model; if it has no site force, its sites are ignored.
    alone
        Whether a single thread evaluates the forces, whatever the number of sites.
    """

    def __init__(self, model: Model, alone: bool = False) -> None:
        self.model, self.alone = model, alone
        terms = terms_of(model)
        self.listing = listing_of(model, terms)
        room = room_for(model, self.listing)
        some, sites = slice(None) if has_site_forces(model) else slice(0, 0), model.sites
        self.sites = self.listing.sites
        self.cell = cell_of(model)
        self.classes = classes_of(model, terms)
        self.kinds, self.charges = self.classes.of_site[some].astype(np.int64), sites.charge[some].copy()
        self.link, self.local = site_places(model, some)
        self.excluded_start, self.excluded = _exclusions(model, self.sites)
        self.pairs = [term for term in terms if isinstance(term, PairTerm)]
        self.users = [term.users for term in terms if isinstance(term, SumTerm) and term.users is not None]
        self._fixed = np.sum([term.constant for term in terms if _in_box(term) is None] or [(0.0, 0.0)], axis=0)
        self.constant = np.array(self._fixed, dtype=float)
        many = self.sites >= (PARALLEL_ALL if self.listing.everything else PARALLEL_SITES)
        self.parallel = many and not alone
        self._compile(terms)
        self._make_room(*room)
        self.elsewhere: Elsewhere | None = None
        """Sums that replace those of the kernels here if particles are on another device."""
        self.touched = False
        """Whether forces have been evaluated elsewhere, or the box has changed, since a driver last used the stored
        forces."""

    # The following is created at first use, because a model without site forces does not need it.

    @cached_property
    def refresh(self) -> Any:
        """Compiled function that brings the lists up to date."""
        how = refresh_places if not self.listed else refresh_parallel if self.parallel else refresh_serial
        if self.listed and self.listing.sorts is not None:
            how = refresh_by_kind(self.parallel)
        return prepare(how, REFRESH)

    @cached_property
    def sum_signature(self) -> Any:
        """Signature of ``sum``."""
        terms = types.UniTuple(types.FunctionType(FORCES), len(self.tables))
        return types.void(numba.typeof(self.system), terms, types.FunctionType(REFRESH))

    @cached_property
    def sum(self) -> Any:
        """Compiled sum of the forces of all terms."""
        return prepare(site_forces, self.sum_signature)

    @cached_property
    def _result(self) -> np.ndarray:
        return np.zeros(MEASURES)

    @cached_property
    def _bound_measures(self) -> tuple[Function, ...]:
        return functions(self.measures, MEASURE)

    def _run(self, which: Pass, *arguments: Any) -> None:
        """Run a pass, bound to the current lists and to arguments that never change."""
        if which not in self._programs:
            self._programs[which] = Program([which.bind(self.system, *arguments)])
        self._programs[which]()

    def _compile(self, terms: Sequence[Term]) -> None:
        forces, measures, tables, levels = [], [], [], []
        kinds = self.classes.kind.size
        for plain, charged in _fused(self.pairs):
            first, second = (
                no_rows(kinds) if term is None else class_rows(self.model, term, self.classes)
                for term in (plain, charged)
            )
            names = tuple("none" if term is None else term.name for term in (plain, charged))
            laws = tuple(None if term is None else term.law for term in (plain, charged))
            packed = not self.listing.everything and bool((second == second[:1]).all())
            packed = packed and all(term is None or term.side_by_side for term in (plain, charged))
            by_kind = packed and self.listing.sorts is not None
            both = Combination(names, laws, kinds == 1, self.listing.everything, by_kind)
            table = pair_table(first, second, self.model.units.coulomb)
            if self.listing.everything and visits_pairs_once((plain, charged), first, second, self.sites):
                forces.append(prepare(once_kernel(both, self.parallel), FORCES))
                table = once_table(table, self.kinds)
            else:
                forces.append(forces_kernel(both, self.parallel, LANES_OF[pair_loop()] if packed else 0))
            measures.append(measure_kernel(both._replace(by_kind=False)))
            tables.append(table)
            levels.append(next(term.level for term in (plain, charged) if term is not None))
        of_box = [(term.in_box, -1, term.constant) for term in self.pairs if term.in_box is not None]
        for term in terms:
            if isinstance(term, SumTerm):
                if term.in_box is not None:
                    of_box.append((term.in_box, len(tables), term.constant))
                pair = term.alone if self.alone and term.alone is not None else (term.forces, term.measure)
                forces.append(prepare(pair[0], FORCES))
                measures.append(prepare(pair[1], MEASURE))
                tables.append(term.table)
                levels.append(term.level)
        slots = SLOTS if len(forces) <= SLOTS else -(-len(forces) // SLOTS) * SLOTS
        empty = SiteTable(np.zeros((0, 1)), np.zeros((0, 4), dtype=np.int64), np.zeros(0))
        for _ in range(len(forces), slots):
            forces.append(ready(no_forces, FORCES))
            measures.append(ready(no_measure, MEASURE))
            tables.append(empty)
            levels.append("bonded")
        self.forces, self.measures = tuple(forces), tuple(measures)
        self.tables = tuple(SiteTable(*map(aligned, table)) for table in tables)
        self.level = np.array([LEVELS.index(level) for level in levels])
        self._of_box = tuple(one[:2] for one in of_box)
        """Box-dependent parts of the terms: functions that compute them, and the index of the table of each, −1 for
        none."""
        self._take_constants([constant for _, _, constant in of_box])

    def _take_constants(self, of_box: Sequence[tuple[float, float]]) -> None:
        """Sum the position-independent energy and trace of the virial, including those of the box. Sum from scratch, so
        that the result does not depend on earlier boxes, and in place, because coarse models share the array."""
        self.constant[:] = self._fixed
        for constant in of_box:
            self.constant += constant

    def _make_room(self, images: int, neighbours: int) -> None:
        self._room = images, neighbours
        self._programs: dict[Pass, Program] = {}
        particles = empty_particles(self.sites, images, LANES)
        cutoff, skin, sorts = self.listing.cutoff, self.listing.skin, self.listing.sorts
        finite = bool(self.listed) and np.isfinite(cutoff)
        reach = cutoff + skin if finite else 1e75
        lists = empty_neighbours(self.sites, neighbours)._replace(
            excluded_start=self.excluded_start, excluded=self.excluded
        )
        cells = grid(self.sites if self.listed else 1, images, reach, skin if finite else 1e75)
        self.system = SiteSystem(
            self.cell,
            particles,
            lists,
            cells if sorts is None else with_sorts(cells, sorts, skin, particles.x.size),
            self.kinds,
            self.charges,
            self.link,
            self.local,
            self.tables,
            self.level,
        )
        for coordinate in (particles.x, particles.y, particles.z):
            coordinate[-1] = FAR
        particles.packed[-1, :3] = FAR
        if not self.listed:
            particles.kind[: self.sites], particles.charge[: self.sites] = self.kinds, self.charges
            particles.reference[:] = 0.0  # nothing is listed, so that sites may move any distance

    def another(self) -> Self:
        """Return the site forces for another state of the model, which another thread may use: the same functions, with
        separate scratch and lists."""
        result = copy.copy(self)
        vars(result).pop("_result", None)
        result.tables = tuple(SiteTable(*map(aligned, table)) for table in self.tables)
        result._make_room(*self._room)
        return result

    @cached_property
    def bound_functions(self) -> tuple[Function, tuple[Function, ...], Function]:
        """Arguments of a pass: the sum, the forces of all terms, and the function that brings lists up to date."""
        return Function(self.sum, self.sum_signature), functions(self.forces, FORCES), Function(self.refresh, REFRESH)

    @property
    def listed(self) -> int:
        """Number of sites whose neighbours are listed."""
        return self.sites if self.listing.lists and not self.listing.everything else 0

    def restore(self, state: State) -> None:
        """Start from the box and the lists of a state."""
        if state.box.edges.size:
            self.put_box(state.box.edges)
        self.list_from(state.rebuild)

    def put_box(self, edges: np.ndarray) -> None:
        """Change the periodic box to these edges, one per row [length]; the next evaluation rebuilds the lists."""
        if np.array_equal(self.cell.vectors, edges):
            return
        self.cell.vectors[:], self.cell.inverse[:] = edges, np.linalg.inv(edges)
        constants = []
        for in_box, at in self._of_box:
            table, constant = in_box(edges)
            constants.append(constant)
            for own, other in zip(self.tables[at], table or (), strict=table is not None):
                own[:] = other
        self._take_constants(constants)
        self.system.particles.reference[:] = np.nan if self.listed else 0.0
        self.touched = True

    def list_from(self, reference: np.ndarray) -> None:
        """List the neighbours of sites at positions (3, sites) [length], unless they are already listed; if the
        positions are NaN, the next evaluation builds the lists."""
        particles = self.system.particles
        if not self.listed or np.array_equal(particles.reference, reference, equal_nan=True):
            return
        if np.isfinite(reference).all():
            particles.reference[:] = np.nan
            particles.site[:] = reference
            self._refresh()
        else:
            particles.reference[:] = np.nan

    def save(self, state: State) -> None:
        """Store in a state the data that determine the order of sums."""
        if self.listed:
            state.rebuild[:] = self.system.particles.reference

    @property
    def overflowed(self) -> bool:
        """Whether a list exceeded its capacity."""
        return bool(self.system.particles.counts[OVERFLOW])

    def grow(self) -> None:
        """Enlarge the lists, and rebuild them at the next evaluation."""
        images, neighbours = self._room
        most = self.sites + images
        more = min(neighbours + neighbours // 2, most) // VECTOR * VECTOR + 3 * VECTOR
        self._make_room(images + images // 2 + 64, more)

    def list_always(self) -> None:
        """Rebuild the lists from now on whenever sites move, so that the order of sums depends on their positions
        alone."""
        self.listing = self.listing._replace(skin=0.0)
        images, neighbours = self._room
        self._make_room(images, 2 * neighbours)  # lists cannot grow while compiled code takes steps

    def _refresh(self) -> None:
        site = self.system.particles.site.copy()

        def attempt() -> bool | None:
            self.system.particles.site[:] = site
            self._run(list_sites, self.bound_functions[2])
            return None if self.overflowed else True

        with_capacity(attempt, self.grow)

    def _raise(self) -> None:
        for users in self.users:
            if users.error is not None:
                what = f"{type(users.error).__name__}: {users.error}"
                raise ArticulonError(f"a force of kind '{users.kind}' failed: {what}") from users.error

    def evaluate(self, positions: np.ndarray) -> np.ndarray:
        """Forces on the sites at their positions (sites, 3) [force], shape (sites, 3); NaN if a position is NaN."""
        self.touched = True
        if self.elsewhere is not None:
            p = self.system.particles
            p.fx[p.place], p.fy[p.place], p.fz[p.place] = self.elsewhere.forces(positions).T
            return self.latest
        self.system.particles.site[:] = positions.T
        self._refresh()
        self._run(sum_forces, *self.bound_functions)
        self._raise()
        return self.latest

    @property
    def latest(self) -> np.ndarray:
        """Forces on the sites at the latest evaluation [force], shape (sites, 3)."""
        p = self.system.particles
        return np.stack([p.fx, p.fy, p.fz], axis=1)[p.place]

    def measure(self, positions: np.ndarray) -> np.ndarray:
        """Energy, virial (xx, yy, zz, xy, xz, yz) and Laplacian at positions (sites, 3), including tails, shape
        (8,)."""
        if self.elsewhere is not None:
            result = self.elsewhere.measure(positions)
        else:
            self.system.particles.site[:] = positions.T
            self._refresh()
            self._run(sum_measures, self._bound_measures, self.bound_functions[2], self._result)
            self._raise()
            result = self._result.copy()
        result[ENERGY] += self.constant[0]
        result[W_XX : W_ZZ + 1] += self.constant[1] / 3.0
        return result


@cache
def no_sites() -> SiteSystem:
    """Return the arrays of a model that has no site forces."""
    empty = SiteTable(np.zeros((0, 1)), np.zeros((0, 4), dtype=np.int64), np.zeros(0))
    particles = empty_particles(0, 1, LANES)
    return SiteSystem(
        Cell(np.eye(3), np.eye(3), np.zeros(3), np.zeros(3, dtype=np.int64)),
        particles,
        empty_neighbours(0, 1),
        grid(1, 1, 1.0, 1.0),
        np.zeros(0, dtype=np.int64),
        np.zeros(0),
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 3)),
        (empty,) * SLOTS,
        np.zeros(SLOTS, dtype=np.int64),
    )


def _fused(pairs: list[PairTerm]) -> Iterable[tuple[PairTerm | None, PairTerm | None]]:
    """Pairs of laws that share a loop: one of charges and one not of charges."""
    plain, charged = ([term for term in pairs if term.charged is kind] for kind in (False, True))
    return zip_longest(plain, charged)


def _in_box(term: Term) -> InBox | None:
    """Return the box-dependent part of a term, if any."""
    return getattr(term, "in_box", None)


def _exclusions(model: Model, sites: int) -> tuple[np.ndarray, np.ndarray]:
    """Excluded partners of each site: starts, and sites, sorted."""
    return exclusion_table(model) if sites else (np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
