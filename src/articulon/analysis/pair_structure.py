"""Pair structure of particles, computed by freud (Ramasubramani et al., Comput. Phys. Commun. 254, 107275, 2020)."""

from typing import NamedTuple

import numpy as np

from articulon.analysis.run_models import model_of
from articulon.analysis.time_averages import first_frame
from articulon.errors import ArticulonError
from articulon.fidelity.settling import SETTLED
from articulon.inputs import number, shown, whole, words
from articulon.model import Model
from articulon.model.box import Box
from articulon.simulation.results import Run

MOST_BINS = 1_000_000


class RadialDistribution(NamedTuple):
    """Radial distribution function g(r): the density of particles around a particle over their mean density."""

    distances: np.ndarray
    """Centres of the bins [length], shape (bins,)."""
    values: np.ndarray
    """Values of g, shape (bins,)."""
    neighbours: np.ndarray
    """Mean number of particles within the outer edge of each bin, shape (bins,)."""


def radial_distribution(
    run: Run,
    kinds: tuple[str, str] | None = None,
    *,
    cutoff: float | None = None,
    bins: int = 100,
    skip: float = SETTLED,
) -> RadialDistribution:
    """Return the mean radial distribution function of the particles of a run in a periodic box.

    Parameters
    ----------
    run
        A run of free particles. Its box must be periodic in all directions, because a mean density exists only then.
    kinds
        Kind of the central particles, and kind of their neighbours; by default all particles.
    cutoff
        Largest distance [length]; by default 0.49 times the smallest distance between opposite faces of the box.
    bins
        Number of bins.
    skip
        Fraction of frames to omit at the start.

    Raises
    ------
    ArticulonError
        If freud is missing, a kind does not exist, or the box is not periodic.
    """
    model = model_of(run)
    bins, first = whole(bins, "bins", least=1, most=MOST_BINS, error=ArticulonError), first_frame(len(run.times), skip)
    pair = None if kinds is None else words(kinds, "kinds", ArticulonError)
    if pair is not None and len(pair) != 2:
        raise ArticulonError(
            f"kinds: expected two, of the central particles and of their neighbours, got {shown(kinds)}"
        )
    box = model.box
    if box is None or not box.periodic.all():
        raise ArticulonError("radial_distribution: there is no mean density without a box periodic in all directions")
    middle, around = (_bodies_of_kind(model, None if pair is None else kind) for kind in (pair or ("", "")))
    edges = np.asarray(run.boxes)[first:]
    faces = 1.0 / np.linalg.norm(np.linalg.inv(edges), axis=1)
    reach = 0.49 * float(faces.min()) if cutoff is None else number(cutoff, "cutoff", ArticulonError)
    if not 0.0 < reach < 0.5 * float(faces.min()):
        raise ArticulonError(
            f"cutoff: must be positive and less than half of the box, {0.5 * faces.min():g}, got {reach:g}"
        )
    try:
        return distribution_in_box(box, np.asarray(run.positions)[first:], middle, around, reach, bins, edges)
    except ImportError:
        raise ArticulonError("radial_distribution needs freud: pip install freud-analysis") from None


def distribution_in_box(
    box: Box,
    positions: np.ndarray,
    middle: np.ndarray,
    around: np.ndarray,
    reach: float,
    bins: int,
    edges: np.ndarray | None = None,
) -> RadialDistribution:
    """Return the mean radial distribution of the particles ``around`` the particles ``middle``.

    Both are indices of particles in ``positions``, shape (frames, particles, 3). ``reach`` is the largest distance
    [length] and must be less than half of the periodic box. ``edges`` are the edges of the box in each frame, shape
    (frames, 3, 3), by default those of ``box``. Raises ImportError if freud is not installed.
    """
    import freud

    rdf = freud.density.RDF(bins=bins, r_max=reach)
    same = middle.size == around.size and bool((middle == around).all())
    origin = np.array([float(x) for x in box.origin])
    found, counts = np.zeros(bins), np.zeros(bins)
    for k, one in enumerate(positions):
        vectors = box.vectors if edges is None else edges[k]
        (lx, ly, lz), (xy, xz, yz) = np.diag(vectors), (vectors[1, 0], vectors[2, 0], vectors[2, 1])
        # freud takes HOOMD's tilt factors xy and xz, which are divided by the lengths of the box along y and z.
        cell = freud.box.Box(lx, ly, lz, xy / ly, xz / lz, yz / lz)
        centred = cell.wrap(one - origin - 0.5 * vectors.sum(axis=0))
        query = {"mode": "ball", "r_max": reach, "exclude_ii": same}
        # One call per frame, because g is relative to the density of particles in the box of that frame.
        rdf.compute((cell, centred[around]), query_points=centred[middle], neighbors=query)
        found += rdf.rdf
        counts += rdf.bin_counts
    frames = len(positions)
    return RadialDistribution(np.asarray(rdf.bin_centers), found / frames, np.cumsum(counts) / (middle.size * frames))


def _bodies_of_kind(model: Model, kind: str | None) -> np.ndarray:
    """Return the bodies with a site of the given kind, or with any site if ``kind`` is None; raises ArticulonError for
    a kind that does not exist."""
    sites = model.sites
    if kind is None:
        return np.unique(sites.body[sites.body >= 0])
    if kind not in sites.kinds:
        raise ArticulonError(f"there are no particles of the kind '{kind}'; the kinds are {', '.join(sites.kinds)}")
    found = sites.body[(sites.kind == sites.kinds.index(kind)) & (sites.body >= 0)]
    return np.unique(found)
