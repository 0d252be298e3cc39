"""Cases under edit: every change is one step back and forth, faults stand at their keys, and a file keeps its text."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.cases.library import built_in_cases
from articulon.errors import CaseError
from articulon.integrate import Explicit
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.editing.toml_text import rewritten

ROD = {"mass": "1 kg", "inertia": [1 / 12, 1 / 12, 0], "com": [0, 0, -0.5], "joint": "revolute", "axis": [0, 1, 0]}

COMMENTED = """\
# A pendulum with a heavy rod.
[case]
title = "Pendulum"    # shown in reports
units = "kg-m-s"

[run]
duration = "1 s"

[run.stop]
body = "arm"
direction = [0, 0, 1]
advance = "1 m"

# The rod that hangs on the ceiling.
[[model.bodies]]
name = "arm"
joint = "revolute"
axis = [0, 1, 0]
mass = 2.0            # heavier than it looks
inertia = 0.1
com = [0, 0, -0.5]

# And the one that hangs on it.
[[model.bodies]]
name = "hand"
parent = "arm"
joint = "revolute"
axis = [0, 1, 0]
mass = 1.0
inertia = 0.1
position = [0, 0, -1]

[[model.sites]]
body = "hand"

[[model.loops]]
name = "arm"
joint = "spherical"
parent = "arm"
child = "hand"
position = [0, 0, -1]

[[forces]]
kind = "joint-damping"
rotational = { arm = 0.5, hand = 0.25 }

[[forces]]
kind = "point-spring"
bodies = ["ground", "hand"]
points = [[0, 0, 0], [0, 0, 0]]
stiffness = 3.0

[[forces]]
kind = "stokes-drag"
translational = "1 N s/m"
bodies = ["arm", "hand"]

[[checks]]
kind = "coordinate"
what = "arm"
body = "arm"
reference = 0.0
tolerance = 1e-6

[sensitivities]
objective = "arm.angle"
parameters = ["model.bodies.arm.mass", "forces[0].rotational.arm"]

[variants.light]
"model.bodies.arm.mass" = "1 kg"
"run.stop.body" = "arm"
"""


def pendulum() -> CaseDocument:
    """Two rods, made by the document's own steps."""
    document = CaseDocument.new()
    document.add_body("upper", **ROD, q="90 deg")
    document.add_body("lower", **ROD, parent="upper", position=[0, 0, -1])
    return document


@pytest.mark.parametrize("name", built_in_cases())
def test_a_built_in_case_is_the_same_case_when_it_is_opened_and_saved(name: str, tmp_path: Path) -> None:
    document = CaseDocument.open(name)
    case = document.case()
    file = document.save(tmp_path / f"{name}.toml")
    assert file.read_bytes() == built_in_cases()[name].read_bytes()
    again = CaseDocument.open(file)
    assert again.case() == case and again.toml == document.toml and not again.changed


def test_a_new_case_lacks_a_body_and_runs_with_one() -> None:
    document = CaseDocument.new()
    assert document.errors == {"model": "is required"} and document.model() is None
    document.add_body("upper", **ROD)
    assert document.errors == {} and document.case().build_model().names == ("upper",)


def test_every_step_is_undone_and_done_again_to_the_same_bytes(tmp_path: Path) -> None:
    file = tmp_path / "case.toml"
    file.write_text(COMMENTED)
    document = CaseDocument.open(file)
    texts = [document.toml]

    def took(words: str) -> None:
        assert document.undoes == words
        texts.append(document.toml)

    document.add_body("finger", **ROD, parent="hand")
    took("add body 'finger'")
    document.rename_body("hand", "palm of the hand")
    took("rename 'hand' to 'palm of the hand'")
    document.join("finger", joint="spherical", parent="arm")
    took("join 'finger'")
    document.set("model.bodies[2].mass", "2 kg")
    took("change model.bodies[2].mass")
    document.set("model.bodies[2].position", None)
    took("change model.bodies[2].mass")
    texts.pop()
    document.add("forces", kind="gravity", acceleration=[0, 0, -9.81])
    took("add gravity")
    document.choose("integrator", "rk4", Explicit)
    took("choose rk4")
    document.set("forces[0]", None)
    took("remove forces[0]")
    document.set_coordinates({"arm": [0.5], "finger": [0.8, 0.6, 0.0, 0.0]})
    took("move 'arm', 'finger'")
    document.delete_body("palm of the hand", all_of_it=True)
    took("delete body 'palm of the hand'")
    document.replace(COMMENTED.replace("Pendulum", "Swing"))
    took("edit the text")
    for text in texts[-2::-1]:
        document.undo()
        assert document.toml == text
    assert document.undoes is None and not document.changed and document.redoes == "add body 'finger'"
    for text in texts[1:]:
        document.redo()
        assert document.toml == text and not document.lost_comments
    assert document.redoes is None


