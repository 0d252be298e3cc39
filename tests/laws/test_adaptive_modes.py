"""Runs whose modes drop and come back: what must hold whatever the criteria decide."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.adaptive import Adaptive, AdaptiveDriver, Elapsed, Energy, Group, ModeEnergy, Random, Schedule, Speed
from articulon.adaptive.conditions.mode_energy import mode_energies
from articulon.cases.builders.filament import Filament
from articulon.dynamics.momenta import momentum
from articulon.forces.evaluation import Evaluator
from articulon.integrate.integrators import Explicit
from articulon.integrate.problem import Problem
from articulon.integrate.status import PAUSED
from articulon.model.state import EVALUATIONS, STEPS
from articulon.scaling import NoScaling
from tests.support.remembering import assert_same_state

EVERY = 0.02


def filament(links=3, joint="weld", **options):
    """A bent rod of flexible links, floating."""
    builder = ar.ModelBuilder(units="kg-m-s")
    declared = {"length": 3.0, "mass": 3.0, "radius": 0.05, "bending_stiffness": 20.0, "curl": 0.6, **options}
    Filament(links=links, joint=joint, **declared).populate(builder)
    return builder.build()


def speeds(model, seed=1):
    """Random ones, of modes about as fast as the joints move their ends."""
    return 0.3 * np.random.default_rng(seed).normal(size=model.nu)


def plan(*groups, every=EVERY):
    return Adaptive(every=every, groups=groups)


def modes(lock, release, bodies=("link-*",), which="all", **options):
    return Group(bodies=bodies, modes=which, lock=lock, release=release, **options)


COMMON = {"rule": "dormand-prince", "rtol": 1e-10, "atol": 1e-12}


RULES = (
    {"rule": "rk4", "step": 0.002},
    {"rule": "dormand-prince", "rtol": 1e-8},
    {"rule": "friction-implicit", "step": 0.001},
)


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("joint", ["weld", "spherical"])
def test_a_criterion_of_zero_is_bitwise_the_run_with_everything_free(joint, rule):
    """The steps are those of the run without decisions, also where they do not end at these."""
    model = filament(joint=joint)
    common = {**rule, "frames": 4, "u": speeds(model)}
    free = ar.simulate(model, 0.1, **common)
    for lock in (ModeEnergy(below=0.0), Energy(below=0.0)):
        release = Random(probability=0.5) if isinstance(lock, Energy) else ModeEnergy(above=0.0)
        run = ar.simulate(model, 0.1, adaptive=plan(modes(lock, release, choice="canonical")), **common)
        assert np.array_equal(run.q, free.q)
        assert np.array_equal(run.u, free.u)
        assert run.state.counters[STEPS] == free.state.counters[STEPS]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"metric": "euclidean"}, {"choice": "canonical"}, {"choice": "published"}],
    ids=["nearest", "euclidean", "canonical", "published"],
)
def test_a_schedule_keeps_momentum_and_books_the_energy(options):
    """Two modes of every link drop and come back, and so does a joint between flexible links: momentum and angular
    momentum are those of the start, energy and reservoir add up, and locked coordinates stay, to the bit."""
    model = filament(joint="spherical")
    away, back = Schedule(times=(0.06,)), Schedule(times=(0.14,))
    groups = (
        modes(away, back, which=(1, 4), **options),
        Group(bodies=("link-2",), lock=away, release=back, **options),
    )
    run = ar.simulate(model, 0.2, frames=10, u=speeds(model), adaptive=plan(*groups), **COMMON)
    total = run.kinetic_energy + run.potential_energy
    assert run.state.resolution.reservoir[0] == pytest.approx(0.0, abs=1e-9 * total[0])
    assert total[[0, 1, 2, 8, 9, 10]] == pytest.approx(total[0], rel=1e-8)
    # While they are locked the energy is less by what the reservoir has, and constant too.
    assert total[4:7] == pytest.approx(total[4], rel=1e-8) and total[5] < total[0]
    locked = (run.u == 0.0).sum(axis=1)
    assert locked[[0, 2, 5, 6, 8, 10]].tolist() == [0, 0, 9, 9, 0, 0]
    before, after = momentum(model, run.q[0], run.u[0])[:6], momentum(model, run.q[10], run.u[10])[:6]
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-9 * np.abs(before).max())
    held = (
        np.flatnonzero(run.u[5] == 0.0) + 1
    )  # the free first joint and the first modes come before the next quaternion
    assert np.array_equal(run.q[4][held[:2]], run.q[5][held[:2]])


def test_a_body_without_modes_is_rigid_and_comes_back():
    """All modes of all links of a welded rod: nothing but one rigid body is left, which turns as a free one does."""
    model = filament()
    group = modes(Schedule(times=(0.02,)), Schedule(times=(0.16,)))
    run = ar.simulate(model, 0.2, frames=10, u=speeds(model), adaptive=plan(group), **COMMON)
    assert (run.u != 0.0).sum(axis=1).tolist() == [model.nu] * 2 + [6] * 7 + [model.nu] * 2
    total = run.kinetic_energy + run.potential_energy
    assert total[-1] == pytest.approx(total[0], rel=1e-8)
    assert total[3:7] == pytest.approx(total[3], rel=1e-8)
    assert np.array_equal(run.q[3][7:], run.q[7][7:])
    assert run.kinetic_energy[3:7] == pytest.approx(run.kinetic_energy[3], rel=1e-8)


def driver_of(model, adaptive, seed=3):
    policy = NoScaling()
    evaluator = Evaluator(model, seed)
    rule = Explicit(rule="rk4", step=0.002)
    driver = AdaptiveDriver(Problem(evaluator, rule, policy), evaluator.initial_state(), adaptive, seed)
    return driver, driver.sized(evaluator.initial_state(driver.history, memory=driver.memory))


RESUMED = {
    "mode-energy": modes(ModeEnergy(below=0.02, window=2), ModeEnergy(above=0.03)),
    "energy": modes(Energy(below=0.02, attempts=4), Random(probability=0.3), choice="canonical"),
}


@pytest.mark.parametrize("which", RESUMED)
def test_a_resumed_run_makes_the_same_transitions_to_the_bit(which):
    model = filament(joint="spherical")
    groups = (
        RESUMED[which],
        Group(bodies=("link-2", "link-3"), lock=Random(probability=0.3), release=Elapsed(time=0.05)),
    )
    one, whole = driver_of(model, plan(*groups))
    whole.u[:] = speeds(model)
    two, parts = driver_of(model, plan(*groups))
    parts.u[:] = speeds(model)
    for until in (0.14, 0.33, 0.5):
        one.advance(whole, until, 10**6)
        while two.advance(parts, until, 33) == PAUSED:
            two, _ = driver_of(model, plan(*groups))
            parts = parts.copy()
    changes = one.changes(whole)
    assert min(changes) > 3
    assert whole.resolution.locked[6:].any() and not whole.resolution.locked.all()
    # How often the right-hand side was looked at is the one thing that breaking off changes.
    parts.counters[EVALUATIONS] = whole.counters[EVALUATIONS]
    assert_same_state(whole, parts)


def test_the_energy_of_a_mode_is_that_of_the_oscillator_that_it_is():
    """A clamped rod of one mode of mass m and stiffness k under gravity: ½ m η'² + ½ k (η − η_s)² about the sag, which
    does not change as it swings; of the locked one, the energy that letting it go would free."""
    builder = ar.ModelBuilder(units="kg-m-s")
    blade = ar.Modes(
        positions=[[0, 0, 0], [1, 0, 0]], masses=[1.0, 0.5], shapes=[[[0], [0], [0]], [[0], [0], [1]]], stiffness=[8.0]
    )
    builder.add_body("blade", joint=ar.Weld(), modes=blade)
    builder.add_body("free", joint=ar.Xyz(), mass=1.0, inertia=1.0)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -2.0)))
    model = builder.build()
    driver, state = driver_of(model, plan(modes(ModeEnergy(below=0.0), None, bodies=("blade",))))
    sag = -0.5 * 2.0 / 8.0
    for eta, speed in ((0.1, 0.4), (sag, 0.4), (0.0, 0.0)):
        state.q[0], state.u[0] = eta, speed
        expected, part = 0.5 * 0.5 * speed**2 + 0.5 * 8.0 * (eta - sag) ** 2, driver.joints.modes_of(model, 0)
        assert mode_energies(driver.decision_state(state, 0), part) == pytest.approx([expected], rel=1e-12)
    state.resolution.locked[0] = True
    assert mode_energies(driver.decision_state(state, 0), part) == pytest.approx([expected], rel=1e-12)


def test_a_mode_drops_when_quiet_and_comes_back_when_the_load_asks_for_it():
    """A rod at rest that is struck at 0.1: its bending across the stroke is added, and that along it stays dropped."""
    builder = ar.ModelBuilder(units="kg-m-s")
    rod = ar.modes.beam(
        length=1.0, mass=1.0, gyration=0.01, bending=2, bending_stiffness=1.0, boundary="clamped", units="kg-m-s"
    )
    tip = len(rod.masses) // 5 - 1
    builder.add_body("rod", joint=ar.Revolute(axis=(1, 0, 0)), modes=rod)
    builder.add_body("bead", parent="rod", node=tip, joint=ar.Prismatic(axis=(0, 1, 0)), mass=0.2, inertia=0.01)
    times = np.arange(0.0, 0.32, 0.01)
    push = ar.forces.JointActuation(body="bead", times=times.tolist(), values=(times > 0.1).astype(float).tolist())
    builder.add_force(push)
    model = builder.build()
    group = modes(ModeEnergy(below=1e-6, window=2), ModeEnergy(above=2e-6), bodies=("rod",))
    run = ar.simulate(model, 0.3, rule="rk4", step=0.001, frames=15, adaptive=plan(group))
    across, along = [1, 2], [3, 4]
    assert run.state.resolution.locked[along].all() and not run.state.resolution.locked[across].all()
    assert not run.u[2:5, 1:5].any()
    assert np.abs(run.q[-1, 1]) > 1e-4


def test_a_mode_that_chatters_is_reported_by_its_name():
    model = filament()
    groups = (
        modes(Random(probability=0.0), None, bodies=("link-1",), which=(2,)),
        modes(ModeEnergy(above=0.0), Elapsed(time=0.0), bodies=("link-2",), which=(3,)),
    )
    driver, state = driver_of(model, plan(*groups, every=0.002))
    state.u[:] = speeds(model)
    driver.advance(state, 0.05, 1000)
    assert driver.chattering(state) == ["link-2.mode3"]


def test_what_cannot_be_is_refused_by_name():
    model = filament()

    def start(*groups):
        return ar.simulate(model, 0.1, rule="rk4", step=0.002, adaptive=plan(*groups))

    with pytest.raises(ar.CaseError, match=r"'speed' applies to joints; choose mode-energy"):
        modes(Speed(below=1.0), None)
    with pytest.raises(ar.CaseError, match=r"'mode-energy' applies to modes; give modes"):
        Group(bodies=("link-1",), lock=ModeEnergy(below=1.0))
    with pytest.raises(ar.CaseError, match=r"body 'link-2' has no mode 5; its modes are numbered 1 to 4"):
        start(modes(ModeEnergy(below=1.0), None, bodies=("link-2",), which=(1, 5)))
    with pytest.raises(ar.CaseError, match=r"body 'link-2' is welded to its parent"):
        start(Group(bodies=("link-2",), lock=Random(probability=1.0)))
    twice = modes(ModeEnergy(below=1.0), None, which=(2,))
    with pytest.raises(ar.CaseError, match=r"mode 2 of body 'link-1' is already in adaptive.groups\[0\]"):
        start(twice, twice)
