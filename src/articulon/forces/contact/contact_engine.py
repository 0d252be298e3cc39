"""Contacts of a model prepared for evaluation: tables, scratch and compiled passes."""

import math
from functools import cached_property
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.forces.contact.compiled_passes import (
    LIST,
    keep_kernel,
    law_leaves,
    list_kernel,
    no_list,
    no_pass,
    pair_kernel,
    pair_leaf,
    resistance_kernel,
    state_kernels,
    wall_kernel,
    wall_list_kernel,
    wall_setter,
)
from articulon.forces.contact.contact_columns import COUNTS, KEPT
from articulon.forces.contact.contact_tables import (
    PASS,
    RING,
    ContactSystem,
    ContactTable,
    blocks_of,
    empty_system,
    empty_wall_slots,
)
from articulon.forces.contact.materials import Contact
from articulon.forces.contact.wall_tables import empty_lists, wall_tables
from articulon.forces.contact.walls import parts_of
from articulon.forces.sites.cells import FAR, OVERFLOW, grid
from articulon.forces.sites.exclusions import near_by_joints
from articulon.forces.sites.nearest_images import cell_of
from articulon.forces.sites.neighbours import REFRESH, VECTOR, refresh_parallel, refresh_serial
from articulon.kernels import prepare, preparing_together, ready
from articulon.model import Model, State
from articulon.passes import Function, functions
from articulon.sizes import check_size

PARALLEL_SPHERES = 2000
"""Smallest number of spheres that are distributed over threads."""
SKIN = 0.4
"""Default skin as a fraction of the smallest radius."""


def contact_of(model: Model) -> Contact | None:
    """Return the declared contacts of a model, if any.

    Raises
    ------
    ModelError
        If they are declared twice.
    """
    found = [force for force in model.forces if isinstance(force, Contact)]
    if len(found) > 1:
        raise ModelError("contacts are declared twice; one declaration holds every material and pair")
    return found[0] if found else None


def carrying_masses(model: Model, bodies: np.ndarray) -> np.ndarray:
    """Mass that carries each of the given bodies (n,), including all that is welded to it; infinite for the ground, −1,
    and for bodies welded to it [mass]."""
    link = np.where(bodies < 0, -1, model.link[bodies])
    return np.where(link < 0, np.inf, model.forest.mass[link])