def test_a_new_step_ends_what_could_be_done_again() -> None:
    document = pendulum()
    document.undo()
    document.set("run.duration", "1 s")
    assert document.redoes is None and document.bodies == ["upper"]


def test_steps_of_one_word_are_one_step_until_the_case_is_saved(tmp_path: Path) -> None:
    document = pendulum()
    before = document.toml
    for text in ("1", "1 ", "1 s"):
        document.set("run.duration", text, merges="duration")
    document.undo()
    assert document.toml == before
    document.redo()
    document.save(tmp_path / "case.toml")
    document.set("run.duration", "2 s", merges="duration")
    document.undo()
    assert document.value("run.duration") == "1 s" and not document.changed


def test_comments_and_order_stay_where_nothing_is_changed() -> None:
    document = CaseDocument(COMMENTED)
    document.set("model.bodies[0].mass", 3.0)
    document.add("forces", kind="gravity", acceleration=[0, 0, -9.81])
    document.set("dynamics.solver", "kane")
    expected = COMMENTED.replace("mass = 2.0 ", "mass = 3.0 ").replace(
        "\n[[checks]]", '\n[[forces]]\nkind = "gravity"\nacceleration = [0, 0, -9.81]\n\n[[checks]]'
    )
    assert document.toml.replace('[dynamics]\nsolver = "kane"\n\n', "") == expected
    # Before the run, as in the usual order of sections.
    assert document.toml.index("[dynamics]") < document.toml.index("[run]")


def test_a_comment_above_a_table_stays_above_it() -> None:
    document = CaseDocument(COMMENTED)
    document.set("model.sites", None)
    document.set("model.loops", None)
    text = document.toml.replace("[[forces]]", "# What acts.\n[[forces]]", 1)
    document = CaseDocument(text)
    document.add_body("finger", **ROD, parent="hand")
    assert 'parent = "hand"\n\n# What acts.\n[[forces]]\nkind = "joint-damping"' in document.toml
    document.set("model.bodies[1]", None)
    assert "hangs on it" not in document.toml and '# What acts.\n[[forces]]\nkind = "joint-damping"' in document.toml
    document.set("model.bodies[1]", None)
    assert document.toml.count("#") == 5


def test_a_body_is_renamed_wherever_it_is_named() -> None:
    document = CaseDocument(COMMENTED)
    document.rename_body("arm", "long limb")
    table = document.table
    assert table["run"]["stop"]["body"] == "long limb"
    assert [body["name"] for body in table["model"]["bodies"]] == ["long limb", "hand"]
    assert table["model"]["bodies"][1]["parent"] == "long limb"
    assert table["model"]["loops"][0]["parent"] == "long limb"
    assert table["forces"][0]["rotational"] == {"long limb": 0.5, "hand": 0.25}
    assert table["forces"][2]["bodies"] == ["long limb", "hand"]
    assert table["checks"][0]["body"] == "long limb"
    assert table["sensitivities"]["objective"] == "long limb.angle"
    assert table["sensitivities"]["parameters"] == [
        'model.bodies."long limb".mass',
        'forces[0].rotational."long limb"',
    ]
    assert table["variants"]["light"] == {'model.bodies."long limb".mass': "1 kg", "run.stop.body": "long limb"}
    # What a loop or a check is called is not the body's name.
    assert table["model"]["loops"][0]["name"] == table["checks"][0]["what"] == "arm"
    assert CaseDocument(COMMENTED.replace("arm", "limb")).case().model_declaration is not None
    assert document.errors == CaseDocument(COMMENTED).errors


