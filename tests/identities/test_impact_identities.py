"""What must hold for an impact of any two bodies of any trees: momentum, the loss of energy, and the rows of J."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.kinematics import drift
from articulon.dynamics.momenta import momentum
from articulon.forces.contact.sphere_motion import sphere_centres
from articulon.forces.impacts.impact_engine import ImpactEngine
from articulon.kernels import kernel
from articulon.model import kernel_tables
from tests.support.loop_models import FourBar, add_loops
from tests.support.random_models import builder_of, floating_tree, random_situation


@kernel
def move_by(forest, q, u, time):
    """q after a time at constant joint speeds."""
    drift(forest, q, u, time)


def two_that_touch(seed: int, e: float = 0.6, **law: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Two floating trees whose outermost bodies carry spheres that touch, approaching."""
    rng = np.random.default_rng(seed)
    forest = floating_tree(rng, 6), floating_tree(rng, 5)
    bodies, situations = [], []
    for k, tree in enumerate(forest):
        situations.append(random_situation(tree, rng))
        first = len(bodies)
        for body in tree.bodies:
            parent = None if body.parent is None else body.parent + first
            bodies.append(type(body)(**{**vars(body), "name": f"t{k}{body.name}", "parent": parent}))
    description = type(forest[0])(tuple(bodies))
    q, u = (np.concatenate([getattr(s, name) for s in situations]) for name in ("q", "u"))
    ends = len(forest[0]) - 1, len(description) - 1
    arms = rng.normal(size=(2, 3)) * 0.3

    def build(radii: tuple[float, float]) -> Any:
        b = builder_of(description, q, u)
        for end, arm, radius in zip(ends, arms, radii, strict=True):
            b.add_site(description.bodies[end].name, position=arm, kind="ball", radius=radius)
        b.add_force(ar.forces.Impacts(restitution=e, **law))
        return b.build()

    model = build((1.0, 1.0))
    x, y = sphere_centres(model, *ar.body_poses(model, q))
    apart = float(np.linalg.norm(x - y))
    model = build((0.4 * apart, 0.6 * apart))
    engine = ImpactEngine(model)
    rows = engine.rows(engine.at(q, u), np.array([[0, 1]]))
    if float(rows.row[0] @ u) > 0.0:
        u = -u
    return engine, q, u


@pytest.mark.parametrize("seed", range(6))
def test_an_impact_of_two_trees_keeps_momentum_and_loses_what_it_should(seed: int) -> None:
    """ΔT = −½ (1 − e²) v²/(J M⁻¹ Jᵀ), v⁺ = −e v⁻, and the whole's linear and angular momentum, to rounding."""
    e = 0.6
    engine, q, u = two_that_touch(seed, e)
    model, at = engine.model, engine.at(q, u)
    contacts = engine.touching(at)
    assert contacts.tolist() == [[0, 1]]
    rows = engine.rows(at, contacts)
    v, A = float(rows.row[0] @ u), float(rows.row[0] @ rows.jump[0])
    # The inverse of the mass matrix, which the recursion never makes, as an oracle.
    M = ar.mass_matrix(model, q)
    assert np.linalg.solve(M, rows.row[0]) == pytest.approx(rows.jump[0], rel=1e-9, abs=1e-9 * np.abs(rows.jump).max())
    after, outcome = engine.collide(at, contacts, np.abs(u))
    assert float(rows.row[0] @ after) == pytest.approx(-e * v, rel=1e-12)
    before, kinetic = ar.kinetic_energy(model, q, u), ar.kinetic_energy(model, q, after)
    loss = 0.5 * (1.0 - e * e) * v * v / A
    assert outcome.energy == pytest.approx(-loss, rel=1e-12)
    assert kinetic - before == pytest.approx(-loss, abs=1e-12 * before)
    one, two = momentum(model, q, u), momentum(model, q, after)
    assert np.abs(two - one)[:3].max() < 1e-13 * one[6]
    assert np.abs(two - one)[3:6].max() < 1e-13 * one[7]


@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_the_gradient_of_the_gap(seed: int) -> None:
    """Central differences of the gap along the joints' own motions: their error is h² g''' / 6."""
    engine, q, u = two_that_touch(seed)
    contacts = np.array([[0, 1]])
    row = engine.rows(engine.at(q, u), contacts).row[0].copy()
    forest, h, found = kernel_tables(engine.model).forest, 1e-5, np.zeros(u.size)
    for k in range(u.size):
        gaps = []
        for side in (h, -h):
            moved, along = q.copy(), np.zeros(u.size)
            along[k] = 1.0
            move_by(forest, moved, along, side)
            gaps.append(float(engine.gaps(engine.at(moved, u), contacts)[0, 0]))
        found[k] = (gaps[0] - gaps[1]) / (2.0 * h)
    assert np.abs(found - row).max() < 1e-8 * max(1.0, float(np.abs(row).max()))


@pytest.mark.parametrize("seed", range(3))
def test_an_impact_on_a_mechanism_keeps_its_loops(seed: int) -> None:
    """A four-bar whose coupler is hit by a ball: the loop's rates stay zero, and the loss is that of the inverse mass
    matrix on the motions that the loop allows, by dense algebra."""
    four, e = FourBar(), 0.5
    angle = 0.4 + 0.7 * seed
    q = four.coordinates(angle)
    builder = builder_of(four.mechanism().forest, q)
    add_loops(builder, four.mechanism())
    builder.add_site("coupler", position=(0.7, 0.0, 0.0), kind="knob", radius=0.2)
    tip = 0.6 * np.array([np.cos(q[0]), np.sin(q[0])])
    at = tip + 0.7 * np.array([np.cos(q[0] + q[1]), np.sin(q[0] + q[1])])
    place = (*(at + 0.5 * np.array([0.6, 0.8])), 0.0)
    builder.add_body("ball", mass=0.7, inertia=0.1, joint=ar.Free(), q=(*place, 1, 0, 0, 0), u=(-2, -1, 0, 0, 0, 0))
    builder.add_site("ball", kind="ball", radius=0.3)
    builder.add_force(ar.forces.Impacts(restitution=e))
    model = builder.build()
    engine, q, u = ImpactEngine(model), model.q0.copy(), model.u0.copy()
    at = engine.at(q, u)
    contacts = engine.touching(at)
    assert contacts.tolist() == [[0, 1]]
    after, outcome = engine.collide(at, contacts, np.abs(u))
    J = ar.loop_jacobian(model, q)
    assert np.abs(J @ after).max() < 1e-13
    # M⁻¹ on what the loops allow: N (Nᵀ M N)⁻¹ Nᵀ, N the null space of J.
    _, sizes, V = np.linalg.svd(J)
    N = V[int((sizes > 1e-9).sum()) :].T
    row = engine.rows(at, contacts).row[0]
    inverse = N @ np.linalg.solve(N.T @ ar.mass_matrix(model, q) @ N, N.T @ row)
    v = float(row @ u)
    assert outcome.energy == pytest.approx(-0.5 * (1.0 - e * e) * v * v / float(row @ inverse), rel=1e-11)
    assert float(row @ after) == pytest.approx(-e * v, rel=1e-12)
    gained = ar.kinetic_energy(model, q, after) - ar.kinetic_energy(model, q, u)
    assert gained == pytest.approx(outcome.energy, rel=1e-12)
