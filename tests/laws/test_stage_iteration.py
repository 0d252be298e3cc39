"""Stages of the canonical rules where plain iteration converges slowly or not at all: accelerated, it finds the same
stages, and goes on at longer steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from articulon.integrate import Canonical
from articulon.integrate.rules import CANONICAL
from articulon.integrate.stage_acceleration import are_others, find_places, mix_sweeps, note_stage
from articulon.integrate.status import DIVERGED, PAUSED
from articulon.kernels import kernel
from articulon.model.state import EVALUATIONS
from tests.laws.test_canonical import distance, reversed_run
from tests.support.coiled_chains import apart, coiled_chain, melt
from tests.support.flying_tree import momenta_about_the_origin
from tests.support.running import Running

EPS = float(np.finfo(float).eps)
INERTIA = 0.1
"""Of the beads of a chain."""
LONG = (("velocity-verlet", 0.015), ("verlet", 0.015), ("lobatto-iiia-iiib-3", 0.03), ("implicit-midpoint", 0.07))
"""Steps that plain iteration stops at in a free chain, within 100 of them: few enough that rounding, which chaos lets
grow, does not decide."""
MIXED = (("velocity-verlet", 0.008), ("verlet", 0.008), ("lobatto-iiia-iiib-3", 0.016), ("implicit-midpoint", 0.04))
"""Steps that plain iteration converges at, slowly."""


def running(model: Any, u: np.ndarray, rule: str, step: float, *, plain: bool = False) -> Running:
    """A run, by plain iteration where it is asked for."""
    run = Running(model, Canonical(rule=rule, step=step), u=u)
    if plain:
        run.driver.sweeps.slow[0] = np.inf  # type: ignore[attr-defined]
    return run


def advance(run: Running, steps: int) -> int:
    return int(run.driver.advance(run.state, 1e9, steps))


def sweeps(run: Running) -> float:
    """Sweeps over the stages in a step, on average."""
    stages = CANONICAL[run.driver.problem.integrator.rule].b.size
    return (int(run.state.counters[EVALUATIONS]) / max(run.steps, 1) - 1) / stages


@pytest.mark.parametrize(("rule", "step"), LONG)
def test_accelerated_iteration_goes_on_where_plain_iteration_does_not_converge(rule: str, step: float) -> None:
    model, u = coiled_chain(INERTIA)
    plain = running(model, u, rule, step, plain=True)
    assert advance(plain, 100) == DIVERGED
    assert "do not converge" in (plain.driver.failure or "")
    accelerated = running(model, u, rule, step)
    assert advance(accelerated, 100) == PAUSED
    assert sweeps(accelerated) < 40.0


@pytest.mark.parametrize(("rule", "step"), [("velocity-verlet", 0.02), ("implicit-midpoint", 0.025)])
def test_a_melt_goes_on_at_a_longer_step(rule: str, step: float) -> None:
    model, u = melt(8, 16, 0.4)
    plain, accelerated = running(model, u, rule, step, plain=True), running(model, u, rule, step)
    assert advance(plain, 50) == DIVERGED
    assert advance(accelerated, 50) == PAUSED


@pytest.mark.parametrize(("rule", "step"), [("velocity-verlet", 0.008), ("lobatto-iiia-iiib-3", 0.02)])
def test_many_chains_converge_like_the_slowest_of_them(rule: str, step: float) -> None:
    """Every chain has slow directions of its own: coefficients common to all twelve would mix them up. Those that have
    settled long before the last one do not disturb it."""
    seeds = [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14]
    together = running(*apart(INERTIA, seeds), rule, step)
    assert advance(together, 1) == PAUSED
    alone = [running(*coiled_chain(INERTIA, seed=seed), rule, step) for seed in seeds]
    for run in alone:
        assert advance(run, 1) == PAUSED
    assert sweeps(together) <= max(map(sweeps, alone)) + 4.0


def changed(model: Any, u: np.ndarray, rule: str, step: float, steps: int) -> float:
    """What a change of the speeds by ε becomes in some steps of plain iteration: what rounding does at least."""
    runs = [running(model, some, rule, step, plain=True) for some in (u, (1.0 + EPS) * u)]
    for run in runs:
        assert advance(run, steps) == PAUSED
    return float(np.abs(runs[0].u - runs[1].u).max())


@pytest.mark.parametrize(("rule", "step"), MIXED)
def test_both_iterations_find_the_same_stages(rule: str, step: float) -> None:
    """A step of two chains, in fewer sweeps. What they differ by is rounding, that of either."""
    saved, difference, rounding = 0.0, 0.0, 0.0
    for seed in (1, 2):
        model, u = coiled_chain(INERTIA, seed=seed)
        plain, accelerated = running(model, u, rule, step, plain=True), running(model, u, rule, step)
        accelerated.driver.sweeps.slow[0] = 0.0  # type: ignore[attr-defined]  # mixes every step
        assert advance(plain, 1) == advance(accelerated, 1) == PAUSED
        saved += (sweeps(plain) - sweeps(accelerated)) / 2
        difference = max(difference, float(np.abs(plain.u - accelerated.u).max()))
        rounding = max(rounding, changed(model, u, rule, step, 1))
    assert saved > 1.0
    assert 0.0 < difference < 4.0 * rounding


@pytest.mark.parametrize("rule", CANONICAL)
def test_what_converges_fast_is_left_alone(rule: str) -> None:
    """To the last bit, and to the last sweep."""
    model, u = coiled_chain(INERTIA)
    plain, accelerated = running(model, u, rule, 2e-4, plain=True), running(model, u, rule, 2e-4)
    for run in (plain, accelerated):
        assert advance(run, 20) == PAUSED
    assert sweeps(plain) == sweeps(accelerated)
    assert np.array_equal(plain.q, accelerated.q) and np.array_equal(plain.u, accelerated.u)


@pytest.mark.parametrize(("rule", "step"), MIXED)
def test_the_order_is_that_of_the_rule(rule: str, step: float) -> None:
    """Errors after 0.2 units of time against a fine run, with mixing in every step."""
    order = 4 if rule == "lobatto-iiia-iiib-3" else 2
    model, u = coiled_chain(INERTIA)
    exact = running(model, u, "lobatto-iiia-iiib-3", 2.5e-4)
    assert advance(exact, 800) == PAUSED
    errors = []
    for part in (1, 2):
        run = running(model, u, rule, 0.1 / round(0.2 / step) / part)
        run.driver.sweeps.slow[0] = 0.0  # type: ignore[attr-defined]  # mixes every step
        steps = round(0.2 / run.driver.step)
        assert advance(run, steps) == PAUSED
        errors.append(float(np.abs(run.u - exact.u).max()))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize(("rule", "step"), MIXED)
def test_steps_go_back_in_time_to_rounding(rule: str, step: float) -> None:
    """Twenty steps there and back. Each brings in as much as a change of the speeds by ε, which grows until the end."""
    model, u = coiled_chain(INERTIA, seed=2)
    run = running(model, u, rule, step)
    reversed_run(run, 20)
    assert run.steps == 40
    assert distance(run, model.q0, u) < 4.0 * np.sqrt(40) * changed(model, u, rule, step, 20)


def test_momenta_are_kept_to_rounding() -> None:
    """Of a chain that is mixed in every step: as those of a tree that needs no mixing are."""
    model, u = coiled_chain(INERTIA)
    run, steps = running(model, u, "implicit-midpoint", 0.03), 2_000
    linear, angular = momenta_about_the_origin(model, run.q, run.u)
    assert advance(run, steps) == PAUSED
    now_linear, now_angular = momenta_about_the_origin(model, run.q, run.u)
    arm = max(1.0, float(np.linalg.norm(run.q[:3])) * float(np.linalg.norm(linear)) / float(np.linalg.norm(angular)))
    assert np.linalg.norm(now_linear - linear) < 20.0 * EPS * np.linalg.norm(angular)
    assert np.linalg.norm(now_angular - angular) < 20.0 * 0.5 * EPS * np.sqrt(steps) * arm * np.linalg.norm(angular)


def test_chunks_and_a_driver_begun_anew_give_the_same_bits() -> None:
    """Nothing of a step's sweeps is carried to the next: what earlier steps have left in the arrays does not matter."""
    model, u = coiled_chain(INERTIA)
    whole, parts = (running(model, u, "lobatto-iiia-iiib-3", 0.025) for _ in range(2))
    assert advance(whole, 30) == PAUSED
    for steps in (7, 1, 12):
        assert advance(parts, steps) == PAUSED
    resumed = running(model, u, "lobatto-iiia-iiib-3", 0.025)
    for name in ("q", "u", "time", "work", "counters"):
        getattr(resumed.state, name)[:] = getattr(parts.state, name)
    resumed.state.rule.history[:] = parts.state.rule.history
    assert advance(resumed, 10) == PAUSED
    assert np.array_equal(whole.q, resumed.q) and np.array_equal(whole.u, resumed.u)
    assert np.array_equal(whole.state.rule.history, resumed.state.rule.history)