@pytest.mark.parametrize("name", ["hand", "ground", "  "])
def test_names_that_are_none_are_refused(name: str) -> None:
    document = CaseDocument(COMMENTED)
    with pytest.raises(CaseError, match=r"choose another name|needs a name"):
        document.rename_body("arm", name)
    with pytest.raises(CaseError, match=r"choose another name|needs a name"):
        document.add_body(name, **ROD)
    assert document.toml == COMMENTED and document.undoes is None


def test_a_body_goes_with_what_needs_it_or_not_at_all() -> None:
    document = CaseDocument(COMMENTED)
    words = document.deleted_with("hand")
    assert words == [
        "model.sites[0], which names 'hand'",
        "model.loops[0] (arm), which names 'hand'",
        "forces[0].rotational.hand, which names 'hand'",
        "forces[1] (point-spring), which names 'hand'",
        "forces[2].bodies[1], which names 'hand'",
    ]
    with pytest.raises(CaseError, match=r"'hand' cannot be deleted alone; this would also delete model.sites\[0\]"):
        document.delete_body("hand")
    assert document.toml == COMMENTED
    document.delete_body("hand", all_of_it=True)
    table = document.table
    assert table["model"] == {"bodies": [tomllib.loads(COMMENTED)["model"]["bodies"][0]]}
    assert table["forces"] == [
        {"kind": "joint-damping", "rotational": {"arm": 0.5}},
        {"kind": "stokes-drag", "translational": "1 N s/m", "bodies": ["arm"]},
    ]
    assert "body 'hand', which hangs on it" in CaseDocument(COMMENTED).deleted_with("arm")


def test_a_body_whose_sites_are_counted_is_not_deleted() -> None:
    document = CaseDocument(COMMENTED)
    document.add("forces", kind="harmonic-bonds", bonds=[[0, 0]], stiffness=1.0, length=1.0)
    with pytest.raises(CaseError, match=r"forces\[3\]: refers to sites by number"):
        document.delete_body("hand", all_of_it=True)


def test_another_kind_of_joint_drops_what_means_something_else() -> None:
    document = pendulum()
    document.join("upper", joint="spherical")
    assert "q" not in document.table["model"]["bodies"][0] and "axis" not in document.table["model"]["bodies"][0]
    assert document.errors == {}


def test_a_body_does_not_hang_on_itself() -> None:
    document = pendulum()
    with pytest.raises(CaseError, match="'lower' hangs on 'upper', which would hang on itself"):
        document.join("upper", parent="lower")
    with pytest.raises(CaseError, match="no body 'uper' to join to; did you mean 'upper'"):
        document.join("lower", parent="uper")


def test_another_form_of_a_section_keeps_what_both_have() -> None:
    document = pendulum()
    document.choose("integrator", "kutta-merson", Explicit)
    assert document.value("integrator") == {"rule": "kutta-merson", "rtol": 1e-9, "atol": 1e-9}
    document.choose("integrator", "rk4", Explicit)
    assert document.value("integrator") == {"rule": "rk4"}
    assert list(document.errors) == ["integrator"] and "give a fixed step" in document.errors["integrator"]


@pytest.mark.parametrize(
    ("key", "value", "where", "what"),
    [
        ("model.bodies[1].mass", "-1 kg", "model.bodies[1].mass", "must be greater than 0"),
        ("model.bodies[1].mass", "1 s", "model.bodies[1].mass", "expected a mass"),
        ("model.bodies[1].inertia", [1, 1, 5], "model.bodies[1].inertia", "triangle inequality"),
        ("forces[0].aceleration", 1, "forces[0].aceleration", "did you mean 'acceleration'"),
        ("integrator.rule", "rk5", "integrator.rule", "unknown word 'rk5'"),
        ("run.duration", None, "run.duration", "is required"),
        ("forces[0].kind", None, "forces[0].kind", "is required"),
    ],
)
def test_a_fault_stands_at_its_key(key: str, value: object, where: str, what: str) -> None:
    document = pendulum()
    document.set(key, value)
    assert list(document.errors) == [where]
    assert what in document.errors[where]
    assert document.model() is None
    with pytest.raises(CaseError):
        document.case()
    document.undo()
    assert document.errors == {} and document.model() is not None


def test_a_fault_that_only_the_model_has_stands_at_its_loop() -> None:
    document = pendulum()
    document.add("model.loops", name="far", joint="spherical", parent="ground", child="lower", position=[9, 0, 0])
    assert list(document.errors) == ["model.loops[0]"] and "cannot be closed" in document.errors["model.loops[0]"]


