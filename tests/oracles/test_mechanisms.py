"""Known mechanisms, built from public data: a pendulum, a four-bar linkage, Bricard's mechanism, Andrews' squeezer."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.special

import articulon as ar
from tests.support import andrews
from tests.support.constrained_reference import ConstrainedReference
from tests.support.loop_models import SOLVERS, FourBar, add_loops, box_inertia, bricard
from tests.support.random_models import builder_of, rotation_matrix

every_solver = pytest.mark.parametrize("solver", SOLVERS)
G = 9.81
RULE = "dormand-prince"
DOWN = np.array([0.0, -G, 0.0])
Z = (0.0, 0.0, 1.0)


def weights_potential(model: Any, masses: np.ndarray, coms: np.ndarray, q: np.ndarray) -> float:
    """−Σ m g·x of the centres of mass."""
    positions, rotations = ar.body_poses(model, q)
    points = positions + [rotation_matrix(e) @ com for e, com in zip(rotations, coms, strict=True)]
    return float(-masses @ points @ DOWN)


class Energy:
    """Kinetic energy and that of the weights, of a mechanism in articulon."""

    def __init__(self, model: Any, bodies: Any) -> None:
        self.model = model
        self.masses = np.array([body.mass for body in bodies])
        self.coms = np.array([body.com for body in bodies])

    def __call__(self, q: np.ndarray, u: np.ndarray) -> float:
        return ar.kinetic_energy(self.model, q, u) + weights_potential(self.model, self.masses, self.coms, q)

    def error(self, trajectory: Any) -> float:
        """Largest deviation from the first frame."""
        values = np.array([self(q, u) for q, u in zip(trajectory.q, trajectory.u, strict=True)])
        return float(np.abs(values - values[0]).max())


# A01: the simple pendulum.


@every_solver
def test_pendulum_released_horizontal_swings_with_its_exact_period(solver: str) -> None:
    """IFToMM A01: 1 kg at 1 m. T = 4 √(l/g) K(sin²(θ₀/2)), θ₀ = 90°, l = (m r² + I)/(m r)."""
    inertia = 0.01
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("bob", joint=ar.Revolute(axis=Z), mass=1.0, inertia=inertia, com=(1.0, 0.0, 0.0), q=0.0)
    builder.add_force(ar.forces.Gravity(acceleration=tuple(DOWN)))
    model = builder.build()
    period = 4 * np.sqrt((1.0 + inertia) / G) * scipy.special.ellipk(0.5)
    trajectory = ar.simulate(model, period, rule=RULE, rtol=1e-12, atol=1e-12, solver=solver, frames=4)
    # From θ = 0 by way of −π/2 (after a quarter) to −π and back.
    np.testing.assert_allclose(trajectory.times, period * np.arange(5) / 4, rtol=1e-14)
    np.testing.assert_allclose(trajectory.q[:, 0], np.array([0.0, -0.5, -1.0, -0.5, 0.0]) * np.pi, atol=1e-9)
    fastest = np.sqrt(2 * G / (1.0 + inertia))
    np.testing.assert_allclose(trajectory.u[:, 0], np.array([0.0, -1.0, 0.0, 1.0, 0.0]) * fastest, atol=1e-8)


# The four-bar linkage.


def four_bar_model(bar: FourBar, kind: str, crank_angle: float) -> tuple[Any, Any]:
    mechanism = bar.mechanism(kind)
    builder = builder_of(mechanism.forest, bar.coordinates(crank_angle))
    builder.add_force(ar.forces.Gravity(acceleration=tuple(DOWN)))
    add_loops(builder, mechanism)
    return builder.build(), mechanism


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_four_bar_assembles_as_freudenstein_says(kind: str) -> None:
    """From coupler and rocker off by a tenth of a radian, the closed pose of the same branch and no other."""
    bar = FourBar()
    for crank_angle in np.linspace(-3.0, 3.0, 5):
        model, _ = four_bar_model(bar, kind, crank_angle)
        exact = bar.coordinates(crank_angle)
        q, _ = ar.close_loops(model, exact + [0.0, 0.1, -0.1], np.zeros(3))
        np.testing.assert_allclose(np.sin(q - bar.coordinates(q[0])), 0.0, atol=1e-13)


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_speeds_of_the_four_bar_follow_from_its_closed_form(kind: str) -> None:
    """J u = 0 gives dψ/dφ: against a fourth-order difference of Freudenstein's angle."""
    bar, h = FourBar(), 1e-3
    for crank_angle in np.linspace(-3.0, 3.0, 5):
        model, _ = four_bar_model(bar, kind, crank_angle)
        q = bar.coordinates(crank_angle)
        f = [bar.coordinates(crank_angle + k * h) for k in (-2, -1, 1, 2)]
        slope = (f[0] - f[3] + 8 * (f[2] - f[1])) / (12 * h)
        J = ar.loop_jacobian(model, q)
        assert np.linalg.norm(J @ slope) <= 1e-10 * np.linalg.norm(J)
        _, u = ar.close_loops(model, q, slope)
        np.testing.assert_allclose(u, slope, atol=1e-9)


