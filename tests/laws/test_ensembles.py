"""Every thermostat samples the ensemble that it states, on particles, rigid bodies and jointed chains, by the tests of
physical_validation (Merz and Shirts, PLOS ONE 13, e0202764, 2018).

A right temperature must lie within four standard errors, and there must be samples enough that one that is 3 % wrong
lies beyond. Particles are sampled under every thermostat; bodies under one that draws speeds through their mass matrix
and jointed chains under one that counts their degrees of freedom. What else there is of both, with the same samples and
bounds, takes a quarter of an hour: ``python -m validation.ensembles``.
"""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from tests.support.ensembles import (
    BEYOND,
    EVERY,
    PLANTED,
    SYSTEMS,
    boltzmann_deviation,
    built,
    check_isokinetic,
    freedoms_of,
    integrator,
    kinetic_deviations,
    reservoir,
    sampled,
    share_deviations,
    thermostat_of,
)

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

OF_BODIES = [("rigid bodies", "langevin"), ("jointed chains", "chain")]
SAMPLED = [*(("particles", name) for name in EVERY), *OF_BODIES]


@pytest.mark.slow
@pytest.mark.parametrize(("system", "name"), [pair for pair in SAMPLED if pair[1] != "modified"])
def test_kinetic_energies_are_those_of_maxwell(system, name):
    energies, degrees_of_freedom = sampled(system, name, 1.5)[0], freedoms_of(system, name)
    mean, width = kinetic_deviations(energies, 1.5, degrees_of_freedom)
    assert max(mean, width) < BEYOND
    assert kinetic_deviations(energies, 1.5 * PLANTED, degrees_of_freedom)[0] > BEYOND
    largest, square, allowed = share_deviations(system, name)
    assert largest < 5.0
    assert square < allowed


@pytest.mark.slow
@pytest.mark.parametrize(("system", "name"), SAMPLED)
def test_potential_energies_at_two_temperatures_have_the_ratio_of_boltzmann(system, name):
    assert boltzmann_deviation(system, name) < BEYOND


def test_the_modified_thermostat_has_not_the_kinetic_energies_of_maxwell():
    """Its positions are canonical and its speeds are nearly isokinetic: as its documentation says."""
    check_isokinetic("particles")


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_conserved_converges_with_the_square_of_the_step(system, name):
    """Fluctuations of K + Φ + what the thermostat has taken, over the same times with steps h, h/2 and h/4."""
    model, rule, interval = built(system)
    thermostat = thermostat_of(system, name, 1.5)
    if name == "modified":  # so strong a gain is stiff against long steps, and what it takes is all there is to see
        thermostat = thermostat.model_copy(update={"derivative_gain": 2.0})
    # Noise differs with the step, so that the spreads of few runs say little of the order.
    count = 60 if name == "langevin" else 20
    # Times of one run say little beside each other: of particles, where a frame costs as much as 200 steps, five give
    # the ratios of twenty to 1 %.
    frames = 5 if system == "particles" else 20
    starts = ar.simulate(model, 2.0 * count * interval, frames=count, seed=7, thermostat=thermostat, **rule)
    conserved = {}
    for part in (0.5, 0.25, 0.125):
        pieces = []
        for k in range(1, count + 1):  # many short runs: long ones lose each other, and noise differs with the step
            run = ar.simulate(
                model,
                40.0 * rule["step"],
                frames=frames,
                seed=100 + k,
                thermostat=thermostat,
                q=starts.q[k],
                u=starts.u[k],
                **{**rule, "step": part * rule["step"]},
            )
            energy = run.kinetic_energy + run.potential_energy + reservoir(run, thermostat.table(model, 0))
            pieces.append(energy - energy[0])
        conserved[str(part)] = np.concatenate(pieces)
    worst = integrator.check_convergence(
        conserved, lambda steps, spreads: integrator.max_deviation(steps, spreads), False, False, None
    )
    assert worst < 0.5
