"""Contacts in the steps of bodies on joints: passes over their tables, each compiled separately."""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.contact.carried_spheres import (
    capacity_exceeded,
    follow_spheres,
    list_spheres,
    move_spheres,
    place_spheres,
    sum_contacts,
)
from articulon.forces.contact.contact_columns import COUNTS
from articulon.forces.contact.contact_history import KEEP_RECORDS
from articulon.forces.contact.contact_powers import pair_powers, wall_powers
from articulon.forces.contact.contact_tables import WORKS
from articulon.forces.sites.cells import LOST, OVERFLOW
from articulon.integrate.grain_verlet import RESISTANCE_PASS, meet_walls, sum_statistics
from articulon.model import Workspace
from articulon.passes import pass_of

SUCCEEDED, EXCEEDED, IMPOSSIBLE_POSITION = range(3)
"""Results of a pass: success; a list has overflowed; a sphere is at an impossible position."""


class LinkMotion(NamedTuple):
    """Positions and motions of links."""

    position: np.ndarray
    """Origins, shape (links, 3)."""
    rotation: np.ndarray
    """Orientations, row-major matrices, shape (links, 9)."""
    twist: np.ndarray
    """Twists of the links, shape (links, 6)."""


def motion_of(ws: Workspace) -> LinkMotion:
    """Positions and motions of the links of a workspace."""
    return LinkMotion(ws.position, ws.rotation, ws.twist)


@pass_of
def place_carried(carried, links, touching):
    """Compute the centres of the spheres at links whose poses are known."""
    place_spheres(carried, links, touching)


@pass_of
def take_places(touching, rebuild):
    """Load the positions (3, spheres) at which the lists were built, which determine the order of sums."""
    copy_into(touching.particles.site.reshape(-1), rebuild.reshape(-1))


@pass_of
def list_carried(touching, lists, refresh, found):
    """Build the lists of neighbours."""
    list_spheres(touching, lists, refresh)
    found[0] = EXCEEDED if capacity_exceeded(touching) else SUCCEEDED


@pass_of
def follow_carried(touching, lists, refresh, found):
    """Update the lists with the known positions of the spheres."""
    if follow_spheres(touching, lists, refresh):
        found[0] = SUCCEEDED
    else:
        found[0] = EXCEEDED if capacity_exceeded(touching) else IMPOSSIBLE_POSITION


@pass_of
def look(pairs, contacts, lists, carried, links, touching, now, times, found):
    """Evaluate all contacts at the time ``now[0]``, a time ``now[1]`` after the last evaluation, at links whose
    poses and velocities are known, and sum their wrenches on the links; without effect if a wall has moved and its
    list overflows."""
    time, h = now[0], now[1]
    move_spheres(carried, links, touching)
    meet_walls(contacts, lists, touching, time, h)
    if touching.walls.counts[COUNTS.exceeded] != 0:
        found[0] = EXCEEDED
        return
    pairs(touching, time, h)
    contacts[RESISTANCE_PASS](touching, time, h)
    sum_statistics(touching.candidates.block, times)
    sum_statistics(touching.walls.block, times)
    sum_contacts(carried, links, touching)
    found[0] = SUCCEEDED if touching.walls.counts[COUNTS.fault] == 0 else IMPOSSIBLE_POSITION


@pass_of
def book_contacts(carried, links, touching, span, works, line):
    """Add the works of contacts over a time ``span`` (1,), at links that move at their mean speeds, to the works from
    the place ``line`` on."""
    time, statistics = span[0], touching.candidates.block
    move_spheres(carried, links, touching)
    pair_powers(touching)
    for b in range(statistics.shape[0]):
        for k in range(WORKS):
            works[line + k] += time * statistics[b, k]
    for k in range(WORKS):
        statistics[0, k] = 0.0
    wall_powers(touching, statistics[0])
    for k in range(WORKS):
        works[line + k] += time * statistics[0, k]


@pass_of
def give_contacts(touching, lists, rebuild, found):
    """Store the positions at which the lists were built, and leave the contacts in ``kept``."""
    copy_into(rebuild.reshape(-1), touching.particles.reference.reshape(-1))
    lists[KEEP_RECORDS](touching)
    counts = touching.particles.counts
    found[0] = SUCCEEDED if counts[OVERFLOW] + counts[LOST] == 0 else IMPOSSIBLE_POSITION
