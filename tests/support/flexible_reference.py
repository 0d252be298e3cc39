"""Kane's equations of trees of rigid and flexible bodies in extended precision, straight from sums over nodes.

Nothing is shared with the engine's inertia integrals and recursions. Everything is in the world frame. A body is known
by the motion of its frame: partial velocities J and accelerations at zero u', angular and linear. A node of a flexible
body, with r = R (X0 + Φη) from the origin of that frame, c = RΦη' and the speeds u holding η', has

    v = v_o + ω × r + c                     a = a_o + α × r + ω × (ω × r) + 2 ω × c + RΦη''

and its frame, which stands to the body's as the Euler parameters (1, p)/√(1 + p²) with p = ½Ψη say,

    w = 2/(1 + p²) (p' + p × p')            ω_n = ω + R w         α_n = α + ω × R w + R w'

with w' = 2/(1 + p²) (p'' + p × p'' − 2 p·p'/(1 + p²) (p' + p × p')). Children hang on these frames as they do on rigid
bodies (``reference.py``). The equations of motion are the sum over nodes of m Jᵀa, and over rigid bodies of the same
with their moments, against the generalised forces.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.model.modes import ModeShapes
from tests.support.random_models import (
    COORDINATES,
    SPEEDS,
    Description,
    quaternion_product,
    rotation_matrix,
)
from tests.support.reference import EXTENDED, cross, dense_solve, joint_pose


@dataclasses.dataclass
class Moving:
    """A frame, how it moves with the speeds, and its acceleration at zero u'."""

    rotation: np.ndarray
    position: np.ndarray
    turning: np.ndarray
    """Partial angular velocities, (3, nu)."""
    going: np.ndarray
    """Partial velocities of the origin, (3, nu)."""
    omega: np.ndarray
    v: np.ndarray
    alpha: np.ndarray
    a: np.ndarray

    def carried(self, r: np.ndarray, rotation: np.ndarray | None = None) -> Moving:
        """A frame fixed to this one at r from its origin, in world axes."""
        swept = cross(self.omega, r)
        return Moving(
            self.rotation if rotation is None else rotation,
            self.position + r,
            self.turning,
            self.going + cross(self.turning.T, r).T,
            self.omega,
            self.v + swept,
            self.alpha,
            self.a + cross(self.alpha, r) + cross(self.omega, swept),
        )

    def with_relative(self, columns: slice, W: np.ndarray, V: np.ndarray, u: np.ndarray) -> Moving:
        """A frame that moves to this one with angular velocity uW and velocity uV, these turning with this one."""
        turning, going = self.turning.copy(), self.going.copy()
        turning[:, columns] += W.T
        going[:, columns] += V.T
        w, v = u @ W, u @ V
        return dataclasses.replace(
            self,
            turning=turning,
            going=going,
            omega=self.omega + w,
            v=self.v + v,
            alpha=self.alpha + cross(self.omega, w),
            a=self.a + 2 * cross(self.omega, v),
        )