def test_several_faults_are_shown_together() -> None:
    document = pendulum()
    document.set("run.duration", "1 kg m")
    document.set("model.bodies[0].joint", "hinge")
    document.set("run.frames", "many")
    assert set(document.errors) == {"model.bodies[0].joint", "run.frames"}


def test_saving_writes_over_nothing_that_it_has_not_read(tmp_path: Path) -> None:
    document, file = pendulum(), tmp_path / "case.toml"
    with pytest.raises(CaseError, match="no file yet"):
        document.save()
    file.write_text("precious")
    with pytest.raises(CaseError, match="the file exists already"):
        document.save(file)
    assert file.read_text() == "precious"
    document.save(file, over=True)
    document.set("run.duration", "1 s")
    document.save()
    assert file.read_text() == document.toml and CaseDocument.open(file).case() == document.case()
    file.write_text(COMMENTED)
    document.set("run.duration", "2 s")
    with pytest.raises(CaseError, match="has changed on the disk since it was read"):
        document.save()
    assert file.read_text() == COMMENTED and document.changed
    assert [path.name for path in tmp_path.iterdir()] == ["case.toml"]


def test_ends_of_lines_stay(tmp_path: Path) -> None:
    file = tmp_path / "case.toml"
    file.write_bytes(COMMENTED.replace("\n", "\r\n").encode())
    document = CaseDocument.open(file)
    document.set("case.title", "Swing")
    document.save()
    assert file.read_bytes() == COMMENTED.replace("Pendulum", "Swing").replace("\n", "\r\n").encode()


def test_what_is_no_toml_is_refused_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "case.toml"
    file.write_text("[case\n")
    with pytest.raises(CaseError, match="line 1"):
        CaseDocument.open(file)
    document = pendulum()
    before = document.toml
    with pytest.raises(CaseError, match="is not valid TOML"):
        document.replace("[[forces]")
    assert document.toml == before


