"""Which columns the tables of contacts have.

Each table has one record of column numbers, which a kernel takes for constants. Of a quantity with several components
the record has the first column. A sum of a column and a component, ``RECORD.force + a``, is as good as a number but in
a vector loop, where what is added up has to have a name of its own.
"""

from typing import NamedTuple


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


RECORD = RecordColumns()
MEMORY = MemoryColumns()
RESISTANCE = ResistanceColumns()
PAST = PastColumns()
KEPT = KeptColumns()
