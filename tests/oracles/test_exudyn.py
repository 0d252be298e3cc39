"""Flexible bodies side by side with Exudyn (Gerstmayr, Multibody Syst. Dyn. 60, 2024)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import articulon as ar
from articulon.model.modes import ModeShapes
from articulon.units import unit_system
from tests.support.flexible_bodies import natural_frequencies, random_modes
from tests.support.flexible_reference import FlexibleReference
from tests.support.random_models import Description, random_body, rotation_matrix

pytest.importorskip("exudyn")

from tests.support.exudyn_peer import FloatingFrame, beam_frequencies

SI = unit_system("kg-m-s")
FRAME = np.array([1.0, 0.0, 0.0, 0.0])


def single(kind: str, shapes: ModeShapes) -> FlexibleReference:
    body = random_body(np.random.default_rng(0), "body", None, kind)
    body = dataclasses.replace(body, position=np.zeros(3), rotation=FRAME, axis=np.array([0.0, 0.0, 1.0]))
    return FlexibleReference(Description((body,)), [shapes], [None], np.float64)


@pytest.mark.parametrize("boundary", ["clamped", "free"])
def test_frequencies_of_a_beam_are_those_of_many_finite_elements(boundary):
    """Cubic elements of length h have a relative error of ω of (βh/L)⁴/1440 (Strang and Fix, section 1.9)."""
    modes = ar.modes.beam(length=2.0, mass=3.0, bending=(4, 0), bending_stiffness=0.7, boundary=boundary)
    elements = 40
    omega = beam_frequencies(2.0, 3.0, 0.7, elements, boundary == "free", 4)
    beta = (omega / np.sqrt(0.7 / (3.0 * 2.0**3))) ** 0.5
    assert (np.abs(omega / natural_frequencies(modes) - 1.0) < 2.0 * (beta / elements) ** 4 / 1440 + 1e-9).all()


def extrapolated(run: Callable[[int], np.ndarray], steps: int) -> tuple[np.ndarray, float]:
    """The limit of a symmetric rule of second order, and how far it is from the finer of the two runs that give it."""
    coarse, fine = run(steps), run(2 * steps)
    return (4.0 * fine - coarse) / 3.0, float(np.abs(fine - coarse).max() / 3.0)


@pytest.mark.parametrize("boundary", ["clamped", "free"])
def test_a_flexible_body_in_free_flight_moves_as_in_exudyn(boundary):
    """Every coupling of rigid motion and deformation, by nodes anywhere and three modes of any shape. The trapezoidal
    rule's extrapolation leaves a small part of the difference of its two runs."""
    rng = np.random.default_rng(7)
    modes = dataclasses.replace(random_modes(rng, 6, 3, boundary), damping=0.0)
    shapes = modes.resolved(SI, "body")
    omega, velocity = np.array([0.4, -0.7, 0.5]), np.array([0.3, -0.2, 0.1])
    eta, rate = 0.2 * rng.normal(size=3), 0.3 * rng.normal(size=3)

    def peer(steps: int) -> np.ndarray:
        body = FloatingFrame(shapes)
        body.start(velocity, omega, eta, rate)
        body.run(0.5, steps)
        position, rotation = body.pose
        return np.concatenate([position, rotation.ravel(), body.modal_coordinates])

    reference = single("free", shapes)

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        q, u = y[:10], y[10:]
        e, w = q[3:7], u[3:6]
        turned = 0.5 * np.array([-e[1:] @ w, *(e[0] * w + np.cross(e[1:], w))])
        solved = np.linalg.solve(reference.mass_matrix(q), -reference.bias(q, u))
        return np.concatenate([u[:3], turned, u[6:], solved])

    first = np.concatenate([np.zeros(3), FRAME, eta, velocity, omega, rate])
    y = solve_ivp(derivative, (0.0, 0.5), first, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    ours = np.concatenate([y[:3], rotation_matrix(y[3:7]).ravel(), y[7:10]])
    theirs, step_error = extrapolated(peer, 200)
    assert np.abs(ours - theirs).max() < 1e-2 * step_error < 1e-5


@pytest.mark.slow
def test_a_beam_spun_up_slowly_bends_as_in_exudyn():
    """A cantilever of two modes turned up to 0.5 of its lowest frequency in three periods (Kane, Ryan and Banerjee, J.
    Guid. Control Dyn. 10, 139, 1987; their law of θ). Linear modes do not stiffen by the centrifugal force, here nor
    there; docs/flexible.md says what follows."""
    modes = ar.modes.beam(length=2.0, mass=3.0, bending=(2, 0), bending_stiffness=0.7, nodes=9)
    shapes = modes.resolved(SI, "beam")
    lowest = natural_frequencies(modes)[0]
    top, time = 0.5 * lowest, 6.0 * np.pi / lowest

    def speed(t: float) -> float:
        return top * (t / time - np.sin(2 * np.pi * t / time) / (2 * np.pi))

    def angle(t: float) -> float:
        return top * (0.5 * t**2 / time + time / (2 * np.pi) ** 2 * (np.cos(2 * np.pi * t / time) - 1.0))

    def peer(steps: int) -> np.ndarray:
        body = FloatingFrame(shapes)
        body.start(np.zeros(3), np.zeros(3), np.zeros(2), np.zeros(2))
        body.turn_about_z(angle, speed)
        body.run(0.75 * time, steps)
        return body.modal_coordinates

    reference = single("revolute", shapes)

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        q, u = np.array([angle(t), *y[:2]]), np.array([speed(t), *y[2:]])
        M = reference.mass_matrix(q)
        gain = top / time * (1.0 - np.cos(2 * np.pi * t / time))
        solved = np.linalg.solve(M[1:, 1:], -reference.bias(q, u)[1:] - M[1:, 0] * gain)
        return np.concatenate([y[2:], solved])

    y = solve_ivp(derivative, (0.0, 0.75 * time), np.zeros(4), method="DOP853", rtol=1e-9, atol=1e-11).y[:, -1]
    theirs, step_error = extrapolated(peer, 200)
    assert np.abs(y[:2]).max() > 0.01
    assert np.abs(y[:2] - theirs).max() < 1e-2 * step_error < 1e-5


@pytest.mark.slow
def test_the_engine_spins_up_a_beam_under_a_torque_as_exudyn_does():
    """From rest about a fixed point; by then the beam lags by more than a thousandth of its length."""
    modes = ar.modes.beam(length=1.0, mass=2.0, bending=(2, 1), bending_stiffness=40.0, gyration=0.05)
    shapes, torque, time = modes.resolved(SI, "beam"), 1.5, 0.5

    def peer(steps: int) -> np.ndarray:
        body = FloatingFrame(shapes)
        body.start(np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3))
        body.push_about_z(torque)
        body.run(time, steps)
        rotation = body.pose[1]
        return np.array([np.arctan2(rotation[1, 0], rotation[0, 0]), *body.modal_coordinates])

    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("beam", joint=ar.Revolute(axis=(0, 0, 1)), modes=modes)
    push = {"times": (0.0, time), "values": (torque, torque), "interpolation": "linear"}
    builder.add_force(ar.forces.JointActuation(body="beam", **push))
    ours = ar.simulate(builder.build(), time, rule="rk4", step=1e-4, frames=1).q[-1]
    theirs, step_error = extrapolated(peer, 4000)
    assert np.abs(ours[1:]).max() > 1e-3
    assert np.abs(ours - theirs).max() < 5e-2 * step_error < 1e-6


