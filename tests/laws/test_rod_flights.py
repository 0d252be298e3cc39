"""Free flights of beads on rods: symplectic, their own reverse, of second order, and as held by multipliers."""

import math

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.integrate import Explicit, FrictionImplicit
from tests.identities.test_swing_joints import SHAPES, beads, places, velocities
from tests.support.running import Running
from tests.support.threads import on_one_and_two

FLIGHT = {"rule": "friction-implicit", "drift": "geodesic", "frames": 1}


def geodesic(step: float) -> FrictionImplicit:
    return FrictionImplicit(step=step, drift="geodesic")


@pytest.mark.parametrize("loose", [True, False], ids=["free", "hanging"])
@pytest.mark.parametrize("shape", SHAPES)
def test_halving_the_step_quarters_the_error(shape: str, loose: bool) -> None:
    """Against Runge and Kutta's steps of the same joints, which know nothing of tensions."""
    model = beads(SHAPES[shape], seed=2, loose=loose)
    exact = Running(model, Explicit(rule="rk4", step=1e-3)).to(0.5)
    x, v = places(model, exact.q), velocities(model, exact.q, exact.u)
    errors = []
    for steps in (100, 200):
        run = Running(model, geodesic(0.5 / steps)).to(0.5)
        errors.append(np.linalg.norm([places(model, run.q) - x, velocities(model, run.q, run.u) - v]))
    assert errors[1] > 1e-9, "the error of the reference hides the order"
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("shape", SHAPES)
def test_flights_lead_back_and_keep_momenta(shape: str) -> None:
    model = beads(SHAPES[shape], seed=4)
    before = momentum(model, model.q0, model.u0)[:6]
    there = Running(model, geodesic(0.02)).to(2.0)
    # A hundred steps of two flights, each to 1e-12 of speeds and places of some tens.
    np.testing.assert_allclose(momentum(model, there.q, there.u)[:6], before, atol=200 * 1e-12 * 30)
    back = ar.simulate(model, 2.0, step=0.02, q=there.q, u=-there.u, **FLIGHT)
    # The chain is chaotic: what one flight leaves of the tensions grows by e for each unit of time or so.
    np.testing.assert_allclose(places(model, back.q[-1]), places(model, model.q0), atol=1e-8)


def test_energy_does_not_drift() -> None:
    """A chain that swings for a thousand units of time: its energy at the end is that of the beginning."""
    model = beads(SHAPES["chain"], seed=6)
    run = ar.simulate(model, 1000.0, step=0.02, **{**FLIGHT, "frames": 1000})
    energy = run.observables["kinetic_energy"]
    first, last = energy[1:501].reshape(10, 50).mean(axis=1), energy[501:].reshape(10, 50).mean(axis=1)
    error = np.sqrt((first.var(ddof=1) + last.var(ddof=1)) / 10)
    assert energy.std() > 1e-5 * energy.mean()
    assert abs(last.mean() - first.mean()) < 4.0 * error
    assert energy.std() < 0.02 * energy.mean()


def test_speeds_under_langevin_are_of_their_temperature() -> None:
    """Σ of ½ m v² over all beads is ½ kT for each of 3 N freedoms less one for each rod."""
    model = beads(SHAPES["tree"], seed=8)
    bath = ar.thermostats.Langevin(temperature=1.5, friction=2.0)
    run = ar.simulate(model, 800.0, step=0.05, thermostat=bath, **{**FLIGHT, "frames": 1600})
    kinetic = run.observables["kinetic_energy"][101:]
    blocks = kinetic.reshape(20, -1).mean(axis=1)
    error = blocks.std(ddof=1) / np.sqrt(20)
    expected = 0.5 * 1.5 * (3 * model.bodies - (model.bodies - 1))
    assert 4.0 * error < 0.5 * 1.5  # one freedom more or less would be seen
    # Steps of 0.05 at rates of some three in the unit of time: (hω)²/12 of the mean is wrong.
    assert abs(kinetic.mean() - expected) < 4.0 * error + expected * (0.05 * 3.0) ** 2 / 12


