"""Conditions that end a run early: a body has advanced by a distance, or two bodies are near each other.

A condition is expressed by one number, the length ``beyond`` by which it is exceeded. It is negative at the start of a
run, and the run ends where it is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from articulon.dynamics.centres_of_mass import centre_of_mass
from articulon.forces.selection import on_link
from articulon.forces.sites.listed_members import nearest_image
from articulon.forces.sites.nearest_images import cell_of
from articulon.integrate.status import Stop
from articulon.model import Model, Workspace


@dataclass(frozen=True)
class Advance:
    """The centre of mass of a body has advanced by a distance along a direction."""

    body: int
    """Body that is watched."""
    direction: np.ndarray
    """Unit vector, world frame, shape (3,)."""
    distance: float
    """Distance to advance [length]."""
    start: float
    """Coordinate of the centre of mass along the direction at the start [length]."""

    observable = "advance"
    """Name of the observable: the advance from the start [length]."""

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies that are watched."""
        return (self.body,)

    @property
    def whole(self) -> float:
        """By how much ``beyond`` grows from the start to the end [length]."""
        return self.distance

    def beyond(self, model: Model, q: np.ndarray, poses: tuple[np.ndarray, np.ndarray] | None = None) -> float:
        """Return the advance minus the distance [length] at coordinates (nq,), whose poses may be given."""
        return float(self.direction @ centre_of_mass(model, q, self.body, poses)[0]) - self.start - self.distance

    def observed(self, beyond: float) -> float:
        """Return the observable for a value of ``beyond`` [length]."""
        return beyond + self.distance

    def elapsed(self, model: Model, q: np.ndarray, rates: np.ndarray) -> float:
        """Return the time since the condition was met [time], from coordinates (nq,) and their rates (nq,), for a
        motion at constant velocity; 0 if the body does not advance."""
        small = _small(rates)
        speed = (self.beyond(model, q + small * rates) - self.beyond(model, q - small * rates)) / (2.0 * small)
        return self.beyond(model, q) / speed if speed > 0.0 else 0.0

    def started(self, model: Model, q: np.ndarray) -> Advance:
        """Return the condition counted from coordinates (nq,)."""
        return replace(self, start=float(self.direction @ centre_of_mass(model, q, self.body)[0]))

    def pulls(self, model: Model, q: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Return the derivative of ``beyond`` by the centre of mass of each watched body: body, arm of the centre from
        the body's origin [length], derivative (3,), world frame."""
        return [(self.body, centre_of_mass(model, q, self.body)[1], self.direction)]


@dataclass(frozen=True)
class Proximity:
    """The centres of mass of two bodies, or of their nearest images in a periodic box, are within a distance."""

    body: int
    """One body."""
    to: int
    """The other body."""
    distance: float
    """Distance at which the run ends [length]."""
    whole: float
    """By how much the distance decreases from the start to the end [length]."""
    cell: Any
    """The periodic box, as the kernels read it; it follows changes of the box."""

    observable = "distance"
    """Name of the observable: the distance of the two centres of mass [length]."""

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies that are watched."""
        return self.body, self.to

    def _apart(self, model: Model, q: np.ndarray, poses: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
        """Return the vector from the body to the nearest image of the other one [length], shape (3,)."""
        places = [centre_of_mass(model, q, body, poses)[0] for body in self.bodies]
        return np.asarray(nearest_image(self.cell, (places[1] - places[0])[:, None])[:, 0])

    def beyond(self, model: Model, q: np.ndarray, poses: tuple[np.ndarray, np.ndarray] | None = None) -> float:
        """Return the distance at which the run ends minus that at coordinates (nq,) [length], whose poses may be
        given."""
        return self.distance - float(np.linalg.norm(self._apart(model, q, poses)))

    def observed(self, beyond: float) -> float:
        """Return the observable for a value of ``beyond`` [length]."""
        return self.distance - beyond

    def elapsed(self, model: Model, q: np.ndarray, rates: np.ndarray) -> float:
        r"""Return the time since the condition was met [time], from coordinates (nq,) and their rates (nq,), for a
        relative motion at constant velocity, which may have passed the closest approach since; 0 at rest.

        With the vector d between the bodies and its rate v, this is the root t ≥ 0 of \|d − v t\| = distance.
        """
        small = _small(rates)
        apart = self._apart(model, q)
        pace = (self._apart(model, q + small * rates) - self._apart(model, q - small * rates)) / (2.0 * small)
        squared, along = float(pace @ pace), float(apart @ pace)
        inside = self.distance**2 - float(apart @ apart)
        return (along + np.sqrt(max(along**2 + squared * inside, 0.0))) / squared if squared > 0.0 else 0.0

    def started(self, model: Model, q: np.ndarray) -> Proximity:
        """Return the condition for a start at coordinates (nq,)."""
        return replace(self, whole=-self.beyond(model, q))

    def pulls(self, model: Model, q: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Return the derivative of ``beyond`` by the centre of mass of each watched body: body, arm of the centre from
        the body's origin [length], derivative (3,), world frame."""
        apart = self._apart(model, q)
        unit = apart / np.linalg.norm(apart)
        return [
            (body, centre_of_mass(model, q, body)[1], sign * unit)
            for body, sign in zip(self.bodies, (1.0, -1.0), strict=True)
        ]


def _small(rates: np.ndarray) -> float:
    """Return a time for differences along a motion with these rates, in which it covers a displacement that is small
    compared with bodies and large compared with rounding errors."""
    return 1e-6 / max(float(np.abs(rates).max(initial=0.0)), 1e-300)


StopCondition = Advance | Proximity


def advance_of(model: Model, body: int, direction: Any, distance: float) -> Advance:
    """Return the condition that a body advances by a distance [length] along a direction (3,) from its position at the
    model's initial coordinates."""
    vector = np.asarray(direction, dtype=np.float64)
    return Advance(body, vector / np.linalg.norm(vector), distance, 0.0).started(model, model.q0)


def proximity_of(model: Model, body: int, to: int, distance: float, cell: Any = None) -> Proximity:
    """Return the condition that two bodies are within a distance [length]. ``cell`` is the box as the kernels of a run
    read it; by default it is that of the model."""
    found = Proximity(body, to, distance, 0.0, cell_of(model) if cell is None else cell)
    return found.started(model, model.q0)


def stop_of(model: Model, condition: StopCondition, ws: Workspace | None = None) -> Stop:
    """Return a condition as the kernels read it. ``ws`` is the workspace in which the run places links; rigid bodies
    need none."""
    ends = [_end(model, body, ws) for body in condition.bodies]
    moment = np.zeros((1, 3)) if ws is None or ws.modal is None else ws.modal.moment
    if isinstance(condition, Advance):
        direction, goal, cell = condition.direction, condition.start + condition.distance, cell_of(model)
    else:
        direction, goal, cell = np.zeros(3), -condition.distance, condition.cell
    return Stop(
        np.array([link for link, _, _ in ends], dtype=np.int64),
        np.array([point for _, point, _ in ends]),
        moment,
        np.array([per_mass for _, _, per_mass in ends]),
        direction[None],
        np.array([goal]),
        np.array([condition.whole, np.nan, np.nan]),
        cell,
    )


def _end(model: Model, body: int, ws: Workspace | None) -> tuple[int, np.ndarray, float]:
    """Return the link of a body, its centre of mass in the link's frame, and 1/m if it is flexible, else 0. A body that
    is welded to the ground has link −1 and the place of its centre."""
    link = int(model.link[body])
    if link < 0:
        return link, centre_of_mass(model, model.q0, body)[0], 0.0
    point = on_link(model, body, model.centres[body])
    if body not in model.modes:
        return link, point, 0.0
    assert ws is not None and ws.modal is not None
    per_mass = 1.0 / float(model.masses[body])
    return link, point - per_mass * model.forest.moment[link], per_mass
