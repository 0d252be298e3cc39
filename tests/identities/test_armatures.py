"""Armatures of joints: a diagonal of the mass matrix, in whatever is computed of a model that has some."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from tests.identities.test_sensitivities import difference
from tests.support.random_models import random_forest, random_situation, to_articulon


def with_armature(model: ar.Model, seed: int = 0) -> ar.Model:
    """The same with an armature of every speed but the first."""
    armature = np.random.default_rng(seed).uniform(0.1, 3.0, model.nu)
    armature[0] = 0.0
    return replace(model, armature=armature)


def random_model(seed: int) -> tuple[ar.Model, Any, np.ndarray]:
    """A random forest with armatures, a situation, and accelerations."""
    rng = np.random.default_rng([seed, 77])
    description = random_forest(rng, 12, max_depth=6)
    situation = random_situation(description, rng)
    return with_armature(to_articulon(description), seed), situation, rng.normal(size=description.nu)


def four_bar(**options: Any) -> ar.Model:
    """A linkage whose joints have armatures, with a weight on it."""
    b = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    b.add_body("crank", mass=1, inertia=0.1, com=(0.5, 0, 0), joint=hinge, q=-1.0, armature=0.7)
    seat = {"parent": "crank", "position": (1, 0, 0)}
    b.add_body("coupler", mass=2, inertia=0.2, com=(1, 0, 0), joint=hinge, armature=0.2, **seat)
    b.add_body("rocker", mass=1, inertia=0.2, com=(0.75, 0, 0), joint=hinge, position=(2.2, 0, 0), q=-1.5, armature=0.4)
    ends = {"position": (2, 0, 0), "child_position": (1.5, 0, 0)}
    b.add_loop("pin", joint=hinge, parent="coupler", child="rocker", **ends)
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return b.build()


@pytest.mark.parametrize("seed", range(10))
def test_inverse_dynamics_undoes_forward_dynamics(seed: int) -> None:
    model, s, _ = random_model(seed)
    udot = ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity)
    again = ar.inverse_dynamics(model, s.q, s.u, udot, wrenches=s.wrenches, gravity=s.gravity)
    assert again == pytest.approx(s.tau, rel=1e-9, abs=1e-9 * np.abs(s.tau).max())


@pytest.mark.parametrize("seed", range(10))
def test_the_armature_is_a_diagonal_of_the_mass_matrix(seed: int) -> None:
    model, s, udot = random_model(seed)
    bare = replace(model, armature=None)
    assert np.array_equal(ar.mass_matrix(model, s.q), ar.mass_matrix(bare, s.q) + np.diag(model.armature))
    for _ in range(2):  # the second call is the quick one
        given = ar.inverse_dynamics(model, s.q, s.u, udot) - ar.inverse_dynamics(bare, s.q, s.u, udot)
        assert given == pytest.approx(model.armature * udot, rel=1e-9, abs=1e-9)
        twice = 2.0 * ar.kinetic_energy(model, s.q, s.u)
        assert twice == pytest.approx(s.u @ ar.mass_matrix(model, s.q) @ s.u, rel=1e-12)


def test_many_states_at_once_are_those_one_by_one() -> None:
    model, s, _ = random_model(3)
    speeds = np.random.default_rng(4).normal(size=(9, model.nu))
    found = ar.forward_dynamics(model, s.q, speeds, tau=s.tau)
    for row, u in zip(found, speeds, strict=True):
        assert row == pytest.approx(ar.forward_dynamics(model, s.q, u, tau=s.tau), rel=1e-12, abs=1e-12)
    energies = ar.kinetic_energy(model, s.q, speeds)
    assert energies == pytest.approx([ar.kinetic_energy(model, s.q, u) for u in speeds], rel=1e-12)


def test_a_rotor_on_the_ground_adds_to_the_inertia_about_its_axis() -> None:
    """Where the parent stands still, an armature is an inertia of the body about the axis."""
    models = []
    for inertia, armature in ((0.5, 0.3), (0.8, None)):
        b = ar.ModelBuilder(units="kg-m-s")
        b.add_body("arm", mass=1, inertia=inertia, com=(1, 0, 0), joint=ar.Revolute(axis=(0, 1, 0)), armature=armature)
        models.append(b.build())
    q, u, down = np.array([0.3]), np.array([2.0]), (0, 0, -9.81)
    one, other = (ar.forward_dynamics(model, q, u, gravity=down) for model in models)
    assert one == pytest.approx(other, rel=1e-14)


def test_loops_are_kept_with_the_mass_matrix_that_has_the_armature() -> None:
    """u' = M⁻¹ (f + Jᵀ λ) with J u' + γ = 0, solved densely."""
    model = four_bar()
    q, u = ar.close_loops(model, model.q0, np.array([1.0, 0.3, -0.2]))
    tau = np.array([0.3, -0.4, 0.5])
    udot = ar.forward_dynamics(model, q, u, tau=tau)
    bare = replace(model, armature=None)
    M, J = ar.mass_matrix(model, q), ar.loop_jacobian(model, q)
    bias = ar.inverse_dynamics(bare, q, u, np.zeros(3))
    gamma = -J @ ar.forward_dynamics(bare, q, u, tau=tau)
    dense = np.linalg.solve(M, tau - bias)
    push = np.linalg.lstsq(J @ np.linalg.solve(M, J.T), -gamma - J @ dense, rcond=None)[0]
    assert udot == pytest.approx(dense + np.linalg.solve(M, J.T @ push), rel=1e-9, abs=1e-9)
    assert np.abs(udot - ar.forward_dynamics(bare, q, u, tau=tau)).max() > 0.01


@pytest.mark.parametrize("seed", range(6))
def test_derivatives_are_differences(seed: int) -> None:
    """Of fourth order, with errors of h⁴ f⁽⁵⁾/30 and of rounding over h."""
    model, s, _ = random_model(seed)
    d, h = ar.derivatives(model, s.q, s.u, s.tau, gravity=s.gravity), 1e-3

    def found(x: float, k: int, which: str) -> np.ndarray:
        step = x * np.eye(model.nu)[k]
        q = moved(model, s.q, step) if which == "q" else s.q
        u, tau = (s.u + step, s.tau) if which == "u" else (s.u, s.tau + step if which == "tau" else s.tau)
        return ar.forward_dynamics(model, q, u, tau=tau, gravity=s.gravity)

    for which in ("q", "u", "tau"):
        columns = [
            (8.0 * (found(h, k, which) - found(-h, k, which)) - found(2 * h, k, which) + found(-2 * h, k, which))
            / (12.0 * h)
            for k in range(model.nu)
        ]
        expected = np.transpose(columns)
        assert np.abs(getattr(d, which) - expected).max() < 1e-8 * max(1.0, np.abs(expected).max()), which
    assert d.tau @ ar.mass_matrix(model, s.q) == pytest.approx(np.eye(model.nu), abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_products_are_those_of_the_matrices(seed: int) -> None:
    model, s, w = random_model(seed)
    dq, du, dtau = np.random.default_rng(seed).normal(size=(3, model.nu))
    d = ar.derivatives(model, s.q, s.u, s.tau, gravity=s.gravity)
    rows = ar.vector_jacobian(model, s.q, s.u, w, s.tau, gravity=s.gravity)
    change = ar.jacobian_vector(model, s.q, s.u, dq, du, dtau, s.tau, gravity=s.gravity)
    for row, matrix in zip(rows, d, strict=True):
        assert row == pytest.approx(w @ matrix, rel=1e-9, abs=1e-9 * np.abs(matrix).max())
    assert change == pytest.approx(d.q @ dq + d.u @ du + d.tau @ dtau, rel=1e-9, abs=1e-9 * np.abs(change).max())
    f = ar.force_derivatives(model, s.q, s.u, w)
    assert np.array_equal(f.udot, ar.mass_matrix(model, s.q))


def test_derivatives_of_a_linkage_keep_its_loop() -> None:
    """Along the motions that the loop allows, u' is that of the closed state."""
    model, h = four_bar(), 1e-4
    q, u = ar.close_loops(model, model.q0, np.array([1.0, 0.3, -0.2]))
    way = u / u[0]
    d = ar.derivatives(model, q, u, gravity=(0, 0, -9.81))

    def at(x: float) -> np.ndarray:
        place, speeds = ar.close_loops(model, q + x * way, u)
        scaled = speeds * (u[0] / speeds[0])
        return ar.forward_dynamics(model, place, scaled, gravity=(0, 0, -9.81))

    def speeds_at(x: float) -> np.ndarray:
        speeds = ar.close_loops(model, q + x * way, u)[1]
        return speeds * (u[0] / speeds[0])

    change = (at(h) - at(-h)) / (2.0 * h)
    turned = (speeds_at(h) - speeds_at(-h)) / (2.0 * h)
    assert d.q @ way + d.u @ turned == pytest.approx(change, rel=1e-6, abs=1e-6)


