"""Thermostats: the sign and the conserved energy of the equations of motion, what a part of a step does exactly, how
speeds are drawn on trees, and that works close the books."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import articulon as ar
from articulon.dynamics.kinematics import move, place
from articulon.dynamics.loops.constrained_articulated import at_rest
from articulon.dynamics.momentum_sampling import draw_arrays, draw_speeds
from articulon.forces.evaluation import Evaluator
from articulon.integrate import friction_implicit_scratch
from articulon.kernels import kernel
from articulon.model import kernel_tables, workspace
from articulon.model.state import THERMOSTAT, THERMOSTAT_RATE
from articulon.rng import normal_pair
from articulon.thermostats.base import BATH, DEGREES_OF_FREEDOM, SCALES, Bath, variables_of
from tests.support.random_models import random_coordinates, random_forest, to_articulon
from tests.support.remembering import assert_same_state

TREE = ("spherical", "revolute", "universal", "prismatic")
THERMOSTATS = ar.thermostats
CHAIN_OF_THREE = THERMOSTATS.NoseHooverChain(temperature=1.5, masses=(20.0, 2.0, 3.0))
DETERMINISTIC = {
    "standard": THERMOSTATS.NoseHoover(temperature=1.5, mass=20.0),
    "chain": CHAIN_OF_THREE,
    "modified": THERMOSTATS.ModifiedNoseHoover(temperature=1.5, mass=20.0, derivative_gain=0.1),
    "linear": THERMOSTATS.NoseHooverChain(temperature={"times": [0, 4], "values": [1.0, 2.5]}, masses=(20.0, 2.0)),
}
STOCHASTIC = {
    "langevin": THERMOSTATS.Langevin(temperature=1.5, friction=0.7),
    "rescaling": THERMOSTATS.StochasticVelocityRescaling(temperature=1.5, time=0.5),
}


def tree():
    """A floating tree with springs between bodies, so that potential energy takes part."""
    builder = ar.ModelBuilder(units="lj")
    rng, bodies, parent = np.random.default_rng(3), [], None
    joints = [ar.Free(), ar.Spherical(), ar.Revolute(axis=(0, 0.6, 0.8)), ar.Universal(), ar.Prismatic(axis=(1, 0, 0))]
    for k, joint in enumerate(joints):
        parent = builder.add_body(
            f"body-{k}",
            parent=parent,
            joint=joint,
            mass=1.0 + rng.random(),
            inertia=0.2 + 0.2 * rng.random(3) + (0.3, 0.4, 0.5),
            com=0.3 * rng.normal(size=3),
            position=(0.0, 0.0, 0.0) if k == 0 else (0.6, 0.1, 0.3),
            u=rng.normal(size=joint.nu).tolist() if joint.nu > 1 else float(rng.normal()),
        )
        bodies.append(f"body-{k}")
    for first, second in (("body-0", "body-2"), ("body-1", "body-4"), ("body-0", "body-4")):
        builder.add_force(
            ar.forces.PointSpring(bodies=(first, second), points=((0.1, 0.2, 0.3), (-0.2, 0.1, 0.0)), stiffness=6.0)
        )
    return builder.build()


@pytest.fixture(scope="module")
def model():
    return tree()


def table(thermostat, degrees_of_freedom=15.0):
    """A thermostat's table for a number of degrees of freedom and k = 1."""
    schedule = np.array([float(thermostat.temperature)])
    return Bath(
        np.array([SCALES, 7, 2, 0]),
        np.array([degrees_of_freedom, 1.0, *thermostat.numbers()]),
        thermostat.thermostat_masses(degrees_of_freedom * schedule[0], schedule[0]),
        np.zeros(1),
        schedule,
    )


