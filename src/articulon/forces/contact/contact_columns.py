"""Columns of the contact tables.

Each table has one record of column numbers, which kernels treat as constants. For a quantity with several components,
whose number is given in brackets, the record holds the first column. Columns of a row that is part of another table
have separate names, because the compiler does not vectorise a loop whose indices contain sums of constants.
"""

from articulon.columns import Columns


class MotionColumns(Columns):
    """Columns of ``Spheres.motion``: position and motion of a sphere, world frame. A row takes one and a half cache
    lines."""

    position: int = 0
    """Position of the centre (3) [length]."""
    radius: int = 3
    """Radius [length]."""
    velocity: int = 4
    """Velocity of the centre (3) [length/time]."""
    inverse_mass: int = 7
    """Inverse mass of the body that carries the sphere [1/mass]."""
    angular_velocity: int = 8
    """Angular velocity (3) [angle/time]."""
    kind: int = 11
    """Number of the material."""
    width: int = 12


class LoadColumns(Columns):
    """Columns of ``Spheres.load``, one cache line: the sum of the contact forces on a sphere, world frame."""

    force: int = 0
    """Force (3) [force]."""
    force_spare: int = 3
    """Unused."""
    torque: int = 4
    """Torque about the centre (3) [force × length]."""
    torque_spare: int = 7
    """Unused."""
    width: int = 8


class LawColumns(Columns):
    """Columns of ``ContactTable.rows``, the law for two kinds; the units of stiffnesses and dampings are those of the
    law."""

    stiffness: int = 0
    """4/3 E*, or the stiffness of a linear spring."""
    shear: int = 1
    """8 G*, or the tangential stiffness of a linear spring."""
    damping: int = 2
    """Factor of the normal damping."""
    tangential_damping: int = 3
    """Ratio of tangential to normal damping."""
    static_friction: int = 4
    """Coefficient of static friction."""
    kinetic_friction: int = 5
    """Coefficient of kinetic friction."""
    rolling: int = 6
    """Coefficient of rolling friction. The columns from here on are for rolling and twisting resistance."""
    rolling_stiffness: int = 7
    rolling_damping: int = 8
    twisting: int = 9
    """Ratio of the largest twisting couple to the normal force [length]."""
    twisting_stiffness: int = 10
    twisting_damping: int = 11
    width: int = 12


class RecordColumns(Columns):
    """Columns of a contact's record, two cache lines: ``Candidates.record`` and ``WallSlots.record``."""

    displacement: int = 0
    """Tangential displacement of the first sphere relative to the second at the last evaluation (3) [length]."""
    closing: int = 3
    """Relative normal velocity at the last evaluation, ``NEVER`` if there was none [length/time]."""
    force: int = 4
    """Force on the first sphere (3) [force]."""
    elastic: int = 7
    """Elastic part of the normal force [force]."""
    normal: int = 8
    """Unit vector from the second to the first (3)."""
    arm: int = 11
    """Arm of the torque on the first sphere, −arm n × F [length]."""
    tangential_viscous: int = 12
    """Viscous part of the tangential force (3) [force]."""
    other_arm: int = 15
    """Arm of the torque on the second sphere; for a contact with a wall the overlap [length]."""
    width: int = 16


class MemoryColumns(Columns):
    """Columns of ``Candidates.memory``, the contact history that the law needs: the first columns of a record."""

    displacement: int = 0
    closing: int = 3
    width: int = 4


class ResistanceColumns(Columns):
    """Columns of the rolling and twisting resistance: ``Candidates.resistance`` and ``WallSlots.resistance``."""

    couple: int = 0
    """Couple on the first sphere (3) [force × length]."""
    roll: int = 3
    """Rolling displacement (3) [length]."""
    twist: int = 6
    """Angle of twist [angle]."""
    width: int = 7


class HistoryColumns(Columns):
    """Columns of ``Kept.history``, the history that a list keeps of a contact between spheres, one cache line. The
    columns of ``MEMORY`` come first, then the following. Two are unused."""

    since: int = 4
    """Time at which the contact began [time]."""
    friction_state: int = 5
    """Whether it sticks or slides, as in ``Candidates.touches``."""
    width: int = 8


class KeptColumns(Columns):
    """Columns of a contact in a state, ``State.contacts.memory``, and in ``Kept.column``: the columns of ``RECORD``,
    then the following."""

    since: int = 16
    """Time at which the contact began [time]."""
    friction_state: int = 17
    """Whether it sticks or slides, as in ``Candidates.touches``."""
    resistance: int = 18
    """First of the columns of ``RESISTANCE`` (7)."""
    width: int = 25


class CountsPlaces(Columns):
    """Entries of ``Candidates.counts`` (only the first two), of ``WallSlots.counts`` and of ``Kept.counts`` (only the
    first)."""

    listed: int = 0
    """Number of candidates, slots or contacts."""
    exceeded: int = 1
    """Whether they exceeded the capacity."""
    fault: int = 2
    """Fault, if any: ``LEFT``, ``PASSED`` or ``OVERRUN``."""
    sphere: int = 3
    """Sphere of the fault, in the order of the model."""
    wall: int = 4
    """Wall of the fault."""
    moved: int = 5
    """Whether a wall has moved so far that lists must be rebuilt before its contacts are found."""
    width: int = 6


