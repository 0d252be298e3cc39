"""Thermostats of Nosé and Hoover on trees with flexible bodies, whose modes share their heat."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.model.state import THERMOSTAT, THERMOSTAT_RATE
from tests.laws.test_flexible_motion import flying_rod
from tests.support.flexible_models import FlexibleCase

HOT = {
    "one": ar.thermostats.NoseHoover(temperature=1.5, mass=20.0),
    "with ζ'": ar.thermostats.ModifiedNoseHoover(temperature=1.5, mass=20.0, derivative_gain=0.4),
}


@pytest.mark.parametrize("solver", ["articulated", "divide-and-conquer", "kane"])
@pytest.mark.parametrize("name", HOT)
@pytest.mark.parametrize("seed", range(6))
def test_the_force_of_a_thermostat_is_minus_zeta_m_u(seed: int, name: str, solver: str) -> None:
    """So it slows all speeds alike, of joints and modes: u' differs by −(ζ + kd ζ') u; and its power is −2 (ζ + kd ζ')
    T, from the energy that the model has."""
    c, zeta = FlexibleCase(seed), 0.7
    n = c.model.nq + c.model.nu

    def rates(thermostat: Any) -> tuple[np.ndarray, Evaluator]:
        evaluator = Evaluator(c.model, solver=solver, thermostat=thermostat)
        variables = evaluator.initial_state().bath.size
        y = np.concatenate([c.q, c.u, np.zeros(8), [zeta] * min(variables, 1), np.zeros(max(variables - 1, 0))])
        dy = np.zeros_like(y)
        evaluator.rates(np.ones(8), 0.0, 0, y, dy)
        return dy, evaluator

    free, (dy, evaluator) = rates(None)[0], rates(HOT[name])
    friction = sum(evaluator.thermostat_rates())
    assert friction != zeta or name == "one"
    scale = np.abs(free[c.model.nq : n]).max() + np.abs(friction * c.u).max()
    np.testing.assert_allclose(dy[c.model.nq : n] - free[c.model.nq : n], -friction * c.u, rtol=0, atol=1e-10 * scale)
    power = dy[n + THERMOSTAT] + dy[n + THERMOSTAT_RATE]
    assert power == pytest.approx(-2.0 * friction * ar.kinetic_energy(c.model, c.q, c.u), rel=1e-12)


@pytest.mark.parametrize("name", HOT)
def test_the_conserved_energy_is_kept_to_the_order_of_the_rule(name: str) -> None:
    model = flying_rod(np.random.default_rng(5))
    errors = []
    for step in (8e-3, 4e-3):
        run = ar.simulate(model, 0.8, rule="rk4", step=step, frames=4, thermostat=HOT[name])
        conserved = run.observables["conserved_energy"]
        errors.append(np.abs(conserved - conserved[0]).max() / np.abs(run.kinetic_energy).max())
    assert errors[1] < 1e-5
    assert 12.0 < errors[0] / errors[1] < 40.0


@pytest.mark.slow
def test_a_mode_has_its_share_of_the_heat() -> None:
    """κ ⟨η²⟩ = kT and 2 ⟨T⟩ = kT of the one mode of a beam held fast, whose η is distributed as Gauss says. A chain of
    thermostats reaches that for one mode; many that hardly couple keep what energies they have."""
    kT, builder = 0.02, ar.ModelBuilder(units="lj")
    modes = ar.modes.beam(length=1.0, mass=2.0, bending=(1, 0), bending_stiffness=4.0, gyration=0.05)
    builder.add_body("beam", joint=ar.Weld(), modes=modes, u=(0.1,))
    model, stiffness = builder.build(), float(np.asarray(modes.stiffness).item())
    chain = ar.thermostats.NoseHooverChain(temperature=kT, period=3.0)
    run = ar.simulate(model, 2000.0, rtol=1e-5, atol=1e-6, frames=10000, thermostat=chain)
    eta = run.q[500:, 0]
    for energy in (2.0 * run.kinetic_energy[500:], stiffness * (eta - eta.mean()) ** 2):
        # Blocks of 95 units, thirty periods of the chain, are independent samples.
        blocks = energy[:9500].reshape(20, -1).mean(axis=1)
        error = blocks.std(ddof=1) / math.sqrt(blocks.size)
        assert error < 0.05 * kT
        assert abs(blocks.mean() - kT) < 4.0 * error
    assert (eta**4).mean() / eta.var() ** 2 == pytest.approx(3.0, abs=0.2)
