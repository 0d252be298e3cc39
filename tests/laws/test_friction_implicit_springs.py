"""Friction-implicit steps with damped springs between points: the scheme's own equation, its order, its books, and its
stability in steps far above the relaxation times."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.adaptive import Adaptive, Group, Schedule
from articulon.adaptive.coarsening import locked_model
from articulon.forces.evaluation import Evaluator
from articulon.integrate import FrictionImplicit
from articulon.integrate.choice import driver
from articulon.integrate.friction_implicit_passes import Passes
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED
from articulon.model.state import DAMPING
from tests.support.compatible_runs import Thickening
from tests.support.remembering import assert_joined
from tests.support.resisting_models import FRICTIONS, MODELS, assert_second_order
from tests.support.running import WHOLE, Running

EPS = float(np.finfo(float).eps)
MASS = 2.0
C = 0.7
FAR = (-50.0, 0.0, 0.0)
ENDS = {
    "pendulum": ((("ground", "hand"), ((1.0, -1.0, 0.5), (0.1, 0.0, -0.3))),
                 (("upper", "slide"), ((0.5, 0.6, 0.2), (0.0, 0.1, 0.2))),
                 (("lower", "hand"), ((0.3, 0.9, 0.0), (0.4, 0.0, -0.3)))),
    "four-bar": ((("crank", "rocker"), ((0.2, 0.3, 0.0), (0.5, 0.6, 0.1))),
                 (("ground", "coupler"), ((0.0, 2.5, 0.0), (0.7, 0.0, 0.0)))),
    "ring": ((("1", "3"), ((0.4, 0.3, 0.2), (0.1, -0.2, 0.3))),
             (("ground", "crank"), ((0.5, 2.0, 1.0), (0.5, 0.2, 0.0)))),
}  # fmt: skip
"""Bodies and points of the springs of each model."""


def springs(name: str, damping: float = C, stiffness: float = 3.0) -> tuple[Any, ...]:
    """Those of a model, the second of twice the damping."""
    return tuple(
        ar.forces.PointSpring(bodies=bodies, points=points, stiffness=stiffness, rest_length=0.3, damping=damping * k)
        for k, (bodies, points) in enumerate(ENDS[name], 1)
    )


def slider(*dampings: float, force: float = 0.0, u: float = 1.3) -> Any:
    """A slide along x between the ground and dashpots that are in line with it."""
    builder = ar.ModelBuilder("lj")
    builder.add_body("slide", mass=MASS, inertia=1.0, joint=ar.Prismatic(axis=(1.0, 0.0, 0.0)), u=u)
    for c in dampings:
        ends = {"bodies": ("ground", "slide"), "points": (FAR, (0.0, 0.0, 0.0))}
        builder.add_force(ar.forces.PointSpring(**ends, stiffness=0.0, damping=c))
    if force:
        builder.add_force(ar.forces.JointActuation(body="slide", values=force))
    return builder.build()


def friction_of(model: Any, q: np.ndarray, u: np.ndarray, step: float, factor: float = 1.0) -> np.ndarray:
    """Δu/h of the part of a step that takes resistance, at coordinates and speeds."""
    going = driver(Problem(Evaluator(model), FrictionImplicit(step=step)), model.initial_state())
    arrays = going.scratch
    arrays.q[:], arrays.u[:], arrays.clock[1], arrays.factor[:] = q, u, step, factor
    for part in ("locate", "friction"):
        going.kept[Passes._fields.index(part)]()
    return arrays.udot


@pytest.mark.parametrize("ratio", [0.1, 1.0, 30.0, 100.0])
def test_a_damped_slider_decays_by_the_midpoint_factor(ratio: float) -> None:
    """u⁺/u = (1 − x)/(1 + x) with x = h c/2m in every step, whatever it is."""
    steps, start, h = 20, 1.3, ratio * MASS / C
    run = Running(slider(C, u=start), FrictionImplicit(step=h)).to(steps * h)
    assert run.u[0] == pytest.approx(start * ((1.0 - 0.5 * ratio) / (1.0 + 0.5 * ratio)) ** steps, rel=1e-13)
    assert run.q[0] == pytest.approx(MASS / C * (start - run.u[0]), rel=1e-12)
    assert run.work("damping") == pytest.approx(0.5 * MASS * (run.u[0] ** 2 - start**2), rel=1e-12)


@pytest.mark.parametrize("step", [1e-3, 0.1, 2.0])
@pytest.mark.parametrize("friction", [None, *FRICTIONS])
@pytest.mark.parametrize("name", MODELS)
def test_a_step_of_friction_solves_the_midpoint_equation(name: str, friction: str | None, step: float) -> None:
    """M Δu = h Γ(u + Δu/2) on the speeds that loops and drives leave free, with the mass matrix, the Jacobian and the
    damping forces Γ of dense algebra and of the evaluation that explicit rules make."""
    model = MODELS[name](*springs(name), *(FRICTIONS[friction] if friction else ()))
    q, u = model.q0, np.cos(np.arange(model.nu) + 0.5)
    J = ar.loop_jacobian(model, q) if name != "pendulum" else np.zeros((1, model.nu))
    _, sizes, rows = np.linalg.svd(J)
    Z = rows[(sizes > 1e-6).sum() :].T
    u = Z @ (Z.T @ u)
    M, udot = ar.mass_matrix(model, q), friction_of(model, q, u, step)
    gamma = ar.generalized_forces(model, q, u + 0.5 * step * udot, ["damping"])
    without = ar.generalized_forces(MODELS[name](), q, u + 0.5 * step * udot, ["damping"])
    assert np.abs(gamma - without).max() > 1e-4 * np.abs(gamma).max(), "the springs do nothing"
    size = max(np.abs(M @ udot).max(), np.abs(gamma).max())
    assert np.abs(J @ udot).max() <= 1e-12 * max(np.abs(udot).max(), 1.0)
    assert np.abs(Z.T @ (M @ udot - gamma)).max() <= 1e-9 * size


@pytest.mark.parametrize("factor", [0.0, 0.3])
def test_the_factor_of_damping_scales_that_of_springs(factor: float) -> None:
    scaled, weaker = MODELS["pendulum"](*springs("pendulum"), drag=0.0), springs("pendulum", damping=factor * C)
    u = scaled.u0
    expected = friction_of(MODELS["pendulum"](*weaker, *FRICTIONS["damping"], drag=0.0), scaled.q0, u, 0.1)
    unscaled = ar.forces.JointDamping(rotational=0.7 / factor) if factor else FRICTIONS["damping"][0]
    found = friction_of(MODELS["pendulum"](*springs("pendulum"), unscaled, drag=0.0), scaled.q0, u, 0.1, factor)
    if factor:
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    else:
        assert not found.any()


@pytest.mark.parametrize("size", [1.0, 1e8])
def test_dashpots_side_by_side_act_as_their_sum(size: float) -> None:
    """Rows of one direction stay independent however stiff they are: each gives way by its force."""
    one, two = (friction_of(slider(*c), np.zeros(1), np.ones(1), 0.1) for c in ((3.0 * size,), (size, 2.0 * size)))
    assert one[0] == pytest.approx(-3.0 * size / (MASS + 0.15 * size), rel=1e-7)
    np.testing.assert_allclose(two, one, rtol=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_halving_the_step_quarters_the_error_of_motion_works_and_books(name: str) -> None:
    assert_second_order(MODELS[name](*springs(name)))


@pytest.mark.parametrize("ratio", [0.1, 1.0, 100.0])
def test_the_energy_of_a_slider_balances_to_rounding(ratio: float) -> None:
    """T − ΣW = T₀ under a constant force, because works are taken at mean speeds."""
    h = ratio * MASS / C
    run = Running(slider(C, force=0.9, u=2.0), FrictionImplicit(step=h)).to(50 * h)
    assert run.work("damping") < -1e-2
    assert abs(run.imbalance()) <= 50 * 10 * EPS * np.abs(run.state.work).max()


@pytest.mark.parametrize("name", ["pendulum", "four-bar"])
def test_the_work_of_a_step_of_friction_is_its_change_of_kinetic_energy(name: str) -> None:
    """Δ(½ u·M u) = −Σ c (j·ū)² h of all that resists, to rounding, at any step."""
    model = MODELS[name](*springs(name, damping=50.0), *FRICTIONS["both"])
    q = model.q0
    J = ar.loop_jacobian(model, q) if name != "pendulum" else np.zeros((1, model.nu))
    u = np.cos(np.arange(model.nu) + 0.5)
    u -= np.linalg.pinv(J) @ (J @ u)
    for h in (1e-3, 0.1, 10.0):
        middle = u + 0.5 * h * friction_of(model, q, u, h)
        change = ar.kinetic_energy(model, q, 2.0 * middle - u) - ar.kinetic_energy(model, q, u)
        work = h * float(middle @ ar.generalized_forces(model, q, middle, ["damping"]))
        assert work < 0.0
        assert change == pytest.approx(work, rel=1e-10)


@pytest.mark.parametrize("name", ["pendulum", "four-bar"])
def test_steps_of_a_hundred_relaxation_times_are_stable(name: str) -> None:
    """The step is set by gravity and the springs, and more than a hundred of the shortest relaxation times pass."""
    h = 0.02
    model = MODELS[name](*springs(name, damping=20000.0))
    M = ar.mass_matrix(model, model.q0)
    gamma = np.array([ar.generalized_forces(model, model.q0, 1e-6 * e, ["damping"]) for e in np.eye(model.nu)])
    assert h * np.abs(np.linalg.eigvals(np.linalg.solve(M, 1e6 * gamma.T))).max() > 100.0
    run = Running(model, FrictionImplicit(step=h))
    before = 0.0
    for k in range(20):
        run.to((k + 1) * 10 * h)
        total = run.kinetic_energy() - run.start_kinetic + run.energies().sum() - run.start_energies.sum()
        assert run.work("damping") < before
        assert total < 1e-2
        before = run.work("damping")


def test_a_run_goes_on_with_merged_bodies() -> None:
    """With the hand locked a spring is gone and another holds the merged body: the motion is that of the model in which
    the hand is welded on. Free flights remember nothing of earlier steps."""
    model = MODELS["pendulum"](*springs("pendulum"))
    plan = Adaptive(every=0.1, groups=(Group(bodies=("hand",), lock=Schedule(times=(0.1,))),))
    options: dict[str, Any] = {"rule": "friction-implicit", "step": 0.02, "drift": "geodesic"}
    run = ar.simulate(model, 0.5, frames=5, adaptive=plan, **options)
    coarse, merging = locked_model(model, run.q[2], ["hand"])
    welded = ar.simulate(coarse, 0.3, frames=3, q=run.q[2][merging.q], u=run.u[2][merging.u], **options)
    np.testing.assert_allclose(run.q[-1][merging.q], welded.q[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.u[-1][merging.u], welded.u[-1], rtol=0, atol=1e-11)
    lost = welded.works[-1, DAMPING]
    assert lost < -1e-3
    assert run.works[-1, DAMPING] - run.works[2, DAMPING] == pytest.approx(lost, rel=1e-10)


@pytest.mark.parametrize("name", ["pendulum", "ring"])
def test_a_resumed_run_has_the_bits_of_an_unbroken_one(name: str) -> None:
    model = MODELS[name](*springs(name), *FRICTIONS["friction"])
    options: dict[str, Any] = {"rule": "friction-implicit", "step": 0.02}
    whole = ar.simulate(model, 0.4, frames=2, **options)
    first = ar.simulate(model, 0.2, frames=1, **options)
    before = copy.deepcopy(first.state)
    assert_joined(whole, first, ar.resume(first, 0.2, frames=1))
    assert np.array_equal(first.state.u, before.u)


def test_what_is_left_in_scratch_changes_no_bit() -> None:
    ends = []
    for left in (0.0, np.nan):
        run = Running(MODELS["pendulum"](*springs("pendulum")), FrictionImplicit(step=0.02))
        run.driver.scratch.udot[:] = left
        ends.append(run.to(0.2).u.copy())
    assert np.array_equal(*ends)


def test_a_spring_without_length_stops_the_run() -> None:
    """It has no direction: the run sees numbers that are none."""
    builder = ar.ModelBuilder("lj")
    builder.add_body("ball", mass=1.0, inertia=1.0, joint=ar.Xyz())
    builder.add_force(ar.forces.PointSpring(bodies=("ground", "ball"), stiffness=1.0, damping=0.5))
    run = Running(builder.build(), FrictionImplicit(step=0.1))
    assert run.driver.advance(run.state, 1.0, WHOLE) == DIVERGED


def test_runs_without_damped_springs_have_no_pass_for_them() -> None:
    """Of a spring without damping there is the pass of its elastic force alone."""
    undamped = springs("pendulum", damping=0.0)
    for forces, solved in (((), "solve"), (FRICTIONS["damping"], "solve_rubbed")):
        going = Running(MODELS["pendulum"](*undamped, *forces), FrictionImplicit(step=0.02)).driver
        names = {part: [one.which.leaf.__name__ for one in program.passes]
                 for part, program in zip(Passes._fields, going.kept, strict=True)}  # fmt: skip
        assert names["friction"] == ["clear", "fill_drag", "add_friction", solved]
        assert "point_spring_wrenches" in names["fill"]
        assert not [one for passes in names.values() for one in passes if "dashpot" in one or "damping" in one]


def test_other_forces_that_resist_speeds_are_refused_by_name() -> None:
    builder = ar.ModelBuilder("lj")
    builder.add_body("body", mass=1.0, inertia=1.0, joint=ar.Revolute())
    builder.add_force(Thickening(rotational=0.5))
    with pytest.raises(ar.CaseError, match=r"integrator\.rule: .* does not know how 'thickening' depends on speeds"):
        ar.simulate(builder.build(), 1.0, rule="friction-implicit", step=0.1)
