"""Check that no two sites repel each other too strongly at the start of a run."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.between import class_rows
from articulon.forces.sites.laws.lennard_jones import lennard_jones
from articulon.forces.sites.list_sizes import terms_of
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_terms import SumTerm
from articulon.forces.stokes_drag import drag_table
from articulon.kernel_variants import specialised
from articulon.model import Model

FAR_TOO_HOT = 1e4
"""Repulsive energy of a pair, divided by kT, above which the pair overlaps. It is not a thermal collision: to reach 10⁴
kT on a steep potential U ∝ r⁻¹², a particle needs a hundred times its thermal speed."""
STEEPNESS = 12.0
"""Exponent of this steep potential, from which U = F r/12."""
LOOKED_AT = 20
"""Number of sites that are examined, in the order of decreasing force."""


class Repulsion(NamedTuple):
    """A force that pushes a site away from another site or from a wall near it."""

    size: float
    """Force away from the other site or wall, positive [force]."""
    distance: float
    """Distance to the other site or wall [length]."""
    other: str
    """Name of the other site or wall."""
    law: str | None
    """Name of the pair law that pushes most; None if other forces than pair laws push."""


class Limits(NamedTuple):
    """Bounds on the forces that push a site at the start."""

    thermal: float
    """kT [energy]; 0 if there is no temperature."""
    step: float | None
    """Length of the first step, if fixed [time]."""
    mass: float
    """Mass of the body that carries the site [mass]."""
    drag: float
    """Stokes drag coefficient of this body [mass/time]; 0 without drag."""

    def heat(self, force: float, distance: float) -> float:
        """Return the energy F r/12 of the steep potential divided by kT; 0 without a temperature."""
        return force * distance / STEEPNESS / self.thermal if self.thermal > 0.0 else 0.0

    def displacement(self, force: float) -> float:
        """Return a bound on the displacement from rest in the first step h [length]. The displacement is F h²/2m
        without drag and F h/β without inertia; with both it is smaller than either, and the bound is the smaller of the
        two."""
        if self.step is None:
            return 0.0
        free = 0.5 * force * self.step**2 / self.mass if self.mass > 0.0 else np.inf
        return min(free, force * self.step / self.drag) if self.drag > 0.0 else free

    def exceeded(self, force: float, distance: float) -> bool:
        """Whether a force at a distance exceeds one of the bounds."""
        return self.heat(force, distance) > FAR_TOO_HOT or self.displacement(force) > distance


def check_sites_apart(evaluator: Evaluator, positions: np.ndarray, thermal: float, step: float | None) -> None:
    """Raise ModelError if two sites overlap. Two sites overlap if the force between them is not finite, or if its
    energy is far above the thermal energy. They also overlap if the force would push them, in the first step, by more
    than their distance. Attractions, and pairs without force, are not checked. The message names the two sites, their
    force and how to separate them.

    Parameters
    ----------
    evaluator
        The forces.
    positions
        Positions of the sites (sites, 3) [length].
    thermal
        kT at the start [energy]; 0 without a temperature.
    step
        Length of the first step, if fixed [time].
    """
    sites, model = evaluator.sites, evaluator.model
    forces = evaluator.on_sites(positions)
    size = np.linalg.norm(forces, axis=1)
    faulty = np.flatnonzero(~np.isfinite(size))
    if faulty.size:
        _raise_not_finite(sites, positions, int(faulty[0]))
    # The force of a pair acts on both of its sites, so sites on the ground can be left out.
    left = np.where(model.sites.body >= 0, size, -1.0)
    unlisted = any(isinstance(term, SumTerm) for term in terms_of(model))
    drag = drag_table(model).mass
    for _ in range(LOOKED_AT):
        site = int(np.argmax(left))
        if left[site] <= 0.0:
            return
        body = int(model.sites.body[site])
        link = int(model.link[body])
        limits = Limits(thermal, step, float(model.masses[body]), float(drag[link]) if link >= 0 else 0.0)
        vectors = nearest_image(model, positions[site] - positions)
        distance = np.linalg.norm(vectors, axis=1)
        distance[site] = np.inf
        gap, face = _wall(model, positions[site])
        near = min(gap, float(distance[partners(sites, site) | unlisted].min(initial=np.inf)))
        if not np.isfinite(near) or not limits.exceeded(size[site], near):
            return
        for repulsion in _repulsions(sites, site, forces[site], vectors, distance, (gap, face), unlisted):
            if limits.exceeded(repulsion.size, repulsion.distance):
                _raise_overlap(model, site, repulsion, limits)
        left[site] = -1.0


def partners(sites: SiteForces, site: int) -> np.ndarray:
    """Return a mask of the sites that interact with a site by a pair law, at any distance, shape (sites,)."""
    found = np.zeros(sites.sites, dtype=bool)
    for term in sites.pairs:
        rows = class_rows(sites.model, term, sites.classes)
        found |= rows[_rows_of(sites, site), 0] > 0.0
    found[sites.excluded[sites.excluded_start[site] : sites.excluded_start[site + 1]]] = False
    found[site] = False
    return found


def pair_repulsions(sites: SiteForces, site: int, distance: np.ndarray) -> np.ndarray:
    """Return −U'(r) of each pair law between a site and the other sites at the given distances, positive for repulsion
    [force], shape (laws, sites)."""
    model, charge = sites.model, sites.model.sites.charge
    k, charges = _rows_of(sites, site), model.units.coulomb * charge[site] * charge
    meets, r2 = partners(sites, site), distance**2
    result = np.zeros((len(sites.pairs), sites.sites))
    for n, term in enumerate(sites.pairs):
        rows = class_rows(model, term, sites.classes)
        near = np.flatnonzero(meets & (r2 < rows[k, 0]))
        repulsion = np.zeros(near.size)
        _kernel(term.law, term.name)(np.ascontiguousarray(rows), k[near], r2[near], charges[near], repulsion)
        result[n, near] = repulsion * distance[near]
    return result


LAW = lennard_jones
"""Placeholder for the pair law in :func:`repulsion_of_pairs`; compilation replaces it."""


def repulsion_of_pairs(rows, k, r2, charges, result):
    """Compute −U'(r)/r of a pair law, for given rows ``k`` of its table, squared distances and products of charges."""
    for j in range(result.size):
        result[j] = LAW(r2[j], rows, k[j], charges[j])[1]


