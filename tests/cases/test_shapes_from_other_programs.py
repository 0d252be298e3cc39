"""Shapes from GSD and structure files: what they weigh, what is drawn of them, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ArticulonError, CaseError, ModelError
from articulon.model.array_rotations import matrices
from articulon.studio import colours
from articulon.studio.scene import Scene, scene_of
from tests.support.meshes import CUBE, SIDES

gsd = pytest.importorskip("gsd.hoomd")

CORNERS = [[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)]
SHAPES: dict[str, dict[str, Any]] = {
    "ball": {"type": "Sphere", "diameter": 3.0},
    "egg": {"type": "Ellipsoid", "a": 3.0, "b": 2.0, "c": 1.0},
    "dimer": {"type": "SphereUnion", "centers": [[0, 0, 0], [0, 0, 2]], "diameters": [2.0, 2.0]},
    "brick": {"type": "ConvexPolyhedron", "vertices": [*CORNERS, [0.0, 0.5, 0.0]]},
    "cube": {"type": "Mesh", "vertices": np.array(CUBE).tolist(), "indices": np.array(SIDES).tolist()},
    "plain": {},
    "rounded": {"type": "ConvexPolyhedron", "vertices": CORNERS, "rounding_radius": 0.1},
    "flat": {"type": "ConvexPolyhedron", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]},
    "square": {"type": "Polygon", "vertices": [[0, 0], [1, 0], [1, 1]]},
    "torn": {"type": "Mesh", "vertices": [[0, 0, 0]], "indices": [[0, 1, 2]]},
    "wrong": {"type": "Sphere", "diameter": "large"},
    "none": {"type": "Sphere", "diameter": -1.0},
}
PDB = """\
MODEL        1
ATOM      1  N  AALA A   1      10.000   0.000   0.000  0.50  0.00           N
ATOM      2  N  BALA A   1      19.000   0.000   0.000  0.50  0.00           N
ATOM      3  C   ALA A   1      12.000   1.000   0.000  1.00  0.00           C
HETATM    4  O   HOH A   2      50.000   0.000   0.000  1.00  0.00           O
ENDMDL
MODEL        2
ATOM      1  N   ALA A   1      90.000   0.000   0.000  1.00  0.00           N
ENDMDL
END
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A GSD file with a type of particles of each shape."""
    frame = gsd.Frame()
    count = len(SHAPES)
    frame.particles.N, frame.particles.types, frame.particles.typeid = count, list(SHAPES), np.arange(count)
    frame.particles.position, frame.particles.diameter = np.zeros((count, 3)), np.arange(count) + 1.0
    frame.particles.type_shapes, frame.configuration.box = list(SHAPES.values()), [9, 9, 9, 0, 0, 0]
    with gsd.open(str(tmp_path / "shapes.gsd"), "w") as out:
        out.append(frame)
    return tmp_path / "shapes.gsd"


@pytest.fixture
def peptide(tmp_path: Path) -> Path:
    """A structure file with two models, an atom in two places, and water."""
    (tmp_path / "peptide.pdb").write_text(PDB)
    return tmp_path / "peptide.pdb"


def drawn(*shape: ar.shapes.Shape, units: str = "kg-m-s") -> tuple[Scene, ar.Model]:
    """What is drawn of a body at the origin that has a shape."""
    b = ar.ModelBuilder(units=units)
    b.add_body("thing", mass=1.0, inertia=1.0, joint=ar.Free(), shape=shape)
    model = b.build()
    return scene_of(model, *ar.body_poses(model, model.q0)), model


def same_measures(one: ar.shapes.Shape, other: ar.shapes.Shape) -> None:
    assert one.volume == pytest.approx(other.volume, rel=1e-12)
    np.testing.assert_allclose(one.centre, other.centre, atol=1e-12)
    np.testing.assert_allclose(one.inertia(2.0), other.inertia(2.0), rtol=1e-12, atol=1e-12)


def test_particles_weigh_what_the_same_shapes_of_ours_do(file: Path) -> None:
    place = {"position": (1.0, 2.0, 3.0), "rotation": (0.6, 0.0, 0.8, 0.0)}
    particle = ar.shapes.Particle
    same_measures(particle(str(file), type="ball", **place), ar.shapes.Sphere(radius=1.5, **place))
    same_measures(particle(str(file), type="plain"), ar.shapes.Sphere(radius=3.0))
    same_measures(particle(str(file), type="brick", **place), ar.shapes.Box(size=(2.0, 4.0, 6.0), **place))
    same_measures(particle(str(file), type="brick", scale=0.5), ar.shapes.Box(size=(1.0, 2.0, 3.0)))
    egg, dimer = particle(str(file), type="egg"), particle(str(file), type="dimer")
    assert egg.volume == pytest.approx(8.0 * np.pi)
    np.testing.assert_allclose(egg.inertia(1.0), 8.0 * np.pi / 5.0 * np.diag([5.0, 10.0, 13.0]), atol=1e-12)
    # Two balls of radius 1, each at a distance of 1 from their middle.
    ball = 4.0 / 3.0 * np.pi
    np.testing.assert_allclose(dimer.centre, [0.0, 0.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(dimer.inertia(1.0), 2.0 * ball * np.diag([1.4, 1.4, 0.4]), atol=1e-12)
    cube = particle(str(file), type="cube")
    assert cube.volume == pytest.approx(float(np.ptp(np.array(CUBE), axis=0).prod()))


def test_particles_are_drawn_where_they_are(file: Path) -> None:
    turn = np.array([0.6, 0.0, 0.8, 0.0])
    place = {"position": (1.0, 0.0, 0.0), "rotation": tuple(turn), "scale": "50 cm"}
    scene, _ = drawn(*(ar.shapes.Particle(str(file), type=name, **place) for name in ("egg", "dimer")))
    np.testing.assert_allclose(scene.balls.size, [[1.5, 1.0, 0.5], [0.5] * 3, [0.5] * 3])
    above = np.array([1.0, 0.0, 0.0]) + matrices(turn[None])[0] @ [0.0, 0.0, 1.0]
    np.testing.assert_allclose(scene.balls.position, [[1, 0, 0], [1, 0, 0], above], atol=1e-15)
    np.testing.assert_allclose(scene.balls.rotation, np.tile(turn, (3, 1)))
    scene, _ = drawn(*(ar.shapes.Particle(str(file), type=name, **place) for name in ("brick", "cube", "brick")))
    assert sorted(mesh.solids.number for mesh in scene.meshes) == [1, 2]
    brick = next(mesh for mesh in scene.meshes if mesh.solids.number == 2)
    np.testing.assert_allclose(brick.half, [0.5, 1.0, 1.5])


def test_atoms_are_balls_of_their_elements(peptide: Path) -> None:
    """Those of the first model, in their first places, without water; a unit of the file is an ångström."""
    scene, model = drawn(ar.shapes.Atoms(str(peptide)), units="Da-nm-ps")
    np.testing.assert_allclose(scene.balls.position, [[1.0, 0.0, 0.0], [1.2, 0.1, 0.0]])
    np.testing.assert_allclose(scene.balls.size, np.outer([0.155, 0.170], np.ones(3)), rtol=0.05)
    assert np.array_equal(scene.balls.colour, colours.of_elements(["N", "C"]))
    assert model.masses[0] == 1.0
    scene, _ = drawn(ar.shapes.Atoms(str(peptide), centred=True, position=(0, 0, 1)), units="Da-nm-ps")
    np.testing.assert_allclose(scene.balls.position, [[-0.1, -0.05, 1.0], [0.1, 0.05, 1.0]], atol=1e-15)
    scene, _ = drawn(ar.shapes.Atoms(str(peptide), scale=0.5), units="lj")
    np.testing.assert_allclose(scene.balls.position[0], [5.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (None, "type: the file has several, ball, egg, dimer"),
        ("bal", "has no particles 'bal'; did you mean 'ball'"),
        ("rounded", "a rounding_radius is not supported"),
        ("flat", "its vertices lie in a plane"),
        ("square", "Polygon is not supported"),
        ("torn", "'indices' names vertices that do not exist"),
        ("wrong", "'diameter' is missing or has invalid numbers"),
        ("none", "its sizes must be positive"),
    ],
)
def test_what_a_file_does_not_have_is_refused_by_name(file: Path, name: str | None, message: str) -> None:
    with pytest.raises(ModelError, match=message) as refused:
        drawn(ar.shapes.Particle(str(file), type=name))
    assert "body 'thing', shape: particle" in str(refused.value) and "shapes.gsd" in str(refused.value)


def test_files_that_are_none_are_refused(tmp_path: Path, peptide: Path) -> None:
    with pytest.raises(ModelError, match="body 'thing', shape: there is no GSD file"):
        drawn(ar.shapes.Particle(str(tmp_path / "none.gsd")))
    with pytest.raises(ModelError, match="cannot be read as a GSD file"):
        drawn(ar.shapes.Particle(str(peptide)))
    (tmp_path / "empty.pdb").write_text("END\n")
    with pytest.raises(ModelError, match=r"body 'thing', shape: atoms .*empty.pdb.*contains no atoms"):
        drawn(ar.shapes.Atoms(str(tmp_path / "empty.pdb")))
    b = ar.ModelBuilder(units="Da-nm-ps")
    with pytest.raises(ModelError, match="spheres of atoms overlap"):
        b.add_body("thing", density=1.0, joint=ar.Free(), shape=ar.shapes.Atoms(str(peptide)))
    with pytest.raises(ArticulonError, match="scale"):
        drawn(ar.shapes.Atoms(str(peptide)), units="lj")


def test_a_case_names_them_beside_it(file: Path, peptide: Path) -> None:
    text = f"""
