"""Driver of event-driven hard spheres."""

from __future__ import annotations

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.forces.impacts.impacts import impacts_of
from articulon.integrate.base import Driver
from articulon.integrate.hard_sphere_tables import OPEN, PERIODIC, WALL
from articulon.integrate.problem import Problem
from articulon.integrate.sphere_gas import SphereBox, SphereGas
from articulon.integrate.sphere_memory import SPHERES
from articulon.integrate.status import DIVERGED, REACHED
from articulon.model import Model, State
from articulon.model.state import CONTACT, EXTERNAL, STEPS

FACES = {"periodic": PERIODIC, "open": OPEN, "reflecting": WALL}
OVERLAP = 1e-9
"""Overlap, relative to the sum of two radii, above which a start is refused; coordinates with nine digits cause smaller
ones."""


class EventDrivenDriver(Driver):
    """Event-driven molecular dynamics.

    All events are computed again at every frame, from positions and velocities alone, and nothing is saved between
    frames. So a resumed run gives the same bits as an uninterrupted one, and the state is that of any other integrator.
    """

    at_once = True
    books_unscaled_work = True
    sees_leaps = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        self.history = SPHERES.width
        self.asked_to_stop = lambda: False
        self.gas = gas_of(problem.evaluator.model)

    def advance(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`; advances to ``until`` in one call."""
        memory, duration = state.rule.history, until - float(state.time[0])
        if memory.size != self.history:
            raise ValueError(f"state.rule.history has {memory.size} numbers, and this rule keeps {self.history}")
        self.failure = self.culprit = None
        if duration <= 0.0:
            return REACHED
        q, u = state.q.reshape(-1, 3), state.u.reshape(-1, 3)
        positions, velocities = q.copy(), u.copy()
        # Overflow is detected below by numbers that are not finite.
        with np.errstate(all="ignore"):
            found = self.gas.advance(positions, velocities, duration, self.asked_to_stop)
        if found is None:
            self.failure, self.culprit = self._endless(), int(self.evaluator.model.link[self.gas.collapsed])
            return DIVERGED
        if not (np.isfinite(positions).all() and np.isfinite(velocities).all()):
            return DIVERGED
        impacts = found.impacts + found.wall_impacts
        fallen = float(self.gas.mass @ ((positions - q) @ self.gas.gravity))
        for work in (state.work, state.unscaled_work):
            work[CONTACT] -= found.loss
            work[EXTERNAL] += fallen
        memory[SPHERES.begun] = 1.0
        memory[SPHERES.between] = duration
        memory[SPHERES.impacts_before] = memory[SPHERES.impacts]
        memory[SPHERES.impacts] += found.impacts
        memory[SPHERES.wall_impacts] += found.wall_impacts
        memory[SPHERES.latest_virial] = found.virial
        memory[SPHERES.virial] += found.virial
        if found.impulse > memory[SPHERES.impulse]:
            memory[SPHERES.impulse] = found.impulse
            memory[SPHERES.impulse_time] = float(state.time[0]) + found.impulse_time
            memory[SPHERES.impulse_of : SPHERES.impulse_of + 2] = found.impulse_of
        state.q[:], state.u[:] = positions.reshape(-1), velocities.reshape(-1)
        state.counters[STEPS] += impacts
        state.step[0], state.time[0] = duration / max(impacts, 1), until
        return REACHED

    def _endless(self) -> str:
        """Reason why a run cannot continue."""
        name = self.evaluator.model.names[self.gas.collapsed]
        instead = "choose a larger restitution, or one of the explicit rules, with resting_speed"
        if not self.gas.gravity.any():
            instead = "give resting_speed: impacts below this speed of approach are fully inelastic"
        return (
            f"endless impacts at ever shorter intervals around '{name}' (inelastic collapse): {instead}; "
            "the acceleration is largest"
        )


def gas_of(model: Model) -> SphereGas:
    """The hard-sphere gas of a model that contains nothing else.

    Raises
    ------
    CaseError
        For a box that hard spheres do not support, and for properties of impacts that they do not support.
    """
    law = impacts_of(model)
    assert law is not None
    table, sites = law.table(model), model.sites
    names = {name: k for k, name in enumerate(table.names)}
    gravity = sum((np.array(force.acceleration, float) for force in model.forces if force is not law), np.zeros(3))
    resting = float(law.resting_speed or 0.0)
    if law.simultaneous != "sequential":
        raise CaseError(
            "forces.impacts.simultaneous: 'event-driven' takes impacts one after the other; set it to 'sequential'"
        )
    if resting and gravity.any():
        raise CaseError(
            "forces.impacts.resting_speed: 'event-driven' has no resting contacts, which gravity would "
            "cause; leave it out, or choose one of the explicit rules"
        )
    return SphereGas(
        sites.radius.copy(),
        model.masses.copy(),
        np.array([names[sites.kinds[k]] for k in sites.kind.tolist()]),
        table.restitution,
        box_of(model),
        gravity,
        resting,
    )


def box_of(model: Model) -> SphereBox:
    """The box of a model's spheres; raises CaseError for a box that hard spheres do not support."""
    box, widest = model.box, 2.0 * float(model.sites.radius.max())
    if box is None:
        return SphereBox(np.zeros(3), np.zeros(3), np.full(3, OPEN))
    if any(float(tilt) for tilt in box.tilts):
        raise CaseError("box.tilts: 'event-driven' takes boxes of right angles; leave out the tilts")
    faces = np.array([FACES[kind] for kind in box.boundaries])
    low, lengths = (np.array([float(x) for x in group]) for group in (box.origin, box.lengths))
    for axis in range(3):
        least = {PERIODIC: 2.0, WALL: 1.0}.get(int(faces[axis]), 0.0) * widest
        if lengths[axis] < least:
            raise CaseError(
                f"box.lengths: {lengths[axis]:g} along {'xyz'[axis]} is less than "
                f"{'two diameters' if faces[axis] == PERIODIC else 'the diameter'} of the largest sphere, {least:g}, "
                "which would hit itself; enlarge the box"
            )
    return SphereBox(low, low + lengths, faces)


def check_apart(model: Model, q: np.ndarray) -> None:
    """Raise ModelError for hard spheres that overlap each other or a reflecting wall at coordinates (nq,)."""
    gas, places = gas_of(model), q.reshape(-1, 3)
    low, high = (edge[None] - sign * gas.radius[:, None] for edge, sign in ((gas.box.low, -1.0), (gas.box.high, 1.0)))
    slack = OVERLAP * gas.radius[:, None]
    outside = ((places < low - slack) | (places > high + slack)) & (gas.box.faces == WALL)
    if outside.any():
        i, axis = (int(k) for k in np.argwhere(outside)[0])
        raise ModelError(
            f"'{model.names[i]}' begins in or behind a reflecting wall, at {'xyz'[axis]} = {places[i, axis]:.6g}, and "
            f"its centre must lie between {low[i, axis]:g} and {high[i, axis]:g}; move it inside"
        )
    deepest, first, second = gas.overlap(places)
    if deepest > OVERLAP:
        raise ModelError(
            f"'{model.names[first]}' and '{model.names[second]}' overlap at the start, by {deepest:.3g} of the sum of "
            "their radii, and hard spheres cannot; move them apart or make them smaller"
        )
