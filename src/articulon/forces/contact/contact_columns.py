"""Which columns the tables of contacts have.

Each table has one record of column numbers, which a kernel takes for constants. Of a quantity with several components
the record has the first column. A sum of a column and a component, ``RECORD.force + a``, is as good as a number but in
a vector loop, where what is added up has to have a name of its own.
"""

from typing import NamedTuple


class MotionColumns(NamedTuple):
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


class LoadColumns(NamedTuple):
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


class LawColumns(NamedTuple):
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


class RecordColumns(NamedTuple):
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


class MemoryColumns(NamedTuple):
    """Of all that the law asks of a contact's past, ``Candidates.memory``: the first ones of a record."""

    displacement: int = 0
    closing: int = 3
    width: int = 4


class ResistanceColumns(NamedTuple):
    """Of what resists rolling and twisting: ``Candidates.resistance`` and ``WallSlots.resistance``."""

    couple: int = 0
    """On the first sphere (3) [force × length]."""
    roll: int = 3
    """Rolling displacement (3) [length]."""
    twist: int = 6
    """Angle of twist [angle]."""
    width: int = 7


class PastColumns(NamedTuple):
    """Of what a list keeps of a contact between spheres, a line of memory, ``Kept.past``: those of ``MEMORY``, and
    behind them the following. Two stay empty."""

    since: int = 4
    """When the two touched [time]."""
    standing: int = 5
    """Whether it sticks or slides, as in ``Candidates.touches``."""
    width: int = 8


class KeptColumns(NamedTuple):
    """Of a contact in a state, ``State.contacts.memory``, and in ``Kept.column``: those of ``RECORD``, and behind them
    the following."""

    since: int = 16
    """When the two touched [time]."""
    standing: int = 17
    """Whether it sticks or slides, as in ``Candidates.touches``."""
    resistance: int = 18
    """First of those of ``RESISTANCE`` (7)."""
    width: int = 25


class CountsPlaces(NamedTuple):
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


class SeenColumns(NamedTuple):
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


class TimesPlaces(NamedTuple):
    """In ``State.contacts.times``: what passes have seen so far, as in ``SEEN``."""

    begun: int = 0
    ended: int = 1
    durations: int = 2
    longest: int = 3
    deepest: int = 4
    deep_first: int = 5
    deep_other: int = 6
    width: int = 7


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
