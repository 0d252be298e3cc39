"""The unscaled path beside a run: its rule for stiff equations, speeds without inertia, and paths in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import articulon as ar
from articulon.fidelity.chebyshev import REACH, chebyshev_steps, largest_rate
from articulon.fidelity.paths import groups_of
from articulon.fidelity.reference import PAST, Course, NoPathError, TooExpensiveError, complete, without_inertia
from articulon.forces.evaluation import Evaluator
from articulon.integrate.drift_velocity import DriftVelocity, SlowMotion
from articulon.integrate.stop_conditions import advance_of
from articulon.model.state import STOCHASTIC
from tests.support.flying_tree import flying_tree
from tests.support.random_models import builder_of, floating_tree, random_coordinates, random_forest

# The rule


def nothing(_: np.ndarray) -> None:
    """No coordinates have to be put back."""


def loose(n: int) -> Any:
    """Accepts every step."""
    return lambda _: np.full(n, 1e120)


def curved(t: float, y: np.ndarray) -> np.ndarray:
    return np.array([-(y[0] ** 2) + math.cos(3.0 * t), y[0] - y[1] * y[0]])


def at_end(steps: int, reach: float) -> np.ndarray:
    """y(1) by equal steps that damp rates of up to ``reach`` over their length."""
    h = 1.0 / steps
    found = chebyshev_steps(curved, 0.0, np.array([1.0, 0.5]), 1.0, loose(2), nothing, h, h, reach / h)
    *_, (_, y, _) = found
    return y


@pytest.mark.parametrize("reach", [1.0, 150.0, 3000.0], ids=["two stages", "16 stages", "69 stages"])
def test_the_rule_is_of_second_order_with_any_number_of_stages(reach: float) -> None:
    """Half the step leaves a quarter of the error, up to a part of the order of the step."""
    true = solve_ivp(curved, (0.0, 1.0), [1.0, 0.5], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    coarse, fine = (np.linalg.norm(at_end(n, reach) - true) for n in (12, 24))
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=1.0 / 12.0)


@pytest.mark.parametrize("stages", [2, 3, 8, 40, 150])
def test_a_step_damps_every_rate_that_it_reaches(stages: int) -> None:
    """On y' = −λy a step multiplies by the stability polynomial: inside the unit disc up to the edge of the reach,
    1 − z + z²/2 near zero, and beyond the edge it grows."""
    edge = REACH * (stages**2 - 1)
    rates = np.concatenate([[1e-3, 1e-2], np.linspace(0.05, 1.0, 400) * edge, [1.3 * edge]])
    # The number of stages is rounded up, so that the rate is told a little smaller.
    steps = chebyshev_steps(
        lambda _, y: -rates * y, 0.0, np.ones_like(rates), 1.0, loose(rates.size), nothing, 1.0, 1.0, edge * (1 - 1e-9)
    )
    *_, (t, y, _) = steps
    assert t == 1.0
    assert np.abs(y[:-1]).max() <= 1.0
    small = rates[:2]
    np.testing.assert_allclose(y[:2], 1.0 - small + small**2 / 2, atol=0.2 * small[1] ** 3)
    assert abs(y[-1]) > 1.0


@pytest.mark.slow
def test_a_stiff_problem_costs_the_root_of_its_stiffness() -> None:
    """Rates from 1 to 1e6 over ten of the slowest times. Euler's rule would need 5e6 evaluations."""
    rates, count = np.logspace(0.0, 6.0, 7), 0

    def f(t: float, y: np.ndarray) -> np.ndarray:
        nonlocal count
        count += 1
        return -rates * (y - math.sin(t)) + math.cos(t)

    found = [(t, y) for t, y, _ in chebyshev_steps(f, 0.0, np.ones(7), 10.0, lambda _: np.full(7, 1e-4), nothing, 1e-4)]
    times = np.array([t for t, _ in found])
    true = np.sin(times)[:, None] + np.exp(-times[:, None] * rates)
    # Errors of steps of at most 1e-4 are damped: those of the slowest rate add up over its own time, by far fewer steps
    # than there are in all.
    assert np.abs(np.array([y for _, y in found]) - true).max() < 1e-4 * times.size / 10.0
    steps = times.size - 1
    # s² = 1 + hλ/REACH stages in each; by Cauchy and Schwarz the root of the number of steps times what they reach.
    # Margins: rates are taken 1.2 times as large, steps are refused, and rates are looked at.
    assert count < 2.0 * math.sqrt(steps * 1.2 * 1e6 * 10.0 / REACH)


