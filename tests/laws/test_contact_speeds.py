"""How fast spheres are taken to meet before a run, which bounds its step, against what gravity and walls can do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError, ModelError
from articulon.time_scales.contact_step_limit import contact_scales

G, R, H = 9.81, 0.01, 0.5
MATERIAL = {"young": 1e7, "poisson": 0.3, "restitution": 0.5}
FALL = math.sqrt(2.0 * G * H)
OPEN = ("open", "open", "open")


def ball(*walls: Any, box: Any = None, tilted: Any = None, **law: Any) -> Any:
    """One that is let fall from a height H above the origin, or two of which one is beyond a face."""
    b = ar.ModelBuilder(units="kg-m-s", box=box)
    for k, place in enumerate(tilted or [(0.0, 0.0, H)]):
        b.add_grain(f"ball-{k}", radius=R, density=2500.0, position=place)
    b.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -G)))
    b.add_force(ar.forces.Contact(materials={"grain": {**MATERIAL, **law.pop("material", {})}}, walls=walls, **law))
    return b.build()


def plane(**motion: Any) -> Any:
    return ar.forces.Plane(point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0), kind="grain", **motion)


CUBE = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.0)]
SIDES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4)]
BRICK = {"vertices": CUBE, "triangles": [*SIDES, (1, 5, 7), (1, 7, 3)], "kind": "grain"}


@pytest.mark.parametrize(
    ("wall", "fall", "own"),
    [
        (plane(), H, 0.0),
        (ar.forces.Plane(point=(0, 0, 1), normal=(0, 0, -1), kind="grain"), 0.0, 0.0),
        (ar.forces.BoxWalls(kind="grain"), H + 0.2, 0.0),
        (plane(velocity=(0.0, 0.0, 0.3)), H, 0.3),
        (plane(amplitude=(0.0, 0.0, 0.01), frequency=20.0), H, 0.4 * math.pi),
        (plane(angular_velocity=(0.0, 3.0, 0.0)), H, 3.0 * H),
        (ar.forces.Cylinder(point=(0, 0, 0), axis=(0, 1, 0), radius=1.0, kind="grain"), H + 1.0, 0.0),
        (
            ar.forces.Cylinder(point=(0, 0, 0), axis=(0, 1, 0), radius=1.0, kind="grain", angular_velocity=(0, 2, 0)),
            H + 1.0,
            2.0,
        ),
        (ar.forces.Cylinder(point=(0, 0, -9), axis=(0, 0, 1), radius=1.0, kind="grain"), 0.0, 0.0),
        (ar.forces.Mesh(**BRICK), H + 0.1, 0.0),
        (ar.forces.Mesh(**BRICK, angular_velocity=(0.0, 0.0, 2.0)), H + 0.1, 2.0 * math.sqrt(0.03)),
    ],
    ids=["floor", "ceiling", "box", "rises", "swings", "turns", "drum", "turning-drum", "shaft", "mesh", "rotor"],
)
def test_spheres_meet_as_gravity_and_walls_let_them(wall: Any, fall: float, own: float) -> None:
    box = None
    if isinstance(wall, ar.forces.BoxWalls):
        box = ar.Box(lengths=(1.0, 1.0, 1.0), origin=(-0.5, -0.5, -0.2), boundaries=OPEN)
    scales = contact_scales(ball(wall, box=box))
    assert scales is not None
    assert scales.speed == pytest.approx(math.sqrt(2.0 * G * fall) + own, rel=1e-12)


def test_a_floor_of_the_box_bounds_the_step_as_a_plane_does() -> None:
    box = ar.Box(lengths=(1.0, 1.0, 1.0), origin=(-0.5, -0.5, 0.0), boundaries=OPEN)
    with pytest.raises(CaseError, match=r"2/ω of the stiffest spring .* that meet at 3\.132 m/s"):
        ar.simulate(ball(ar.forces.BoxWalls(kind="grain"), box=box), 0.01, rule="velocity-verlet", step=5e-4, frames=1)


def test_the_depth_of_unlike_spheres_is_by_the_smaller_one() -> None:
    """Whichever of the two kinds comes first."""
    depths = []
    for kinds in (("a", "b"), ("b", "a")):
        b = ar.ModelBuilder(units="kg-m-s")
        for kind, radius, x in zip(kinds, (0.01, 0.002), (0.0, 0.5), strict=True):
            b.add_grain(kind, radius=radius, density=2500.0, position=(x, 0, 0), velocity=(x, 0, 0), kind=kind)
        b.add_force(ar.forces.Contact(materials={"a": MATERIAL, "b": MATERIAL}))
        scales = contact_scales(b.build())
        assert scales is not None
        depths.append(next(one.overlap for one in scales.pairs if one.kinds[0] != one.kinds[1]))
    assert depths[0] == pytest.approx(depths[1], rel=1e-12)


def test_the_scales_print_the_step_and_the_overlap_with_units() -> None:
    scales = contact_scales(ball(plane()), 2.0)
    assert scales is not None
    assert scales.overlap == max(one.overlap for one in scales.pairs) > 0.0
    told = (
        f"ContactScales(step: {scales.recommended:.3g} s recommended, {scales.limit:.3g} s at most; overlap: "
        f"{scales.overlap:.2g} of the radius predicted at 2 m/s, 0.05 allowed)"
    )
    assert (repr(scales), str(scales)) == (told, told)


def test_a_speed_that_is_none_is_refused() -> None:
    for speed in (-1.0, 0.0, math.inf, math.nan):
        with pytest.raises(CaseError, match="speed: the collision speed must be positive"):
            contact_scales(ball(plane()), speed)


@pytest.mark.parametrize("tilts", [(0.0, 0.0, 0.0), (0.2, -0.1, 0.3)])
def test_overlaps_at_the_start_are_seen_across_faces(tilts: tuple[float, float, float]) -> None:
    """Of two spheres at opposite corners of a box, of right angles or not."""
    box = ar.Box(lengths=(1.0, 1.0, 1.0), tilts=tilts)
    model = ball(box=box, tilted=[(0.005, 0.0, 0.0), tuple(box.vectors.sum(axis=0) - (0.005, 0.0, 0.0))])
    with pytest.raises(ModelError, match=r"'ball-0' and 'ball-1' overlap by 0\.01 m at the start, 100\.0%"):
        ar.simulate(model, 1e-4, rule="velocity-verlet", step=1e-5, frames=1)


@pytest.mark.parametrize(
    ("material", "law", "words"),
    [
        ({"rolling_friction": 0.1}, {}, "rolling_friction: has no effect with rolling = 'none'"),
        ({"twisting_damping": 0.1}, {}, "twisting_damping: has no effect with twisting = 'none'"),
        ({"viscous_damping": 10.0}, {}, "viscous_damping: has no effect with damping = 'restitution'"),
        ({}, {"damping": "none"}, "restitution: has no effect with damping = 'none'"),
        ({"stiffness": 1e4}, {}, "stiffness: has no effect with normal = 'hertz'"),
        ({"restitution": "0"}, {}, r"materials\.grain\.restitution: 0 is not in \(0, 1\]"),
    ],
)
def test_what_would_do_nothing_is_refused(material: dict[str, Any], law: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        ball(plane(), material=material, **law)


def test_the_stiffness_of_one_material_is_not_forgotten() -> None:
    """Where the other has none of its own, it is 2/7 of the normal one; to a spring against rolling both must agree."""
    b = ar.ModelBuilder(units="kg-m-s")
    for k, kind in enumerate(("a", "b")):
        b.add_grain(kind, radius=R, density=2500.0, position=(k, 0, 0), kind=kind)
    linear = {"stiffness": 1e4, "restitution": 0.5}
    law = ar.forces.Contact(
        materials={"a": {**linear, "tangential_stiffness": 1e3}, "b": linear}, normal="linear", tangential="linear"
    )
    b.add_force(law)
    rows = law.rows(b.build())
    assert np.allclose(rows[:, 1], [1e3, math.sqrt(1e3 * 2e4 / 7.0), math.sqrt(1e3 * 2e4 / 7.0), 2e4 / 7.0])

    rolls = {**MATERIAL, "rolling_friction": 0.1}
    law = ar.forces.Contact(materials={"a": {**rolls, "rolling_stiffness": 1e3}, "b": rolls}, rolling="spring")
    with pytest.raises(ModelError, match=r"materials\.b\.rolling_stiffness: is missing, but the other of a and b"):
        law.rows(b.build())
