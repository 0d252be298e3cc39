"""Tables that the impact kernels read: spheres on links, pairs that can meet, walls at rest, and stops."""

from typing import NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.forces.contact.wall_tables import Walls, wall_tables
from articulon.forces.contact.walls import parts_of
from articulon.forces.impacts.hard_cores import HardCores, core_classes, cores_of
from articulon.forces.impacts.impacts import impacts_of
from articulon.forces.impacts.joint_limits import Limit, limits_of
from articulon.forces.selection import on_link
from articulon.forces.sites.exclusions import near_by_joints
from articulon.forces.sites.nearest_images import cell_of
from articulon.forces.sites.site_tables import Cell
from articulon.model import Model
from articulon.model.joints import REVOLUTE

STOP = -1
"""Value that replaces the number of the first sphere in the contact of a stop; the second number is then that of the
stop."""
TOUCH = 1e-12
"""Gap below which two objects touch, relative to the size of the terms whose difference is the gap."""
MOST_SPHERES = 4000
"""Largest number of spheres, because every pair is examined in every step."""

MOST_PRESSED = 128
"""Largest number of contacts that rest at a time."""


class ImpactTable(NamedTuple):
    """All spheres, walls and stops that can have impacts. A contact is named by two numbers. The first is the index of
    a sphere, and the second that of another sphere, or the number of spheres plus the feature of a wall. For a stop
    they are ``STOP`` and the number of the stop.
    """

    link: np.ndarray
    """Link that carries each sphere, −1 for the ground, shape (spheres,)."""
    local: np.ndarray
    """Centre of each sphere in its link's frame, or in the world for the ground [length], shape (spheres, 3)."""
    radius: np.ndarray
    """Radius of each sphere [length], shape (spheres,)."""
    kind: np.ndarray
    """Kind of each sphere, −1 for one that only has a hard core, shape (spheres,)."""
    walled: np.ndarray
    """Number of spheres that have a radius and therefore can hit walls; they come first, shape (1,)."""
    core: np.ndarray
    """Class of each sphere for hard cores, shape (spheres,)."""
    core_size: np.ndarray
    """Distance at which the cores of two classes touch [length], 0 without cores, shape (classes, classes)."""
    core_constants: np.ndarray
    """Restitution of hard cores, and the approach speed below which cores come to rest against each other, −1 for
    never, shape (2,)."""
    pair: np.ndarray
    """Pairs of spheres that can meet, the lower first, shape (pairs, 2)."""
    cell: Cell
    """The box."""
    walls: Walls
    """The walls, at their poses."""
    wall_of: np.ndarray
    """Wall of each feature, shape (features,)."""
    restitution: np.ndarray
    """Coefficient of restitution e of two kinds, shape (kinds, kinds)."""
    friction: np.ndarray
    """Coefficient of friction μ of two kinds, shape (kinds, kinds)."""
    resting: np.ndarray
    """Approach speed below which spheres come to rest, −1 for never [length/time], shape (1,)."""
    stop_coordinate: np.ndarray
    """Coordinate of each stop, shape (stops,)."""
    stop_speed: np.ndarray
    """Speed of each stop, shape (stops,)."""
    stop_link: np.ndarray
    """Link that the joint of each stop carries, shape (stops,)."""
    stop: np.ndarray
    """Bound, side, restitution, speed below which it comes to rest (−1 for never), and the size relative to which a gap
    is measured, shape (stops, 5)."""


class Named(NamedTuple):
    """Names of spheres, walls and stops in messages."""

    spheres: np.ndarray
    """Site of each sphere."""
    walls: tuple[str, ...]
    """Name of each wall."""
    stops: tuple[str, ...]
    """Name of each stop."""