def test_the_largest_rate_is_found_with_its_margin() -> None:
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    matrix = -turn @ np.diag([1.0, 3.0, 10.0, 50.0, 200.0, 5000.0]) @ turn.T
    y = rng.normal(size=6)
    found, _ = largest_rate(lambda _, z: matrix @ z, 0.0, y, matrix @ y, rng.normal(size=6), np.ones(6))
    # The iteration ends where a pass changes by 1 %.
    assert found == pytest.approx(1.2 * 5000.0, rel=0.02)


# Speeds without inertia


def hanging(seed: int, whole: bool) -> Any:
    """A random tree or several under gravity, with drag on every body and springs."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "prismatic", "universal", "spherical", "xyz", "free", "weld")
    tree = floating_tree(rng, 7) if whole else random_forest(rng, 7, kinds=kinds, root_chance=0.4)
    builder = builder_of(tree, random_coordinates(tree, rng))
    drag = {body.name: float(rng.uniform(0.5, 5.0)) for body in tree.bodies}
    turning = {body.name: float(rng.uniform(0.1, 1.0)) for body in tree.bodies}
    builder.add_force(ar.forces.StokesDrag(translational=drag, rotational=turning, flow=(0.3, -0.2, 0.1)))
    builder.add_force(ar.forces.Gravity(acceleration=(0.5, 1.0, -9.0)))
    return builder.build()


def accelerations(evaluator: Evaluator, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """u' of a run without noise."""
    model, factors = evaluator.model, np.ones(8)
    factors[STOCHASTIC] = 0.0
    y, dy = np.zeros((2, model.nq + model.nu + 8))
    y[: model.nq], y[model.nq : model.nq + model.nu] = q, u
    evaluator.rates(factors, 0.0, 0, y, dy)
    return dy[model.nq : model.nq + model.nu].copy()


def damping(evaluator: Evaluator, q: np.ndarray) -> np.ndarray:
    """−M⁻¹ζ by central differences of u', which are exact up to rounding: u' is quadratic in the speeds."""
    nu, h = evaluator.model.nu, 0.1
    columns = [
        (accelerations(evaluator, q, h * e) - accelerations(evaluator, q, -h * e)) / (2.0 * h) for e in np.eye(nu)
    ]
    return np.array(columns).T


@pytest.mark.parametrize("whole", [True, False], ids=["a floating tree", "several trees"])
@pytest.mark.parametrize("seed", range(4))
def test_speeds_without_inertia_are_those_at_which_a_body_would_not_accelerate(seed: int, whole: bool) -> None:
    """But for what is quadratic in the speeds, which is inertia: u' + ζ-part vanish together."""
    model = hanging(seed, whole)
    evaluator, q = Evaluator(model), model.q0
    drift = DriftVelocity(evaluator, np.zeros(model.nu, dtype=bool))
    assert drift.why_not() is None
    D = damping(evaluator, q)
    expected = np.linalg.solve(D, -accelerations(evaluator, q, np.zeros(model.nu)))
    # Differences lose a few digits, and the solve as many as its condition has.
    bound = 1e-12 * np.linalg.cond(D) * np.abs(expected).max()
    np.testing.assert_allclose(drift.speeds(0.0, q), expected, rtol=0.0, atol=bound)
    change = np.random.default_rng(seed).normal(size=model.nu)
    lost = np.linalg.solve(D, -change)
    bound = 1e-12 * np.linalg.cond(D) * np.abs(lost).max()
    np.testing.assert_allclose(drift.lost(q, change), lost, rtol=0.0, atol=bound)
    held = ar.inverse_dynamics(model, q, np.zeros(model.nu), -D @ change)
    np.testing.assert_allclose(drift.held_back(q, change), held, rtol=1e-10, atol=1e-10 * np.abs(held).max())


