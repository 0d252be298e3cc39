"""Case files: what they mean, that writing one loses nothing, and that what cannot be is refused by file and key."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import articulon as ar
from articulon.cases.case import Case
from articulon.cases.library import built_in_cases, titles
from articulon.cases.overrides import assignment, parts, value_of, values_of
from articulon.cases.references import REFERENCES, bibliography
from articulon.cases.toml_writing import toml

ROD = """
[case]
title = "A rod on a sphere, in water"
units = "zg-nm-ns"
cite = ["guy2018", "A. N. Author, A report, 2020"]
notes = "One \\"note\\",\\nof two lines."

[[model.bodies]]
name = "arm"
parent = "core"
joint = "revolute"
axis = [0, 2, 0]
mass = "1 ag"
inertia = ["1 ag nm^2", 1000, 1000]
q = "30 deg"
u = 2
position = ["0.01 um", 0, 0]

[[model.bodies]]
name = "core"
joint = "free"
mass = 1000
inertia = 2000
q = [0, 0, "1 um", 1, 0, 0, 0]

[[model.sites]]
body = "arm"
charge = 1

[[model.sites]]
body = "ground"
kind = "receptor"

[[forces]]
kind = "stokes-drag"
viscosity = "0.89 mPa s"
radius = { "co*" = "20 nm", arm = "1 nm" }

[[forces]]
kind = "brownian"
temperature = "300 K"

[[forces]]
kind = "gravity"
acceleration = [0, 0, "-9.81 m/s^2"]

[integrator]
rtol = { position = 1e-6 }

[run]
duration = "0.1 us"
stop = { body = "core", direction = [0, 0, -1], advance = "3 nm", label = "landed" }

[variants]
constant.scaling = { policy = "constant", a2 = 0.2 }
implicit.integrator = { rule = "friction-implicit", step = "1 ns" }
quiet.forces.brownian = false
thick."forces.stokes-drag.viscosity" = "2 mPa s"

