"""Relative and Cartesian coordinates are two descriptions of one motion (POEMS, 8); driven joints."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import articulon as ar

JOINTS = {
    "revolute": (ar.Revolute(axis=(1, 2, 2)), [0.4], [0.7]),
    "prismatic": (ar.Prismatic(axis=(2, 1, -2)), [0.2], [-0.5]),
    "spherical": (ar.Spherical(), [0.8, 0.6, 0.0, 0.0], [0.3, -0.4, 0.5]),
    "xyz": (ar.Xyz(), [0.1, -0.2, 0.3], [0.2, 0.1, -0.4]),
    "free": (ar.Free(), [0.1, 0.2, 0.3, 0.6, 0.0, 0.8, 0.0], [0.1, 0.2, 0.3, -0.2, 0.4, 0.1]),
    "universal": (ar.Universal(), [0.4, -0.3], [0.6, 0.5]),
}


def tree(kind: str) -> ar.Model:
    """A weld and a joint of each kind between bodies that are neither symmetric nor centred."""
    builder = ar.ModelBuilder(units="kg-m-s")
    joint, q, u = JOINTS[kind]
    body = {"inertia": (0.2, 0.3, 0.25), "com": (0.1, 0.2, -0.1)}
    turned = (0.5, 0.5, -0.5, 0.5)
    base = builder.add_body("base", mass=2.0, joint=ar.Revolute(axis=(0, 0, 1)), q=0.3, u=1.1, **body)
    plate = builder.add_body(
        "plate", parent=base, mass=0.5, joint=ar.Weld(), position=(0.3, 0.1, 0.2), rotation=turned, **body
    )
    arm = builder.add_body(
        "arm", parent=plate, mass=1.0, joint=joint, position=(0.4, 0.0, 0.1), rotation=turned, q=q, u=u, **body
    )
    builder.add_body("hand", parent=arm, mass=0.7, joint=ar.Spherical(), position=(0.0, 0.5, 0.1), **body)
    builder.add_force(ar.forces.Gravity(acceleration=(1.0, -2.0, -9.81)))
    return builder.build()


@pytest.mark.parametrize("kind", JOINTS)
def test_a_tree_moves_alike_in_relative_and_in_cartesian_coordinates(kind):
    model = tree(kind)
    free = ar.cartesian(model)
    assert free.degrees_of_freedom == model.nu
    poses, same = ar.body_poses(model, model.q0), ar.body_poses(free, free.q0)
    assert np.abs(poses[0] - same[0]).max() < 1e-14
    assert ar.kinetic_energy(free, free.q0, free.u0) == pytest.approx(
        ar.kinetic_energy(model, model.q0, model.u0), rel=1e-13
    )
    options = {"rule": "kutta-merson", "frames": 2}
    coarse = ar.simulate(model, 1.0, rtol=1e-8, atol=1e-8, **options)
    fine = ar.simulate(model, 1.0, rtol=1e-10, atol=1e-10, **options)
    other = ar.simulate(model, 1.0, rtol=1e-10, atol=1e-10, coordinates="cartesian", **options)
    end = ar.body_poses(model, fine.q[-1])[0]
    # The relative run's own error, seen at a hundred times the tolerance, bounds what the two may differ by.
    error = np.abs(ar.body_poses(model, coarse.q[-1])[0] - end).max()
    assert np.abs(ar.body_poses(other.model, other.q[-1])[0] - end).max() < error
    assert np.abs(ar.loop_residuals(other.model, other.q[-1])).max() < 1e-13


def test_cartesian_coordinates_have_no_joints_for_springs_and_drives():
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1.0, inertia=0.1, joint=ar.Revolute())
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"rod": 1.0}))
    with pytest.raises(ar.ModelError, match=r"forces\[0\] \(torsional-springs\) acts on joints"):
        ar.cartesian(builder.build())
    builder.add_drive("rod", times=(0, 1, 2, 3), values=(0, 1, 2, 3))
    with pytest.raises(ar.ModelError, match="drive 'drive of rod': in Cartesian coordinates a joint has no coordinate"):
        ar.cartesian(builder.build())


@numba.njit
def swing(time, result):
    result[0] = 0.3 * np.sin(2.0 * time)
    result[1] = 0.6 * np.cos(2.0 * time)
    result[2] = -1.2 * np.sin(2.0 * time)


def driven(weight: float = 9.81, **motion) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("crank", mass=1.0, inertia=0.1, com=(0.5, 0, 0), joint=ar.Revolute(axis=(0, 0, 1)))
    builder.add_body(
        "rod",
        parent="crank",
        mass=2.0,
        inertia=0.2,
        com=(0.4, 0, 0),
        joint=ar.Revolute(axis=(0, 0, 1)),
        position=(1, 0, 0),
    )
    builder.add_drive("crank", **motion)
    if weight:
        builder.add_force(ar.forces.Gravity(acceleration=(0, -weight, 0)))
    return builder.build()


@pytest.mark.parametrize("solver", ["articulated", "kane", "divide-and-conquer"])
def test_a_driven_joint_follows_its_motion_and_its_work_is_booked(solver):
    model = driven(function=swing)
    assert model.degrees_of_freedom == 1
    run = ar.simulate(model, 2.0, rule="kutta-merson", rtol=1e-10, atol=1e-10, frames=20, solver=solver)
    # Held by projection, to rounding.
    assert np.abs(run.q[:, 0] - 0.3 * np.sin(2.0 * run.times)).max() < 1e-14
    assert np.abs(run.u[:, 0] - 0.6 * np.cos(2.0 * run.times)).max() < 1e-14
    gained = run.kinetic_energy - run.kinetic_energy[0]
    # The works, those of the drive among them, carry the tolerance of the steps; T is about 5 J.
    assert np.abs(gained - run.works.sum(axis=1)).max() < 1e-8
    by_gravity = run.potential_energy[0] - run.potential_energy
    assert np.abs(run.works.sum(axis=1) - by_gravity).max() > 0.1  # the drive does work


def test_the_work_of_a_drive_is_shown_where_nothing_else_is_external():
    run = ar.simulate(driven(weight=0.0, function=swing), 1.0, rtol=1e-9, atol=1e-9, frames=10)
    gained = run.kinetic_energy - run.kinetic_energy[0]
    assert np.abs(gained).max() > 0.1
    assert np.abs(run.observables["work_external"] - gained).max() < 1e-7


def test_the_torque_of_a_drive_is_that_of_inverse_dynamics():
    model = driven(function=swing)
    q, u, gravity = np.array([0.0, 0.4]), np.array([0.6, -0.3]), np.array([0.0, -9.81, 0.0])
    udot = ar.forward_dynamics(model, q, u, gravity=gravity)
    assert udot[0] == pytest.approx(0.0, abs=1e-14)  # −1.2 sin 0
    tau = ar.inverse_dynamics(model, q, u, udot, gravity=gravity)
    assert tau[1] == pytest.approx(0.0, abs=1e-13)  # only the driven joint has a torque


def test_a_table_is_followed_by_its_spline():
    times = np.linspace(0.0, 2.0, 201)
    run = ar.simulate(
        driven(times=times, values=0.3 * np.sin(2.0 * times)), 2.0, rule="kutta-merson", rtol=1e-9, atol=1e-9, frames=10
    )
    # A cubic spline on intervals h is off by 5/384 h⁴ f⁗ inside, and by a few times that at its ends.
    assert np.abs(run.q[:, 0] - 0.3 * np.sin(2.0 * run.times)).max() < 5 / 384 * 0.01**4 * 0.3 * 2**4 * 5


def test_a_run_beyond_the_table_is_refused():
    with pytest.raises(
        ar.ModelError, match="'drive of crank', times: the table goes from 0 to 3, and the run from 0 to 4"
    ):
        ar.simulate(driven(times=(0, 1, 2, 3), values=(0, 1, 2, 3)), 4.0, rule="kutta-merson")


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        ({"times": (0, 1, 2), "values": (0, 1, 2)}, "expected at least 4 increasing times"),
        ({"times": (0, 2, 1, 3), "values": (0, 1, 2, 3)}, "expected at least 4 increasing times"),
        ({}, "give either times and values, or a function"),
        ({"function": swing, "times": (0, 1), "values": (0, 1)}, "give either times and values, or a function"),
        ({"function": swing, "component": 1}, "has 1 coordinates that can be driven, got the component 1"),
    ],
)
def test_a_motion_that_is_none_is_refused_by_name(motion, message):
    with pytest.raises(ar.ModelError, match=f"drive 'drive of crank'.*{message}"):
        driven(**motion)
