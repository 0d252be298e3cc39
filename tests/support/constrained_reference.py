"""Constrained dynamics in extended precision, from the equations of motion with multipliers, as an oracle.

A loop joint is a list of scalar equations between a frame in its parent (a: origin x_a, angular velocity ω_a) and one
in its child (b). With n fixed in a and m fixed in b:

    displacement   n·d = 0,  d = x_b − x_a        velocity   n·(v_b − v_a) + ω_a·(n × d)
    direction      n·m = 0                        velocity   (ω_b − ω_a)·(m × n)

and, with ṅ = ω_a × n, n̈ = α_a × n + ω_a × ṅ and likewise m, their accelerations n·(a_b − a_a) + 2 ṅ·(v_b − v_a) + n̈·d
and n̈·m + 2 ṅ·ṁ + n·m̈; at zero u' these are J̇ u. The accelerations solve

    M u' − Jᵀ λ = τ − c,   J u' = −J̇ u.

Redundant equations are recognised by the singular values of J M^{−½}, whose gap must be plain, and only the
combinations that count are kept: u' and Jᵀ λ do not depend on the choice.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.linalg

from tests.support import bounds
from tests.support.loop_models import ROWS, Loop, Mechanism
from tests.support.random_models import rotation_matrix
from tests.support.reference import EXTENDED, Motion, Placement, Reference, cross, norm

X, Y, Z = np.eye(3)
ALIGNED = ((X, Y), (Y, Z), (Z, X))
"""Directions that are normal to each other when two frames have the same axes."""
NEGLIGIBLE, PLAIN = 1e-11, 1e-5
"""Singular values of redundant constraints, over the largest, are below the first, all others above the second."""


class RankInDoubtError(ArithmeticError):
    """Whether a constraint is redundant cannot be told in double precision: such a model is no test of a solver."""


def normals(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors normal to an axis and each other."""
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)


def equations(loop: Loop) -> tuple[list[np.ndarray], list[tuple[np.ndarray, np.ndarray]]]:
    """Directions n of the displacement equations (joint frame), pairs n, m of the direction equations (m in b)."""
    axis = loop.axis / np.linalg.norm(loop.axis)
    first, second = normals(axis)
    every = [X, Y, Z]
    found: tuple[list[np.ndarray], list[tuple[np.ndarray, np.ndarray]]] = {
        "weld": (every, list(ALIGNED)),
        "revolute": (every, [(first, axis), (second, axis)]),
        "prismatic": ([first, second], list(ALIGNED)),
        "spherical": (every, []),
        "xyz": ([], list(ALIGNED)),
        "universal": (every, [(X, Y)]),
    }[loop.kind]
    assert len(found[0]) + len(found[1]) == ROWS[loop.kind]
    return found


@dataclasses.dataclass
class Frame:
    """One side of a loop joint."""

    rotation: np.ndarray
    position: np.ndarray
    body: int | None
    arm: np.ndarray
    """From the body's origin to the frame's, world axes."""


@dataclasses.dataclass
class Constrained:
    """What the equations say at one instant, in extended precision, and how far double precision can be trusted."""

    udot: np.ndarray
    forces: np.ndarray
    """Jᵀ λ."""
    rank: int
    forward: float
    """Largest admissible error of u' of a backward stable solver: see ``ConstrainedReference.accelerations``."""
    backward: float
    """Largest admissible error of a generalised force."""