def test_a_unit_of_mass_changes_no_bit() -> None:
    """Masses of 2⁴⁰ of another unit: momenta are as much larger, and weigh as much beside coordinates as before."""
    runs = []
    for mass in (1.0, 2.0**40):
        model, u = coiled_chain(INERTIA * mass, mass=mass)
        runs.append(running(model, u, "implicit-midpoint", 0.04))
        assert advance(runs[-1], 20) == PAUSED
    assert sweeps(runs[0]) > 15.0
    assert np.array_equal(runs[0].q, runs[1].q) and np.array_equal(runs[0].u, runs[1].u)


@pytest.mark.parametrize("rule", CANONICAL)
def test_rates_that_are_not_finite_are_not_taken_for_settled_ones(rule: str) -> None:
    """In steps so long that rates overflow before stages do."""
    for seed in range(1, 5):
        model, u = coiled_chain(0.05, seed=seed)
        for step in (0.1, 0.3, 1.0):
            run = running(model, u, rule, step)
            assert advance(run, 3) == DIVERGED
            assert np.isfinite(run.q).all() and np.isfinite(run.u).all()


# Linear sweeps


@kernel
def iterate(J, c, pair, arrays, sweeps, most):  # type: ignore[no-untyped-def]
    """Mixes the sweeps x → J x + c, x the rates of coordinates and momenta; returns how many they were, and whether the
    limit is taken for another solution than that of short steps."""
    n, parts, x_q, x_p = arrays.q.size, find_places(pair, 0, 1, sweeps), arrays.rate_q[0], arrays.rate_p[0]
    looked, other = False, False
    for noted in range(most):
        change = 0.0
        for v in range(n):
            arrays.fresh[v], arrays.fresh_p[v] = c[v], c[n + v]
            for w in range(n):
                arrays.fresh[v] += J[v, w] * x_q[w] + J[v, n + w] * x_p[w]
                arrays.fresh_p[v] += J[n + v, w] * x_q[w] + J[n + v, n + w] * x_p[w]
        for v in range(n):
            change = max(change, max(abs(arrays.fresh[v] - x_q[v]), abs(arrays.fresh_p[v] - x_p[v])))
        note_stage(noted, 0, arrays, sweeps)
        for v in range(n):
            x_q[v], x_p[v] = arrays.fresh[v], arrays.fresh_p[v]
        if change < 1e-8 and not looked:
            looked, other = True, are_others(noted, parts, arrays, sweeps)
        if change < 1e-13:
            return noted, other
        mix_sweeps(noted, parts, 0, 1, arrays, sweeps)
    return most, other


