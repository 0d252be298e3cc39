"""Impacts of a model prepared for evaluation: tables, scratch and kernels, and the change of speeds in an impact."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.forces.contact.sphere_motion import sphere_name
from articulon.forces.impacts.impact_geometry import deepest_overlap, first_event, gaps_of, set_walls, touching
from articulon.forces.impacts.impact_laws import Outcome, Touching, in_turn
from articulon.forces.impacts.impact_memory import Rests
from articulon.forces.impacts.impact_tables import STOP, TOUCH, impact_table
from articulon.forces.impacts.impacts import impacts_of
from articulon.forces.impacts.impulse_response import contact_rows, locate, move_coordinates, response
from articulon.forces.impacts.joint_limits import limits_of
from articulon.forces.impacts.pressing import Pressed, find_press_rows, pressed_contacts
from articulon.forces.impacts.simultaneous_impacts import at_once
from articulon.kernels import prepare_for
from articulon.model import Model
from articulon.model.joints import REVOLUTE

ROUNDING = 1e-13
"""A normal velocity below this fraction of the terms of its sum counts as zero."""


OVERLAP = 1e-9
"""Largest overlap accepted at the start, relative to the size of the terms whose difference is the gap. Coordinates and
radii given with nine digits stay below it."""


class Spheres(NamedTuple):
    """Positions and motion of all spheres and links, for the search for impacts."""

    x: np.ndarray
    """Centres of the spheres [length], shape (spheres, 3)."""
    v: np.ndarray
    """Velocities of the centres, shape (spheres, 3)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    angular_velocity: np.ndarray
    """Angular velocity of each link relative to its parent, world axes, shape (links, 3)."""
    arm: np.ndarray
    """Origin of each link relative to the origin of its parent, world axes [length], shape (links, 3)."""


class Event(NamedTuple):
    """A contact that closes, or may close, within a step."""

    part: float
    """Approximate fraction of the step at which it closes; negative if only a shorter step can tell whether it
    closes."""
    contact: np.ndarray
    """The contact, shape (1, 2)."""


class Rows(NamedTuple):
    """Contacts and their responses to unit impulses."""

    normal: np.ndarray
    """Normals from the second to the first, world frame, shape (n, 3)."""
    row: np.ndarray
    """J, shape (n per, nu), with one or three rows (``per``) for each of n contacts."""
    jump: np.ndarray
    """M⁻¹ Jᵀ, one row for each row of J, shape (n per, nu)."""