class ConstrainedReference(Reference):
    """A mechanism's dynamics with its loops enforced."""

    def __init__(self, mechanism: Mechanism, dtype: Any = EXTENDED) -> None:
        super().__init__(mechanism.forest, dtype)
        self.loops = mechanism.loops
        self.rows = sum(ROWS[loop.kind] for loop in self.loops)

    def frames(self, place: Placement, loop: Loop) -> tuple[Frame, Frame]:
        result = []
        for body, position, rotation in (
            (loop.parent, loop.position, loop.rotation),
            (loop.child, loop.child_position, loop.child_rotation),
        ):
            axes, arm = rotation_matrix(rotation.astype(self.dtype)), position.astype(self.dtype)
            origin = np.zeros(3, self.dtype)
            if body is not None:
                axes, arm, origin = place.rotation[body] @ axes, place.rotation[body] @ arm, place.position[body]
            result.append(Frame(axes, origin + arm, body, arm))
        return result[0], result[1]

    def residuals(self, q: np.ndarray) -> np.ndarray:
        """n·d and n·m of every loop, (rows,). Zero also where aligned frames are half a turn apart: see ``gaps``."""
        place = self.placement(q)
        values: list[Any] = []
        for loop in self.loops:
            a, b = self.frames(place, loop)
            d = b.position - a.position
            displacements, directions = equations(loop)
            values += [a.rotation @ n @ d for n in displacements]
            values += [(a.rotation @ n) @ (b.rotation @ m) for n, m in directions]
        return np.array(values, dtype=self.dtype)

    def gaps(self, q: np.ndarray) -> list[float]:
        """How far each loop is from closed: the displacement and the sine of the turn that its joint does not allow."""
        place = self.placement(q)
        values = []
        for loop in self.loops:
            a, b = self.frames(place, loop)
            d = a.rotation.T @ (b.position - a.position)
            turn = a.rotation.T @ b.rotation
            axis = loop.axis / np.linalg.norm(loop.axis)
            if loop.kind == "prismatic":
                d = d - axis * (axis @ d)
            miss = 0.0 if loop.kind == "xyz" else norm(d)
            if loop.kind in ("weld", "prismatic", "xyz"):
                miss += norm(turn - np.eye(3))
            elif loop.kind == "revolute":
                miss += norm(turn @ axis - axis)
            elif loop.kind == "universal":
                miss += abs(float(turn[0, 1]))
            values.append(miss)
        return values

    def jacobian(self, place: Placement) -> np.ndarray:
        """J, (rows, nu)."""
        angular, linear = self.jacobians(place)
        nothing = np.zeros((3, self.description.nu), self.dtype)

        def of(frame: Frame) -> tuple[np.ndarray, np.ndarray]:
            if frame.body is None:
                return nothing, nothing
            turning = angular[frame.body]
            return turning, linear[frame.body] + cross(turning.T, frame.arm).T

        result = [np.zeros((0, self.description.nu), self.dtype)]
        for loop in self.loops:
            a, b = self.frames(place, loop)
            (turning_a, moving_a), (turning_b, moving_b) = of(a), of(b)
            d = b.position - a.position
            displacements, directions = equations(loop)
            for n in (a.rotation @ n for n in displacements):
                result.append((n @ (moving_b - moving_a) + cross(n, d) @ turning_a)[None])
            for n, m in ((a.rotation @ n, b.rotation @ m) for n, m in directions):
                result.append((cross(m, n) @ (turning_b - turning_a))[None])
        return np.concatenate(result)

    def second_derivatives(self, place: Placement, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations of the equations in this motion, (rows,), and the sum of the sizes of the terms of each."""
        zero = np.zeros(3, self.dtype)

        def of(frame: Frame) -> tuple[np.ndarray, ...]:
            if frame.body is None:
                return zero, zero, zero, zero
            w, alpha = motion.omega[frame.body], motion.alpha[frame.body]
            moving = cross(w, frame.arm)
            return (
                w,
                motion.v[frame.body] + moving,
                alpha,
                motion.a[frame.body] + cross(alpha, frame.arm) + cross(w, moving),
            )

        values, sizes = [], []
        for loop in self.loops:
            a, b = self.frames(place, loop)
            (w_a, v_a, alpha_a, a_a), (w_b, v_b, alpha_b, a_b) = of(a), of(b)
            d = b.position - a.position
            displacements, directions = equations(loop)
            terms: list[Any] = []
            for n in (a.rotation @ n for n in displacements):
                n1 = cross(w_a, n)
                n2 = cross(alpha_a, n) + cross(w_a, n1)
                terms.append((n @ a_b, -(n @ a_a), 2 * (n1 @ v_b), -2 * (n1 @ v_a), n2 @ d))
            for n, m in ((a.rotation @ n, b.rotation @ m) for n, m in directions):
                n1, m1 = cross(w_a, n), cross(w_b, m)
                n2, m2 = cross(alpha_a, n) + cross(w_a, n1), cross(alpha_b, m) + cross(w_b, m1)
                terms.append((n2 @ m, 2 * (n1 @ m1), n @ m2))
            values += [sum(row) for row in terms]
            sizes += [sum(abs(term) for term in row) for row in terms]
        return np.array(values, dtype=self.dtype), np.array(sizes, dtype=self.dtype)

    def drift(self, place: Placement, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J̇ u, and the sizes of its terms."""
        return self.second_derivatives(place, self.motion(place, u, np.zeros(self.description.nu)))

    def effective(self, matrix: np.ndarray, J: np.ndarray) -> np.ndarray:
        """Orthonormal combinations of the rows of J that leave none redundant, (rank, rows)."""
        if J.shape[0] == 0 or J.shape[1] == 0:
            return np.zeros((0, J.shape[0]))
        root = scipy.linalg.cholesky(matrix.astype(float), lower=True)
        scaled = scipy.linalg.solve_triangular(root, J.T.astype(float), lower=True).T
        combinations, values, _ = scipy.linalg.svd(scaled, full_matrices=False)
        if values[0] < 1e-12:  # both sides of every loop are at rest whatever moves
            return np.zeros((0, J.shape[0]))
        kept = values > NEGLIGIBLE * values[0]
        if values[kept].min() < PLAIN * values[0]:
            raise RankInDoubtError(f"singular values {values}")
        return combinations[:, kept].T

    def admissible(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The nearest speeds, in the metric of M, that satisfy J u = 0."""
        place = self.placement(q)
        J = self.jacobian(place)
        matrix = self.mass_matrix(q)
        J = self.effective(matrix, J).astype(self.dtype) @ J
        change, _ = saddle_solve(matrix, J, np.zeros(self.description.nu), -(J @ u.astype(self.dtype)))
        return u + change

    def accelerations(
        self,
        q: np.ndarray,
        u: np.ndarray,
        tau: np.ndarray,
        wrenches: np.ndarray | None = None,
        gravity: np.ndarray | None = None,
    ) -> Constrained:
        """u' with the loops enforced, and the bounds that follow from the conditioning of its equations.

        The inverse of the equations' matrix has the blocks [P, Q; Qᵀ, ·]: u' = P (τ − c) − Q J̇ u. To first order, data
        with relative errors ε change u' by P (δτ − δc − δM u' + δJᵀ λ) − Q (δ(J̇ u) + δJ u'), which is at most

            ε |P| (|τ| + |c| + |M| |u'| + |Jᵀ λ|) + ε |Q| (|J̇ u| + |J| |u'|).

        P is a part of M⁻¹: |P| ≤ |M⁻¹|, and a solver that finds u' from the free motion passes through errors of that
        size. Admissible is ten times this with |M⁻¹| for |P|: without loops it is 10 ε cond(M) and no more.
        """
        place = self.placement(q)
        matrix, J = self.mass_matrix(q), self.jacobian(place)
        bias = self.bias(q, u, wrenches, gravity)
        drift, sizes = self.drift(place, u)
        combinations = self.effective(matrix, J)
        reduced = combinations.astype(self.dtype) @ J
        udot, multipliers = saddle_solve(
            matrix, reduced, tau.astype(self.dtype) - bias, -(combinations.astype(self.dtype) @ drift)
        )
        forces = reduced.T @ multipliers

        nu, rank = self.description.nu, len(combinations)
        double, rows = matrix.astype(float), reduced.astype(float)
        whole = np.block([[double, rows.T], [rows, np.zeros((rank, rank))]])
        inverse = np.linalg.inv(whole) if nu else whole
        Q = np.linalg.norm(inverse[:nu, nu:], 2) if rank else 0.0
        smallest = np.linalg.eigvalsh(double)[0] if nu else 1.0
        size = np.linalg.norm(double, 2) if nu else 0.0
        loads = norm(tau) + norm(bias) + norm(forces)
        reach = np.linalg.norm(rows, 2) if rank else 0.0
        return Constrained(
            udot=udot,
            forces=forces,
            rank=rank,
            forward=10
            * bounds.EPS
            * float((loads + size * norm(udot)) / smallest + Q * (norm(sizes) + reach * norm(udot))),
            backward=1e-14 * len(self.parents) * (loads + size * norm(udot)),
        )


def saddle_solve(
    matrix: np.ndarray, J: np.ndarray, right: np.ndarray, below: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """x and λ of M x − Jᵀ λ = right, J x = below, for J of full rank, in the arrays' own precision.

    Factors of the equations in double precision, scaled to a unit diagonal of M and unit rows of J, refine a solution
    whose residuals are taken in extended precision, until the corrections shrink no more; if the last exceeds a
    hundredth of (double ε) cond, the refinement has failed and this is an error.
    """
    dtype, nu, rank = matrix.dtype, matrix.shape[0], J.shape[0]
    if nu == 0:
        return right.astype(dtype), np.zeros(rank, dtype)
    scale = 1 / np.sqrt(np.diagonal(matrix))
    rows = 1 / np.sqrt(np.sum((J * scale) ** 2, axis=1)) if rank else np.zeros(0, dtype)
    K = np.zeros((nu + rank, nu + rank), dtype)
    K[:nu, :nu] = scale[:, None] * matrix * scale
    K[nu:, :nu] = rows[:, None] * J * scale
    K[:nu, nu:] = -K[nu:, :nu].T
    b = np.concatenate([scale * right, rows * below]).astype(dtype)
    factor = scipy.linalg.lu_factor(K.astype(float))
    x = scipy.linalg.lu_solve(factor, b.astype(float)).astype(dtype)
    last = norm(x)
    for _ in range(60):
        step = scipy.linalg.lu_solve(factor, (b - K @ x).astype(float)).astype(dtype)
        if norm(step) > 0.5 * last or last == 0:
            break
        x, last = x + step, norm(step)
    if last > 1e-2 * bounds.EPS * np.linalg.cond(K.astype(float)) * norm(x):
        raise ArithmeticError(f"refinement stalled at a relative correction of {last / norm(x):.1e}")
    return x[:nu] * scale, x[nu:] * rows