@every_solver
def test_four_bar_falls_with_constant_energy_on_its_closed_form(solver: str) -> None:
    bar = FourBar()
    model, mechanism = four_bar_model(bar, "revolute", 1.0)
    trajectory = ar.simulate(model, 3.0, rule=RULE, rtol=1e-11, atol=1e-12, solver=solver, frames=60)
    energy = Energy(model, mechanism.forest.bodies)
    scale = G * sum(body.mass for body in mechanism.forest.bodies) * bar.crank
    assert np.ptp(trajectory.q[:, 0]) > 1.0
    assert energy.error(trajectory) <= 1e-8 * scale
    for q, u in zip(trajectory.q, trajectory.u, strict=True):
        np.testing.assert_allclose(np.sin(q - bar.coordinates(q[0])), 0.0, atol=1e-12)
        assert np.linalg.norm(ar.loop_jacobian(model, q) @ u) <= 1e-12 * max(1.0, np.linalg.norm(u))


# A04: Bricard's mechanism.


@functools.cache
def bricard_model() -> tuple[Any, Any]:
    mechanism = bricard()
    builder = builder_of(mechanism.forest, np.zeros(5))
    builder.add_force(ar.forces.Gravity(acceleration=tuple(DOWN)))
    add_loops(builder, mechanism)
    return builder.build(), mechanism


def test_bricard_data_are_the_benchmarks() -> None:
    _, mechanism = bricard_model()
    assert len(mechanism.forest.bodies) == 5 and len(mechanism.loops) == 1
    for body in mechanism.forest.bodies:
        assert body.mass == 1.0
        assert sorted(np.diagonal(body.inertia)) == pytest.approx(sorted(box_inertia(1.0, (1.0, 0.1, 0.1))))
        assert np.linalg.norm(body.com) == 0.5


def test_bricard_has_one_freedom_where_grubler_counts_none() -> None:
    model, _ = bricard_model()
    J = ar.loop_jacobian(model, model.q0)
    assert J.shape == (5, 5)
    values = np.linalg.svd(J)[1]
    assert values[3] > 0.1 and values[4] < 1e-14


@functools.cache
def bricard_by_reference(duration: float) -> np.ndarray:
    """q after the time, by SciPy from the equations with multipliers, without the one that is redundant."""
    reference = ConstrainedReference(bricard("universal"))
    gravity, nothing = DOWN, np.zeros(5)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        udot = reference.accelerations(y[:5], y[5:], nothing, gravity=gravity).udot
        return np.concatenate([y[5:], udot.astype(float)])

    solution = scipy.integrate.solve_ivp(rates, (0, duration), np.zeros(10), method="DOP853", rtol=1e-10, atol=1e-12)
    # It drifts, but by less than is compared.
    assert max(ConstrainedReference(bricard()).gaps(solution.y[:5, -1])) < 1e-8
    return np.asarray(solution.y[:5, -1])


