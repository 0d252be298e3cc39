"""Cells and neighbour lists of particles on a device, rebuilt from the positions.

The contents and the order of the lists depend only on the positions: particles are sorted by cell and, within a cell,
by their number in the model (a stable radix sort), and the surrounding cells are visited in a fixed order. So the
positions at the last rebuild fix the order of all sums.
"""

from typing import Any, NamedTuple

import numpy as np

from articulon.gpu import particle_moves as moves
from articulon.gpu.devices import load_warp
from articulon.gpu.particle_places import AROUND, Places

wp: Any = load_warp()


SPARE = 64
"""Number of cells allowed in addition to one per particle."""
ROUNDING = 1e-12
"""Relative excess of the cell width, which allows for rounding of coordinates."""
FIRST_ROOM = 32
"""Initial capacity of the lists: neighbours of each particle."""


class Space(NamedTuple):
    """The box, as in :class:`articulon.forces.sites.site_tables.Cell`."""

    vectors: np.ndarray
    """Edges as rows [length], shape (3, 3)."""
    inverse: np.ndarray
    """Inverse of the edge matrix [1/length], shape (3, 3)."""
    origin: np.ndarray
    """Corner from which the edges start [length], shape (3,)."""
    periodic: np.ndarray
    """1 where the direction of an edge is periodic, else 0, shape (3,)."""

    @property
    def across(self) -> np.ndarray:
        """Distances between opposite faces [length], shape (3,)."""
        return 1.0 / np.linalg.norm(self.inverse, axis=0)

    @property
    def least(self) -> float:
        """Smallest distance between periodic faces, infinity without any [length]."""
        return float(np.where(self.periodic != 0, self.across, np.inf).min())

    def numbers(self) -> np.ndarray:
        """Return all numbers of the box in one array for kernels, shape (24,)."""
        return np.concatenate([self.vectors.ravel(), self.inverse.ravel(), self.origin, self.periodic.astype(float)])

    def spanning(self, low: np.ndarray, high: np.ndarray, reach: float) -> "Space":
        """Return the box with edges in open directions that span the coordinates from low to high at least twice, so
        that fractional coordinates differ by less than a half while a list is valid."""
        vectors, inverse, origin = self.vectors.copy(), self.inverse.copy(), self.origin.copy()
        for a in np.flatnonzero(self.periodic == 0):
            span = 2.0 * (high[a] - low[a]) + 8.0 * reach / self.across[a]
            vectors[a] *= span
            inverse[:, a] /= span
            origin += (0.5 * (low[a] + high[a]) - 0.5 * span) * self.vectors[a]
        return Space(vectors, inverse, origin, self.periodic)


