"""Arrays that the kernels of site forces read and write."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from articulon.kernels import jit
from articulon.lanes import WIDTH, LaneArray

MEASURES = 8
ENERGY, W_XX, W_YY, W_ZZ, W_XY, W_XZ, W_YZ, LAPLACIAN = range(MEASURES)
"""Components of a term's measure: energy, virial W_ab = Σ F_a r_b [energy] and Laplacian Σ_i ∇_i² U over all sites
[energy/length²]."""


class Cell(NamedTuple):
    """The box as kernels read it; without periodic directions it only gives the position of walls."""

    vectors: np.ndarray
    """Edges a = (lx, 0, 0), b = (xy, ly, 0) and c = (xz, yz, lz), one a row [length], shape (3, 3)."""
    inverse: np.ndarray
    """Inverse of the matrix of edges, r = s @ vectors [1/length], shape (3, 3)."""
    origin: np.ndarray
    """Corner from which the edges start [length], shape (3,)."""
    periodic: np.ndarray
    """1 if the direction of an edge is periodic, shape (3,)."""


class SiteTable(NamedTuple):
    """Table of one term."""

    rows: np.ndarray
    """Parameters: for a pair law, a row for each ordered pair of kinds (k = first * kinds + second); for a bonded term,
    a row for each member; shape (rows, width)."""
    members: np.ndarray
    """Sites of each member of a bonded term, −1 where there are fewer than four, shape (members, 4)."""
    constants: np.ndarray
    """Numbers that hold for all rows."""


def aligned(array: np.ndarray) -> np.ndarray:
    """Return a copy aligned for vector instructions."""
    if array.dtype != np.float64:
        return array.copy()
    memory = LaneArray.zeros((-(-array.size // WIDTH),)).numbers.reshape(-1)[: array.size]
    memory[:] = array.reshape(-1)
    return memory.reshape(array.shape)


class Particles(NamedTuple):
    """Sites in the order of cells, with their images. All but ``reference``, which belongs to the state, can be
    recomputed."""

    site: np.ndarray
    """Positions of the sites, unwrapped, as in the model [length], shape (3, sites)."""
    reference: np.ndarray
    """Positions at the last rebuild of the lists, shape (3, sites); NaN before the first."""
    place: np.ndarray
    """Place of each site in cell order, shape (sites,)."""
    order: np.ndarray
    """Site at each place, shape (sites,)."""
    wrap: np.ndarray
    """Shift added to a site's position to wrap it into the box, in cell order [length], shape (3, sites)."""
    x: np.ndarray
    """x coordinates in cell order, then those of images across periodic faces, and last the padding place, far from
    everything [length], shape (capacity,)."""
    y: np.ndarray
    """y coordinates in the same order."""
    z: np.ndarray
    """z coordinates in the same order."""
    kind: np.ndarray
    """Kind, in the same order, shape (capacity,)."""
    charge: np.ndarray
    """Charge, in the same order, shape (capacity,)."""
    packed: np.ndarray
    """x, y, z and charge side by side in the same order: a neighbour is read in one piece, shape (capacity, 4)."""
    parent: np.ndarray
    """Place of the original site of each image, shape (images,)."""
    shift: np.ndarray
    """Shift from the original site to the image [length], shape (3, images)."""
    fx: np.ndarray
    """x components of the forces in cell order, shape (sites,)."""
    fy: np.ndarray
    """y components of the forces in cell order, shape (sites,)."""
    fz: np.ndarray
    """z components of the forces in cell order, shape (sites,)."""
    counts: np.ndarray
    """Number of images, whether the capacity was exceeded, number of rebuilds, and whether a position is not finite,
    shape (4,)."""


@jit
def pack(particles, p):
    """Store a place's position and charge side by side."""
    packed = particles.packed
    packed[p, 0], packed[p, 1], packed[p, 2] = particles.x[p], particles.y[p], particles.z[p]
    packed[p, 3] = particles.charge[p]


@jit
def add_virial(result, force, place):
    """Add F_a r_b of a site; off-diagonal components are the mean of the two orders."""
    result[W_XX] += force[0] * place[0]
    result[W_YY] += force[1] * place[1]
    result[W_ZZ] += force[2] * place[2]
    result[W_XY] += 0.5 * (force[0] * place[1] + force[1] * place[0])
    result[W_XZ] += 0.5 * (force[0] * place[2] + force[2] * place[0])
    result[W_YZ] += 0.5 * (force[1] * place[2] + force[2] * place[1])


class Neighbours(NamedTuple):
    """A neighbour list. A full list has every pair in the rows of both sites, so that no two rows write to one place. A
    list for contacts is half: it has each pair in the row of the lower place only."""

    places: np.ndarray
    """Places of the neighbours of each place, in a fixed order, then the padding place up to a whole number of vectors,
    shape (sites, capacity)."""
    number: np.ndarray
    """Number of neighbours of each place, shape (sites,)."""
    excluded_start: np.ndarray
    """First excluded partner of each site, shape (sites + 1,)."""
    excluded: np.ndarray
    """Sites that are never neighbours of a site, however near, sorted."""
    first: np.ndarray
    """For lists by kind, number of neighbours that come first in the list of a place, because a law other than that of
    charges acts on them; padded to whole vectors, shape (sites,)."""


