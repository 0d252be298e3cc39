"""Which columns the tables of contacts have.

Each table has one record of column numbers, which kernels take for constants. Of a quantity with several components,
whose number stands in brackets, the record has the first column. Columns that are parts of another table's row have
names of their own: a loop whose indices have sums of constants in them does not become a vector loop.
"""

from articulon.columns import Columns


class MotionColumns(Columns):
    """Of ``Spheres.motion``: where a sphere is and how it moves, world frame. A row is a line and a half of memory."""

    position: int = 0
    """Of the centre (3) [length]."""
    radius: int = 3
    """[length]"""
    velocity: int = 4
    """Of the centre (3) [length/time]."""
    inverse_mass: int = 7
    """Of what carries the sphere [1/mass]."""
    spin: int = 8
    """Angular velocity (3) [angle/time]."""
    kind: int = 11
    """Number of the material."""
    width: int = 12


class LoadColumns(Columns):
    """Of ``Spheres.load``, a line of memory: the sums of what contacts do to a sphere, world frame."""

    force: int = 0
    """(3) [force]"""
    force_spare: int = 3
    """Stays empty."""
    torque: int = 4
    """About the centre (3) [force × length]."""
    torque_spare: int = 7
    """Stays empty."""
    width: int = 8


class LawColumns(Columns):
    """Of the law of two kinds, ``ContactTable.rows``; the units of stiffnesses and dampings are the law's."""

    stiffness: int = 0
    """4/3 E*, or the stiffness of a linear spring."""
    shear: int = 1
    """8 G*, or the tangential stiffness of a linear spring."""
    damping: int = 2
    """What the normal damping is a multiple of."""
    tangential_damping: int = 3
    """Tangential damping by the normal one."""
    static_friction: int = 4
    """Coefficient."""
    kinetic_friction: int = 5
    """Coefficient."""
    rolling: int = 6
    """Coefficient. From here on columns are of the resistance against rolling and twisting."""
    rolling_stiffness: int = 7
    rolling_damping: int = 8
    twisting: int = 9
    """Largest couple by the normal force [length]."""
    twisting_stiffness: int = 10
    twisting_damping: int = 11
    width: int = 12


class RecordColumns(Columns):
    """Of a contact's record, two lines of memory: ``Candidates.record`` and ``WallSlots.record``."""

    displacement: int = 0
    """Tangential displacement of the first sphere against the second at the last evaluation (3) [length]."""
    closing: int = 3
    """Relative velocity along the normal then, ``NEVER`` before there was one [length/time]."""
    force: int = 4
    """On the first (3) [force]."""
    elastic: int = 7
    """Elastic part of it along the normal [force]."""
    normal: int = 8
    """Unit vector from the second to the first (3)."""
    arm: int = 11
    """Arm of the torque on the first, −arm n × F [length]."""
    tangential_viscous: int = 12
    """Viscous part of the tangential force (3) [force]."""
    other_arm: int = 15
    """Arm of the torque on the second; of a contact with a wall the overlap [length]."""
    width: int = 16


class MemoryColumns(Columns):
    """Of all that the law asks of a contact's past, ``Candidates.memory``: the first ones of a record."""

    displacement: int = 0
    closing: int = 3
    width: int = 4


class ResistanceColumns(Columns):
    """Of what resists rolling and twisting: ``Candidates.resistance`` and ``WallSlots.resistance``."""

    couple: int = 0
    """On the first sphere (3) [force × length]."""
    roll: int = 3
    """Rolling displacement (3) [length]."""
    twist: int = 6
    """Angle of twist [angle]."""
    width: int = 7


class PastColumns(Columns):
    """Of what a list keeps of a contact between spheres, a line of memory, ``Kept.past``: those of ``MEMORY``, and
    behind them the following. Two stay empty."""

    since: int = 4
    """When the two touched [time]."""
    standing: int = 5
    """Whether it sticks or slides, as in ``Candidates.touches``."""
    width: int = 8


class KeptColumns(Columns):
    """Of a contact in a state, ``State.contacts.memory``, and in ``Kept.column``: those of ``RECORD``, and behind them
    the following."""

    since: int = 16
    """When the two touched [time]."""
    standing: int = 17
    """Whether it sticks or slides, as in ``Candidates.touches``."""
    resistance: int = 18
    """First of those of ``RESISTANCE`` (7)."""
    width: int = 25


class CountsPlaces(Columns):
    """In ``Candidates.counts``, ``WallSlots.counts`` and ``Kept.counts``, of which the first have but two and the last
    but one."""

    listed: int = 0
    """Candidates, slots or contacts."""
    exceeded: int = 1
    """Whether there was too little room for them."""
    fault: int = 2
    """What has gone wrong: ``LEFT``, ``PASSED`` or ``OVERRUN``."""
    sphere: int = 3
    """The sphere of it, in the order of the model."""
    wall: int = 4
    """The wall of it."""
    moved: int = 5
    """Whether a wall has gone so far that lists are wanted before its contacts are found."""
    width: int = 6


