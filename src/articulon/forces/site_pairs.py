"""Site-to-site potentials A/r¹² − B/r⁶ + C/r (Guy 2018, 2.18 and 5.13)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, pairwise
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, store_from
from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.errors import ModelError
from articulon.forces.base import AdjointAt, At, EnergyAt, Force, Merging, TangentAt
from articulon.forces.impacts.hard_cores import HardCores, check_core_keys, gather_cores
from articulon.forces.selection import on_link
from articulon.forces.site_pair_derivatives import pair_adjoint, pair_tangent
from articulon.forces.site_pair_law import site_law
from articulon.forces.sites.between import group_pairs
from articulon.forces.sites.mixing import LennardJonesKind, meeting
from articulon.kernels import jit
from articulon.lanes import LaneArray
from articulon.model import Model
from articulon.model.joints import UNBOUND
from articulon.model.state import POTENTIAL
from articulon.passes import Bound, pass_of
from articulon.thermostats.total_momentum import OUTSIDE, sites_on_ground


class PairLaw(Declaration):
    """A/r¹² − B/r⁶ + C/r between the sites of two kinds."""

    kinds: tuple[str, str]
    """The two kinds."""
    A: Annotated[Quantity, Dimension("energy_length12")] = 0.0
    """Repulsion [energy length¹²]."""
    B: Annotated[Quantity, Dimension("energy_length6")] = 0.0
    """Attraction [energy length⁶]."""
    C: Annotated[Quantity, Dimension("energy_length")] = 0.0
    """Coulomb term; positive repels [energy length]."""


class Pairs(NamedTuple):
    """Site-to-site potentials. Sites are ordered so that partners of one kind are contiguous; sites on the ground come
    last, and no force is computed for them."""

    link: np.ndarray
    """Link that carries each moving site, shape (moving,)."""
    local: np.ndarray
    """Position in the link's frame [length], shape (moving, 3)."""
    start: np.ndarray
    """First run of partners of each moving site, shape (moving + 1,)."""
    low: np.ndarray
    """First partner of each run, shape (runs,)."""
    high: np.ndarray
    """One past the index of the last partner of each run, shape (runs,)."""
    law: np.ndarray
    """(A, B, C) of each run [energy length¹², energy length⁶, energy length], shape (runs, 3)."""
    place: np.ndarray
    """x, y and z of all sites in the world [length]; sites on the ground are constant, shape (3, sites)."""


