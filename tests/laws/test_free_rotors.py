"""Flights of bodies that nothing is jointed to: exact where the top has two equal moments, else of second order."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.integrate import Explicit, FrictionImplicit
from tests.support.running import Running
from tests.support.threads import on_one_and_two


def geodesic(step: float) -> FrictionImplicit:
    return FrictionImplicit(step=step, drift="geodesic")


def add_body(builder: ar.ModelBuilder, name: str, moments, seed: int = 0, com=(0.0, 0.0, 0.0), joint=None) -> None:
    """A body in skew axes, moving and turning."""
    rng = np.random.default_rng(seed)
    axes = Rotation.random(rng=rng).as_matrix()
    inertia = axes @ np.diag(moments) @ axes.T
    q, u = np.concatenate([rng.normal(size=3), Rotation.random(rng=rng).as_quat()]), rng.normal(size=6)
    if isinstance(joint, ar.Xyz):
        q, u = q[:3], u[:3]
    builder.add_body(name, mass=1.3, inertia=inertia, com=com, joint=joint or ar.Free(), q=q, u=u)


def body(moments, seed: int = 0, com=(0.0, 0.0, 0.0)) -> ar.Model:
    builder = ar.ModelBuilder("lj")
    add_body(builder, "body", moments, seed, com)
    return builder.build()


@pytest.mark.parametrize("moments", [(0.7, 0.7, 0.7), (0.4, 0.4, 0.7), (0.3, 0.6, 0.6)])
def test_tops_with_two_equal_moments_turn_exactly(moments) -> None:
    """In steps in which they turn by half a radian and more."""
    model = body(moments, seed=4, com=(0.2, -0.1, 0.3))
    exact = Running(model, Explicit(rule="rk4", step=1e-3)).to(4.0)
    run = Running(model, geodesic(0.5)).to(4.0)
    # rk4 leaves 4 · (3e-3)⁴ of it, with rates of three radians in the unit of time.
    np.testing.assert_allclose(run.q, exact.q, atol=1e-9)
    np.testing.assert_allclose(run.u, exact.u, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_halving_the_step_quarters_the_error(seed: int) -> None:
    model = body((0.3, 0.5, 0.7), seed, com=(0.2, -0.1, 0.3))
    exact = Running(model, Explicit(rule="rk4", step=1e-3)).to(2.0)
    errors = []
    for steps in (50, 100):
        run = Running(model, geodesic(2.0 / steps)).to(2.0)
        errors.append(float(np.linalg.norm(np.concatenate([run.q - exact.q, run.u - exact.u]))))
    assert errors[1] > 1e-7, "the error of the reference hides the order"
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_momenta_are_kept_and_energy_does_not_drift() -> None:
    """The momentum and the angular momentum in space to rounding, in long steps of a skew body."""
    model = body((0.3, 0.5, 0.7), 2, com=(0.2, -0.1, 0.3))
    run = Running(model, geodesic(0.2))
    before, energies = momentum(model, run.q, run.u), []
    for k in range(1, 200):
        run.to(0.2 * k)
        energies.append(ar.kinetic_energy(model, run.q, run.u))
    # The body ends some fifty lengths from the origin, and each of 200 steps rounds its place.
    np.testing.assert_allclose(momentum(model, run.q, run.u), before, atol=200 * 50 * 1e-15)
    # The energy goes up and down three times or more in a half. What a half cuts off of a sine of n periods moves its
    # mean by 1/(2πn) of the range at most, and so both halves together by a ninth.
    first, last = np.mean(energies[:100]), np.mean(energies[100:])
    assert np.ptp(energies) > 1e-6
    assert abs(last - first) < np.ptp(energies) / 9.0


def test_flights_lead_back() -> None:
    model = body((0.3, 0.5, 0.7), 3, com=(0.2, -0.1, 0.3))
    there = Running(model, geodesic(0.1)).to(5.0)
    back = ar.simulate(model, 5.0, rule="friction-implicit", drift="geodesic", step=0.1, q=there.q, u=-there.u)
    np.testing.assert_allclose(back.q[-1], model.q0, atol=1e-12)
    np.testing.assert_allclose(back.u[-1], -model.u0, atol=1e-12)


def mixed(order: str) -> ar.Model:
    """Free bodies, ions and jointed trees in an order of letters, bodies of two trees turn about."""
    builder = ar.ModelBuilder("lj")
    for k, letter in enumerate(order):
        if letter == "t":
            add_body(builder, f"{k}", (0.3, 0.5, 0.7), k)
        else:
            add_body(builder, f"{k}", (0.3, 0.5, 0.7), k, joint=ar.Xyz() if letter == "i" else None)
    hinge = ar.Revolute(axis=(0.0, 0.6, 0.8))
    for k, letter in enumerate(order):
        if letter == "t":
            com = (0.1, 0.2, 0.1)
            builder.add_body(f"{k}-arm", parent=f"{k}", mass=0.5, inertia=0.1, com=com, joint=hinge, q=0.3, u=1.0)
    return builder.build()


@pytest.mark.parametrize("order", ["tff", "fft", "titft", "ii", "ttf"])
def test_each_moves_as_it_does_alone(order: str) -> None:
    """Whatever stands around it in the model."""
    model = mixed(order)
    run = ar.simulate(model, 1.0, rule="friction-implicit", drift="geodesic", step=0.1, frames=1)
    for k, letter in enumerate(order):
        alone = ar.ModelBuilder("lj")
        add_body(alone, f"{k}", (0.3, 0.5, 0.7), k, joint=ar.Xyz() if letter == "i" else None)
        if letter == "t":
            hinge, com = ar.Revolute(axis=(0.0, 0.6, 0.8)), (0.1, 0.2, 0.1)
            alone.add_body(f"{k}-arm", parent=f"{k}", mass=0.5, inertia=0.1, com=com, joint=hinge, q=0.3, u=1.0)
        one = ar.simulate(alone.build(), 1.0, rule="friction-implicit", drift="geodesic", step=0.1, frames=1)
        place = run.positions[-1, model.body(f"{k}")]
        # Trees in one run share an iteration that ends at 1e-11 of a step; others are the same to the bit.
        np.testing.assert_allclose(place, one.positions[-1, 0], atol=1e-9)


@pytest.mark.parametrize("order", ["tff", "fft", "titft", "ttf"])
def test_halving_the_step_of_all_together_quarters_the_error(order: str) -> None:
    model = mixed(order)
    exact = ar.simulate(model, 1.0, rule="rk4", step=1e-3, frames=1).positions[-1]
    errors = []
    for step in (0.05, 0.025):
        run = ar.simulate(model, 1.0, rule="friction-implicit", drift="geodesic", step=step, frames=1)
        errors.append(float(np.linalg.norm(run.positions[-1] - exact)))
    assert errors[1] > 1e-7, "the error of the reference hides the order"
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_states_side_by_side_fly_as_one() -> None:
    model = mixed("titft")
    states = ar.Ensemble(model, np.tile(model.q0, (3, 1)), np.outer([1.0, 0.5, 2.0], model.u0))
    states.advance(10, 0.1, rule="friction-implicit", drift="geodesic")
    for k, factor in enumerate((1.0, 0.5, 2.0)):
        u = factor * model.u0
        run = ar.simulate(model, 1.0, rule="friction-implicit", drift="geodesic", step=0.1, frames=1, u=u)
        np.testing.assert_allclose(states.Q[k], run.q[-1], atol=1e-11)


def test_many_bodies_have_the_same_bits_on_two_threads() -> None:
    builder = ar.ModelBuilder("lj")
    for k in range(600):
        add_body(builder, f"{k}", (0.3, 0.5, 0.7), k)
    model = builder.build()

    def end() -> np.ndarray:
        return ar.simulate(model, 0.5, rule="friction-implicit", drift="geodesic", step=0.1, frames=1).q[-1]

    np.testing.assert_array_equal(*on_one_and_two(end))


def test_noise_of_many_bodies_is_that_of_few() -> None:
    """The draws of many trees, shared out among threads, are those of one thread by rounding, and the same on two."""
    builder = ar.ModelBuilder("lj")
    for k in range(600):
        add_body(builder, f"{k}", (0.3, 0.5, 0.7), k)
    model = builder.build()
    thermostat = ar.thermostats.Langevin(temperature=1.0, friction=0.5)

    def end() -> np.ndarray:
        steps = {"rule": "friction-implicit", "drift": "geodesic", "step": 0.1, "frames": 1}
        return ar.simulate(model, 0.5, thermostat=thermostat, **steps).u[-1]

    both = on_one_and_two(end)
    np.testing.assert_array_equal(*both)
    few = ar.ModelBuilder("lj")
    for k in range(20):
        add_body(few, f"{k}", (0.3, 0.5, 0.7), k)
    steps = {"rule": "friction-implicit", "drift": "geodesic", "step": 0.1, "frames": 1}
    alone = ar.simulate(few.build(), 0.5, thermostat=thermostat, **steps).u[-1]
    np.testing.assert_allclose(both[0][: alone.size], alone, atol=1e-12)