def extended_energy(run, thermostat):
    """K + Φ + Σ ½ Q ζ² + the reservoir's energy, less the work of the part of ζ'."""
    Q = thermostat.thermostat_masses(0.0, 0.0)
    stored = 0.5 * (run.memory.bath()[:, :-1] ** 2 @ Q) + run.memory.bath()[:, -1]
    return run.kinetic_energy + run.potential_energy + stored - run.works[:, THERMOSTAT_RATE]


def imbalance(run):
    return np.abs(run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1)).max()


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_extended_energy_is_conserved_to_the_order_of_the_rule(model, name):
    errors = []
    for step in (0.04, 0.02):
        run = ar.simulate(model, 4.0, rule="rk4", step=step, frames=10, thermostat=DETERMINISTIC[name])
        energy = extended_energy(run, DETERMINISTIC[name])
        errors.append(np.abs(energy - energy[0]).max())
        assert imbalance(run) <= 3.0 * errors[-1] + 1e-12
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.8)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_parts_of_a_step_follow_the_equations_of_motion_to_second_order(model, name):
    thermostat = DETERMINISTIC[name]
    exact = ar.simulate(model, 2.0, rtol=1e-10, atol=1e-11, frames=1, thermostat=thermostat)
    errors, energies = [], []
    for step in (0.01, 0.005):
        run = ar.simulate(model, 2.0, rule="friction-implicit", step=step, frames=20, thermostat=thermostat)
        errors.append(
            np.abs(np.concatenate([run.u[-1] - exact.u[-1], run.memory.bath()[-1] - exact.memory.bath()[-1]])).max()
        )
        energy = extended_energy(run, thermostat)
        energies.append(np.abs(energy - energy[0]).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)
    assert energies[1] < 0.4 * energies[0]


