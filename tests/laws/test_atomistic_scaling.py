"""What scaling does to thermostatted particles: the published form keeps the kinetic temperature and samples positions
at Td/a2 (Guy 2018, 4.12), its second factor at Td/(a2 b2), and the consistent form is the unscaled motion in a slower
clock.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.analysis.expected_temperatures import ratio_of_means
from articulon.analysis.time_averages import Average
from articulon.errors import CaseError
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_tables import LAPLACIAN
from articulon.model.state import CHANNELS, POTENTIAL, THERMOSTAT, THERMOSTAT_RATE
from articulon.scaling import Atomistic, AtomisticAdaptive, AtomisticClock, AtomisticTwoFactor, NoScaling
from articulon.scaling.base import INPUTS, STEP, ZETA_RATE


@cache
def fluid(cells: int = 4, temperature: float = 1.5) -> Any:
    """Repelling particles in a periodic box, from a crystal."""
    edge = 1.1
    box = ar.Box(lengths=(cells * edge,) * 3)
    places = edge * (np.stack(np.meshgrid(*[np.arange(cells)] * 3), axis=-1).reshape(-1, 3) + 0.25)
    rng = np.random.default_rng(8)
    v = rng.normal(size=places.shape)
    v -= v.mean(axis=0)
    v *= math.sqrt(3 * len(v) * temperature / (v**2).sum())
    builder = ar.ModelBuilder(units="lj", box=box)
    builder.add_particles(len(places), mass=1.0, positions=places, velocities=v, kind="A")
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    return builder.build()


THERMOSTATS = {
    "modified": ar.thermostats.ModifiedNoseHoover(temperature=1.0, mass=20.0, derivative_gain=0.05),
    "chain": ar.thermostats.NoseHooverChain(temperature=1.0, masses=(20.0, 1.0)),
}


@pytest.mark.parametrize("kind", THERMOSTATS)
@pytest.mark.parametrize(
    ("rule", "options", "allowed"),
    [
        ("dormand-prince", {"rtol": 1e-11, "atol": 1e-12}, 1e-7),
        # Steps longer by 1/√a2 are the same steps in the other clock.
        ("velocity-verlet", {"step": 0.002}, 1e-9),
    ],
)
def test_the_clock_form_is_the_unscaled_motion_in_a_slower_clock(
    kind: str, rule: str, options: dict[str, Any], allowed: float
) -> None:
    """q(t) = q*(√a2 t), q' = √a2 dq*/ds and ζ = √a2 ζ*, with the same Q and kd."""
    a2, duration, model = 0.25, 0.6, fluid(3)
    plain = ar.simulate(model, duration, rule=rule, thermostat=THERMOSTATS[kind], frames=3, **options)
    slow = {name: value / math.sqrt(a2) if name == "step" else value for name, value in options.items()}
    clock = ar.simulate(
        model,
        duration / math.sqrt(a2),
        rule=rule,
        thermostat=THERMOSTATS[kind],
        scaling=AtomisticClock(a2=a2),
        frames=3,
        **slow,
    )
    assert np.abs(plain.q[-1] - plain.q[0]).max() > 0.5
    assert np.abs(clock.q - plain.q).max() < allowed
    assert np.abs(clock.u / math.sqrt(a2) - plain.u).max() < 10.0 * allowed
    assert np.abs(clock.memory.bath()[:, 0] / math.sqrt(a2) - plain.memory.bath()[:, 0]).max() < 10.0 * allowed
    assert np.allclose(clock.kinetic_energy, a2 * plain.kinetic_energy, rtol=100.0 * allowed)


