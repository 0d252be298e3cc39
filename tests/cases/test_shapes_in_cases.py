"""Shapes of bodies in case files: read, refused by key and body, written and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

import articulon as ar
from tests.identities.test_shapes import shaped, stl
from tests.support.meshes import CUBE, SIDES

CASE = """
[case]
title = "An arm"
units = "kg-m-s"

[[model.bodies]]
name = "upper"
joint = "revolute"
axis = [0, 1, 0]
density = "1000 kg/m^3"
shape = { kind = "capsule", radius = "5 cm", length = "50 cm", position = ["0 cm", "0 cm", "-25 cm"] }

[[model.bodies]]
name = "lower"
parent = "upper"
joint = "revolute"
axis = [0, 1, 0]
position = [0.0, 0.0, -0.5]
density = "1 g/cm^3"
shape = [{ kind = "box", size = [0.1, 0.1, 0.4] }, { kind = "mesh", file = "hand.stl", scale = "1 cm" }]

[integrator]
rule = "rk4"
step = 0.01

[run]
duration = 0.1
"""


def written(tmp_path: Path, text: str = CASE) -> Path:
    """The case and its mesh in a folder."""
    stl(tmp_path / "hand.stl", CUBE, SIDES)
    path = tmp_path / "arm.toml"
    path.write_text(text)
    return path


def test_a_case_has_the_shapes_and_the_masses_that_follow(tmp_path: Path) -> None:
    model = ar.load_case(written(tmp_path)).build_model()
    assert [[shape.kind for shape in several] for several in model.shapes] == [["capsule"], ["box", "mesh"]]
    assert model.masses[1] == pytest.approx(1000.0 * (0.1 * 0.1 * 0.4 + 0.01**3), rel=1e-12)
    assert model.shapes[0][0] == ar.shapes.Capsule(radius=0.05, length=0.5, position=(0.0, 0.0, -0.25))


def test_shapes_survive_the_file_of_a_run_folder(tmp_path: Path) -> None:
    case = ar.load_case(written(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    again = tmp_path / "elsewhere" / "case.toml"
    again.write_text(case.to_toml())
    read = ar.load_case(again)
    assert read.build_model().shapes == case.build_model().shapes
    assert read.digest() == case.digest()


def test_shapes_of_a_model_in_python_are_in_the_case_of_its_run(tmp_path: Path) -> None:
    model = shaped(tmp_path)
    run = ar.simulate(model, 0.01, rule="rk4", step=0.01)
    folder = run.save(tmp_path / "run")
    opened = ar.open_run(tmp_path / "run" if folder is None else folder)
    assert opened.model.shapes == model.shapes


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('radius = "5 cm"', 'radius = "-5 cm"', r"bodies\[0\]\.shape\[0\]\.radius: must be greater than 0"),
        ('kind = "capsule"', 'kind = "capsul"', r"bodies\[0\]\.shape\[0\].*capsule"),
        ('length = "50 cm"', 'size = "50 cm"', r"bodies\[0\]\.shape\[0\]\.size"),
        ('file = "hand.stl"', 'file = "foot.stl"', r"shape\[1\]\.file, body 'lower': .*foot\.stl cannot be read"),
        ('density = "1000 kg/m^3"\n', "", r"bodies\[0\]\.mass: is required: .* a shape with a density"),
        ('density = "1000 kg/m^3"', "density = 1000\nmass = 1", "body 'upper': give either a mass or a density"),
    ],
)
def test_what_is_wrong_with_a_shape_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in CASE
    path = written(tmp_path, CASE.replace(old, new))
    with pytest.raises(ar.CaseError, match=message) as caught:
        ar.load_case(path).build_model()
    assert str(path) in str(caught.value)


def test_a_mesh_that_has_changed_is_not_taken_for_the_one_of_the_run(tmp_path: Path) -> None:
    case = ar.load_case(written(tmp_path))
    again = tmp_path / "again.toml"
    again.write_text(case.to_toml())
    stl(tmp_path / "hand.stl", 2.0 * CUBE, SIDES)
    with pytest.raises(ar.CaseError, match=r"hand\.stl does not match .*shape\[1\]\.sha256"):
        ar.load_case(again)