class ImpactEngine:
    """Impacts and stops of a model that declares any.

    Parameters
    ----------
    model
        The model.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.law = model, impacts_of(model)
        self.table, self.named = impact_table(model)
        self.response, self._programs = response(model)
        spheres = self.table.link.size
        self.scratch = np.zeros((3, self.response.wrench.shape[0])), np.zeros((2, spheres))
        self.rubs = bool((self.table.friction > 0.0).any())
        self.pressed = pressed_contacts(self.table, model.nu)
        self._kernels()
        self._placed = False

    def _kernels(self) -> None:
        """Request the compiled kernels."""
        some, room = self.spheres(), np.zeros((1, 2), dtype=np.int64)
        table, r, nu = self.table, self.response, self.model.nu
        rows = np.zeros((1, nu))
        self._set_walls = prepare_for(set_walls, (table.walls,))
        self._locate = prepare_for(locate, (r, table, some.x, some.v, some.angular_velocity, some.arm))
        self._touching = prepare_for(touching, (table, some.x, some.q, room))
        self._gaps = prepare_for(gaps_of, (table, some.x, some.q, room, np.zeros((1, 2))))
        self._deepest = prepare_for(deepest_overlap, (table, some.x, some.q, room, room[0]))
        self._first = prepare_for(first_event, self._search(room, some, some, 1.0, room[0]))
        self._move = prepare_for(move_coordinates, (r.forest, some.q, some.u))
        if self.may_rest:
            self._press_rows = prepare_for(find_press_rows, (r, table, self.pressed))
        self._rows = prepare_for(contact_rows, (r, table, some.x, room, 1, np.zeros((1, 3)), rows, rows))

    @property
    def may_rest(self) -> bool:
        """Whether any contact may come to rest, because it has no restitution or has a resting speed."""
        t = self.table
        return bool(
            (t.restitution == 0.0).any()
            or (t.core_size.any() and (t.core_constants[0] == 0.0 or t.core_constants[1] >= 0.0))
            or t.resting[0] >= 0.0
            or (t.stop[:, 2] == 0.0).any()
            or (t.stop[:, 3] >= 0.0).any()
        )

    def spheres(self) -> Spheres:
        """Allocate the arrays for positions and motion."""
        n, links = self.table.link.size, self.response.wrench.shape[0]
        ends = np.zeros(self.model.nq), np.zeros(self.model.nu)
        return Spheres(np.zeros((n, 3)), np.zeros((n, 3)), *ends, np.zeros((links, 3)), np.zeros((links, 3)))

    def _search(
        self, skipped: np.ndarray, start: Spheres, end: Spheres, h: float, found: np.ndarray
    ) -> tuple[Any, ...]:
        """Arguments of the kernel that searches the paths of a step."""
        return self.table, self.response.forest, skipped, tuple(start), tuple(end), h, *self.scratch, found

    def at(self, q: np.ndarray, u: np.ndarray) -> Spheres:
        """Return positions and motion at the given coordinates and speeds; later calls for rows and gaps use the latest
        ones."""
        if not self._placed:
            self._set_walls(self.table.walls)
            self._placed = True
        found = self.spheres()
        found.q[:], found.u[:] = q, u
        self.response.q[:], self.response.u[:] = q, u
        self._locate(self.response, self.table, found.x, found.v, found.angular_velocity, found.arm)
        return found

    def touching(self, at: Spheres) -> np.ndarray:
        """Return the contacts that are closed, up to rounding, shape (n, 2)."""
        room = np.zeros((8, 2), dtype=np.int64)
        while True:
            count = self._touching(self.table, at.x, at.q, room)
            if count <= len(room):
                return room[:count].copy()
            room = np.zeros((count, 2), dtype=np.int64)

    def gaps(self, at: Spheres, contacts: np.ndarray) -> np.ndarray:
        """The gap of each contact, and the size of the terms whose difference it is, which determines its rounding
        error [length, or angle], shape (n, 2)."""
        found = np.zeros((len(contacts), 2))
        self._gaps(self.table, at.x, at.q, contacts, found)
        return found

    def deepest(self, at: Spheres, skipped: np.ndarray, least: float = 2.0 * TOUCH) -> np.ndarray | None:
        """Return the contact that overlaps most, shape (1, 2), except those in ``skipped``; None if no overlap is
        larger than ``least`` relative to the size of the terms of its gap."""
        found = np.zeros((1, 2), dtype=np.int64)
        return found if self._deepest(self.table, at.x, at.q, skipped, found[0]) > least else None

    def check_start(self, q: np.ndarray, u: np.ndarray) -> None:
        """Raises ModelError, naming the pair, if two objects overlap or a joint is beyond a stop at the start."""
        at = self.at(q, u)
        found = self.deepest(at, np.zeros((0, 2), dtype=np.int64), OVERLAP)
        if found is None:
            return
        gap = -float(self.gaps(at, found)[0, 0])
        units = self.model.units
        if found[0, 0] == STOP:
            raise ModelError(
                f"{self.name(found[0])} is exceeded by {gap:.4g} at the start; start within the limits, or change them"
            )
        unit = "" if units.length is None else f" {units.symbols[1]}"
        raise ModelError(
            f"{self.name(found[0])} overlap by {gap:.4g}{unit} at the start, and impacts allow no overlap: move them "
            "apart, or raise excluded_joints where they are on neighbouring bodies"
        )

    def first_event(self, start: Spheres, end: Spheres, h: float, skipped: np.ndarray) -> Event | None:
        """Return the first contact that closes or may close within a step of a given length, if any."""
        found = np.zeros((1, 2), dtype=np.int64)
        part = float(self._first(*self._search(skipped, start, end, h, found[0])))
        return Event(part, found) if part <= 1.0 else None

    def rows(self, at: Spheres, contacts: np.ndarray, per: int = 1) -> Rows:
        """Return the rows of contacts at the position of the latest call to :meth:`at`."""
        n, nu = len(contacts), self.model.nu
        found = Rows(np.zeros((n, 3)), np.zeros((n * per, nu)), np.zeros((n * per, nu)))
        self._rows(self.response, self.table, at.x, contacts, per, *found)
        return found

    def constants(self, contacts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Restitution, friction, and approach speed below which a contact comes to rest, for each contact, each of
        shape (n,)."""
        table, spheres = self.table, self.table.link.size
        result = np.zeros((3, len(contacts)))
        for k, (a, b) in enumerate(contacts.tolist()):
            if a == STOP:
                result[:, k] = table.stop[b, 2], 0.0, table.stop[b, 3]
                continue
            if b < spheres and table.core_size[table.core[a], table.core[b]] > 0.0:
                result[:, k] = table.core_constants[0], 0.0, table.core_constants[1]
                continue
            one = table.kind[a]
            two = table.kind[b] if b < spheres else table.walls.material[table.wall_of[b - spheres]]
            result[:, k] = table.restitution[one, two], table.friction[one, two], table.resting[0]
        return result[0], result[1], result[2]

    def touch(self, at: Spheres, contacts: np.ndarray, moved: np.ndarray, step: float) -> tuple[Touching, Rows]:
        """Return the contacts at an instant in the form that the impact laws take."""
        e, mu, resting = self.constants(contacts)
        per = 3 if (mu > 0.0).any() else 1
        rows = self.rows(at, contacts, per)
        rounding = ROUNDING * (np.abs(rows.row) @ moved)[::per]
        if step > 0.0:  # a gap that is closed only by rounding is ignored until the spheres overlap
            gap, size = self.gaps(at, contacts).T
            rounding = np.where(gap > -0.5 * TOUCH * size, np.maximum(rounding, 0.1 * TOUCH * size / step), rounding)
        return Touching(rows.row @ rows.jump.T, rows.row @ at.u, rounding, e, mu, resting, per), rows

    def collide(
        self, at: Spheres, contacts: np.ndarray, moved: np.ndarray, step: float = 0.0
    ) -> tuple[np.ndarray, Outcome] | None:
        """Speeds (nu,) after the impacts of touching contacts, and a record of the impacts; None if every approach is
        within rounding error. That error is estimated from the sizes ``moved`` (nu,) of the speeds, and from the
        rounding of the gaps over a ``step`` [time]."""
        t, rows = self.touch(at, contacts, moved, step)
        if not (t.velocity[t.normal] < -t.rounding).any():
            return None
        law = "newton" if self.law is None else self.law.law
        together = self.law is not None and self.law.simultaneous == "complementarity"
        outcome = (at_once if together else in_turn)(t, law)
        return at.u + outcome.impulse @ rows.jump, outcome

    def press(self, rests: Rests) -> None:
        """Treat these contacts as resting in every evaluation from now on."""
        p, n = self.pressed, len(rests.contact)
        p.total[0], p.jammed[0] = n, 0
        p.contact[:n], p.mode[:n], p.along[:n] = rests
        p.friction[:n] = self.constants(rests.contact)[1]

    def press_rows(self, contacts: np.ndarray) -> Pressed:
        """Compute the normals, J, M⁻¹ Jᵀ and J' u of contacts at the position of the latest call to :meth:`at`, the
        first entries of the returned arrays. Afterwards no contact counts as resting."""
        n = len(contacts)
        self.press(Rests(contacts, np.zeros(n, dtype=np.int64), np.zeros((n, 3))))
        self._press_rows(self.response, self.table, self.pressed)
        self.pressed.total[0] = 0
        return self.pressed

    @staticmethod
    def axes(normal: np.ndarray) -> np.ndarray:
        """The two directions across a normal, in the kernels' convention, shape (2, 3)."""
        t = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        t /= np.linalg.norm(t)
        return np.array([t, np.cross(normal, t)])

    def move(self, q: np.ndarray, u: np.ndarray) -> None:
        """Move coordinates (nq,) by u (nu,), in place."""
        self._move(self.response.forest, q, u)

    def is_hinge(self, contact: Any) -> bool:
        """Whether a contact is the stop of a revolute joint, whose impulse is angular."""
        a, b = (int(k) for k in contact)
        return a == STOP and int(self.model.kinds[limits_of(self.model)[b].body]) == REVOLUTE

    def name(self, contact: Any) -> str:
        """Name of the two objects in contact, for messages."""
        a, b = (int(k) for k in contact)
        if a == STOP:
            return self.named.stops[b]
        one, spheres = sphere_name(self.model, int(self.named.spheres[a])), self.table.link.size
        if b < spheres:
            return f"{one} and {sphere_name(self.model, int(self.named.spheres[b]))}"
        return f"{one} and {self.named.walls[int(self.table.wall_of[b - spheres])]}"
