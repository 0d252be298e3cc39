"""Many states that take friction-implicit steps together: under noise, thermostats, and forces between atoms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.ensembles import state_ensemble
from articulon.forces.sites import site_evaluation
from articulon.forces.sites.neighbours import VECTOR
from articulon.lanes import WIDTH
from tests.laws.test_state_ensembles import STATES, states, tree
from tests.support.threads import on_one_and_two

KT = 0.02
"""Thermal energy [J]."""
HOT = KT / 1.380649e-23
RULE = "friction-implicit"
H = 0.01
"""The step [s]."""
F = ar.forces


def jointed(*forces: Any) -> Any:
    """A chain on a free base by joints of four kinds."""
    builder = ar.ModelBuilder(units="kg-m-s")
    last = builder.add_body("base", mass=1, inertia=0.2, joint=ar.Free())
    for k, joint in enumerate((ar.Revolute((0, 1, 0)), ar.Spherical(), ar.Universal(), ar.Prismatic((1, 0, 0)))):
        form: dict[str, Any] = {"mass": 0.7, "inertia": (0.1, 0.1, 0.05), "com": (0, 0, 0.3), "joint": joint}
        last = builder.add_body(f"arm-{k}", parent=last, position=(0, 0, 0.5), **form)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def peptide(**cutoff: float) -> Any:
    """Alanine dipeptide in an implicit solvent."""
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    return molecules.force_field_model(structure, molecules.perceive(structure), solvent="obc2", **cutoff)


def ends(ensemble: Any, steps: int, drift: str = "steady", step: float = H) -> np.ndarray:
    return np.hstack(ensemble.advance(steps, step, RULE, drift))


def check_beside_runs(model: Any, drift: str, thermostat: Any = None, step: float = H, speed: float = 1.0) -> None:
    """States of an ensemble go the ways of runs, but for rounding."""
    q, u = states(model)
    u = speed * u
    steps = 12
    found = ends(ar.Ensemble(model, q, u, seeds=range(STATES), thermostat=thermostat), steps, drift, step)
    for k in (0, WIDTH - 1, WIDTH + 2):
        how: dict[str, Any] = {"rule": RULE, "drift": drift, "step": step, "thermostat": thermostat}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # speeds that are not thermal
            run = ar.simulate(model, steps * step, q=q[k], u=u[k], seed=k, frames=1, **how)
        alone = np.hstack([run.q[-1], run.u[-1]])
        # Rounding of a thousand operations a step, and flights that are solved to 1e-11 of a turn.
        assert np.abs(found[k] - alone).max() <= 1e-11 * max(1.0, np.abs(alone).max())
        assert np.abs(found[k] - np.hstack([q[k], u[k]])).max() > 1e-3


@pytest.mark.parametrize("drift", ["steady", "geodesic"])
def test_each_state_goes_the_way_of_a_run_under_drag_and_noise(drift: str) -> None:
    check_beside_runs(tree(window=None, average=2), drift)
    check_beside_runs(tree(noisy=False), drift)


@pytest.mark.parametrize(
    "forces",
    [
        (F.Fixman(HOT),),
        (
            F.JointFriction(rotational=0.3, rotational_speed=0.1),
            F.JointDamping(translational=0.1),
            F.StokesDrag(translational=0.3, rotational=0.2),
            F.JointActuation(body="arm-0", times=(0.0, 0.1, 0.2), values=(0.0, 5.0, -5.0), interpolation="linear"),
        ),
    ],
    ids=["fixman", "joints"],
)
def test_each_state_goes_the_way_of_a_run_under_langevins_thermostat(forces: Any) -> None:
    check_beside_runs(jointed(*forces), "steady", ar.thermostats.Langevin(HOT, friction=2.0))


@pytest.mark.parametrize("cutoff", [{}, {"cutoff": 0.9}], ids=["whole", "cutoff"])
def test_replicas_of_a_peptide_go_the_ways_of_runs(cutoff: dict[str, float]) -> None:
    thermostat = ar.thermostats.Langevin(300.0, friction=5.0)
    check_beside_runs(peptide(**cutoff), "geodesic", thermostat, step=0.002, speed=0.3)


def test_neighbours_numbers_and_threads_change_no_bit() -> None:
    model, thermostat = peptide(cutoff=0.9), ar.thermostats.Langevin(300.0, friction=5.0)
    q, u = states(model, 2 * WIDTH + 1)
    seeds, step = np.arange(len(q)), 0.002

    def some(which: Any) -> Any:
        return ar.Ensemble(model, q[which], u[which], seeds=seeds[which], thermostat=thermostat)

    one, two = on_one_and_two(lambda: ends(some(slice(None)), 7, step=step))
    assert (one == two).all()
    order = np.random.default_rng(1).permutation(len(q))
    assert (ends(some(order), 7, step=step) == one[order]).all()
    parts = some(slice(5, 7))
    for count in (1, 4, 2):
        last = ends(parts, count, step=step)
    assert (last == one[5:7]).all()


def test_lists_that_are_too_short_grow_and_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    model, thermostat = peptide(cutoff=0.9), ar.thermostats.Langevin(300.0, friction=5.0)
    q, u = states(model, WIDTH + 1)

    def moved() -> np.ndarray:
        ensemble = ar.Ensemble(model, q, 0.3 * u, seeds=range(len(q)), thermostat=thermostat)
        ends(ensemble, 3, step=0.002)
        return ends(ensemble, 3, step=0.002)

    whole, asked = moved(), []
    monkeypatch.setattr(site_evaluation, "room_for", lambda *_: asked.append(1) or (128, 3 * VECTOR))
    assert (moved() == whole).all()
    assert asked


def test_steps_of_two_rules_follow_each_other() -> None:
    model = jointed(F.Gravity((0, 0, -9.81)))
    q, u = states(model, 3)
    ensemble = ar.Ensemble(model, q, u)
    ensemble.advance(2, H, RULE)
    ensemble.advance(2, H, "rk4")
    Q, U = ensemble.Q, ensemble.U
    found = ends(ensemble, 3)
    # What a step takes over from the one before it, its accelerations, is none of those of another rule.
    assert (ends(ar.Ensemble(model, Q, U), 3) == found).all()
    assert ensemble.time == pytest.approx(7 * H, rel=1e-14)
    assert ensemble.steps == 7


def test_a_flight_that_is_not_found_is_told_by_its_state() -> None:
    model = jointed()
    q, u = states(model, 4)
    u[2] *= 1e5
    ensemble = ar.Ensemble(model, q, u)
    with pytest.raises(ar.DivergenceError, match="state 2 is no longer finite") as caught:
        ensemble.advance(3, H, RULE, "geodesic")
    assert caught.value.step == 1
    rest = [0, 1, 3]
    alone = ends(ar.Ensemble(model, q[rest], u[rest]), 3, "geodesic")
    assert (alone == np.hstack([ensemble.Q, ensemble.U])[rest]).all()


def test_what_does_not_go_together_is_said() -> None:
    langevin = ar.thermostats.Langevin(HOT, friction=2.0)
    model = tree(window=None)
    q, u = states(model, 3)
    noisy = ar.Ensemble(model, q, u, seeds=range(3))
    noisy.advance(1, H, RULE)
    with pytest.raises(ar.ModelError, match="the previous steps were friction-implicit ones, whose noise windows"):
        noisy.advance(1, H, "rk4")
    with pytest.raises(ar.ModelError, match=r"drift: expected 'steady' or 'geodesic' with the rule .*, got 'fast'"):
        noisy.advance(1, H, RULE, "fast")
    model = jointed()
    q, u = states(model, 3)
    with pytest.raises(ar.ModelError, match=r"drift: expected 'steady' with the rule 'rk4', got 'geodesic'"):
        ar.Ensemble(model, q, u).advance(1, H, "rk4", "geodesic")
    with pytest.raises(ar.ModelError, match="seeds: there is noise, and without a seed for each state"):
        ar.Ensemble(model, q, u, thermostat=langevin)
    warm = ar.Ensemble(model, q, u, seeds=range(3), thermostat=langevin)
    with pytest.raises(ar.ModelError, match=r"friction and noise need 'friction-implicit' steps, got 'rk4'"):
        warm.advance(1, H, "rk4")
    with pytest.raises(ar.ModelError, match=r"thermostat: expected articulon.thermostats.Langevin, got nose-hoover"):
        ar.Ensemble(model, q, u, seeds=range(3), thermostat=ar.thermostats.NoseHoover(HOT, period=1.0))
    damped = jointed(F.PointSpring(bodies=("base", "arm-3"), stiffness=1.0, damping=0.1))
    with pytest.raises(
        ar.ModelError,
        match=r"forces\[0\].damping: 'friction-implicit' steps need a separate matrix for each state for the damping",
    ):
        ar.Ensemble(damped, q, u).advance(1, H, RULE)
    ar.Ensemble(damped, q, u).advance(1, H, "rk4")


def test_a_number_of_steps_may_be_cut_where_forces_depend_on_time() -> None:
    table = F.JointActuation(body="arm-0", times=(0.0, 0.3, 1.0), values=(0.0, 5.0, -5.0), interpolation="linear")
    model, langevin = jointed(table), ar.thermostats.Langevin(HOT, friction=2.0)
    q, u = states(model, 3)
    whole = ends(ar.Ensemble(model, q, u, seeds=range(3), thermostat=langevin), 60)
    parts = ar.Ensemble(model, q, u, seeds=range(3), thermostat=langevin)
    for count in (7, 20, 1, 32):
        last = ends(parts, count)
    assert (last == whole).all()


def test_what_a_run_refuses_an_ensemble_refuses() -> None:
    langevin = ar.thermostats.Langevin(HOT, friction=2.0)
    model = jointed()
    q, u = states(model, 3)
    scaled = ar.Ensemble(model, q, u, seeds=range(3), thermostat=langevin, scaling=ar.scaling.Constant(0.5))
    with pytest.raises(ar.ModelError, match=r"advance: .*a policy scales forces, and 'langevin' is not a force"):
        scaled.advance(1, H, RULE)
    gradient = F.StokesDrag(translational=0.3, rotational=0.2, velocity_gradient=((0, 0, 1), (0, 0, 0), (0, 0, 0)))
    flowing = jointed(gradient)
    with pytest.raises(ar.ModelError, match=r"would take the speeds of bodies in the flow.* for thermal motion"):
        ar.Ensemble(flowing, q, u, seeds=range(3), thermostat=langevin).advance(1, H, RULE)
    held = tree(window=0.05)
    q, u = states(held, 3)
    with pytest.raises(ar.ModelError, match=r"hold Brownian forces for one step, 0\.01, and forces\.brownian\.window"):
        ar.Ensemble(held, q, u, seeds=range(3)).advance(1, H, RULE)
    with pytest.raises(ar.ModelError, match=r"hold Brownian forces for one step, 0\.01, and held was given"):
        ar.Ensemble(tree(window=None), q, u, seeds=range(3), held=0.05).advance(1, H, RULE)
    box = ar.Box(lengths=(3.0, 3.0, 3.0), boundaries=("reflecting",) * 3)
    builder = ar.ModelBuilder(units="lj", box=box)
    builder.add_particles(2, mass=1.0, positions=[[1, 1, 1], [2, 2, 2]], kind="A")
    builder.add_force(F.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=1.2))
    walls = builder.build()
    for rule in (RULE, "rk4"):
        with pytest.raises(ar.ModelError, match="reflect"):
            ar.Ensemble(walls, walls.q0[None], walls.u0).advance(1, 0.001, rule)


def test_what_was_refused_or_took_no_step_binds_no_noise() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    base = builder.add_body("base", mass=1, inertia=0.2, joint=ar.Free())
    builder.add_body("arm", parent=base, mass=0.7, inertia=0.1, com=(0, 0, 0.3), joint=ar.Revolute((0, 1, 0)))
    builder.add_force(F.StokesDrag(translational=0.3, rotational=0.2))
    builder.add_force(F.Brownian(HOT))
    between = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    builder.add_force(F.PointSpring(bodies=("base", "ground"), points=between, stiffness=1.0, damping=0.1))
    model = builder.build()
    ensemble = ar.Ensemble(model, model.q0[None], model.u0, seeds=[1])
    with pytest.raises(ar.ModelError, match="use an explicit rule"):
        ensemble.advance(1, H, RULE)
    ensemble.advance(1, H, "rk4")
    model = tree(window=None)
    noisy = ar.Ensemble(model, *states(model, 1), seeds=[1])
    noisy.advance(0, H, "rk4")
    noisy.advance(1, H, RULE)


def liquid(count: int = 27) -> Any:
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(3.7, 3.7, 3.7)))
    places = 1.2 * np.stack(np.meshgrid(*3 * [np.arange(3)]), axis=-1).reshape(-1, 3)[:count]
    builder.add_particles(count, mass=1.0, positions=places, kind="A")
    builder.add_force(F.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=1.5))
    return builder.build()


def test_free_particles_in_a_periodic_box_go_the_ways_of_runs() -> None:
    model = liquid()
    check_beside_runs(model, "steady", ar.thermostats.Langevin(1.0, friction=1.0), step=0.002)


def test_a_state_that_goes_through_half_of_the_box_is_told_and_holds_no_other_up() -> None:
    model = liquid()
    q, u = np.tile(model.q0, (3, 1)), np.zeros((3, model.nu))
    u[1, 0] = 1000.0
    ensemble = ar.Ensemble(model, q, u)
    with pytest.raises(ar.DivergenceError, match=r"state 1: a step is too long: a body moves by .*half of the"):
        ensemble.advance(2, 0.005, RULE)
    assert ensemble.steps == 2
    q[2, :3] = q[2, 3:6] + 1e-4  # two on each other, thrown beyond all digits of their places
    with pytest.raises(ar.DivergenceError, match="state 2"):
        ar.Ensemble(model, q, np.zeros((3, model.nu))).advance(20, 0.005, RULE)


def test_an_interruption_leaves_steps_time_and_states_at_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    model, langevin = jointed(), ar.thermostats.Langevin(HOT, friction=2.0)
    q, u = states(model, 2)
    whole = ends(ar.Ensemble(model, q, u, seeds=range(2), thermostat=langevin), 30)
    stopped = ar.Ensemble(model, q, u, seeds=range(2), thermostat=langevin)
    stopped.advance(5, H, RULE)
    take = stopped._engine.take

    def interrupted(*arguments: Any) -> None:
        take(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(stopped._engine, "take", interrupted)
    monkeypatch.setattr(state_ensemble, "PLAN", 8)
    with pytest.raises(KeyboardInterrupt):
        stopped.advance(25, H, RULE)
    monkeypatch.undo()
    assert 5 < stopped.steps < 30 and stopped.time == pytest.approx(H * stopped.steps)
    assert (ends(stopped, 30 - stopped.steps) == whole).all()


def test_seeds_that_are_no_list_are_refused() -> None:
    model = tree(window=None)
    for strange in (np.array(5), {1, 2}, {1: 2, 3: 4}, np.zeros((2, 1), dtype=int)):
        with pytest.raises(ar.ModelError, match="seeds: expected a whole number for each of the 2 states"):
            ar.Ensemble(model, *states(model, 2), seeds=strange)
