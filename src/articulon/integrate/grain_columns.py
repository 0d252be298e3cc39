"""Columns of the tables of grains; see ``contact_columns`` for those of contacts."""

from articulon.columns import Columns
from articulon.forces.contact.contact_tables import WORKS

GROUP = 32
"""Number of grains in a group, which is kicked and then drifts. In ``Grains.row``, ``place`` and ``acceleration`` each
group holds its columns one after the other."""
FALL_WORK, DRAG_WORK = WORKS, WORKS + 1
LINES = WORKS + 2
"""Number of lines in the ledger of grains: those of contacts, gravity and drag."""


class GrainRowColumns(Columns):
    """Columns of ``Grains.row``."""

    turn: int = 0
    """Euler parameters (4)."""
    inverse_inertia: int = 4
    """Inverse moment of inertia [1/(mass × length²)]."""
    home: int = 5
    """Coordinates when the lists were last built, unwrapped (3) [length]."""
    width: int = 8


class GrainPlaceColumns(Columns):
    """Columns of ``Grains.place``."""

    place: int = 0
    """Coordinates, unwrapped (3) [length]."""
    wrap: int = 3
    """Displacement into the box (3) [length]."""
    width: int = 6


class GrainAccelerationColumns(Columns):
    """Columns of ``Grains.acceleration``, world frame."""

    acceleration: int = 0
    """Acceleration (3) [length/time²]."""
    angular_acceleration: int = 3
    """Angular acceleration (3) [angle/time²]."""
    width: int = 6


class GrainLineColumns(Columns):
    """Columns of ``Grains.line``, world frame."""

    place: int = 0
    """Coordinates, unwrapped (3) [length]."""
    turn: int = 3
    """Euler parameters (4)."""
    velocity: int = 7
    """Velocity (3) [length/time]."""
    angular_velocity: int = 10
    """Angular velocity (3) [angle/time]."""
    width: int = 13


class GrainDragColumns(Columns):
    """Columns of ``Grains.drag`` and ``Grains.drags``."""

    translation: int = 0
    """Drag coefficient of translation [force × time/length]."""
    rotation: int = 1
    """Drag coefficient of rotation [force × length × time]."""
    flow: int = 2
    """Velocity of the fluid (3) [length/time]."""
    width: int = 5


class GrainPartialColumns(Columns):
    """Columns of ``Grains.partial``, sums and extremes over a block of grains."""

    displacement: int = 0
    """Square of the largest displacement since the last list, relative to ``Grains.middle`` [length²]."""
    finite: int = 1
    """A sum that is finite if all accelerations are."""
    done: int = 2
    """Powers by line in the half kick that ends the step (7) [energy/time]."""
    due: int = 9
    """Powers by line in the next half kick (7) [energy/time]."""
    low: int = 16
    """The least displacement of any grain along each axis (3) [length]."""
    high: int = 19
    """The largest displacement of any grain along each axis (3) [length]."""
    width: int = 22


class GrainRequestPlaces(Columns):
    """Places in ``Grains.request``, the request for a sweep."""

    touches: int = 0
    """Whether to evaluate contacts."""
    time: int = 1
    """Time at which contacts are evaluated [time]."""
    lasts: int = 2
    """Time since the previous evaluation of contacts [time]."""
    records: int = 3
    """Whether to write whole contact records."""
    kicks: int = 4
    """Whether to kick."""
    done_time: int = 5
    """Length of the half kick that ends the step [time]."""
    due_time: int = 6
    """Length of the next half kick [time]."""
    drifts: int = 7
    """Length of the drift [time]."""
    threads: int = 8
    """Number of threads, which does not change the results."""
    width: int = 9


class GrainColumns(Columns):
    """Columns of a group of grains while it is kicked and drifts."""

    turn: int = 0
    """First of the columns of ``GRAIN_ROW`` (8): Euler parameters (4)."""
    turn_vector: int = 1
    """The last three Euler parameters."""
    inverse_inertia: int = 4
    home: int = 5
    place: int = 8
    """First of the columns of ``GRAIN_PLACE`` (6)."""
    wrap: int = 11
    load: int = 14
    """First of the sums over contacts, as in ``LOAD`` (8)."""
    load_force: int = 14
    load_torque: int = 18
    velocity: int = 22
    """First of the columns of ``MOTION``: velocity and inverse mass (4)."""
    inverse_mass: int = 25
    angular_velocity: int = 26
    """Angular velocity and kind (4)."""
    position: int = 30
    """Coordinates in the box and radius (4)."""
    acceleration: int = 34
    """First of the columns of ``GRAIN_ACCELERATION`` (6)."""
    angular_acceleration: int = 37
    outer_force: int = 40
    """Force by walls and drag (3) [force]."""
    outer_torque: int = 43
    """Torque by walls and drag about the centre (3) [force × length]."""
    drag_force: int = 46
    """Force by drag alone (3) [force]."""
    drag_torque: int = 49
    """Torque by drag alone (3) [force × length]."""
    cosine: int = 52
    """Cosine of half the angle of a rotation."""
    sine: int = 53
    """Sine of half the angle, over the angle."""
    far: int = 54
    """Square of the largest displacement of the grains at each position of a group [length²]."""
    least: int = 55
    """The least displacement along each axis since the last list (3) [length]."""
    most: int = 58
    """The largest displacement along each axis since the last list (3) [length]."""
    width: int = 61


GRAIN_ROW = GrainRowColumns()
GRAIN_PLACE = GrainPlaceColumns()
GRAIN_ACCELERATION = GrainAccelerationColumns()
GRAIN_LINE = GrainLineColumns()
GRAIN_DRAG = GrainDragColumns()
GRAIN_PARTIAL = GrainPartialColumns()
GRAIN_REQUEST = GrainRequestPlaces()
GRAIN = GrainColumns()