def test_rates_of_coordinates_follow_from_the_speeds() -> None:
    """Those of Euler parameters by a small turn; what is put back has unit length."""
    model = flying_tree(forces=(ar.forces.StokesDrag(translational=2.0, rotational=0.5),))
    drift = DriftVelocity(Evaluator(model), np.zeros(model.nu, dtype=bool))
    rng, q = np.random.default_rng(8), model.q0.copy()
    h = 1e-3
    for _ in range(20):  # away from where springs are at rest
        q = q + h * rng.normal(size=q.size)
        drift.project(q)
    u, rates = drift.speeds(0.0, q), drift.rates(0.0, q)
    from articulon.dynamics.multibody_functions import moved

    step = 1e-4 / np.abs(u).max()
    expected = (moved(model, q, step * u) - moved(model, q, -step * u)) / (2.0 * step)
    # The difference errs by the square of the turn.
    np.testing.assert_allclose(rates, expected, atol=1e-6 * np.abs(u).max())
    q *= 3.0
    drift.project(q)
    for group in groups_of(model):
        if group.turns:
            assert np.linalg.norm(q[group.coordinate : group.coordinate + 4]) == pytest.approx(1.0)


def test_what_has_no_motion_without_inertia_is_named() -> None:
    def reason(forces: list[Any], turns: bool = False) -> str | None:
        builder = ar.ModelBuilder(units="lj")
        builder.add_body("core", mass=1.0, inertia=1.0, joint=ar.Free())
        builder.add_body("arm", parent="core", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)))
        for force in forces:
            builder.add_force(force)
        model = builder.build()
        idle = np.zeros(model.nu, dtype=bool)
        idle[3:] = turns
        return DriftVelocity(Evaluator(model), idle).why_not()

    drag = ar.forces.StokesDrag
    assert reason([drag(translational=1.0, rotational=1.0)]) is None
    assert "'core'" in str(reason([]))
    assert "'arm'" in str(reason([drag(translational=1.0, rotational={"core": 1.0, "arm": 0.0})]))
    assert reason([drag(translational=1.0, rotational=0.0)], turns=True) is None, "what never turns needs no drag"


def test_damping_by_anything_but_stokes_drag_is_noticed() -> None:
    def otherwise(*more: Any) -> bool:
        stokes = ar.forces.StokesDrag(translational=2.0, rotational=0.5, flow=(0.2, 0.0, 0.0))
        model = flying_tree(forces=(stokes, *more))
        drift = DriftVelocity(Evaluator(model), np.zeros(model.nu, dtype=bool))
        return drift.damped_otherwise(0.0, model.q0, 0.1 * model.u0)

    assert not otherwise()
    assert otherwise(ar.forces.JointDamping(rotational={"link-1": 0.05}))


# Paths


def course(model: Any, duration: float, scale: float, stop: Any = None) -> Course:
    groups = groups_of(model)
    sizes = np.full(len(groups), scale)
    speeds = np.full(len(groups), scale / duration)
    idle = np.zeros(model.nu, dtype=bool)
    return Course(groups, model.q0, model.u0, 0.0, duration, sizes, speeds, idle, stop)


MASS, DRAG, STIFFNESS = 0.02, 1.0, 4.0


