"""The condition on the energy that locking takes out."""

from typing import Literal

from articulon.adaptive.conditions.condition_base import TriedCondition


class Energy(TriedCondition):
    """Kinetic energy that locking this joint or mode would take out.

    They are tried one after the other, each with those before it already locked or released. In thermal motion this
    energy is distributed as that of its degrees of freedom by themselves, whatever the coordinates, so that a
    lock chosen by it says nothing of them.
    """

    when: Literal["energy"] = "energy"