@pytest.mark.parametrize("solver", ["articulated", "divide-and-conquer", "kane"])
def test_a_cantilever_let_go_under_its_weight_bends_as_in_exudyn(solver):
    """Nine tenths of a period of the lowest mode, from straight and at rest."""
    modes = ar.modes.beam(length=2.0, mass=3.0, bending=(2, 0), bending_stiffness=0.7, nodes=12)
    shapes = modes.resolved(SI, "beam")
    weight, time = np.array([0.0, -0.02, 0.0]), 1.8 * np.pi / natural_frequencies(modes)[0]

    def peer(steps: int) -> np.ndarray:
        body = FloatingFrame(shapes)
        body.start(np.zeros(3), np.zeros(3), np.zeros(2), np.zeros(2), weight)
        body.hold()
        body.run(time, steps)
        return body.modal_coordinates

    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("beam", joint=ar.Weld(), modes=modes)
    builder.add_force(ar.forces.Gravity(acceleration=tuple(weight)))
    ours = ar.simulate(builder.build(), time, rule="rk4", step=time / 2000, frames=1, solver=solver).q[-1]
    theirs, step_error = extrapolated(peer, 400)
    assert np.abs(ours).max() > 0.01
    assert np.abs(ours - theirs).max() < 2e-2 * step_error < 1e-5
