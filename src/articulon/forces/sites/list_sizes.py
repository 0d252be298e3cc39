"""Parameters and capacities of a model's neighbour lists, known before anything is compiled."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.between import classes_of
from articulon.forces.sites.kind_lists import Sorts, sorts_of
from articulon.forces.sites.nearest_images import widths
from articulon.forces.sites.neighbours import SKIN, VECTOR
from articulon.forces.sites.site_positions import only_particles
from articulon.forces.sites.site_terms import PairTerm, SumTerm, Term
from articulon.model import Model
from articulon.sizes import check_size

IMAGE, NEIGHBOUR = 100, 4
"""Memory of an image of a site, and of an entry of a list [bytes]."""

FEW = 16
"""Number of neighbours up to which a list costs hardly more than a shorter one: two vector registers."""
WIDEST = 0.5
"""Largest skin of short lists, as a fraction of the cutoff."""


class Listing(NamedTuple):
    """Parameters of a model's neighbour lists."""

    sites: int
    """Number of sites between which forces act."""
    cutoff: float
    """Longest cutoff of all terms [length]."""
    skin: float
    """Skin beyond the cutoff [length]."""
    lists: bool
    """Whether any term sums over neighbours."""
    everything: bool
    """Whether all sites are neighbours, so that no list is needed."""
    sorts: Sorts | None = None
    """Sorts by which the lists depend on the kinds of sites; None if they do not."""


def terms_of(model: Model) -> list[Term]:
    """Return all terms between sites."""
    return [term for force in model.forces if hasattr(force, "site_terms") for term in force.site_terms(model)]


def has_site_forces(model: Model) -> bool:
    """Whether a model has site forces, or consists of particles only."""
    return any(hasattr(force, "site_terms") for force in model.forces) or only_particles(model)


def listing_of(model: Model, terms: Sequence[Term]) -> Listing:
    """Return the parameters of the lists for the terms of a model; raises ModelError for a force without a cutoff in a
    periodic box."""
    sites = model.sites.body.size if has_site_forces(model) else 0
    pairs = [term for term in terms if isinstance(term, PairTerm)]
    cutoffs = [term.cutoff for term in pairs]
    cutoffs += [term.reach for term in terms if isinstance(term, SumTerm) and term.reach > 0.0]
    cutoff = max(cutoffs, default=0.0)
    periodic = bool(np.isfinite(widths(model)).any())
    if periodic and not np.isfinite(cutoff):
        raise ModelError("a pair force in a periodic box needs a cutoff; give it one")
    lists = bool(cutoffs)
    restricted = any(term.between is not None for term in pairs)
    everything = lists and bool(np.isinf(cutoffs).all()) and not periodic and not restricted
    skins = [term.skin for term in terms if isinstance(term, PairTerm | SumTerm) and term.skin is not None]
    skin = max(skins) if skins else _default_skin(model, sites, cutoff)
    sorts = sorts_of(model, terms, classes_of(model, terms)) if sites and lists and not everything else None
    return Listing(sites, cutoff, skin, lists, everything, sorts)


def _default_skin(model: Model, sites: int, cutoff: float) -> float:
    """Default skin beyond the cutoff, if no force gives one [length].

    Short lists cost little more than empty ones, but rebuilding them costs a lot: with few neighbours within the cutoff
    the skin is wider, until a list holds ``FEW``.
    """
    if not np.isfinite(cutoff):
        return np.inf
    wide, box = 0.0, model.box
    if sites and box is not None and box.periodic.all():
        wide = min((FEW * box.volume / (4.0 / 3.0 * np.pi * sites)) ** (1.0 / 3.0) - cutoff, WIDEST * cutoff)
    return max(SKIN * cutoff, wide)


def room_for(model: Model, listing: Listing) -> tuple[int, int]:
    """Return the capacities for images and for neighbours of a site: those of a uniform distribution, with a margin.

    Raises
    ------
    ModelError
        If the lists exceed the memory.
    """
    n, box = listing.sites, model.box
    if not listing.lists or listing.everything:
        return 1, 1
    if not np.isfinite(listing.cutoff):
        check_size(float(n) ** 2, NEIGHBOUR, "pairs of neighbours", "forces", "give them a cutoff", ModelError)
        return 1, n + 3 * VECTOR
    reach = np.float64(listing.cutoff + listing.skin)
    with np.errstate(over="ignore"):
        if box is None:
            volume = max(n * np.float64(0.5 * listing.cutoff) ** 3, 1e-300)
            density, images = n / volume, 1.0
        else:
            density = n / box.volume
            images = float(np.prod(1.0 + np.where(box.periodic, 2.0 * reach / widths(model), 0.0)))
        near = min(density * 4.0 / 3.0 * np.pi * reach**3, 1e18)
    advice = "give the forces a shorter cutoff and skin, or use a larger box"
    where = f"forces: a cutoff of {listing.cutoff:.4g} and a skin of {listing.skin:.4g}"
    check_size(n * images, IMAGE, "images of sites", where, advice, ModelError)
    neighbours = min(int(1.15 * near) + 8, n * int(np.ceil(images) + 1) + 2 * VECTOR)
    check_size(float(n) * neighbours, NEIGHBOUR, "neighbours of sites", where, advice, ModelError)
    return int(1.1 * n * (images - 1.0)) + 128, neighbours // VECTOR * VECTOR + 3 * VECTOR


def check_listing(model: Model) -> None:
    """Raises ModelError if the lists of a model's site forces lack a cutoff or exceed the memory."""
    if has_site_forces(model):
        room_for(model, listing_of(model, terms_of(model)))