class Contacts:
    """Contacts of a model that declares them.

    Parameters
    ----------
    model
        The model.
    law
        The declared contact law.
    """

    def __init__(self, model: Model, law: Contact) -> None:
        self.model, self.law = model, law
        sites = model.sites
        self.sites = np.flatnonzero(sites.radius > 0.0)
        """Site of each sphere, shape (spheres,)."""
        self.spheres = self.sites.size
        self.radius = sites.radius[self.sites]
        names = law.names(model)
        self.names = names
        index = {name: k for k, name in enumerate(names)}
        lookup = np.array([index.get(kind, 0) for kind in sites.kinds], dtype=np.int64)
        self.kinds = lookup[sites.kind[self.sites]]
        self.rows = law.rows(model)
        body = sites.body[self.sites]
        link = np.where(body < 0, -1, model.link[body])
        self.inverse_mass = 1.0 / carrying_masses(model, body)
        self.link = link
        self.cell = cell_of(model)
        self.skin = float(law.skin) if law.skin is not None else SKIN * float(self.radius.min())
        self.reach = 2.0 * float(self.radius.max()) + self.skin
        self.parallel = self.spheres >= PARALLEL_SPHERES
        self.resists = law.rolling != "none" or law.twisting != "none"
        self._check_box()
        walls = parts_of(law.walls, model, "walls")
        self.walls = [wall.name for wall in walls]
        """Names of the walls."""
        bounded = model.box is not None and not bool(model.box.periodic.all())
        self.wall_tables = wall_tables(walls, names, float(self.radius.max()) + self.skin, bounded)
        self.wall_room = (256, 256) if walls else (0, 0)
        parts = law_leaves(law.normal, law.tangential, law.damping, law.attractive_tail, law.convention)
        ready(no_pass, PASS)
        ready(no_list, LIST)
        self.pairs = pair_leaf(parts.label, len(names) == 1, **parts.parts)
        """Name of the function that evaluates the pairs of a block of places, and the function."""
        with preparing_together():
            self.passes = (
                wall_kernel(parts.label, parts.contact, parts.arms, self.parallel) if walls else no_pass,
                resistance_kernel(law.normal, law.convention, self.parallel) if self.resists else no_pass,
            )
            self.lists = (
                list_kernel(self.parallel),
                wall_list_kernel(self.parallel) if walls or bounded else no_list,
                keep_kernel(self.parallel, False),
                keep_kernel(self.parallel, True),
            )
            self.take, self.order, self.give = state_kernels(self.parallel)
            self.set_walls = wall_setter()
            self.refresh = (prepare(refresh_parallel if self.parallel else refresh_serial, REFRESH),)
        self._make_room(*self._guess())

    def pair_pass(self) -> Any:
        """Pass over pairs of spheres alone, for spheres whose bodies are not free particles."""
        return pair_kernel(*self.pairs, self.parallel)

    def _check_box(self) -> None:
        box = self.model.box
        if box is None:
            return
        across = 1.0 / np.linalg.norm(np.linalg.inv(box.vectors), axis=0)
        for axis in range(3):
            if box.periodic[axis] and across[axis] <= 2.0 * self.reach:
                raise ModelError(
                    f"the box is {across[axis]:.6g} wide along {'xyz'[axis]}, where it is periodic, and contacts with "
                    f"their skin reach {self.reach:.6g}: a sphere could touch another one twice; make the box wider "
                    "than twice that"
                )

    def _guess(self) -> tuple[int, int, int, int, int]:
        """Return initial capacities: images, neighbours of each place, candidates, spheres near walls, and candidates
        whose spheres are far apart in the order."""
        n, box = self.spheres, self.model.box
        volume = np.float64(np.median(self.radius)) ** 3 * 8.0
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            near = min(4.0 / 3.0 * math.pi * np.float64(self.reach) ** 3 / volume, 1e18)
        images = 0
        if box is not None:
            across = 1.0 / np.linalg.norm(np.linalg.inv(box.vectors), axis=0)
            grown = np.prod(1.0 + np.where(box.periodic, 2.0 * self.reach / across, 0.0))
            images = int(1.2 * n * (grown - 1.0)) + 64
        neighbours = min(int(1.3 * near) + 8, n + images + VECTOR)
        where = f"contact: a skin of {self.skin:.4g} about spheres of up to {float(self.radius.max()):.4g}"
        check_size(float(n) * neighbours, 4, "neighbours of spheres", where, "choose a smaller skin", ModelError)
        return images, neighbours // VECTOR * VECTOR + 3 * VECTOR, min(6 * n + 256, n * n + 8), 256, n + 256

    def _make_room(self, images: int, neighbours: int, candidates: int, walls: int, rows: int) -> None:
        self.room = images, neighbours, candidates, walls, rows
        n = self.spheres
        system = empty_system(n, images, neighbours, candidates, walls, candidates + walls, rows, self.resists)
        for coordinate in (system.particles.x, system.particles.y, system.particles.z):
            coordinate[-1] = FAR
        start, excluded = self._excluded()
        self.system = ContactSystem(
            self.cell,
            system.particles,
            system.neighbours._replace(excluded_start=start, excluded=excluded),
            grid(n, images, self.reach, self.skin, later=True, way=RING // 2),
            system.spheres._replace(
                radius=self.radius.copy(), inverse_mass=self.inverse_mass.copy(), owner=self._owners()
            ),
            system.candidates,
            empty_wall_slots(n, walls, self.resists),
            self.wall_tables,
            empty_lists(self.wall_tables.shape.size, n, blocks_of(n), *self.wall_room),
            system.kept,
            ContactTable(self.rows, np.array([len(self.names)])),
            self.kinds.copy(),
            np.array([self.skin]),
        )

    def _owners(self) -> np.ndarray:
        """Owner of each sphere; see ``Spheres.owner``."""
        shared = (self.link < 0).sum() > 1 or np.unique(self.link).size < self.spheres
        return self.link.astype(np.int64) if shared else np.zeros(0, dtype=np.int64)

    def _excluded(self) -> tuple[np.ndarray, np.ndarray]:
        """Spheres that never touch a given sphere because of joints between their bodies: row starts, and the
        spheres."""
        joints = self.law.excluded_joints
        if not joints or (self.model.forest.parent < 0).all():
            return np.zeros(self.spheres + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return near_by_joints(self.model, self.sites, joints)

    def grow(self) -> None:
        """Enlarge every list that exceeded its capacity."""
        images, neighbours, candidates, walls, rows = self.room
        system = self.system
        if system.particles.counts[OVERFLOW]:
            images += images // 2 + 64
            neighbours = (neighbours + neighbours // 2) // VECTOR * VECTOR + VECTOR
        if system.candidates.counts[COUNTS.exceeded]:
            candidates = max(candidates, int(1.2 * system.candidates.counts[COUNTS.listed]) + 64)
            rows = max(rows, int(1.2 * system.candidates.across[-1]) + 64)
        if system.walls.counts[COUNTS.exceeded]:
            walls = int(1.2 * system.walls.counts[COUNTS.listed]) + 64
            groups, entries = (int(1.2 * number) + 64 for number in system.near_walls.needed)
            self.wall_room = groups, entries
        self._make_room(images, neighbours, candidates, walls, rows)

    def wall_name(self, feature: int) -> str:
        """Name of the wall that has a feature."""
        return self.walls[int(np.searchsorted(self.wall_tables.feature, feature, side="right")) - 1].rstrip(",")

    def restore(self, state: State) -> None:
        """Load the contacts of a state for the next lists, and place the walls at its time."""
        kept, count = self.system.kept, state.contacts.pairs.shape[0]
        assert state.contacts.memory.shape == (count, KEPT.width), "a state of another version"
        if count > kept.other.size:
            images, neighbours, candidates, walls, rows = self.room
            self._make_room(images, neighbours, max(candidates, count + count // 8 + 64), walls, rows)
            kept = self.system.kept
        sphere = np.full(self.model.sites.body.size, -1, dtype=np.int64)
        sphere[self.sites] = np.arange(self.spheres)
        first, second = sphere[state.contacts.pairs[:, 0]], state.contacts.pairs[:, 1]
        sites = self.model.sites.body.size
        wall = second >= sites
        other = np.where(wall, second - sites + self.spheres, sphere[np.where(wall, 0, second)])
        sorted_already = bool((first[1:] >= first[:-1]).all())
        order = np.arange(count) if sorted_already else np.argsort(first, kind="stable")
        kept.first[:count], kept.other[:count] = first[order], other[order]
        kept.stop[:] = np.cumsum(np.bincount(first, minlength=self.spheres))
        kept.start[0], kept.start[1:] = 0, kept.stop[:-1]
        self.take(state.contacts.memory, order, kept)
        kept.counts[COUNTS.listed] = count
        self.system.walls.counts[COUNTS.fault] = 0
        self.set_walls(self.system, float(state.time[0]))

    def save(self, state: State) -> None:
        """Store the kept contacts in a state, in the order of their pairs."""
        kept = self.system.kept
        count = int(kept.counts[COUNTS.listed])
        order = np.empty(count, dtype=np.int64)
        self.order(kept.first, kept.other, order, self.spheres)
        if count != state.contacts.pairs.shape[0]:
            state.contacts.hold(np.empty((count, 2), dtype=np.int64), np.empty((count, KEPT.width)))
        self.give(kept, order, self.sites, self.model.sites.body.size, state.contacts.pairs, state.contacts.memory)

    @cached_property
    def functions(self) -> tuple[tuple[Function, ...], tuple[Function, ...], tuple[Function, ...]]:
        """Return the evaluation, list and refresh passes in the form that steppers take."""
        return functions(self.passes, PASS), functions(self.lists, LIST), functions(self.refresh, REFRESH)