[case]
units = "Da-nm-ps"

[[model.bodies]]
name = "thing"
joint = "free"
density = "1 g/cm^3"
shape = {{ kind = "particle", file = "{file.name}", type = "ball", scale = "1 nm" }}

[[model.bodies]]
name = "other"
joint = "free"
mass = 1.0
inertia = 1.0
shape = {{ kind = "atoms", file = "{peptide.name}" }}

[integrator]
rule = "rk4"
step = 0.01

[run]
duration = 0.1
"""
    path = file.parent / "case.toml"
    path.write_text(text)
    case = ar.load_case(path)
    model = case.build_model()
    assert [[shape.kind for shape in several] for several in model.shapes] == [["particle"], ["atoms"]]
    # 1 g/cm³ is 602.2 Da/nm³.
    assert model.masses[0] == pytest.approx(602.214 * 4.0 / 3.0 * np.pi * 1.5**3, rel=1e-5)
    (file.parent / "elsewhere").mkdir()
    again = file.parent / "elsewhere" / "case.toml"
    again.write_text(case.to_toml())
    assert ar.load_case(again).build_model().shapes == model.shapes
    peptide.write_text(PDB.replace("10.000", "11.000"))
    with pytest.raises(CaseError, match=r"bodies\[1\]\.shape\[0\]"):
        ar.load_case(again)
