"""Arrays of event-driven hard spheres: their motion, their next events, their cells and the calendar of events.

All of it is scratch: it is filled from positions and velocities at one time, and gives them back at a later one.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.columns import Columns
from articulon.forces.contact.contact_tables import aligned_zeros

PERIODIC, OPEN, WALL = range(3)
"""What lies at the two faces of an axis: the other face, nothing, or a wall that the surfaces of spheres bounce off."""
NOBODY = -1
"""In the place of a partner: there is none. In the place of a neighbour in a list: the list ends."""
SMALLEST_CALENDAR, LARGEST_CALENDAR = 2**4, 2**26
"""Numbers of days."""
LARGEST_AXIS = 2**10
"""Cells along an axis, at most."""
OCCUPANCY = 0.5
"""Spheres in a cell where they are few."""


class MotionColumns(Columns):
    """Of ``SphereTables.motion``: a row is a line of the cache, and all that a prediction reads of a neighbour."""

    place: int = 0
    """Of the centre, at the sphere's own time and within the box (3) [length]."""
    velocity: int = 3
    """At that time (3) [length/time]."""
    time: int = 6
    """The sphere's own time: that of its last event [time]."""
    impact: int = 7
    """When it hits its partner; infinite without one. Without a partner and finite, the impact has been lost to an
    earlier one, and that is when the sphere looks for another [time]."""
    width: int = 8


class LinkColumns(Columns):
    """Of ``SphereTables.links``, the whole numbers of a record."""

    partner: int = 0
    """What it hits next, or NOBODY. A sphere is the partner of its partner."""
    face: int = 1
    """Through which it leaves its cell next: twice the axis, and 1 for the upper one."""
    cell: int = 2
    """It lies in."""
    later: int = 3
    """Next sphere of the same day."""
    earlier: int = 4
    """The one before on the same day."""
    day: int = 5
    """Whose list it is in, or NOBODY."""
    kind: int = 6
    """Of the sphere."""
    width: int = 16


class EventColumns(Columns):
    """Of ``SphereTables.events``, the other numbers of the same record."""

    first: int = 4
    """Time of the next event of the sphere, the earlier of impact and crossing [time]."""
    crossing: int = 5
    """When it leaves its cell, or hits a wall [time]."""
    radius: int = 6
    """[length]"""
    inverse_mass: int = 7
    """[1/mass]"""
    width: int = 8


class CountColumns(Columns):
    """Of ``SphereTables.counts``."""

    impacts: int = 0
    """Of spheres with each other."""
    wall_impacts: int = 1
    """With walls."""
    crossings: int = 2
    """From cell to cell."""
    retries: int = 3
    """Of spheres that had lost their partner to another one."""
    day: int = 4
    """The day that the calendar is at, counted from time zero."""
    turned: int = 5
    """Days that have been looked at."""
    looked: int = 6
    """Spheres that have been looked at on them."""
    collapsed: int = 7
    """A sphere whose impacts do not end, or NOBODY."""
    strongest: int = 8
    """The two of the impact of the largest impulse, the second NOBODY for a wall (2)."""
    width: int = 10


class SumColumns(Columns):
    """Of ``SphereTables.sums``."""

    loss: int = 0
    """Kinetic energy lost in impacts [energy]."""
    virial: int = 1
    """Σ r · Δp of impacts of spheres with each other, positive where they repel [energy]."""
    impulse: int = 2
    """The largest of any impact [momentum]."""
    now: int = 3
    """Time of the latest event [time]."""
    impulse_time: int = 4
    """Of the impact of the largest impulse [time]."""
    width: int = 5


class SettingColumns(Columns):
    """Of ``SphereTables.settings``."""

    diameter: int = 0
    """Of all spheres, or 0 where they differ [length]."""
    gravity: int = 1
    """(3) [length/time²]"""
    resting: int = 4
    """Speed of approach below which an impact takes all of it [length/time]."""
    instant: int = 5
    """Impacts of a sphere that follow each other faster than that may be ones without end [time]."""
    frequency: int = 6
    """Days in a unit of time [1/time]."""
    wall_restitution: int = 7
    """Of the two faces of each axis (6)."""
    width: int = 13


MOTION, LINK, EVENT, COUNT, SUM, SETTING = (
    MotionColumns(),
    LinkColumns(),
    EventColumns(),
    CountColumns(),
    SumColumns(),
    SettingColumns(),
)


class SphereGrid(NamedTuple):
    """Cells of a box, no narrower than the largest sphere."""

    cells: np.ndarray
    """Along each axis, shape (3,)."""
    faces: np.ndarray
    """PERIODIC, OPEN or WALL, by axis, shape (3,)."""
    low: np.ndarray
    """The lowest corner [length], shape (3,)."""
    edge: np.ndarray
    """Of a cell [length], shape (3,)."""
    length: np.ndarray
    """Of the box [length], shape (3,)."""
    shifts: np.ndarray
    """What brings spheres of a cell that the search has come to through faces beside those it came from: of the lower
    face, none and the upper face of x, y and z, x slowest [length], shape (27, 3)."""
    filled: np.ndarray
    """Spheres in each cell, x slowest, shape (cells,)."""
    slots: np.ndarray
    """Which they are, from the first slot on, shape (cells, slots): a multiple of four."""


