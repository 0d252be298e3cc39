"""Particles on a device: forces, measures and velocity Verlet steps, with all data staying on the device.

Steps are sent in batches. Each step checks whether a particle has moved so far that the neighbour lists are out of
date. If so, the rest of the batch does nothing, the lists are rebuilt, and the interrupted step is completed. The
results do not depend on how steps are divided into batches, nor on when a state is fetched.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from articulon.gpu import particle_moves as moves
from articulon.gpu.devices import load_warp
from articulon.gpu.particle_lists import NeighbourLists, Space, told_apart
from articulon.gpu.particle_pairs import MEASURES, pair_kernels
from articulon.gpu.particle_places import places

wp: Any = load_warp()


BATCH = 10
"""Number of steps in a batch."""
MOST_LANES, ENOUGH = 8, 65_536
"""Largest number of threads that share a particle, and the number of threads to aim for. The choice depends only on the
number of particles, because it fixes the order of sums."""


class Pairs(NamedTuple):
    """A pair law and its parameters."""

    name: str
    """Name of the law, see ``particle_laws.py``."""
    rows: np.ndarray
    """Parameters, a row for each ordered pair of kinds; the first one is the square of the cutoff."""


class Shaking(NamedTuple):
    """Action of the Langevin thermostat over some steps."""

    decay: float
    """Decay factor c = e^{−γ h}."""
    noise: np.ndarray
    """√((1 − c²) k T) of each step, or a single value for all."""
    step: int
    """Number of the first step."""
    seed: int
    """Seed of the random numbers."""
    stream: int
    """Stream of the random numbers."""


class ParticleEngine:
    """Particles on a device.

    Parameters
    ----------
    device
        Warp's device.
    masses
        Masses of the particles [mass], shape (n,).
    kinds
        Kinds of the particles, shape (n,).
    pairs
        Pair laws, whose forces add up.
    space
        The box.
    cutoff, skin
        Largest cutoff, and the distance beyond it up to which neighbours are listed [length].
    walls
        Lower and upper bounds from reflecting walls, infinite where there are none [length], shape (2, 3).
    precision
        ``"double"``, or ``"mixed"``: pairs in single precision, everything else in double.
    """

    def __init__(
        self,
        device: Any,
        masses: np.ndarray,
        kinds: np.ndarray,
        pairs: Sequence[Pairs],
        space: Space,
        cutoff: float,
        skin: float,
        walls: np.ndarray,
        precision: str = "double",
    ) -> None:
        n = self.particles = masses.size
        self.device, self.places = device, places(precision)
        self.lists = lists = NeighbourLists(device, self.places, masses, kinds, space, cutoff, skin)
        count = max(round(pairs[0].rows.shape[0] ** 0.5), 1)
        self.kinds = count
        self.laws = [
            (*pair_kernels(precision, law.name, count == 1), lists.array(law.rows, self.places.real)) for law in pairs
        ]
        self.lanes = int(np.clip(ENOUGH // max(n, 1), 1, MOST_LANES))
        self.force = lists.empty((self.lanes, n), wp.vec3d)
        self.site, self.line, self.at = (lists.empty(n, wp.vec3d) for _ in range(3))
        self.heat = lists.empty(n, wp.float64)
        self.walls = lists.array(walls, wp.vec3d)
        self.flags, self.longest = lists.empty(moves.FLAGS, wp.int32), lists.empty(1, wp.float64)
        self.measures = lists.empty((MEASURES, n), wp.float64)
        self.sums = lists.empty((MEASURES, -(-n // moves.BLOCK)), wp.float64)
        self.reference = np.full((n, 3), np.nan)
        """Coordinates when neighbours were last listed [length], NaN before that; see :meth:`listed_at`."""
        self.noise, self.first = lists.empty(1, wp.float64), lists.empty(1, wp.int64)
        self.starting: Any = self.places.start_step
        self.more: tuple[Any, ...] = ()
        self.leapt = False
        """Whether steps ended because a particle moved through half of the box in one step."""
        self.farthest = float((0.5 * space.least + lists.limit**0.5) ** 2)
        """Square of the displacement since the last listing that reveals such a step [length²]."""
        self.graphs = bool(device.is_cuda)
        """Whether batches are sent as graphs, which saves most of a GPU's idle time between kernels."""
        self._listed = 0
        self._graph: tuple[Any, Any] = None, None

    # Operations on a state.

    def load(
        self, x: np.ndarray, v: np.ndarray, listed: np.ndarray | None = None, heat: np.ndarray | None = None
    ) -> None:
        """Take particles in the order of the model, with the lists that belong to the coordinates ``listed``; rebuild
        the lists if a particle has moved too far since, or if there are none.

        Parameters
        ----------
        x, v
            Coordinates [length] and velocities [velocity], shape (n, 3).
        listed
            Coordinates at which neighbours were listed, NaN or None without lists, shape (n, 3).
        heat
            Heat from a thermostat to each particle [energy], shape (n,); None without a thermostat.
        """
        if heat is not None:
            self.heat.assign(np.ascontiguousarray(heat))
        if listed is None or not np.isfinite(listed).all():
            self._list_at(x, v)
            return
        if not np.array_equal(self.listed_at(), listed):
            self._list_at(listed, v)
        self._put(x, v)
        if self.longest.numpy()[0] > self.lists.limit:
            self._list_at(x, v)

    def store(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and velocities in the order of the model, shape (n, 3) each."""
        self._collect()
        return self.site.numpy(), self.line.numpy()

    def _collect(self) -> None:
        self.lists.launch(moves.collect, self.particles, self.lists.moving, self.site, self.line, self.heat)

    def listed_at(self) -> np.ndarray:
        """Return the coordinates at which neighbours were last listed [length], shape (n, 3); NaN before that."""
        if self._listed != self.lists.rebuilds:
            self.lists.launch(moves.collect_reference, self.particles, self.lists.moving, self.at)
            self.reference, self._listed = self.at.numpy().copy(), self.lists.rebuilds
        return self.reference

    def heats(self) -> np.ndarray:
        """Return the heat from a thermostat to each particle at the last call of :meth:`store` [energy], shape (n,)."""
        return self.heat.numpy()

    def advance(self, steps: int, h: float, factor: float = 1.0, shaking: Shaking | None = None) -> tuple[int, bool]:
        """Take steps of length h [time] from the state given to :meth:`load`; return the number of successful steps,
        and whether all were.

        ``factor`` multiplies the forces, and ``shaking`` is the action of a thermostat. The method waits for the GPU
        only once per batch.
        """
        self._shake(shaking)
        self._forces()
        self._clear()
        while True:
            flags = self.flags.numpy()
            taken = int(flags[moves.DONE])
            self.leapt = bool(flags[moves.LEAPT])
            if flags[moves.LOST] or self.leapt:
                return taken, False
            if flags[moves.STALE] or flags[moves.SHORT]:
                self._list_anew(again=bool(flags[moves.SHORT]))
                self._end_step(h, factor)
                taken += 1  # these steps have not been counted yet
            elif taken == steps:
                return taken, True
            self._send(min(steps - taken, BATCH), h, factor)

    def _list_anew(self, again: bool) -> None:
        """Rebuild the lists in the middle of a step; repeat if the capacity was exceeded."""
        if again:
            self.lists.make_room()
        else:
            self._collect()
            self.lists.rebuild(self.site, self.line, self.heat)
        self.lists.launch(moves.go_on, 1, self.lists.needed, self.longest, self.flags)

    # Queries of a state.

    def forces(self, x: np.ndarray) -> np.ndarray:
        """Compute the forces at coordinates [force], shape (n, 3), NaN if a coordinate is not finite. The loaded state
        is lost."""
        if not np.isfinite(x).all():
            return np.full((self.particles, 3), np.nan)
        self._load_at_rest(x)
        self._forces()
        self.lists.launch(moves.collect_forces, self.particles, self.lists.moving, self.force, self.site)
        return self.site.numpy().copy()

    def measure(self, x: np.ndarray) -> np.ndarray:
        """Compute energy, virial (xx, yy, zz, xy, xz, yz) and Laplacian of the pairs at coordinates, shape (8,), NaN if
        a coordinate is not finite. The loaded state is lost."""
        if not np.isfinite(x).all():
            return np.full(MEASURES, np.nan)
        self._load_at_rest(x)
        lists = self.lists
        self.measures.zero_()
        for _, measuring, rows in self.laws:
            lists.launch(
                measuring,
                self.particles,
                *(lists.near, lists.frame_of_pairs, lists.moving.kind, self.kinds, rows),
                *(lists.number, lists.neighbours, self.measures),
            )
        lists.launch(moves.sum_blocks, self.sums.shape, self.measures, self.sums)
        return self.sums.numpy().sum(axis=1)

    # Internal operations.

    def _shake(self, shaking: Shaking | None) -> None:
        """Set friction and noise for the next steps."""
        if shaking is None:
            self.starting, self.more = self.places.start_step, ()
            return
        if self.noise.size != shaking.noise.size:
            self.noise = self.lists.empty(shaking.noise.size, wp.float64)
        self.noise.assign(shaking.noise)
        self.first.assign(np.array([shaking.step]))
        self.starting = self.places.start_shaken_step
        self.more = (shaking.decay, self.noise, self.first, wp.uint64(shaking.seed), wp.uint64(shaking.stream))

    def _load_at_rest(self, x: np.ndarray) -> None:
        self.load(x, np.zeros_like(x), self.listed_at())

    def _list_at(self, x: np.ndarray, v: np.ndarray) -> None:
        """List neighbours at coordinates in the order of the model."""
        self.site.assign(np.ascontiguousarray(x))
        self.line.assign(np.ascontiguousarray(v))
        self.lists.rebuild(self.site, self.line, self.heat)
        self.lists.make_room()
        self._clear()

    def _put(self, x: np.ndarray, v: np.ndarray) -> None:
        """Move the particles to coordinates for which the lists may still be valid."""
        self.site.assign(np.ascontiguousarray(x))
        self.line.assign(np.ascontiguousarray(v))
        self._clear()
        lists = self.lists
        lists.launch(
            self.places.load,
            self.particles,
            *(
                self.site,
                self.line,
                self.heat,
                lists.frame,
                lists.limit,
                lists.moving,
                lists.near,
                self.longest,
                self.flags,
            ),
        )

    def _clear(self) -> None:
        self.flags.zero_()
        self.longest.zero_()

    def _forces(self) -> None:
        lists = self.lists
        for k, (forces, _, rows) in enumerate(self.laws):
            lists.launch(
                forces,
                (self.lanes, self.particles),
                *(lists.near, lists.frame_of_pairs, lists.moving.kind, self.kinds, rows),
                *(lists.number, lists.neighbours, k, lists.limit, self.longest, self.flags, self.force),
            )

    def _step(self, h: float, factor: float) -> None:
        lists = self.lists
        lists.launch(
            self.starting,
            self.particles,
            *(lists.moving, self.force, lists.frame, self.walls, 0.5 * h * factor, h, lists.limit),
            *(lists.near, self.longest, self.flags, *self.more),
        )
        self._end_step(h, factor)

    def _end_step(self, h: float, factor: float) -> None:
        self._forces()
        lists = self.lists
        half, n = 0.5 * h * factor, self.particles
        lists.launch(moves.end_kick, n, lists.moving, self.force, half, lists.limit, self.longest, self.flags)
        lists.launch(moves.count_step, 1, lists.limit, self.farthest, self.longest, self.flags)

    def _send(self, steps: int, h: float, factor: float) -> None:
        """Send a batch of steps to the device; a full batch goes as a graph, which a GPU accepts at once."""
        if not self.graphs or steps < BATCH:
            for _ in range(steps):
                self._step(h, factor)
            return
        key = (h, factor, *map(told_apart, (self.lists.neighbours, *self.more)))
        if self._graph[0] != key:
            with wp.ScopedCapture(self.device, force_module_load=False) as capture:  # all its kernels are loaded
                for _ in range(steps):
                    self._step(h, factor)
            self._graph = key, capture.graph
        wp.capture_launch(self._graph[1])
