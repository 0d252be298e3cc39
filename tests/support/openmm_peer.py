"""Configurations on OpenMM's Reference platform, in its units (nm, kJ/mol, elementary charges), and small systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import openmm

import articulon as ar


def openmm_sums(
    positions: np.ndarray, forces: Sequence[Any], vectors: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """Energy and forces (n, 3) in double precision."""
    system = openmm.System()
    for _ in positions:
        system.addParticle(1.0)
    if vectors is not None:
        system.setDefaultPeriodicBoxVectors(*(openmm.Vec3(*map(float, edge)) for edge in vectors))
    for force in forces:
        system.addForce(force)
    platform = openmm.Platform.getPlatformByName("Reference")
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), platform)
    context.setPositions(np.asarray(positions, dtype=float))
    state = context.getState(energy=True, forces=True)
    energy, pull = state.getPotentialEnergy()._value, state.getForces(asNumpy=True)._value
    return energy, np.array(pull, dtype=float)


def bonded_pair() -> Any:
    """A System of two atoms of 12 Da and a bond: U = ½ 100 (r − 0.1)²."""
    system = openmm.System()
    bond = openmm.HarmonicBondForce()
    for _ in range(2):
        system.addParticle(12.0)
    bond.addBond(0, 1, 0.1, 100.0)
    system.addForce(bond)
    return system


def carbon_model(count: int = 2, units: str = "Da-nm-ps", mass: Any = 12.0) -> Any:
    """A model of free atoms, of 12 Da unless it is said otherwise, on which nothing acts."""
    builder = ar.ModelBuilder(units=units)
    builder.add_particles(count, mass=mass, positions=np.arange(3.0 * count).reshape(count, 3))
    return builder.build()