class SphereTables(NamedTuple):
    """What the kernels of hard spheres read and write."""

    motion: np.ndarray
    """See ``MOTION``, shape (n, 8)."""
    links: np.ndarray
    """See ``LINK``: a row is a line of the cache, which ``events`` has the second half of, shape (n, 16)."""
    events: np.ndarray
    """See ``EVENT``: the same memory, shape (n, 8)."""
    images: np.ndarray
    """Lengths of the box between where a sphere is and where it is in the box, shape (n, 3)."""
    restitution: np.ndarray
    """Coefficients by pair of kinds, shape (kinds, kinds)."""
    hurried: np.ndarray
    """Impacts of a sphere that followed each other within an instant, shape (n,); (0,) where no impact takes energy."""
    latest: np.ndarray
    """Time of its latest impact [time], shape (n,); (0,) likewise."""
    grid: SphereGrid
    """The cells."""
    near: np.ndarray
    """Scratch of a search: spheres in the cells around, and which of the shifts is theirs, shape (2, 27 slots + 4)."""
    meeting: np.ndarray
    """Scratch likewise: c, b, a and the square of the distance of those that meet, shape (27 × slots, 4)."""
    days: np.ndarray
    """First sphere whose next event is on a day, or NOBODY, shape (days,), a power of two: day d is at d modulo it."""
    counts: np.ndarray
    """See ``COUNT``, shape (10,)."""
    sums: np.ndarray
    """See ``SUM``, shape (5,)."""
    settings: np.ndarray
    """See ``SETTING``, shape (13,)."""


def sphere_grid(low: np.ndarray, high: np.ndarray, faces: np.ndarray, largest: float, spheres: int) -> SphereGrid:
    """Cells between two corners, each as wide as the largest diameter at least, and not narrower than leaves half a
    sphere in each: narrower ones only have spheres cross more faces."""
    length = np.maximum(high - low, largest)
    roomy = (float(np.prod(length)) * OCCUPANCY / spheres) ** (1.0 / 3.0)
    cells = np.clip(np.floor(length / max(largest, roomy)), 1, LARGEST_AXIS).astype(np.int64)
    ways = np.array([(x, y, z) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) for z in (-1.0, 0.0, 1.0)])
    number = int(np.prod(cells))
    filled, slots = np.zeros(number, dtype=np.int16), np.zeros((number, 0), dtype=np.int32)
    return SphereGrid(cells, faces.astype(np.int64), low.copy(), length / cells, length, ways * length, filled, slots)


def with_slots(spheres: SphereTables, slots: int) -> SphereTables:
    """The same with so many slots in each cell."""
    grid = spheres.grid
    wider = np.zeros((grid.slots.shape[0], slots), dtype=np.int32)
    wider[:, : grid.slots.shape[1]] = grid.slots
    near, meeting = search_scratch(slots)
    return spheres._replace(grid=grid._replace(slots=wider), near=near, meeting=meeting)


def search_scratch(slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Scratch of a search through cells with so many slots."""
    return np.zeros((2, 27 * slots + 4), dtype=np.int32), np.zeros((27 * slots, 4))


def sphere_tables(
    radius: np.ndarray,
    mass: np.ndarray,
    kind: np.ndarray,
    restitution: np.ndarray,
    grid: SphereGrid,
    gravity: np.ndarray,
    resting_speed: float,
    wall_restitution: np.ndarray,
) -> SphereTables:
    """Arrays for spheres of given radii [length], masses and kinds, in a grid; nothing has been placed yet."""
    n = radius.size
    days = min(max(2 ** math.ceil(math.log2(max(2 * n, 1))), SMALLEST_CALENDAR), LARGEST_CALENDAR)
    settings = np.zeros(SETTING.width)
    settings[SETTING.diameter] = 2.0 * radius[0] if n and (radius == radius[0]).all() else 0.0
    settings[SETTING.gravity : SETTING.gravity + 3] = gravity
    settings[SETTING.resting] = resting_speed
    settings[SETTING.wall_restitution :] = wall_restitution
    records = aligned_zeros(n, EVENT.width)
    records[:, EVENT.radius], records[:, EVENT.inverse_mass] = radius, 1.0 / mass
    records.view(np.int32)[:, LINK.kind] = kind
    near, meeting = search_scratch(grid.slots.shape[1])
    walls = np.repeat(grid.faces == WALL, 2)
    dissipates = bool((restitution < 1.0).any() or (wall_restitution[walls] < 1.0).any())
    return SphereTables(
        motion=aligned_zeros(n, MOTION.width),
        links=records.view(np.int32),
        events=records,
        images=np.zeros((n, 3)),
        restitution=restitution.astype(np.float64),
        hurried=np.zeros(n if dissipates else 0, dtype=np.int32),
        latest=np.zeros(n if dissipates else 0),
        grid=grid,
        near=near,
        meeting=meeting,
        days=np.full(days, NOBODY, dtype=np.int32),
        counts=np.zeros(COUNT.width, dtype=np.int64),
        sums=np.zeros(SUM.width),
        settings=settings,
    )
