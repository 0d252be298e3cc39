"""Pairs of sites that the forces between all sites exclude or scale: those on one body, and those close in the bond
graph."""

from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.declaration import Declaration, Number, Whole
from articulon.errors import ModelError
from articulon.forces.sites.between import chosen_pairs
from articulon.forces.sites.bonded_derivatives import scaled_passes
from articulon.forces.sites.bonds import FeneBonds, HarmonicBonds
from articulon.forces.sites.laws.lennard_jones import lennard_jones
from articulon.forces.sites.listed_members import add_virial, member_table
from articulon.forces.sites.nearest_images import minimum_image
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, SiteTable
from articulon.forces.sites.site_terms import Level, PairTerm, SumTerm
from articulon.forces.sites.term_derivatives import TermPasses
from articulon.kernel_variants import specialised
from articulon.model import Model
from articulon.model.joints import UNBOUND

Factor = Annotated[Number, Field(ge=0.0)]


class Scaled14(Declaration):
    """Fractions of the forces that act between sites three bonds apart."""

    lennard_jones: Factor = 1.0
    """Factor for laws that do not depend on charges: Lennard-Jones, Morse and laws of a user."""
    coulomb: Factor = 1.0
    """Factor for charges, and for C in A/r¹² − B/r⁶ + C/r."""


class Exclusions(Declaration):
    """Pairs of sites excluded from the forces between all sites, in addition to pairs on one body, which never
    interact.

    Pairs three bonds apart can be scaled instead: the sums over neighbours and the long-range sums omit them, and each
    law adds them times a factor, without its cutoff, shift or switch, as in OpenMM and AMBER.
    """

    laplacian: ClassVar[str] = "known"
    kind: Literal["exclusions"] = "exclusions"
    not_differentiated: ClassVar[tuple[str, ...]] = ("scaled_14", "lennard_jones", "coulomb")
    bonds: tuple[tuple[Whole, Whole], ...] | None = None
    """Pairs of sites that count as bonded, by index; by default those of all bonds declared as forces."""
    bonds_apart: Annotated[Whole, Field(ge=0, le=3)] = 2
    """Pairs at most this many bonds apart do not interact."""
    pairs: tuple[tuple[Whole, Whole], ...] = ()
    """Further pairs that do not interact, by index."""
    excluded_joints: Annotated[Whole, Field(ge=0)] = 0
    """Sites do not interact if their bodies are at most this many joints apart."""
    scaled_14: Scaled14 | None = None
    """Fractions of each force that act between sites three bonds apart; by default the whole force."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.scaled_14 is not None and self.bonds_apart != 2:
            raise ValueError(
                "scaled_14 requires bonds_apart = 2: pairs three bonds apart are scaled, nearer ones left out"
            )
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites that do not exist, for a second declaration, and if nothing is excluded."""
        if sum(isinstance(force, Exclusions) for force in model.forces) > 1:
            raise ModelError(f"{where}: exclusions are declared twice; one declaration holds every pair")
        for key, pairs in (("bonds", self.bonds), ("pairs", self.pairs)):
            if pairs:
                member_table(model, f"{where}.{key}", pairs, none=0.0)
        if self.bonds == () or (self.bonds is None and not len(bonded(model))):
            if self.scaled_14 is not None:
                raise ModelError(f"{where}.scaled_14: there are no bonds; list them in {where}.bonds")
            if not self.pairs and not self.excluded_joints:
                raise ModelError(f"{where}: nothing is excluded: there are no bonds; list some, or pairs")

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self:
        """Return the declaration in a coarse model, with the pairs excluded by number of joints in the fine model."""
        if not self.excluded_joints:
            return self
        near = _pairs_within(model, self.excluded_joints)
        return self.model_copy(update={"excluded_joints": 0, "pairs": (*self.pairs, *near)})

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the scaled pairs of every law as terms of the site forces."""
        scaled = scaled_pairs(model)
        if self.scaled_14 is None or not len(scaled):
            return []
        terms = [term for force in model.forces if hasattr(force, "bare_terms") for term in force.bare_terms(model)]
        return [
            listed_pairs(model, term, scaled, factor)
            for term in terms
            if (factor := self.scaled_14.coulomb if term.charged else self.scaled_14.lennard_jones) > 0.0
        ]


def bonded(model: Model) -> np.ndarray:
    """Pairs of sites that count as bonded, shape (bonds, 2)."""
    declared = declared_exclusions(model)
    if declared is not None and declared.bonds is not None:
        return np.array(declared.bonds, dtype=np.int64).reshape(-1, 2)
    lists = [force.bonds for force in model.forces if isinstance(force, HarmonicBonds | FeneBonds)]
    return np.array([bond for bonds in lists for bond in bonds], dtype=np.int64).reshape(-1, 2)


def _pairs_within(model: Model, joints: int) -> tuple[tuple[int, int], ...]:
    """Pairs of sites that are excluded by the number of joints between them."""
    from scipy.sparse import coo_array

    near = coo_array(_same_link(model, joints))
    once = near.row < near.col
    return tuple(zip(near.row[once].tolist(), near.col[once].tolist(), strict=True))


def declared_exclusions(model: Model) -> Exclusions | None:
    """Return the declaration, if there is one."""
    return next((force for force in model.forces if isinstance(force, Exclusions)), None)


def exclusion_table(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the sites excluded from the pair sums of each site, in the order of sites.

    Returns
    -------
    start
        Start of the partners of each site, shape (sites + 1,).
    partners
        Partners, sorted for each site; every pair occurs twice. Scaled pairs are included.
    """
    from scipy.sparse import coo_array

    sites, declared = model.sites.body.size, declared_exclusions(model)
    excluded = _same_link(model, 0 if declared is None else declared.excluded_joints)
    if declared is not None:
        depth = 3 if declared.scaled_14 is not None else declared.bonds_apart
        excluded = excluded + _near(sites, bonded(model), depth) + _graph(sites, declared.pairs)
    found = coo_array(excluded)
    off = found.row != found.col
    result = coo_array(
        (np.ones(off.sum(), dtype=np.int8), (found.row[off], found.col[off])), shape=excluded.shape
    ).tocsr()
    result.sort_indices()
    return result.indptr.astype(np.int64), result.indices.astype(np.int64)


