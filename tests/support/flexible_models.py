"""Articulon models of trees of rigid and flexible bodies, and the same with all their freedoms moved about."""

from __future__ import annotations

from typing import Any

import numpy as np

import articulon as ar
from tests.support.flexible_bodies import UNITS, flexible_reference, flexible_tree, random_flexible_state
from tests.support.flexible_reference import FlexibleReference
from tests.support.random_models import Description

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
    description: Description, modes: list[ar.Modes | None], nodes: list[int | None]
) -> tuple[ar.ModelBuilder, list[Any]]:
    """The builder of a tree, with the handles of its bodies."""
    builder = ar.ModelBuilder(units=UNITS.name)
    handles: list[Any] = []
    for body, own, node in zip(description.bodies, modes, nodes, strict=True):
        what: dict[str, Any] = {"modes": own}
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