class FlexibleReference:
    """A description's dynamics, some of its bodies flexible.

    Parameters
    ----------
    description
        The bodies and their joints. What it says of a flexible body's mass is not used.
    shapes
        The modes of each body, None for a rigid one. Modal coordinates and speeds follow those of the body's joint.
    nodes
        The node of the parent on which each body's joint frame sits, None for the parent's own frame.
    """

    def __init__(
        self,
        description: Description,
        shapes: Sequence[ModeShapes | None],
        nodes: Sequence[int | None],
        dtype: Any = EXTENDED,
    ) -> None:
        self.description, self.nodes, self.dtype = description, tuple(nodes), dtype
        self.shapes = tuple(
            None if s is None else ModeShapes(*(a.astype(dtype) if isinstance(a, np.ndarray) else a for a in s))
            for s in shapes
        )
        self.modes = [0 if s is None else s.shapes.shape[2] for s in self.shapes]
        bodies = description.bodies
        self.q_starts = np.cumsum([0, *(COORDINATES[b.kind] + m for b, m in zip(bodies, self.modes, strict=True))])
        self.u_starts = np.cumsum([0, *(SPEEDS[b.kind] + m for b, m in zip(bodies, self.modes, strict=True))])
        self.nq, self.nu = int(self.q_starts[-1]), int(self.u_starts[-1])

    def modal_q(self, i: int) -> slice:
        """Where the modal coordinates of a body are."""
        return slice(int(self.q_starts[i + 1]) - self.modes[i], int(self.q_starts[i + 1]))

    def modal_u(self, i: int) -> slice:
        """Where the modal speeds of a body are."""
        return slice(int(self.u_starts[i + 1]) - self.modes[i], int(self.u_starts[i + 1]))

    def frames(self, q: np.ndarray, u: np.ndarray) -> list[Moving]:
        """The frame of every body: of handle 1 for a flexible one."""
        q, u = q.astype(self.dtype), u.astype(self.dtype)
        zero = np.zeros(3, self.dtype)
        still = np.zeros((3, self.nu), self.dtype)
        ground = Moving(np.eye(3, dtype=self.dtype), zero, still, still, zero, zero, zero, zero)
        found: list[Moving] = []
        for i, body in enumerate(self.description.bodies):
            node = self.nodes[i]
            if body.parent is None:
                base = ground
            elif node is None:
                base = found[body.parent]
            else:
                base = self._node(found[body.parent], body.parent, node, q, u)
            joint = base.rotation @ rotation_matrix(body.rotation.astype(self.dtype))
            origin = base.position + base.rotation @ body.position.astype(self.dtype)
            first = int(self.q_starts[i])
            x = q[first : first + COORDINATES[body.kind]]
            columns = slice(int(self.u_starts[i]), int(self.u_starts[i]) + SPEEDS[body.kind])
            rotation, position, W, V = joint_pose(body, joint, origin, x)
            frame = base.carried(position - base.position, rotation).with_relative(columns, W, V, u[columns])
            if body.kind == "universal":
                frame.alpha = frame.alpha + cross(*(u[columns, None] * W))
            found.append(frame)
        return found

    def node(self, i: int, node: int, q: np.ndarray, u: np.ndarray) -> Moving:
        """The frame of a node of a flexible body."""
        q, u = q.astype(self.dtype), u.astype(self.dtype)
        return self._node(self.frames(q, u)[i], i, node, q, u)

    def _node(self, frame: Moving, i: int, node: int, q: np.ndarray, u: np.ndarray) -> Moving:
        s = self.shapes[i]
        assert s is not None
        R, columns = frame.rotation, self.modal_u(i)
        eta, rate = q[self.modal_q(i)], u[columns]
        half = s.rotations[node] / 2
        p, dp = half @ eta, half @ rate
        scale = 2 / (1 + p @ p)
        partial = scale * (half + cross(p, half.T).T)
        turned = R @ rotation_matrix(np.concatenate([np.ones(1, self.dtype), p]))
        fixed = frame.carried(R @ (s.positions[node] + s.shapes[node] @ eta), turned)
        moved = fixed.with_relative(columns, (R @ partial).T, (R @ s.shapes[node]).T, rate)
        moved.alpha = moved.alpha - scale * (p @ dp) * (R @ (partial @ rate))
        return moved

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M = Σ m JᵀJ over nodes, and Σ m J_vᵀJ_v + J_ωᵀIJ_ω over rigid bodies."""
        M = np.zeros((self.nu, self.nu), self.dtype)
        for i, frame in enumerate(self.frames(q, np.zeros(self.nu))):
            for mass, point in self._points(i, frame, q, np.zeros(self.nu)):
                M += mass * point.going.T @ point.going
            if self.shapes[i] is None:
                M += frame.turning.T @ self._inertia(i, frame) @ frame.turning
        return M

    def bias(self, q: np.ndarray, u: np.ndarray, gravity: np.ndarray | None = None) -> np.ndarray:
        """The generalised forces that keep u' at zero: velocity-dependent, elastic and damping terms minus weights."""
        g = np.zeros(3, self.dtype) if gravity is None else gravity.astype(self.dtype)
        tau = np.zeros(self.nu, self.dtype)
        for i, frame in enumerate(self.frames(q, u)):
            for mass, point in self._points(i, frame, q, u):
                tau += mass * point.going.T @ (point.a - g)
            s = self.shapes[i]
            if s is None:
                inertia = self._inertia(i, frame)
                moment = inertia @ frame.alpha + cross(frame.omega, inertia @ frame.omega)
                tau += frame.turning.T @ moment
            else:
                tau[self.modal_u(i)] += s.stiffness @ q[self.modal_q(i)].astype(self.dtype)
                tau[self.modal_u(i)] += s.damping @ u[self.modal_u(i)].astype(self.dtype)
        return tau

    def load(self, frame: Moving, force: np.ndarray, moment: np.ndarray) -> np.ndarray:
        """Generalised forces of a force and a moment at the origin of a frame, world axes."""
        return frame.going.T @ force.astype(self.dtype) + frame.turning.T @ moment.astype(self.dtype)

    def forward_dynamics(
        self, q: np.ndarray, u: np.ndarray, tau: np.ndarray, gravity: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """u' under the generalised forces, and the condition number of M."""
        return dense_solve(self.mass_matrix(q), tau.astype(self.dtype) - self.bias(q, u, gravity))

    def kinetic_energy(self, q: np.ndarray, u: np.ndarray) -> Any:
        """½ Σ m v² over nodes, and ½ Σ m v² + ω·Iω over rigid bodies."""
        total = self.dtype(0)
        for i, frame in enumerate(self.frames(q, u)):
            total += sum(mass * (point.v @ point.v) for mass, point in self._points(i, frame, q, u)) / 2
            if self.shapes[i] is None:
                total += frame.omega @ self._inertia(i, frame) @ frame.omega / 2
        return total

    def elastic_energy(self, q: np.ndarray) -> Any:
        """½ Σ ηᵀKη."""
        etas = [(s, q[self.modal_q(i)].astype(self.dtype)) for i, s in enumerate(self.shapes) if s is not None]
        return sum((eta @ s.stiffness @ eta for s, eta in etas), self.dtype(0)) / 2

    def momenta(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Linear momentum, and angular momentum about the world's origin."""
        linear, angular = np.zeros(3, self.dtype), np.zeros(3, self.dtype)
        for i, frame in enumerate(self.frames(q, u)):
            for mass, point in self._points(i, frame, q, u):
                linear += mass * point.v
                angular += mass * cross(point.position, point.v)
            if self.shapes[i] is None:
                angular += self._inertia(i, frame) @ frame.omega
        return linear, angular

    def after(self, q: np.ndarray, u: np.ndarray, time: float) -> np.ndarray:
        """q + time q', Euler parameters normalised."""
        q, u = q.astype(self.dtype).copy(), u.astype(self.dtype)
        time = self.dtype(time)
        for i, body in enumerate(self.description.bodies):
            at, of = int(self.q_starts[i]), int(self.u_starts[i])
            if body.kind == "free":
                q[at : at + 3] += time * u[of : of + 3]
                at, of = at + 3, of + 3
            if body.kind in ("spherical", "free"):
                e = q[at : at + 4]
                e = e + time / 2 * quaternion_product(e, np.concatenate([np.zeros(1, self.dtype), u[of : of + 3]]))
                q[at : at + 4] = e / np.sqrt(e @ e)
            elif SPEEDS[body.kind]:
                count = SPEEDS[body.kind]
                q[at : at + count] += time * u[of : of + count]
            q[self.modal_q(i)] += time * u[self.modal_u(i)]
        return q

    def _inertia(self, i: int, frame: Moving) -> np.ndarray:
        """Of a rigid body about its centre of mass, world axes."""
        return frame.rotation @ self.description.bodies[i].inertia.astype(self.dtype) @ frame.rotation.T

    def _points(self, i: int, frame: Moving, q: np.ndarray, u: np.ndarray) -> list[tuple[Any, Moving]]:
        """Masses and where they are: a rigid body's centre of mass, or the nodes."""
        s = self.shapes[i]
        if s is None:
            body = self.description.bodies[i]
            return [(self.dtype(body.mass), frame.carried(frame.rotation @ body.com.astype(self.dtype)))]
        columns = self.modal_u(i)
        eta, rate = q[self.modal_q(i)].astype(self.dtype), u[columns].astype(self.dtype)
        none = np.zeros((rate.size, 3), self.dtype)
        return [
            (
                s.masses[k],
                frame.carried(frame.rotation @ (s.positions[k] + s.shapes[k] @ eta)).with_relative(
                    columns, none, (frame.rotation @ s.shapes[k]).T, rate
                ),
            )
            for k in range(s.masses.size)
        ]
