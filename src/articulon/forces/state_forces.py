"""A model's own forces and its potential energy as functions of many states side by side."""

from collections.abc import Iterator

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
from articulon.model import Model
from articulon.model.state import DAMPING, EXTERNAL, STOCHASTIC
from articulon.passes import Bound, pass_of

KNOWN = StokesDrag, Gravity, Brownian
"""Forces that solvers treat themselves, which are evaluated side by side too."""


def why_apart(model: Model, between_sites: bool = False) -> str | None:
    """Return why the forces of a model cannot be evaluated for several states side by side, None if they can.
    ``between_sites`` tells whether site forces, which are evaluated state by state, are allowed."""
    if model.forest.flexible is not None:
        return "models with flexible bodies cannot be evaluated for several states side by side"
    for k, force in enumerate(model.forces):
        if between_sites and hasattr(force, "site_terms"):
            continue
        if not isinstance(force, KNOWN) and not (isinstance(force, Force) and force.goes_side_by_side()):
            kind = getattr(force, "kind", type(force).__name__)
            return f"forces[{k}]: {kind} cannot be evaluated for several states side by side"
    return None


def side_by_side(model: Model) -> bool:
    """Whether the forces of a model can be evaluated for several states side by side."""
    return why_apart(model) is None


def check_side_by_side(model: Model, where: str) -> None:
    """Raises ModelError, with the reason, for a model whose states cannot move side by side; site forces are
    allowed."""
    if model.loops.kind.size:
        raise ModelError(
            f"{where}: {model.loop_name(0)}: loops and driven joints are satisfied by iteration, which takes a "
            "different number of steps in each state; simulate one by one"
        )
    reason = why_apart(model, between_sites=True)
    if reason is not None:
        raise ModelError(f"{where}: {reason}; simulate one by one")
    for k, force in enumerate(model.forces):
        if hasattr(force, "site_terms") and any(getattr(term, "users", None) for term in force.site_terms(model)):
            raise ModelError(
                f"{where}: forces[{k}]: '{force.kind}' calls Python, which evaluates one state at a time; simulate "
                "one by one"
            )
        if isinstance(force, Brownian) and force.amplitude_from == "instantaneous":
            raise ModelError(
                f"{where}: forces[{k}].amplitude_from: noise at the instantaneous temperature differs from state to "
                "state; use 'bath', or simulate one by one"
            )


@pass_of
def add_numbers(numbers, total):
    """Add numbers (n,) to others."""
    for k in range(total.shape[0]):
        total[k] += numbers[k]


@pass_of
def add_up(numbers, total):
    """Sum numbers (n,) into (1,)."""
    total[0] = numbers[0]
    for k in range(1, numbers.shape[0]):
        total[0] += numbers[k]


@pass_of
def add_weights(forest, gravity, factor, ws, wrench):
    """Add the weights of the links, times a factor (1,), to the wrenches (links, 6)."""
    s = factor[0]
    gravity_wrenches(forest, (s * gravity[0], s * gravity[1], s * gravity[2]), ws, wrench)


def _forcing(at: StateAt) -> Iterator[Bound]:
    """Return the program for the generalised forces of all channels times their factors, without Brownian ones."""
    model, forest, ws, (q, u), shared = at.model, at.forest, at.ws, at.given, at.shared
    links, nu = forest.mass.size, model.nu
    tables = ModelTables(model)
    if at.in_lanes:
        tables.system = tables.system._replace(forces=tables_in_lanes(tables.system.forces))
    forces = tables.system.forces
    wrench, joint, none = at.zeros((8, links, 6)), at.zeros((8, nu)), np.zeros(0)
    total, whole = at.zeros((links, 6)), at.zeros((nu,))
    channels = ChannelForces(wrench, joint, none, total, whole, none, none, none)
    window = np.zeros(1, dtype=np.int64)
    where = At(forest, ws, q, u, shared.time, window, channels, wrench[DAMPING], wrench[STOCHASTIC])
    yield place_links.bind(forest, q, ws)
    yield move_links.bind(forest, u, ws)
    yield from filling(tables, where)
    if forces.drag.link.size:
        yield fill_drag.bind(forces.drag, ws, where.damping)
    yield from flowing(tables.linear_flow, ws, where.damping)
    yield from scaling(tables, channels, shared.factor)
    if forces.gravity.any():
        yield add_weights.bind(forest, forces.gravity, shared.factor[EXTERNAL:], ws, total)
    yield project_on_joints.bind(forest, ws, total, at.found[0])
    yield add_numbers.bind(whole, at.found[0])


def _storing(at: StateAt) -> Iterator[Bound]:
    """Return the program for the potential energy."""
    energies = at.zeros((8,))
    yield clear.bind(energies)
    forces = force_tables(at.model)
    if at.in_lanes:
        forces = tables_in_lanes(forces)
    yield from energy_passes(at.forest, forces, at.ws, at.given[0], energies)
    yield add_up.bind(energies, at.found[0])


OWN_FORCES = Definition(lambda model: [(model.nq,), (model.nu,)], lambda model: [(model.nu,)], _forcing)
"""Generalised forces (nu,) at q and u."""
POTENTIAL_ENERGY = Definition(lambda model: [(model.nq,)], lambda _: [(1,)], _storing)
"""Potential energy (1,) at q."""