class NeighbourLists:
    """The neighbour lists of some particles, and the particles in cell order.

    Parameters
    ----------
    device
        Warp's device.
    places
        Kernels in the chosen precision.
    masses
        Masses of the particles [mass], shape (n,).
    kinds
        Kinds of the particles, shape (n,).
    space
        The box.
    cutoff, skin
        Largest cutoff, and the distance beyond it up to which neighbours are listed [length].
    """

    def __init__(
        self,
        device: Any,
        places: Places,
        masses: np.ndarray,
        kinds: np.ndarray,
        space: Space,
        cutoff: float,
        skin: float,
    ) -> None:
        self.device, self.places, self.space, self.particles = device, places, space, masses.size
        self.reach = cutoff + skin
        self.limit = 0.25 * skin * skin
        n = self.particles
        self.moving = moves.Moving()
        for name in ("x", "v", "wrap", "reference"):
            setattr(self.moving, name, self.empty(n, wp.vec3d))
        self.moving.inverse_mass, self.moving.heat = self.empty(n, wp.float64), self.empty(n, wp.float64)
        self.moving.kind, self.moving.order = self.empty(n, wp.int32), self.empty(n, wp.int32)
        self.near = self.empty(n, places.point)
        self.inverse_mass = self.array(1.0 / masses, wp.float64)
        self.kind = self.array(kinds, wp.int32)
        self.cell = self.array(space.numbers(), wp.float64)
        self.frame = self.array(space.numbers(), wp.float64)
        self.frame_of_pairs = self.array(space.numbers(), places.real)
        self.grid, self.shape = self.empty(6, wp.float64), self.empty(6, wp.int32)
        self.keys, self.order = self.empty(2 * n, wp.int32), self.empty(2 * n, wp.int32)
        self.start = self.empty(n + SPARE + 1, wp.int32)
        self.number, self.needed = self.empty(n, wp.int32), self.empty(1, wp.int32)
        self.neighbours = self.empty((FIRST_ROOM, n), wp.int32)
        self._recorded: dict[tuple[Any, ...], Any] = {}
        self._cells = 0
        self.open = bool((space.periodic == 0).any())
        blocks = -(-n // moves.BLOCK)
        self.low, self.high = self.empty(blocks, wp.vec3d), self.empty(blocks, wp.vec3d)
        # Nearest images give the distance between particles only up to half of the least width. If lists reach further,
        # every particle in the surrounding cells is listed.
        self.near_enough = np.inf if self.reach > 0.5 * space.least else self.reach**2
        if places.real is wp.float32:
            self.near_enough *= 1.0 + 1e-5  # allows for the rounding of distances in single precision
        self.rebuilds = 0
        """Number of rebuilds so far."""

    def empty(self, shape: Any, dtype: Any) -> Any:
        """Return an array of zeros on the device."""
        return wp.zeros(shape, dtype=dtype, device=self.device)

    def array(self, values: np.ndarray, dtype: Any) -> Any:
        """Return an array with values on the device."""
        return wp.array(np.ascontiguousarray(values), dtype=dtype, device=self.device)

    def launch(self, kernel: Any, dim: Any, *arguments: Any) -> None:
        """Launch a kernel. The prepared call is cached for equal arguments, because its preparation in Python takes
        longer than a small kernel on a GPU."""
        key = (id(kernel), dim, *map(told_apart, arguments))
        if key not in self._recorded:
            self._recorded[key] = wp.launch(kernel, dim=dim, inputs=arguments, device=self.device, record_cmd=True)
        self._recorded[key].launch()

    def rebuild(self, x: Any, v: Any, heat: Any) -> None:
        """Sort particles by their coordinates, with their velocities and heats, all in the order of the model, and list
        their neighbours. If the capacity was exceeded, ``needed`` holds the length of the longest list."""
        n, cells = self.particles, self._lay_grid(x)
        self.launch(moves.number_cells, n, x, self.cell, self.grid, self.shape, self.keys, self.order)
        wp.utils.radix_sort_pairs(self.keys, self.order, n, 0, max(int(cells - 1).bit_length(), 1))
        self.launch(moves.start_cells, n, self.keys, n, cells, self.start)
        self.launch(
            self.places.distribute,
            n,
            *(x, v, heat, self.inverse_mass, self.kind, self.order, self.cell, self.frame, self.moving, self.near),
        )
        self._list()
        self.rebuilds += 1

    def _list(self) -> None:
        self.needed.zero_()
        self.launch(
            self.places.list_neighbours,
            self.particles,
            *(self.near, self.frame_of_pairs, self.keys, self.start, self.shape),
            *(self.places.real(self.near_enough), self.number, self.neighbours, self.needed),
        )

    def make_room(self) -> None:
        """List neighbours again with a larger capacity, if it was exceeded."""
        while needed := int(self.needed.numpy()[0]):
            self.neighbours = self.empty((needed + needed // 8 + 4, self.particles), wp.int32)
            self._list()

    def _lay_grid(self, x: Any) -> int:
        """Choose cells of half the reach over the occupied space, or larger ones if they would outnumber the particles;
        return their number."""
        if self._cells and not self.open:
            return self._cells
        low, extent, across = np.zeros(3), np.ones(3), self.space.across
        if self.open:
            self.launch(moves.find_extent, self.low.size, x, self.cell, self.low, self.high)
            least, most = self.low.numpy().min(axis=0), self.high.numpy().max(axis=0)
            unbounded = self.space.periodic == 0
            low[unbounded], extent[unbounded] = least[unbounded], (most - least)[unbounded]
            if self.places.real is wp.float32:
                spanning = self.space.spanning(least, most, self.reach).numbers()
                self.frame.assign(spanning)
                self.frame_of_pairs.assign(spanning.astype(np.float32))
        # A non-finite position ends the run elsewhere, with an error that names its particle; here it gives one cell.
        with np.errstate(invalid="ignore"):
            wanted = np.floor(AROUND * across * extent / self.reach * (1.0 - ROUNDING))
        size = np.clip(np.nan_to_num(wanted, nan=1.0), 1.0, 2.0**20)
        most_cells = self.particles + SPARE
        while size.prod() > most_cells:
            size[np.argmax(size)] = max(1.0, np.floor(size.max() * 0.8))
        scale = np.divide(size, extent, out=np.zeros(3), where=extent > 0.0)
        self.grid.assign(np.concatenate([low, scale]))
        self.shape.assign(np.concatenate([size, self.space.periodic]).astype(np.int32))
        self._cells = int(size.prod())
        return self._cells


def told_apart(argument: Any) -> Any:
    """Return a key of a kernel's argument, for dictionaries: address and shape of an array, a number itself, and a
    constant for the particles, which are never replaced."""
    if hasattr(argument, "ptr"):
        return argument.ptr, argument.shape
    if isinstance(argument, int | float):
        return argument
    return argument.value if hasattr(argument, "value") else id(argument)
