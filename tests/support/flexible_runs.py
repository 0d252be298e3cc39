"""Random trees with flexible bodies under every force whose derivatives are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import articulon as ar
from articulon.forces.sites.site_positions import site_positions
from tests.support.flexible_models import FlexibleCase, flexible_builder
from tests.support.forced_models import add_resisting_forces


def flexible_run(seed: int, n: int = 5, speed: float = 0.3) -> ar.Model:
    """A tree with a joint on a node, with sites on nodes that bonds pull, in a deformed state of motion."""
    attempt = 1000 * seed
    while True:
        model = run_of(FlexibleCase(attempt, n=n, deformation=0.1), seed, speed)
        if model is not None:
            return model
        attempt += 1


def run_of(c: FlexibleCase, seed: int, speed: float) -> ar.Model | None:
    """The case under all forces; None if it lacks a joint that these need, or if sites are near each other."""
    description, modes, nodes = c.tree
    hangs = any(node is not None and body.kind != "weld" for body, node in zip(description.bodies, nodes, strict=True))
    if not ({"revolute", "spherical"} <= {body.kind for body in description.bodies} and hangs):
        return None
    rng = np.random.default_rng([seed, 41])
    builder, handles = flexible_builder(*c.tree, q=c.q)
    add_resisting_forces(builder, description, rng, seed)
    ends = []
    for handle, own in zip(handles, modes, strict=True):
        if own is not None:
            node, place = int(rng.integers(np.shape(own.masses)[0])), tuple(rng.normal(scale=2.0, size=3).tolist())
            ends.append(builder.add_site(handle, place, kind="A", node=node))
    bonds = tuple((end, 0) for end in ends)
    builder.add_force(ar.forces.HarmonicBonds(bonds=bonds, stiffness=0.7, length=0.5))
    model = builder.build()
    places, owner = site_positions(model, model.q0), model.sites.body
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 1e9 * (owner[:, None] == owner)
    if apart.min() < 1.1:
        return None
    return replace(model, u0=speed * c.u)
