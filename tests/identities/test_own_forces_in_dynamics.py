"""Forward and inverse dynamics with the forces of the model itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

import articulon as ar

MASS, LENGTH, FALL, DAMPING, STIFFNESS = 2.0, 0.7, 9.81, 0.4, 3.0
Y = (0.0, 1.0, 0.0)


def pendulum(*extra: object) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("bob", mass=MASS, inertia=(0.1, 0.1, 0.1), com=(0, 0, -LENGTH), joint=ar.Revolute(axis=Y))
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -FALL)))
    builder.add_force(ar.forces.JointDamping(rotational=DAMPING))
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"bob": STIFFNESS}))
    for force in extra:
        builder.add_force(force)
    return builder.build()


def acceleration(angle: float, speed: float, torque: float = 0.0) -> float:
    moment = -MASS * FALL * LENGTH * math.sin(angle) - DAMPING * speed - STIFFNESS * angle + torque
    return moment / (0.1 + MASS * LENGTH**2)


@pytest.mark.parametrize("solver", ["articulated", "kane", "divide-and-conquer"])
def test_the_models_own_forces_act_if_they_are_asked_for_and_not_otherwise(solver: str) -> None:
    model = pendulum()
    q, u = np.array([0.6]), np.array([1.3])
    assert ar.forward_dynamics(model, q, u, solver=solver)[0] == pytest.approx(0.0, abs=1e-14)
    found = ar.forward_dynamics(model, q, u, solver=solver, forces=True)[0]
    assert found == pytest.approx(acceleration(0.6, 1.3), rel=1e-13)
    more = ar.forward_dynamics(model, q, u, tau=[0.5], solver=solver, forces=True)[0]
    assert more == pytest.approx(acceleration(0.6, 1.3, 0.5), rel=1e-13)


def test_inverse_dynamics_undoes_it() -> None:
    model = pendulum()
    q, u = np.array([0.6]), np.array([1.3])
    udot = ar.forward_dynamics(model, q, u, tau=[0.5], forces=True)
    assert ar.inverse_dynamics(model, q, u, udot, forces=True)[0] == pytest.approx(0.5, rel=1e-12)


def test_forces_are_those_of_the_time_that_is_given() -> None:
    table = {"times": [0.0, 1.0, 2.0], "values": [0.0, 4.0, 8.0], "interpolation": "linear"}
    model = pendulum(ar.forces.JointActuation(body="bob", **table))
    q, u = np.array([0.6]), np.array([1.3])
    for time, torque in ((0.0, 0.0), (1.0, 4.0), (0.5, 2.0)):
        found = ar.forward_dynamics(model, q, u, time=time, forces=True)[0]
        assert found == pytest.approx(acceleration(0.6, 1.3, torque), rel=1e-9)
        alone = ar.generalized_forces(model, q, u, time=time)[0] - ar.generalized_forces(model, q, u)[0]
        assert alone == pytest.approx(torque, abs=1e-9)


def test_loops_are_kept() -> None:
    """Two rods that share the weight: the accelerations are those with which a simulation begins."""
    builder = ar.ModelBuilder(units="kg-m-s")
    rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.01), "com": (0.0, 0.0, -0.5), "joint": ar.Revolute(axis=Y)}
    builder.add_body("left", **rod, q=0.4)
    builder.add_body("right", **rod, position=(1.0, 0.0, 0.0), q=0.4)
    bar = {"mass": 1.0, "inertia": 0.1, "com": (0.5, 0.0, 0.0), "joint": ar.Revolute(axis=Y)}
    builder.add_body("bar", parent="left", **bar, position=(0.0, 0.0, -1.0), q=-0.4)
    at = {"position": (1.0, 0.0, 0.0), "child_position": (0.0, 0.0, -1.0)}
    builder.add_loop("corner", joint=ar.Revolute(axis=Y), parent="bar", child="right", **at)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -FALL)))
    model = builder.build()
    udot = ar.forward_dynamics(model, model.q0, model.u0, forces=True)
    run = ar.simulate(model, 1e-4, frames=1, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(udot, run.u[-1] / 1e-4, rtol=1e-6)
    assert abs(udot[0]) > 1.0


def test_contacts_are_refused_and_so_is_what_is_no_choice() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_grain("grain", kind="glass", radius=0.1, density=2500.0, position=(0, 0, 0))
    glass = {"young": 1e7, "poisson": 0.3, "static_friction": 0.3, "restitution": 0.8}
    builder.add_force(ar.forces.Contact(materials={"glass": glass}))
    model = builder.build()
    with pytest.raises(ar.ModelError, match="forward_dynamics: forces: contact forces depend on their history"):
        ar.forward_dynamics(model, model.q0, model.u0, forces=True)
    with pytest.raises(ar.ModelError, match="forces: expected true or false"):
        ar.forward_dynamics(model, model.q0, model.u0, forces="yes")


def test_a_function_that_fails_once_may_act_again() -> None:
    calls = []

    def torque(time, positions, rotations, velocities, parameters, wrenches):
        calls.append(time)
        if len(calls) == 1:
            raise ValueError("not yet")
        wrenches[0, 4] += 2.0

    model = pendulum(ar.forces.UserForce(function=torque))
    q, u = np.array([0.6]), np.array([1.3])
    with pytest.raises(Exception, match="not yet"):
        ar.forward_dynamics(model, q, u, forces=True)
    assert ar.forward_dynamics(model, q, u, forces=True)[0] == pytest.approx(acceleration(0.6, 1.3, 2.0), rel=1e-12)
