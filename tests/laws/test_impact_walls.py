"""Impacts with cylinders, meshes and faces of a box that repeats, against closed forms and against planes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.impacts.impact_memory import MEMORY

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
         (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip


def ball(walls: list[dict[str, Any]], x: Any, v: Any, radius: float = 0.1, gravity: float = 0.0, **law: Any) -> Any:
    b = ar.ModelBuilder("kg-m-s", box=law.pop("box", None))
    b.add_body("ball", mass=1.0, inertia=0.01, joint=ar.Free(), q=(*x, 1, 0, 0, 0), u=(*v, 0, 0, 0))
    b.add_site("ball", kind="ball", radius=radius)
    if gravity:
        b.add_force(ar.forces.Gravity((0, 0, -gravity)))
    b.add_force(ar.forces.Impacts(walls=walls, **law))
    return b.build()


@pytest.mark.parametrize("inside", [True, False])
def test_a_ball_and_a_cylinder(inside: bool) -> None:
    """Inside, all chords are as long as the first; outside, the ball comes back along the mirror of its way."""
    wall = {"shape": "cylinder", "kind": "wall", "point": (0, 0, 0), "axis": (0, 0, 1), "radius": 1.0, "inside": inside}
    if inside:
        run = ar.simulate(ball([wall], (0.3, 0, 0), (0.6, 0.8, 0.1)), 20.0, rule="rk4", step=0.5, frames=40)
        spin = run.q[:, 0] * run.u[:, 1] - run.q[:, 1] * run.u[:, 0]
        assert np.abs(spin - spin[0]).max() < 1e-12  # about the axis: the wall's impulses go through it
        # It turns at the distance 0.9 from the axis: chords of 2 √(0.9² − b²), b = 0.24.
        chord = 2.0 * np.sqrt(0.81 - 0.24**2)
        first = 0.9**2 - 0.24**2
        to_wall = np.sqrt(first) - 0.18  # from where it starts along its way
        assert run.state.rule.history[MEMORY.impacts] == 1 + int((20.0 - to_wall) / chord)
    else:
        run = ar.simulate(ball([wall], (-3, 0.55, 0), (2, 0, 0)), 2.0, rule="rk4", step=0.5, frames=4)
        n = np.array([-np.sqrt(1.1**2 - 0.55**2), 0.55, 0.0]) / 1.1
        v = np.array([2.0, 0, 0])
        assert run.u[-1, :3] == pytest.approx(v - 2.0 * (v @ n) * n, abs=1e-13)
    assert np.abs(run.kinetic_energy - run.kinetic_energy[0]).max() < 1e-13


@pytest.mark.parametrize("at", ["face", "edge", "corner"])
def test_a_ball_on_a_cube_of_triangles(at: str) -> None:
    """The normal is that of the face, or points from the edge or corner to the centre."""
    mesh = {"shape": "mesh", "kind": "cube", "vertices": CUBE.tolist(), "triangles": FACES}
    x, n = {
        "face": ((0.2, 0.3, 3.0), (0, 0, 1)),
        "edge": ((1.05, 0.3, 3.0), (0.05, 0, np.sqrt(0.01 - 0.05**2))),
        "corner": ((1.05, 1.03, 3.0), (0.05, 0.03, np.sqrt(0.01 - 0.05**2 - 0.03**2))),
    }[at]
    v, normal = np.array([0.0, 0.0, -4.0]), np.array(n) / np.linalg.norm(n)
    run = ar.simulate(ball([mesh], x, v, restitution=0.5), 1.0, rule="rk4", step=1.0, frames=1)
    assert run.u[-1, :3] == pytest.approx(v - 1.5 * (v @ normal) * normal, abs=1e-12)


def test_a_ball_that_rests_on_a_mesh_does_what_it_does_on_a_plane() -> None:
    """It is thrown along the cube's top, bounces, comes to rest, slides and rolls; over flat edges of triangles too."""
    law = {"restitution": 0.3, "friction": 0.2, "resting_speed": 1e-3, "gravity": 9.81}
    mesh = {"shape": "mesh", "kind": "cube", "vertices": CUBE.tolist(), "triangles": FACES}
    plane = {"shape": "plane", "kind": "cube", "point": (0, 0, 1), "normal": (0, 0, 1)}
    ends = []
    for wall in (mesh, plane):
        model = ball([wall], (-0.8, -0.5, 1.2), (1.0, 0.7, 0.0), **law)
        ends.append(ar.simulate(model, 1.2, rule="dormand-prince", frames=6, rtol=1e-9, atol=1e-9))
    assert ends[1].state.rule.history[MEMORY.resting] == 1
    assert np.abs(ends[0].q[:, :3] - ends[1].q[:, :3]).max() < 1e-7


def test_a_ball_that_rests_in_a_cylinder_swings_as_a_pendulum() -> None:
    """Without friction its centre moves as a pendulum of the length R − r."""
    wall = {"shape": "cylinder", "kind": "w", "point": (0, 0, 0), "axis": (0, 1, 0), "radius": 1.0, "inside": True}
    angle, length = 0.5, 0.9
    x = (length * np.sin(angle), 0, -length * np.cos(angle))
    model = ball([wall], x, (0, 0, 0), restitution=0.0, gravity=9.81)
    run = ar.simulate(model, 2.0, rule="dormand-prince", frames=20, rtol=1e-10, atol=1e-10)
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("bob", mass=1.0, inertia=(1e-9, 1e-9, 1e-9), joint=ar.Revolute(axis=(0, -1, 0)), com=(0, 0, -length),
               q=angle)  # fmt: skip
    b.add_force(ar.forces.Gravity((0, 0, -9.81)))
    bob = ar.simulate(b.build(), 2.0, rule="dormand-prince", frames=20, rtol=1e-10, atol=1e-10)
    assert np.abs(np.arctan2(run.q[:, 0], -run.q[:, 2]) - bob.q[:, 0]).max() < 1e-7
    assert np.abs(np.hypot(run.q[:, 0], run.q[:, 2]) - length).max() < 1e-12


def test_two_balls_meet_through_a_periodic_face() -> None:
    box = ar.Box(lengths=(4.0, 4.0, 4.0), boundaries=("periodic",) * 3)
    b = ar.ModelBuilder("kg-m-s", box=box)
    for k, (x, v) in enumerate(((0.5, -1.0), (3.5, 0.0))):
        b.add_body(f"b{k}", mass=1.0, inertia=0.01, joint=ar.Free(), q=(x, 1, 1, 1, 0, 0, 0), u=(v, 0, 0, 0, 0, 0))
        b.add_site(f"b{k}", kind="ball", radius=0.1)
    b.add_force(ar.forces.Impacts())
    run = ar.simulate(b.build(), 1.0, rule="rk4", step=0.5, frames=1)
    assert run.u[-1, ::6] == pytest.approx([0.0, -1.0], abs=1e-14)
    assert run.q[-1, ::7] == pytest.approx([0.5 - 0.8, 3.5 - 0.2], abs=1e-13)
