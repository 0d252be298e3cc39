"""The friction-implicit rule against exact results: the damped oscillator with noise of Nørrelykke and Flyvbjerg (Phys.
Rev. E 83, 041103, 2011), free diffusion, drift, equipartition in jointed chains, and the order of its errors.

For one particle the rule is that of Grønbech-Jensen and Farago: a linear map, whose stationary moments and correlations
``tests.support.langevin`` finds by linear algebra. Statistical bounds are five standard errors of the estimator,
computed from those correlations.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.integrate import Explicit, FrictionImplicit
from tests.support.chains import TAPER, Chain, mean_and_error
from tests.support.langevin import Oscillator, error_of_lagged_product, error_of_mean_square
from tests.support.running import Running

SIGMAS = 5.0
KT = 1.3
EPS = float(np.finfo(float).eps)
STEPS = (0.1, 1.0, 10.0, 30.0)
"""In relaxation times m/β."""

# A ball on an arm that turns about an oblique axis: its inertia and drag about the axis have both parts.
MASS, INERTIA, ARM, DRAG, TURNING = 1.5, 0.3, 0.8, 2.0, 0.7
TOTAL_INERTIA, TOTAL_DRAG = INERTIA + MASS * ARM**2, TURNING + DRAG * ARM**2


def oscillators(count: int, stiffness: float) -> Any:
    builder = ar.ModelBuilder(units="lj")
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    across = np.array([2.0, 1.0, 2.0]) / 3.0
    builder.add_bodies(
        count, mass=MASS, inertia=INERTIA, com=ARM * across, joint=ar.Revolute(axis=tuple(axis)), names="pendulum"
    )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"pendulum*": stiffness}))
    builder.add_force(ar.forces.StokesDrag(translational=DRAG, rotational=TURNING))
    builder.add_force(ar.forces.Brownian(temperature=KT))
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("shape", [1.0, 1.7])
@pytest.mark.parametrize("ratio", STEPS)
def test_the_rule_keeps_the_oscillators_positions_exactly_and_its_correlations(ratio: float, shape: float) -> None:
    """⟨x²⟩ = kT/k at any stable step, ⟨v²⟩ = (kT/m)(1 − (ω₀h)²/4), and the autocovariance of the discrete rule."""
    count, samples, lags = 2000, 480, (1, 2, 5)
    h = ratio * TOTAL_INERTIA / TOTAL_DRAG
    oscillator = Oscillator(TOTAL_INERTIA, TOTAL_DRAG, TOTAL_INERTIA * (shape / h) ** 2, KT)
    rule = oscillator.friction_implicit(h)
    covariance = rule.stationary()
    # What is known of the rule in closed form, so that the oracle itself is checked.
    assert covariance[0, 0] == pytest.approx(KT / oscillator.stiffness, rel=1e-9)
    assert covariance[1, 1] == pytest.approx(KT / TOTAL_INERTIA * (1.0 - shape**2 / 4.0), rel=1e-9)
    rng = np.random.default_rng(31)
    start = rng.multivariate_normal(np.zeros(2), covariance, size=count)
    run = Running(
        oscillators(count, oscillator.stiffness),
        FrictionImplicit(step=h),
        seed=32,
        window=h,
        q=start[:, 0],
        u=start[:, 1],
    )
    x, v = np.empty((samples, count)), np.empty((samples, count))
    for k in range(samples):
        run.to((k + 1) * h)
        x[k], v[k] = run.q, run.u
    C = rule.lagged(samples + max(lags))
    for name, series, c in (("position", x, C[:, 0, 0]), ("velocity", v, C[:, 1, 1])):
        error = error_of_mean_square(c[:samples], count)
        assert error < 0.012 * c[0], "too few samples"
        assert abs((series**2).mean() - c[0]) < SIGMAS * error, name
        for lag in lags:
            measured = (series[lag:] * series[:-lag]).mean()
            error = error_of_lagged_product(c, lag, samples - lag, count)
            assert abs(measured - c[lag]) < SIGMAS * error, (name, lag)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", STEPS)
def test_slow_relaxation_is_that_of_the_continuous_oscillator(ratio: float) -> None:
    """Overdamped, with β/k = 20 h: positions lose their memory as Nørrelykke and Flyvbjerg's exact solution does,
    though the step is up to 30 relaxation times of the velocity."""
    count, samples = 2000, 400
    h = ratio * TOTAL_INERTIA / TOTAL_DRAG
    oscillator = Oscillator(TOTAL_INERTIA, TOTAL_DRAG, TOTAL_DRAG / (20.0 * h), KT)
    continuous, rule = oscillator.continuous(h), oscillator.friction_implicit(h)
    exact = continuous.stationary()
    assert exact == pytest.approx(np.diag([KT / oscillator.stiffness, KT / TOTAL_INERTIA]), rel=1e-6, abs=1e-9)
    lags = (5, 10, 20, 40)
    both = [m.lagged(samples + max(lags))[:, 0, 0] for m in (continuous, rule)]
    rng = np.random.default_rng(33)
    start = rng.multivariate_normal(np.zeros(2), rule.stationary(), size=count)
    run = Running(
        oscillators(count, oscillator.stiffness),
        FrictionImplicit(step=h),
        seed=34,
        window=h,
        q=start[:, 0],
        u=start[:, 1],
    )
    x = np.empty((samples, count))
    for k in range(samples):
        x[k] = run.to((k + 1) * h).q
    for lag in lags:
        measured = (x[lag:] * x[:-lag]).mean()
        error = error_of_lagged_product(both[0], lag, samples - lag, count)
        # The rule's own correlation differs from the exact one by (h k/β)²/12 of a decay: under 1e-3 here.
        difference = abs(both[0][lag] - both[1][lag])
        assert difference < 2e-3 * exact[0, 0]
        assert abs(measured - both[0][lag]) < SIGMAS * error + difference, lag


def spheres(count: int, joint: Any, kT: float = KT, **given: Any) -> Any:
    builder = ar.ModelBuilder(units="lj")
    builder.add_bodies(count, mass=MASS, inertia=given.pop("inertia", INERTIA), joint=joint)
    builder.add_force(ar.forces.StokesDrag(translational=DRAG, rotational=TURNING, **given))
    builder.add_force(ar.forces.Brownian(temperature=kT))
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("ratio", STEPS)
def test_free_diffusion_is_exact_at_any_step(ratio: float) -> None:
    """⟨Δx²⟩ grows by 2 (kT/β) h per step and freedom once the start is forgotten; before, it is the linear map's."""
    count, copies = 3000, 2
    h, particle = ratio * MASS / DRAG, Oscillator(MASS, DRAG, 0.0, KT)
    model = spheres(count, ar.Xyz())
    rule = particle.friction_implicit(h)
    exact = rule.powers(np.diag([0.0, KT / MASS]), 2000)
    assert exact[-1, 0, 0] - exact[-2, 0, 0] == pytest.approx(2.0 * KT / DRAG * h, rel=1e-9)
    rng = np.random.default_rng(35)
    runs = [
        Running(
            model,
            FrictionImplicit(step=h),
            seed=36 + copy,
            window=h,
            u=rng.normal(size=3 * count) * np.sqrt(KT / MASS),
        )
        for copy in range(copies)
    ]
    for steps in (1, 7, 60):
        measured = np.mean([(run.to(steps * h).q ** 2).mean() for run in runs])
        assert abs(measured / exact[steps, 0, 0] - 1.0) < SIGMAS * np.sqrt(2.0 / (3 * count * copies))


