"""Which columns the tables of grains have; see ``contact_columns``, which has those of contacts."""

from articulon.columns import Columns
from articulon.forces.contact.contact_tables import WORKS

GROUP = 32
"""Grains that are kicked, and then drift; in ``Grains.row``, ``place`` and ``push`` the values of a column are one
behind the other in each group."""
FALL_WORK, DRAG_WORK = WORKS, WORKS + 1
LINES = WORKS + 2
"""Lines of the ledger: those of contacts, gravity and drag."""


class GrainRowColumns(Columns):
    """Of ``Grains.row``."""

    turn: int = 0
    """Euler parameters (4)."""
    inverse_inertia: int = 4
    """Inverse moment of inertia [1/(mass × length²)]."""
    home: int = 5
    """Coordinates at the last list, unwrapped (3) [length]."""
    width: int = 8


class GrainPlaceColumns(Columns):
    """Of ``Grains.place``."""

    place: int = 0
    """Coordinates, unwrapped (3) [length]."""
    wrap: int = 3
    """What brings them into the box (3) [length]."""
    width: int = 6


class GrainPushColumns(Columns):
    """Of ``Grains.push``, world frame."""

    acceleration: int = 0
    """(3) [length/time²]"""
    spin_acceleration: int = 3
    """Angular acceleration (3) [angle/time²]."""
    width: int = 6


class GrainLineColumns(Columns):
    """Of ``Grains.line``, world frame."""

    place: int = 0
    """Coordinates, unwrapped (3) [length]."""
    turn: int = 3
    """Euler parameters (4)."""
    velocity: int = 7
    """(3) [length/time]"""
    spin: int = 10
    """Angular velocity (3) [angle/time]."""
    width: int = 13


class GrainDragColumns(Columns):
    """Of ``Grains.drag`` and ``Grains.drags``."""

    translation: int = 0
    """Drag coefficient of translation [force × time/length]."""
    rotation: int = 1
    """Drag coefficient of rotation [force × length × time]."""
    flow: int = 2
    """Velocity of the fluid (3) [length/time]."""
    width: int = 5


class GrainPartialColumns(Columns):
    """Of ``Grains.partial``, sums and extremes over a block of grains."""

    way: int = 0
    """Square of the longest way since the last list, ``Grains.middle`` taken off [length²]."""
    finite: int = 1
    """A sum that is finite where all accelerations are."""
    done: int = 2
    """Powers by line in the half kick that is done (7) [energy/time]."""
    due: int = 9
    """The same in the next one (7) [energy/time]."""
    low: int = 16
    """The least that any has gone along each axis (3) [length]."""
    high: int = 19
    """The most (3) [length]."""
    width: int = 22


class GrainAskPlaces(Columns):
    """In ``Grains.ask``: what a sweep is to do."""

    touches: int = 0
    """Whether to evaluate contacts, ..."""
    time: int = 1
    """... at what time [time], ..."""
    lasts: int = 2
    """... how long after the last time [time], ..."""
    records: int = 3
    """... and whether to write whole records."""
    kicks: int = 4
    """Whether to kick, ..."""
    done_time: int = 5
    """... for how long [time], ..."""
    due_time: int = 6
    """... and for how long the next time [time]."""
    drifts: int = 7
    """How long to drift [time]."""
    threads: int = 8
    """Number of threads, on which no bit depends."""
    width: int = 9


class GrainColumns(Columns):
    """Of a group of grains while it is kicked and drifts."""

    turn: int = 0
    """From here on those of ``GRAIN_ROW`` (8): Euler parameters (4)."""
    turn_vector: int = 1
    """The last three of them."""
    inverse_inertia: int = 4
    home: int = 5
    place: int = 8
    """From here on those of ``GRAIN_PLACE`` (6)."""
    wrap: int = 11
    load: int = 14
    """From here on what contacts have added up, as in ``LOAD`` (8)."""
    load_force: int = 14
    load_torque: int = 18
    velocity: int = 22
    """From here on those of ``MOTION``, first velocity and inverse mass (4)."""
    inverse_mass: int = 25
    spin: int = 26
    """Angular velocity and kind (4)."""
    position: int = 30
    """Coordinates in the box and radius (4)."""
    acceleration: int = 34
    """From here on those of ``GRAIN_PUSH`` (6)."""
    spin_acceleration: int = 37
    outer_force: int = 40
    """What walls and drag do (3) [force]."""
    outer_torque: int = 43
    """About the centre (3) [force × length]."""
    drag_force: int = 46
    """Of drag alone (3) [force]."""
    drag_torque: int = 49
    """(3) [force × length]"""
    cosine: int = 52
    """Of half the angle of a rotation."""
    sine: int = 53
    """Of half the angle, by the angle."""
    far: int = 54
    """Square of the longest way of the grains in each place of a group [length²]."""
    least: int = 55
    """The least that they have gone along each axis since the last list (3) [length]."""
    most: int = 58
    """The most (3) [length]."""
    width: int = 61


GRAIN_ROW = GrainRowColumns()
GRAIN_PLACE = GrainPlaceColumns()
GRAIN_PUSH = GrainPushColumns()
GRAIN_LINE = GrainLineColumns()
GRAIN_DRAG = GrainDragColumns()
GRAIN_PARTIAL = GrainPartialColumns()
GRAIN_ASK = GrainAskPlaces()
GRAIN = GrainColumns()
