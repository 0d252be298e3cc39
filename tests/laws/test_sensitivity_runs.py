"""Laws of derivatives of whole runs: memory, threads, order, and a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.sensitivities import adjoint_run
from tests.support.forced_models import resisted_model
from tests.support.threads import on_one_and_two


def rod(**start: Any) -> ar.Model:
    """A rod on a spring and a damper, which swings as e^(−γt) cos ωt."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1.0, inertia=2.0, joint=ar.Revolute(axis=(0, 1, 0)), **start)
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"rod": 8.0}))
    builder.add_force(ar.forces.JointDamping(rotational={"rod": 0.4}))
    return builder.build()


def closed_form(k: float, c: float, q: float, u: float, t: float, inertia: float = 2.0) -> float:
    """The angle of a damped oscillator."""
    decay = c / (2.0 * inertia)
    frequency = np.sqrt(k / inertia - decay * decay)
    swing = q * np.cos(frequency * t) + (u + decay * q) / frequency * np.sin(frequency * t)
    return float(np.exp(-decay * t) * swing)


def test_derivatives_of_a_damped_oscillator_have_a_closed_form_and_the_order_of_the_rule() -> None:
    """From the derivatives of the closed form the rule of order four errs by h⁴."""
    names = {"forces[0].stiffness.rod": 0, "forces[1].rotational.rod": 1, "q": 2, "u": 3}
    numbers, h = [8.0, 0.4, 0.3, -0.2], 1e-5

    def exact(k: int) -> float:
        at = [closed_form(*(x + s * h * (i == k) for i, x in enumerate(numbers)), 2.0) for s in (-2, -1, 1, 2)]  # type: ignore[misc]
        return (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * h)

    expected = np.array([exact(k) for k in names.values()])
    errors = []
    for step in (0.05, 0.025):
        found = ar.sensitivity(rod(q=0.3, u=-0.2), "rod.angle", list(names), duration=2.0, step=step)
        errors.append(np.abs(np.array([float(np.sum(found.gradient[name])) for name in names]) - expected))
    assert errors[1].max() < 1e-6
    assert np.log2(errors[0].max() / errors[1].max()) == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize("checkpoints", [1, 4, 25])
