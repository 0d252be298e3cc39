"""A description as a Pinocchio model, with the maps between the two engines' conventions.

They differ in three ways. Pinocchio's quaternions are scalar-last. Its free-flyer's linear velocity ν is in the body
frame, the engine's v in the joint frame: with R from body to joint frame, v = R ν, hence v' = R (ν' + ω × ν), and by
virtual power the conjugate force f = R φ. And its joints are numbered depth first, because its composite-body algorithm
takes the descendants of a joint to be contiguous.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from tests.support.random_models import COORDINATES, SPEEDS, Description, Situation, rotation_matrix


class PinocchioModel:
    """The dynamics functions of the engine's public face, computed by Pinocchio."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.model = pin.Model()
        self.model.gravity = pin.Motion.Zero()
        n = len(description)
        children: list[list[int]] = [[] for _ in range(n)]
        stack = []
        for i, body in enumerate(description.bodies):
            (stack if body.parent is None else children[body.parent]).append(i)
        self.joint = np.zeros(n, dtype=int)
        """The Pinocchio joint that carries each body."""
        self.offset: list[Any] = [pin.SE3.Identity()] * n
        """Each body's frame in its joint's moving frame: not the identity for welded bodies only."""
        while stack:
            i = stack.pop()
            self._add(i)
            stack.extend(children[i])
        self.data = self.model.createData()
        self.q_index, self.u_index = self._indices()

    def _add(self, i: int) -> None:
        body = self.description.bodies[i]
        placement = pin.SE3(rotation_matrix(body.rotation), body.position)
        parent_joint = 0
        if body.parent is not None:
            parent_joint = int(self.joint[body.parent])
            placement = self.offset[body.parent] * placement
        if body.kind == "weld":
            self.joint[i], self.offset[i] = parent_joint, placement
        else:
            moving = {
                "revolute": lambda: pin.JointModelRevoluteUnaligned(body.axis),
                "prismatic": lambda: pin.JointModelPrismaticUnaligned(body.axis),
                "universal": lambda: pin.JointModelUniversal(*np.eye(3)[:2]),
                "spherical": pin.JointModelSpherical,
                "xyz": pin.JointModelTranslation,
                "free": pin.JointModelFreeFlyer,
            }[body.kind]()
            self.joint[i] = self.model.addJoint(parent_joint, moving, placement, body.name)
        inertia = pin.Inertia(body.mass, body.com, body.inertia)
        self.model.appendBodyToJoint(int(self.joint[i]), inertia, self.offset[i])

    def _indices(self) -> tuple[np.ndarray, np.ndarray]:
        """Where in Pinocchio's q and v each of the engine's coordinates and speeds is found."""
        q_index: list[int] = []
        u_index: list[int] = []
        for i, body in enumerate(self.description.bodies):
            if body.kind == "weld":
                continue
            start = self.model.joints[int(self.joint[i])].idx_q
            order = {"spherical": [3, 0, 1, 2], "free": [0, 1, 2, 6, 3, 4, 5]}.get(
                body.kind, list(range(COORDINATES[body.kind]))
            )
            q_index += [start + k for k in order]
            start = self.model.joints[int(self.joint[i])].idx_v
            u_index += [start + k for k in range(SPEEDS[body.kind])]
        return np.array(q_index, dtype=int), np.array(u_index, dtype=int)

    def coordinates(self, q: np.ndarray) -> np.ndarray:
        result = np.empty(self.model.nq)
        result[self.q_index] = q
        return result

    def _free_joints(self, q: np.ndarray) -> list[tuple[slice, slice, np.ndarray]]:
        """Of each free joint: where its velocity and its angular velocity stand in u, and its R."""
        found = []
        for i, body in enumerate(self.description.bodies):
            if body.kind == "free":
                k, c = self.description.u_starts[i], self.description.q_starts[i]
                found.append((slice(k, k + 3), slice(k + 3, k + 6), rotation_matrix(q[c + 3 : c + 7])))
        return found

    def _to_pin(self, x: np.ndarray) -> np.ndarray:
        result = np.empty(self.model.nv)
        result[self.u_index] = x
        return result

    def speeds(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        local = u.copy()
        for linear, _, r in self._free_joints(q):
            local[linear] = r.T @ u[linear]
        return self._to_pin(local)

    def accelerations(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> np.ndarray:
        local = udot.copy()
        for linear, angular, r in self._free_joints(q):
            local[linear] = r.T @ udot[linear] - np.cross(u[angular], r.T @ u[linear])
        return self._to_pin(local)

    def accelerations_back(self, q: np.ndarray, u: np.ndarray, vdot: np.ndarray) -> np.ndarray:
        udot = vdot[self.u_index]
        for linear, angular, r in self._free_joints(q):
            udot[linear] = r @ (udot[linear] + np.cross(u[angular], r.T @ u[linear]))
        return udot

    def forces(self, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return self.speeds(q, tau)  # R is orthogonal: forces map as speeds do

    def forces_back(self, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        result = tau[self.u_index]
        for linear, _, r in self._free_joints(q):
            result[linear] = r @ result[linear]
        return result

    def joint_wrenches(self, q: np.ndarray, wrenches: np.ndarray) -> Any:
        """World-frame wrenches at the bodies' origins, summed on each joint in its local frame."""
        pin.forwardKinematics(self.model, self.data, self.coordinates(q))
        total = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for i, wrench in enumerate(wrenches):
            pose = self.data.oMi[int(self.joint[i])] * self.offset[i]
            local = pin.Force(pose.rotation.T @ wrench[:3], pose.rotation.T @ wrench[3:])
            total[int(self.joint[i])] += self.offset[i].act(local)
        return pin.StdVec_Force(total) if hasattr(pin, "StdVec_Force") else total

    def body_poses(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (n, 3) and rotation matrices (n, 3, 3), world frame."""
        pin.forwardKinematics(self.model, self.data, self.coordinates(q))
        poses = [self.data.oMi[int(j)] * offset for j, offset in zip(self.joint, self.offset, strict=True)]
        return np.array([p.translation for p in poses]), np.array([p.rotation for p in poses])

    def forward_dynamics(self, s: Situation) -> np.ndarray:
        self.model.gravity = pin.Motion(s.gravity, np.zeros(3))
        external = self.joint_wrenches(s.q, s.wrenches)
        vdot = pin.aba(
            self.model, self.data, self.coordinates(s.q), self.speeds(s.q, s.u), self.forces(s.q, s.tau), external
        )
        return self.accelerations_back(s.q, s.u, vdot.copy())

    def inverse_dynamics(self, s: Situation, udot: np.ndarray) -> np.ndarray:
        self.model.gravity = pin.Motion(s.gravity, np.zeros(3))
        external = self.joint_wrenches(s.q, s.wrenches)
        vdot = self.accelerations(s.q, s.u, udot)
        tau = pin.rnea(self.model, self.data, self.coordinates(s.q), self.speeds(s.q, s.u), vdot, external)
        return self.forces_back(s.q, tau.copy())

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(self.model, self.data, self.coordinates(q)))
        full = upper + np.triu(upper, 1).T
        m = full[np.ix_(self.u_index, self.u_index)]
        turn = np.eye(self.description.nu)
        for linear, _, r in self._free_joints(q):
            turn[linear, linear] = r
        return turn @ m @ turn.T

    def kinetic_energy(self, q: np.ndarray, u: np.ndarray) -> float:
        return float(pin.computeKineticEnergy(self.model, self.data, self.coordinates(q), self.speeds(q, u)))

    def acceleration_derivatives(self, s: Situation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """∂u'/∂q in the engine's tangent space, ∂u'/∂u and ∂u'/∂τ, of a situation without wrenches.

        Where a free joint turns by θ while the engine's speeds stand still, ν = Rᵀ v changes by −θ × ν, and so does
        φ; and u' = R (ν' + ω × ν) turns along.
        """
        self.model.gravity = pin.Motion(s.gravity, np.zeros(3))
        q, v, tau = self.coordinates(s.q), self.speeds(s.q, s.u), self.forces(s.q, s.tau)
        pin.computeABADerivatives(self.model, self.data, q, v, tau)
        n = self.description.nu
        inverse = np.triu(self.data.Minv) + np.triu(self.data.Minv, 1).T
        order = np.ix_(self.u_index, self.u_index)
        by_q, by_v, by_tau = self.data.ddq_dq[order], self.data.ddq_dv[order], inverse[order]
        rates, local, force = self.data.ddq[self.u_index].copy(), v[self.u_index], tau[self.u_index]
        turn, speed, load = np.eye(n), np.zeros((n, n)), np.zeros((n, n))
        free = self._free_joints(s.q)
        for linear, angular, r in free:
            turn[linear, linear] = r
            speed[linear, angular], load[linear, angular] = skew(local[linear]), skew(force[linear])
        # Of ν', by the engine's displacements (turn.T: R δx local), speeds and forces.
        q_found = by_q @ turn.T + by_v @ speed + by_tau @ load
        u_found, tau_found = by_v @ turn.T, by_tau @ turn.T
        v_of_q, v_of_u = speed, turn.T
        for linear, angular, r in free:
            whole = rates[linear] + np.cross(local[angular], local[linear])
            for found, moved in ((q_found, v_of_q), (u_found, v_of_u)):
                found[linear] += skew(local[angular]) @ moved[linear] - skew(local[linear]) @ moved[angular]
            q_found[linear, angular] -= skew(whole)
            for found in (q_found, u_found, tau_found):
                found[linear] = r @ found[linear]
        return q_found, u_found, tau_found


def skew(v: np.ndarray) -> np.ndarray:
    """[v×]."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