def test_a_model_that_is_too_hot_is_cooled_and_one_too_cold_is_heated():
    """Which the sign that Guy prints in 3.4 would turn round."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_particles(4, mass=1.0, positions=np.eye(4, 3) * 5.0, velocities=np.ones((4, 3)))
    model = builder.build()
    for target, gain in ((0.25, -1.0), (4.0, 1.0)):
        for rule in ({"rule": "rk4"}, {"rule": "friction-implicit"}):
            thermostat = THERMOSTATS.NoseHoover(temperature=target, mass=50.0)
            run = ar.simulate(model, 0.5, step=0.01, frames=2, thermostat=thermostat, **rule)
            assert gain * np.diff(run.kinetic_energy).min() > 0.0
            assert gain * run.works[-1, THERMOSTAT] > 0.0
            assert gain * run.memory.bath()[-1, 0] < 0.0


@pytest.mark.parametrize("gain", [0.0, 0.3, 20.0])
def test_the_part_of_the_rate_is_the_logistic_equation_exactly(gain):
    """Against SciPy, with ζ out of the way by a vast Q and kd that grows with it."""
    from scipy.integrate import solve_ivp

    Q = 1e9
    thermostat = THERMOSTATS.ModifiedNoseHoover(temperature=1.5, mass=Q, derivative_gain=gain * Q)
    thermostat.advance.compile(BATH)
    bath, works = table(thermostat), np.zeros(8)
    variables = np.zeros(variables_of(bath))
    for kinetic in (3.0, 40.0):
        exact = solve_ivp(
            lambda _, K: -2.0 * gain * (2.0 * K - 22.5) * K, (0.0, 0.02), [kinetic], rtol=1e-12, atol=1e-12
        ).y[0, -1]
        works[:] = 0.0
        s = thermostat.advance(bath, kinetic, 0.0, 0.02, 0, np.ones(8), variables, works)
        assert s * s * kinetic == pytest.approx(exact, rel=1e-9)
        assert works[THERMOSTAT_RATE] == pytest.approx(exact - kinetic, abs=1e-6)


@pytest.mark.parametrize("degrees_of_freedom", [1, 2, 3, 16])
def test_velocity_rescaling_samples_the_canonical_kinetic_energy_exactly(degrees_of_freedom):
    """K is Gamma(N/2, kT) whatever the step, and its mean decays by e^{−h/τ}."""
    thermostat = THERMOSTATS.StochasticVelocityRescaling(temperature=1.5, time=0.5)
    thermostat.advance.compile(BATH)
    bath, works, factor = table(thermostat, float(degrees_of_freedom)), np.zeros(8), np.ones(8)
    none, kinetic, sample = np.zeros(0), 1.0, []
    for count in range(40000):
        before = kinetic
        kinetic *= thermostat.advance(bath, kinetic, 0.0, 1.0, count, factor, none, works) ** 2
        sample.append(kinetic)
        assert abs(works[THERMOSTAT] - (kinetic - 1.0)) < 1e-7, (count, before)
    # After 2 τ a sample still remembers e^{−2} of the one before: every fourth is independent.
    assert stats.kstest(sample[::4], stats.gamma(0.5 * degrees_of_freedom, scale=1.5).cdf).pvalue > 1e-3
    assert (
        stats.kstest(sample[::4], stats.gamma(0.5 * degrees_of_freedom, scale=1.5 * 1.03).cdf).pvalue
        < (0.5, 1e-3)[degrees_of_freedom > 10]
    )
    start, mean = 30.0, 0.75 * degrees_of_freedom
    after = [
        start * thermostat.advance(bath, start, 0.0, 0.1, count, factor, none, works) ** 2 for count in range(20000)
    ]
    expected = mean + (start - mean) * math.exp(-0.2)
    assert np.mean(after) == pytest.approx(expected, abs=4.0 * np.std(after) / math.sqrt(len(after)))


@kernel
def drawn(forest, q, u, seed, count, ws, arrays, normals):
    """Draws speeds at q; what they were drawn from is left in ``normals``."""
    place(forest, q, ws, 0, forest.mass.size)
    move(forest, u, ws, 0, forest.mass.size)
    draw_speeds(forest, seed, 2, count, 1.0, at_rest(ws, arrays), arrays.draw)
    for k in range(normals.size):
        normals[k], _ = normal_pair(seed, 2, count, k)


@pytest.mark.parametrize("seed", range(4))
def test_speeds_are_drawn_with_the_covariance_of_the_inverse_mass_matrix(seed):
    """u = G ξ with GᵀMG = 1, so that uᵀ M u = ξᵀ ξ for every ξ. More draws than G has entries leave no other G."""
    rng = np.random.default_rng(seed)
    description = random_forest(rng, 7)
    q = random_coordinates(description, rng)
    model = to_articulon(description)
    M = ar.mass_matrix(model, q)
    arrays = friction_implicit_scratch.scratch(Evaluator(model))
    ws, normals, G_rows, Z = workspace(kernel_tables(model).forest), np.empty(model.nu), [], []
    for count in range(model.nu + 5):
        drawn(kernel_tables(model).forest, q, np.zeros(model.nu), 11, count, ws, arrays, normals)
        G_rows.append(arrays.draw.speeds.copy())
        Z.append(normals.copy())
    U, Z = np.array(G_rows).T, np.array(Z).T
    G = np.linalg.lstsq(Z.T, U.T, rcond=None)[0].T
    scale = np.linalg.cond(Z) * np.linalg.cond(M) * 1e-15
    assert np.abs(G @ Z - U).max() <= 10.0 * scale * np.abs(U).max()
    assert np.abs(G.T @ M @ G - np.eye(model.nu)).max() <= 100.0 * scale


def test_draws_have_arrays_of_their_own():
    assert {array.size for array in draw_arrays(5)} == {5, 36}


@pytest.mark.slow
def test_langevin_gives_an_oscillator_its_exact_positions():
    """BAOAB samples ⟨x²⟩ = kT/k of a harmonic oscillator at any step, and speeds short by (hω)²/4 (Leimkuhler and
    Matthews 2013)."""
    count, stiffness, kT, step = 400, 4.0, 1.5, 0.5
    builder = ar.ModelBuilder(units="lj")
    for k in range(count):
        builder.add_body(f"p{k}", mass=1.0, joint=ar.Xyz())
        builder.add_force(ar.forces.PointSpring(bodies=("ground", f"p{k}"), stiffness=stiffness))
    model = builder.build()
    thermostat = THERMOSTATS.Langevin(temperature=kT, friction=1.0)
    run = ar.simulate(model, 300.0, rule="friction-implicit", step=step, frames=60, thermostat=thermostat)
    for series, expected in (
        (run.q[5:] ** 2, kT / stiffness),
        (run.u[5:] ** 2, kT * (1.0 - 0.25 * step**2 * stiffness)),
    ):
        means = series.mean(axis=0)  # one of each oscillator, and these are independent
        error = means.std(ddof=1) / math.sqrt(means.size)
        assert means.mean() == pytest.approx(expected, abs=4.0 * error)
        assert error < 0.01 * expected


@pytest.mark.parametrize("name", [*DETERMINISTIC, *STOCHASTIC])
def test_the_books_of_friction_implicit_steps_close_to_the_drift_of_turning_bodies(model, name):
    """The works are those of kicks and thermostats exactly; drifts keep T to second order."""
    thermostat = {**DETERMINISTIC, **STOCHASTIC}[name]
    errors = [
        imbalance(ar.simulate(model, 2.0, rule="friction-implicit", step=step, frames=4, thermostat=thermostat))
        for step in (0.01, 0.005)
    ]
    assert errors[1] < 0.1
    assert errors[1] < 0.45 * errors[0] or name in STOCHASTIC


def test_the_thermostat_counts_the_freedoms_that_move():
    builder = ar.ModelBuilder(units="lj")
    builder.add_particles(5, mass=1.0, positions=np.arange(15.0).reshape(5, 3), velocities=np.ones((5, 3)))
    model = builder.build()
    free = THERMOSTATS.NoseHoover(temperature=1, mass=1)
    removed = THERMOSTATS.NoseHoover(temperature=1, mass=1, centre_of_mass="removed")
    assert free.table(model, 0).constants[DEGREES_OF_FREEDOM] == 15.0
    assert removed.table(model, 0).constants[DEGREES_OF_FREEDOM] == 12.0


def test_momentum_that_is_removed_stays_removed():
    rng = np.random.default_rng(5)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(4.0, 4.0, 4.0)))
    corners = np.stack(np.meshgrid(*[[0.0, 1.3, 2.6]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    builder.add_particles(
        27, mass=rng.uniform(1, 2, 27), positions=corners, velocities=1.0 + rng.normal(size=(27, 3)), kind="A"
    )
    builder.add_force(ar.forces.LennardJones(parameters={"A": {"epsilon": 1, "sigma": 1}}, cutoff=1.9))
    model = builder.build()
    thermostat = THERMOSTATS.StochasticVelocityRescaling(temperature=1, time=0.1, centre_of_mass="removed")
    run = ar.simulate(model, 1.0, rule="velocity-verlet", step=0.005, frames=3, thermostat=thermostat)
    momenta = model.masses[:, None] * run.u.reshape(-1, 27, 3)
    assert np.abs(momenta.sum(axis=1)).max() <= 1e-12 * np.abs(momenta).sum(axis=1).max()


@pytest.mark.parametrize("interpolation", ["linear", "steps"])
def test_the_target_follows_its_table(interpolation):
    """A gas without forces under a strong modified thermostat has its target's temperature."""
    rng = np.random.default_rng(6)
    builder = ar.ModelBuilder(units="lj")
    builder.add_particles(20, mass=1.0, positions=9.0 * rng.random((20, 3)), velocities=rng.normal(size=(20, 3)))
    schedule = {"times": [0, 1, 3, 4], "values": [1, 2, 0.5, 0.5], "interpolation": interpolation}
    thermostat = THERMOSTATS.ModifiedNoseHoover(temperature=schedule, mass=1e6, derivative_gain=1e7)
    model = builder.build()
    run = ar.simulate(model, 4.0, rule="friction-implicit", step=0.01, frames=16, thermostat=thermostat)
    expected = {"linear": [1.5, 2.0, 1.625, 1.25, 0.875, 0.5, 0.5], "steps": [1, 2, 2, 2, 2, 0.5, 0.5]}[interpolation]
    frames = slice(2, 15, 2) if interpolation == "linear" else slice(3, 16, 2)
    np.testing.assert_allclose(2.0 * run.kinetic_energy[frames] / 60.0, expected, rtol=0.03)