def test_no_more_states_are_kept_than_are_asked_for(checkpoints: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = []
    follow = adjoint_run.follow_schedule

    def watched(*arguments: Any) -> None:
        shapes.append(arguments[4].shape)
        follow(*arguments)

    monkeypatch.setattr(adjoint_run, "follow_schedule", watched)
    model = resisted_model(2)
    found = ar.sensitivity(model, "kinetic_energy", "u", duration=0.25, step=0.01, checkpoints=checkpoints)
    assert found.steps == 25
    assert set(shapes) == {(checkpoints + 2, model.nq + model.nu)}


def test_a_gradient_is_bitwise_the_same_for_any_number_of_threads() -> None:
    """Two chains of so many links that their right-hand side goes to several threads."""
    builder = ar.ModelBuilder(units="kg-m-s")
    rod = {"mass": 1.0, "inertia": 0.1, "com": (0.0, 0.0, -0.5), "joint": ar.Revolute(axis=(0, 1, 0)), "u": 0.1}
    for chain in range(2):
        for k in range(2048):
            parent = {"parent": f"rod {chain} {k - 1}", "position": (0.0, 0.0, -1.0)} if k else {}
            builder.add_body(f"rod {chain} {k}", **rod, **parent)
    builder.add_force(ar.forces.Gravity(acceleration=(1.0, 0.0, -9.81)))
    model = builder.build()
    assert model.forest.mass.size >= 4096

    def found() -> np.ndarray:
        weights = np.linspace(-1.0, 1.0, model.nu)
        s = ar.sensitivity(model, lambda q, u: (weights @ u, 0.0 * q, weights), "q", duration=0.002, step=0.001)
        return s.gradient["q"]

    one, two = on_one_and_two(found)
    assert np.array_equal(one, two)
    assert np.abs(one).max() > 0.0


def test_a_model_that_is_not_differentiated_binds_no_adjoint() -> None:
    """What a run does not use costs it nothing: adjoints are in no program of a right-hand side."""
    evaluator = Evaluator(resisted_model(2))
    names = [one.which.leaf.__name__ for one in evaluator._right_hand_side[0].passes]
    assert not [name for name in names if name.endswith(("adjoint", "tangent"))]


def test_the_decay_of_speed_by_drag_has_the_derivative_of_the_midpoint_rule() -> None:
    """u after n steps is u₀ ((1 − x)/(1 + x))ⁿ with x = h β/2m, so that d ln u/dβ = −n (h/m)/(1 − x²) exactly, far from
    the −t/m of the motion where steps are long against m/β."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("ball", mass=2.0, inertia=0.5, joint=ar.Free(), u=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    builder.add_force(ar.forces.StokesDrag(translational=30.0, rotational=1.0))
    run: dict[str, Any] = {"duration": 0.5, "rule": "friction-implicit", "step": 0.1}
    found = ar.sensitivity(builder.build(), "ball.vx", ["forces.stokes-drag.translational", "bodies.ball.mass"], **run)
    n, h, m, beta = 5, 0.1, 2.0, 30.0
    x = 0.5 * h * beta / m
    assert found.value == pytest.approx(((1.0 - x) / (1.0 + x)) ** n, rel=1e-13)
    by_drag = -n * h / m / (1.0 - x * x) * found.value
    assert found.gradient["forces.stokes-drag.translational"] == pytest.approx(by_drag, rel=1e-12)
    assert found.gradient["bodies.ball.mass"] == pytest.approx(-by_drag * beta / m, rel=1e-12)


def test_noise_moves_a_body_with_the_root_of_its_temperature() -> None:
    """From rest in a still medium a free body is where noise takes it, x ∝ √T, so that T dx/dT = x/2 on every path."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("ball", mass=2.0, inertia=0.5, joint=ar.Xyz())
    builder.add_body("rod", parent="ball", mass=1.0, inertia=0.1, com=(0, 0, -0.5), joint=ar.Prismatic(axis=(1, 0, 0)))
    builder.add_force(ar.forces.StokesDrag(translational=3.0, rotational=1.0))
    builder.add_force(ar.forces.Brownian(temperature=1e22))
    run: dict[str, Any] = {"duration": 0.5, "rule": "friction-implicit", "step": 0.01, "seed": 3}
    found = ar.sensitivity(builder.build(), "position.rod.x", "forces.brownian.temperature", **run)
    from_rest = found.value
    assert abs(from_rest) > 1e-3
    assert 1e22 * found.gradient["forces.brownian.temperature"] == pytest.approx(0.5 * from_rest, rel=1e-11)


def test_an_overdamped_spring_has_the_derivative_of_the_midpoint_rule() -> None:
    """q after n steps is q₀ (1 − x + x²/2)ⁿ with x = h k/β_ω, and steps are those of ``ar.simulate``."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1.0, inertia=2.0, joint=ar.Revolute(axis=(0, 1, 0)), q=0.3)
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"rod": 8.0}))
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=4.0))
    run: dict[str, Any] = {"duration": 0.5, "rule": "overdamped", "step": 0.1}
    names = ["forces.torsional-springs.stiffness.rod", "forces.stokes-drag.rotational", "q", "u", "bodies.rod.mass"]
    model = builder.build()
    found = ar.sensitivity(model, "rod.angle", names, **run)
    n, x = 5, 0.1 * 8.0 / 4.0
    shrinks = 1.0 - x + 0.5 * x * x
    assert found.value == pytest.approx(0.3 * shrinks**n, rel=1e-13)
    assert found.value == pytest.approx(ar.simulate(model, **run).q[-1, 0], rel=1e-14)
    by_x = 0.3 * n * shrinks ** (n - 1) * (x - 1.0)
    assert found.gradient[names[0]] == pytest.approx(by_x * x / 8.0, rel=1e-12)
    assert found.gradient[names[1]] == pytest.approx(-by_x * x / 4.0, rel=1e-12)
    assert found.gradient["q"] == pytest.approx([shrinks**n], rel=1e-12)
    assert found.gradient["u"] == [0.0]
    assert found.gradient["bodies.rod.mass"] == pytest.approx(0.0, abs=1e-14)


def test_overdamped_noise_moves_a_body_with_the_root_of_its_temperature() -> None:
    """A free body is where noise takes it, x ∝ √(T/β), so that T dx/dT = −β dx/dβ = x/2 on every path; with a tie to
    the ground both methods find the same."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("ball", mass=2.0, inertia=0.5, joint=ar.Free())
    builder.add_force(ar.forces.StokesDrag(translational=3.0, rotational=1.0))
    builder.add_force(ar.forces.Brownian(temperature=1e22))
    run: dict[str, Any] = {"duration": 0.5, "rule": "overdamped", "step": 0.01, "seed": 3}
    names = ["forces.brownian.temperature", "forces.stokes-drag.translational", "bodies.ball.com"]
    found = ar.sensitivity(builder.build(), "ball.x", names, **run)
    assert abs(found.value) > 1e-3
    assert found.value == pytest.approx(ar.simulate(builder.build(), **run).q[-1, 0], rel=1e-13)
    assert 1e22 * found.gradient[names[0]] == pytest.approx(0.5 * found.value, rel=1e-11)
    assert 3.0 * found.gradient[names[1]] == pytest.approx(-0.5 * found.value, rel=1e-11)
    tie = {"points": ((0.2, 0.1, 0.3), (0.4, 0.5, 0.0)), "rest_length": 0.4}
    builder.add_force(ar.forces.PointSpring(bodies=("ball", "ground"), stiffness=2.0, **tie))
    names += ["q", "forces.point-spring.stiffness", "forces.stokes-drag.rotational"]
    every = ar.sensitivity(builder.build(), "position.ball.x", names, checkpoints=4, **run)
    forward = ar.sensitivity(builder.build(), "position.ball.x", names, "forward", **run)
    for name, gradient in every.gradient.items():
        assert np.allclose(forward.gradient[name], gradient, rtol=1e-12, atol=1e-12), name
