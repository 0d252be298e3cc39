"""Many states that move together: each goes the way of a run of its own, and none notices the others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.lanes import WIDTH
from tests.support.threads import on_one_and_two

STATES = WIDTH + 3
HELD = 0.05
"""Window of noise of the noisy model [s]."""


def tree(noisy: bool = True, **brownian: Any) -> Any:
    """A branched tree on a free base, in a medium that flows, with sites that repel each other and the ground."""
    builder = ar.ModelBuilder(units="kg-m-s")
    base = builder.add_body("base", mass=1, inertia=0.2, joint=ar.Free())
    last = base
    for k in range(3):
        joint = ar.Revolute((0, 1, 0)) if k % 2 else ar.Spherical()
        inertia, place = (0.1, 0.1, 0.05), (0, 0, 0.5)
        last = builder.add_body(
            f"arm-{k}", parent=last, mass=0.7, inertia=inertia, com=(0, 0, 0.3), joint=joint, position=place
        )
    joint = ar.Prismatic((1, 0, 0))
    builder.add_body("slide", parent=base, mass=0.3, inertia=0.02, joint=joint, position=(0, 0.4, 0))
    for body, place in ((base, (0.1, 0, 0)), (last, (0, 0, 0.5)), (None, (0, 0.3, -0.8))):
        builder.add_site(body, position=place, kind="A")
    builder.add_force(ar.forces.Gravity((0, 0, -9.81)))
    builder.add_force(ar.forces.StokesDrag(translational=0.3, rotational=0.2, flow=(0.5, 0, 0)))
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"arm-*": 3.0}))
    builder.add_force(ar.forces.SitePairs(parameters={"A": {"epsilon": 0.1, "sigma": 0.2}}))
    if noisy:
        temperature = 0.02 / 1.380649e-23  # kT in J
        builder.add_force(ar.forces.Brownian(**({"temperature": temperature, "window": HELD} | brownian)))
    return builder.build()


def states(model: Any, count: int = STATES, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.tile(model.q0, (count, 1)), rng.normal(size=(count, model.nu))


@pytest.mark.parametrize("rule", ["kutta-merson", "rk4", "euler"])
@pytest.mark.parametrize("noisy", [True, False])
def test_each_state_goes_the_way_of_a_run(rule: str, noisy: bool) -> None:
    model = tree(noisy)
    q, u = states(model)
    ensemble = ar.Ensemble(model, q, u, seeds=range(STATES) if noisy else None)
    # Steps that boundaries of windows cut short: 0.02, 0.02 and 0.01 in each.
    steps, step = (12, 0.02) if noisy else (10, 0.02)
    found = np.hstack(ensemble.advance(steps, step, rule))
    assert ensemble.steps == steps
    assert ensemble.time == pytest.approx(4 * HELD if noisy else 0.2, rel=1e-12)
    for k in (0, WIDTH - 1, WIDTH + 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # steps end on windows of noise
            run = ar.simulate(model, ensemble.time, rule=rule, step=step, q=q[k], u=u[k], seed=k, frames=1)
        alone = np.hstack([run.q[-1], run.u[-1]])
        # Rounding of a few hundred operations a step, which the motion does not make grow in so short a time.
        assert np.abs(found[k] - alone).max() <= 1e-12 * max(1.0, np.abs(alone).max())


def test_noise_that_is_averaged_and_shaped_and_forces_that_are_scaled() -> None:
    model = tree(shape="uniform", average=2, window=0.5 * HELD)
    q, u = states(model, 3)
    ensemble = ar.Ensemble(model, q, u, seeds=[5, 6, 7], scaling=ar.scaling.Constant(0.5))
    found = np.hstack(ensemble.advance(8, 0.025, "rk4"))
    for k in range(3):
        run = ar.simulate(
            model, 0.2, rule="rk4", step=0.025, q=q[k], u=u[k], seed=5 + k, frames=1, scaling=ar.scaling.Constant(0.5)
        )
        alone = np.hstack([run.q[-1], run.u[-1]])
        assert np.abs(found[k] - alone).max() <= 1e-12 * max(1.0, np.abs(alone).max())


def test_neighbours_numbers_and_threads_change_no_bit() -> None:
    model = tree()
    q, u = states(model, 3 * WIDTH + 1)
    seeds = np.arange(len(q))

    def ends() -> np.ndarray:
        return np.hstack(ar.Ensemble(model, q, u, seeds=seeds).advance(7, 0.02))

    one, two = on_one_and_two(ends)
    assert (one == two).all()
    order = np.random.default_rng(1).permutation(len(q))
    mixed = np.hstack(ar.Ensemble(model, q[order], u[order], seeds=seeds[order]).advance(7, 0.02))
    assert (mixed == one[order]).all()
    few = np.hstack(ar.Ensemble(model, q[5:7], u[5:7], seeds=seeds[5:7]).advance(7, 0.02))
    assert (few == one[5:7]).all()
    # Advanced in parts, on other boundaries than those of blocks of steps.
    parts = ar.Ensemble(model, q, u, seeds=seeds)
    for count in (1, 4, 2):
        last = np.hstack(parts.advance(count, 0.02))
    assert (last == one).all()


def test_what_is_looked_at_is_that_of_each_state() -> None:
    model = tree(noisy=False)
    q, u = states(model, 5)
    ensemble = ar.Ensemble(model, q, u)
    ensemble.advance(2, 0.02)
    (positions, rotations), energies = ensemble.poses(), ensemble.kinetic_energies()
    for k in range(5):
        places, turns = ar.body_poses(model, ensemble.Q[k])
        assert np.abs(positions[k] - places).max() <= 1e-14 * max(1.0, np.abs(places).max())
        assert np.abs(rotations[k] - turns).max() <= 1e-14
        assert energies[k] == pytest.approx(ar.kinetic_energy(model, ensemble.Q[k], ensemble.U[k]), rel=1e-13)


def test_a_state_that_diverges_is_named_and_the_others_go_on() -> None:
    model = tree(noisy=False)
    q, u = states(model)
    u[4, 3:6] = 1e160
    ensemble = ar.Ensemble(model, q, u)
    with pytest.raises(ar.DivergenceError, match=r"state 4 is no longer finite") as caught:
        ensemble.advance(5, 0.02, "rk4")
    assert caught.value.step == 1
    assert (np.flatnonzero(ensemble.diverged) == [4]).all()
    rest = np.delete(np.arange(STATES), 4)
    alone = np.hstack(ar.Ensemble(model, q[rest], u[rest]).advance(5, 0.02, "rk4"))
    assert (np.hstack([ensemble.Q, ensemble.U])[rest] == alone).all()
    ensemble.advance(1, 0.02, "rk4")  # it has been said once
    assert f"{STATES} states on the CPU, 6 steps" in repr(ensemble)


def test_bad_input_is_named() -> None:
    model = tree()
    q, u = states(model, 3)
    bad = q.copy()
    bad[1, 0] = np.nan
    with pytest.raises(ar.ModelError, match="Q: row 1 is not finite"):
        ar.Ensemble(model, bad, u, seeds=range(3))
    bad = q.copy()
    bad[2, 3:7] = 2.0
    with pytest.raises(ar.ModelError, match=r"Q: row 2: the Euler parameters of body 'base' have the norm 4, not 1"):
        ar.Ensemble(model, bad, u, seeds=range(3))
    with pytest.raises(ar.ModelError, match="Q: there are no states"):
        ar.Ensemble(model, q[:0], u[:0])
    with pytest.raises(ar.ModelError, match="seeds: there is noise, and without a seed for each state"):
        ar.Ensemble(model, q, u)
    with pytest.raises(ar.ModelError, match="seeds: expected one for each of the 3 states, got 2"):
        ar.Ensemble(model, q, u, seeds=[1, 2])
    for strange in (5, "abc", None.__class__):
        with pytest.raises(ar.ModelError, match="seeds: expected a whole number for each of the 3 states"):
            ar.Ensemble(model, q, u, seeds=strange)
    with pytest.raises(ar.ModelError, match="seeds, state 0"):
        ar.Ensemble(model, q, u, seeds=[True, 1, 2])
    with pytest.raises(ar.ModelError, match="seeds, state 1"):
        ar.Ensemble(model, q, u, seeds=[1, -2, 3])
    with pytest.raises(ar.ModelError, match="scaling: the factors of threshold-adaptive change"):
        ar.Ensemble(model, q, u, seeds=range(3), scaling=ar.scaling.ThresholdAdaptive(a2=0.1, threshold=1.0))
    with pytest.raises(ar.ModelError, match="held: must be above 0"):
        ar.Ensemble(model, q, u, seeds=range(3), held=0.0)
    ensemble = ar.Ensemble(model, q, u, seeds=range(3))
    with pytest.raises(ar.ModelError, match=r"rule: expected an explicit Runge-Kutta rule, one of .*rk4.*, got 'leap'"):
        ensemble.advance(1, 0.01, "leap")
    with pytest.raises(ar.ModelError, match="step_size: must be above 0"):
        ensemble.advance(1, 0.0)
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("arm", mass=1, inertia=0.1, joint=ar.Revolute())
    builder.add_force(ar.forces.UserForce(lambda time, positions, rotations, velocities, parameters, wrenches: None))
    other = builder.build()
    with pytest.raises(ar.ModelError, match=r"forces\[0\]: user cannot be evaluated for several states side by side"):
        ar.Ensemble(other, [[0.1]], [[0.0]])
    with pytest.raises(ar.ModelError, match="expected a model"):
        ar.Ensemble(None, [[0.1]], [[0.0]])


def test_one_state_starts_once_for_each_seed_and_steps_may_have_units() -> None:
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_body("arm", mass=12.0, inertia=0.1, joint=ar.Revolute())
    model = builder.build()
    bath = ar.thermostats.Langevin(temperature="300 K", friction="5 1/ps")
    repeated = np.broadcast_to(model.q0, (3, 1)), np.broadcast_to(model.u0, (3, 1))
    plain = ar.Ensemble(model, *repeated, seeds=range(3), thermostat=bath)
    one = ar.Ensemble(model, model.q0, model.u0, seeds=range(3), thermostat=bath)
    q, u = plain.advance(5, 0.004, "friction-implicit")
    Q, U = one.advance(5, "4 fs", "friction-implicit")
    assert np.array_equal(Q, q) and np.array_equal(U, u) and len(np.unique(Q)) == 3
    assert one.time == pytest.approx(0.02)
    for wrong in ("4 nm", "soon", "0 fs"):
        with pytest.raises(ar.ModelError, match="advance: step_size"):
            one.advance(1, wrong, "friction-implicit")


def test_what_is_said_of_a_state_that_diverges_speaks_of_no_checkpoint() -> None:
    model = tree(noisy=False)
    q, u = states(model, 2)
    u[1, 3:6] = 1e160
    with pytest.raises(ar.DivergenceError) as caught:
        ar.Ensemble(model, q, u).advance(1, 0.02)
    assert "checkpoint" not in str(caught.value) and "step 1: state 1 is no longer finite" in str(caught.value)