def test_whole_runs_have_derivatives() -> None:
    """The adjoint of explicit steps against differences of runs."""
    model, weights = replace(open_arm(), u0=np.array([1.0, -2.0])), np.array([0.3, -0.7, 0.4, 1.1])

    def value(u: np.ndarray) -> float:
        run = ar.simulate(model, 0.4, rule="rk4", step=0.02, u=u)
        return float(weights @ np.concatenate([run.q[-1], run.u[-1]]))

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        return weights @ np.concatenate([q, u]), weights[:2], weights[2:]

    given = {"rule": "rk4", "step": 0.02, "duration": 0.4}
    backward, forward = (ar.sensitivity(model, objective, ["u"], method=way, **given) for way in ("adjoint", "forward"))
    differences = [difference(lambda x, e=e: value(model.u0 + x * e)) for e in np.eye(2)]
    assert backward.gradient["u"] == pytest.approx(differences, rel=1e-8)
    assert forward.gradient["u"] == pytest.approx(backward.gradient["u"], rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_kanes_method_finds_the_same_accelerations(seed: int) -> None:
    model, s, _ = random_model(seed)
    one, other = (
        ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity, solver=solver)
        for solver in ("articulated", "kane")
    )
    assert other == pytest.approx(one, rel=1e-9, abs=1e-9 * np.abs(one).max())


