"""Derivatives of the forces between sites (of neighbours, bonds, angles and dihedrals), mapped to the links.

The forces F on the sites have the virtual power Σ F·V, with V the virtual velocities of the sites. The passes of the
terms (``forces/sites/term_derivatives.py``) compute changes of F; this file maps motions of links to sites, and forces
back.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from articulon.algebra.vectors import add, apply_t, cross, load, load_from, load_matrix, store, store_from, sub
from articulon.forces.base import AdjointAt, TangentAt
from articulon.forces.evaluation import Evaluator
from articulon.forces.point_springs import arm_of, end_changes, motion_of, pull_change
from articulon.forces.sites.list_sizes import terms_of
from articulon.forces.sites.pair_derivatives import pair_passes
from articulon.forces.sites.pair_sums import Combination
from articulon.forces.sites.site_terms import PairTerm, SumTerm
from articulon.forces.sites.site_wrenches import place_particles
from articulon.forces.sites.term_derivatives import Ends, TermPasses, column_of, ends_of
from articulon.kernels import jit
from articulon.passes import Bound, pass_of
from articulon.sensitivities.table_gradients import SiteNumbers


def sites_adjoint(e: Evaluator, gradients: SiteNumbers, at: AdjointAt, found: bool = False) -> Iterator[Bound]:
    """Yield passes that add the derivatives of the virtual power of the forces between sites. ``found`` means that
    these forces are already known for the same state of the links; they are then not computed again."""
    count = e.sites.sites
    if not count or not e.sites.tables:
        return
    e.list_always()
    moved, changed = np.zeros((3, count)), np.zeros((3, count))
    if not found:
        yield e.bind_sites(find_forces, at.ws)
    yield e.bind_sites(virtual_velocities, at.ws, at.motion, moved, changed)
    for k, (passes, ends) in enumerate(_passes(e)):
        yield e.bind_sites(passes.adjoint, k, ends, moved, gradients.rows[k], gradients.charge, changed)
    yield e.bind_sites(fold_adjoint, at.ws, at.motion, changed, gradients.local, at.by_place)


def sites_tangent(e: Evaluator, changes: SiteNumbers, at: TangentAt) -> Iterator[Bound]:
    """Yield passes that add the changes of the forces between sites to the wrenches; the forces must be known."""
    count = e.sites.sites
    if not count or not e.sites.tables:
        return
    e.list_always()
    moved, found = np.zeros((3, count)), np.zeros((3, count))
    yield e.bind_sites(displacements, at.ws, changes.local, at.moved, at.twist, moved, found)
    for k, (passes, ends) in enumerate(_passes(e)):
        yield e.bind_sites(passes.tangent, k, ends, moved, changes.rows[k], changes.charge, found)
    yield e.bind_sites(fold_tangent, at.ws, changes.local, at.moved, at.twist, found, at.wrench)


def _passes(e: Evaluator) -> Iterator[tuple[TermPasses, tuple[Ends, ...]]]:
    """Yield the passes of every term that has a table, in the order of the tables, and the ends (first and last sites)
    of each of its laws."""
    terms, kinds, at = terms_of(e.model), e.sites.classes.kind.size, 0
    pairs = [[term for term in terms if isinstance(term, PairTerm) and term.charged is kind] for kind in (False, True)]
    for both in zip_longest(*pairs):
        names = tuple("none" if term is None else term.name for term in both)
        laws = tuple(None if term is None else term.law for term in both)
        columns = tuple(() if term is None else term.columns or () for term in both)
        passes = pair_passes(Combination(names, laws, kinds == 1, e.sites.listing.everything), columns)
        table = e.sites.tables[at]
        rows, width = table.rows, int(table.constants[0])
        yield passes, (ends_of(rows[:, :width], columns[0]), ends_of(rows[:, width:], columns[1]))
        at += 1
    for term in terms:
        if isinstance(term, SumTerm):
            assert term.derivatives is not None
            yield term.derivatives, (ends_of(e.sites.tables[at].rows, term.derivatives.columns[0]),)
            at += 1


@jit
def site_place(sites, s):
    site = sites.particles.site
    return (site[0, s], site[1, s], site[2, s])


@jit
def site_force(sites, s):
    """Return the force on a site, computed before."""
    particles = sites.particles
    p = particles.place[s]
    return (particles.fx[p], particles.fy[p], particles.fz[p])


@jit
def put_column(array, s, a):
    array[0, s], array[1, s], array[2, s] = a[0], a[1], a[2]


@pass_of
def find_forces(sites, total, terms, refresh, ws):
    """Compute the forces on the sites."""
    place_particles(sites, ws)
    total(sites, terms, refresh)


@pass_of
def virtual_velocities(sites, total, terms, refresh, ws, motion, moved, found):
    """Compute velocities of the sites (3, sites) from a motion of the links (links, 6), and set the array ``found`` to
    zero, to which the passes of the terms add."""
    for s in range(sites.link.size):
        i, V = sites.link[s], (0.0, 0.0, 0.0)
        if i >= 0:
            V = motion_of(i, sub(site_place(sites, s), load(ws.position, i)), motion)[0]
        put_column(moved, s, V)
        put_column(found, s, (0.0, 0.0, 0.0))


@pass_of
def fold_adjoint(sites, total, terms, refresh, ws, motion, found, gradient, by_place):
    """Add derivatives with respect to the positions of the sites (3, sites) to two arrays: the derivatives with respect
    to places of links (links, 6), and to the sites' positions in the link frames (sites, 3)."""
    for s in range(sites.link.size):
        i, by_x = sites.link[s], column_of(found, s)
        if i >= 0:
            arm = sub(site_place(sites, s), load(ws.position, i))
            by_arm = add(by_x, cross(site_force(sites, s), load_from(motion, i, 0)))
            store_from(by_place, i, 0, add(load_from(by_place, i, 0), by_x))
            store_from(by_place, i, 3, add(load_from(by_place, i, 3), cross(arm, by_arm)))
            by_x = apply_t(load_matrix(ws.rotation, i), by_arm)
        store(gradient, s, add(load(gradient, s), by_x))


@pass_of
def displacements(sites, total, terms, refresh, ws, local, places, twist, moved, found):
    """Compute displacements of the sites (3, sites) from the displacements of the links and the displacements of the
    sites in the link frames (sites, 3). Set the array ``found`` to zero, to which the passes of the terms add changes
    of forces."""
    for s in range(sites.link.size):
        i = sites.link[s]
        put_column(moved, s, end_changes(i, arm_of(i, load(sites.local, s), ws), load(local, s), ws, places, twist)[1])
        put_column(found, s, (0.0, 0.0, 0.0))


@pass_of
def fold_tangent(sites, total, terms, refresh, ws, local, places, twist, found, wrench):
    """Add the changes of the forces on the sites (3, sites) to the wrenches (links, 6)."""
    for s in range(sites.link.size):
        i = sites.link[s]
        arm = arm_of(i, load(sites.local, s), ws)
        arms = end_changes(i, arm, load(local, s), ws, places, twist)[0]
        pull_change(wrench, i, arm, arms, site_force(sites, s), column_of(found, s))


def known(term: Any) -> bool:
    """Whether a term of forces between sites has derivatives."""
    if isinstance(term, PairTerm):
        return term.columns is not None
    return not isinstance(term, SumTerm) or term.derivatives is not None