@pytest.mark.parametrize("ratio", STEPS)
def test_a_free_body_keeps_its_velocity_distribution_at_any_step(ratio: float) -> None:
    """⟨m v²⟩ and ⟨I ω²⟩ of a sphere are kT, for translation and rotation."""
    count, samples = 1500, 60
    h = ratio * MASS / DRAG
    # The same relaxation time in rotation, and slow enough that no body turns far in a step.
    inertia = MASS / DRAG * TURNING
    model = spheres(count, ar.Free(), kT=1e-4, inertia=inertia)
    weight = np.array([MASS] * 3 + [inertia] * 3)
    start = np.random.default_rng(37).normal(size=(count, 6)) * np.sqrt(1e-4 / weight)
    run = Running(model, FrictionImplicit(step=h), seed=38, window=h, u=start.ravel())
    found = np.empty((samples, 6))
    for k in range(samples):
        found[k] = (run.to((k + 1) * h).u.reshape(-1, 6) ** 2 * weight / 1e-4).mean(axis=0)
    a = (1.0 - 0.5 * ratio) / (1.0 + 0.5 * ratio)
    error = error_of_mean_square(a ** np.arange(samples), 3 * count)
    assert error < 0.012
    assert abs(found[:, :3].mean() - 1.0) < SIGMAS * error
    assert abs(found[:, 3:].mean() - 1.0) < SIGMAS * error


