"""The condition on the kinetic energy that locking removes."""

from typing import Literal

from articulon.adaptive.conditions.condition_base import TriedCondition


class Energy(TriedCondition):
    """True if locking the joint or mode would remove less kinetic energy than a bound.

    Joints and modes are tried one after the other; at each trial, the previous ones are already locked or released. In
    thermal motion, the distribution of the removed energy depends only on the number of degrees of freedom of the joint
    or mode, and not on the coordinates. The choice of locks therefore does not bias the coordinates.
    """

    when: Literal["energy"] = "energy"