@pytest.mark.slow
@every_solver
def test_bricard_moves_as_the_equations_with_multipliers_say(solver: str) -> None:
    model, _ = bricard_model()
    trajectory = ar.simulate(model, 2.0, rule=RULE, rtol=1e-10, atol=1e-12, solver=solver, frames=1)
    assert np.abs(trajectory.q[-1]).max() > 2.0
    np.testing.assert_allclose(trajectory.q[-1], bricard_by_reference(2.0), atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("duration", [1.0, pytest.param(10.0, marks=pytest.mark.slow)])
@every_solver
def test_bricard_keeps_its_energy_and_stays_closed(solver: str, duration: float) -> None:
    """To 1e-8 J, while 4.55 J come and go, every 2.5 s."""
    model, mechanism = bricard_model()
    trajectory = ar.simulate(
        model, duration, rule=RULE, rtol=1e-11, atol=1e-12, solver=solver, frames=int(20 * duration)
    )
    energy, reference = Energy(model, mechanism.forest.bodies), ConstrainedReference(mechanism)
    assert max(ar.kinetic_energy(model, q, u) for q, u in zip(trajectory.q, trajectory.u, strict=True)) > 4.0
    assert energy.error(trajectory) <= 1e-8
    for q, u in zip(trajectory.q, trajectory.u, strict=True):
        assert max(reference.gaps(q)) <= 1e-12
        assert np.linalg.norm(ar.loop_jacobian(model, q) @ u) <= 1e-12 * max(1.0, np.linalg.norm(u))


# Andrews' squeezing mechanism.


def motor_and_spring(
    time: float,
    positions: np.ndarray,
    rotations: np.ndarray,
    velocities: np.ndarray,
    parameters: np.ndarray,
    wrenches: np.ndarray,
) -> None:
    """The torque on K1, and the spring between K3 and the ground, for bodies in the order of ``andrews.MEMBERS``."""
    wrenches[0, 5] += andrews.MOTOR_TORQUE
    arm = rotation_matrix(np.asarray(rotations[2])) @ [*andrews.SPRING_ON_K3, 0.0]
    stretch = positions[2] + arm - [*andrews.SPRING_ON_GROUND, 0.0]
    length = np.linalg.norm(stretch)
    force = -andrews.SPRING_CONSTANT * (length - andrews.SPRING_LENGTH) / length * stretch
    wrenches[2, :3] += force
    wrenches[2, 3:] += np.cross(arm, force)


def squeezer(joint: str, with_forces: bool) -> Any:
    """The mechanism with its three loops closed by revolute (nine redundant rows) or spherical joints (three)."""
    builder = ar.ModelBuilder(units="kg-m-s")
    for member in andrews.MEMBERS:
        builder.add_body(
            member.name,
            parent=member.parent,
            joint=ar.Revolute(axis=Z),
            mass=member.mass,
            inertia=member.inertia,
            com=(*member.com, 0.0),
            position=(*member.pivot, 0.0),
            q=andrews.INITIAL_ANGLES[andrews.ANGLES.index(member.angle)],
        )
    ends = {member.name: (*member.end, 0.0) for member in andrews.MEMBERS}
    for parent, child in andrews.CLOSURES:
        closing = ar.Revolute(axis=Z) if joint == "revolute" else ar.Spherical()
        builder.add_loop(
            f"{parent}-{child}", joint=closing, parent=parent, child=child, position=ends[parent],
            child_position=ends[child],
        )  # fmt: skip
    if with_forces:
        builder.add_force(ar.forces.UserForce(function=motor_and_spring))
    return builder.build()


ORDER = [andrews.ANGLES.index(member.angle) for member in andrews.MEMBERS]
"""Where each body's angle stands in the published vector."""


def published(x: np.ndarray) -> np.ndarray:
    """Joint angles, speeds or accelerations in the order of the published vector."""
    result = np.empty(7)
    result[ORDER] = x
    return result


def squeezer_accelerations(model: Any, q: np.ndarray, u: np.ndarray, solver: str) -> np.ndarray:
    wrenches = np.zeros((7, 6))
    positions, rotations = ar.body_poses(model, q)
    motor_and_spring(0.0, positions, rotations, np.zeros((7, 6)), np.zeros(0), wrenches)
    return ar.forward_dynamics(model, q, u, wrenches=wrenches, solver=solver)


def test_published_equations_reach_the_published_angles() -> None:
    """The data are right: SciPy's DOP853 on the test set's own equations, no multibody code involved."""
    assert np.abs(andrews.closure(andrews.INITIAL_ANGLES)).max() < 1e-16
    start = np.concatenate([andrews.INITIAL_ANGLES, np.zeros(7)])
    np.testing.assert_allclose(andrews.rates(0.0, start)[7:], andrews.INITIAL_ACCELERATIONS, atol=1e-10)
    end = scipy.integrate.solve_ivp(andrews.rates, (0, andrews.END), start, method="DOP853", rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(end.y[:7, -1], andrews.REFERENCE_ANGLES, rtol=0, atol=2e-9)
    assert np.abs(andrews.closure(end.y[:7, -1])).max() < 1e-13


@pytest.mark.parametrize("joint", ["revolute", "spherical"])
@every_solver
def test_squeezer_has_the_published_accelerations(solver: str, joint: str) -> None:
    """At the start, and all along the published motion, relative to the largest."""
    model = squeezer(joint, with_forces=False)
    start = np.concatenate([andrews.INITIAL_ANGLES, np.zeros(7)])
    found = published(squeezer_accelerations(model, model.q0, model.u0, solver))
    np.testing.assert_allclose(found, andrews.INITIAL_ACCELERATIONS, rtol=0, atol=1e-8)
    along = scipy.integrate.solve_ivp(
        andrews.rates, (0, andrews.END), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=np.linspace(0, 0.03, 7)
    )
    for y in along.y.T:
        expected = andrews.rates(0.0, y)[7:]
        found = published(squeezer_accelerations(model, y[ORDER], y[7 + np.array(ORDER)], solver))
        assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


@pytest.mark.slow
def test_squeezer_reaches_the_published_angles_by_a_foreign_integrator() -> None:
    """Its accelerations under SciPy's DOP853: no integration rule of the engine's is involved."""
    model = squeezer("revolute", with_forces=False)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[7:], squeezer_accelerations(model, y[:7], y[7:], "articulated")])

    start = np.concatenate([model.q0, np.zeros(7)])
    end = scipy.integrate.solve_ivp(rates, (0, andrews.END), start, method="DOP853", rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(published(end.y[:7, -1]), andrews.REFERENCE_ANGLES, rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["revolute", "spherical"])
@every_solver
def test_squeezer_reaches_the_published_angles(solver: str, joint: str) -> None:
    """IVP test set, to 1e-8 at 0.03 s."""
    model = squeezer(joint, with_forces=True)
    trajectory = ar.simulate(model, andrews.END, rule=RULE, rtol=1e-12, atol=1e-12, solver=solver, frames=1)
    np.testing.assert_allclose(published(trajectory.q[-1]), andrews.REFERENCE_ANGLES, rtol=0, atol=1e-8)
    assert np.abs(andrews.closure(published(trajectory.q[-1]))).max() <= 1e-12 * andrews.ZT