@numba.njit
def constant_wrench(time, positions, rotations, velocities, parameters, wrenches):  # type: ignore[no-untyped-def]
    for k in range(positions.shape[0]):
        for i in range(6):
            wrenches[k, i] += parameters[i]


@pytest.mark.parametrize("ratio", [0.1, 1.0, 30.0, 1000.0])
def test_steady_drift_is_exact_at_any_step(ratio: float) -> None:
    """A force F moves a sphere at flow + F/β, and a torque turns it at N/β_ω, whatever the step."""
    force, torque, flow = np.array([0.3, -0.2, 0.5]), np.array([0.0, 0.0, 1e-3]), np.array([1.0, 0.0, -2.0])
    builder = ar.ModelBuilder(units="lj")
    v, w = flow + force / DRAG, torque / TURNING
    builder.add_body("sphere", mass=MASS, inertia=INERTIA, joint=ar.Free(), u=(*v, *w))
    builder.add_force(ar.forces.StokesDrag(translational=DRAG, rotational=TURNING, flow=tuple(flow)))
    builder.add_force(ar.forces.UserForce(function=constant_wrench, parameters=(*force, *torque)))
    h = ratio * MASS / DRAG
    run = Running(builder.build(), FrictionImplicit(step=h)).to(50 * h)
    # A kick is h F/m long before the friction takes it back: rounding is in proportion to it.
    kick = h * np.abs(force).max() / MASS + np.abs(v).max()
    assert np.abs(run.u - np.concatenate([v, w])).max() <= 50 * 4 * EPS * kick
    assert np.abs(run.q[:3] - v * 50 * h).max() <= 50 * 50 * 4 * EPS * kick * h
    angle = w[2] * 50 * h
    assert np.abs(run.q[3:] - [np.cos(angle / 2), 0, 0, np.sin(angle / 2)]).max() <= 50 * 50 * 4 * EPS * (
        1.0 + kick * h
    )


