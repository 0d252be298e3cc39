"""Stokes drag in a flow whose velocity changes from place to place: v = flow + G r."""

from __future__ import annotations

import math

import numpy as np
import pytest

import articulon as ar
from articulon.adaptive import locked_model
from articulon.forces.evaluation import Evaluator

RATE = 2.0
SHEAR = [[0.0, RATE, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
BETA, TURNING = 5.0, 4.0
RULES = [
    {"rule": "dormand-prince", "rtol": 1e-9, "atol": 1e-11},
    {"rule": "friction-implicit", "step": 0.01},
    {"rule": "overdamped", "step": 0.01},
]


def sphere(gradient: object = SHEAR, height: float = 3.0, **options: object) -> ar.Model:
    builder = ar.ModelBuilder(units="lj", **options)
    builder.add_body("sphere", mass=1.0, inertia=0.4, joint=ar.Free(), q=(0.0, height, 0.0, 1.0, 0.0, 0.0, 0.0))
    drag = {"translational": BETA, "rotational": TURNING, "flow": (0.5, 0.0, 0.0)}
    builder.add_force(ar.forces.StokesDrag(**drag, velocity_gradient=gradient))
    return builder.build()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rule"])
def test_a_free_sphere_drifts_with_the_flow_and_turns_at_half_the_shear_rate(rule: dict[str, object]) -> None:
    """Begun at rest it falls behind by τ = m/β times its speed, and by τ_ω = I/β_ω times its angular velocity."""
    run = ar.simulate(sphere(), 4.0, **rule)
    late, late_turn = (0.0, 0.0) if rule["rule"] == "overdamped" else (1.0 / BETA, 0.4 / TURNING)
    speed, turn = 0.5 + 3.0 * RATE, -0.5 * RATE
    relaxed = (1.0 - math.exp(-4.0 / late)) if late else 1.0
    np.testing.assert_allclose(run.q[-1, :3], (speed * (4.0 - late * relaxed), 3.0, 0.0), rtol=2e-5, atol=1e-12)
    angle = turn * (4.0 - late_turn)
    np.testing.assert_allclose(run.q[-1, 3:], [math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)], atol=2e-4)
    if late:
        np.testing.assert_allclose(run.u[-1], (speed, 0.0, 0.0, 0.0, 0.0, turn), rtol=1e-7, atol=1e-9)


def test_the_flow_is_that_of_rows_of_velocity_components_and_its_vorticity_is_the_curl() -> None:
    """G[i][j] = ∂v_i/∂r_j, the body off the axes and turned, its centre of mass off its origin."""
    G = np.array([[0.3, -0.7, 0.2], [0.5, -0.1, 0.9], [-0.4, 0.8, -0.2]])
    flow, r, c = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -0.5]), np.array([0.2, -0.1, 0.3])
    e = np.array([0.5, 0.5, -0.5, 0.5])
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("sphere", mass=1.0, com=c, inertia=0.4, joint=ar.Free(), q=(*r, *e))
    drag = {"translational": BETA, "rotational": TURNING, "flow": flow}
    builder.add_force(ar.forces.StokesDrag(**drag, velocity_gradient=G))
    model = builder.build()
    R = _matrix(e)
    arm = R @ c
    force = BETA * (flow + G @ (r + arm))
    half_curl = 0.5 * np.array([G[2, 1] - G[1, 2], G[0, 2] - G[2, 0], G[1, 0] - G[0, 1]])
    moment = TURNING * half_curl + np.cross(arm, force)
    found = ar.generalized_forces(model, model.q0, np.zeros(6))
    np.testing.assert_allclose(found, [*force, *(R.T @ moment)], rtol=1e-13, atol=1e-13)


def _matrix(e: np.ndarray) -> np.ndarray:
    w, v = e[0], e[1:]
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * skew


