"""Torsion dynamics of a molecule under a force field: velocity Verlet on the tree keeps its energy."""

import dataclasses

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.forces.evaluation import Evaluator
from articulon.integrate.choice import driver
from articulon.integrate.integrators import FrictionImplicit
from articulon.integrate.problem import Problem
from articulon.integrate.status import PAUSED
from articulon.scaling import NoScaling

DURATION, LOOKS = 1.0, 50
"""Of every run [ps], and how often its energy is taken."""


def relaxed(structure):
    """All atoms downhill, so that rigid bonds and angles have lengths of the force field."""
    openmm = pytest.importorskip("openmm")
    system = molecules.openmm_system(structure, "amber14", solvent="obc2")
    platform = openmm.Platform.getPlatformByName("Reference")
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), platform)
    context.setPositions(structure.positions)
    openmm.LocalEnergyMinimizer.minimize(context, 1.0, 200)
    places = context.getState(positions=True).getPositions(asNumpy=True)._value
    return dataclasses.replace(structure, positions=np.array(places))


def energies(model, u, step):
    """Total energy along a run without a thermostat [energy], and evaluations of the forces for a step."""
    evaluator, policy = Evaluator(model), NoScaling()
    moved = driver(Problem(evaluator, FrictionImplicit(step=step), policy), evaluator.initial_state())
    state = evaluator.initial_state(moved.history)
    state.u[:] = u
    steps, found = round(DURATION / step), []
    for _ in range(LOOKS):
        assert moved.advance(state, 1e9, steps // LOOKS) == PAUSED
        found.append(ar.potential_energy(model, state.q) + ar.kinetic_energy(model, state.q, state.u))
    return np.array(found)


@pytest.mark.slow
def test_the_energy_of_a_turning_peptide_is_kept_to_second_order():
    """Half the step, a quarter of the fluctuation, within the third of it that the changing path brings; no drift
    beyond it. The longer step is that of all-atom dynamics with bonds to hydrogen kept."""
    structure = relaxed(molecules.peptide(["ACE", "ALA", "SER", "NME"]))
    model = molecules.force_field_model(structure, molecules.perceive(structure), solvent="obc2")
    kT = model.units.boltzmann * 300.0
    rng = np.random.default_rng(2)
    u = np.linalg.solve(np.linalg.cholesky(ar.mass_matrix(model, model.q0)).T, rng.normal(size=model.nu)) * np.sqrt(kT)
    spread = {}
    for step in (0.001, 0.002):
        E = energies(model, u, step)
        spread[step] = E.std()
        assert abs(E[LOOKS // 2 :].mean() - E[: LOOKS // 2].mean()) < 3.0 * E.std()
    assert spread[0.002] < 0.1 * kT
    assert 4.0 / 1.33 < spread[0.002] / spread[0.001] < 4.0 * 1.33
