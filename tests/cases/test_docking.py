"""The built-in docking of a conjugated nanoparticle (Guy 2018, chapter 5): what its notes promise."""

from functools import cache

import numpy as np
import pytest

import articulon as ar
from articulon.errors import DivergenceError
from articulon.fidelity.unscaled import LEAST_KNOWN
from articulon.forces.evaluation import Evaluator
from articulon.integrate import FrictionImplicit
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, REACHED, STOPPED
from articulon.integrate.stop_conditions import advance_of, stop_of
from articulon.scaling import NoScaling

CASE = ar.load_case("nanoparticle-docking")
NEAR = {"model.gap": "34 nm", "run.stop.advance": "15 nm"}
"""It begins 10 nm nearer and comes as near to the receptors, in a fifth of the time."""


@cache
def docking_time(longer: float, near: bool = False) -> float:
    """When the unscaled core of the default case, with a step so many times as long as the shipped one, has advanced by
    the distance that counts as docked [μs]."""
    case = CASE.with_overrides(NEAR) if near else CASE
    model, policy = case.build_model(), NoScaling()
    state = model.initial_state()
    integrator = case.integrator.model_copy(update={"step": longer * float(case.integrator.step)})
    advance = driver(Problem(Evaluator(model), integrator, policy), state)
    stop = case.run.stop
    advance.stop = stop_of(
        model, advance_of(model, model.body(stop.body), np.array(stop.direction), float(stop.advance))
    )
    assert advance.advance(state, float(case.run.duration), 2**62) == STOPPED
    return float(state.time[0])


@pytest.mark.parametrize("seed", range(1, 11))
def test_the_shipped_step_stays_finite_with_noise_at_the_published_gap(seed):
    changed = {"model.gap": "65 nm", "forces.brownian": {"temperature": "300 K"}}
    case = CASE.with_overrides(changed)
    model, step, policy = case.build_model(), float(case.integrator.step), NoScaling()
    state = model.initial_state()
    advance = driver(Problem(Evaluator(model, seed, step), case.integrator, policy), state)
    assert advance.advance(state, 5000 * step, 2**62) == REACHED
    # 102 degrees of freedom in equipartition spread by sqrt(2/102) about 300 K; five times that is no runaway.
    kT = 300.0 * model.units.boltzmann
    assert 2.0 * ar.kinetic_energy(model, state.q, state.u) / (model.nu * kT) < 1.0 + 5.0 * np.sqrt(2.0 / model.nu)


def test_steps_that_throw_the_particle_beyond_its_goal_have_diverged(tmp_path):
    """Springs ten thousand times as stiff are too stiff for this step: the core is thrown by more than its whole way
    before any number overflows, which is no docking."""
    stiffness = {name: 1e4 * value for name, value in {"A*": 1e-3, "B*": 2e-3, "C*": 2e-3, "D*": 5e-3}.items()}
    changes = {
        "forces.torsional-springs.stiffness": stiffness,
        "integrator": {"rule": "friction-implicit", "step": "40 ps"},
        "run.stop.advance": "1 nm",
    }
    with pytest.raises(DivergenceError, match=r"thrown about.*shorten integrator\.step"):
        ar.run(CASE.with_overrides(changes), tmp_path / "run", report=False)
    assert ar.open_run(tmp_path / "run").summary["status"] not in ("complete", "docked")


@pytest.mark.parametrize(("steps", "ended"), [(1, DIVERGED), (4, STOPPED)])
def test_half_of_the_way_in_one_step_is_no_motion(steps, ended):
    """A ball at a steady speed: two steps at least have to lead to where a run ends."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=1.0, joint=ar.Xyz(), u=(1.0, 0.0, 0.0))
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, 0.0)))
    model, policy = builder.build(), NoScaling()
    state = model.initial_state()
    rule = FrictionImplicit(step=1.0 / steps)
    advance = driver(Problem(Evaluator(model), rule, policy), state)
    advance.stop = stop_of(model, advance_of(model, 0, np.array([1.0, 0.0, 0.0]), 0.9))
    assert advance.advance(state, 10.0, 100) == ended
    assert (advance.failure is None) == (ended == STOPPED)


@pytest.mark.slow
def test_the_unscaled_particle_docks_within_three_to_six_microseconds_at_twice_the_step_too():
    """Of a rule of second order, the shipped step's own error is a third of what twice the step changes. That is told
    by the nearer start: steps err at the end, where the particle is fast, and more of a shorter time."""
    assert 3.0 < docking_time(longer=2.0) < 6.0
    assert docking_time(longer=2.0, near=True) == pytest.approx(docking_time(longer=1.0, near=True), rel=1e-4)


@pytest.mark.slow
def test_constant_scaling_is_late_by_what_the_path_beside_it_says(tmp_path):
    """Slow: an explicit rule, whose verdict the shipped one's in test_fidelity.py does not stand for."""
    overrides = {"scaling": {"policy": "constant", "a2": 0.01}, "integrator": {"rule": "kutta-merson"}}
    run = ar.run("nanoparticle-docking", tmp_path / "run", overrides=overrides, report=False)
    late = run.summary["stop_time"] - docking_time(longer=2.0)  # the same to 1e-4, as is asserted above
    paired = run.summary["fidelity"]["premises"]["paired"]
    arrival = next(motion for motion in paired["motions"] if motion["what"].startswith("arrival"))
    assert abs(arrival["late"] - late) < paired["half_width"] * run.times[-1]
    # A fiftieth of any error is left unknown; what remains is how well the unscaled path is known.
    assert 0.0 < paired["half_width"] - LEAST_KNOWN * paired["relative_error"] < 0.005
    assert run.summary["fidelity"]["verdict"] == "violated"


def test_with_hard_cores_the_particle_docks_where_soft_repulsion_ends(tmp_path):
    """It begins 24 nm nearer. The tips fall onto their receptors, stay there and draw the chains after them, in steps
    that are halved; with A/r^12 the bodies are thrown about before that."""
    near = CASE.with_overrides({"model.gap": "20 nm", "run.stop.advance": "25 nm", "run.duration": "0.04 us"})
    with pytest.raises(DivergenceError):
        ar.run(near, tmp_path / "soft", report=False)
    done = ar.run(near.variant("hard-cores"), tmp_path / "hard", report=False).summary
    assert done["stop_time"] is not None
    assert done["impacts"]["impacts"] >= 4
    assert len(done["impacts"]["resting"]) >= 4
    # Half a step turns a body by 0.05, whose square is the order of a drift's error.
    assert done["energy_balance_error_relative"] < 0.05**2 * 10