@pytest.mark.parametrize("ratio", [0.1, 1.0, 30.0])
def test_the_energy_of_one_sphere_balances_to_rounding(ratio: float) -> None:
    """T − ΣW = T₀ for a sphere with drag, flow, noise and a constant force, because works are taken at mean speeds."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("sphere", mass=MASS, inertia=INERTIA, joint=ar.Free(), u=(1.0, 0, 0, 0, 2.0, 0))
    builder.add_force(ar.forces.StokesDrag(translational=DRAG, rotational=TURNING, flow=(0.0, 1.0, 0.0)))
    builder.add_force(ar.forces.Brownian(temperature=KT))
    builder.add_force(ar.forces.Gravity(acceleration=(0.1, 0.2, 0.3)))
    h = ratio * MASS / DRAG
    run = Running(builder.build(), FrictionImplicit(step=h), seed=3, window=h).to(200 * h)
    largest = np.abs(run.state.work).max()
    assert largest > 10.0 * KT
    assert abs(run.imbalance()) <= 200 * 10 * EPS * largest


def swinging_chain(drag: float) -> Any:
    """Three jointed bodies, none symmetric, under springs, gravity and drag."""
    rng = np.random.default_rng(71)
    builder = ar.ModelBuilder(units="lj")
    parent = None
    for k, joint in enumerate((ar.Spherical(), ar.Revolute(axis=(1.0, 0.5, 0.0)), ar.Spherical())):
        parent = builder.add_body(
            f"link-{k}",
            parent=parent,
            joint=joint,
            mass=1.0 + 0.2 * k,
            inertia=(0.1, 0.15, 0.2),
            com=0.3 * rng.normal(size=3),
            position=(0.0, 0.0, -1.0 if k else 0.0),
            u=0.5 * rng.normal(size=joint.nu),
        )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"link-*": 2.0}))
    builder.add_force(ar.forces.Gravity(acceleration=(1.0, 0.0, -3.0)))
    if drag:
        builder.add_force(ar.forces.StokesDrag(translational=drag, rotational=0.3 * drag, flow=(0.0, 0.5, 0.0)))
    return builder.build()


def order(errors: list[float]) -> float:
    """From the two finest of steps that halve."""
    return float(np.log2(errors[-2] / errors[-1]))


@pytest.mark.parametrize("drag", [0.0, 0.5, 5.0])
def test_errors_are_of_second_order_without_noise(drag: float) -> None:
    model = swinging_chain(drag)
    until = 1.0
    exact = Running(model, Explicit(rule="rk4", step=until / 4000)).to(until)
    errors = []
    for steps in (100, 200, 400, 800):
        run = Running(model, FrictionImplicit(step=until / steps)).to(until)
        errors.append(float(np.linalg.norm(np.concatenate([run.q - exact.q, run.u - exact.u]))))
    assert errors[-1] > 1e-9, "rounding hides the order"
    assert order(errors) == pytest.approx(2.0, abs=0.1)


def test_a_spinning_top_is_followed_to_second_order() -> None:
    """Euler's equations of a free asymmetric body, without any force: the gyroscopic term alone."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("top", mass=1.0, inertia=(1.0, 2.0, 2.8), joint=ar.Free(), u=(0.1, 0, 0, 0.2, 1.0, 0.3))
    model = builder.build()
    exact = Running(model, Explicit(rule="rk4", step=1e-3)).to(4.0)
    errors = []
    for steps in (100, 200, 400, 800):
        run = Running(model, FrictionImplicit(step=4.0 / steps)).to(4.0)
        errors.append(float(np.linalg.norm(np.concatenate([run.q - exact.q, run.u - exact.u]))))
    assert order(errors) == pytest.approx(2.0, abs=0.1)


def test_the_energy_of_a_chain_balances_to_second_order() -> None:
    model = swinging_chain(0.5)
    residuals, works = [], []
    for steps in (100, 200, 400, 800):
        run = Running(model, FrictionImplicit(step=1.0 / steps)).to(1.0)
        residuals.append(abs(run.imbalance()))
        change = run.energies() - run.start_energies
        works.append(abs(run.work("conformational") + change[1]) + abs(run.work("external") + change[7]))
    assert order(residuals) == pytest.approx(2.0, abs=0.15)
    assert order(works) == pytest.approx(2.0, abs=0.15)


CHAINS = {"revolute": (False, 3), "spherical": (True, 2)}


