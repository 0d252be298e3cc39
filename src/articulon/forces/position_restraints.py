"""Position restraints: harmonic springs that hold points of bodies, or sites, at target positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from articulon.algebra.vectors import load, sub
from articulon.declaration import BodyName, Dimension, Quantity, Whole, nearest
from articulon.dynamics import body_poses
from articulon.errors import ModelError
from articulon.forces.atom_names import sites_selected
from articulon.forces.base import AdjointAt, At, EnergyAt, Force, Merging, TangentAt
from articulon.forces.point_springs import arm_of, end_adjoint, end_changes, motion_of, place_of, pull_at, pull_change
from articulon.forces.selection import on_link, selected
from articulon.forces.sites.site_positions import site_places, site_positions
from articulon.kernels import preparing_at_once
from articulon.model import Model
from articulon.model.array_rotations import matrices
from articulon.model.state import POTENTIAL
from articulon.passes import Bound, pass_of

Point = tuple[Quantity, Quantity, Quantity]


class Restraints(NamedTuple):
    """Restrained points."""

    link: np.ndarray
    """Link that carries each point, shape (points,)."""
    local: np.ndarray
    """The point in the link's frame [length], shape (points, 3)."""
    target: np.ndarray
    """Target position of each point, world frame [length], shape (points, 3)."""
    stiffness: np.ndarray
    """Stiffness along the world axes [force/length], shape (points, 3)."""


