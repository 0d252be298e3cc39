"""The condition on the kinetic energy that locking removes."""

from typing import Literal

from articulon.adaptive.conditions.condition_base import TriedCondition


class Energy(TriedCondition):
    """Kinetic energy that locking this joint or mode would remove.

    Parts are tried one after the other, each with the previous ones already locked or released. In thermal motion the
    distribution of this energy is that of the part's own degrees of freedom, independent of the coordinates, so that
    the choice of locks does not bias the coordinates.
    """

    when: Literal["energy"] = "energy"
