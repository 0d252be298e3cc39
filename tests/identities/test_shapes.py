"""Shapes of bodies: their volume, centre and inertia, what of a body follows from them, and where they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import articulon as ar
from articulon.studio.drawn_meshes import drawn, smooth
from articulon.studio.scene import scene_of
from articulon.studio.stage import Frame, stage_of
from articulon.studio.unit_meshes import ball
from articulon.units import unit_system
from tests.support.meshes import CUBE, SIDES, tube

TURN = (0.8, 0.0, 0.6, 0.0)
HINGE = ar.Revolute(axis=(0, 1, 0))
R, L = 0.3, 1.1


def stl(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> str:
    """Writes a mesh as text, with all digits."""
    lines = ["solid mesh"]
    for triangle in triangles:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {' '.join(repr(float(x)) for x in vertices[corner])}" for corner in triangle]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid mesh", ""]))
    return str(path)


def of_revolution(radius: Callable[[float], float], low: float, high: float) -> tuple[float, float, float]:
    """Volume and, of density 1, moments across and along z of what a curve about z encloses, centred on the origin."""

    def integral(of: Callable[[float], float]) -> float:
        kinks = [-0.5 * L, 0.5 * L]
        return float(quad(of, low, high, points=kinks, epsabs=1e-13, epsrel=1e-13)[0])

    along = integral(lambda z: 0.5 * np.pi * radius(z) ** 4)
    across = 0.5 * along + integral(lambda z: np.pi * radius(z) ** 2 * z * z)
    return integral(lambda z: np.pi * radius(z) ** 2), across, along


@pytest.mark.parametrize(
    ("shape", "radius", "reach"),
    [
        (ar.shapes.Sphere(radius=R), lambda z: np.sqrt(max(R * R - z * z, 0.0)), R),
        (ar.shapes.Cylinder(radius=R, length=L), lambda z: R, 0.5 * L),
        (
            ar.shapes.Capsule(radius=R, length=L),
            lambda z: np.sqrt(max(R * R - max(abs(z) - 0.5 * L, 0.0) ** 2, 0.0)),
            0.5 * L + R,
        ),
    ],
    ids=["sphere", "cylinder", "capsule"],
)
def test_round_shapes_have_the_integrals_of_their_profiles(shape: Any, radius: Any, reach: float) -> None:
    volume, across, along = of_revolution(radius, -reach, reach)
    assert shape.volume == pytest.approx(volume, rel=1e-10)
    assert shape.inertia(2.0) == pytest.approx(2.0 * np.diag([across, across, along]), rel=1e-10, abs=1e-12)


def test_a_mesh_has_the_integrals_of_the_box_that_it_encloses(tmp_path: Path) -> None:
    edges, place = np.array([0.4, 0.7, 1.3]), (3.0, -2.0, 5.0)
    file = stl(tmp_path / "box.stl", 1000.0 * (CUBE - 0.5) * edges, SIDES)
    mesh = ar.shapes.Mesh(file=file, scale="1 mm", position=place, rotation=TURN).resolved(unit_system("kg-m-s"))
    box = ar.shapes.Box(size=tuple(edges), position=place, rotation=TURN)
    assert mesh.volume == pytest.approx(box.volume, rel=1e-12)
    assert mesh.centre == pytest.approx(box.centre, abs=1e-12)
    assert mesh.inertia(3.0) == pytest.approx(box.inertia(3.0), rel=1e-12, abs=1e-12)
    mirrored = ar.shapes.Mesh(file=file, scale=(-0.001, 0.001, 0.001))
    assert mirrored.volume == pytest.approx(box.volume, rel=1e-12)


def test_a_mesh_far_from_its_origin_keeps_its_digits(tmp_path: Path) -> None:
    far = np.array([1e4, -2e4, 3e4])
    mesh = ar.shapes.Mesh(file=stl(tmp_path / "far.stl", CUBE + far, SIDES))
    assert mesh.inertia(1.0) == pytest.approx(np.eye(3) / 6.0, rel=1e-9, abs=1e-9)
    assert mesh.centre == pytest.approx(far + 0.5, rel=1e-14)


def test_a_body_of_two_halves_is_the_whole() -> None:
    halves = [ar.shapes.Box(size=(1, 1, 2), position=(0, 0, z), rotation=TURN[:1] + (0, 0, 0.6)) for z in (1, 3)]
    whole = ar.shapes.Box(size=(1, 1, 4), position=(0, 0, 2), rotation=(0.8, 0, 0, 0.6))
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_body("halves", joint=HINGE, shape=halves, density="2 g/cm^3")
    b.add_body("whole", joint=HINGE, shape=whole, density=2000)
    model = b.build()
    assert model.masses == pytest.approx([8000.0, 8000.0], rel=1e-14)
    assert model.centres[0] == pytest.approx(model.centres[1], abs=1e-14)
    assert model.inertias[0] == pytest.approx(model.inertias[1], rel=1e-13, abs=1e-10)
    assert [len(several) for several in model.shapes] == [2, 1]


def test_what_is_given_beside_a_density_is_kept() -> None:
    b = ar.ModelBuilder(units="kg-m-s")
    ball_of = ar.shapes.Sphere(radius=0.5, position=(0, 0, 1))
    b.add_body("a", joint=HINGE, shape=ball_of, density=10, inertia=7.0)
    b.add_body("b", joint=HINGE, shape=ball_of, density=10, inertia=7.0, com=(0, 0, 2))
    b.add_body("c", joint=HINGE, shape=ball_of, mass=2, inertia=1.0)
    model = b.build()
    assert model.masses[:2] == pytest.approx(10.0 * np.pi / 6.0)
    assert model.masses[2] == 2.0
    assert model.centres[:, 2] == pytest.approx([1.0, 2.0, 0.0])
    assert model.inertias[:, 0].tolist() == [7.0, 7.0, 1.0]


BALL = ar.shapes.Sphere(radius=1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"density": 1.0}, "body 'x', density: has no effect without a shape"),
        ({"density": 1.0, "shape": BALL, "mass": 1.0}, "body 'x': give either a mass or a density"),
        ({"density": 1.0, "shape": BALL, "com": (0, 0, 1)}, "body 'x': its inertia would be about the centre"),
        ({"density": -1.0, "shape": BALL}, "body 'x', density: must be positive"),
        ({"density": "1 kg", "shape": BALL}, "body 'x', density: .* mass density"),
        ({"shape": BALL}, "body 'x': give it a mass, a shape with a density, or modes"),
        ({"shape": [BALL, 3], "mass": 1.0}, r"body 'x', shape 1: expected a shape such as ar\.shapes\.Sphere"),
        ({"shape": ar.shapes.Sphere(radius="1 s"), "mass": 1.0}, "body 'x', shape: radius: "),
        ({"shape": ar.shapes.Mesh(file="no.stl"), "mass": 1.0}, r"body 'x', shape: there is no mesh file no\.stl"),
    ],
)
def test_what_no_body_can_be_made_of_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ar.ModelError, match=message):
        ar.ModelBuilder(units="kg-m-s").add_body("x", joint=HINGE, **given)


def test_a_mesh_that_is_open_has_no_volume_but_can_be_drawn(tmp_path: Path) -> None:
    shape = ar.shapes.Mesh(file=stl(tmp_path / "open.stl", CUBE, SIDES[1:]))
    builder = ar.ModelBuilder(units="kg-m-s")
    with pytest.raises(ar.ModelError, match=r"body 'x', shape: mesh .*open\.stl: it is not closed"):
        builder.add_body("x", joint=HINGE, shape=shape, density=1.0)
    builder.add_body("x", joint=HINGE, shape=shape, mass=1.0, inertia=1.0)
    (mesh,) = scene_of(builder.build(), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]])).meshes
    assert len(mesh.mesh.triangles) == len(SIDES) - 1


def shaped(tmp_path: Path) -> ar.Model:
    """An arm of every shape."""
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_body("a", joint=HINGE, density=1, shape=ar.shapes.Capsule(radius=0.1, length=0.8, position=(0, 0, -0.5)))
    seat = {"parent": "a", "position": (0, 0, -1), "joint": HINGE}
    b.add_body("b", **seat, density=1, shape=ar.shapes.Cylinder(radius=0.1, length=0.4, rotation=TURN))
    mesh = ar.shapes.Mesh(file=stl(tmp_path / "cube.stl", CUBE, SIDES), scale="20 cm")
    b.add_body("c", **seat, density=1, shape=[ar.shapes.Box(size=(0.1, 0.2, 0.3)), ar.shapes.Sphere(0.2), mesh])
    b.add_body("d", **seat, mass=1, inertia=0.1, com=(0, 0, -0.3))
    return b.build()


def test_shapes_are_drawn_on_their_bodies_in_place_of_solids(tmp_path: Path) -> None:
    model = shaped(tmp_path)
    positions, rotations = ar.body_poses(model, model.q0)
    scene = scene_of(model, positions, rotations)
    # A capsule's rod, a cylinder; limbs belong to the body without a shape alone, pins to all.
    rods = scene.rods
    assert rods.size[:2].tolist() == [[0.1, 0.1, 0.8], [0.1, 0.1, 0.4]]
    assert rods.rotation[1] == pytest.approx(TURN)
    assert set(scene.boxes.body.tolist()) <= {2, 3} and scene.boxes.size[0].tolist() == [0.1, 0.2, 0.3]
    balls = scene.balls.position[scene.balls.body == 0]
    assert balls == pytest.approx(np.array([[0, 0, -0.9], [0, 0, -0.1]]))
    (mesh,) = scene.meshes
    assert mesh.half == pytest.approx(np.full(3, 0.1))
    places, _ = mesh.solids.placed(positions, rotations)
    assert places == pytest.approx(np.array([[0.1, 0.1, -0.9]]))
    # The stage has room for the far corner of the cube.
    stage = stage_of(scene, [Frame(positions, rotations, 0.0, None)])
    assert np.abs(stage.places(np.array([0.2, 0.2, -0.8]))).max() <= 5.0 + 1e-6


def test_frames_welded_to_a_body_with_a_shape_are_not_drawn() -> None:
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_body("arm", joint=HINGE, density=1, shape=ar.shapes.Sphere(radius=0.1))
    b.add_body("tool", parent="arm", joint=ar.Weld(), position=(0, 0, -0.5), mass=1, inertia=1)
    scene = scene_of(b.build(), np.array([[0.0, 0, 0], [0, 0, -0.5]]), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)))
    assert scene.balls.body.tolist() == [0] and scene.boxes.number == 0 and set(scene.rods.body.tolist()) == {0}


def test_a_mesh_that_has_gone_is_named_with_its_body(tmp_path: Path) -> None:
    model = shaped(tmp_path)
    (tmp_path / "cube.stl").unlink()
    with pytest.raises(ar.ModelError, match=r"body 'c', shape: mesh .*cube\.stl: there is no file"):
        scene_of(model, np.zeros((4, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (4, 1)))


def test_meshes_are_smooth_but_for_their_edges() -> None:
    # A cube has three corners at each of its own; a ball has one.
    vertices, triangles = smooth(CUBE, SIDES)
    assert len(vertices) == 24 and len(triangles) == 12
    round_ = ball(3)
    assert len(smooth(round_.vertices, round_.triangles).vertices) == len(round_.vertices)
    # The shell of a tube of 40 sides is smooth, and its ends have corners of their own.
    places, sides = tube(40)
    assert len(smooth(places, sides).vertices) <= len(places) + 2 * 40


def test_fine_meshes_are_drawn_with_fewer_triangles_in_the_same_place() -> None:
    fine = ball(5)
    mesh, middle, half = drawn(fine.vertices + [5.0, 0.0, 0.0], fine.triangles, 2_000)
    assert 300 < len(mesh.triangles) <= 2_000
    assert middle == pytest.approx([5.0, 0.0, 0.0], abs=1e-12) and half == pytest.approx(np.ones(3), abs=1e-2)
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(4.0 / 3.0 * np.pi, rel=0.05)


def test_shapes_change_nothing_in_the_dynamics(tmp_path: Path) -> None:
    model = shaped(tmp_path)
    b = ar.ModelBuilder(units="kg-m-s")
    for k, name in enumerate(model.names):
        moments = model.inertias[k][[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)
        seat = {} if k == 0 else {"parent": "a", "position": (0, 0, -1)}
        b.add_body(name, joint=HINGE, mass=model.masses[k], inertia=moments, com=model.centres[k], **seat)
    q, u = np.array([0.3, -0.2, 1.0, 0.4]), np.array([1.0, 2.0, -1.0, 0.5])
    assert np.array_equal(ar.forward_dynamics(model, q, u), ar.forward_dynamics(b.build(), q, u))
