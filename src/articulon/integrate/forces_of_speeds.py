"""Forces that read speeds, in friction-implicit steps.

In a kick, u⁺ = u + h/2 M⁻¹ (Γ(q, ū) − C(ū)), position-dependent forces are constant, and speed-dependent forces are
evaluated at the middle speeds ū, as velocity products are. So a kick is of second order and depends only on the state
at its start. It does not depend on the speeds of the latest evaluation, which a run resumed from a checkpoint does not
know.

Position-dependent forces are saved by channel once per step; speed-dependent forces are then added to copies of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.base import At, Term
from articulon.forces.evaluation_tables import ModelTables
from articulon.passes import Bound, pass_of


class ForcesOfSpeeds(NamedTuple):
    """The forces of a model that read speeds."""

    kinds: tuple[Term, ...]
    """Kinds and tables of these forces, without those that are taken implicitly."""
    where: At
    """The evaluation point and arrays that the forces are written to."""
    wrench_channels: np.ndarray
    """Channels in which these forces act by wrenches."""
    joint_channels: np.ndarray
    """Channels in which these forces act on joints."""
    wrench: np.ndarray
    """Saved wrenches of the other forces in these channels, shape (channels, links, 6)."""
    joint: np.ndarray
    """Saved joint forces of the other forces, shape (channels, nu)."""

    def begin(self) -> list[Bound]:
        """Save the forces in the channels; :meth:`at` adds speed-dependent forces to them."""
        if not self.kinds:
            return []
        channels = self.where.channels
        return [
            keep_channels.bind(self.wrench_channels, channels.wrench, self.wrench),
            keep_joints.bind(self.joint_channels, channels.joint, self.joint),
        ]

    def at(self, speeds: np.ndarray) -> list[Bound]:
        """Add speed-dependent forces at speeds (nu,), at which the links' velocities are known, to the saved forces."""
        channels, at = self.where.channels, self.where._replace(u=speeds)
        return [
            restore_channels.bind(self.wrench_channels, self.wrench, channels.wrench),
            restore_joints.bind(self.joint_channels, self.joint, channels.joint),
            *(bound for kind, table in self.kinds for bound in kind.fill_without_resistance(table, at)),
        ]


def forces_of_speeds(e: ModelTables, at: At) -> ForcesOfSpeeds:
    """The forces of a model that read speeds."""
    kinds = tuple(term for term in e.system.forces.terms if term.kind.reads_speeds(term.table))
    wrench, joint = set[int](), set[int]()
    for kind, table in kinds:
        by_wrenches, by_joints = kind.channels(table)
        wrench |= set(by_wrenches)
        joint |= set(by_joints)
    links, nu = e.system.forest.mass.size, e.model.nu
    return ForcesOfSpeeds(
        kinds,
        at,
        np.array(sorted(wrench), dtype=np.int64),
        np.array(sorted(joint), dtype=np.int64),
        e.zeros((len(wrench), links, 6)),
        e.zeros((len(joint), nu)),
    )


@pass_of
def keep_channels(channels, wrench, kept):
    """Save the wrenches (8, links, 6) of some channels."""
    for n in range(channels.size):
        copy_into(kept[n].reshape(-1), wrench[channels[n]].reshape(-1))


@pass_of
def restore_channels(channels, kept, wrench):
    """Restore the saved wrenches of some channels."""
    for n in range(channels.size):
        copy_into(wrench[channels[n]].reshape(-1), kept[n].reshape(-1))


@pass_of
def keep_joints(channels, joint, kept):
    """Save the joint forces (8, nu) of some channels."""
    for n in range(channels.size):
        copy_into(kept[n], joint[channels[n]])


@pass_of
def restore_joints(channels, kept, joint):
    """Restore the saved joint forces of some channels."""
    for n in range(channels.size):
        copy_into(joint[channels[n]], kept[n])
