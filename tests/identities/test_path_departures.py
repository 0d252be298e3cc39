"""Spheres on trees whose joints keep their speeds stay within the bounds of their departure from lines and cubics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.impacts.impact_engine import ImpactEngine
from articulon.forces.impacts.impact_geometry import no_contacts
from articulon.forces.impacts.path_departures import LINE, departures
from articulon.kernels import kernel

JOINTS = {"hinges": ("hinge",) * 4, "hinges and slides": ("hinge", "slide", "hinge", "slide", "hinge")}


@kernel
def line_departures(table, forest, turn, change, arm0, arm1, depart, found):
    departures(table, forest, LINE, turn, change, arm0, arm1, depart, found)


def tree(rng: np.random.Generator, joints: tuple[str, ...]) -> ImpactEngine:
    b = ar.ModelBuilder("kg-m-s")
    for k, joint in enumerate(joints):
        axis = rng.normal(size=3)
        made = ar.Revolute(axis=tuple(axis)) if joint == "hinge" else ar.Prismatic(axis=tuple(axis))
        parent = {"parent": f"link{k - 1}", "position": tuple(rng.normal(size=3))} if k else {}
        b.add_body(f"link{k}", mass=1.0, inertia=0.1, joint=made, **parent)
        b.add_site(f"link{k}", kind="ball", position=tuple(rng.normal(size=3)), radius=1e-3)
    b.add_force(ar.forces.Impacts(excluded_joints=0))
    return ImpactEngine(b.build())


def bounds_and_departures(engine: ImpactEngine, q: Any, u: Any, h: float) -> Any:
    """The bounds of cubics and lines, and the largest departures from them over their profiles, each (spheres,)."""
    start, end = engine.at(q, u), engine.at(q + h * u, u)
    engine.first_event(start, end, h, no_contacts())
    cubic, forest = engine.scratch[1][0].copy(), engine.response.forest
    turn = np.zeros(len(start.angular_velocity))
    for i, p in enumerate(forest.parent.tolist()):
        turn[i] = h * np.linalg.norm(start.angular_velocity[i]) + (turn[p] if p >= 0 else 0.0)
    line, scratch = np.zeros_like(cubic), np.zeros((2, turn.size))
    line_departures(engine.table, forest, turn, scratch[0], start.arm, end.arm, scratch[1], line)
    most = np.zeros((2, cubic.size))
    for s in np.linspace(0.0, 1.0, 42)[1:-1]:
        x, r, w = engine.at(q + s * h * u, u).x, 1.0 - s, 4.0 * s * (1.0 - s)
        straight = r * start.x + s * end.x
        curved = r * r * (1 + 2 * s) * start.x + s * s * (3 - 2 * s) * end.x
        curved += h * s * r * (r * start.v - s * end.v)
        most[0] = np.maximum(most[0], np.linalg.norm(x - curved, axis=1) / w**2)
        most[1] = np.maximum(most[1], np.linalg.norm(x - straight, axis=1) / w)
    return (cubic, line), most


@pytest.mark.parametrize("joints", JOINTS)
def test_no_sphere_departs_from_its_path_by_more_than_its_bound(joints: str) -> None:
    """Random directions, speeds and steps, up to several turns in a step."""
    rng = np.random.default_rng(7)
    for _ in range(8):
        engine = tree(rng, JOINTS[joints])
        q, u = rng.normal(size=(2, len(JOINTS[joints])))
        for h in (0.1, 0.5, 3.0):
            bounds, most = bounds_and_departures(engine, q, u, h)
            for bound, found in zip(bounds, most, strict=True):
                assert (found <= bound * (1.0 + 1e-9) + 1e-12).all()


def test_the_bounds_of_an_arm_are_those_of_an_arc() -> None:
    """In the limit of small angles: θ⁴/384 and θ²/8 of its length, and in a straight chain with one hinge that turns,
    of the whole of what it carries."""
    b = ar.ModelBuilder("kg-m-s")
    hinge = ar.Revolute(axis=(0, 0, 1))
    b.add_body("one", mass=1.0, inertia=0.1, joint=hinge)
    b.add_body("two", mass=1.0, inertia=0.1, joint=hinge, parent="one", position=(2.0, 0, 0))
    b.add_body("three", mass=1.0, inertia=0.1, joint=hinge, parent="two", position=(1.0, 0, 0))
    b.add_site("three", kind="tip", position=(1.5, 0, 0), radius=0.1)
    b.add_site(None, kind="tip", position=(9.0, 0, 0), radius=0.1)
    b.add_force(ar.forces.Impacts(excluded_joints=0))
    engine, angle = ImpactEngine(b.build()), 0.2
    bounds, most = bounds_and_departures(engine, np.zeros(3), np.array([1.0, 0.0, 0.0]), angle)
    assert bounds[0] == pytest.approx([4.5 * angle**4 / 384.0, 0.0], rel=1e-12)
    assert bounds[1] == pytest.approx([4.5 * angle**2 / 8.0, 0.0], rel=1e-12)
    # Derivatives change direction by the angle in the step, which takes a part of its square from the remainder.
    assert most[0, 0] == pytest.approx(bounds[0][0], rel=angle**2)
    assert most[1, 0] == pytest.approx(bounds[1][0], rel=angle**2)
