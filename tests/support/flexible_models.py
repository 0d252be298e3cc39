"""Trees of rigid and flexible bodies, and the same with all their degrees of freedom moved about."""

from __future__ import annotations

from typing import Any

import numpy as np

import articulon as ar
from articulon.model.array_rotations import matrices
from tests.support.flexible_bodies import UNITS, flexible_reference, flexible_tree, random_flexible_state
from tests.support.flexible_reference import FlexibleReference
from tests.support.random_models import COORDINATES, Description, quaternion_product
from tests.support.transition_models import Situation, null_space

JOINTS = {
    "weld": lambda axis: ar.Weld(),
    "revolute": lambda axis: ar.Revolute(axis=tuple(axis)),
    "prismatic": lambda axis: ar.Prismatic(axis=tuple(axis)),
    "universal": lambda axis: ar.Universal(),
    "spherical": lambda axis: ar.Spherical(),
    "xyz": lambda axis: ar.Xyz(),
    "free": lambda axis: ar.Free(),
}


def flexible_builder(
    description: Description, modes: list[ar.Modes | None], nodes: list[int | None], q: np.ndarray | None = None
) -> tuple[ar.ModelBuilder, list[Any]]:
    """The builder of a tree, with the handles of its bodies; ``q`` are their initial coordinates."""
    end = 0
    builder = ar.ModelBuilder(units=UNITS.name)
    handles: list[Any] = []
    for body, own, node in zip(description.bodies, modes, nodes, strict=True):
        what: dict[str, Any] = {"modes": own}
        begin, end = end, end + COORDINATES[body.kind] + (0 if own is None else np.shape(own.shapes)[2])
        if own is None:
            what = {"mass": body.mass, "com": body.com, "inertia": body.inertia}
        handles.append(
            builder.add_body(
                body.name,
                joint=JOINTS[body.kind](body.axis),
                parent=None if body.parent is None else handles[body.parent],
                position=body.position,
                rotation=body.rotation,
                node=node,
                **what,
                **({} if q is None else {"q": q[begin:end]}),
            )
        )
    return builder, handles


class FlexibleCase:
    """A random tree as the oracle and the engine know it, with a state, forces, wrenches and a weight."""

    def __init__(self, seed: int, n: int | None = None, deformation: float = 0.2, **options: Any) -> None:
        rng = np.random.default_rng([seed, 77])
        self.tree = flexible_tree(rng, int(rng.integers(1, 9)) if n is None else n, **options)
        self.reference: FlexibleReference = flexible_reference(*self.tree)
        self.model = flexible_builder(*self.tree)[0].build()
        self.q, self.u = random_flexible_state(self.reference, rng, deformation)
        self.tau = rng.normal(size=self.model.nu)
        self.wrenches = rng.normal(size=(self.model.bodies, 6))
        self.gravity = rng.normal(size=3)

    @property
    def passive(self) -> np.ndarray:
        """−K η − D η' (nu,), which the oracle counts among the biases and the engine among the model's own forces."""
        result = np.zeros(self.model.nu)
        for i, shapes in enumerate(self.reference.shapes):
            if shapes is not None:
                eta, rate = self.q[self.reference.modal_q(i)], self.u[self.reference.modal_u(i)]
                result[self.reference.modal_u(i)] = -(shapes.stiffness @ eta + shapes.damping @ rate)
        return result

    @property
    def loads(self) -> np.ndarray:
        """The generalised forces of the wrenches (nu,), by the oracle."""
        frames = self.reference.frames(self.q, self.u)
        parts = [self.reference.load(f, w[:3], w[3:]) for f, w in zip(frames, self.wrenches, strict=True)]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)

    @property
    def udot(self) -> np.ndarray:
        """The accelerations under everything, by the oracle, the modes' own forces left out."""
        forces = self.tau + self.loads - self.passive
        return np.asarray(self.reference.forward_dynamics(self.q, self.u, forces, self.gravity)[0], dtype=np.float64)


LOOPS = (ar.Spherical(), ar.Universal(), ar.Revolute(axis=(0.0, 0.6, 0.8)))


def looped_model(rng: np.random.Generator, c: FlexibleCase, count: int = 1) -> ar.Model | None:
    """The case's tree at its coordinates, with loops between random bodies that are closed there; None where it cannot
    move with them, or they are singular."""
    builder, handles = flexible_builder(*c.tree, q=c.q)
    places, turns = ar.body_poses(c.model, c.q)
    for k in range(count):
        a, b = rng.choice(len(handles), 2, replace=False)
        point, turn = rng.normal(size=3), rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        where = places[a] + matrices(turns[a]) @ point
        back = turns[b] * np.array([1.0, -1.0, -1.0, -1.0])
        builder.add_loop(
            f"loop-{k}",
            joint=LOOPS[int(rng.integers(len(LOOPS)))],
            parent=handles[a],
            child=handles[b],
            position=point,
            rotation=turn,
            child_position=matrices(turns[b]).T @ (where - places[b]),
            child_rotation=quaternion_product(back, quaternion_product(turns[a], turn)),
        )
    try:
        model = builder.build()
    except ar.ModelError:
        return None
    return model if model.degrees_of_freedom else None


def random_flexible_situation(rng: np.random.Generator, most: int = 12, most_changed: int = 8) -> Situation:
    """A random forest of rigid and flexible bodies, in every other case with loops, some axes and modes of which are to
    be locked and released: none that the loops need."""
    while True:
        c = FlexibleCase(int(rng.integers(2**31)), n=int(rng.integers(1, most + 1)))
        found: ar.Model | None = c.model
        if len(c.tree[1]) > 3 and rng.random() < 0.5:
            found = looped_model(rng, c, int(rng.integers(1, 3)))
        if found is None:
            continue
        model, q = found, found.q0 if found.loops.kind.size else c.q
        jacobian = ar.loop_jacobian(model, q) if model.loops.kind.size else np.zeros((0, model.nu))
        free = null_space(jacobian)
        order = rng.permutation(model.nu)
        changed, held = np.zeros(model.nu, dtype=bool), np.zeros(model.nu, dtype=bool)
        count = int(rng.integers(1, most_changed + 1))
        changed[order[:count]] = True
        if rng.random() < 0.3:
            held[order[count : count + 3]] = True
        if jacobian.size:
            if not len(free) or (changed | held).sum() > len(free):
                continue
            if np.linalg.svd(free[:, changed | held], compute_uv=False).min() < 0.02:
                continue
            # Nor in the metric of the mass matrix, in which modes weigh other than joints.
            left = ~(changed | held)
            root = np.linalg.cholesky(ar.mass_matrix(model, q)[np.ix_(left, left)])
            rows = np.linalg.solve(root, jacobian[:, left].T)
            size = np.linalg.norm(rows, axis=0)
            sizes = np.linalg.svd(rows / np.where(size > 1e-10, size, np.inf), compute_uv=False)
            if model.closing.rank > sizes.size or sizes[model.closing.rank - 1] < 0.02 * sizes[0]:
                continue
        u = null_space(np.vstack([jacobian, np.eye(model.nu)[held]])).T
        u = u @ rng.normal(size=u.shape[1])
        u[held] = 0.0
        return Situation(model, q, u, changed, held, ar.mass_matrix(model, q), jacobian)