class Grid(NamedTuple):
    """Cells; scratch that is filled at every rebuild."""

    reach: np.ndarray
    """Distance within which neighbours are listed, and half the skin squared [length, length²]. For lists by kind, the
    squared listing distance of each ordered pair of sorts of sites follows; it is negative for pairs with only a law of
    charges, and 0 for pairs that are not listed."""
    corner: np.ndarray
    """Lowest coordinates of any site or image [length], shape (3,)."""
    edge: np.ndarray
    """Edge of a cell [length], shape (1,)."""
    size: np.ndarray
    """Number of cells in each direction; how many cells away a neighbour can be; whether sites are listed only with
    later ones and with images; layers of cells in a slab; and the desired distance of a site's neighbours in the order
    of cells, or 0 for slabs of one layer; shape (7,). For lists by kind, the number of sorts of sites and the sort of
    each kind follow."""
    cell: np.ndarray
    """Cell of each site in the model's order, then of each image in the order of creation."""
    start: np.ndarray
    """First site of each cell, shape (cells + 1,)."""
    image_start: np.ndarray
    """First image of each cell, shape (cells + 1,)."""
    made: np.ndarray
    """Positions of images in the order of creation [length], shape (3, images)."""
    made_parent: np.ndarray
    """Places of the original sites of images in the order of creation, shape (images,)."""
    made_shift: np.ndarray
    """Shifts of images in the order of creation, and before that the sites' shifts into the box [length]."""
    extent: np.ndarray
    """Lowest and highest coordinates of blocks of sites in the box, and a sum of them, shape (blocks, 7)."""
    images: np.ndarray
    """Number of images that each site, and each earlier image, has across an axis, below and above, shape (sites +
    images, 2)."""
    blocks: np.ndarray
    """Number of images of each block of sites, and later the index of the first of them, shape (blocks,)."""
    limits: np.ndarray
    """For lists by kind, the squared distance within which each place is a neighbour of sites of each sort, with the
    signs of ``reach``, shape (sorts, capacity)."""


class SiteSystem(NamedTuple):
    """All arrays of sites and their terms that kernels read and write."""

    cell: Cell
    particles: Particles
    neighbours: Neighbours
    grid: Grid
    kinds: np.ndarray
    """Kind of each site, or the class that takes its role (``between.py``), shape (sites,)."""
    charges: np.ndarray
    """Charge of each site, shape (sites,)."""
    link: np.ndarray
    """Link that carries each site, −1 for the ground, shape (sites,)."""
    local: np.ndarray
    """Position in the link's frame, or in the world [length], shape (sites, 3)."""
    tables: tuple[SiteTable, ...]
    """Table of each term."""
    level: np.ndarray
    """Level of each term, shape (terms,)."""


def example_types() -> tuple[types.Type, ...]:
    """Numba types of (table, cell, particles, neighbours)."""
    table = SiteTable(np.zeros((1, 1)), np.zeros((1, 4), dtype=np.int64), np.zeros(1))
    cell = Cell(np.eye(3), np.eye(3), np.zeros(3), np.zeros(3, dtype=np.int64))
    return tuple(_typeof(value) for value in (table, cell, empty_particles(1, 1, 1), empty_neighbours(1, 1)))


def _typeof(value: Any) -> types.Type:
    import numba

    return numba.typeof(value)


def empty_particles(sites: int, images: int, beyond: int) -> Particles:
    """Allocate arrays for given numbers of sites and images, with padding."""
    capacity = sites + images + beyond
    place = np.arange(sites, dtype=np.int64)
    return Particles(
        site=np.zeros((3, sites)),
        reference=np.full((3, sites), np.nan),
        place=place,
        order=place.copy(),
        wrap=np.zeros((3, sites)),
        x=np.zeros(capacity),
        y=np.zeros(capacity),
        z=np.zeros(capacity),
        kind=np.zeros(capacity, dtype=np.int32),
        charge=np.zeros(capacity),
        packed=LaneArray.zeros((capacity,), 4).numbers,
        parent=np.zeros(images, dtype=np.int32),
        shift=np.zeros((3, images)),
        fx=np.zeros(sites),
        fy=np.zeros(sites),
        fz=np.zeros(sites),
        counts=np.zeros(4, dtype=np.int64),
    )


def empty_neighbours(sites: int, capacity: int) -> Neighbours:
    """Allocate lists of at most ``capacity`` neighbours."""
    return Neighbours(
        np.zeros((sites, capacity), dtype=np.uint32),
        np.zeros(sites, dtype=np.int64),
        np.zeros(sites + 1, dtype=np.int64),
        np.zeros(0, dtype=np.int64),
        np.zeros(sites, dtype=np.int64),
    )


EXAMPLE_TYPES = example_types()
FORCES = types.void(*EXAMPLE_TYPES)
"""Signature of a function that adds a term's forces to ``fx``, ``fy`` and ``fz``."""
MEASURE = types.void(*EXAMPLE_TYPES, types.float64[::1])
"""Signature of a function that adds a term's measures (8,) to its last argument."""
