"""A configuration on OpenMM's Reference platform, in its units: nm, kJ/mol, elementary charges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import openmm


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