@pytest.mark.slow  # seconds: what Fixman's potential changes is small
@pytest.mark.parametrize("fixman", [False, True], ids=["rigid bonds", "Fixman's potential"])
def test_trimers_bend_as_they_must(fixman: bool) -> None:
    """det M of two rods between equal masses is 4 − cos²θ but for a factor (Go and Scheraga, Macromolecules 9, 535,
    1976): p(cos θ) ∝ √(4 − cos²θ), and with Fixman's potential it is even."""
    builder, rng, trimers = ar.ModelBuilder("lj"), np.random.default_rng(3), 300
    for c in range(trimers):
        builder.add_body(f"{c}-0", mass=1.0, joint=ar.Xyz(), q=(3.0 * c, 0.0, 0.0))
        for k in (1, 2):
            e = rng.normal(size=4)
            rod = {"parent": f"{c}-{k - 1}", "position": (0.0, 0.0, float(k > 1)), "com": (0.0, 0.0, 1.0)}
            builder.add_body(f"{c}-{k}", mass=1.0, joint=ar.Swing(), q=e / np.linalg.norm(e), **rod)
    if fixman:
        builder.add_force(ar.forces.Fixman(temperature=1.0))
    model = builder.build()
    bath = ar.thermostats.Langevin(temperature=1.0, friction=1.0)
    settings = {**FLIGHT, "frames": 300, "thermostat": bath, "speeds": "thermal"}
    run = ar.simulate(model, 150.0, step=0.05, **settings)
    cosines = []
    for q in run.q[20:]:
        x = places(model, q).reshape(trimers, 3, 3)
        cosines.append(np.einsum("ka,ka->k", x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]))
    squares = np.array(cosines) ** 2
    # Trimers are independent of each other; each is correlated with itself.
    error = squares.mean(axis=0).std(ddof=1) / np.sqrt(trimers)
    c = np.linspace(-1.0, 1.0, 2001)
    weight = np.ones_like(c) if fixman else np.sqrt(4.0 - c * c)
    expected = float(np.trapezoid(c * c * weight, c) / np.trapezoid(weight, c))
    other = 1.0 / 3.0 if not fixman else 0.3216
    assert 6.0 * error < abs(expected - other), "the other law would not be seen"
    assert abs(squares.mean() - expected) < 4.0 * error


def test_many_chains_have_the_same_bits_on_two_threads() -> None:
    builder = ar.ModelBuilder("lj")
    rng = np.random.default_rng(1)
    for c in range(400):
        builder.add_body(f"{c}-0", mass=1.0, joint=ar.Xyz(), q=rng.normal(size=3), u=rng.normal(size=3))
        for k in range(1, 12):
            e = rng.normal(size=4)
            rod = {"parent": f"{c}-{k - 1}", "position": (0.0, 0.0, 1.0 if k > 1 else 0.0), "com": (0.0, 0.0, 1.0)}
            start = {"q": e / np.linalg.norm(e), "u": rng.normal(size=2)}
            builder.add_body(f"{c}-{k}", mass=1.0, joint=ar.Swing(), **rod, **start)
    model = builder.build()

    def end() -> np.ndarray:
        return ar.simulate(model, 0.1, step=0.02, **FLIGHT).q[-1]

    np.testing.assert_array_equal(*on_one_and_two(end))


def test_a_flight_that_is_too_long_is_said_so() -> None:
    model = beads(SHAPES["chain"], seed=2)
    with pytest.raises(ar.DivergenceError, match=r"the free flight of the bodies does not converge in steps of 2"):
        ar.simulate(model, 20.0, step=2.0, **FLIGHT)


def test_mixed_trees_take_steady_drifts() -> None:
    builder = ar.ModelBuilder("lj")
    builder.add_body("core", mass=1.0, inertia=1.0, joint=ar.Free())
    builder.add_body("bead", parent="core", mass=1.0, com=(0.0, 0.0, 1.0), joint=ar.Swing(), u=(0.3, 0.2))
    model = builder.build()
    with pytest.raises(ar.CaseError, match="does not move body 'bead' on its swing joint"):
        ar.simulate(model, 0.1, step=0.02, **FLIGHT)
    run = ar.simulate(model, 0.1, rule="friction-implicit", step=1e-3, frames=1)
    exact = ar.simulate(model, 0.1, rule="rk4", step=1e-3, frames=1)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=1e-6)