def dumbbell() -> tuple[ar.Model, float]:
    """Two beads on a rigid bond across the flow, and the ratio r of the spheroid that turns as they do.

    The torques on the beads' places and on the beads, −γ A sin²θ and −γ B/2 with A = 2β(L/2)² and B = 2β_ω, balance
    (A + B) θ': θ' = −γ (A sin²θ + B/2)/(A + B), which is Jeffery's −γ (r² sin²θ + cos²θ)/(r² + 1) for r² = 1 + 2A/B.
    """
    beta, turning, half = 6.0, 2.0, 0.8
    builder = ar.ModelBuilder(units="lj")
    bead = {"mass": 1e-3, "inertia": 1e-4}
    builder.add_body("centre", **bead, joint=ar.Free(), q=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    for name, x in (("one", half), ("other", -half)):
        builder.add_body(name, parent="centre", **bead, joint=ar.Weld(), position=(x, 0.0, 0.0))
    drag = {"translational": beta, "rotational": turning, "bodies": ["one", "other"]}
    builder.add_force(ar.forces.StokesDrag(**drag, velocity_gradient=SHEAR))
    A, B = 2.0 * beta * half**2, 2.0 * turning
    return builder.build(), math.sqrt(1.0 + 2.0 * A / B)


def test_a_rigid_dumbbell_turns_with_the_period_of_jefferys_orbits_to_second_order() -> None:
    """After half of the period 2π/γ (r + 1/r) it has turned by −π."""
    model, ratio = dumbbell()
    half = math.pi / RATE * (ratio + 1.0 / ratio)
    misses = []
    for steps in (200, 400, 800):
        run = ar.simulate(model, half, rule="overdamped", step=half / steps, frames=1)
        e0, ez = run.q[-1, 3], run.q[-1, 6]
        misses.append(abs(2.0 * math.atan2(-ez, e0) - math.pi))
        np.testing.assert_allclose(run.q[-1, :3], 0.0, atol=1e-12)
    assert misses[-1] < 2e-4
    assert misses[0] / misses[1] == pytest.approx(4.0, abs=0.3)
    assert misses[1] / misses[2] == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize("rule", RULES[:2], ids=lambda rule: rule["rule"])
def test_the_work_of_the_flow_is_work_of_the_drag(rule: dict[str, object]) -> None:
    run = ar.simulate(sphere(), 1.0, **rule)
    gained = run.kinetic_energy[-1] - run.kinetic_energy[0]
    assert gained > 10.0
    assert run.observables["work_damping"][-1] == pytest.approx(gained, rel=1e-7)


def test_in_uniform_shear_a_pair_of_spheres_relaxes_as_in_the_frame_of_the_flow() -> None:
    """A spring between free spheres along z, across a flow along x, is drawn out by nothing: it relaxes as at rest."""
    builder = ar.ModelBuilder(units="lj")
    for k, z in enumerate((-1.0, 1.0)):
        builder.add_body(f"s{k}", mass=1.0, inertia=0.4, joint=ar.Free(), q=(0.0, 1.0, z, 1.0, 0.0, 0.0, 0.0))
        builder.add_site(f"s{k}", kind="A")
    builder.add_force(ar.forces.StokesDrag(translational=BETA, rotational=TURNING, velocity_gradient=SHEAR))
    builder.add_force(ar.forces.HarmonicBonds(bonds=[(0, 1)], stiffness=1.0, length=1.0))
    run = ar.simulate(builder.build(), 3.0, rule="overdamped", step=0.01)
    bond = run.positions[-1, 1] - run.positions[-1, 0]
    assert bond[2] == pytest.approx(1.0 + math.exp(-2.0 * 3.0 / BETA), rel=1e-4)
    np.testing.assert_allclose(run.positions[-1, :, 0], RATE * 3.0, rtol=1e-9)


def test_a_uniform_flow_costs_no_pass_and_changes_no_bit() -> None:
    uniform, zero = sphere(None), sphere(np.zeros((3, 3)))
    assert Evaluator(uniform).linear_flow is None
    assert Evaluator(zero).linear_flow is None
    one, other = (ar.simulate(model, 1.0, rule="friction-implicit", step=0.01) for model in (uniform, zero))
    assert np.array_equal(one.q, other.q) and np.array_equal(one.u, other.u)


def test_a_gradient_along_a_periodic_edge_needs_moving_images_and_is_refused() -> None:
    box = {"lengths": (10.0, 10.0, 10.0)}
    with pytest.raises(ar.ModelError) as raised:
        sphere(box=ar.Box(**box))
    assert "forces[0].velocity_gradient" in str(raised.value)
    assert "Lees-Edwards" in str(raised.value) and "edge b" in str(raised.value)
    sphere(box=ar.Box(**box, boundaries=("periodic", "open", "periodic")))  # images move as they do


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (np.eye(3), "forces[0].velocity_gradient: its trace is 3"),
        ([[0.0, 1.0], [0.0, 0.0]], "velocity_gradient"),
        ([["1 m", 0, 0], [0, 0, 0], [0, 0, 0]], "velocity_gradient"),
    ],
)
def test_what_is_no_gradient_of_an_incompressible_flow_is_refused(gradient: object, message: str) -> None:
    with pytest.raises(ar.ArticulonError) as raised:
        sphere(gradient)
    assert message in str(raised.value)