class SitePairs(Force):
    """U = A/r¹² − B/r⁶ + C/r between sites, F = −∇U.

    Give either ``table``, the law of each pair of kinds, or ``parameters`` by kind with a ``mixing`` rule. In the
    second form A = 4εσ¹² and B = 4εσ⁶ (Guy 2018, 2.19), and C follows from the charges.
    """

    energy_channel = POTENTIAL
    side_by_side: ClassVar[bool] = True
    curved = ("parameters", "relative_permittivity")

    kind: Literal["site-pairs"] = "site-pairs"
    table: tuple[PairLaw, ...] = ()
    """Explicit law for each pair of kinds that interact."""
    parameters: dict[str, LennardJonesKind] = {}
    """Lennard-Jones parameters by kind."""
    mixing: Literal["lorentz-berthelot", "geometric"] = "lorentz-berthelot"
    """Mixing rule: ε = √(ε₁ε₂) with σ = (σ₁ + σ₂)/2, or with σ = √(σ₁σ₂)."""
    relative_permittivity: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1.0
    """Relative permittivity ε_r of the medium, for the charges."""
    between: tuple[tuple[str, str], ...] | None = None
    """Pairs of groups that interact; all by default. Two sites on the ground never interact."""
    excluded_joints: Whole = 0
    """Sites do not interact if their bodies are at most this many joints apart; those on one body never do."""
    repulsion: Literal["soft", "impact"] = "soft"
    """Form of the repulsion: A/r¹², or hard cores of the same size with impacts, while −B/r⁶ + C/r still acts. The size
    is the distance at which U is zero; with ``parameters`` it is σ."""
    core_restitution: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = 0.0
    """Coefficient of restitution of hard cores, in [0, 1]."""
    core_resting_speed: Annotated[Quantity | None, Dimension("velocity", minimum=0)] = None
    """Approach speed below which the impact of hard cores has no restitution and they come to rest [length/time]; with
    None they rest only if their restitution is zero."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.table) == bool(self.parameters):
            raise ValueError("give either table or parameters")
        if self.excluded_joints < 0:
            raise ValueError("excluded_joints must be at least 0")
        check_core_keys(self)
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for unknown groups, kinds without a law, unused laws, and a second declaration."""
        self.laws(model, where)
        if sum(isinstance(force, SitePairs) for force in model.forces) > 1:
            raise ModelError(f"{where}: site pairs are declared twice; one declaration holds every pair")
        if self.repulsion == "impact":
            self.hard_cores(model, where)

    def laws(self, model: Model, where: str) -> dict[tuple[int, int], tuple[float, float, float]]:
        """Return A, B and C (without charges) of each pair of kinds that interact, by indices, the smaller first."""
        sites = model.sites
        if not sites.body.size:
            raise ModelError(f"{where}: the model has no sites for these forces; add them with add_site")
        group_pairs(model, self.between, where)
        number = {kind: k for k, kind in enumerate(sites.kinds)}
        given: dict[tuple[int, int], tuple[float, float, float]] = {}
        for law in self.table:
            for kind in law.kinds:
                if kind not in number:
                    raise ModelError(f"{where}.table: there are no sites of the kind '{kind}'")
            a, b = sorted(number[kind] for kind in law.kinds)
            if (a, b) in given:
                raise ModelError(f"{where}.table: {law.kinds[0]} and {law.kinds[1]} have two laws")
            given[a, b] = (float(law.A), float(law.B), float(law.C))
            if not any(given[a, b]):
                raise ModelError(
                    f"{where}.table: the law of {law.kinds[0]} and {law.kinds[1]} has no range: A, B and C are all "
                    "zero; exclude the pair with `between` instead"
                )
        result = {}
        for a, b in meeting(model, tuple(self.groups(model))):
            first, second = sites.kinds[a], sites.kinds[b]
            if self.table:
                if (a, b) not in given:
                    raise ModelError(f"{where}.table: sites of the kinds {first} and {second} have no law")
                result[a, b] = given.pop((a, b))
                continue
            for kind in (first, second):
                if kind not in self.parameters:
                    raise ModelError(f"{where}.parameters: the kind '{kind}' is missing")
            one, two = self.parameters[first], self.parameters[second]
            epsilon = math.sqrt(float(one.epsilon) * float(two.epsilon))
            s, t = float(one.sigma), float(two.sigma)
            sigma6 = (math.sqrt(s * t) if self.mixing == "geometric" else 0.5 * (s + t)) ** 6
            result[a, b] = (4.0 * epsilon * sigma6 * sigma6, 4.0 * epsilon * sigma6, 0.0)
            charged = (sites.charge[sites.kind == a] != 0.0).any() and (sites.charge[sites.kind == b] != 0.0).any()
            if epsilon == 0.0 and not charged:
                raise ModelError(
                    f"{where}.parameters: {first} and {second} exert no force on each other: their epsilon is zero "
                    "and they have no charges; exclude the pair with `between` instead"
                )
        if given:
            a, b = next(iter(given))
            raise ModelError(f"{where}.table: no {sites.kinds[a]} interacts with a {sites.kinds[b]}; remove their law")
        return result

    def groups(self, model: Model) -> list[tuple[int, int]]:
        """Return the pairs of groups that interact, by indices."""
        names = model.sites.groups
        if self.between is None:
            return list(combinations_with_replacement(range(len(names)), 2))
        return [(names.index(g), names.index(h)) for g, h in self.between]

    def hard_cores(self, model: Model, where: str = "site-pairs") -> HardCores:
        """Return the hard cores that replace A/r¹²; raises ModelError if a law defines none or a number is out of
        bounds."""
        order, moving = _order(model)
        soft = _Runs(model, self.model_copy(update={"repulsion": "soft"}), where, order)
        laws = ((order[i], order[j], law) for i in range(moving) for lo, hi, law in soft.of(i) for j in range(lo, hi))
        return gather_cores(model, laws, self, where)

    def goes_side_by_side(self) -> bool:
        """See :class:`Force`. False with hard cores, because each state has its own impacts."""
        return self.repulsion == "soft"

    def check_adjoint(self, where: str) -> None:
        """See :class:`Force`. Speeds jump in the impacts of hard cores."""
        if self.repulsion == "impact":
            raise ModelError(
                f"{where}.repulsion: derivatives of runs with impacts are unknown; set it to 'soft', or use "
                "finite differences of runs"
            )

    def momentum_changes(self, model: Model) -> str | None:
        """See :class:`Force`. It conserves the momentum if no site is on the ground."""
        return OUTSIDE if sites_on_ground(model) else None

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> Pairs:
        """See :class:`Force`. The table holds all pairs as runs of partners with one law."""
        link = model.site_links
        local = np.array([_place(model, s) for s in range(link.size)]).reshape(-1, 3)
        order, moving = _order(model)
        start, low, high, law = [0], [], [], []
        runs = _Runs(model, declared[0][1], declared[0][0], order)
        for i in range(moving):
            for first, last, abc in runs.of(i):
                low.append(first)
                high.append(last)
                law.append(abc)
            start.append(len(low))
        return Pairs(
            link[order][:moving],
            np.ascontiguousarray(local[order][:moving]),
            np.array(start, dtype=np.int64),
            np.array(low, dtype=np.int64),
            np.array(high, dtype=np.int64),
            np.array(law, dtype=np.float64).reshape(-1, 3),
            np.ascontiguousarray(local[order].T),
        )

    @classmethod
    def channels(cls, table: Pairs) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (POTENTIAL,), ()

    @classmethod
    def in_lanes(cls, table: Pairs) -> Any:
        """See :class:`Force`."""
        place: Any = LaneArray.zeros(table.place.shape)
        place.numbers[:] = table.place[:, :, None]
        return table._replace(place=place)

    @classmethod
    def reads_speeds(cls, table: Pairs) -> bool:
        """See :class:`Force`."""
        return False

    @classmethod
    def fill(cls, table: Pairs, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield pair_wrenches.bind(table, at.ws, at.channels.wrench[POTENTIAL])

    @classmethod
    def energy(cls, table: Pairs, at: EnergyAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield pair_energy.bind(table, at.ws, at.result)

    @classmethod
    def adjoint(cls, table: Pairs, gradient: Pairs, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield pair_adjoint.bind(table, gradient, at.ws, at.motion, np.zeros(table.place.shape), at.by_place)

    @classmethod
    def tangent(cls, table: Pairs, change: Pairs, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        shift = np.zeros(table.place.shape)
        yield pair_tangent.bind(table, change, at.ws, at.moved, at.twist, shift, at.wrench)

    @classmethod
    def coarsen(cls, table: Pairs, merging: Merging, links: int, speeds: int) -> Pairs:
        """See :class:`Force`. Runs of partners, without sites that are merged into the same coarse link."""
        moving, fixed = table.link.size, table.place.shape[1] - table.link.size
        link = np.concatenate([merging.link[table.link], np.full(fixed, -1)])
        place = np.concatenate([merging.points(table.link, table.local), table.place[:, moving:].T])
        order = np.concatenate([np.flatnonzero(link >= 0), np.flatnonzero(link < 0)])
        rank = np.empty(order.size, dtype=np.int64)
        rank[order] = np.arange(order.size)
        length = table.high - table.low
        run = np.repeat(np.arange(length.size), length)
        partner = np.arange(run.size) - np.repeat(np.cumsum(length) - length, length) + table.low[run]
        site = np.repeat(np.repeat(np.arange(moving), np.diff(table.start)), length)
        left = (link[site] != link[partner]) & (link[site] >= 0)
        site, partner, run = rank[site[left]], rank[partner[left]], run[left]
        by = np.lexsort((partner, run, site))
        site, partner, run = site[by], partner[by], run[by]
        # A run ends if the site or the law changes, or if partners are not contiguous.
        new = np.ones(site.size, dtype=bool)
        new[1:] = (site[1:] != site[:-1]) | (run[1:] != run[:-1]) | (partner[1:] != partner[:-1] + 1)
        begins = np.flatnonzero(new)
        ends = np.append(begins[1:], site.size) - 1
        count = int((link >= 0).sum())
        start = np.searchsorted(site[begins], np.arange(count + 1))
        return Pairs(
            link[order][:count],
            np.ascontiguousarray(place[order][:count]),
            start.astype(np.int64),
            partner[begins] if begins.size else np.zeros(0, dtype=np.int64),
            partner[ends] + 1 if begins.size else np.zeros(0, dtype=np.int64),
            np.ascontiguousarray(table.law[run[begins]]),
            np.ascontiguousarray(place[order].T),
        )

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self | None:
        """See :class:`Force`."""
        if self.excluded_joints:
            raise ModelError(
                f"{where}.excluded_joints: the number of joints between two sites changes when joints are locked; "
                "exclude pairs with `between`, or use forces between sites with [[forces]] kind = 'exclusions'"
            )
        return self


def _order(model: Model) -> tuple[np.ndarray, int]:
    """Order of the sites in the tables, and the number of moving sites, which come first. Within each part sites are
    sorted by group, kind and charge, so that partners with one law are contiguous."""
    sites, link = model.sites, model.site_links
    return np.lexsort((sites.charge, sites.kind, sites.group, link < 0)), int((link >= 0).sum())


def _place(model: Model, site: int) -> np.ndarray:
    body, position = int(model.sites.body[site]), model.sites.position[site]
    return position if body < 0 or model.sites_on_nodes[site] else on_link(model, body, position)


class _Runs:
    """Finds the runs of partners of a site."""

    def __init__(self, model: Model, force: SitePairs, where: str, order: np.ndarray) -> None:
        sites = model.sites
        self.body, self.group = sites.body[order], sites.group[order]
        self.kind, self.charge = sites.kind[order], sites.charge[order]
        self.laws = force.laws(model, where)
        self.table, self.hard = bool(force.table), force.repulsion == "impact"
        self.coulomb = model.units.coulomb / float(force.relative_permittivity)
        self.allowed = {pair for g, h in force.groups(model) for pair in ((g, h), (h, g))}
        self.joints, self.model = force.excluded_joints, model
        self.link = np.where(self.body < 0, -1, model.link[self.body])
        self.near: dict[int, np.ndarray] = {}
        # Contiguous blocks of partners of equal group, kind and charge.
        alike = np.stack([self.group, self.kind, self.charge, (self.link < 0).astype(float)], axis=1)
        edges = np.flatnonzero((np.diff(alike, axis=0) != 0.0).any(axis=1)) + 1
        self.blocks = list(zip([0, *edges.tolist()], [*edges.tolist(), len(order)], strict=True))

    def of(self, i: int) -> list[tuple[int, int, tuple[float, float, float]]]:
        """Return (first, last, law) of each run of partners of site i."""
        found: list[tuple[int, int, tuple[float, float, float]]] = []
        excluded = np.flatnonzero(np.isin(self.link, self._near(int(self.link[i]))) & (self.link >= 0))
        if -1 in self._near(int(self.link[i])):
            excluded = np.union1d(excluded, np.flatnonzero(self.link < 0))
        for first, last in self.blocks:
            if (int(self.group[i]), int(self.group[first])) not in self.allowed:
                continue
            a, b = sorted((int(self.kind[i]), int(self.kind[first])))
            if (a, b) not in self.laws:  # only for a pair of one kind with a single site
                continue
            A, B, C = self.laws[a, b]
            if not self.table:
                C += self.coulomb * self.charge[i] * self.charge[first]
            if self.hard:
                A = 0.0
            inside = excluded[(excluded >= first) & (excluded < last)].tolist()
            edges = [first - 1, *inside, last]
            found.extend((lo + 1, hi, (A, B, C)) for lo, hi in pairwise(edges) if hi > lo + 1)
        return found

    def _near(self, link: int) -> np.ndarray:
        """Links within the excluded number of joints of a link, including itself; the ground is −1."""
        if link not in self.near:
            parent, kind = self.model.jointed, self.model.forest.kind
            # A joint that leaves all translations free does not connect its bodies.
            bond = ~np.isin(kind, UNBOUND)
            distance = {link: 0}
            fringe = [link]
            for step in range(1, self.joints + 1):
                if not fringe:
                    break
                reached: list[int] = []
                for i in fringe:
                    if i >= 0 and bond[i]:
                        reached.append(int(parent[i]))
                    reached.extend(np.flatnonzero((parent == i) & bond).tolist())
                fringe = [i for i in reached if i not in distance]
                distance.update(dict.fromkeys(fringe, step))
            self.near[link] = np.array(sorted(distance))
        return self.near[link]


@jit
def place_sites(pairs, ws):
    """Compute the world positions of the moving sites."""
    links, local, rotation, position, site = pairs.link, pairs.local, ws.rotation, ws.position, pairs.place
    x, y, z = site[0], site[1], site[2]
    for s in range(links.size):
        i = links[s]
        p = add(load(position, i), apply(load_matrix(rotation, i), load(local, s)))
        x[s], y[s], z[s] = p[0], p[1], p[2]


@pass_of
def pair_wrenches(pairs, ws, wrench):
    """Add −∇U at every moving site to its link's wrench. The pair list is full: each site sums over its own partners in
    a fixed order, so that two threads never write to the same number."""
    place_sites(pairs, ws)
    site = pairs.place
    links, start, low, high, law = pairs.link, pairs.start, pairs.low, pairs.high, pairs.law
    position = ws.position
    x, y, z = site[0], site[1], site[2]
    for s in range(links.size):
        fx, fy, fz = 0.0, 0.0, 0.0
        xs, ys, zs = x[s], y[s], z[s]
        for run in range(start[s], start[s + 1]):
            A, B, C = law[run, 0], law[run, 1], law[run, 2]
            for p in range(low[run], high[run]):  # the compiler vectorises this loop
                dx, dy, dz = xs - x[p], ys - y[p], zs - z[p]
                _, g, _ = site_law(dx * dx + dy * dy + dz * dz, A, B, C)
                fx += g * dx
                fy += g * dy
                fz += g * dz
        i = links[s]
        f = (fx, fy, fz)
        o = load(position, i)
        arm = (xs - o[0], ys - o[1], zs - o[2])
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), f))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), cross(arm, f)))


@pass_of
def pair_energy(pairs, ws, result):
    """Add Σ U over pairs; a pair of moving sites is in the lists of both sites, with half of its energy in each."""
    place_sites(pairs, ws)
    site = pairs.place
    links, start, low, high, law = pairs.link, pairs.start, pairs.low, pairs.high, pairs.law
    moving = links.size
    x, y, z = site[0], site[1], site[2]
    total = 0.0
    for s in range(moving):
        for run in range(start[s], start[s + 1]):
            A, B, C = law[run, 0], law[run, 1], law[run, 2]
            share = 1.0 if low[run] >= moving else 0.5
            part = 0.0
            for p in range(low[run], high[run]):
                dx, dy, dz = x[s] - x[p], y[s] - y[p], z[s] - z[p]
                part += site_law(dx * dx + dy * dy + dz * dz, A, B, C)[0]
            total += share * part
    result[POTENTIAL] += total
