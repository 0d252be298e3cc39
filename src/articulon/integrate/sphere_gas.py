"""Interface to event-driven hard spheres: from positions and velocities at one time to those at a later time."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numba
import numpy as np

from articulon.integrate.event_calendar import day_frequency, open_calendar
from articulon.integrate.hard_sphere_tables import (
    COUNT,
    MOTION,
    NOBODY,
    OPEN,
    PERIODIC,
    SETTING,
    SUM,
    SphereTables,
    sphere_grid,
    sphere_tables,
    with_slots,
)
from articulon.integrate.hard_spheres import (
    CELL_FULL,
    COLLAPSED,
    DONE,
    REPLAN,
    bring_together,
    deepest_overlap,
    fill_cells,
    find_events,
    take_events,
)
from articulon.kernels import prepare

IMPACTS = 50_000
"""Number of impacts after which control returns to Python for a moment."""
FIRST_SLOTS = 4
"""Number of slots of a cell at the start."""
INSTANT = 1e-6
"""Time below which successive impacts of a sphere may be endless, relative to the time in which it moves by its
diameter."""


@dataclass
class SphereBox:
    """The box of a gas of hard spheres."""

    low: np.ndarray
    """Lowest corner [length], shape (3,); has no effect along open axes."""
    high: np.ndarray
    """Highest corner [length], shape (3,); has no effect along open axes."""
    faces: np.ndarray
    """PERIODIC, OPEN or WALL by axis, shape (3,)."""
    restitution: np.ndarray = field(default_factory=lambda: np.ones(6))
    """Coefficients of restitution of the walls, the lower and the upper one of each axis, shape (6,)."""


@dataclass
class Totals:
    """Totals over the impacts of a flight."""

    impacts: int = 0
    """Number of impacts of spheres with each other."""
    wall_impacts: int = 0
    """Number of impacts with walls."""
    crossings: int = 0
    """Number of crossings from cell to cell."""
    retries: int = 0
    """Number of searches of spheres that had lost their partner to another one."""
    loss: float = 0.0
    """Kinetic energy lost [energy]."""
    virial: float = 0.0
    """Σ r · Δp of impacts of spheres with each other [energy]."""
    impulse: float = 0.0
    """The largest impulse of any impact [momentum]."""
    impulse_time: float = 0.0
    """Time of that impact, from the start of the flight [time]."""
    impulse_of: tuple[int, int] = (NOBODY, NOBODY)
    """The two spheres of that impact; the second is NOBODY for a wall."""


def prepare_kernels() -> None:
    """Compile the kernels, together with other kernels that are requested, or load them."""
    one, faces = np.ones(1), np.full(3, OPEN)
    grid = sphere_grid(np.zeros(3), one.repeat(3), faces, 1.0, 1)
    table = sphere_tables(one, one, np.zeros(1), np.ones((1, 1)), grid, np.zeros(3), 0.0, np.ones(6))
    for function, others in (
        (fill_cells, ()),
        (find_events, ()),
        (open_calendar, (1.0, 1.0)),
        (take_events, (1.0, 1)),
        (bring_together, (1.0,)),
        (deepest_overlap, (np.zeros(2, dtype=np.int64),)),
    ):
        prepare(function, tuple(numba.typeof(value) for value in (table, *others)))


class SphereGas:
    """A gas of hard spheres.

    Parameters
    ----------
    radius, mass, kind
        Radius [length], mass [mass] and number of the kind of each sphere, shape (n,).
    restitution
        Coefficients of restitution by pair of kinds, in [0, 1], shape (kinds, kinds).
    box
        The box. A periodic edge has at least twice the largest diameter.
    gravity
        Gravitational acceleration [length/time²], shape (3,).
    resting_speed
        Speed of approach below which an impact is fully inelastic, e = 0 [length/time].
    """

    def __init__(
        self,
        radius: np.ndarray,
        mass: np.ndarray,
        kind: np.ndarray,
        restitution: np.ndarray,
        box: SphereBox,
        gravity: np.ndarray | None = None,
        resting_speed: float = 0.0,
    ) -> None:
        self.radius, self.mass, self.kind, self.restitution = radius, mass, kind, restitution
        self.box, self.resting_speed = box, resting_speed
        self.gravity = np.zeros(3) if gravity is None else gravity
        prepare_kernels()
        self.collapsed = NOBODY
        """The sphere whose impacts have no end, or NOBODY."""
        self.collapse_time = np.nan
        """Time at which the endless impacts were found, from the start of the latest flight [time]."""

    def overlap(self, positions: np.ndarray) -> tuple[float, int, int]:
        """Largest overlap of two spheres, relative to the sum of their radii, and the two spheres."""
        spheres, order, _ = self._placed(positions, np.zeros_like(positions))
        found = np.zeros(2, dtype=np.int64)
        worst = float(deepest_overlap(spheres, found))
        first, second = sorted(order[found].tolist())
        return worst, first, second

    def advance(
        self,
        positions: np.ndarray,
        velocities: np.ndarray,
        duration: float,
        asked_to_stop: Callable[[], bool] = lambda: False,
    ) -> Totals | None:
        """Advance positions and velocities by a time, in place.

        Parameters
        ----------
        positions, velocities
            Positions [length] and velocities [length/time] of the centres, unwrapped, shape (n, 3); unchanged if None
            is returned.
        duration
            Length of the flight [time].
        asked_to_stop
            Called every 50,000 impacts; KeyboardInterrupt is raised if it returns True.

        Returns
        -------
        Totals or None
            Totals over the impacts; None if impacts have no end, see ``collapsed``.
        """
        spheres, order, images = self._placed(positions, velocities)
        find_events(spheres)
        open_calendar(spheres, day_frequency(spheres, 0.0), 0.0)
        status = REPLAN
        while status != DONE:
            status = int(take_events(spheres, duration, IMPACTS))
            if status == COLLAPSED:
                self.collapse_time = float(spheres.sums[SUM.now])
                self.collapsed = int(order[spheres.counts[COUNT.collapsed]])
                return None
            if status == CELL_FULL:
                spheres = with_slots(spheres, 2 * spheres.grid.slots.shape[1])
            if status == REPLAN:
                now = float(spheres.sums[SUM.now])
                open_calendar(spheres, day_frequency(spheres, now), now)
            if asked_to_stop():
                raise KeyboardInterrupt
        bring_together(spheres, duration)
        there = spheres.motion[:, MOTION.place : MOTION.place + 3] + images + spheres.images * spheres.grid.length
        positions[order] = there
        velocities[order] = spheres.motion[:, MOTION.velocity : MOTION.velocity + 3]
        counts, sums = spheres.counts, spheres.sums
        first, second = (int(order[i]) if i != NOBODY else NOBODY for i in counts[COUNT.strongest : COUNT.width])
        strongest = (first, second) if second == NOBODY else (min(first, second), max(first, second))
        return Totals(
            impacts=int(counts[COUNT.impacts]),
            wall_impacts=int(counts[COUNT.wall_impacts]),
            crossings=int(counts[COUNT.crossings]),
            retries=int(counts[COUNT.retries]),
            loss=float(sums[SUM.loss]),
            virial=float(sums[SUM.virial]),
            impulse=float(sums[SUM.impulse]),
            impulse_time=float(sums[SUM.impulse_time]),
            impulse_of=strongest,
        )

    def _placed(self, positions: np.ndarray, velocities: np.ndarray) -> tuple[SphereTables, np.ndarray, np.ndarray]:
        """Tables with the spheres in their cells; the order of the spheres in them, by cells, so that neighbours are
        close in memory; and the displacements from the box to their unwrapped positions."""
        largest = 2.0 * float(self.radius.max())
        faces, periodic = self.box.faces, self.box.faces == PERIODIC
        low = np.where(faces == OPEN, positions.min(axis=0), self.box.low)
        high = np.where(faces == OPEN, positions.max(axis=0), self.box.high)
        grid = sphere_grid(low, high, faces, largest, len(positions))
        shift = np.where(periodic, np.floor((positions - low) / grid.length) * grid.length, 0.0)
        inside = positions - shift
        cells = np.clip((inside - low) / grid.edge, 0.0, grid.cells - 1.0).astype(np.int64)
        order = np.argsort((cells[:, 0] * grid.cells[1] + cells[:, 1]) * grid.cells[2] + cells[:, 2], kind="stable")
        spheres = sphere_tables(
            self.radius[order],
            self.mass[order],
            self.kind[order],
            self.restitution,
            grid,
            self.gravity,
            self.resting_speed,
            self.box.restitution,
        )
        spheres = with_slots(spheres, FIRST_SLOTS)
        spheres.motion[:, MOTION.place : MOTION.place + 3] = inside[order]
        spheres.motion[:, MOTION.velocity : MOTION.velocity + 3] = velocities[order]
        spheres.latest[:] = -np.inf
        falling = largest * float(np.linalg.norm(self.gravity))
        speed = float(np.sqrt((velocities**2).sum(axis=1).mean() + falling))
        spheres.settings[SETTING.instant] = INSTANT * largest / speed if speed > 0.0 else 0.0
        while not fill_cells(spheres):
            spheres = with_slots(spheres, 2 * spheres.grid.slots.shape[1])
        return spheres, order, shift[order]
