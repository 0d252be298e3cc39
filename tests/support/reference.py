"""Newton and Euler's equations in extended precision, written down as plainly as possible, as an oracle.

Everything is expressed in the world frame, at each body's own origin and centre of mass. With W and V the partial
angular velocities and partial velocities of a joint (columns, world frame), r the vector from the parent's origin to
the body's, and subscript p for the parent:

    ω = ω_p + W u                                 v = v_p + ω_p × r + V u
    α = α_p + ω_p × W u + W u'                    a = a_p + α_p × r + ω_p × (ω_p × r) + 2 ω_p × V u + V u'

because W and V turn with the parent, or (for the body-fixed axes of spherical and free joints) W u turns with the body
and ω × W u = ω_p × W u. The second axis y of a universal joint is carried by the turn a' about the first, x, which adds
x a' × y b' to α. The equations of motion are Kane's: the sum over bodies of partial velocities times (applied −
inertia) force is zero. No quantity is shared with the engine's recursive algorithm.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.linalg

from tests.support.random_models import Body, Description, rotation_matrix

EXTENDED = np.longdouble


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product over the last axis (numpy's own is slow on three-vectors)."""
    result = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype=np.result_type(a, b))
    result[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    result[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    result[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return result


def norm(a: np.ndarray) -> float:
    """Euclidean norm, accumulated in the array's own precision."""
    return float(np.sqrt(np.sum(a * a)))


def joint_pose(
    body: Body, joint: np.ndarray, origin: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rotation and origin of a body from those of its joint frame and its coordinates, and W and V, in the world."""
    dtype = x.dtype
    none, zeros = np.empty((0, 3), dtype), np.zeros((3, 3), dtype)
    axis = body.axis.astype(dtype)
    axis = axis / np.sqrt(axis @ axis)
    rotation, position = joint, origin
    if body.kind == "weld":
        w, v = none, none
    elif body.kind == "revolute":
        turn = np.concatenate([np.cos(x / 2), np.sin(x / 2) * axis])
        rotation = joint @ rotation_matrix(turn)
        w, v = (joint @ axis)[None], zeros[:1]
    elif body.kind == "prismatic":
        position = origin + joint @ (axis * x[0])
        w, v = zeros[:1], (joint @ axis)[None]
    elif body.kind == "universal":
        unit = np.eye(3, dtype=dtype)
        cos, sin = np.cos(x / 2), np.sin(x / 2)
        first = joint @ rotation_matrix(np.concatenate([cos[:1], sin[0] * unit[0]]))
        rotation = first @ rotation_matrix(np.concatenate([cos[1:], sin[1] * unit[1]]))
        w, v = np.stack([joint[:, 0], first[:, 1]]), zeros[:2]
    elif body.kind == "spherical":
        rotation = joint @ rotation_matrix(x)
        w, v = rotation.T, zeros
    elif body.kind == "xyz":
        position = origin + joint @ x
        w, v = zeros, joint.T
    else:
        position = origin + joint @ x[:3]
        rotation = joint @ rotation_matrix(x[3:])
        w, v = np.vstack([zeros, rotation.T]), np.vstack([joint.T, zeros])
    return rotation, position, w, v


@dataclasses.dataclass
class Placement:
    """Poses and joint axes at one q: all in the world frame."""

    rotation: np.ndarray
    position: np.ndarray
    com: np.ndarray
    inertia: np.ndarray
    angular: list[np.ndarray]
    """W of each body's joint, (speeds, 3)."""
    linear: list[np.ndarray]
    """V of each body's joint, (speeds, 3)."""


@dataclasses.dataclass
class Motion:
    """Velocities and accelerations of the bodies' origins, world frame, each (n, 3)."""

    omega: np.ndarray
    v: np.ndarray
    alpha: np.ndarray
    a: np.ndarray


class Reference:
    """A description's dynamics in the given precision."""

    def __init__(self, description: Description, dtype: Any = EXTENDED) -> None:
        self.description = description
        self.dtype = dtype
        self.parents = [body.parent for body in description.bodies]
        self.masses = np.array([body.mass for body in description.bodies], dtype=dtype)
        self.u_starts = description.u_starts
        self.q_starts = description.q_starts

    def placement(self, q: np.ndarray) -> Placement:
        bodies, dtype = self.description.bodies, self.dtype
        n = len(bodies)
        q = q.astype(dtype)
        rotation, position = np.empty((n, 3, 3), dtype), np.empty((n, 3), dtype)
        com, inertia = np.empty((n, 3), dtype), np.empty((n, 3, 3), dtype)
        angular, linear = [], []
        for i, body in enumerate(bodies):
            joint = rotation_matrix(body.rotation.astype(dtype))
            origin = body.position.astype(dtype)
            if body.parent is not None:
                joint = rotation[body.parent] @ joint
                origin = position[body.parent] + rotation[body.parent] @ origin
            x = q[self.q_starts[i] : self.q_starts[i + 1]]
            rotation[i], position[i], w, v = joint_pose(body, joint, origin, x)
            angular.append(w)
            linear.append(v)
            com[i] = position[i] + rotation[i] @ body.com.astype(dtype)
            inertia[i] = rotation[i] @ body.inertia.astype(dtype) @ rotation[i].T
        return Placement(rotation, position, com, inertia, angular, linear)

    def motion(self, place: Placement, u: np.ndarray, udot: np.ndarray) -> Motion:
        n = len(self.parents)
        u, udot = u.astype(self.dtype), udot.astype(self.dtype)
        m = Motion(*(np.zeros((n, 3), self.dtype) for _ in range(4)))
        for i, p in enumerate(self.parents):
            span = slice(self.u_starts[i], self.u_starts[i + 1])
            w_rel, v_rel = u[span] @ place.angular[i], u[span] @ place.linear[i]
            m.alpha[i], m.a[i] = udot[span] @ place.angular[i], udot[span] @ place.linear[i]
            m.omega[i], m.v[i] = w_rel, v_rel
            if self.description.bodies[i].kind == "universal":
                first, second = u[span, None] * place.angular[i]
                m.alpha[i] += cross(first, second)
            if p is not None:
                r = place.position[i] - place.position[p]
                transport = cross(m.omega[p], r)
                m.omega[i] += m.omega[p]
                m.v[i] += m.v[p] + transport
                m.alpha[i] += m.alpha[p] + cross(m.omega[p], w_rel)
                m.a[i] += m.a[p] + cross(m.alpha[p], r) + cross(m.omega[p], transport + 2 * v_rel)
        return m

    def inertia_forces(self, place: Placement, m: Motion, gravity: np.ndarray | None = None) -> tuple[Any, Any]:
        """m (a_com − g) and the moment about the centre of mass, I α + ω × I ω, each (n, 3)."""
        arm = place.com - place.position
        a_com = m.a + cross(m.alpha, arm) + cross(m.omega, cross(m.omega, arm))
        if gravity is not None:
            a_com = a_com - gravity.astype(self.dtype)
        force = self.masses[:, None] * a_com
        spin = np.einsum("nij,nj->ni", place.inertia, m.omega)
        moment = np.einsum("nij,nj->ni", place.inertia, m.alpha) + cross(m.omega, spin)
        return force, moment

    def inverse_dynamics(
        self,
        q: np.ndarray,
        u: np.ndarray,
        udot: np.ndarray,
        wrenches: np.ndarray | None = None,
        gravity: np.ndarray | None = None,
    ) -> np.ndarray:
        """tau that produces udot, by Newton–Euler forward and a sum over subtrees backward."""
        place = self.placement(q)
        m = self.motion(place, u, udot)
        force, moment = self.inertia_forces(place, m, gravity)
        moment = moment + cross(place.com - place.position, force)
        if wrenches is not None:
            force = force - wrenches[:, :3].astype(self.dtype)
            moment = moment - wrenches[:, 3:].astype(self.dtype)
        tau = np.zeros(self.description.nu, self.dtype)
        for i in range(len(self.parents) - 1, -1, -1):
            span = slice(self.u_starts[i], self.u_starts[i + 1])
            tau[span] = place.angular[i] @ moment[i] + place.linear[i] @ force[i]
            p = self.parents[i]
            if p is not None:
                force[p] += force[i]
                moment[p] += moment[i] + cross(place.position[i] - place.position[p], force[i])
        return tau

    def jacobians(self, place: Placement) -> tuple[np.ndarray, np.ndarray]:
        """Angular and linear Jacobians of every body's origin, world frame, each (n, 3, nu)."""
        n, nu = len(self.parents), self.description.nu
        angular, linear = np.zeros((n, 3, nu), self.dtype), np.zeros((n, 3, nu), self.dtype)
        for i, p in enumerate(self.parents):
            if p is not None:
                r = place.position[i] - place.position[p]
                angular[i] = angular[p]
                linear[i] = linear[p] + cross(angular[p].T, r).T
            span = slice(self.u_starts[i], self.u_starts[i + 1])
            angular[i][:, span] += place.angular[i].T
            linear[i][:, span] += place.linear[i].T
        return angular, linear

    def mass_matrix_by_projection(self, q: np.ndarray) -> np.ndarray:
        """M = Σ m J_vᵀ J_v + J_ωᵀ I J_ω with the Jacobians of the centres of mass: O(n³), for small models."""
        place = self.placement(q)
        angular, linear = self.jacobians(place)
        total = np.zeros((self.description.nu, self.description.nu), self.dtype)
        for i in range(len(self.parents)):
            jv = linear[i] + cross(angular[i].T, place.com[i] - place.position[i]).T
            total += self.masses[i] * (jv.T @ jv) + angular[i].T @ place.inertia[i] @ angular[i]
        return total

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M by composite bodies: the inertia of each subtree, as mass, centre and inertia about the centre."""
        place = self.placement(q)
        n, nu = len(self.parents), self.description.nu
        mass, centre, inertia = self.masses.copy(), place.com.copy(), place.inertia.copy()
        unit = np.eye(3, dtype=self.dtype)
        for i in range(n - 1, -1, -1):
            p = self.parents[i]
            if p is not None:
                between = centre[i] - centre[p]
                reduced = mass[i] * mass[p] / (mass[i] + mass[p])
                inertia[p] += inertia[i] + reduced * (between @ between * unit - np.outer(between, between))
                centre[p] += between * (mass[i] / (mass[i] + mass[p]))
                mass[p] += mass[i]
        angular = np.vstack(place.angular)
        linear = np.vstack(place.linear)
        origin = np.repeat(place.position, np.diff(self.u_starts), axis=0)
        result = np.zeros((nu, nu), self.dtype)
        lines: list[np.ndarray] = []
        for i, p in enumerate(self.parents):
            own = np.arange(self.u_starts[i], self.u_starts[i + 1])
            line = own if p is None else np.concatenate([lines[p], own])
            lines.append(line)
            arm = centre[i] - place.position[i]
            for k in own:
                force = mass[i] * (linear[k] + cross(angular[k], arm))
                moment = inertia[i] @ angular[k] + cross(arm, force)
                shifted = moment + cross(place.position[i] - origin[line], force)
                column = np.sum(angular[line] * shifted, axis=1) + linear[line] @ force
                result[line, k] = column
                result[k, line] = column
        return result

    def bias(
        self, q: np.ndarray, u: np.ndarray, wrenches: np.ndarray | None = None, gravity: np.ndarray | None = None
    ) -> np.ndarray:
        """tau at zero udot: velocity-dependent terms, minus weights and wrenches."""
        return self.inverse_dynamics(q, u, np.zeros(self.description.nu), wrenches, gravity)

    def forward_dynamics(
        self,
        q: np.ndarray,
        u: np.ndarray,
        tau: np.ndarray,
        wrenches: np.ndarray | None = None,
        gravity: np.ndarray | None = None,
    ) -> tuple[np.ndarray, float]:
        """udot from the dense equations M udot = tau − bias, and the condition number of M."""
        matrix = self.mass_matrix(q)
        return dense_solve(matrix, tau.astype(self.dtype) - self.bias(q, u, wrenches, gravity))

    def kinetic_energy(self, q: np.ndarray, u: np.ndarray) -> np.floating[Any]:
        """½ Σ m v_com² + ω I ω."""
        place = self.placement(q)
        m = self.motion(place, u, np.zeros(self.description.nu))
        v = m.v + cross(m.omega, place.com - place.position)
        twice = self.masses @ np.sum(v * v, axis=1) + np.einsum("ni,nij,nj->", m.omega, place.inertia, m.omega)
        return twice / 2


def dense_solve(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """Solution of a positive definite system in the matrix's own precision, and an estimate of its condition number.

    Cholesky factors in double precision, of the matrix scaled to a unit diagonal, refine a solution whose residuals are
    taken in extended precision, until the corrections shrink no more. What remains is the rounding of the residuals,
    (extended ε) cond(M): if the last correction exceeds a hundredth of (double ε) cond(M), the refinement has failed
    and this is an error. The condition number comes from power iterations on M and M⁻¹, which can only underestimate
    it: bounds that use it can only become tighter.
    """
    if matrix.shape[0] == 0:
        return right.copy(), 1.0
    single = matrix.astype(np.float64)
    scale = 1 / np.sqrt(np.diagonal(single))
    scaled = single * scale[:, None]
    scaled *= scale[None, :]
    factor = scipy.linalg.cho_factor(scaled, lower=True, overwrite_a=True)

    def approximate(b: np.ndarray) -> np.ndarray:
        step = scipy.linalg.cho_solve(factor, b.astype(np.float64) * scale)
        return (step * scale).astype(matrix.dtype)

    up = np.random.default_rng(0).normal(size=matrix.shape[0])
    down = up.copy()
    for _ in range(12):
        up = single @ (up / np.linalg.norm(up))
        down = approximate((down / np.linalg.norm(down)).astype(matrix.dtype)).astype(np.float64)
    condition = float(np.linalg.norm(up) * np.linalg.norm(down))

    solution = approximate(right)
    correction = norm(solution)
    for _ in range(60):
        step = approximate(right - matrix @ solution)
        if norm(step) > 0.5 * correction or correction == 0:
            break
        solution, correction = solution + step, norm(step)
    if correction > 1e-2 * np.finfo(np.float64).eps * condition * norm(solution):
        raise ArithmeticError(f"refinement stalled at a relative correction of {correction / norm(solution):.1e}")
    return solution, condition