def sprung(start: float, speed: float = 0.0, stiffness: float = STIFFNESS) -> Any:
    """A ball on a spring to the origin."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=MASS, joint=ar.Xyz(), q=(start, 0.0, 0.0), u=(speed, 0.0, 0.0))
    builder.add_force(ar.forces.PointSpring(bodies=("ground", "ball"), stiffness=stiffness))
    builder.add_force(ar.forces.StokesDrag(translational=DRAG, rotational=0.0))
    return builder.build()


def falling() -> Any:
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=MASS, joint=ar.Xyz())
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -3.0)))
    builder.add_force(ar.forces.StokesDrag(translational=DRAG, rotational=0.0))
    return builder.build()


@pytest.mark.parametrize("tolerance", [1e-3, 4e-5])
@pytest.mark.parametrize("stiffness", [STIFFNESS, 1e4], ids=["slow", "stiff"])
def test_without_inertia_a_ball_falls_into_its_well_exponentially(tolerance: float, stiffness: float) -> None:
    model = sprung(1.0, stiffness=stiffness)
    drift = DriftVelocity(Evaluator(model), np.zeros(model.nu, dtype=bool))
    path = without_inertia(drift, course(model, 1.0, 1.0), tolerance, 10**6)
    true = np.exp(-stiffness / DRAG * path.times) - 1.0
    # What steps add up to is forgotten within a relaxation time; the error of one is a mean square over the three
    # coordinates, of which one moves.
    steps = max(1, int((path.times < DRAG / stiffness).sum()))
    assert np.abs(path.place[:, 0] - true).max() < math.sqrt(3.0) * tolerance * steps
    np.testing.assert_allclose(path.velocity[:, 0], -stiffness / DRAG * path.q[:, 0], rtol=1e-9, atol=1e-12)
    assert path.times[-1] == 1.0


def test_without_inertia_a_ball_falls_at_once_with_its_full_speed() -> None:
    model = falling()
    drift = DriftVelocity(Evaluator(model), np.zeros(model.nu, dtype=bool))
    path = without_inertia(drift, course(model, 1.0, 0.06), 1e-3, 10**4)
    np.testing.assert_allclose(path.place[:, 2], -3.0 * MASS / DRAG * path.times, rtol=1e-12)


def test_inertia_to_first_order_is_that_of_the_slow_motion_in_a_well() -> None:
    """x' = −λ x with λ = (1 − √(1 − 4ε))/2τ = κ (1 + ε + 2ε² + ...), κ = k/β and ε = κτ: the first two terms."""
    model = sprung(1.0)
    kappa, tau = STIFFNESS / DRAG, MASS / DRAG
    slow = SlowMotion(Evaluator(model), np.zeros(model.nu, dtype=bool), np.full(model.nu, 1e-6))
    # Speeds are differenced over 1e-6 of the place.
    assert slow.speeds(0.0, model.q0)[0] == pytest.approx(-kappa * (1.0 + kappa * tau), rel=1e-7)


@pytest.mark.parametrize("speed", [0.0, -3.0, 5.0])
def test_a_path_with_inertia_to_first_order_errs_in_second_order(speed: float) -> None:
    """Beside the damped oscillator, from rest and with a speed that has to relax first. ε = 0.02 and 0.08."""
    errors = []
    for stiffness in (1.0, 4.0):
        model = sprung(1.0, speed, stiffness)
        slow = SlowMotion(Evaluator(model), np.zeros(model.nu, dtype=bool), np.full(model.nu, 1e-6))
        path = without_inertia(slow, course(model, 1.0, 1.0), 1e-6, 10**6)
        gamma = DRAG / MASS / 2.0
        rate = math.sqrt(gamma**2 - stiffness / MASS)
        t = path.times[path.times > 10.0 * MASS / DRAG]
        true = np.exp(-gamma * t) * (np.cosh(rate * t) + (speed + gamma) / rate * np.sinh(rate * t)) - 1.0
        errors.append(float(np.abs(path.place[-t.size :, 0] - true).max()))
    small, large = (1.0 * MASS) ** 2, (4.0 * MASS) ** 2
    # λ lacks 2ε²κ and the place from which it begins as much, over times of up to 1/κ.
    assert errors[0] < 4.0 * small * (1.0 + abs(speed)) and errors[1] < 4.0 * large * (1.0 + abs(speed))


