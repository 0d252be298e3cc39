"""Walls in case files: meshes beside them, what is wrong said by key, and runs that are killed in the middle of
contacts with a mesh that moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError
from tests.support.meshes import CUBE, SIDES
from tests.support.run_cases import goes_on_after_kills

TUMBLER = """
[case]
title = "Two balls in a box that tumbles"
units = "kg-m-s"

[model]
builder = "grains"

[[model.grains]]
name = "one"
radius = "10 mm"
density = "2500 kg/m^3"
position = ["-12 mm", "1 mm", "-39.5 mm"]

[[model.grains]]
name = "other"
radius = "10 mm"
density = "2500 kg/m^3"
position = ["12 mm", 0, "-39.7 mm"]

[[forces]]
kind = "gravity"
acceleration = [0, 0, "-9.81 m/s^2"]

[[forces]]
kind = "contact"

[forces.materials.grain]
young = "10 MPa"
poisson = 0.25
static_friction = 0.3
restitution = 0.8

[[forces.walls]]
shape = "mesh"
file = "box.off"
file_unit = "1 mm"
kind = "grain"
angular_velocity = ["1 rad/s", "-3 rad/s", "2 rad/s"]
amplitude = [0, 0, "2 mm"]
frequency = "5 Hz"

[integrator]
rule = "velocity-verlet"
step = "20 us"

[run]
duration = "2 s"
frames = 40
"""


def box_file(path: Path, triangles: np.ndarray = SIDES) -> None:
    """A cube of 100 mm as an OFF file."""
    lines = ["OFF", f"{len(CUBE)} {len(triangles)} 0"]
    lines += [" ".join(f"{x:g}" for x in point) for point in 100.0 * (CUBE - 0.5)]
    lines += ["3 " + " ".join(map(str, triangle)) for triangle in triangles]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("trimesh")
    box_file(tmp_path / "box.off")
    (tmp_path / "case.toml").write_text(TUMBLER)
    return tmp_path


@pytest.mark.slow
def test_a_run_killed_in_contact_with_a_moving_mesh_goes_on_to_the_same_bits(folder: Path) -> None:
    whole = goes_on_after_kills(folder, TUMBLER, (0.15, 0.4))
    assert whole.summary["contacts"]["ledger_error_relative"] < 1e-10


@pytest.mark.slow
def test_a_run_does_not_go_on_with_another_mesh(folder: Path) -> None:
    short = {"run.duration": "10 ms"}
    ar.run(folder / "case.toml", folder / "run", overrides=short, report=False)
    box_file(folder / "box.off", np.roll(SIDES, 1, axis=0))
    with pytest.raises(CaseError, match="sha256"):
        ar.run(folder / "case.toml", folder / "run", overrides=short, resume=True, report=False)


def test_what_is_wrong_with_walls_is_said_by_key(folder: Path) -> None:
    case = folder / "case.toml"
    for old, new, said in (
        ('"box.off"', '"bax.off"', r"case.toml: forces\[1\].walls\[0\].file: .*bax.off cannot be read"),
        ('shape = "mesh"', 'shape = "mash"', r"forces\[1\].walls\[0\].shape: unknown word 'mash'; did you mean 'mesh'"),
        ('amplitude = [0, 0, "2 mm"]', "", r"forces\[1\].walls\[0\]: an oscillating wall needs both"),
        ('"5 Hz"', '"5 m"', r"forces\[1\].walls\[0\].frequency"),
        ("file_unit", "unit", r"forces\[1\].walls\[0\].unit: unknown key; did you mean 'file_unit'"),
    ):
        case.write_text(TUMBLER.replace(old, new))
        with pytest.raises(CaseError, match=said):
            ar.run(case, folder / "run", report=False)
    box_file(folder / "box.off", SIDES[1:])
    case.write_text(TUMBLER)
    with pytest.raises(CaseError, match=r"case.toml: forces\[1\].walls\[0\]: .*box.off: it is not closed"):
        ar.run(case, folder / "run", report=False)