def test_a_text_that_cannot_be_put_together_is_written_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library may fail at a file of a kind that nobody has thought of; what it makes is read again."""
    monkeypatch.setattr("articulon.studio.editing.toml_text._merged", lambda text, table: text)
    table = tomllib.loads(COMMENTED)
    table["run"]["duration"] = "2 s"
    text, kept = rewritten(COMMENTED, table)
    assert tomllib.loads(text) == table and not kept


def test_bodies_that_a_builder_makes_are_not_edited() -> None:
    document = CaseDocument.open("nanoparticle-docking")
    with pytest.raises(CaseError, match="the bodies are made by the builder"):
        document.add_body("arm", **ROD)
    with pytest.raises(CaseError, match="the bodies are made by the builder"):
        document.rename_body("core", "kernel")


def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "studio.md").read_text(encoding="utf-8")
    (block,) = (one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "CaseDocument" in one)
    exec(block)
    saved = CaseDocument.open("pendulum.toml")
    assert saved.bodies == ["upper", "forearm"] and saved.value("run.duration") == "5 s"
    assert saved.value("forces[1].rotational") == {"forearm": "0.1 N m s"} and saved.errors == {}


def test_a_description_of_a_robot_is_a_case_that_names_it(tmp_path: Path) -> None:
    """Its model is that of ``read_urdf``, under gravity; the description is never written over."""
    (tmp_path / "arm.urdf").write_text(
        """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="2"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
        </robot>""",
        encoding="utf-8",
    )
    document = CaseDocument.open(tmp_path / "arm.urdf")
    assert document.errors == {}
    assert document.path is None
    model, read = document.case().build_model(), ar.read_urdf(tmp_path / "arm.urdf")
    assert model.names == read.names
    np.testing.assert_array_equal(model.masses, read.masses)
    assert [force.kind for force in model.forces][-1] == "gravity"
    saved = document.save(tmp_path / "arm.toml")
    assert ar.load_case(tmp_path / "arm.toml").build_model().names == read.names
    assert saved is None or Path(saved).name == "arm.toml"


URDF = '<robot name="arm"><link name="base"/></robot>'


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", {"builder": "urdf", "file": "ELSEWHERE"}),
        ("model", {"builder": "urdf", "file": "ELSEWHERE/not there"}),
        ("model", {"builder": "mjcf", "file": "../other/arm.urdf"}),
        ("model", {"builder": "urdf", "file": "link/arm.urdf"}),
        ("model", {"builder": "urdf", "file": "arm.urdf", "packages": {"arm": "../other"}}),
        ("model", {"builder": "molecule", "structure": "ELSEWHERE"}),
        ("model", {"builder": "molecule", "structure": "arm.urdf", "system": "ELSEWHERE"}),
        ("model", {"builder": "molecule", "structure": "arm.urdf", "force_field_files": ["tip3p.xml", "ELSEWHERE"]}),
        ("model.bodies[0].shape", {"kind": "mesh", "file": "ELSEWHERE"}),
        ("model.bodies[0].shape", [{"kind": "sphere", "radius": 1.0}, {"kind": "mesh", "file": "ELSEWHERE"}]),
        ("model.bodies[0].modes", {"kind": "arrays", "file": "ELSEWHERE"}),
        ("forces", [{"kind": "openmm", "system": "ELSEWHERE"}]),
        ("forces", [{"kind": "lammps", "data": "ELSEWHERE", "commands": []}]),
        ("forces", [{"kind": "lammps", "data": "a\nb", "commands": ["pair_coeff * * ELSEWHERE A"]}]),
        ("forces", [{"kind": "contact", "walls": [{"shape": "mesh", "file": "ELSEWHERE"}]}]),
        ("fit.data", "ELSEWHERE"),
        ("variants.other", {"model.file": "ELSEWHERE"}),
    ],
)
def test_a_case_that_is_edited_names_no_file_outside_of_its_folder(tmp_path: Path, key: str, value: object) -> None:
    """The file is not even read: what stands in it, and whether it is there, shows in no message."""
    here, other = tmp_path / "here", tmp_path / "other"
    for folder in (here, other):
        folder.mkdir()
        (folder / "arm.urdf").write_text(URDF)
    (here / "link").symlink_to(other)
    (here / "case.toml").write_text(pendulum().toml)
    document = CaseDocument.open(here / "case.toml")
    document.confine(here, trusted=False)
    assert document.errors == {}
    document.set(key, filled(value, str(other / "arm.urdf")))
    # Of the same kind, and free to name it.
    with pytest.raises(CaseError, match=f"{re.escape(key.partition('[')[0])}.*lies outside of {here}, which this page"):
        document.case()
    assert any(name.startswith(key.partition(".")[0].partition("[")[0]) for name in document.errors)
    assert all("lies outside of" in what for what in document.errors.values())
    with pytest.raises(CaseError, match="lies outside of"):
        document.save()


def filled(value: object, place: str) -> object:
    """A value with a place in it."""
    if isinstance(value, dict):
        return {key: filled(inner, place) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, place) for inner in value]
    return value.replace("ELSEWHERE", place) if isinstance(value, str) else value


def test_a_case_that_the_command_named_keeps_its_files_but_takes_no_others(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("arm.urdf", "leg.urdf"):
        (tmp_path / name).write_text(URDF)
    document = CaseDocument.new()
    document.set("model", {"builder": "urdf", "file": str(tmp_path / "arm.urdf")})
    document.confine(here)
    assert not any("outside" in what for what in document.errors.values())
    document.set("run.duration", "1 s")
    document.set("model.file", str(tmp_path / "leg.urdf"))
    assert list(document.errors) == ["model.file"] and "lies outside of" in document.errors["model.file"]
    document.undo()
    assert not any("outside" in what for what in document.errors.values())


def test_files_of_built_in_cases_are_theirs(tmp_path: Path) -> None:
    document = CaseDocument.open("rotating-drum")
    document.confine(tmp_path)
    assert document.errors == {}


def test_consent_is_for_the_code_that_the_file_named(tmp_path: Path) -> None:
    document = pendulum()
    document.add("forces", kind="user", function="mine:push", bodies=["upper"])
    document.allow_code = True
    document.confine(tmp_path)
    assert not any("code" in what for what in document.errors.values())
    document.set("forces[1].function", "os:system")
    (key,) = [key for key, what in document.errors.items() if "only code is allowed that the case named" in what]
    assert key == "forces[1].function"
    with pytest.raises(CaseError, match="'os:system' is not run"):
        document.case()