def impact_table(model: Model) -> tuple[ImpactTable, Named]:
    """Build the tables of a model that has impacts or joint limits.

    Raises
    ------
    ModelError
        If there are too many spheres.
    """
    law, sites, cores = impacts_of(model), model.sites, cores_of(model)
    spheres = np.flatnonzero(sites.radius > 0.0) if law is not None else np.zeros(0, dtype=np.int64)
    walled = spheres.size
    spheres = np.concatenate([spheres, np.setdiff1d(cores.pair, spheres)])
    if spheres.size > MOST_SPHERES:
        raise ModelError(
            f"impacts: {spheres.size} spheres exceed the limit of {MOST_SPHERES}, because every pair is "
            "examined in every step; use fewer, or contacts instead of impacts"
        )
    link = model.site_links[spheres].astype(np.int64) if spheres.size else np.zeros(0, dtype=np.int64)
    local = np.zeros((spheres.size, 3))
    for s, site in enumerate(spheres.tolist()):
        body = int(sites.body[site])
        local[s] = sites.position[site] if body < 0 else on_link(model, body, sites.position[site])
    walls, names, materials = wall_tables([]), tuple[str, ...](), tuple[str, ...]()
    e = mu = np.zeros((0, 0))
    if law is not None:
        pairs = law.table(model)
        parts = parts_of(law.walls, model, "walls")
        reach = float(sites.radius[spheres].max(initial=0.0))
        walls, e, mu, materials = wall_tables(parts, pairs.names, reach), pairs.restitution, pairs.friction, pairs.names
        names = tuple(part.name.rstrip(",") for part in parts)
    stops = limits_of(model)
    core, core_size = core_classes(model, spheres, cores)
    table = ImpactTable(
        link=link,
        local=local,
        radius=sites.radius[spheres].astype(np.float64),
        kind=np.array(
            [materials.index(sites.kinds[k]) if s < walled else -1 for s, k in enumerate(sites.kind[spheres].tolist())],
            dtype=np.int64,
        ),
        walled=np.array([walled], dtype=np.int64),
        core=core,
        core_size=core_size,
        core_constants=np.array([cores.restitution, cores.resting_speed]),
        pair=_pairs(model, spheres[:walled], 0 if law is None else law.excluded_joints, spheres, cores),
        cell=cell_of(model),
        walls=walls,
        wall_of=np.repeat(np.arange(walls.shape.size), np.diff(walls.feature)).astype(np.int64),
        restitution=np.ascontiguousarray(e),
        friction=np.ascontiguousarray(mu),
        resting=np.array([-1.0 if law is None or law.resting_speed is None else float(law.resting_speed)]),
        stop_coordinate=np.array([stop.coordinate for stop in stops], dtype=np.int64),
        stop_speed=np.array([stop.speed for stop in stops], dtype=np.int64),
        stop_link=np.array([model.link[stop.body] for stop in stops], dtype=np.int64),
        stop=np.array([_stop_row(model, stop) for stop in stops]).reshape(-1, 5),
    )
    called = tuple(
        f"the {'lower' if stop.side > 0.0 else 'upper'} limit of the joint of '{model.names[stop.body]}'"
        for stop in stops
    )
    return table, Named(spheres, names, called)


def _stop_row(model: Model, stop: Limit) -> tuple[float, ...]:
    """Return a row of ``ImpactTable.stop``."""
    lengths = float(np.abs(model.forest.position).max(initial=0.0))
    size = max(abs(stop.bound), 1.0 if int(model.kinds[stop.body]) == REVOLUTE else lengths)
    return stop.bound, stop.side, stop.restitution, stop.resting_speed, size


def _pairs(model: Model, spheres: np.ndarray, joints: int, every: np.ndarray, cores: HardCores) -> np.ndarray:
    """Return the pairs of spheres that can meet: those on bodies that are enough joints apart and not both on the
    ground; and pairs of hard cores."""
    first, second = np.triu_indices(spheres.size, 1)
    link = model.site_links[spheres]
    meets = link[first] != link[second]
    if spheres.size > 1 and joints:
        start, near = near_by_joints(model, spheres, joints)
        apart = np.ones((spheres.size, spheres.size), dtype=bool)
        apart[np.repeat(np.arange(spheres.size), np.diff(start)), near] = False
        meets &= apart[first, second]
    found = np.stack([first[meets], second[meets]], axis=1)
    if cores.size.size:
        place = np.zeros(model.sites.radius.size, dtype=np.int64)
        place[every] = np.arange(every.size)
        found = np.unique(np.concatenate([found, np.sort(place[cores.pair], axis=1)]), axis=0)
    return found.astype(np.int64)


def most_resting(table: ImpactTable) -> int:
    """Largest number of contacts that may rest at a time: the maximum for equal spheres, plus every stop."""
    spheres = table.link.size
    every = len(table.pair) + int(table.walled[0]) * table.wall_of.size
    return min(every, 9 * spheres) + table.stop_speed.size