def test_a_run_goes_on_to_the_same_bits(model):
    """What thermostats keep is part of the state: two halves are the whole."""
    from articulon.forces.evaluation import Evaluator
    from articulon.integrate import Explicit, FrictionImplicit
    from articulon.integrate.choice import driver
    from articulon.integrate.problem import Problem

    for thermostat in (CHAIN_OF_THREE, *STOCHASTIC.values()):
        rules = [FrictionImplicit(step=0.01)] + [Explicit(rule="rk4", step=0.01)] * (thermostat is CHAIN_OF_THREE)
        for rule in rules:

            def made(rule=rule, thermostat=thermostat):
                evaluator = Evaluator(model, 3, thermostat=thermostat)
                state = evaluator.initial_state()
                return state, driver(Problem(evaluator, rule), state)

            whole, going = made()
            going.advance(whole, 0.2, 1000)
            half, going = made()
            going.advance(half, 0.2, 7)
            _, going = made()
            going.advance(half, 0.2, 1000)
            assert_same_state(whole, half)


def bonded(count, stiffness):
    """Pairs of particles far apart, each on a harmonic bond of no length: its ends are independent along each axis."""
    builder = ar.ModelBuilder(units="lj")
    places = np.repeat(100.0 * np.arange(count)[:, None] * [1.0, 0.0, 0.0], 2, axis=0)
    places[1::2] += 0.5
    builder.add_particles(2 * count, mass=2.0, positions=places, velocities=np.ones((2 * count, 3)), kind="A")
    bonds = [(2 * k, 2 * k + 1) for k in range(count)]
    builder.add_force(ar.forces.HarmonicBonds(bonds=bonds, stiffness=stiffness, length=0.0))
    return builder.build()