@cache
def _kernel(law: Any, name: str) -> Any:
    """Return :func:`repulsion_of_pairs` compiled for a law. It is compiled only if a start may have overlaps."""
    cached = not name.startswith("user-pair")
    return specialised(repulsion_of_pairs, f"repulsion_of_pairs_{name}", cached=cached, called="python", LAW=law)


def nearest_image(model: Model, vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3) to the nearest images in the model's box."""
    box = model.box
    if box is not None and box.periodic.any():
        edges = box.vectors
        for k in (2, 1, 0):
            if box.periodic[k]:
                vectors = vectors - np.rint(vectors[:, k] / edges[k, k])[:, None] * edges[k]
    return vectors


def site_name(model: Model, site: int) -> str:
    """Return a readable name of a site: the name of its body, and the number of the site if the body has several
    sites."""
    body = int(model.sites.body[site])
    several = int((model.sites.body == body).sum()) > 1
    carrier = "the ground" if body < 0 else f"body '{model.names[body]}'"
    return f"site {site} of {carrier}" if several else carrier


def _rows_of(sites: SiteForces, site: int) -> np.ndarray:
    """Return the rows of a table of pair classes for one site with each site, shape (sites,)."""
    of_site = sites.classes.of_site
    rows: np.ndarray = of_site[site] * sites.classes.kind.size + of_site
    return rows