@pytest.mark.parametrize("tolerance", [1e-3, 4e-5])
def test_the_complete_path_from_rest_lags_by_its_relaxation_time(tolerance: float) -> None:
    """Under a constant force x = v (t − τ (1 − e^{−t/τ}))."""
    model = falling()
    tau, v = MASS / DRAG, -3.0 * MASS / DRAG
    path, spent = complete(Evaluator(model), course(model, 1.0, 0.06), tolerance, 10**4)
    true = v * (path.times - tau * (1.0 - np.exp(-path.times / tau)))
    # Radau's steps err by less than they are asked for; a few of them make the way.
    assert np.abs(path.place[:, 2] - true).max() < 3.0 * tolerance * 0.06
    assert 0 < spent < 10**4 and path.times[-1] == 1.0


@pytest.mark.parametrize("tolerance", [1e-3, 4e-5])
def test_the_complete_path_in_a_well_is_that_of_a_damped_oscillator(tolerance: float) -> None:
    """x'' + γ x' + ω² x = 0, which swings here."""
    stiffness = 40.0
    model = sprung(1.0, 2.0, stiffness)
    gamma = DRAG / MASS / 2.0
    rate = math.sqrt(stiffness / MASS - gamma**2)
    path, _ = complete(Evaluator(model), course(model, 0.5, 1.0), tolerance, 10**5)
    t = path.times
    true = np.exp(-gamma * t) * (np.cos(rate * t) + (2.0 + gamma) / rate * np.sin(rate * t)) - 1.0
    assert np.abs(path.place[:, 0] - true).max() < 5.0 * tolerance


@pytest.mark.parametrize("how", ["without inertia", "complete"])
def test_a_path_ends_a_little_behind_what_ends_its_run(how: str) -> None:
    model = falling()
    what = course(model, 1.0, 0.06, advance_of(model, model.body("ball"), (0.0, 0.0, -1.0), 0.03))
    if how == "complete":
        path, _ = complete(Evaluator(model), what, 1e-3, 10**4)
    else:
        drift = DriftVelocity(Evaluator(model), np.zeros(model.nu, dtype=bool))
        path = without_inertia(drift, what, 1e-3, 10**4)
    reached = 0.5 + (MASS / DRAG if how == "complete" else 0.0)
    assert reached + PAST < path.times[-1] < reached + PAST + 2.0 * np.diff(path.times).max()


def test_a_path_that_costs_more_than_its_budget_is_not_made() -> None:
    model = sprung(1.0, stiffness=1e4)
    drift = DriftVelocity(Evaluator(model), np.zeros(model.nu, dtype=bool))
    before = drift.evaluations
    with pytest.raises(TooExpensiveError):
        without_inertia(drift, course(model, 1.0, 1.0), 1e-3, 100)
    assert drift.evaluations - before == 100
    with pytest.raises(TooExpensiveError):
        complete(Evaluator(model), course(model, 1.0, 1.0), 1e-3, 30)


def test_a_path_into_a_collision_says_that_there_is_none() -> None:
    """Two balls that attract each other by 1/r² with nothing between them meet at a moment, which no step passes."""
    builder = ar.ModelBuilder(units="lj")
    body = builder.add_body("ball", mass=1e-3, joint=ar.Xyz(), q=(1.0, 0.0, 0.0))
    builder.add_site(body, kind="a", group="a")
    builder.add_site(None, kind="b", group="b")
    law = ar.forces.PairLaw(kinds=("a", "b"), C=-1.0)
    builder.add_force(ar.forces.SitePairs(table=(law,), between=(("a", "b"),)))
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=0.0))
    model = builder.build()
    drift = DriftVelocity(Evaluator(model), np.zeros(model.nu, dtype=bool))
    # It meets at r³ = 1 − 3t.
    with pytest.raises((NoPathError, TooExpensiveError), match=r"t = 0\.33|^$"):
        without_inertia(drift, course(model, 1.0, 1.0), 1e-3, 3000)