def test_overdamped_steps_diffuse_and_relax_as_they_must():
    """With D = kT/(m γ): the middle of a pair diffuses by D h, and of its stretch r along an axis the step of
    r' = −2 k r/(m γ) keeps ⟨r²⟩ = kT/k / (1 − k h/(m γ)), exactly."""
    count, stiffness, kT, friction, step = 300, 2.0, 1.5, 4.0, 0.4
    model = bonded(count, stiffness)
    thermostat = THERMOSTATS.Overdamped(temperature=kT, friction=friction)
    run = ar.simulate(model, 240.0, rule="ermak-mccammon", step=step, frames=60, thermostat=thermostat)
    q = run.q.reshape(61, count, 2, 3)
    middle, stretch = q.mean(axis=2), (q[:, :, 0] - q[:, :, 1])[5:]
    diffusion = kT / (2.0 * friction)
    for series, expected in (
        ((np.diff(middle, axis=0) ** 2).mean(axis=(0, 2)), 2.0 * 0.5 * diffusion * 4.0),
        ((stretch**2).mean(axis=(0, 2)), kT / stiffness / (1.0 - stiffness * step / (2.0 * friction))),
    ):
        assert series.mean() == pytest.approx(expected, abs=4.0 * series.std(ddof=1) / math.sqrt(count))
        assert series.std(ddof=1) / math.sqrt(count) < 0.01 * expected
    assert not run.u.any()
    assert imbalance(run) < 1e-9
    np.testing.assert_allclose(run.works[:, 0], run.potential_energy[0] - run.potential_energy, atol=1e-7)