class PositionRestraint(Force):
    """U = ½ Σ (k_x (x − x₀)² + k_y (y − y₀)² + k_z (z − z₀)²) of points of bodies, or of sites.

    One stiffness holds a point in every direction. Three stiffnesses act along the axes of the world, and 0 leaves a
    direction free: ``(0, 0, k)`` holds a point in a plane. In a periodic box the restraint acts on the unwrapped
    position.
    """

    energy_channel = POTENTIAL
    side_by_side: ClassVar[bool] = True

    kind: Literal["position-restraint"] = "position-restraint"
    name: str | None = None
    """Name of the restraint, to distinguish several."""
    bodies: tuple[BodyName, ...] = ()
    """Restrained bodies; a name ending in ``*`` means all bodies whose names begin so."""
    point: Literal["centre"] | Annotated[Point, Dimension("length")] = "centre"
    """Restrained point of each body: its centre of mass, or a point of its frame [length]."""
    sites: tuple[Whole, ...] = ()
    """Restrained sites, by index."""
    groups: tuple[str, ...] = ()
    """Groups of restrained sites."""
    select: str | None = None
    """Restrained atoms, in MDAnalysis's language: ``"name CA"``, ``"backbone"``."""
    to: Literal["initial"] | Annotated[Point, Dimension("length")] = "initial"
    """Target: the position in the model's initial coordinates, or one point of the world [length]."""
    stiffness: Annotated[Quantity | Point, Dimension("stiffness", minimum=0)]
    """k [force/length], or one value for each axis of the world."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.bodies or self.sites or self.groups or self.select is not None):
            raise ValueError("give bodies, sites, groups or select: what to hold")
        if self.point != "centre" and not self.bodies:
            raise ValueError("point refers to bodies; sites have their own positions: give bodies, or leave it out")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for bodies, sites or groups that do not exist, or that belong to the ground."""
        self.points(model, where)

    def points(self, model: Model, where: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Link, position in its frame, and initial position in the world of every point, (n,), (n, 3) and (n, 3)."""
        bodies = selected(model, self.bodies, f"{where}.bodies")
        with preparing_at_once():  # the targets are needed before other kernels are requested
            positions, rotations = body_poses(model, model.q0)
        found = []
        for k in bodies.tolist():
            if self.point == "centre":
                local = model.centres[k]
            else:
                local = np.array([float(x) for x in self.point])
            if model.link[k] < 0:
                raise ModelError(f"{where}.bodies: body '{model.names[k]}' is welded to the ground and cannot move")
            world = positions[k] + matrices(rotations[k]) @ local
            found.append((int(model.link[k]), on_link(model, k, local), world))
        sites = self._sites(model, where)
        if sites:
            link, place = site_places(model)
            world = site_positions(model, model.q0)
            for s in sites:
                if link[s] < 0:
                    raise ModelError(f"{where}.sites: site {s} is on the ground and cannot move")
                found.append((int(link[s]), place[s], world[s]))
        columns = zip(*found, strict=True)
        links, places, worlds = (np.array(column) for column in columns)
        return links.astype(np.int64), places, worlds

    def _sites(self, model: Model, where: str) -> list[int]:
        """Indices of the restrained sites."""
        chosen: list[int] = []
        for k, site in enumerate(self.sites):
            if not 0 <= site < model.sites.body.size:
                raise ModelError(
                    f"{where}.sites[{k}]: there is no site {site}; the model has {model.sites.body.size}, from 0"
                )
            chosen.append(site)
        for k, group in enumerate(self.groups):
            if group not in model.sites.groups:
                raise ModelError(
                    f"{where}.groups[{k}]: there is no group '{group}'{nearest(group, list(model.sites.groups))}"
                )
            chosen += np.flatnonzero(model.sites.group == model.sites.groups.index(group)).tolist()
        if self.select is not None:
            chosen += sites_selected(model, self.select, f"{where}.select")
        counts = Counter(chosen)
        twice = sorted(site for site, count in counts.items() if count > 1)[:1]
        if twice:
            raise ModelError(f"{where}: site {twice[0]} is named twice, which would double its stiffness; name it once")
        return chosen

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> Restraints:
        """See :class:`Force`."""
        found = [(force, *force.points(model, where)) for where, force in declared]
        targets = [
            world if force.to == "initial" else np.tile([float(x) for x in force.to], (link.size, 1))
            for force, link, _, world in found
        ]
        stiffness = [
            np.tile(np.broadcast_to(_three(force.stiffness), 3), (link.size, 1)) for force, link, _, _ in found
        ]
        return Restraints(
            np.concatenate([link for _, link, _, _ in found]),
            np.concatenate([local for _, _, local, _ in found]),
            np.concatenate(targets),
            np.concatenate(stiffness),
        )

    @classmethod
    def channels(cls, table: Restraints) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (POTENTIAL,), ()

    @classmethod
    def reads_speeds(cls, table: Restraints) -> bool:
        """See :class:`Force`."""
        return False

    @classmethod
    def fill(cls, table: Restraints, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield restraint_wrenches.bind(table, at.ws, at.channels.wrench[POTENTIAL])

    @classmethod
    def energy(cls, table: Restraints, at: EnergyAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield restraint_energy.bind(table, at.ws, at.result)

    @classmethod
    def adjoint(cls, table: Restraints, gradient: Restraints, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield restraint_adjoint.bind(table, gradient, at.ws, at.motion, at.by_place, at.by_velocity)

    @classmethod
    def tangent(cls, table: Restraints, change: Restraints, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield restraint_tangent.bind(table, change, at.ws, at.moved, at.twist, at.wrench)

    @classmethod
    def coarsen(cls, table: Restraints, merging: Merging, links: int, speeds: int) -> Restraints | None:
        """See :class:`Force`. A body that is merged with the ground has no restraint there, because its energy is
        constant."""
        link, local = merging.carriers(table.link), merging.points(table.link, table.local)
        left = link >= 0
        return (
            Restraints(*(column[left] for column in (link, local, table.target, table.stiffness)))
            if left.any()
            else None
        )


def _three(stiffness: Any) -> np.ndarray:
    return np.array([float(k) for k in stiffness] if isinstance(stiffness, tuple) else [float(stiffness)] * 3)


@pass_of
def restraint_wrenches(table, ws, wrench):
    """Add −k (x − x₀) of every point to its link's wrench."""
    links, local, target, stiffness = table.link, table.local, table.target, table.stiffness
    for r in range(links.size):
        i = links[r]
        arm = arm_of(i, load(local, r), ws)
        d, k = sub(place_of(i, arm, ws), load(target, r)), load(stiffness, r)
        pull_at(wrench, i, arm, (-k[0] * d[0], -k[1] * d[1], -k[2] * d[2]))


@pass_of
def restraint_adjoint(table, gradient, ws, motion, by_place, by_velocity):
    """Add the derivatives of −Σ k (x − x₀) V with respect to displacements of links (links, 6) and to the numbers of
    the table. V is the virtual velocity of a point."""
    for r in range(table.link.size):
        i = table.link[r]
        arm = arm_of(i, load(table.local, r), ws)
        d, k = sub(place_of(i, arm, ws), load(table.target, r)), load(table.stiffness, r)
        V, turning = motion_of(i, arm, motion)
        by_x = (-k[0] * V[0], -k[1] * V[1], -k[2] * V[2])
        force = (-k[0] * d[0], -k[1] * d[1], -k[2] * d[2])
        w = (0.0, 0.0, 0.0)
        end_adjoint(i, arm, by_x, w, force, w, turning, ws, by_place, by_velocity, gradient.local, r, 0)
        for a in range(3):
            gradient.target[r, a] -= by_x[a]
            gradient.stiffness[r, a] -= d[a] * V[a]


@pass_of
def restraint_tangent(table, change, ws, moved, twist, wrench):
    """Add the changes of −k (x − x₀) to the wrenches (links, 6)."""
    for r in range(table.link.size):
        i = table.link[r]
        arm = arm_of(i, load(table.local, r), ws)
        d, k = sub(place_of(i, arm, ws), load(table.target, r)), load(table.stiffness, r)
        arms, x, _ = end_changes(i, arm, load(change.local, r), ws, moved, twist)
        dd, dk = sub(x, load(change.target, r)), load(change.stiffness, r)
        force = (-k[0] * d[0], -k[1] * d[1], -k[2] * d[2])
        changed = (-k[0] * dd[0] - dk[0] * d[0], -k[1] * dd[1] - dk[1] * d[1], -k[2] * dd[2] - dk[2] * d[2])
        pull_change(wrench, i, arm, arms, force, changed)


@pass_of
def restraint_energy(table, ws, result):
    """Add ½ Σ k (x − x₀)²."""
    links, local, target, stiffness = table.link, table.local, table.target, table.stiffness
    total = 0.0
    for r in range(links.size):
        i = links[r]
        d, k = sub(place_of(i, arm_of(i, load(local, r), ws), ws), load(target, r)), load(stiffness, r)
        total += 0.5 * (k[0] * d[0] * d[0] + k[1] * d[1] * d[1] + k[2] * d[2] * d[2])
    result[POTENTIAL] += total
