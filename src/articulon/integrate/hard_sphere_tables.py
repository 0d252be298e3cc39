"""Arrays of event-driven hard spheres: their motion, their next events, their cells and the calendar of events.

All tables are scratch: they are filled from positions and velocities at one time, and give these at a later time.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.columns import Columns
from articulon.forces.contact.contact_tables import aligned_zeros

PERIODIC, OPEN, WALL = range(3)
"""Kinds of the two faces of an axis: images of each other, absent, or walls that reflect the surfaces of spheres."""
NOBODY = -1
"""Marks the absence of a partner, and the end of a list of neighbours."""
SMALLEST_CALENDAR, LARGEST_CALENDAR = 2**4, 2**26
"""Smallest and largest number of days of a calendar."""
LARGEST_AXIS = 2**10
"""Most cells along an axis."""
OCCUPANCY = 0.5
"""Mean number of spheres per cell in dilute systems."""


class MotionColumns(Columns):
    """Columns of ``SphereTables.motion``: a row is a cache line that holds all data that a prediction reads of a
    neighbour."""

    place: int = 0
    """Position of the centre, at the sphere's own time and within the box (3) [length]."""
    velocity: int = 3
    """Velocity at the sphere's own time (3) [length/time]."""
    time: int = 6
    """The sphere's own time, which is that of its last event [time]."""
    impact: int = 7
    """Time of the impact with the partner; infinite without one. If it is finite without a partner, the partner has
    been lost to an earlier impact, and the sphere searches for another one at that time [time]."""
    width: int = 8


class LinkColumns(Columns):
    """Columns of ``SphereTables.links``, the integers of a record."""

    partner: int = 0
    """The sphere of the next impact, or NOBODY. A sphere is the partner of its partner."""
    face: int = 1
    """Face through which the sphere leaves its cell next: twice the axis, plus 1 for the upper one."""
    cell: int = 2
    """Cell of the sphere."""
    later: int = 3
    """Next sphere in the list of the same day."""
    earlier: int = 4
    """Previous sphere in the list of the same day."""
    day: int = 5
    """Day whose list holds the sphere, or NOBODY."""
    kind: int = 6
    """Kind of the sphere."""
    width: int = 16


class EventColumns(Columns):
    """Columns of ``SphereTables.events``, the floating-point numbers of the same record."""

    first: int = 4
    """Time of the next event of the sphere, the earlier of impact and crossing [time]."""
    crossing: int = 5
    """Time at which the sphere leaves its cell, or hits a wall [time]."""
    radius: int = 6
    """Radius [length]."""
    inverse_mass: int = 7
    """Inverse mass [1/mass]."""
    width: int = 8


class CountColumns(Columns):
    """Columns of ``SphereTables.counts``."""

    impacts: int = 0
    """Impacts of spheres with each other."""
    wall_impacts: int = 1
    """Impacts of spheres with walls."""
    crossings: int = 2
    """Crossings from cell to cell."""
    retries: int = 3
    """Searches of spheres that had lost their partner to another one."""
    day: int = 4
    """Present day of the calendar, counted from time zero."""
    turned: int = 5
    """Days that have been searched."""
    looked: int = 6
    """Spheres that have been examined on these days."""
    collapsed: int = 7
    """A sphere whose impacts do not end, or NOBODY."""
    strongest: int = 8
    """The two spheres of the impact with the largest impulse; the second is NOBODY for a wall (2)."""
    width: int = 10


class SumColumns(Columns):
    """Columns of ``SphereTables.sums``."""

    loss: int = 0
    """Kinetic energy lost in impacts [energy]."""
    virial: int = 1
    """Σ r · Δp of impacts of spheres with each other, positive for repulsion [energy]."""
    impulse: int = 2
    """The largest impulse of any impact [momentum]."""
    now: int = 3
    """Time of the latest event [time]."""
    impulse_time: int = 4
    """Time of the impact with the largest impulse [time]."""
    width: int = 5