def test_kanes_method_keeps_loops_with_armatures() -> None:
    model = four_bar()
    q, u = ar.close_loops(model, model.q0, np.array([1.0, 0.3, -0.2]))
    one, other = (ar.forward_dynamics(model, q, u, gravity=(0, 0, -9.81), solver=s) for s in ("articulated", "kane"))
    assert other == pytest.approx(one, rel=1e-9, abs=1e-9)


def test_runs_keep_the_energy_that_has_the_armatures() -> None:
    run = ar.simulate(four_bar(), 0.5, rule="rk4", step=1e-3, frames=20)
    total = run.kinetic_energy + run.potential_energy
    assert np.ptp(run.kinetic_energy) > 1.0
    assert total == pytest.approx(np.full(len(total), total[0]), abs=1e-8)


def test_states_side_by_side_move_as_alone() -> None:
    model = replace(open_arm(), u0=np.array([1.0, -2.0]))
    Q, U = ar.Ensemble(model, np.tile(model.q0, (3, 1)), np.tile(model.u0, (3, 1))).advance(20, 0.01, rule="rk4")
    run = ar.simulate(model, 0.2, rule="rk4", step=0.01)
    for q, u in zip(Q, U, strict=True):
        assert q == pytest.approx(run.q[-1], rel=1e-12) and u == pytest.approx(run.u[-1], rel=1e-12)


def open_arm() -> ar.Model:
    """Two links whose joints have armatures, under gravity."""
    b = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    b.add_body("upper", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, armature=0.5)
    seat = {"parent": "upper", "position": (0, 0, -1)}
    b.add_body("lower", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, armature=0.2, **seat)
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return b.build()


def test_a_stop_without_loss_gives_the_energy_back() -> None:
    b = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    b.add_body("upper", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, armature=0.5, q=0.3)
    seat = {"parent": "upper", "position": (0, 0, -1)}
    b.add_body("lower", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, armature=0.2, u=2.0, **seat)
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    b.add_force(ar.forces.JointLimits(lower={"lower": -0.5}, upper={"lower": 0.5}))
    run = ar.simulate(b.build(), 1.0, rule="kutta-merson", rtol=1e-10, atol=1e-12, frames=20)
    total = run.kinetic_energy + run.potential_energy
    assert total == pytest.approx(np.full(len(total), total[0]), abs=1e-6)
    assert run.q[:, 1].max() <= 0.5 + 1e-9 and run.q[:, 1].max() > 0.4


@pytest.mark.parametrize(
    "call",
    [
        lambda m: ar.forward_dynamics(m, m.q0, m.u0, solver="divide-and-conquer"),
        lambda m: ar.cartesian(m),
        lambda m: ar.lock(m, m.q0, m.u0, ["coupler"]),
    ],
    ids=["divide-and-conquer", "cartesian", "lock"],
)
def test_what_knows_no_armature_says_so(call: Any) -> None:
    with pytest.raises(ar.ArticulonError, match="the joint of body 'crank' has an armature"):
        call(four_bar())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"armature": -1.0}, "body 'x', armature: must not be negative"),
        ({"armature": (1.0, 2.0)}, "body 'x', armature: expected one number, or 1 for the speeds of the joint"),
        ({"armature": "1 kg"}, "body 'x', armature: .*moment of inertia"),
    ],
)
def test_armatures_that_cannot_be_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ar.ModelError, match=message):
        ar.ModelBuilder(units="kg-m-s").add_body("x", mass=1, inertia=1, joint=ar.Revolute(), **given)


def test_armatures_survive_the_case_of_a_run(tmp_path: Any) -> None:
    model = four_bar()
    ar.simulate(model, 0.01, rule="rk4", step=1e-3).save(tmp_path / "run")
    assert np.array_equal(ar.open_run(tmp_path / "run").model.armature, model.armature)
