"""Loops and driven joints in case files: the model that the builder makes, kept when written, and refused by key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar

BARS = """
[case]
units = "kg-m-s"

[[model.bodies]]
name = "crank"
joint = "revolute"
mass = "600 g"
inertia = [1e-3, 0.02, 0.02]
com = ["30 cm", 0, 0]
q = "60 deg"

[[model.bodies]]
name = "coupler"
parent = "crank"
joint = "revolute"
mass = 1.9
inertia = [3e-3, 0.6, 0.6]
com = [0.95, 0, 0]
position = [0.6, 0, 0]
q = "-1 rad"

[[model.bodies]]
name = "rocker"
joint = "revolute"
mass = 1.4
inertia = [2e-3, 0.23, 0.23]
com = [0.7, 0, 0]
position = [2, 0, 0]
q = "90 deg"

[[model.loops]]
name = "closure"
joint = "revolute"
parent = "rocker"
child = "coupler"
position = ["1.4 m", 0, 0]
child_position = [1.9, 0, 0]

[run]
duration = "1 s"
"""

DRIVE = """
[[model.drives]]
body = "crank"
times = [0, "250 ms", 0.5, 0.75, 1.0, 2.0]
values = ["60 deg", "70 deg", "90 deg", "120 deg", "160 deg", "360 deg"]
"""


@pytest.fixture
def bars(tmp_path: Path) -> Path:
    """A four-bar linkage."""
    file = tmp_path / "bars.toml"
    file.write_text(BARS, encoding="utf-8")
    return file


def refusal(file: Path, overrides: dict[str, Any] | None = None) -> str:
    with pytest.raises(ar.CaseError) as caught:
        ar.load_case(file, overrides, allow_code=True).build_model()
    assert caught.value.__cause__ is None
    return str(caught.value)


def by_builder(**crank: Any) -> Any:
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body(
        "crank", joint=hinge, mass=0.6, inertia=(1e-3, 0.02, 0.02), com=(0.3, 0, 0), **{"q": np.pi / 3, **crank}
    )
    builder.add_body(
        "coupler", parent="crank", joint=hinge, mass=1.9, inertia=(3e-3, 0.6, 0.6), com=(0.95, 0, 0),
        position=(0.6, 0, 0), q=-1.0,
    )  # fmt: skip
    builder.add_body(
        "rocker", joint=hinge, mass=1.4, inertia=(2e-3, 0.23, 0.23), com=(0.7, 0, 0), position=(2, 0, 0), q=np.pi / 2
    )
    builder.add_loop(
        "closure", joint=hinge, parent="rocker", child="coupler", position=(1.4, 0, 0), child_position=(1.9, 0, 0)
    )
    return builder


def test_a_loop_in_a_case_is_the_one_that_the_builder_makes(bars: Path) -> None:
    model, built = ar.load_case(bars).build_model(), by_builder().build()
    assert model.degrees_of_freedom == 1
    assert [loop.name for loop in model.loop_joints] == ["closure"]
    np.testing.assert_allclose(model.q0, built.q0, rtol=0, atol=1e-15)
    assert np.abs(ar.loop_residuals(model, model.q0)).max() < 1e-12


def test_given_coordinates_and_speeds_stay_and_those_left_out_follow(bars: Path) -> None:
    left_out = {f"model.bodies.{name}.q": None for name in ("coupler", "rocker")}
    given = {"model.bodies.crank.q": 1.0, "model.bodies.crank.u": 2.0}
    # From all bars along x the other way of assembling is as near; one angle says which is meant.
    model = ar.load_case(bars, {**left_out, **given, "model.bodies.rocker.q": 1.4}).build_model()
    assert abs(ar.loop_residuals(model, model.q0)).max() < 1e-12
    assert model.u0[0] == 2.0 and abs(model.u0[1]) > 0.1 and abs(model.u0[2]) > 0.1
    assert np.abs(ar.loop_jacobian(model, model.q0) @ model.u0).max() < 1e-12
    wrong = {**given, "model.bodies.rocker.u": 0.0, "model.bodies.coupler.u": 0.0}
    line = refusal(bars, wrong)
    assert line.startswith(f"{bars}: loop 'closure': the given initial speeds violate it")
    # What is zero because it was left out is no speed that was given, also not in what a run writes of its case.
    case = ar.load_case(bars, {**left_out, **given, "model.bodies.rocker.q": 1.4})
    again = case.with_overrides({"run.seed": 2}).build_model()
    np.testing.assert_array_equal(again.u0, model.u0)


def test_a_driven_joint_follows_its_table_or_its_function(bars: Path, tmp_path: Path) -> None:
    bars.write_text(BARS + DRIVE, encoding="utf-8")
    case = ar.load_case(bars)
    drive = case.model_declaration.drives[0]  # type: ignore[union-attr]
    assert drive.times == (0.0, 0.25, 0.5, 0.75, 1.0, 2.0)
    np.testing.assert_allclose(drive.values, np.radians([60, 70, 90, 120, 160, 360]), rtol=1e-15)
    model = case.build_model()
    assert model.degrees_of_freedom == 0
    assert model.q0[0] == pytest.approx(np.pi / 3, abs=1e-12)
    (tmp_path / "turning.py").write_text(
        "def turn(time, result):\n    result[0], result[1], result[2] = 1.0 + 3.0 * time, 3.0, 0.0\n", encoding="utf-8"
    )
    by_function = {"body": "crank", "function": "turning.py:turn"}
    turning = ar.load_case(bars, {"model.drives": [by_function]}, allow_code=True)
    assert turning.model_declaration.drives[0].function == f"{tmp_path.resolve() / 'turning.py'}:turn"  # type: ignore[union-attr]
    model = turning.build_model()
    assert (model.q0[0], model.u0[0]) == (pytest.approx(1.0, abs=1e-12), pytest.approx(3.0, abs=1e-12))


def test_a_case_with_loops_and_drives_reads_back_as_the_same_case(bars: Path, tmp_path: Path) -> None:
    bars.write_text(BARS + DRIVE, encoding="utf-8")
    case = ar.load_case(bars, {"model.loops.closure.joint": "spherical", "model.bodies.rocker.q": None})
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml(), encoding="utf-8")
    again = ar.load_case(file)
    assert again == case and again.digest() == case.digest() and again.name == "bars"
    assert again.model_declaration.bodies[2].q is None  # type: ignore[union-attr]
    with_other = case.with_overrides({"model.loops.closure.position": [1.41, 0, 0]})
    assert case.differences(with_other) == ["model.loops[0].position[0]"]


def changed(**keys: Any) -> dict[str, Any]:
    return {f"model.loops.closure.{key}": value for key, value in keys.items()}


def driven(**keys: Any) -> dict[str, Any]:
    drive = {"body": "crank", "times": [0, 1, 2, 3], "values": [0, 1, 2, 3], **keys}
    return {"model.drives": [{key: value for key, value in drive.items() if value is not None}]}


IMPOSSIBLE: dict[str, tuple[dict[str, Any], str, str]] = {
    "no such parent": (changed(parent="rokcer"), "model.loops[0].parent", "did you mean 'rocker'?"),
    "no such child": (changed(child="ground0"), "model.loops[0].child", "did you mean 'ground'?"),
    "one body": (changed(child="rocker"), "model.loops[0].child", "a loop joins two bodies"),
    "no child": (changed(child=None), "model.loops[0].child", "is required"),
    "free": (changed(joint="free"), "model.loops[0].joint", "cannot close a loop"),
    "unknown joint": (changed(joint="hinge"), "model.loops[0].joint", "'revolute'"),
    "unknown key": (changed(positon=[0, 0, 0]), "model.loops[0].positon", "did you mean 'position'?"),
    "a time for a length": (changed(position=["1 s", 0, 0]), "model.loops[0].position[0]", "expected a length"),
    "an axis too many": (changed(joint="spherical", axis=[0, 0, 1]), "model.loops[0].axis", "has no axis"),
    "an axis that is none": (changed(axis=[0, 0, 0]), "model.loops[0].axis", "not all zero"),
    "rotation": (changed(child_rotation=[1, 1, 0, 0]), "model.loops[0].child_rotation", "norm 1.414"),
    "no such driven body": (driven(body="cark"), "model.drives[0].body", "did you mean 'crank'?"),
    "the ground's joint": (driven(body="ground"), "model.drives[0].body", "no body 'ground'"),
    "component": (driven(component=1), "model.drives[0].component", "has 1 coordinates"),
    "a length for an angle": (driven(values=[0, 1, "2 m", 3]), "model.drives[0].values[2]", "expected an angle"),
    "too few values": (driven(values=[0, 1]), "model.drives[0]", "2 values for 4 times"),
    "table and function": (driven(function="math:sin"), "model.drives[0]", "either times and values, or a function"),
    "nothing": (driven(times=None, values=None), "model.drives[0]", "either times and values, or a function"),
    "too short a table": (driven(times=[0, 1], values=[0, 1]), "model.drives[0]", "at least 4 increasing times"),
    "no such function": (
        driven(times=None, values=None, function="motions.py:turn"),
        "model.drives[0].function",
        "cannot load 'motions.py:turn'",
    ),
    "same name": (driven(name="closure"), "model.drives[0].name", "already the name of model.loops[0]"),
    "does not close": (changed(position=[9.0, 0, 0]), "loop 'closure'", "cannot be closed"),
}


@pytest.mark.parametrize("fault", IMPOSSIBLE)
def test_what_cannot_be_is_refused_by_file_key_and_hint(bars: Path, fault: str) -> None:
    overrides, key, hint = IMPOSSIBLE[fault]
    line = refusal(bars, overrides)
    assert line.startswith(f"{bars}: {key}"), line
    assert hint in line
    assert "\n" not in line