def test_a_gradient_may_carry_its_unit() -> None:
    builder = ar.ModelBuilder(units="zg-nm-ns")
    builder.add_body("sphere", mass=1.0, inertia=1.0, joint=ar.Free(), q=(0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    gradient = [[0, "3 us^-1", 0], [0, 0, 0], [0, 0, 0]]
    builder.add_force(ar.forces.StokesDrag(translational=2.0, rotational=1.0, velocity_gradient=gradient))
    model = builder.build()
    assert ar.generalized_forces(model, model.q0, model.u0)[0] == pytest.approx(2.0 * 3e-3)


def comb(bodies: int) -> ar.Model:
    """Beads off the axes on hinges of a free body, each with its own drag, in a flow that turns and stretches them."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("core", mass=2.0, inertia=(0.5, 0.7, 0.9), joint=ar.Free(), q=(0.3, -0.2, 0.5, 0.8, 0.6, 0.0, 0.0))
    drag, angle = {"core": 1.0}, 0.4
    for k in range(bodies):
        hinge = {"joint": ar.Revolute(axis=(k % 2, 1.0, 1.0)), "position": (0.4 * k - 0.5, 0.3, -0.2 * k), "q": angle}
        builder.add_body(f"bead{k}", parent="core", mass=0.5, inertia=0.1, com=(0.1, 0.4, 0.2), **hinge)
        drag[f"bead{k}"] = 0.5 + 0.3 * k
    gradient = [[0.3, 1.0, 0.0], [-0.4, -0.5, 0.6], [0.2, 0.0, 0.2]]
    flow = {"flow": (0.2, -0.1, 0.4), "velocity_gradient": gradient}
    builder.add_force(ar.forces.StokesDrag(translational=drag, rotational=0.2, **flow))
    return builder.build()


@pytest.mark.parametrize("bodies", [2, 6], ids=["each by itself", "drag put together"])
@pytest.mark.parametrize("rule", RULES[:2], ids=lambda rule: rule["rule"])
def test_merged_bodies_move_in_the_flow_as_welded_ones(bodies: int, rule: dict[str, object]) -> None:
    """Locked from the start, against the model of which the joints are welds, and its work."""
    model = comb(bodies)
    names = [f"bead{k}" for k in range(bodies)]
    welded, _ = locked_model(model, model.q0, names)
    one = ar.simulate(model, 0.5, locked=names, frames=2, **rule)
    other = ar.simulate(welded, 0.5, frames=2, **rule)
    np.testing.assert_allclose(one.q[-1, :7], other.q[-1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.u[-1, :6], other.u[-1], rtol=0, atol=1e-8)
    assert np.abs(other.u[-1]).max() > 0.1
    works = [found.observables["work_damping"][-1] for found in (one, other)]
    assert works[0] == pytest.approx(works[1], rel=1e-7)