class SettingColumns(Columns):
    """Columns of ``SphereTables.settings``."""

    diameter: int = 0
    """Diameter of all spheres, or 0 if they differ [length]."""
    gravity: int = 1
    """Gravitational acceleration (3) [length/time²]."""
    resting: int = 4
    """Speed of approach below which an impact is fully inelastic [length/time]."""
    instant: int = 5
    """Time between impacts of a sphere below which they may be impacts without end [time]."""
    frequency: int = 6
    """Days per unit of time [1/time]."""
    wall_restitution: int = 7
    """Coefficients of restitution of the two faces of each axis (6)."""
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
    """Cells of a box, none narrower than the largest sphere."""

    cells: np.ndarray
    """Number of cells along each axis, shape (3,)."""
    faces: np.ndarray
    """PERIODIC, OPEN or WALL, by axis, shape (3,)."""
    low: np.ndarray
    """The lowest corner [length], shape (3,)."""
    edge: np.ndarray
    """Edges of a cell [length], shape (3,)."""
    length: np.ndarray
    """Edges of the box [length], shape (3,)."""
    shifts: np.ndarray
    """Shifts that bring the spheres of a cell, reached through faces of the box, next to the sphere that searches: for
    the lower face, no face and the upper face of x, y and z, x slowest [length], shape (27, 3)."""
    filled: np.ndarray
    """Number of spheres in each cell, x slowest, shape (cells,)."""
    slots: np.ndarray
    """Spheres in each cell, from the first slot on, shape (cells, slots); slots are a multiple of four."""


class SphereTables(NamedTuple):
    """Arrays that the kernels of hard spheres read and write."""

    motion: np.ndarray
    """See ``MOTION``, shape (n, 8)."""
    links: np.ndarray
    """See ``LINK``: a row is a cache line, whose second half holds ``events``, shape (n, 16)."""
    events: np.ndarray
    """See ``EVENT``: a view of the same memory as ``links``, shape (n, 8)."""
    images: np.ndarray
    """Number of box lengths between the unwrapped position of a sphere and that in the box, shape (n, 3)."""
    restitution: np.ndarray
    """Coefficients of restitution by pair of kinds, shape (kinds, kinds)."""
    rapid_impacts: np.ndarray
    """Number of successive impacts of a sphere within an instant, shape (n,); (0,) if no impact takes energy."""
    latest: np.ndarray
    """Time of the latest impact of a sphere [time], shape (n,); (0,) if no impact takes energy."""
    grid: SphereGrid
    """Cells and faces of the box."""
    near: np.ndarray
    """Scratch of a search: spheres in the neighbouring cells, and the index of their shift, shape (2, 27 slots + 4)."""
    meeting: np.ndarray
    """Scratch of a search: c, b, a and the squared distance of the spheres that meet, shape (27 × slots, 4)."""
    days: np.ndarray
    """First sphere whose next event is on a day, or NOBODY, shape (days,), a power of two: day d is at d modulo
    days."""
    counts: np.ndarray
    """See ``COUNT``, shape (10,)."""
    sums: np.ndarray
    """See ``SUM``, shape (5,)."""
    settings: np.ndarray
    """See ``SETTING``, shape (13,)."""


def sphere_grid(low: np.ndarray, high: np.ndarray, faces: np.ndarray, largest: float, spheres: int) -> SphereGrid:
    """A grid of cells between two corners. Cells are at least as wide as the largest diameter, and wide enough to hold
    half a sphere on average: in narrower cells, spheres would only cross more faces."""
    length = np.maximum(high - low, largest)
    roomy = (float(np.prod(length)) * OCCUPANCY / spheres) ** (1.0 / 3.0)
    cells = np.clip(np.floor(length / max(largest, roomy)), 1, LARGEST_AXIS).astype(np.int64)
    ways = np.array([(x, y, z) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) for z in (-1.0, 0.0, 1.0)])
    number = int(np.prod(cells))
    filled, slots = np.zeros(number, dtype=np.int16), np.zeros((number, 0), dtype=np.int32)
    return SphereGrid(cells, faces.astype(np.int64), low.copy(), length / cells, length, ways * length, filled, slots)


def with_slots(spheres: SphereTables, slots: int) -> SphereTables:
    """The same tables with another number of slots per cell."""
    grid = spheres.grid
    wider = np.zeros((grid.slots.shape[0], slots), dtype=np.int32)
    wider[:, : grid.slots.shape[1]] = grid.slots
    near, meeting = search_scratch(slots)
    return spheres._replace(grid=grid._replace(slots=wider), near=near, meeting=meeting)


def search_scratch(slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Scratch arrays of a search through cells with a given number of slots."""
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
    """Arrays for spheres of given radii [length], masses and kinds, in a grid; no sphere has been placed yet."""
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
        rapid_impacts=np.zeros(n if dissipates else 0, dtype=np.int32),
        latest=np.zeros(n if dissipates else 0),
        grid=grid,
        near=near,
        meeting=meeting,
        days=np.full(days, NOBODY, dtype=np.int32),
        counts=np.zeros(COUNT.width, dtype=np.int64),
        sums=np.zeros(SUM.width),
        settings=settings,
    )