def chain_at(kind: str, ratio: float, turn: float, stiffness: float) -> tuple[Chain, float]:
    """A chain and a step of ``ratio`` of its shortest relaxation time, so cold that the outermost body turns by about
    ``turn`` in a step."""
    spherical, links = CHAINS[kind]
    h = ratio * Chain(spherical, links, 1.0, stiffness).fastest()
    least = TAPER ** (5 * (links - 1)) * 0.3
    return Chain(spherical, links, least * (turn / h) ** 2, stiffness), h


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.parametrize("ratio", STEPS)
def test_a_jointed_chain_keeps_equipartition(kind: str, ratio: float) -> None:
    """⟨u_i p_i⟩ = kT with p = M(q) u for every speed. The springs are so weak that (ω₀h)²/4, by which half kicks lower
    the velocities of an oscillator, is under a thousandth."""
    count, samples, between = 400, 80, 3
    chain, h = chain_at(kind, ratio, turn=0.05, stiffness=1.0)
    forest = chain.forest(count)
    q, u = chain.draw(count, np.random.default_rng(41))
    run = Running(forest, FrictionImplicit(step=h), seed=42, window=h, q=q, u=u)
    products = []
    for k in range(samples):
        run.to((k + 1) * between * h)
        products.append(chain.equipartition(forest, run.q, run.u))
    mean, error = mean_and_error(np.array(products))
    assert error.max() < 0.04
    assert np.abs(mean - 1.0).max() < (SIGMAS * error).max() + 1e-3
    # All speeds together tell more than each by itself.
    whole, spread = mean_and_error(np.array(products).mean(axis=-1))
    assert spread < 0.015
    assert abs(whole - 1.0) < SIGMAS * spread + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHAINS)
def test_a_jointed_chain_keeps_equipartition_under_an_explicit_rule_with_held_noise(kind: str) -> None:
    """The same law for the explicit rule, with windows of a quarter of the shortest relaxation time: a held force
    leaves each mode no less than tanh(x)/x of kT, x = 1/8 for the fastest."""
    count, samples, between = 300, 40, 8
    chain, window = chain_at(kind, 0.25, turn=0.02, stiffness=1.0)
    forest = chain.forest(count)
    q, u = chain.draw(count, np.random.default_rng(45))
    run = Running(forest, Explicit(rule="kutta-merson", step=window), seed=46, window=window, q=q, u=u)
    products = []
    for k in range(samples):
        run.to((k + 1) * between * window)
        products.append(chain.equipartition(forest, run.q, run.u))
    least = np.tanh(0.125) / 0.125
    mean, error = mean_and_error(np.array(products))
    assert np.all(mean < 1.0 + SIGMAS * error)
    assert np.all(mean > least - SIGMAS * error)
    whole, spread = mean_and_error(np.array(products).mean(axis=-1))
    assert spread < 0.015
    assert least - SIGMAS * spread < whole < 1.0 + SIGMAS * spread


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.parametrize("ratio", STEPS)
def test_a_jointed_chain_keeps_its_springs_mean_energies(kind: str, ratio: float) -> None:
    """⟨½ k φ²⟩ of the exact ensemble e^{−U/kT} √det M, which the chains are drawn from, is what the rule keeps."""
    count, samples, between = 800, 80, 10
    chain, h = chain_at(kind, ratio, turn=0.12, stiffness=30.0)
    forest = chain.forest(count)
    exact = chain.mean_spring_energies()
    q, u = chain.draw(count, np.random.default_rng(43))
    start, error = mean_and_error(chain.spring_energies(q)[None])
    assert np.all(np.abs(start - exact) < SIGMAS * error), "the oracle's quadrature and its draws disagree"
    run = Running(forest, FrictionImplicit(step=h), seed=44, window=h, q=q, u=u)
    energies = np.array([chain.spring_energies(run.to((k + 1) * between * h).q) for k in range(samples)])
    mean, error = mean_and_error(energies)
    assert np.all(error < 0.045 * exact), error / exact
    assert np.all(np.abs(mean - exact) < SIGMAS * error), (mean, exact, error)
