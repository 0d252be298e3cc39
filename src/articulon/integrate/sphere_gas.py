"""Hard spheres from Python: from positions and velocities at one time to those at a later one."""

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
    COLLAPSED,
    CROWDED,
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
"""After which Python is in control for a moment."""
FIRST_SLOTS = 4
"""Slots of a cell at the start."""
INSTANT = 1e-6
"""By the time that a sphere takes for its diameter; impacts of one that follow each other faster may have no end."""


@dataclass
class SphereBox:
    """Where hard spheres fly."""

    low: np.ndarray
    """Lowest corner [length], shape (3,); of open axes it does not matter."""
    high: np.ndarray
    """Highest corner [length], shape (3,), likewise."""
    faces: np.ndarray
    """PERIODIC, OPEN or WALL by axis, shape (3,)."""
    restitution: np.ndarray = field(default_factory=lambda: np.ones(6))
    """Of the walls, the lower and the upper one of each axis, shape (6,)."""


@dataclass
class Totals:
    """What impacts have come to."""

    impacts: int = 0
    """Of spheres with each other."""
    wall_impacts: int = 0
    """With walls."""
    crossings: int = 0
    """From cell to cell."""
    retries: int = 0
    """Of spheres that had lost their partner to another one."""
    loss: float = 0.0
    """Kinetic energy lost [energy]."""
    virial: float = 0.0
    """Σ r · Δp of impacts of spheres with each other [energy]."""
    impulse: float = 0.0
    """The largest of any impact [momentum]."""
    impulse_time: float = 0.0
    """When that was, from the start of the flight [time]."""
    impulse_of: tuple[int, int] = (NOBODY, NOBODY)
    """The two that it was of, the second NOBODY for a wall."""


def prepare_kernels() -> None:
    """Has the kernels compiled, with what else is asked for, or loaded."""
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
    """Hard spheres.

    Parameters
    ----------
    radius, mass, kind
        Of each [length], [mass], and a number, shape (n,).
    restitution
        Coefficients by pair of kinds, in [0, 1], shape (kinds, kinds).
    box
        Where they fly. A periodic edge is two of the largest diameters at least.
    gravity
        [length/time²], shape (3,).
    resting_speed
        Speed of approach below which an impact takes all of it, e = 0 [length/time].
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
        """The sphere whose impacts have no end, once there is one."""
        self.collapse_time = np.nan
        """When that was, from the start of the latest flight [time]."""

    def overlap(self, positions: np.ndarray) -> tuple[float, int, int]:
        """How far the two go into each other that do most, by the sum of their radii, and which they are."""
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
        """Has the spheres fly for a time, in place.

        Parameters
        ----------
        positions, velocities
            Of centres, unwrapped [length], [length/time], shape (n, 3); they stay as they are where None is returned.
        duration
            [time]
        asked_to_stop
            Looked at every 50,000 impacts; what it breaks off raises KeyboardInterrupt.

        Returns
        -------
        Totals or None
            None where impacts have no end: see ``collapsed``.
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
            if status == CROWDED:
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
        """Tables with the spheres in their cells; the order in which they stand there, that of the cells, so that
        neighbours are near each other in memory; and what brings them from the box to where they were."""
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
