"""OpenMM's CPU platform on the Lennard-Jones melt. It computes forces in single precision."""

import time
from collections.abc import Callable
from typing import Any

from benchmarks.chains import installed
from benchmarks.melt import CUTOFF, MELTING, STEP, Melt


def runner(start: Melt, threads: int, say: Callable[[str], None]) -> Callable[[int], float | None]:
    """A function of a number of steps that goes on with the melt in OpenMM and returns the time that it took [s].

    With σ = 1 nm, ε = 1 kJ/mol and atoms of 1 Da the unit of time is 1 ps. The function returns None, and says why,
    where OpenMM is not installed.
    """
    mm = installed("openmm")
    if mm is None:
        say("OpenMM: not installed (pip install openmm)")
        return lambda steps: None
    context = _context(mm, start, threads)
    context.getIntegrator().step(MELTING)

    def run(steps: int) -> float:
        integrator = context.getIntegrator()
        began = time.perf_counter()
        integrator.step(steps)
        return time.perf_counter() - began

    return run


def _context(mm: Any, start: Melt, threads: int) -> Any:
    system, force = mm.System(), mm.NonbondedForce()
    force.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(CUTOFF)
    force.setUseDispersionCorrection(False)
    for _ in range(start.atoms):
        system.addParticle(1.0)
        force.addParticle(0.0, 1.0, 1.0)
    system.addForce(force)
    length = start.length
    system.setDefaultPeriodicBoxVectors((length, 0.0, 0.0), (0.0, length, 0.0), (0.0, 0.0, length))
    platform = mm.Platform.getPlatformByName("CPU")
    context = mm.Context(system, mm.VerletIntegrator(STEP), platform, {"Threads": str(threads)})
    context.setPositions(start.positions)
    context.setVelocities(start.velocities)
    return context