@pytest.mark.parametrize(
    ("block", "other"),
    [
        pytest.param([[0.9, 0.0], [0.0, -0.7]], False, id="slow"),
        pytest.param([[-1.6, 0.0], [0.0, 0.5]], False, id="alternating"),
        pytest.param([[0.4, -1.5], [1.5, 0.4]], False, id="spiralling"),
        pytest.param([[1.3, 0.0], [0.0, 0.5]], True, id="beyond a fold"),
    ],
)
def test_slow_and_divergent_directions_of_linear_sweeps_are_solved_for(block: list[list[float]], other: bool) -> None:
    """Two directions that sweeps take long for or flee along, among twelve along which they settle at once. Only a real
    eigenvalue beyond 1 tells of another solution: from short steps on, no eigenvalue has come there."""
    rng = np.random.default_rng(5)
    model, u = coiled_chain(INERTIA, links=1)
    driver: Any = running(model, u, "implicit-midpoint", 0.01).driver
    J = 0.1 * np.diag(rng.uniform(-1.0, 1.0, size=14))
    J[:2, :2] = block
    basis = rng.normal(size=(14, 14))
    J, c = np.linalg.solve(basis, J @ basis), rng.normal(size=14)
    driver.scratch.rate_q[:] = driver.scratch.rate_p[:] = 0.0
    found, taken = iterate(J, c, driver.pair, driver.scratch, driver.sweeps, 60)
    assert found < 30
    x = np.concatenate([driver.scratch.rate_q[0], driver.scratch.rate_p[0]])
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(14) - J, c), rtol=0, atol=1e-10)
    assert taken == other