def near_by_joints(model: Model, sites: np.ndarray, joints: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the pairs among some sites (n,) whose bodies are at most ``joints`` joints apart: the start of each site's
    partners, shape (n + 1,), and the partners, as sorted indices among these sites."""
    from scipy.sparse import coo_array

    near = coo_array(_same_link(model, joints).tocsr()[sites][:, sites])
    off = near.row != near.col
    table = coo_array((np.ones(off.sum(), dtype=np.int8), (near.row[off], near.col[off])), shape=near.shape).tocsr()
    table.sort_indices()
    return table.indptr.astype(np.int64), table.indices.astype(np.int64)


def excluded_charges(model: Model) -> np.ndarray:
    """Return the pairs of charged sites excluded from the sums, smaller index first, shape (pairs, 2)."""
    start, partners = exclusion_table(model)
    first = np.repeat(np.arange(start.size - 1), np.diff(start))
    charge = model.sites.charge
    left_out = (first < partners) & (charge[first] * charge[partners] != 0.0)
    return np.stack([first[left_out], partners[left_out]], axis=1)


def scaled_pairs(model: Model) -> np.ndarray:
    """Return the pairs of sites exactly three bonds apart whose interaction is scaled; smaller index first, shape
    (pairs, 2)."""
    from scipy.sparse import coo_array

    declared, sites = declared_exclusions(model), model.sites.body.size
    if declared is None or declared.scaled_14 is None:
        return np.zeros((0, 2), dtype=np.int64)
    bonds = bonded(model)
    nearer = _same_link(model, declared.excluded_joints) + _near(sites, bonds, 2) + _graph(sites, declared.pairs)
    far = coo_array(_near(sites, bonds, 3))
    near = coo_array(nearer)
    once = far.row < far.col
    pairs = np.stack([far.row[once], far.col[once]], axis=1).astype(np.int64)
    known = near.row.astype(np.int64) * sites + near.col
    left = pairs[~np.isin(pairs[:, 0] * sites + pairs[:, 1], known)]
    return left[np.lexsort((left[:, 1], left[:, 0]))]


def _graph(nodes: int, edges: Any) -> Any:
    """Symmetric adjacency matrix of pairs."""
    from scipy.sparse import coo_array

    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    return coo_array((np.ones(rows.size, dtype=np.int64), (rows, columns)), shape=(nodes, nodes)).tocsr()


def _near(nodes: int, edges: Any, depth: int) -> Any:
    """Matrix that is nonzero where two nodes are at most ``depth`` edges apart; some diagonal elements may be zero."""
    one = _graph(nodes, edges)
    reached = step = one
    for _ in range(1, min(depth, nodes)):
        step = step @ one
        # Only the pattern matters: counts of paths would grow without bound.
        step.data[:] = 1
        before, reached = reached.nnz, reached + step
        if reached.nnz == before:  # nothing further can be reached
            break
    return reached if depth else 0 * one


def _same_link(model: Model, joints: int) -> Any:
    """Matrix that is nonzero where the bodies of two sites are welded together, or at most some joints apart."""
    from scipy.sparse import coo_array, eye_array

    body = model.sites.body
    # The ground, link −1, comes first.
    link = np.where(body < 0, 0, model.link[body] + 1)
    links, parent = model.forest.parent.size, model.jointed
    carried = coo_array(
        (np.ones(link.size, dtype=np.int64), (np.arange(link.size), link)), shape=(link.size, links + 1)
    )
    carried = carried.tocsr()
    near = eye_array(links + 1, dtype=np.int64, format="csr")
    if joints:
        # A joint that leaves all translations free does not connect its bodies.
        bound = np.flatnonzero(~np.isin(model.forest.kind, UNBOUND))
        near = near + _near(links + 1, np.stack([bound + 1, parent[bound] + 1], axis=1), joints)
    return carried @ near @ carried.T


def listed_pairs(model: Model, term: PairTerm, pairs: np.ndarray, factor: float, level: Level = "bonded") -> SumTerm:
    """Return the terms of a pair law over listed pairs, by their nearest images, times a factor."""
    sites, pairs = model.sites, pairs[chosen_pairs(model, term.between, pairs)]
    kinds = len(sites.kinds)
    members = np.full((len(pairs), 4), -1, dtype=np.int64)
    members[:, :2] = pairs
    members[:, 2] = sites.kind[pairs[:, 0]] * kinds + sites.kind[pairs[:, 1]]
    charges = model.units.coulomb * sites.charge[pairs[:, 0]] * sites.charge[pairs[:, 1]]
    forces, measure = _kernels(term.law, term.name)
    table = SiteTable(term.rows, members, np.array([factor, *charges, model.units.coulomb]))
    passes = None if term.columns is None else _passes(term.law, term.name, term.columns)
    return SumTerm(forces, measure, table, level, derivatives=passes)


LAW = lennard_jones
"""Placeholder for the law in the loops below."""


def scaled_forces(table, cell, particles, neighbours):
    """Add −f ∇U of each listed pair."""
    x, y, z, place, members = particles.x, particles.y, particles.z, particles.place, table.members
    fx, fy, fz, rows, factor, charges = (
        particles.fx,
        particles.fy,
        particles.fz,
        table.rows,
        table.constants[0],
        table.constants,
    )
    for m in range(members.shape[0]):
        i, j, k = place[members[m, 0]], place[members[m, 1]], members[m, 2]
        dx, dy, dz = minimum_image(cell, x[i] - x[j], y[i] - y[j], z[i] - z[j])
        r2 = dx * dx + dy * dy + dz * dz
        if r2 >= rows[k, 0]:
            continue
        g = factor * LAW(r2, rows, k, charges[m + 1])[1]
        fx[i] += g * dx
        fy[i] += g * dy
        fz[i] += g * dz
        fx[j] -= g * dx
        fy[j] -= g * dy
        fz[j] -= g * dz


def scaled_measure(table, cell, particles, neighbours, result):
    """Add f times energy, virial and Laplacian of each listed pair."""
    x, y, z, place, members = particles.x, particles.y, particles.z, particles.place, table.members
    rows, factor, charges = table.rows, table.constants[0], table.constants
    for m in range(members.shape[0]):
        i, j, k = place[members[m, 0]], place[members[m, 1]], members[m, 2]
        dx, dy, dz = minimum_image(cell, x[i] - x[j], y[i] - y[j], z[i] - z[j])
        r2 = dx * dx + dy * dy + dz * dz
        if r2 >= rows[k, 0]:
            continue
        U, g, laplacian = LAW(r2, rows, k, charges[m + 1])
        g *= factor
        result[ENERGY] += factor * U
        result[LAPLACIAN] += 2.0 * factor * laplacian
        add_virial(result, g * dx, g * dy, g * dz, dx, dy, dz)


@cache
def _kernels(law: Any, name: str) -> tuple[Any, Any]:
    cached = not name.startswith("user-pair")
    return (
        specialised(scaled_forces, f"scaled_forces_{name}", called="value", cached=cached, LAW=law),
        specialised(scaled_measure, f"scaled_measure_{name}", called="value", cached=cached, LAW=law),
    )


@cache
def _passes(law: Any, name: str, columns: tuple[int, ...]) -> TermPasses:
    return scaled_passes(name, law, *columns)
