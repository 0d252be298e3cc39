"""Random mechanisms with loops and a driven joint, under forces whose derivatives are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import articulon as ar
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.model.coordinate_names import coordinate_names
from tests.support.forced_models import add_resisting_forces, description_of, springs
from tests.support.loop_models import Mechanism, add_loops, closing_loop
from tests.support.random_models import Description, builder_of, random_situation

KINDS = ("spherical", "revolute", "universal", "prismatic", "xyz")
REGULAR = 0.02


def looped_model(seed: int, resists: bool = True, n: int = 7) -> ar.Model:
    """A mechanism with two loops, none of whose conditions follows from others, and a driven hinge; under every force
    whose derivatives are known, or under gravity and springs."""
    for k in range(1000):
        description, rng = description_of(1000 * seed + k, n)
        q = random_situation(description, rng).q
        model = _closed(description, rng, q, seed, resists)
        if model is not None:
            return model
    raise AssertionError("no mechanism that moves")


def _closed(
    description: Description, rng: np.random.Generator, q: np.ndarray, seed: int, resists: bool
) -> ar.Model | None:
    """The mechanism in motion, if it moves in three ways or more and is far from where its loops lose rank."""
    moving = [k for k, body in enumerate(description.bodies) if body.kind != "weld"]
    ends = [(None, moving[-1]), (moving[0], moving[-2])] if len(moving) > 3 else [(None, moving[-1])]
    loops = [
        closing_loop(description, q, rng, KINDS[(seed + k) % len(KINDS)], parent, child, f"loop-{k}")
        for k, (parent, child) in enumerate(ends)
    ]
    builder = builder_of(description, q)
    try:
        add_loops(builder, Mechanism(description, tuple(loops)))
        hinge = next(body for body in description.bodies if body.kind == "revolute")
        _drive(builder, hinge.name, description, q)
        model = builder.build()
    except ar.ModelError:
        return None
    equations = loop_equations(model, model.q0, model.u0)
    sizes = np.linalg.svd(equations.jacobian, compute_uv=False)
    rows = model.loops.kind.size
    if rows + 3 > model.nu or sizes[rows - 1] < REGULAR * sizes[0]:
        return None
    if resists:
        add_resisting_forces(builder, description, rng, seed)
    else:
        builder.add_force(ar.forces.Gravity(acceleration=tuple(rng.normal(size=3).tolist())))
        builder.add_force(springs(description, rng))
    model = builder.build()
    _, u = ar.close_loops(model, model.q0, 0.5 * rng.normal(size=model.nu))
    return replace(model, u0=u)


def _drive(builder: Any, name: str, description: Description, q: np.ndarray) -> None:
    """A hinge that swings from where it is."""
    model = builder.build()
    k = [one for one, _ in coordinate_names(model)[0]].index(f"{name}.angle")
    times = np.linspace(-0.5, 1.5, 21)
    values = model.q0[k] + 0.3 * np.sin(2.0 * times)
    builder.add_drive(name, times=tuple(times.tolist()), values=tuple(values.tolist()))
