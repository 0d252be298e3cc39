"""Friction-implicit steps with damping and Coulomb friction of joints: the scheme's own formulas, its order, its books,
and its stability in steps far above the relaxation times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.integrate import FrictionImplicit
from articulon.integrate.choice import driver
from articulon.integrate.friction_implicit_passes import Passes
from articulon.integrate.problem import Problem
from articulon.model.state import DAMPING
from tests.support.remembering import assert_same_state
from tests.support.resisting_models import (
    DAMPED,
    FRICTIONS,
    MODELS,
    RUBBED,
    assert_second_order,
)
from tests.support.running import Running

EPS = float(np.finfo(float).eps)
INERTIA, MASS = 0.5, 2.0


def alone(joint: Any, *forces: Any, u: Any) -> Any:
    """One body on a joint through its centre of mass."""
    builder = ar.ModelBuilder("lj")
    builder.add_body("body", mass=MASS, inertia=INERTIA, joint=joint, u=u)
    for force in forces:
        builder.add_force(force)
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [0.1, 1.0, 30.0, 100.0])
def test_a_damped_joint_decays_by_the_midpoint_factor(ratio: float) -> None:
    """u⁺/u = (1 − x)/(1 + x) with x = h c/2I in every step, whatever it is; q moves by h (u + u⁺)/2."""
    c, start, steps = 0.7, 1.3, 20
    h, factor = ratio * INERTIA / c, (1.0 - 0.5 * ratio) / (1.0 + 0.5 * ratio)
    run = Running(alone(ar.Revolute(), *DAMPED, u=start), FrictionImplicit(step=h)).to(steps * h)
    assert run.u[0] == pytest.approx(start * factor**steps, abs=steps * 8 * EPS * start)
    # Σ h ū over the steps: I/c of the lost speed, as in the exact motion.
    assert run.q[0] == pytest.approx(INERTIA / c * (start - run.u[0]), rel=1e-12)
    assert run.work("damping") == pytest.approx(0.5 * INERTIA * (run.u[0] ** 2 - start**2), rel=1e-12)


@pytest.mark.parametrize("joint", [ar.Prismatic(axis=(1.0, 2.0, 2.0)), ar.Xyz(), ar.Spherical(), ar.Free(),
                                   ar.Universal()])  # fmt: skip
def test_every_joint_decays_by_that_factor(joint: Any) -> None:
    """About a sphere's centre, where no speed of a joint drives another one (but those of a universal joint, of which
    one turns alone)."""
    u = np.array([0.9]) if joint.nu == 1 else np.linspace(0.5, 1.0, joint.nu)
    if isinstance(joint, ar.Universal):
        u = np.array([0.9, 0.0])
    moves = joint.translations
    forces = []
    if moves:
        forces.append(ar.forces.JointDamping(translational={"body": 3.0}))
    if joint.nu > moves:
        forces.append(ar.forces.JointDamping(rotational={"body": 0.7}))
    x = 0.05 * np.where(np.arange(joint.nu) < moves, 3.0 / MASS, 0.7 / INERTIA)
    run = Running(alone(joint, *forces, u=u), FrictionImplicit(step=0.1)).to(1.0)
    np.testing.assert_allclose(run.u, u * ((1.0 - x) / (1.0 + x)) ** 10, rtol=1e-13, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("step", [1e-3, 0.1, 2.0])
@pytest.mark.parametrize("kind", FRICTIONS)
@pytest.mark.parametrize("name", MODELS)
def test_a_step_of_friction_solves_the_midpoint_equation(name: str, kind: str, step: float) -> None:
    """M Δu = h Γ(u + Δu/2) on the speeds that loops and drives leave free, with the mass matrix, the Jacobian and the
    damping forces Γ of dense algebra and of the evaluation that explicit rules make."""
    model = MODELS[name](*FRICTIONS[kind])
    going = driver(Problem(Evaluator(model), FrictionImplicit(step=step)), model.initial_state())
    arrays, q = going.scratch, model.q0
    u = np.cos(np.arange(model.nu) + 0.5)
    J = ar.loop_jacobian(model, q) if name != "pendulum" else np.zeros((1, model.nu))
    _, sizes, rows = np.linalg.svd(J)
    Z = rows[(sizes > 1e-6).sum() :].T
    u = Z @ (Z.T @ u)
    arrays.q[:], arrays.u[:], arrays.clock[1], arrays.factor[:] = q, u, step, 1.0
    for part in ("locate", "friction"):
        going.kept[Passes._fields.index(part)]()
    M, udot = ar.mass_matrix(model, q), arrays.udot
    gamma = ar.generalized_forces(model, q, u + 0.5 * step * udot, ["damping"])
    size = max(np.abs(M @ udot).max(), np.abs(gamma).max())
    assert np.abs(J @ udot).max() <= 1e-12 * max(np.abs(udot).max(), 1.0)
    assert np.abs(Z.T @ (M @ udot - gamma)).max() <= 1e-9 * size


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRICTIONS)
@pytest.mark.parametrize("name", MODELS)
def test_halving_the_step_quarters_the_error_of_motion_works_and_books(name: str, kind: str) -> None:
    assert_second_order(MODELS[name](*FRICTIONS[kind]))


@pytest.mark.parametrize("ratio", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("kind", FRICTIONS)
def test_the_energy_of_one_joint_balances_to_rounding(kind: str, ratio: float) -> None:
    """T − ΣW = T₀ under a constant torque, because works are taken at mean speeds and with the coefficient that the
    step has been solved with."""
    forces = (*FRICTIONS[kind], ar.forces.JointActuation(body="body", values=0.9))
    h = ratio * INERTIA / 0.7
    run = Running(alone(ar.Revolute(), *forces, u=2.0), FrictionImplicit(step=h)).to(50 * h)
    assert run.work("damping") < -1e-2
    assert abs(run.imbalance()) <= 50 * 10 * EPS * np.abs(run.state.work).max()


@pytest.mark.parametrize("name", ["pendulum", "four-bar"])
@pytest.mark.parametrize("kind", FRICTIONS)
def test_steps_of_a_hundred_relaxation_times_are_stable(name: str, kind: str) -> None:
    """The step is set by gravity, and more than a hundred of the shortest relaxation times of the joints pass in it."""
    h, c, width = 0.02, 5000.0, 0.1
    damping = (ar.forces.JointDamping(rotational=c),)
    rubbing = (ar.forces.JointFriction(rotational=c * width, rotational_speed=width),)
    model = MODELS[name](*{"damping": damping, "friction": rubbing, "both": damping + rubbing}[kind])
    M = ar.mass_matrix(model, model.q0)
    gamma = np.array([ar.generalized_forces(model, model.q0, 1e-6 * e, ["damping"]) for e in np.eye(model.nu)])
    assert h * np.abs(np.linalg.eigvals(np.linalg.solve(M, 1e6 * gamma.T))).max() > 100.0
    run = Running(model, FrictionImplicit(step=h))
    before = 0.0
    for k in range(20):
        run.to((k + 1) * 10 * h)
        # Gravity is the only source of energy.
        fallen = run.energies().sum() - run.start_energies.sum()
        total = run.kinetic_energy() - run.start_kinetic + fallen
        assert run.work("damping") < before
        assert total < 1e-2
        before = run.work("damping")


def test_a_joint_under_load_creeps_as_its_friction_says_at_any_step() -> None:
    """μ tanh(u/u_s) = τ at steps of twenty times I u_s/μ, where explicit steps are unstable."""
    mu, width, torque = 2.0, 0.01, 1.2
    forces = (
        ar.forces.JointFriction(rotational=mu, rotational_speed=width),
        ar.forces.JointActuation(body="body", values=torque),
    )
    h = 20.0 * INERTIA * width / mu
    run = Running(alone(ar.Revolute(), *forces, u=0.0), FrictionImplicit(step=h)).to(400 * h)
    before = float(run.q[0])
    run.to(500 * h)
    assert (run.q[0] - before) / (100 * h) == pytest.approx(width * math.atanh(torque / mu), rel=1e-6)


def test_coulomb_friction_stops_a_disc_after_its_way() -> None:
    """A disc that μ slows comes to rest after I u²/2μ, in steps of forty times I u_s/μ."""
    mu, width, start = 0.4, 1e-3, 0.5
    h = 40.0 * INERTIA * width / mu
    model = alone(ar.Revolute(), ar.forces.JointFriction(rotational=mu, rotational_speed=width), u=start)
    run = Running(model, FrictionImplicit(step=h)).to(200 * h)
    assert run.q[0] == pytest.approx(0.5 * INERTIA * start**2 / mu, abs=0.01 * 0.5 * INERTIA * start**2 / mu)
    assert abs(run.u[0]) < 0.01 * start
    assert run.work("damping") == pytest.approx(-0.5 * INERTIA * start**2, rel=1e-3)


@pytest.mark.parametrize("name", ["pendulum", "four-bar"])
def test_what_is_left_in_scratch_changes_no_bit(name: str) -> None:
    """Steps that end with lists that are too short leave numbers behind that are none."""
    ends = []
    for left in (0.0, np.nan):
        run = Running(MODELS[name](*RUBBED), FrictionImplicit(step=0.02))
        run.driver.scratch.udot[:] = left
        ends.append(run.to(0.2).state)
    assert_same_state(*ends)


def test_the_factor_of_damping_scales_that_of_joints() -> None:
    model, half = (
        alone(ar.Revolute(), *DAMPED, u=1.0),
        alone(ar.Revolute(), ar.forces.JointDamping(rotational=0.35), u=1.0),
    )
    scaled = Running(model, FrictionImplicit(step=0.1), policy=ar.scaling.Constant(a2=0.5)).to(1.0)
    assert scaled.state.factor[DAMPING] == 0.5
    assert scaled.u[0] == pytest.approx(float(Running(half, FrictionImplicit(step=0.1)).to(1.0).u[0]), rel=1e-13)


@pytest.mark.slow
def test_damping_without_noise_cools_below_the_bath() -> None:
    """Langevin's friction γ heats a hinge to T γ/(γ + c/I), to first order in the step: the damping of the joint has no
    noise of its own. A step multiplies u by a and by b, and adds noise of the variance (1 − b²) T/I."""
    count, gamma, c, h = 4000, 1.0, 0.5, 0.05
    builder = ar.ModelBuilder("lj")
    builder.add_bodies(count, mass=MASS, inertia=INERTIA, joint=ar.Revolute(), names="hinge")
    builder.add_force(ar.forces.JointDamping(rotational=c))
    bath = ar.thermostats.Langevin(temperature=1.0, friction=gamma)
    run = ar.simulate(builder.build(), 10.0, rule="friction-implicit", step=h, frames=5, thermostat=bath, seed=3)
    x, b = 0.5 * h * c / INERTIA, math.exp(-gamma * h)
    a = (1.0 - x) / (1.0 + x)
    expected = (1.0 - b * b) / (1.0 - (a * b) ** 2)
    assert expected == pytest.approx(gamma / (gamma + c / INERTIA), rel=h * (gamma + c / INERTIA))
    # Frames of 2 time units keep e^{−8} of u².
    measured = INERTIA * float((run.u[2:] ** 2).mean())
    assert measured == pytest.approx(expected, rel=5.0 * math.sqrt(2.0 / (4 * count)))