class StatisticsColumns(Columns):
    """Columns of ``Candidates.block`` and ``WallSlots.block``: quantities that a pass records for a block of places.
    The works since the last pass come first, by ledger line (5)."""

    begun: int = 5
    """Number of contacts that begin."""
    ended: int = 6
    """Number of contacts that end."""
    durations: int = 7
    """Sum of the durations of the contacts that ended [time]."""
    longest: int = 8
    """Longest of these durations [time]."""
    deepest: int = 9
    """Largest ratio of overlap to smaller radius."""
    deep_first: int = 10
    """First sphere of the deepest contact, as in ``Kept.first``."""
    deep_other: int = 11
    """Second sphere or wall of the deepest contact, as in ``Kept.other``."""
    viscous_to_come: int = 12
    """Power of damping in the next half kick, as far as it is known [energy/time]."""
    friction_to_come: int = 13
    """Power in the next half kick that is booked as friction, as far as it is known [energy/time]."""
    width: int = 14


class TimesPlaces(Columns):
    """Columns of ``State.contacts.times``: totals of all passes so far, as in ``STATISTICS``."""

    begun: int = 0
    ended: int = 1
    durations: int = 2
    longest: int = 3
    deepest: int = 4
    deep_first: int = 5
    deep_other: int = 6
    width: int = 7


class BatchFields(Columns):
    """Fields of a batch of contacts whose law is evaluated together. Each field holds the values of all contacts
    contiguously; see ``contact_batches``."""

    position_i: int = 0
    """Start of the first sphere's row of ``MOTION`` (12)."""
    radius_i: int = 3
    velocity_i: int = 4
    inverse_mass_i: int = 7
    angular_velocity_i: int = 8
    kind_i: int = 11
    position_j: int = 12
    """Start of the second sphere's row of ``MOTION`` (12)."""
    radius_j: int = 15
    velocity_j: int = 16
    inverse_mass_j: int = 19
    angular_velocity_j: int = 20
    kind_j: int = 23
    load_force: int = 0
    """Start of the resulting loads, as a row of ``LOAD`` (8), which finally replace the first fields; torques are those
    for arms of unit length."""
    load_force_spare: int = 3
    load_torque: int = 4
    load_torque_spare: int = 7
    old: int = 24
    """Start of the contact history, as in ``MEMORY`` (4)."""
    old_displacement: int = 24
    old_closing: int = 27
    contact_width: int = 28
    """See ``contact_law.contact_width``."""
    depth: int = 29
    """Overlap, zero if the two are apart [length]."""
    damping: int = 30
    """See ``contact_law.damping_of``."""
    mass: int = 31
    """Reduced mass m* [mass]."""
    surface_velocity: int = 32
    """Velocity of the first surface relative to the second (3) [length/time]."""
    rotated: int = 35
    """Tangential displacement in the new tangent plane (3) [length]."""
    viscous: int = 38
    """Viscous normal force [force]."""
    tangential: int = 39
    """Tangential force (3) [force]."""
    new: int = 42
    """Start of the new record, as in ``RECORD`` (16)."""
    new_displacement: int = 42
    new_closing: int = 45
    new_force: int = 46
    new_elastic: int = 49
    new_normal: int = 50
    new_arm: int = 53
    new_tangential_viscous: int = 54
    new_other_arm: int = 57
    slides: int = 58
    """1 if the surfaces slide, otherwise 0."""
    relative_depth: int = 59
    """Ratio of overlap to smaller radius."""
    size: int = 60
    """Reduced radius R* [length]."""
    overlap: int = 61
    """Overlap, negative if the two are apart [length]."""
    touches: int = 62
    """Contact state, as in ``Candidates.touches``. Padding entries behind the last contact of a batch have the state
    "apart" and have no effect."""
    law: int = 63
    """Start of the first columns of ``LAW`` (6), if there are several kinds."""
    width: int = 69


class WallMotionColumns(Columns):
    """Columns of ``Walls.motion``."""

    point: int = 0
    """Position of the wall's reference point at t = 0, without its oscillation (3) [length]."""
    velocity: int = 3
    """Velocity of the reference point, without its oscillation (3) [length/time]."""
    amplitude: int = 6
    """Amplitude of the oscillation (3) [length]."""
    angular_velocity: int = 9
    """Angular velocity (3) [angle/time]."""
    rate: int = 12
    """Angular frequency of the oscillation [angle/time]."""
    width: int = 13


class WallPoseColumns(Columns):
    """Columns of ``Walls.pose``, at the latest time for which walls were placed, world frame."""

    place: int = 0
    """Position of the wall's reference point (3) [length]."""
    rotation: int = 3
    """Rotation matrix from the wall's frame to the world, row by row (9)."""
    velocity: int = 12
    """Velocity of the reference point (3) [length/time]."""
    angular_velocity: int = 15
    """Angular velocity (3) [angle/time]."""
    direction: int = 18
    """Unit normal or axis (3)."""
    width: int = 21


class WallPlaceColumns(Columns):
    """Columns of a scratch array of wall places that a sphere touches, world frame; shape (``TOUCHED``, 7)."""

    gap: int = 0
    """Distance from the wall to the centre [length]."""
    normal: int = 1
    """Unit vector from the wall to the centre (3)."""
    point: int = 4
    """Contact point on the wall (3) [length]."""
    width: int = 7


class WallNumberColumns(Columns):
    """Columns of a scratch array of the numbers of those places; shape (``TOUCHED``, 3)."""

    wall: int = 0
    feature: int = 1
    part: int = 2
    """Edge or corner that is touched, −1 for a face."""
    width: int = 3


MOTION = MotionColumns()
LOAD = LoadColumns()
LAW = LawColumns()
RECORD = RecordColumns()
MEMORY = MemoryColumns()
RESISTANCE = ResistanceColumns()
HISTORY = HistoryColumns()
KEPT = KeptColumns()
COUNTS = CountsPlaces()
STATISTICS = StatisticsColumns()
TIMES = TimesPlaces()
BATCH = BatchFields()
WALL_MOTION = WallMotionColumns()
WALL_POSE = WallPoseColumns()
WALL_PLACE = WallPlaceColumns()
WALL_NUMBER = WallNumberColumns()
