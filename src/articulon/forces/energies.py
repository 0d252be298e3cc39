"""The passes that find the energies of a model's conservative forces."""

from collections.abc import Iterator

import numpy as np

from articulon.dynamics.energy import kinetic_energy
from articulon.dynamics.passes import place_links
from articulon.forces.fixman import fixman_energy
from articulon.forces.gravity import gravity_energy
from articulon.forces.modal_forces import modal_energy
from articulon.forces.point_springs import point_spring_energy
from articulon.forces.site_pairs import pair_energy, place_sites
from articulon.forces.tables import Forces
from articulon.forces.torsional_springs import spring_energy
from articulon.model import Forest, Workspace
from articulon.model.state import CONFORMATIONAL, EXTERNAL, POTENTIAL
from articulon.passes import Bound, pass_of


@pass_of
def add_pair_energy(pairs, ws, site, result):
    """Energy of ``SitePairs``."""
    place_sites(pairs, ws, site)
    result[POTENTIAL] += pair_energy(pairs, site)


@pass_of
def add_point_spring_energy(springs, ws, result):
    """Energy of springs between points."""
    result[POTENTIAL] += point_spring_energy(springs, ws)


@pass_of
def add_spring_energy(forest, springs, q, result):
    """Energy of torsional springs."""
    result[CONFORMATIONAL] += spring_energy(forest, springs, q)


@pass_of
def add_fixman_energy(forest, fixman, ws, result):
    """Fixman's potential."""
    result[CONFORMATIONAL] += fixman_energy(forest, fixman, ws)


@pass_of
def add_modal_energy(forest, q, result):
    """Energy of deformation of flexible bodies."""
    result[CONFORMATIONAL] += modal_energy(forest, q)


@pass_of
def add_gravity_energy(forest, gravity, ws, result):
    """Energy in the field of gravity."""
    result[EXTERNAL] += gravity_energy(forest, gravity, ws)


@pass_of
def find_kinetic_energy(forest, ws, result):
    """Kinetic energy (1,) of links that have been placed and moved."""
    result[0] = kinetic_energy(forest, ws)


def energy_passes(
    forest: Forest, forces: Forces, ws: Workspace, q: np.ndarray, site: np.ndarray, result: np.ndarray
) -> Iterator[Bound]:
    """Passes that add the energies of the conservative channels at q to ``result`` (8,), unscaled, without those of
    site forces."""
    yield place_links.bind(forest, q, ws)
    if forces.pairs.link.size:
        yield add_pair_energy.bind(forces.pairs, ws, site, result)
    if forces.point_springs.link.size:
        yield add_point_spring_energy.bind(forces.point_springs, ws, result)
    if forces.springs.link.size:
        yield add_spring_energy.bind(forest, forces.springs, q, result)
    if forces.fixman.half_kT.size:
        yield add_fixman_energy.bind(forest, forces.fixman, ws, result)
    if forest.flexible is not None:
        yield add_modal_energy.bind(forest, q, result)
    if forces.gravity.any():
        yield add_gravity_energy.bind(forest, forces.gravity, ws, result)