def _repulsions(
    sites: SiteForces,
    site: int,
    force: np.ndarray,
    vectors: np.ndarray,
    distance: np.ndarray,
    wall: tuple[float, str],
    unlisted: bool,
) -> list[Repulsion]:
    """Return the forces that push a site away. The first is from the site that the pair laws repel most. The second is
    the rest of the force, if other forces between sites act; it is assigned to the nearest site or wall."""
    by_law = pair_repulsions(sites, site, distance)
    total, found = by_law.sum(axis=0), []
    other = int(np.argmax(total))
    if total[other] > 0.0:
        law = sites.pairs[int(np.argmax(by_law[:, other]))].name
        found.append(Repulsion(float(total[other]), float(distance[other]), site_name(sites.model, other), law))
    if not unlisted:
        return found
    away = vectors / np.where(distance > 0.0, distance, 1.0)[:, None]
    away[site] = 0.0
    rest = force - total @ away
    other = int(np.argmin(distance))
    gap, face = wall
    if gap < distance[other]:
        found.append(Repulsion(float(np.linalg.norm(rest)), gap, f"the wall {face}", None))
    elif np.isfinite(distance[other]):
        size = float(rest @ away[other])
        found.append(Repulsion(size, float(distance[other]), site_name(sites.model, other), None))
    return found


def _wall(model: Model, point: np.ndarray) -> tuple[float, str]:
    """Return the distance of a point from the nearest wall that confines sites, and the name of this wall; infinite
    without walls."""
    walls = [force for force in model.forces if hasattr(force, "distances")]
    return min(((d, f) for force in walls for f, d in force.distances(model, point)), default=(np.inf, ""))


def _raise_not_finite(sites: SiteForces, positions: np.ndarray, site: int) -> None:
    model, name = sites.model, site_name(sites.model, site)
    if sites.sites == 1:
        raise ModelError(f"the force on {name} is not finite at the start of the run")
    distance = np.linalg.norm(nearest_image(model, positions[site] - positions), axis=1)
    distance[~np.isfinite(distance)] = np.inf
    distance[site] = np.inf
    meets = partners(sites, site)
    other = int(np.argmin(np.where(meets, distance, np.inf) if meets.any() else distance))
    gap, face = _wall(model, positions[site])
    second = f"the wall {face}" if gap < distance[other] else site_name(model, other)
    near = min(gap, float(distance[other]))
    if near == 0.0:
        raise ModelError(f"{name} and {second} begin at the same point, where no force separates them; move one")
    raise ModelError(
        f"{name} and {second} begin {near:.4g}{_unit(model, 'length')} apart, and the force on the first is not "
        f"finite: they overlap. {APART}"
    )


def _raise_overlap(model: Model, site: int, repulsion: Repulsion, limits: Limits) -> None:
    """Raise the ModelError for two sites that overlap."""
    length = _unit(model, "length")
    where = f"{site_name(model, site)} and {repulsion.other} begin {repulsion.distance:.4g}{length} apart"
    how = f"{repulsion.size:.3g}{_unit(model, 'force')}"
    force = (
        f"the law {repulsion.law} between them repels with {how}"
        if repulsion.law
        else f"the first is pushed away with {how}"
    )
    heat = limits.heat(repulsion.size, repulsion.distance)
    why = (
        f"F r/{STEEPNESS:.0f} is {heat:.2g} kT, above {FAR_TOO_HOT:.0e} kT"
        if heat > FAR_TOO_HOT
        else f"the first step of {limits.step:g}{_unit(model, 'time')} would move the first by "
        f"{limits.displacement(repulsion.size):.2g}{length}, more than their distance"
    )
    raise ModelError(f"{where}, and {force} ({why}): they overlap. {APART}")


APART = (
    "Move them apart, or minimise the energy first: run.minimise = true in the case, or q = articulon.minimise(model) "
    "in Python"
)
"""Advice for overlapping sites."""


def _unit(model: Model, name: str) -> str:
    """Return a space and the symbol of a unit; an empty string in reduced units."""
    return "" if model.units.mass is None else f" {model.units.label(name)}"
