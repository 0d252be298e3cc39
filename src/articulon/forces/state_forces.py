"""A model's own forces and its potential energy as functions of many states side by side."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from articulon.dynamics.motion_passes import move_links, place_links
from articulon.dynamics.newton_euler import project_on_joints
from articulon.dynamics.state_functions import At as StateAt
from articulon.dynamics.state_functions import Definition
from articulon.errors import ModelError
from articulon.forces.base import At, Force
from articulon.forces.brownian import Brownian
from articulon.forces.channel_forces import ChannelForces
from articulon.forces.energies import energy_passes
from articulon.forces.evaluation_tables import ModelTables
from articulon.forces.filling import clear, fill_drag, filling, scaling
from articulon.forces.gravity import Gravity, gravity_wrenches
from articulon.forces.lane_tables import tables_in_lanes
from articulon.forces.linear_flow import flowing
from articulon.forces.model_tables import force_tables
from articulon.forces.stokes_drag import StokesDrag
from articulon.lanes import LaneArray
from articulon.model import Model
from articulon.model.state import DAMPING, EXTERNAL, STOCHASTIC
from articulon.passes import Bound, pass_of

KNOWN = StokesDrag, Gravity, Brownian
"""What solvers know themselves, side by side too."""


def why_apart(model: Model, between_sites: bool = False) -> str | None:
    """Why the forces of a model are not found for several states side by side, None where they are. Forces between
    sites are found state by state, which goes ``between_sites``."""
    if model.forest.flexible is not None:
        return "states of models with flexible bodies do not go side by side"
    for k, force in enumerate(model.forces):
        if between_sites and hasattr(force, "site_terms"):
            continue
        if not isinstance(force, KNOWN) and not (isinstance(force, Force) and force.goes_side_by_side()):
            kind = getattr(force, "kind", type(force).__name__)
            return f"forces[{k}]: {kind} is not found for several states side by side"
    return None


def side_by_side(model: Model) -> bool:
    """Whether the forces of a model are found for several states side by side."""
    return why_apart(model) is None


def check_side_by_side(model: Model, where: str) -> None:
    """Raises ModelError, naming it, for what does not move side by side; forces between sites do, state by state."""
    if model.loops.kind.size:
        raise ModelError(
            f"{where}: {model.loop_name(0)}: loops and driven joints are kept by iteration, which ends after another "
            "number of steps in each state; simulate one by one"
        )
    reason = why_apart(model, between_sites=True)
    if reason is not None:
        raise ModelError(f"{where}: {reason}; simulate one by one")
    for k, force in enumerate(model.forces):
        if hasattr(force, "site_terms") and any(getattr(term, "users", None) for term in force.site_terms(model)):
            raise ModelError(
                f"{where}: forces[{k}]: '{force.kind}' calls Python, which does one thing at a time; simulate one by "
                "one"
            )
        if isinstance(force, Brownian) and force.amplitude_from == "instantaneous":
            raise ModelError(
                f"{where}: forces[{k}].amplitude_from: noise at the instantaneous temperature differs from state to "
                "state; use 'bath', or simulate one by one"
            )


@pass_of
def add_numbers(numbers, total):
    """Adds numbers (n,) to others."""
    for k in range(total.shape[0]):
        total[k] += numbers[k]


@pass_of
def add_up(numbers, total):
    """The sum (1,) of numbers (n,)."""
    total[0] = numbers[0]
    for k in range(1, numbers.shape[0]):
        total[0] += numbers[k]


@pass_of
def add_weights(forest, gravity, factor, ws, wrench):
    """Adds the weights of the links, times a factor (1,), to the wrenches (links, 6)."""
    s = factor[0]
    gravity_wrenches(forest, (s * gravity[0], s * gravity[1], s * gravity[2]), ws, wrench)


class StateForces:
    """The forces of a state, or of several side by side, and where they are written.

    Parameters
    ----------
    model
        The model.
    zeros
        Makes an array of a shape, or lanes.
    ws
        Scratch of the dynamics, likewise.
    q, u
        Coordinates and speeds, likewise.
    time, number
        Time, and number of the window of noise, shape (1,) each.
    """

    def __init__(
        self, model: Model, zeros: Callable[..., Any], ws: Any, q: Any, u: Any, time: Any, number: Any
    ) -> None:
        tables = self._tables = ModelTables(model)
        if isinstance(q, LaneArray):
            tables.system = tables.system._replace(forces=tables_in_lanes(tables.system.forces))
        self.forces, links, none = tables.system.forces, model.forest.mass.size, np.zeros(0)
        wrench, joint = zeros((8, links, 6)), zeros((8, model.nu))
        self.wrench, self.joint = zeros((links, 6)), zeros((model.nu,))
        """Sums of the channels times their factors, shapes (links, 6) and (nu,)."""
        self._channels = ChannelForces(wrench, joint, none, self.wrench, self.joint, none, none, none)
        friction = wrench[DAMPING], wrench[STOCHASTIC]
        self.at = At(tables.system.forest, ws, q, u, time, number, self._channels, *friction)
        """What they are evaluated at."""

    def passes(self, factor: np.ndarray) -> Iterator[Bound]:
        """Place and move the links, and sum the forces of all channels times their factors (8,), but for gravity and
        noise."""
        at, forces = self.at, self.forces
        yield place_links.bind(at.forest, at.q, at.ws)
        yield move_links.bind(at.forest, at.u, at.ws)
        yield from filling(self._tables, at)
        if forces.drag.link.size:
            yield fill_drag.bind(forces.drag, at.ws, at.damping)
        yield from flowing(self._tables.linear_flow, at.ws, at.damping)
        yield from scaling(self._tables, self._channels, factor)


def _forcing(at: StateAt) -> Iterator[Bound]:
    """The generalised forces of all channels times their factors, but for Brownian ones."""
    q, u = at.given
    own = StateForces(at.model, at.zeros, at.ws, q, u, at.shared.time, np.zeros(1, dtype=np.int64))
    yield from own.passes(at.shared.factor)
    if own.forces.gravity.any():
        yield add_weights.bind(at.forest, own.forces.gravity, at.shared.factor[EXTERNAL:], at.ws, own.wrench)
    yield project_on_joints.bind(at.forest, at.ws, own.wrench, at.found[0])
    yield add_numbers.bind(own.joint, at.found[0])


def _storing(at: StateAt) -> Iterator[Bound]:
    """The potential energy."""
    energies = at.zeros((8,))
    yield clear.bind(energies)
    forces = force_tables(at.model)
    if at.in_lanes:
        forces = tables_in_lanes(forces)
    yield from energy_passes(at.forest, forces, at.ws, at.given[0], energies)
    yield add_up.bind(energies, at.found[0])


OWN_FORCES = Definition(lambda model: [(model.nq,), (model.nu,)], lambda model: [(model.nu,)], _forcing)
"""Generalised forces (nu,) of q and u."""
POTENTIAL_ENERGY = Definition(lambda model: [(model.nq,)], lambda _: [(1,)], _storing)
"""Energy (1,) of q."""
