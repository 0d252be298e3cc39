"""Runs whose joints lock and release: what must hold whatever the criteria decide."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.adaptive import (
    Adaptive,
    AdaptiveDriver,
    Elapsed,
    Energy,
    Function,
    Group,
    Random,
    Schedule,
    Speed,
    Torque,
)
from articulon.cases.builders.link_chain import LinkChain
from articulon.dynamics.momenta import momentum
from articulon.forces.evaluation import Evaluator
from articulon.integrate.integrators import FrictionImplicit
from articulon.integrate.problem import Problem
from articulon.scaling import NoScaling
from tests.support.link_chains import floating_chains
from tests.support.remembering import assert_same_state


def chain(links=8, stiffness=2.0, fixman=False):
    """A floating chain in reduced units, kT = 1."""
    builder = ar.ModelBuilder(units="lj")
    LinkChain(links=links, length=1.0, radius=0.3, mass=1.0).populate(builder)
    names = [f"link-{k}" for k in range(2, links + 1)]
    builder.add_force(ar.forces.TorsionalSprings(stiffness=dict.fromkeys(names, stiffness)))
    if fixman:
        builder.add_force(ar.forces.Fixman(temperature=1.0))
    return builder.build(), tuple(names)


def adaptive(bodies, lock, release, every=0.1, **options):
    return Adaptive(every=every, groups=(Group(bodies=bodies, lock=lock, release=release, **options),))


BATH = ar.thermostats.Langevin(temperature=1.0, friction=0.5)


def test_a_criterion_of_zero_is_bitwise_the_run_with_every_joint_free():
    model, names = chain()
    u = np.random.default_rng(1).normal(size=model.nu)
    common = {"rule": "friction-implicit", "step": 0.01, "thermostat": BATH, "frames": 4, "u": u}
    free = ar.simulate(model, 1.0, **common)
    for lock in (Speed(below=0.0), Energy(below=0.0)):
        never = adaptive(names, lock, Random(probability=0.5), energy="temperature", choice="canonical")
        run = ar.simulate(model, 1.0, adaptive=never, **common)
        assert np.array_equal(run.q, free.q)
        assert np.array_equal(run.u, free.u)
        assert run.state.counters.tolist() == free.state.counters.tolist()


@pytest.mark.parametrize("options", [{}, {"metric": "euclidean"}, {"choice": "canonical"}, {"choice": "published"}])
def test_a_schedule_keeps_momentum_and_books_the_energy(options):
    """Total momentum and angular momentum are those of the start; kinetic energy, potential energy and reservoir add up
    to what they did; what was put in at release is what was taken out."""
    model, names = chain()
    u = 0.5 * np.random.default_rng(2).normal(size=model.nu)
    plan = adaptive(names[1:6], Schedule(times=(0.3,)), Schedule(times=(0.6,)), **options)
    run = ar.simulate(model, 1.0, rule="dormand-prince", rtol=1e-10, atol=1e-12, frames=10, u=u, adaptive=plan)
    total = run.kinetic_energy + run.potential_energy
    assert run.state.resolution.reservoir[0] == pytest.approx(0.0, abs=1e-8 * total[0])
    # The first frames are before the lock, the last after the release.
    assert total[[2, 8, 10]] == pytest.approx(total[0], rel=1e-7)
    assert total[5] < total[0] - 0.01
    assert not run.u[5].all() and run.u[10].all()
    before, after = momentum(model, run.q[0], run.u[0])[:6], momentum(model, run.q[10], run.u[10])[:6]
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-8 * np.abs(before).max())
    # Locked coordinates stay as they are, to the bit.
    held = slice(7 + 4, 7 + 4 * 6)
    assert np.array_equal(run.q[4][held], run.q[5][held])


@pytest.mark.parametrize("rule", ["friction-implicit", "rk4", "lobatto-iiia-iiib-2"])
def test_every_kind_of_rule_takes_coarse_steps(rule):
    model, names = chain(5)
    plan = adaptive(names[:2], Schedule(times=(0.01,)), Schedule(times=(0.03,)), every=0.01)
    u = 0.1 * np.random.default_rng(2).normal(size=model.nu)
    run = ar.simulate(model, 0.05, rule=rule, step=0.001, frames=5, u=u, adaptive=plan)
    assert (run.u == 0.0).sum(axis=1).tolist() == [0, 0, 6, 6, 0, 0]
    assert run.kinetic_energy[-1] + run.potential_energy[-1] == pytest.approx(run.kinetic_energy[0], rel=1e-4)


def driver_of(model, plan, seed=3):
    policy = NoScaling()
    evaluator = Evaluator(model, seed, thermostat=BATH)
    rule = FrictionImplicit(step=0.01)
    driver = AdaptiveDriver(Problem(evaluator, rule, policy), evaluator.initial_state(), plan, seed)
    return driver, driver.sized(evaluator.initial_state(driver.history, memory=driver.memory))


@pytest.mark.parametrize("lock", [Speed(below=4.0, window=2), Energy(below=1.5, attempts=4)], ids=["speed", "energy"])
def test_a_resumed_run_makes_the_same_transitions_to_the_bit(lock):
    model, names = chain(fixman=True)
    plan = adaptive(names, lock, Random(probability=0.2), every=0.05, choice="canonical", energy="temperature")
    one, whole = driver_of(model, plan)
    one.advance(whole, 2.0, 10**6)
    two, parts = driver_of(model, plan)
    for until in (0.4, 0.83, 1.37, 2.0):
        two.advance(parts, until, 10**6)
        two, _ = driver_of(model, plan)
        parts = parts.copy()
    assert one.changes(whole)[0] > 10
    assert_same_state(whole, parts)
    # Interrupted after any number of steps, likewise.
    three, steps = driver_of(model, plan)
    while steps.time[0] < 2.0 - 1e-9:
        three.advance(steps, 2.0, 7)
    assert np.array_equal(steps.q, whole.q) and np.array_equal(steps.resolution.criteria, whole.resolution.criteria)


def test_a_criterion_that_chatters_is_reported_with_the_joint():
    model, names = chain(4)
    plan = Adaptive(
        every=0.01,
        groups=(
            Group(name="fast", bodies=(names[0],), lock=Speed(above=0.0), release=Elapsed(time=0.0)),
            Group(name="slow", bodies=(names[1],), lock=Schedule(times=(0.05,)), release=Schedule(times=(0.1,))),
        ),
    )
    u = 0.1 * np.random.default_rng(2).normal(size=model.nu)
    evaluator = Evaluator(model)
    problem = Problem(evaluator, FrictionImplicit(step=0.01))
    driver = AdaptiveDriver(problem, evaluator.initial_state(), plan, 1)
    state = driver.sized(evaluator.initial_state())
    state.u[:] = u
    driver.advance(state, 0.5, 1000)
    assert driver.chattering(state) == [names[0]]


def test_forces_and_functions_decide_too():
    model, names = chain(4)
    q = np.array(model.q0)
    q[7:11] = [np.cos(0.4), np.sin(0.4), 0.0, 0.0]
    hold = adaptive(names, Torque(below=0.5), Torque(above=1.0), every=0.01)
    run = ar.simulate(model, 0.02, rule="rk4", step=0.001, frames=2, q=q, adaptive=hold)
    # The first spring is turned by 0.8 and pulls with 1.6.
    assert run.state.resolution.locked.tolist() == [False] * 9 + [True] * 6

    def second(time, q, u, locked):
        return np.arange(u.size) >= 12

    asked = adaptive(names, Function(function=second), None, every=0.01)
    run = ar.simulate(model, 0.02, rule="rk4", step=0.001, frames=2, q=q, adaptive=asked)
    assert run.state.resolution.locked.tolist() == [False] * 12 + [True] * 3


def test_what_cannot_be_is_refused_by_name():
    model, names = chain(4)

    def start(plan, **options):
        options = {"rule": "friction-implicit", "step": 0.01, **options}
        return ar.simulate(model, 0.1, adaptive=plan, **options)

    with pytest.raises(ar.CaseError, match=r"'speed' needs a free joint"):
        Group(bodies=names, lock=None, release=Speed(above=1.0))
    with pytest.raises(ar.CaseError, match=r"no body 'link-9'"):
        start(adaptive(("link-9",), Speed(below=1.0), None))
    twice = Adaptive(every=0.1, groups=2 * (Group(bodies=names[:1], lock=Speed(below=1.0)),))
    with pytest.raises(ar.CaseError, match=r"joint of body 'link-2' is already in adaptive.groups\[0\]"):
        start(twice)
    with pytest.raises(ar.ModelError, match=r"every joint would be locked"):
        start(adaptive(("link-*",), Schedule(times=(0.0,)), None))
    with pytest.raises(ar.CaseError, match=r"nothing sets its temperature"):
        start(adaptive(names, Energy(below=1.0), Random(probability=1.0), choice="canonical", energy="temperature"))
    with pytest.raises(ar.CaseError, match=r"'scipy-radau' carries information about the forces from step to step"):
        ar.simulate(model, 0.1, rule="scipy-radau", adaptive=adaptive(names, Speed(below=1.0), None))


SCHEMES = {
    "random, from the temperature": (Random(probability=0.3), Random(probability=0.15), "temperature"),
    "quiet, from the temperature": (Energy(below=1.5), Random(probability=0.2), "temperature"),
    "quiet, from the reservoir": (Energy(below=1.5), Random(probability=0.2), "reservoir"),
}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_canonical_run_that_locks_and_releases_keeps_its_temperature_in_every_lock_state(scheme):
    """Kinetic energies of a lock state have mean and variance of the gamma distribution of N/2, and angles follow the
    springs whatever was locked when; bounds at 4.5 standard errors of the means of twenty parts of the run, half a
    chain each, since frames are correlated. The chains do not feel each other: each is a run of its own."""
    lock, release, energy = SCHEMES[scheme]
    count, times, start = 10, 760, 100
    model = floating_chains(count, links=5, radius=0.3, stiffness=2.0, fixman=True)
    names = tuple(f"{k}-link-{j}" for k in range(count) for j in range(2, 6))
    plan = adaptive(names, lock, release, every=0.4, choice="canonical", energy=energy)
    frames = start + times
    common = {"rule": "friction-implicit", "step": 0.02, "thermostat": BATH, "frames": frames, "seed": 11}
    run = ar.simulate(model, 0.4 * frames, adaptive=plan, **common)
    q, u = (x[-times:].reshape(times, count, -1) for x in (run.q, run.u))
    momenta = np.array([ar.mass_matrix(model, one.ravel()) @ v.ravel() for one, v in zip(q, u, strict=True)])
    kinetic = 0.5 * (momenta.reshape(u.shape) * u).sum(axis=2)
    assert kinetic.sum(axis=1) == pytest.approx(run.kinetic_energy[-times:], rel=1e-9)
    q, u, kinetic = (np.swapaxes(x, 0, 1).reshape(count * times, -1) for x in (q, u, kinetic[..., None]))
    kinetic = kinetic[:, 0]
    active = (u != 0.0).sum(axis=1)
    states = np.unique(active)
    assert states.size >= 4
    for degrees_of_freedom in states:
        mine = np.flatnonzero(active == degrees_of_freedom)
        if mine.size < 400:
            continue
        parts = [2.0 * kinetic[part].mean() / degrees_of_freedom for part in np.array_split(mine, 20)]
        assert np.mean(parts) == pytest.approx(1.0, abs=4.5 * np.std(parts, ddof=1) / np.sqrt(20))
        squares = [(2.0 * kinetic[part] / degrees_of_freedom - 1.0) ** 2 for part in np.array_split(mine, 20)]
        means = [part.mean() for part in squares]
        assert np.mean(means) == pytest.approx(2.0 / degrees_of_freedom, abs=4.5 * np.std(means, ddof=1) / np.sqrt(20))
    angle = 2.0 * np.arccos(np.clip(np.abs(q[:, 7:].reshape(-1, 4, 4)[..., 0]), 0.0, 1.0))
    x = np.linspace(0.0, np.pi, 20001)
    weight = np.sin(0.5 * x) ** 2 * np.exp(-x * x)  # ½ k φ²/kT with k = 2 kT
    for power in (2, 4):
        exact = (weight * x**power).sum() / weight.sum()
        parts = [part.mean() for part in np.array_split(angle**power, 20)]
        assert np.mean(parts) == pytest.approx(exact, abs=4.5 * np.std(parts, ddof=1) / np.sqrt(20))
