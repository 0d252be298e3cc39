"""Closed loops against MuJoCo's equality constraints, on random trees.

MuJoCo's constraints are soft, so its accelerations are not compared. What it computes exactly is: the inertia matrix,
the bias forces, and the Jacobians of points and bodies with their time derivatives (``mj_jac``, ``mj_jacDot``). From
these follow the accelerations of hard constraints, by the equations with multipliers. Loops are those that MuJoCo has:
``connect`` (a spherical joint) and ``weld``.
"""

from __future__ import annotations

import functools
from typing import Any

import mujoco
import numpy as np
import pytest

import articulon as ar
from tests.support import bounds
from tests.support.constrained_reference import ConstrainedReference, RankInDoubtError
from tests.support.loop_models import SOLVERS, Mechanism, random_mechanism, to_articulon
from tests.support.random_models import Situation, random_situation, rotation_matrix

KINDS = ("spherical", "weld")
seeds = pytest.mark.parametrize("seed", range(16))


class MuJoCoModel:
    """A mechanism in MuJoCo.

    Its conventions are the engine's, once a free joint is three slides and a ball, and a universal one two hinges.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        spec = mujoco.MjSpec()
        spec.option.gravity = np.zeros(3)
        spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        spec.compiler.autolimits = False
        spec.compiler.degree = False
        bodies: list[Any] = []
        for body in mechanism.forest.bodies:
            carrier = spec.worldbody if body.parent is None else bodies[body.parent]
            made = carrier.add_body(name=body.name, pos=body.position, quat=body.rotation)
            made.mass, made.ipos, made.explicitinertial = body.mass, body.com, True
            i = body.inertia
            made.fullinertia = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
            if body.kind == "revolute":
                made.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=body.axis)
            if body.kind == "universal":
                for axis in np.eye(3)[:2]:
                    made.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
            if body.kind == "prismatic":
                made.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=body.axis)
            if body.kind in ("xyz", "free"):
                for axis in np.eye(3):
                    made.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
            if body.kind in ("spherical", "free"):
                made.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
            bodies.append(made)
        for loop in mechanism.loops:
            carrier = spec.worldbody if loop.parent is None else bodies[loop.parent]
            carrier.add_site(name=f"{loop.name}-fixed", pos=loop.position, quat=loop.rotation)
            bodies[loop.child].add_site(name=f"{loop.name}-moving", pos=loop.child_position, quat=loop.child_rotation)
            kind = mujoco.mjtEq.mjEQ_CONNECT if loop.kind == "spherical" else mujoco.mjtEq.mjEQ_WELD
            spec.add_equality(
                type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=f"{loop.name}-fixed", name2=f"{loop.name}-moving"
            )
        # The bodies follow each other depth first in MuJoCo: where each one's coordinates and speeds are.
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.bodies = [self.model.body(body.name).id for body in mechanism.forest.bodies]
        q_index: list[int] = []
        u_index: list[int] = []
        for b in self.bodies:
            first, count = self.model.body_jntadr[b], self.model.body_jntnum[b]
            for joint in range(first, first + count):
                ball = self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL
                q_index += range(self.model.jnt_qposadr[joint], self.model.jnt_qposadr[joint] + (4 if ball else 1))
                u_index += range(self.model.jnt_dofadr[joint], self.model.jnt_dofadr[joint] + (3 if ball else 1))
        self.q_index, self.u_index = np.array(q_index, dtype=int), np.array(u_index, dtype=int)

    def place(self, q: np.ndarray, u: np.ndarray, gravity: np.ndarray | None = None) -> MuJoCoModel:
        self.model.opt.gravity[:] = 0.0 if gravity is None else gravity
        self.data.qpos[self.q_index], self.data.qvel[self.u_index] = q, u
        mujoco.mj_forward(self.model, self.data)
        return self

    def mass_matrix(self) -> np.ndarray:
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full)
        return full[np.ix_(self.u_index, self.u_index)]

    def bias(self, wrenches: np.ndarray) -> np.ndarray:
        """Velocity-dependent terms and weights, less the wrenches at the bodies' origins."""
        force = self.data.qfrc_bias.copy()
        for b, wrench in zip(self.bodies, wrenches, strict=True):
            applied = np.zeros(self.model.nv)
            mujoco.mj_applyFT(self.model, self.data, wrench[:3], wrench[3:], self.data.xpos[b], b, applied)
            force -= applied
        return force[self.u_index]

    def loops(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of relative velocity of every loop, and J̇ u, at a closed state (a weld's frames turn together)."""
        rows, drifts = [np.zeros((0, self.model.nv))], [np.zeros(0)]
        for loop in self.mechanism.loops:
            J, dot = np.zeros((2, 6, self.model.nv)), np.zeros((2, 6, self.model.nv))
            for k, (side, i) in enumerate((("fixed", loop.parent), ("moving", loop.child))):
                b = 0 if i is None else self.bodies[i]
                point = self.data.site(f"{loop.name}-{side}").xpos
                mujoco.mj_jac(self.model, self.data, J[k, :3], J[k, 3:], point, b)
                mujoco.mj_jacDot(self.model, self.data, dot[k, :3], dot[k, 3:], point, b)
            count = 3 if loop.kind == "spherical" else 6
            rows.append((J[1] - J[0])[:count])
            drifts.append((dot[1] - dot[0])[:count] @ self.data.qvel)
        return np.concatenate(rows)[:, self.u_index], np.concatenate(drifts)

    def equality_rows(self) -> np.ndarray:
        """MuJoCo's own rows of its equality constraints; it leaves out those between bodies that cannot move."""
        count = self.data.nefc
        kinds = self.data.efc_type[:count] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        rows = self.data.efc_J.ravel()[: count * self.model.nv].reshape(count, self.model.nv)
        return rows[kinds][:, self.u_index]


class Case:
    """A random mechanism in a closed state, with admissible speeds."""

    def __init__(self, mechanism: Mechanism, s: Situation) -> None:
        self.mechanism = mechanism
        self.reference = ConstrainedReference(mechanism)
        u = self.reference.admissible(s.q, s.u).astype(float)
        self.s = Situation(s.q, u, s.tau, s.wrenches, s.gravity)
        self.expected = self.reference.accelerations(s.q, u, s.tau, s.wrenches, s.gravity)
        self.mujoco = MuJoCoModel(mechanism).place(s.q, u, s.gravity)

    def mujoco_accelerations(self) -> np.ndarray:
        """u' of M u' − Jᵀ λ = τ − c, J u' = −J̇ u, the redundant combinations of rows left out."""
        M, (J, drift) = self.mujoco.mass_matrix(), self.mujoco.loops(self.s.u)
        combinations = self.reference.effective(M, J)
        J, drift = combinations @ J, combinations @ drift
        nu, rank = self.mechanism.nu, len(combinations)
        whole = np.block([[M, -J.T], [J, np.zeros((rank, rank))]])
        right = np.concatenate([self.s.tau - self.mujoco.bias(self.s.wrenches), -drift])
        return np.linalg.solve(whole, right)[:nu]


@functools.cache
def case(seed: int) -> Case:
    rng = np.random.default_rng([seed, 31])
    while True:
        mechanism, q = random_mechanism(rng, int(rng.integers(3, 16)), int(rng.integers(1, 4)), kinds=KINDS)
        try:
            return Case(mechanism, random_situation(mechanism.forest, rng, q))
        except RankInDoubtError:
            continue


@seeds
def test_reference_agrees_with_mujoco(seed: int) -> None:
    """The oracle's oracle: matrix, bias, the space of the constraints, and constrained accelerations."""
    c, n = case(seed), len(case(seed).mechanism)
    s, reference = c.s, c.reference
    place = reference.placement(s.q)
    for i, b in enumerate(c.mujoco.bodies):
        assert np.abs(c.mujoco.data.xpos[b] - place.position[i]).max() <= 1e-14 * n
        assert np.abs(rotation_matrix(c.mujoco.data.xquat[b]) - place.rotation[i]).max() <= 1e-14 * n
    matrix = reference.mass_matrix(s.q).astype(float)
    assert np.linalg.norm(c.mujoco.mass_matrix() - matrix) <= 1e-14 * n * np.linalg.norm(matrix)
    bias = reference.bias(s.q, s.u, s.wrenches, s.gravity).astype(float)
    assert np.linalg.norm(c.mujoco.bias(s.wrenches) - bias) <= bounds.backward(n, bias, s.tau)
    rows = c.mujoco.equality_rows()
    J, _ = c.mujoco.loops(s.u)
    assert len(rows) <= len(J) == reference.rows
    for one in (rows, J):
        assert_same_span(one, reference.jacobian(place).astype(float), c.expected.rank)
    assert np.linalg.norm(c.mujoco_accelerations() - c.expected.udot.astype(float)) <= c.expected.forward


def assert_same_span(one: np.ndarray, other: np.ndarray, rank: int) -> None:
    for rows, of in ((one, other), (other, one)):
        _, values, right = np.linalg.svd(of.reshape(-1, one.shape[1]), full_matrices=False)
        right = right[:rank]
        outside = rows - rows @ right.T @ right
        smallest = values[rank - 1] / values[0] if rank else 1.0
        assert np.linalg.norm(outside) <= 1e-13 / smallest * max(1.0, np.linalg.norm(rows))


@seeds
def test_engine_agrees_with_mujoco(seed: int) -> None:
    c = case(seed)
    s, model = c.s, to_articulon(c.mechanism, c.s.q)
    theirs = c.mujoco_accelerations()
    for solver in SOLVERS:
        ours = ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity, solver=solver)
        assert np.linalg.norm(ours - theirs) <= 2 * c.expected.forward, solver
    assert_same_span(ar.loop_jacobian(model, s.q), c.mujoco.loops(s.u)[0], c.expected.rank)
