"""Random models with forces whose derivatives are known."""

from __future__ import annotations

from typing import Any

import numpy as np

import articulon as ar
from articulon.model.array_rotations import matrices
from tests.support.random_models import Description, builder_of, random_forest, random_situation

KINDS = ("weld", "revolute", "prismatic", "universal", "spherical", "xyz", "free")


def description_of(seed: int, n: int) -> tuple[Description, np.random.Generator]:
    """A forest that has a hinge and a spherical joint."""
    rng = np.random.default_rng([seed, 11])
    while True:
        description = random_forest(rng, n, max_depth=5, kinds=KINDS)
        if {"revolute", "spherical"} <= {body.kind for body in description.bodies}:
            return description, rng


def springs(description: Description, rng: np.random.Generator) -> Any:
    """Torsional springs on all hinges and spherical joints."""
    stiffness, rest = {}, {}
    for body in description.bodies:
        if body.kind in ("revolute", "spherical"):
            stiffness[body.name] = float(rng.uniform(0.5, 3.0))
        if body.kind == "revolute":
            rest[body.name] = float(rng.normal())
        if body.kind == "spherical":
            e = np.array([1.0, *(0.3 * rng.normal(size=3))])
            rest[body.name] = tuple((e / np.linalg.norm(e)).tolist())
    return ar.forces.TorsionalSprings(stiffness=stiffness, rest=rest)


def forced_model(seed: int, n: int = 5) -> ar.Model:
    """A random forest under gravity, with torsional springs."""
    description, rng = description_of(seed, n)
    state = random_situation(description, rng)
    builder = builder_of(description, state.q, 0.5 * state.u)
    builder.add_force(ar.forces.Gravity(acceleration=tuple(rng.normal(size=3).tolist())))
    builder.add_force(springs(description, rng))
    return builder.build()


def resisted_model(seed: int, n: int = 5) -> ar.Model:
    """A random forest under every force whose derivatives are known."""
    description, rng = description_of(seed, n)
    state = random_situation(description, rng)
    builder = builder_of(description, state.q, 0.5 * state.u)
    add_resisting_forces(builder, description, rng, seed)
    return builder.build()


def add_resisting_forces(builder: Any, description: Description, rng: np.random.Generator, seed: int) -> None:
    """Every force whose derivatives are known."""
    builder.add_force(ar.forces.Gravity(acceleration=tuple(rng.normal(size=3).tolist())))
    builder.add_force(springs(description, rng))
    names = [body.name for body in description.bodies]
    builder.add_force(ar.forces.JointDamping(rotational=0.3))
    turning = next(body.name for body in description.bodies if body.kind == "spherical")
    hinge = next(body.name for body in description.bodies if body.kind == "revolute")
    builder.add_force(ar.forces.JointFriction(rotational={turning: 0.4, hinge: 0.2}, rotational_speed=0.5))
    times, values = np.linspace(0.0, 1.0, 5), rng.normal(size=5)
    builder.add_force(ar.forces.JointActuation(hinge, times=tuple(times.tolist()), values=tuple(values.tolist())))
    builder.add_force(ar.forces.JointActuation(turning, 0.7, component=1))
    builder.add_force(
        ar.forces.StokesDrag(
            translational={name: float(rng.uniform(0.2, 1.0)) for name in names},
            rotational=0.3,
            flow=tuple(rng.normal(size=3).tolist()),
            velocity_gradient=((0.3, -0.5, 0.2), (0.1, 0.4, -0.6), (0.7, 0.2, -0.7)) if seed % 2 else None,
        )
    )
    moving = [k for k, body in enumerate(description.bodies) if body.kind != "weld"]
    ends = {"points": tuple(tuple(rng.normal(size=3).tolist()) for _ in range(2)), "rest_length": 0.4}
    first = names[moving[0]]
    builder.add_force(ar.forces.PointSpring(name="tie", bodies=(first, "ground"), stiffness=2.0, damping=0.3, **ends))
    held = {"point": (0.1, 0.2, 0.3), "to": (0.5, 0.0, -0.5), "stiffness": (1.0, 2.0, 0.5)}
    builder.add_force(ar.forces.PositionRestraint(bodies=(names[moving[-1]],), **held))
    if len(moving) > 1:
        pair = first, names[moving[-1]]
        builder.add_force(ar.forces.PointSpring(name="pair", bodies=pair, stiffness=1.5, damping=0.2, **ends))
    add_sites(builder, seed)
    builder.add_force(ar.forces.SitePairs(table=pair_laws()))