class SeenColumns(Columns):
    """Of what a pass sees in a block of places, ``Candidates.block`` and ``WallSlots.block``. First come the works
    since the last pass by line of the ledger (5)."""

    begun: int = 5
    """Contacts that begin."""
    ended: int = 6
    """Contacts that end."""
    durations: int = 7
    """Sum of how long those have lasted [time]."""
    longest: int = 8
    """The longest that one of them has [time]."""
    deepest: int = 9
    """Largest overlap by the smaller radius."""
    deep_first: int = 10
    """Whose it is, as in ``Kept.first`` ..."""
    deep_other: int = 11
    """... and ``Kept.other``."""
    viscous_to_come: int = 12
    """Power of damping in the half kick to come, as far as it is known [energy/time]."""
    friction_to_come: int = 13
    """The same in the line of friction."""
    width: int = 14


class TimesPlaces(Columns):
    """In ``State.contacts.times``: what passes have seen so far, as in ``SEEN``."""

    begun: int = 0
    ended: int = 1
    durations: int = 2
    longest: int = 3
    deepest: int = 4
    deep_first: int = 5
    deep_other: int = 6
    width: int = 7


class BatchFields(Columns):
    """Of some contacts whose law is evaluated together, each field with the values of all of them one behind the
    other; see ``contact_batches``."""

    position_i: int = 0
    """From here on the first sphere's row of ``MOTION`` (12)."""
    radius_i: int = 3
    velocity_i: int = 4
    inverse_mass_i: int = 7
    spin_i: int = 8
    kind_i: int = 11
    position_j: int = 12
    """From here on the second one's (12)."""
    radius_j: int = 15
    velocity_j: int = 16
    inverse_mass_j: int = 19
    spin_j: int = 20
    kind_j: int = 23
    load_force: int = 0
    """In the end from here on, in the place of the first fields, what the contact does, as a row of ``LOAD`` (8); its
    torques are for arms of one length."""
    load_force_spare: int = 3
    load_torque: int = 4
    load_torque_spare: int = 7
    old: int = 24
    """From here on what is remembered of the contact, as in ``MEMORY`` (4)."""
    old_displacement: int = 24
    old_closing: int = 27
    contact_width: int = 28
    """See ``contact_law.contact_width``."""
    depth: int = 29
    """Overlap, zero where the two are apart [length]."""
    damping: int = 30
    """See ``contact_law.damping_of``."""
    mass: int = 31
    """m* [mass]"""
    surface_velocity: int = 32
    """Of the first surface against the second (3) [length/time]."""
    turned: int = 35
    """Tangential displacement in the new tangent plane (3) [length]."""
    viscous: int = 38
    """Viscous normal force [force]."""
    tangential: int = 39
    """Tangential force (3) [force]."""
    new: int = 42
    """From here on the record as it will be, as in ``RECORD`` (16)."""
    new_displacement: int = 42
    new_closing: int = 45
    new_force: int = 46
    new_elastic: int = 49
    new_normal: int = 50
    new_arm: int = 53
    new_tangential_viscous: int = 54
    new_other_arm: int = 57
    slides: int = 58
    """1 where the surfaces slide, otherwise 0."""
    relative_depth: int = 59
    """Overlap by the smaller radius."""
    size: int = 60
    """R* [length]"""
    overlap: int = 61
    """Negative where the two are apart [length]."""
    touches: int = 62
    """As in ``Candidates.touches``. What stands behind the last contact of a batch parts, and does nothing."""
    law: int = 63
    """From here on the first columns of ``LAW`` (6), where there are several kinds."""
    width: int = 69


class WallMotionColumns(Columns):
    """Of ``Walls.motion``."""

    point: int = 0
    """Where the wall's point is at t = 0, without its swing (3) [length]."""
    velocity: int = 3
    """Of that point, without its swing (3) [length/time]."""
    amplitude: int = 6
    """Of its swing (3) [length]."""
    spin: int = 9
    """Angular velocity (3) [angle/time]."""
    rate: int = 12
    """Angular frequency of the swing [angle/time]."""
    width: int = 13


class WallPoseColumns(Columns):
    """Of ``Walls.pose``, at the time last asked for, world frame."""

    place: int = 0
    """Of the wall's point (3) [length]."""
    rotation: int = 3
    """From the wall's frame to the world's, row by row (9)."""
    velocity: int = 12
    """Of the point (3) [length/time]."""
    spin: int = 15
    """Angular velocity (3) [angle/time]."""
    direction: int = 18
    """Unit normal or axis (3)."""
    width: int = 21


class WallPlaceColumns(Columns):
    """Of a scratch of the places of walls that a sphere touches, world frame; shape (``TOUCHED``, 7)."""

    gap: int = 0
    """Distance of the wall from the centre [length]."""
    normal: int = 1
    """Unit vector from the wall to the centre (3)."""
    point: int = 4
    """Where on the wall (3) [length]."""
    width: int = 7


class WallNumberColumns(Columns):
    """Of a scratch of the numbers of those places; shape (``TOUCHED``, 3)."""

    wall: int = 0
    feature: int = 1
    part: int = 2
    """The edge or corner that is touched, −1 for a face."""
    width: int = 3


MOTION = MotionColumns()
LOAD = LoadColumns()
LAW = LawColumns()
RECORD = RecordColumns()
MEMORY = MemoryColumns()
RESISTANCE = ResistanceColumns()
PAST = PastColumns()
KEPT = KeptColumns()
COUNTS = CountsPlaces()
SEEN = SeenColumns()
TIMES = TimesPlaces()
BATCH = BatchFields()
WALL_MOTION = WallMotionColumns()
WALL_POSE = WallPoseColumns()
WALL_PLACE = WallPlaceColumns()
WALL_NUMBER = WallNumberColumns()
