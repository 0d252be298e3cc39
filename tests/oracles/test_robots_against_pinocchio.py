"""Robots in URDF files against Pinocchio, which reads them by ``urdfdom``: arms, quadrupeds, humanoids and a hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import articulon as ar
from articulon.model.array_rotations import matrices
from tests.support.robot_files import URDF, packaged

ROBOTS = {
    "panda_description/urdf/panda.urdf": "fixed",
    "ur_description/urdf/ur10_robot.urdf": "fixed",
    "kinova_description/robots/kinova.urdf": "fixed",
    "xarm_description/urdf/xarm7.urdf": "fixed",
    "allegro_hand_description/urdf/allegro_right_hand.urdf": "fixed",
    "solo_description/robots/solo12.urdf": "free",
    "anymal_b_simple_description/robots/anymal.urdf": "free",
    "hyq_description/robots/hyq_no_sensors.urdf": "free",
    "go2_description/urdf/go2.urdf": "free",
    "talos_data/robots/talos_reduced_corrected.urdf": "free",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf": "free",
    "tiago_pro_description/robots/tiago_pro.urdf": "free",
}
STATES = 100
DOWN = np.array([0.0, 0.0, -9.81])


class Pinocchio:
    """Pinocchio's model of a file, asked in the order and in the conventions of the engine's.

    A free root's velocity ν is in the body frame there, and in the frame of the joint here, v = R ν, so that
    v' = R (ν' + ω × ν) and the force f = R φ.
    """

    def __init__(self, path: str, model: ar.Model, root: str) -> None:
        self.free = root == "free"
        self.pin = pin.buildModelFromUrdf(path, *([pin.JointModelFreeFlyer()] if self.free else []))
        self.pin.gravity = pin.Motion(DOWN, np.zeros(3))
        self.data = self.pin.createData()
        self.model = model
        first = 6 if self.free else 0
        named = [model.joint_names[body] for body in model.head.tolist()][1 if self.free else 0 :]
        joints = [self.pin.joints[self.pin.getJointId(name)] for name in named]
        assert model.nu == self.pin.nv and len(joints) == model.nu - first
        self.of_speed = np.array([*range(first), *(joint.idx_v for joint in joints)])
        self.of_angle = [(joint.idx_q, joint.nq) for joint in joints]

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Coordinates as Pinocchio has them: scalar-last, and joints without limits by cosine and sine."""
        found = pin.neutral(self.pin)
        if self.free:
            found[:7] = [*q[:3], *np.roll(q[3:7], -1)]
        for angle, (at, count) in zip(q[7 if self.free else 0 :], self.of_angle, strict=True):
            found[at : at + count] = [angle] if count == 1 else [np.cos(angle), np.sin(angle)]
        return found

    def accelerations(self, q: np.ndarray, u: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """u' under gravity, joint forces and the damping of the file."""
        speeds, forces = np.zeros(self.model.nu), np.zeros(self.model.nu)
        speeds[self.of_speed], forces[self.of_speed] = u, tau
        R = matrices(q[3:7]) if self.free else np.eye(3)
        if self.free:
            speeds[:3], forces[:3] = R.T @ u[:3], R.T @ tau[:3]
        forces -= self.pin.damping * speeds
        udot = pin.aba(self.pin, self.data, self.configuration(q), speeds, forces)
        found = np.array(udot[self.of_speed])
        if self.free:
            found[:3] = R @ (udot[:3] + np.cross(speeds[3:6], speeds[:3]))
        return found


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_dynamics_are_those_of_pinocchio(name: str) -> None:
    path = str(packaged(URDF, name))
    model = ar.read_urdf(path, root=ROBOTS[name], meshes=False)
    # Dry friction, which Pinocchio leaves to others, and stops, which act in an instant.
    known = tuple(force for force in model.forces if force.kind == "joint-damping")
    theirs = Pinocchio(path, model, ROBOTS[name])
    rng = np.random.default_rng(12)
    damped = replace(model, forces=known)
    for _ in range(STATES):
        q = rng.uniform(-3.0, 3.0, model.nq)
        if ROBOTS[name] == "free":
            q[3:7] /= np.linalg.norm(q[3:7])
        u, tau = rng.normal(size=(2, model.nu))
        found = ar.forward_dynamics(model, q, u, tau=tau + ar.generalized_forces(damped, q, u), gravity=DOWN)
        expected = theirs.accelerations(q, u, tau)
        assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


def test_stops_are_those_that_pinocchio_reads() -> None:
    path = str(packaged(URDF, "panda_description/urdf/panda.urdf"))
    model = ar.read_urdf(path, meshes=False)
    theirs = pin.buildModelFromUrdf(path)
    (stops,) = [force for force in model.forces if force.kind == "joint-limits"]
    bodies = [model.names[body] for body in model.head.tolist()]
    assert [stops.lower[body] for body in bodies] == pytest.approx(theirs.lowerPositionLimit.tolist())
    assert [stops.upper[body] for body in bodies] == pytest.approx(theirs.upperPositionLimit.tolist())


def test_poses_are_those_of_pinocchio() -> None:
    path = str(packaged(URDF, "ur_description/urdf/ur10_robot.urdf"))
    model = ar.read_urdf(path, meshes=False)
    theirs = Pinocchio(path, model, "fixed")
    q = np.random.default_rng(3).uniform(-3.0, 3.0, model.nq)
    positions, rotations = ar.body_poses(model, q)
    pin.framesForwardKinematics(theirs.pin, theirs.data, theirs.configuration(q))
    for body, name in enumerate(model.names):
        place = theirs.data.oMf[theirs.pin.getFrameId(name, pin.FrameType.BODY)]
        assert positions[body] == pytest.approx(place.translation, abs=1e-12)
        assert matrices(rotations[body]) == pytest.approx(place.rotation, abs=1e-12)