[compare]
reference = "implicit"
"""


@pytest.fixture
def rod(tmp_path: Path) -> Path:
    """A case that uses every section."""
    file = tmp_path / "rod.toml"
    file.write_text(ROD, encoding="utf-8")
    return file


def refusal(file: Path, overrides: dict[str, Any] | None = None) -> str:
    with pytest.raises(ar.CaseError) as caught:
        ar.load_case(file, overrides).build_model()
    assert caught.value.__cause__ is None
    return str(caught.value)


# What a case means


def test_quantities_are_floats_in_the_units_of_the_case(rod: Path) -> None:
    case = ar.load_case(rod)
    drag, noise, gravity = case.forces
    assert case.units.name == "zg-nm-ns"
    assert case.run.duration == 100.0
    assert drag.viscosity == 890.0  # 1 zg/(nm ns) is 1 μPa s
    assert drag.radius == {"co*": 20.0, "arm": 1.0}
    assert noise.temperature == 300.0
    assert gravity.acceleration == (0.0, 0.0, -9.81e-9)
    assert case.run.stop.advance == 3.0


def test_an_explicit_model_has_parents_first_and_else_the_order_of_the_file(rod: Path) -> None:
    model = ar.load_case(rod).build_model()
    assert model.names == ("core", "arm")
    assert model.parents.tolist() == [-1, 0]
    # The conversion is rounded once, that of math.radians twice.
    expected = [0, 0, 1000, 1, 0, 0, 0, math.radians(30)]
    np.testing.assert_allclose(model.q0, expected, rtol=np.finfo(float).eps, atol=0)
    np.testing.assert_array_equal(model.u0, [0, 0, 0, 0, 0, 0, 2])
    np.testing.assert_array_equal(model.masses, [1000, 1000])
    assert model.sites.body.tolist() == [1, -1]
    assert model.sites.kinds == ("site", "receptor")
    assert [force.kind for force in model.forces] == ["stokes-drag", "brownian", "gravity"]


def test_an_explicit_model_is_the_one_that_the_builder_makes(rod: Path) -> None:
    builder = ar.ModelBuilder(units="zg-nm-ns")
    core = builder.add_body("core", mass=1000, inertia=2000, joint=ar.Free(), q=(0, 0, 1000, 1, 0, 0, 0))
    arm = ar.Revolute(axis=(0, 1, 0))
    builder.add_body("arm", parent=core, mass=1000, inertia=1000, joint=arm, position=(10, 0, 0), q=(0.5,))
    built, model = builder.build(), ar.load_case(rod, {"model.bodies.arm.q": 0.5}).build_model()
    np.testing.assert_array_equal(ar.mass_matrix(model, model.q0), ar.mass_matrix(built, built.q0))


@pytest.mark.parametrize("count", [3, 50])
def test_a_chain_written_backwards_is_sorted(tmp_path: Path, count: int) -> None:
    names = [f"link-{k}" for k in range(count)]
    bodies = [
        {"name": name, "parent": parent, "joint": "spherical", "mass": 1.0, "inertia": 1.0, "position": [0.0, 0.0, 1.0]}
        for name, parent in zip(names, ["ground", *names], strict=False)
    ]
    file = tmp_path / "chain.toml"
    file.write_text(toml({"model": {"bodies": bodies[::-1]}, "run": {"duration": 1.0}}), encoding="utf-8")
    assert ar.load_case(file).build_model().names == tuple(names)


def test_a_case_without_a_heading_is_named_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "plain.toml"
    body = '[[model.bodies]]\nname = "a"\nmass = 1\ninertia = 1\njoint = "free"\n'
    file.write_text(f"{body}[run]\nduration = 1", encoding="utf-8")
    case = ar.load_case(file)
    assert (case.name, case.title, case.units.name) == ("plain", "plain", "fg-um-us")
    assert (case.scaling.policy, case.integrator.rule, case.run.seed) == ("none", "kutta-merson", 1)


def test_frames_divide_the_duration(rod: Path) -> None:
    times = ar.load_case(rod).run.frame_times()
    assert len(times) == 201 and times[0] == 0.0 and times[-1] == 100.0
    by_interval = ar.load_case(rod, {"run.frame_interval": "0.1 ns"}).run
    assert by_interval.frames is None
    # A thousand tenths are a hundred, though 0.1 is no binary fraction.
    assert len(by_interval.frame_times()) == 1001 and by_interval.frame_times()[-1] == 100.0
    assert ar.load_case(rod, {"run.frame_interval": 30}).run.frame_times() == [0.0, 30.0, 60.0, 90.0]


# Writing and reading back


def test_a_resolved_case_reads_back_as_the_same_case(rod: Path, tmp_path: Path) -> None:
    case = ar.load_case(rod)
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml(), encoding="utf-8")
    again = ar.load_case(file)
    assert again == case
    assert again.name == "rod"
    assert (again.to_toml(), again.digest()) == (case.to_toml(), case.digest())
    table = tomllib.loads(case.to_toml())
    assert table["versions"]["articulon"] == ar.__version__
    assert set(table["versions"]) == {"articulon", "numpy", "numba", "python"}
    assert (table["run"]["frames"], table["run"]["seed"], table["scaling"]["policy"]) == (200, 1, "none")


@pytest.mark.parametrize("name", ["constant", "implicit", "quiet", "thick"])
def test_a_variant_reads_back_as_the_same_case(rod: Path, tmp_path: Path, name: str) -> None:
    case = ar.load_case(rod).variant(name)
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml(), encoding="utf-8")
    assert ar.load_case(file) == case
    assert case.name == f"rod-{name}"


def test_a_case_without_a_force_that_a_variant_changes_reads_back(rod: Path, tmp_path: Path) -> None:
    case = ar.load_case(rod, {"forces.brownian": False})
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml(), encoding="utf-8")
    assert ar.load_case(file) == case


SCALARS = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(st.characters(codec="utf-8"))
)
KEYS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_what_is_written_as_toml_reads_back_equal(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml(table)) == table


def test_the_digest_is_of_what_determines_the_numbers(rod: Path) -> None:
    case = ar.load_case(rod)
    same = {"case.title": "Other", "case.notes": [], "run.threads": 1, "run.checkpoint_interval": 1.0, "variants": {}}
    for key, value in {**same, "compare.reference": None}.items():
        assert case.with_overrides({key: value}).digest() == case.digest(), key
    other = {"run.seed": 2, "run.duration": 101, "run.frames": 100, "model.bodies.arm.mass": 1001.0, "scaling": "none"}
    other |= {"scaling": {"policy": "constant", "a2": 1.0}, "integrator.atol": 1e-7, "forces.gravity": False}
    other |= {"forces.brownian.shape": "uniform", "run.stop": None, "case.units": "fg-um-us"}
    digests = {case.with_overrides({key: value}).digest() for key, value in other.items()}
    assert len(digests | {case.digest()}) == len(other) + 1


def test_a_run_is_only_continued_by_the_same_case(rod: Path, tmp_path: Path) -> None:
    case = ar.load_case(rod)
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml(), encoding="utf-8")
    case.with_overrides({"run.threads": 1}).check_continues(file)
    other = case.with_overrides({"run.seed": 2, "model.bodies.core.mass": 5})
    assert case.differences(other) == ["model.bodies[1].mass", "run.seed"]
    with pytest.raises(ar.CaseError, match=r"holds another run: model\.bodies\[1\]\.mass, run\.seed differ.*out="):
        other.check_continues(file)


def test_a_force_that_is_a_python_function_cannot_be_written(rod: Path) -> None:
    case = ar.load_case(rod)
    mine = ar.forces.UserForce(function=lambda *arguments: None)
    with pytest.raises(ar.CaseError, match=r"rod\.toml: forces\.function: .* cannot be written to a case file"):
        dataclasses.replace(case, forces=(mine,)).to_toml()


def test_a_force_in_a_file_beside_the_case_is_found_from_anywhere(rod: Path) -> None:
    (rod.parent / "wind.py").write_text("def blow(*arguments): pass\n", encoding="utf-8")
    case = ar.load_case(rod, {"forces": [{"kind": "user", "function": "wind.py:blow"}]})
    assert case.forces[0].function == f"{rod.parent.resolve() / 'wind.py'}:blow"


# Overrides and variants


@pytest.mark.parametrize(
    "key, value",
    [
        ("forces[0].viscosity", "2 mPa s"),
        ("forces.stokes-drag.viscosity", 2000),
        ("forces", [{"kind": "stokes-drag", "viscosity": 2000, "radius": {"co*": 20, "arm": 1}}]),
        ("forces[0]", {"viscosity": 2000}),
        ("forces", {"stokes-drag": {"viscosity": 2000.0}}),
        ('"forces".stokes-drag."viscosity"', 2000),
    ],
)
def test_the_ways_of_naming_a_key(rod: Path, key: str, value: Any) -> None:
    drag = ar.load_case(rod, {key: value}).forces[0]
    assert (drag.viscosity, drag.radius) == (2000.0, {"co*": 20.0, "arm": 1.0})


def test_an_override_goes_into_a_resolved_case_as_into_its_file(rod: Path) -> None:
    overrides = {"run.frame_interval": "1 ns", "model.bodies.arm.q": "10 deg", "integrator.rtol.work": 1e-3}
    assert ar.load_case(rod).with_overrides(overrides) == ar.load_case(rod, overrides)


def test_overrides_leave_the_case_as_it_was(rod: Path) -> None:
    case = ar.load_case(rod)
    before = case.to_toml()
    case.with_overrides({"forces.brownian": False, "variants.thick": None, "model.sites[0].charge": 3})
    case.variant("constant")
    assert case.to_toml() == before


def test_what_decides_the_form_of_a_section_replaces_it(rod: Path) -> None:
    constant = ar.load_case(rod, {"scaling.a2": 0.1, "scaling.policy": "constant"})
    assert constant.scaling.model_dump() == {"policy": "constant", "a2": 0.1}
    two = constant.with_overrides({"scaling": {"policy": "two-factor", "a2": 0.2, "b2": 0.3}})
    assert two.scaling.model_dump() == {"policy": "two-factor", "a2": 0.2, "b2": 0.3}
    assert two.with_overrides({"scaling.policy": "none"}).scaling.model_dump() == {"policy": "none"}
    merged = two.with_overrides({"scaling": {"policy": "two-factor", "b2": 0.5}})
    assert merged.scaling.model_dump() == {"policy": "two-factor", "a2": 0.2, "b2": 0.5}
    assert constant.with_overrides({"integrator.atol": 1e-9}).integrator.rtol.position == 1e-6
    implicit = ar.load_case(rod).variant("implicit").integrator
    assert implicit.model_dump() == {
        "rule": "friction-implicit",
        "step": 1.0,
        "force_step": None,
        "drift": "steady",
        "long_range_every": 1,
    }


def test_none_goes_back_to_the_default_and_false_removes_a_force(rod: Path) -> None:
    case = ar.load_case(rod, {"run.stop": None, "forces.gravity": None, "forces.brownian": False})
    assert case.run.stop is None
    assert [force.kind for force in case.forces] == ["stokes-drag"]
    assert [force.kind for force in ar.load_case(rod).variant("quiet").forces] == ["stokes-drag", "gravity"]


def test_variants_apply_to_an_overridden_case(rod: Path) -> None:
    case = ar.load_case(rod, {"run.seed": 7, "scaling": {"policy": "constant", "a2": 0.5}})
    assert case.variant("thick").scaling.a2 == 0.5
    assert case.variant("constant").scaling.a2 == 0.2
    assert case.variant("constant").run.seed == 7
    assert case.variant("thick").forces[0].viscosity == 2000.0


@pytest.mark.parametrize(
    "text, value",
    [
        ("0.05", 0.05),
        ("3", 3),
        ("true", True),
        ("8 us", "8 us"),
        ('"8 us"', "8 us"),
        ("[0, 0, 1]", [0, 0, 1]),
        ('{policy = "constant", a2 = 0.2}', {"policy": "constant", "a2": 0.2}),
        ("constant", "constant"),
        ("2020-01-01", "2020-01-01"),
        ("1\nother = 2", "1\nother = 2"),
        ("", ""),
    ],
)
def test_a_value_on_the_command_line_is_toml_or_else_text(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert assignment(f"run.key={text}") == ("run.key", value)


def test_values_on_the_command_line_are_separated_by_commas() -> None:
    assert values_of("0.1, 0.2") == [0.1, 0.2]
    assert values_of("0.1 us,0.2 us") == ["0.1 us", "0.2 us"]
    assert values_of("[1, 2], [3, 4]") == [[1, 2], [3, 4]]


def test_the_parts_of_a_key() -> None:
    assert parts('model.bodies."a.b".q[3]') == ("model", "bodies", "a.b", "q", 3)
    assert parts("forces[0].flow [2]") == ("forces", 0, "flow", 2)


@pytest.mark.parametrize("key", ["", ".", ".run", "run.", "run..seed", "[0]", "a=b", "run[x]", 'run."seed', '""'])
def test_a_key_that_cannot_be_read_is_refused(rod: Path, key: str) -> None:
    assert "cannot read the key" in refusal(rod, {key: 1})


# What is refused

IMPOSSIBLE: dict[str, tuple[dict[str, Any], str, str]] = {
    # The override that makes the case impossible, the key that must be named, and what must be said of it.
    "unknown key": ({"run.duratoin": 1}, "run.duratoin", "did you mean 'duration'?"),
    "unknown section": ({"froces": []}, "froces", "did you mean 'forces'?"),
    "unknown key of a force": ({"forces[0].radus": 1}, "forces[0].radus", "did you mean 'radius'?"),
    "unknown kind of force": ({"forces[0].kind": "stoks-drag"}, "forces[0].kind", "did you mean 'stokes-drag'?"),
    "unknown policy": ({"scaling.policy": "constnat"}, "scaling.policy", "did you mean 'constant'?"),
    "unknown rule": ({"integrator.rule": "kuta-merson"}, "integrator.rule", "did you mean 'kutta-merson'?"),
    "unknown joint": ({"model.bodies.arm.joint": "hinge"}, "model.bodies[0].joint", "'revolute'"),
    "unknown builder": ({"model.builder": "explicitly"}, "model.builder", "'explicit'"),
    "unknown units": ({"case.units": "fg-um-ms"}, "case.units", "fg-um-us"),
    "unknown reference": ({"case.cite": ["guy2017"]}, "case.cite[0]", "did you mean 'guy2018'?"),
    "unknown variant": ({"compare.reference": "explicit"}, "compare.reference", "did you mean 'implicit'?"),
    "a length for a time": (
        {"run.duration": "8 nm"},
        "run.duration",
        "expected a time (for example '8 us'), got a length",
    ),
    "a number for a length": ({"run.duration": "8 parsnips"}, "run.duration", "unknown unit"),
    "no duration": ({"run.duration": 0}, "run.duration", "must be greater than 0"),
    "required key": ({"run.duration": None}, "run.duration", "is required"),
    "required section": ({"model": None}, "model", "is required"),
    "negative mass": ({"model.bodies.arm.mass": "-1 zg"}, "model.bodies[0].mass", "must be greater than 0"),
    "zero mass": ({"model.bodies.arm.mass": 0}, "model.bodies[0].mass", "must be greater than 0"),
    "triangle inequality": ({"model.bodies.arm.inertia": [1, 1, 3]}, "model.bodies[0].inertia", "triangle inequality"),
    "asymmetric inertia": (
        {"model.bodies.arm.inertia": [[2, 1, 0], [0, 2, 0], [0, 0, 2]]},
        "model.bodies[0].inertia",
        "not symmetric",
    ),
    "joint loop": ({"model.bodies.core.parent": "arm"}, "model.bodies[0].parent", "loop: 'arm' -> 'core' -> 'arm'"),
    "its own parent": ({"model.bodies.core.parent": "core"}, "model.bodies[1].parent", "loop: 'core' -> 'core'"),
    "missing parent": ({"model.bodies.arm.parent": "coer"}, "model.bodies[0].parent", "did you mean 'core'?"),
    "same name": ({"model.bodies[0].name": "core"}, "model.bodies[1].name", "already the name of model.bodies[0]"),
    "named ground": ({"model.bodies[0].name": "ground"}, "model.bodies[0].name", "choose another name"),
    "no bodies": ({"model.bodies": []}, "model.bodies", "at least 1"),
    "rotation": ({"model.bodies.arm.rotation": [1, 1, 0, 0]}, "model.bodies[0].rotation", "norm 1.414"),
    "initial rotation": ({"model.bodies.core.q": [0, 0, 0, 0.5, 0, 0, 0]}, "model.bodies[1].q", "norm 0.5, not 1"),
    "too few coordinates": ({"model.bodies.core.q": [0, 0, 0]}, "model.bodies[1].q", "has 7 coordinates"),
    "too many speeds": ({"model.bodies.arm.u": [0, 0]}, "model.bodies[0].u", "has 1 speeds"),
    "coordinate of another dimension": ({"model.bodies.arm.q": "3 nm"}, "model.bodies[0].q[0]", "expected an angle"),
    "an axis that is none": ({"model.bodies.arm.axis": [0, 0, 0]}, "model.bodies[0].axis", "not all zero"),
    "an axis too many": ({"model.bodies.core.axis": [0, 0, 1]}, "model.bodies[1].axis", "a free joint has no axis"),
    "site on no body": ({"model.sites[0].body": None}, "model.sites[0].body", "is required"),
    "site on another body": ({"model.sites[0].body": "amr"}, "model.sites[0].body", "did you mean 'arm'?"),
    "stop by no body": ({"run.stop.body": "coer"}, "run.stop.body", "core"),
    "stop in no direction": ({"run.stop.direction": [0, 0, 0]}, "run.stop.direction", "not all zero"),
    "stop at once": ({"run.stop.advance": 0}, "run.stop.advance", "must be greater than 0"),
    "drag on no body": ({"forces[0].bodies": ["leg"]}, "forces[0]", "leg"),
    "no seed": ({"run.seed": 1.5}, "run.seed", "valid integer"),
    "truth for a number": ({"run.frames": True}, "run.frames", "valid integer"),
    "no frames": ({"run.frames": 0}, "run.frames", "greater than or equal to 1"),
    "frames too far apart": ({"run.frame_interval": "1 us"}, "run.frame_interval", "longer than the duration"),
    "no threads": ({"run.threads": 0}, "run.threads", "greater than or equal to 1"),
    "checkpoints at once": ({"run.checkpoint_interval": 0.0}, "run.checkpoint_interval", "greater than 0"),
    "a name of a folder": ({"case.name": "../rod"}, "case.name", "pattern"),
    "a force that is not there": (
        {"forces.stokes.viscosity": 1},
        "forces.stokes.viscosity",
        "did you mean 'stokes-drag'?",
    ),
    "an element that is not there": ({"forces[7].viscosity": 1}, "forces[7].viscosity", "3 elements"),
    "an element of a table": ({"run[0]": 1}, "run[0]", "duration"),
    "a key in a number": ({"run.seed.x": 1}, "run.seed.x", "run.seed"),
    "keys of another policy": ({"scaling.a2": 0.1}, "scaling.a2", "known: policy"),
}


@pytest.mark.parametrize("fault", IMPOSSIBLE)
def test_what_cannot_be_is_refused_by_file_key_and_hint(rod: Path, fault: str) -> None:
    overrides, key, hint = IMPOSSIBLE[fault]
    if fault == "a key in a number":
        overrides = {"run.seed": 1, **overrides}
    line = refusal(rod, overrides)
    assert line.startswith(f"{rod}: {key}"), line
    assert hint in line
    assert "\n" not in line


def test_every_fault_of_a_file_has_its_line(rod: Path) -> None:
    text = (
        ROD.replace("duration =", "duratoin =")
        .replace("viscosity =", "viscosty =", 1)
        .replace("mass = 1000", "mess = 1")
    )
    rod.write_text(text, encoding="utf-8")
    lines = refusal(rod).splitlines()
    keys = {line.removeprefix(f"{rod}: ").partition(": ")[0] for line in lines}
    expected = {"run.duratoin", "run.duration", "model.bodies[1].mess", "model.bodies[1].mass"}
    assert keys == {*expected, "forces[0].viscosty"}
    assert all(line.startswith(f"{rod}: ") for line in lines)


def test_a_message_says_whether_the_file_or_an_override_is_at_fault(rod: Path) -> None:
    assert refusal(rod, {"model.bodies.arm.mass": 0}).endswith("(set by an override)")
    rod.write_text(ROD.replace("mass = 1000", "mass = 0"), encoding="utf-8")
    assert "override" not in refusal(rod, {"run.seed": 3})


def test_a_loop_of_many_bodies_is_named_whole(tmp_path: Path) -> None:
    parents = {"root": "ground", "tail": "a", "a": "b", "b": "c", "c": "a"}
    bodies = [{"name": n, "parent": p, "joint": "free", "mass": 1.0, "inertia": 1.0} for n, p in parents.items()]
    file = tmp_path / "ring.toml"
    file.write_text(toml({"model": {"bodies": bodies}, "run": {"duration": 1.0}}), encoding="utf-8")
    line = refusal(file)
    assert "'a' -> 'b' -> 'c' -> 'a'" in line and "'tail'" not in line and "'root'" not in line


def test_a_fault_in_a_variant_names_the_variant_before_anything_runs(rod: Path) -> None:
    rod.write_text(ROD.replace("a2 = 0.2", "a3 = 0.2"), encoding="utf-8")
    assert refusal(rod).startswith(f"{rod}: variants.constant: scaling.a2: is required")
    rod.write_text(ROD.replace("quiet.forces.brownian", "quiet.forces.brown"), encoding="utf-8")
    assert "variants.quiet: forces.brown: none of forces is 'brown'; did you mean 'brownian'?" in refusal(rod)
    rod.write_text(ROD.replace("quiet.forces", '"so quiet".forces'), encoding="utf-8")
    assert refusal(rod).startswith(f"{rod}: variants: 'so quiet' is not a valid folder name")


def test_an_unknown_variant_is_refused_with_the_nearest(rod: Path) -> None:
    with pytest.raises(ar.CaseError, match=r"there is no variant 'constnat'; did you mean 'constant'\?"):
        ar.load_case(rod).variant("constnat")


def test_two_elements_of_one_kind_must_be_told_apart(rod: Path) -> None:
    forces = [{"kind": "gravity"}, {"kind": "gravity"}]
    line = refusal(rod, {"forces": forces, "forces.gravity.acceleration": [0, 0, 1]})
    assert "forces[0] or forces[1]" in line


@pytest.mark.parametrize(
    "text, hint",
    [
        ("[case]\ntitle = \n", "line 2"),
        ("[run]\nduration = 1\nduration = 2\n", "line 3"),
        ("[run\n", "line 1"),
    ],
)
def test_a_mistake_in_the_toml_is_refused_with_its_line(rod: Path, text: str, hint: str) -> None:
    rod.write_text(text, encoding="utf-8")
    line = refusal(rod)
    assert line.startswith(f"{rod}: is not valid TOML") and hint in line


def test_forces_in_a_single_table_are_refused_with_the_remedy(rod: Path) -> None:
    rod.write_text('[run]\nduration = 1\n[forces]\nkind = "gravity"\n', encoding="utf-8")
    line = refusal(rod)
    assert line.startswith(f"{rod}: ") and "write [[forces]] above each force" in line


def test_what_is_no_text_is_refused(rod: Path) -> None:
    rod.write_bytes(b"[case]\ntitle = '\xff'\n")
    assert refusal(rod) == f"{rod}: is not UTF-8 text: invalid start byte at byte 16"


def test_a_case_that_is_not_there_is_refused_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ar.CaseError, match=r"did you mean 'nanoparticle-docking'\? \(built-in cases: .*docking"):
        ar.load_case("nanoparticel-docking")
    with pytest.raises(ar.CaseError, match="no such file"):
        ar.load_case(tmp_path / "absent.toml")
    with pytest.raises(ar.CaseError, match="is a folder"):
        ar.load_case(tmp_path)


# The built-in cases


@pytest.mark.parametrize("name", sorted(built_in_cases()))
def test_a_built_in_case_is_whole(name: str, tmp_path: Path) -> None:
    case = ar.load_case(name)
    assert titles()[name] == case.title
    assert case.notes and case.cite
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml(), encoding="utf-8")
    assert Case.read(file) == case
    for variant in case.variants:
        assert case.variant(variant).build_model().bodies == case.build_model().bodies


def test_every_built_in_case_is_listed_here() -> None:
    assert set(built_in_cases()) == {
        *("andrews-squeezer", "bricard", "double-pendulum", "dzhanibekov", "n-four-bar", "n-link-chain"),
        *(
            "adaptive-chain",
            "adaptive-protein",
            "alanine-dipeptide-water",
            "angle-of-repose",
            "bounce",
            "box-packing",
            "ebola-receptor",
            "flexible-filament",
            "granular-chain",
            "hard-spheres",
            "lj-melt",
            "molten-salt-100",
            "molten-salt-1025",
            "nanoparticle-docking",
            "nanoparticle-docking-published",
            "newtons-cradle",
            "fitted-springs",
            "swing-up",
            "polymer-melt",
            "polymer-melt-springs",
            "rock-salt",
            "rotating-drum",
            "slip-to-roll",
            "stack",
            "trp-zipper",
            "two-spheres",
            "unfolding-satellite",
        ),
    }


def test_the_bibliography_has_the_engine_and_what_the_case_cites() -> None:
    text = bibliography(("guy2018", "A. N. Author, A report, 2020"))
    assert "@software{articulon," in text and ar.__version__ in text
    assert "@phdthesis{guy2018," in text and "Guy, Ashley Chase" in text
    assert "% A. N. Author, A report, 2020" in text
    for reference in REFERENCES.values():
        entry = reference.bibtex()
        assert entry.count("{") == entry.count("}") and {"author", "title"} <= set(reference.fields)