def pair_laws() -> tuple[dict[str, Any], ...]:
    """Forces between sites of the kinds A and B."""
    laws = [{"kinds": kinds, "A": 0.4, "B": 0.9, "C": c} for kinds, c in ((("A", "A"), 0.4), (("A", "B"), -0.5))]
    return (*laws, {"kinds": ("B", "B"), "A": 0.2, "B": 0.0, "C": 0.1})


def add_sites(builder: Any, seed: int, charge: float = 0.0) -> None:
    """A site of two kinds each on every body, and on the ground, none nearer than 1.2 to one of another body; charges
    are ``charge`` times a number from −1 to 1."""
    rng, model = np.random.default_rng([seed, 13]), builder.build()
    positions, rotations = ar.body_poses(model, model.q0)
    found: list[np.ndarray] = []
    owners: list[int] = []
    for body in (*range(model.bodies), -1):
        origin, turn = (positions[body], rotations[body]) if body >= 0 else (np.zeros(3), np.array([1.0, 0, 0, 0]))
        for kind in "AB":
            others = [x for x, owner in zip(found, owners, strict=True) if owner != body]
            place = local = np.zeros(3)
            for attempt in range(1000):
                local = rng.normal(scale=0.5 + 0.01 * attempt, size=3)
                place = origin + matrices(turn) @ local
                if all(np.linalg.norm(place - x) > 1.2 for x in others):
                    break
            found.append(place)
            owners.append(body)
            builder.add_site(
                None if body < 0 else body, tuple(local.tolist()), kind=kind, charge=charge * rng.uniform(-1, 1)
            )


def dragged_model(seed: int, n: int = 6, temperature: float = 1e22, resists: bool = False) -> ar.Model:
    """A random forest with drag and noise, under forces that depend on places, and with joints that resist."""
    description, rng = description_of(seed, n)
    state = random_situation(description, rng)
    builder = builder_of(description, state.q, 0.5 * state.u)
    builder.add_force(ar.forces.Gravity(acceleration=tuple(rng.normal(size=3).tolist())))
    builder.add_force(springs(description, rng))
    drag = {body.name: float(rng.uniform(0.2, 1.0)) for body in description.bodies}
    flow = tuple(rng.normal(size=3).tolist())
    gradient = ((0.3, -0.5, 0.2), (0.1, 0.4, -0.6), (0.7, 0.2, -0.7)) if seed % 2 else None
    builder.add_force(ar.forces.StokesDrag(translational=drag, rotational=0.3, flow=flow, velocity_gradient=gradient))
    builder.add_force(ar.forces.Brownian(temperature=temperature))
    if resists:
        hinge = next(body.name for body in description.bodies if body.kind == "revolute")
        builder.add_force(ar.forces.JointDamping(rotational=0.3))
        builder.add_force(ar.forces.JointFriction(rotational={hinge: 0.4}, rotational_speed=0.5))
    moving = [body.name for body in description.bodies if body.kind != "weld"]
    held = {"point": (0.1, 0.2, 0.3), "to": (0.5, 0.0, -0.5), "stiffness": (1.0, 2.0, 0.5)}
    builder.add_force(ar.forces.PositionRestraint(bodies=(moving[-1],), **held))
    ends = {"points": tuple(tuple(rng.normal(size=3).tolist()) for _ in range(2)), "rest_length": 0.4}
    builder.add_force(ar.forces.PointSpring(name="tie", bodies=(moving[0], "ground"), stiffness=2.0, **ends))
    if seed % 2:
        add_sites(builder, seed)
        builder.add_force(ar.forces.SitePairs(table=pair_laws()))
    return builder.build()
