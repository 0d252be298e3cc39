"""Passes that compute the energies of a model's conservative forces."""

from collections.abc import Iterator

import numpy as np

from articulon.dynamics.motion_passes import place_links
from articulon.forces.base import EnergyAt
from articulon.forces.gravity import gravity_energy
from articulon.forces.modal_forces import modal_energy
from articulon.forces.solver_tables import Forces
from articulon.model import Forest, Workspace
from articulon.model.state import CONFORMATIONAL, EXTERNAL
from articulon.passes import Bound, pass_of


@pass_of
def add_modal_energy(forest, q, result):
    """Add the deformation energy of flexible bodies."""
    result[CONFORMATIONAL] += modal_energy(forest, q)


@pass_of
def add_gravity_energy(forest, gravity, ws, result):
    """Add the energy in the field of gravity."""
    result[EXTERNAL] += gravity_energy(forest, gravity, ws)


def energy_passes(forest: Forest, forces: Forces, ws: Workspace, q: np.ndarray, result: np.ndarray) -> Iterator[Bound]:
    """Return the passes that add the unscaled energies of the conservative channels at q to ``result`` (8,), without
    those of site forces."""
    at = EnergyAt(forest, ws, q, result)
    yield place_links.bind(forest, q, ws)
    for kind, table in forces.terms:
        yield from kind.energy(table, at)
    if forest.flexible is not None:
        yield add_modal_energy.bind(forest, q, result)
    if forces.gravity.any():
        yield add_gravity_energy.bind(forest, forces.gravity, ws, result)