def temperatures(policy: Any, step: float, duration: float) -> tuple[float, Average]:
    """Kinetic temperature and that of the positions, of the second half of a run of the fluid."""
    model = fluid()
    thermostat = ar.thermostats.NoseHooverChain(temperature=1.0, period=0.5)
    run = ar.simulate(
        model, duration, rule="velocity-verlet", step=step, thermostat=thermostat, scaling=policy, frames=200
    )
    evaluator, squares, laplacians = Evaluator(model), [], []
    for q in run.q[100:]:
        squares.append((evaluator.on_sites(q.reshape(-1, 3)) ** 2).sum())
        laplacians.append(evaluator.measure(q)[LAPLACIAN])
    kinetic = 2.0 * run.kinetic_energy[100:].mean() / model.degrees_of_freedom
    return float(kinetic), ratio_of_means(np.array(squares), np.array(laplacians), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (NoScaling(), 1.0),
        (Atomistic(a2=0.5), 2.0),
        (AtomisticTwoFactor(a2=0.8, b2=0.5), 2.5),
        (AtomisticClock(a2=0.5), 1.0),
    ],
    ids=lambda value: getattr(value, "policy", ""),
)
def test_positions_are_sampled_at_the_temperature_that_the_policy_says(policy: Any, expected: float) -> None:
    """k T_conf = ⟨|∇Φ|²⟩/⟨∇²Φ⟩ of the unscaled potential is Td over the factor of the forces, within four standard
    errors; the speeds stay at Td, or a2 Td where the target is scaled."""
    kinetic, positions = temperatures(policy, 0.004, 100.0)
    assert policy.configurational_factor() == pytest.approx(expected)
    assert positions.error < 0.04 * expected
    assert abs(positions.mean - expected) < 4.0 * positions.error
    # 192 degrees of freedom in 100 frames, of which about every other is independent: √(2/192/50) = 0.014.
    assert kinetic == pytest.approx(policy.target_factor(), rel=0.05)


def law_of(policy: Any, rate: float, step: float, before: float = 1.0) -> np.ndarray:
    sums, factor = np.zeros(INPUTS), np.full(8, before)
    factor[THERMOSTAT] = 1.0
    sums[ZETA_RATE], sums[STEP] = rate, step
    policy.law(policy.parameters(0.0), sums, factor)
    return factor


def test_the_factors_are_those_of_the_equations() -> None:
    others = [c for c in range(len(CHANNELS)) if c not in (THERMOSTAT, THERMOSTAT_RATE)]
    for policy, rest, zeta, rate in (
        (Atomistic(a2=0.01), 0.01, 1.0, 0.01),
        (AtomisticTwoFactor(a2=0.1, b2=0.2), 0.02, 0.1, 0.02),
        (AtomisticClock(a2=0.04), 0.04, 1.0, 5.0),
    ):
        factor = law_of(policy, 0.0, 0.1)
        assert np.allclose(factor[others], rest, rtol=1e-14)
        assert factor[THERMOSTAT] == pytest.approx(zeta, rel=1e-14)
        assert factor[THERMOSTAT_RATE] == pytest.approx(rate, rel=1e-14)


def test_the_adaptive_factor_goes_to_the_small_parameter_of_its_time_scale() -> None:
    """ln a2 follows ln ε by a first-order filter: after a memory times ln 2 it is half-way there."""
    policy = AtomisticAdaptive(time_scale=2.0, memory=0.5, minimum=1e-3)
    epsilon = 1.0 / (50.0 * 2.0)
    assert law_of(policy, -50.0, 0.5 * math.log(2.0))[POTENTIAL] == pytest.approx(math.sqrt(epsilon), rel=1e-12)
    assert law_of(policy, 50.0, 1e3)[POTENTIAL] == pytest.approx(epsilon, rel=1e-12)
    assert law_of(policy, 1e9, 1e3)[POTENTIAL] == pytest.approx(1e-3, rel=1e-12)
    assert law_of(policy, 0.1, 1e3, before=0.01)[POTENTIAL] == pytest.approx(1.0, rel=1e-12)
    assert law_of(policy, 50.0, 0.0)[POTENTIAL] == 1.0
    assert math.isnan(law_of(policy, math.nan, 1.0)[POTENTIAL])


@pytest.mark.parametrize(("rule", "options"), [("kutta-merson", {}), ("velocity-verlet", {"step": 0.002})])
def test_the_adaptive_factor_follows_the_thermostat_in_every_rule(rule: str, options: dict[str, Any]) -> None:
    policy = AtomisticAdaptive(time_scale=20.0, memory=0.02, minimum=0.1)
    run = ar.simulate(fluid(3), 0.2, rule=rule, thermostat=THERMOSTATS["modified"], scaling=policy, **options)
    factor = run.state.factor
    assert 0.1 <= factor[POTENTIAL] < 0.9
    assert factor[THERMOSTAT] == 1.0


def test_a_minimum_above_one_is_refused() -> None:
    with pytest.raises(ar.ArticulonError, match="minimum must be at most 1"):
        AtomisticAdaptive(time_scale=1.0, minimum=2.0)


def test_a_policy_of_thermostats_is_refused_without_one() -> None:
    with pytest.raises(CaseError, match="'atomistic' scales the force of a thermostat of Nosé and Hoover"):
        ar.simulate(fluid(3), 0.1, rule="velocity-verlet", step=0.01, scaling=Atomistic(a2=0.1))
