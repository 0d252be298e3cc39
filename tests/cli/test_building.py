"""Building in the page: its own controls make a mechanism, and what they do is in the case and in the scene."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.cases.builders import BUILDERS
from articulon.declaration_help import stated
from articulon.errors import CaseError
from articulon.model.array_rotations import matrices
from articulon.studio.editing.body_view import tree_html
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.editing.editor_panel import WRITTEN_OUT, EditorPanel
from articulon.studio.editing.file_view import inside
from articulon.studio.editing.joint_dragging import joint_handle
from articulon.studio.editing.joint_handles import HANDLE, HANDLE_NODE
from articulon.studio.page_server import server_at, stop
from tests.support.browser import chromium, needs_browser, opened
from tests.support.live_studio import address_of, live_studio
from tests.support.page_client import PageClient

BAR = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01], "joint": "revolute"}


def four_bar() -> CaseDocument:
    """A crank of 1 m, a coupler of 2 m and a rocker of 2 m on a base of 2 m."""
    document = CaseDocument.new()
    document.add_body("crank", **BAR, com=[0.5, 0, 0], q="60 deg")
    document.add_body("coupler", **BAR, com=[1, 0, 0], parent="crank", position=[1, 0, 0])
    document.add_body("rocker", **BAR, com=[1, 0, 0], position=[2, 0, 0], q="100 deg")
    document.add(
        "model.loops",
        name="pin",
        joint="revolute",
        parent="coupler",
        child="rocker",
        position=[2, 0, 0],
        child_position=[2, 0, 0],
    )
    return document


def pin_gap(model: ar.Model) -> float:
    """How far the two ends of the pin are from each other [m]."""
    positions, rotations = ar.body_poses(model, model.q0)
    ends = [
        positions[k] + 2.0 * matrices(rotations[k])[:, 0]
        for k in (model.names.index("coupler"), model.names.index("rocker"))
    ]
    return float(np.abs(ends[0] - ends[1]).max())


class Page:
    """A panel and a page that shows it, with what a user does there."""

    def __init__(self, document: CaseDocument, folder: Path) -> None:
        self.server = server_at(None)
        self.panel = EditorPanel(self.server, document, folder)
        self.client = PageClient(self.server.get_port())
        self.until(lambda: "case file" in [control.get("label") for control in self.client.controls.values()])

    @property
    def document(self) -> CaseDocument:
        return self.panel.document

    def until(self, so: Any) -> None:
        """Wait until something is so; the first scene compiles what places its bodies, which may take a while."""
        self.client.listen(lambda _: so(), patience=120.0)

    def put(self, kind: str, label: str, value: Any) -> None:
        """Put a value into a control, and wait until the page has been brought in step."""
        self.until(lambda: any(c["type"] == kind and c.get("label") == label for c in self.client.controls.values()))
        self.client.change(self.topmost(kind, label), value)

    def topmost(self, kind: str, label: str) -> str:
        """The control of a kind and label that stands before others on the page, whenever it was made."""
        controls = self.client.controls

        def place(uuid: str) -> tuple[float, ...]:
            if uuid in controls:
                return (*place(controls[uuid]["inside"]), controls[uuid]["order"])
            for group, control in controls.items():
                if uuid in control.get("_tab_container_ids", ()):
                    return (*place(group), control["_tab_container_ids"].index(uuid))
            return ()

        return min((u for u, c in controls.items() if c["type"] == kind and c.get("label") == label), key=place)

    def write(self, label: str, text: str) -> None:
        self.put("GuiTextMessage", label, text)

    def choose(self, label: str, word: str) -> None:
        self.put("GuiDropdownMessage", label, word)

    def press(self, label: str, word: str) -> None:
        self.put("GuiButtonGroupMessage", label, word)

    def button(self, label: str) -> None:
        self.put("GuiButtonMessage", label, True)

    def says(self, words: str) -> None:
        """Wait until a text stands on the page."""
        self.until(lambda: words in self.client.text_of("GuiHtmlMessage"))

    def field(self, label: str) -> Any:
        """What stands in a field; None while it is not there."""
        found = self.client.controls.values()
        return next((c["value"] for c in found if c["type"] == "GuiTextMessage" and c.get("label") == label), None)

    def handle(self) -> str | None:
        """The node of the handle that was made last."""
        return next((name for name in reversed(self.client.nodes) if name.startswith(HANDLE_NODE)), None)

    def close(self) -> None:
        self.client.socket.close()
        self.panel.close()
        stop(self.server)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    made = Page(CaseDocument.new(), tmp_path)
    yield made
    made.close()


def pendulum_in_python() -> ar.Model:
    """The double pendulum that the page builds."""
    rod = {
        "mass": 1.0,
        "inertia": (0.083333, 0.083333, 0.00125),
        "com": (0, 0, -0.5),
        "joint": ar.Revolute(axis=(0, 1, 0)),
    }
    b = ar.ModelBuilder(units="kg-m-s")
    upper = b.add_body("upper", **rod, q=np.pi / 2)
    b.add_body("lower", **rod, parent=upper, position=(0, 0, -1))
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return b.build()


def test_a_double_pendulum_is_built_by_the_controls_saved_and_read_again(page: Page, tmp_path: Path) -> None:
    page.says("No bodies are written out yet")
    page.press("bodies", "add")
    page.says("body 1")
    page.write("name", "upper")
    page.says("&#x27;body 1&#x27; to &#x27;upper&#x27;")
    page.write("q [rad]", "90 deg")
    page.says("undo: change model.bodies[0].q")
    page.press("bodies", "add")
    page.says("add body &#x27;body 1&#x27;")
    page.write("name", "lower")
    page.says("ready to run")
    page.until(lambda: page.document.bodies == ["upper", "lower"])
    page.write("duration [s]", "1 s")
    page.until(lambda: page.document.value("run.duration") == "1 s")
    page.write("file", "pendulum")
    page.button("Save")
    page.says("pendulum.toml</b>")
    file = tmp_path / "pendulum.toml"
    assert file.read_text() == page.document.toml and not page.document.changed

    case = ar.load_case(file)
    assert case == page.document.case() == CaseDocument.open(file).case()
    for name in page.document.bodies:
        assert name in page.client.text_of("GuiHtmlMessage")
    settings = {"rule": "dormand-prince", "rtol": 1e-9, "atol": 1e-9}
    assert page.document.value("integrator") == settings
    built, python = (
        ar.simulate(model, 1.0, **settings, frames=500) for model in (case.build_model(), pendulum_in_python())
    )
    assert np.abs(built.q[-1] - python.q[-1]).max() <= 1e-12
    assert abs(python.q[-1][0] - python.q[0][0]) > 0.5


def test_undo_and_redo_lead_to_the_same_text(page: Page) -> None:
    texts = [page.document.toml]
    page.press("bodies", "add")
    page.until(lambda: page.document.toml != texts[-1])
    texts.append(page.document.toml)
    # Letter by letter, as a page sends it.
    for text in ("2", "2 ", "2 k", "2 kg"):
        page.write("mass [kg]", text)
    page.until(lambda: page.document.value("model.bodies[0].mass") == "2 kg")
    texts.append(page.document.toml)
    for text in texts[1::-1]:
        page.press("step", "undo")
        page.until(lambda text=text: page.document.toml == text)
    page.says("redo: add body")
    for text in texts[1:]:
        page.press("step", "redo")
        page.until(lambda text=text: page.document.toml == text)
    page.until(lambda: page.field("mass [kg]") == "2 kg")


def test_what_is_wrong_stands_below_its_field(page: Page) -> None:
    page.press("bodies", "add")
    page.write("mass [kg]", "2 s")
    fault = "expected a mass"
    page.until(lambda: any(fault in str(c.get("content")) for c in page.client.controls.values()))
    field = page.client.control("GuiTextMessage", "mass [kg]")[1]
    below = [c for c in page.client.controls.values() if fault in str(c.get("content")) and "order" in c]
    assert any(c["inside"] == field["inside"] and 0 < c["order"] - field["order"] < 0.5 for c in below)
    page.says("1 error")
    page.write("axis", "[0, 0, 1")
    page.says("brackets do not match")
    page.write("mass [kg]", "2 kg")
    page.write("axis", "1, 0, 0")
    page.says("ready to run")
    page.until(lambda: fault not in page.client.text_of("GuiHtmlMessage"))
    assert page.document.value("model.bodies[0].axis") == [1, 0, 0]


def test_forces_and_rules_are_chosen_by_their_declarations(page: Page) -> None:
    page.press("bodies", "add")
    page.choose("new force", "point-spring")
    page.press("forces", "add")
    page.write("bodies", "ground, body 1")
    page.write("stiffness [N/m]", "40 N/m")
    page.write("points [m]", "[[0, 0, 0.5 mm], [0, 0, -1]]")
    page.until(
        lambda: (
            page.document.value("forces[1]")
            == {
                "kind": "point-spring",
                "bodies": ["ground", "body 1"],
                "stiffness": "40 N/m",
                "points": [[0, 0, "0.5 mm"], [0, 0, -1]],
            }
        )
    )
    page.choose("rule", "rk4")
    page.says("give a fixed step")
    page.write("step [s]", "1 ms")
    page.says("ready to run")
    page.choose("policy", "constant")
    page.write("a2", "0.5")
    page.choose("kind", "langevin")
    page.until(lambda: page.document.value("thermostat.kind") == "langevin")
    page.press("forces", "delete")
    page.until(lambda: page.document.value("forces[1]") is None)
    assert page.document.value("scaling") == {"policy": "constant", "a2": 0.5}


def test_the_text_is_edited_beside_the_forms(page: Page) -> None:
    page.press("bodies", "add")
    page.until(lambda: page.field("case file") == page.document.toml and page.document.bodies)
    before = page.document.toml
    # What is typed is a draft, whose faults are shown by line; the case stays as it is.
    page.write("case file", before.replace("mass = 1.0", "mass = 1.0 kg"))
    line = 1 + before[: before.index("mass = 1.0")].count("\n")
    page.says(f"line {line} · not valid TOML")
    page.press("text", "apply")
    page.says("new case: is not valid TOML")
    assert page.document.toml == before
    wrong = before.replace("mass = 1.0", 'mass = "2 s"  # of what?')
    page.write("case file", wrong)
    page.says("changes that are not applied")
    assert page.document.toml == before
    page.press("text", "apply")
    page.says(f"line {line} · model.bodies[0].mass: expected a mass")
    assert page.document.toml == wrong
    page.until(lambda: page.field("mass [kg]") == "2 s")
    page.press("step", "undo")
    page.until(lambda: page.document.toml == before and page.field("case file") == before)
    page.press("step", "redo")
    page.until(lambda: page.document.toml == wrong and page.field("case file") == wrong)
    page.write("case file", "nothing")
    page.says("not applied")
    page.press("text", "discard")
    page.until(lambda: page.field("case file") == wrong)


def test_a_text_does_not_undo_what_is_done_elsewhere_without_a_question(page: Page) -> None:
    page.press("bodies", "add")
    page.until(lambda: page.document.bodies and page.field("case file") == page.document.toml)
    draft = page.document.toml.replace('title = "New mechanism"', 'title = "Mine"')
    page.write("case file", draft)
    page.says("not applied")
    page.write("mass [kg]", "3 kg")
    page.until(lambda: page.document.value("model.bodies[0].mass") == "3 kg")
    page.press("text", "apply")
    page.says("what was done elsewhere on the page would be lost")
    assert page.document.value("model.bodies[0].mass") == "3 kg" and page.panel._text.draft == draft
    page.button("apply, and lose that")
    page.until(lambda: page.document.toml == draft)


def test_checks_studies_and_conditions_have_forms(page: Page) -> None:
    page.press("bodies", "add")
    page.choose("new check", "energy")
    page.press("checks", "add")
    page.write("what", "drift")
    page.until(lambda: page.document.value("checks") == [{"kind": "energy", "what": "drift"}])
    page.choose("adaptive", "given")
    page.write("every [s]", "10 ms")
    page.press("groups", "add")
    page.until(lambda: page.document.value("adaptive.groups") == [{}])
    page.write("bodies", "body 1")
    page.until(lambda: page.document.value("adaptive.groups[0].bodies") == ["body 1"])
    page.choose("when", "schedule")
    page.until(lambda: page.document.value("adaptive.groups[0].lock") == {"when": "schedule"})
    page.says("line ")
    page.choose("when", "elapsed")
    page.until(lambda: page.document.value("adaptive.groups[0].lock.when") == "elapsed")
    page.choose("fit", "given")
    page.press("parameters", "add")
    page.write("key", "model.bodies.body 1.mass")
    page.until(lambda: page.document.value("fit.parameters") == [{"key": "model.bodies.body 1.mass"}])
    page.press("targets", "add")
    page.write("observable", "kinetic_energy")
    page.until(lambda: page.document.value("optimise.targets") == [{"observable": "kinetic_energy"}])


def test_the_form_of_a_written_model_leaves_out_what_has_parts_of_its_own(page: Page) -> None:
    page.press("bodies", "add")
    page.until(lambda: bool(page.document.bodies))
    model = next(one for one in page.panel._sections if one._path == ("model",))
    page.until(lambda: model._form is not None)
    assert model._form is not None
    declared = set(stated(BUILDERS.members["explicit"]))
    assert set(model._form.fields) == declared - {*WRITTEN_OUT, "builder"}
    assert declared >= set(WRITTEN_OUT)


def test_a_body_with_others_is_deleted_when_that_is_confirmed(page: Page) -> None:
    page.press("bodies", "add")
    page.says("body 1")
    page.press("bodies", "add")
    page.says("body 2")
    page.choose("body", "body 1")
    page.says('<span style="font-weight:700">body 1</span>')
    page.press("bodies", "delete")
    page.says("body &#x27;body 2&#x27;, which hangs on it")
    assert page.document.bodies == ["body 1", "body 2"]
    page.button("delete all of it")
    page.says("No bodies are written out yet")


def test_what_is_done_on_a_page_is_about_the_body_that_it_showed(page: Page) -> None:
    """Another page chooses another body before it arrives."""
    for name in ("body 1", "body 2"):
        page.press("bodies", "add")
        page.says(f'<span style="font-weight:700">{name}</span>')
    second = {label: page.topmost("GuiTextMessage", label) for label in ("name", "mass [kg]")}
    panel = page.panel
    # Both come in while the other page's choice is under way.
    panel.act(lambda: setattr(panel, "selected", "body 1"))
    panel.act(lambda: time.sleep(0.3))
    page.client.change(second["mass [kg]"], "3 kg")
    page.client.change(second["name"], "lower")
    page.until(lambda: page.document.bodies == ["body 1", "lower"])
    assert page.document.value("model.bodies[0].mass") == 1.0
    assert page.document.value("model.bodies[1].mass") == "3 kg"
    page.says('<span style="font-weight:700">body 1</span>')
    # Now that the page shows the first, what the second was shown by is gone.
    assert page.topmost("GuiTextMessage", "name") != second["name"]


def test_what_is_done_to_an_element_of_a_list_is_about_the_one_that_was_shown(page: Page) -> None:
    for kind in ("gravity", "gravity"):
        page.document.add("forces", kind=kind, acceleration=[0, 0, -1])
    page.panel.act(lambda: None)
    view = next(one for one in page.panel._lists if one._key == ("forces",))
    page.until(lambda: view._controlled.count == 3)
    page.choose("force", "1 gravity")
    page.until(lambda: view._controlled.number == 1)
    held = view._controlled
    view._select("2")
    view._change(held, "acceleration", [0, 0, -7])
    assert page.document.value("forces[1].acceleration") == [0, 0, -7]
    assert page.document.value("forces[2].acceleration") == [0, 0, -1]
    # The numbers may be those of others now.
    page.document.set("forces[0]", None)
    for late in (lambda: view._change(held, "acceleration", [0, 0, -8]), lambda: view._delete(held)):
        with pytest.raises(CaseError, match="forces: an element of the list was deleted in the meantime"):
            late()
    assert len(page.document.value("forces")) == 2


def test_a_file_is_written_under_the_name_that_was_asked_about(page: Page, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text("precious")
    page.write("file", "one")
    page.button("Save")
    page.says("one.toml: the file exists already")
    page.write("file", "two")
    page.button("overwrite it")
    page.says("one.toml</b>")
    assert (tmp_path / "two.toml").read_text() == "precious"
    assert (tmp_path / "one.toml").read_text() == page.document.toml


def test_a_four_bar_stays_closed_as_its_crank_is_dragged(tmp_path: Path) -> None:
    page = Page(four_bar(), tmp_path)
    try:
        page.until(lambda: page.handle() is not None)
        other = page.handle()
        page.choose("body", "crank")
        page.until(lambda: page.handle() not in (None, other))
        model = page.document.model()
        assert model is not None
        before = page.document.toml
        # Half of the angle about z, as the ring is turned.
        turned = [(np.cos(a / 2), 0.0, 0.0, np.sin(a / 2)) for a in np.linspace(np.pi / 3, np.pi / 2, 5)]
        page.client.drag(page.handle(), (), (), "start")
        for wxyz in turned:
            place = page.panel._scene._stage.places(np.zeros(3))  # type: ignore[union-attr]
            page.client.drag(page.handle(), wxyz, place)
            time.sleep(0.05)
        page.client.drag(page.handle(), (), (), "end")
        page.until(lambda: page.document.toml != before)
        page.says("undo: move &#x27;crank&#x27;, &#x27;coupler&#x27;, &#x27;rocker&#x27;")
        assert page.document.errors == {}
        model = page.document.model()
        assert model is not None and model.q0[0] == pytest.approx(np.pi / 2, abs=1e-6)
        assert pin_gap(model) < 1e-12
        page.press("step", "undo")
        page.until(lambda: page.document.toml == before)
    finally:
        page.close()


def test_a_page_that_closes_in_mid_drag_leaves_the_joint_where_it_is(tmp_path: Path) -> None:
    document = four_bar()
    document.set("model.loops", None)
    page = Page(document, tmp_path)
    try:
        page.until(lambda: page.handle() is not None)
        before, place = page.document.toml, page.panel._scene._stage.places(np.zeros(3))  # type: ignore[union-attr]
        page.client.drag(page.handle(), (), (), "start")
        page.client.drag(page.handle(), (np.cos(0.2), 0.0, 0.0, np.sin(0.2)), place)
        page.until(lambda: page.panel._drags.held)
        assert page.document.toml == before
        page.client.socket.close()
        end = time.monotonic() + 30.0
        while page.document.toml == before and time.monotonic() < end:
            time.sleep(0.05)
        assert not page.panel._drags.held and page.document.value("model.bodies[2].q") == pytest.approx(0.4, abs=1e-4)
    finally:
        page.close()


def test_a_joint_that_is_dragged_is_moved_and_turned(tmp_path: Path) -> None:
    document = four_bar()
    document.set("model.loops", None)
    page = Page(document, tmp_path)
    try:
        page.until(lambda: page.handle() is not None)
        ring = page.handle()
        page.choose("drag", "joint")
        page.until(lambda: page.handle() not in (None, ring))
        stage = page.panel._scene._stage
        model = page.document.model()
        assert stage is not None and model is not None
        k = model.names.index("rocker")
        _, rotations = ar.body_poses(model, model.q0)
        page.client.drag(page.handle(), (), (), "start")
        page.client.drag(page.handle(), rotations[k], stage.places(np.array([2.5, 0.25, 0.0])))
        page.client.drag(page.handle(), (), (), "end")
        page.says("undo: join &#x27;rocker&#x27;")
        assert page.document.value("model.bodies[2].position") == pytest.approx([2.5, 0.25, 0.0], abs=1e-5)
        assert page.document.value("model.bodies[2].q") == "100 deg"
    finally:
        page.close()


def test_a_case_opens_in_the_place_of_another(page: Page, tmp_path: Path) -> None:
    page.press("bodies", "add")
    page.says("body 1")
    page.choose("case", "double-pendulum")
    page.button("Open")
    page.says("The case has changes that are not saved.")
    page.button("open, and lose them")
    page.says("double-pendulum</b>")
    page.until(lambda: page.document.bodies == ["upper", "lower"])
    (tmp_path / "mechanism.toml").write_text("precious")
    page.button("Save")
    page.says("the file exists already")
    assert (tmp_path / "mechanism.toml").read_text() == "precious"
    page.button("overwrite it")
    page.says("mechanism.toml</b>")
    assert ar.load_case(tmp_path / "mechanism.toml") is not None


def test_a_page_opens_nothing_that_it_is_not_offered(page: Page, tmp_path: Path) -> None:
    """What a page says that it has chosen may be any text."""
    elsewhere = tmp_path.parent / f"{tmp_path.name}.conf"
    elsewhere.write_text('secret = "of the system"')
    page.choose("case", str(elsewhere))
    page.button("Open")
    page.says("is not one of the cases in the list")
    assert "secret" not in page.document.toml


def test_a_case_that_is_opened_on_the_page_has_no_consent_and_names_no_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    document = four_bar()
    document.save(tmp_path / "open" / "other.toml")
    document.allow_code = True
    page = Page(document, tmp_path / "open")
    try:
        page.says("A case that is opened here never runs code")
        page.choose("case", "other.toml")
        page.button("Open")
        page.until(lambda: page.document is not document)
        assert not page.document.allow_code
        page.document.set("model.bodies[0].shape", {"kind": "mesh", "file": "../hand.stl"})
        assert "lies outside of" in page.document.errors["model.bodies[0].shape.file"]
    finally:
        page.close()


@pytest.mark.parametrize("name", ["../case", "/etc/case", "../..", "link/case", "", "no folder/case", "a\0b"])
def test_no_file_outside_of_the_folder_is_read_or_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "link").symlink_to(tmp_path)
    with pytest.raises(CaseError):
        inside(tmp_path / "open", name)


def test_a_chain_of_any_length_is_drawn_as_a_tree() -> None:
    """Of as many bodies as functions cannot call each other, each below the one that it hangs on."""
    bodies = [{"name": f"b{k}", "joint": "revolute", **({"parent": f"b{k - 1}"} if k else {})} for k in range(1200)]
    table = {"model": {"bodies": [*bodies, {"name": "side", "parent": "b0"}, {"name": "lost", "parent": ["b1"]}]}}
    drawn = tree_html(table, "b7", {"model.bodies[9].mass": "expected a mass", "model.bodies[90]": "too heavy"})
    order = re.findall(r">(b\d+|side|lost)<", drawn)
    assert order == [*(f"b{k}" for k in range(1200)), "side", "lost"]
    assert re.findall(r"c92a2a\">(\w+)<", drawn) == ["b9", "b90"]
    assert (
        '├─ </span><span style="font-weight:400">b1<' in drawn
        and '└─ </span><span style="font-weight:400">side<' in drawn
    )
    assert len(drawn) < 1200 * 400


def test_a_case_that_cannot_be_shown_leaves_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> str:
        raise RuntimeError("no tree")

    monkeypatch.setattr("articulon.studio.editing.body_view.tree_html", fails)
    page = Page(four_bar(), tmp_path)
    try:
        page.says("please report it: RuntimeError: no tree")
    finally:
        page.close()


def field(page: Any, label: str) -> Any:
    """The first field with a label, to which viser does not tie it as browsers know it."""
    row = f"//label[normalize-space(.)='{label}']/ancestor::div[contains(@class, 'mantine-Flex-root')][1]"
    return page.locator(f"xpath={row}//input").first


def press(page: Any, name: str) -> None:
    """Press the first button of a name."""
    page.get_by_role("button", name=name, exact=True).first.click()


@pytest.mark.slow
@needs_browser
def test_a_double_pendulum_is_built_and_run_in_a_browser(tmp_path: Path) -> None:
    """From nothing; Chromium draws in software, and the engine is a process, both of which take seconds."""
    with live_studio(CaseDocument.new(), tmp_path / "runs") as studio, chromium() as browser:
        editor = studio.editor
        assert editor is not None
        page = opened(browser, address_of(studio), "Build")
        page.get_by_role("tab", name="Build").click()
        page.get_by_text("No bodies are written out yet").wait_for()
        for name in ("upper", "lower"):
            press(page, "add")
            page.get_by_text("add body 'body 1'").wait_for()
            field(page, "name").fill(name)
            page.get_by_text(f"to '{name}'").wait_for()
        field(page, "mass [kg]").fill("2 s")
        page.get_by_text("1 error").wait_for()
        said = page.get_by_text("expected a mass").filter(visible=True).all()
        above = field(page, "mass [kg]").bounding_box()["y"]
        assert any(0 < one.bounding_box()["y"] - above < 60 for one in said)
        before = editor.document.toml
        press(page, "undo")
        page.get_by_text("ready to run").wait_for()
        press(page, "redo")
        page.get_by_text("1 error").wait_for()
        assert editor.document.toml == before
        press(page, "undo")
        page.get_by_text("ready to run").wait_for()
        page.get_by_label("body", exact=True).first.click()
        page.get_by_role("option", name="upper", exact=True).click()
        page.wait_for_function("() => document.querySelector('span[style*=\"700\"]')?.innerText == 'upper'")
        field(page, "q [rad]").fill("90 deg")
        page.get_by_text("undo: change model.bodies[0].q").wait_for()
        page.get_by_role("tab", name="Settings").click()
        field(page, "duration [s]").fill("1 s")
        page.get_by_text("undo: change run.duration").wait_for()
        # The text beside the forms is the same case, and takes what is typed there.
        area = page.locator("textarea").first
        assert area.input_value() == editor.document.toml
        area.fill("[[broken\n" + area.input_value())
        page.get_by_text("line 1 · not valid TOML").first.wait_for()
        area.fill(area.input_value().replace("[[broken", "# By hand."))
        page.get_by_text("changes that are not applied").first.wait_for()
        press(page, "apply")
        page.get_by_text("undo: edit the text").wait_for()
        assert editor.document.toml.startswith("# By hand.\n")
        page.get_by_role("tab", name="File").click()
        field(page, "file").fill("pendulum")
        press(page, "Save")
        page.get_by_text("pendulum.toml · ready to run").wait_for()
        text = (tmp_path / "pendulum.toml").read_text()
        page.reload()
        page.get_by_role("tab", name="Build").click()
        page.get_by_text("pendulum.toml · ready to run").wait_for()
        assert CaseDocument.open(tmp_path / "pendulum.toml").toml == editor.document.toml == text
        page.get_by_role("tab", name="Run").click()
        press(page, "Run")
        page.locator("#articulon-light", has_text="complete").or_(page.get_by_text("ended")).first.wait_for()
        folder = studio.session.folder
    assert folder is not None
    run = ar.open_run(folder)
    python = ar.simulate(pendulum_in_python(), 1.0, rtol=1e-9, atol=1e-9, frames=500)
    assert np.abs(run.q[-1] - python.q[-1]).max() <= 1e-12


@pytest.mark.slow
@needs_browser
def test_the_crank_of_a_four_bar_is_dragged_in_a_browser(tmp_path: Path) -> None:
    """By the ring about its axis, where the camera shows it."""
    with live_studio(four_bar(), tmp_path / "runs") as studio, chromium() as browser:
        editor = studio.editor
        assert editor is not None
        page = opened(browser, address_of(studio), "Build")
        page.get_by_role("tab", name="Build").click()
        page.get_by_text("ready to run").wait_for()
        page.get_by_label("body", exact=True).first.click()
        page.get_by_role("option", name="crank", exact=True).click()
        page.wait_for_function("() => document.querySelector('span[style*=\"700\"]')?.innerText == 'crank'")
        page.wait_for_timeout(3000.0)
        (client,) = studio.server.get_clients().values()
        camera, canvas = client.camera, page.locator("canvas").first.bounding_box()
        before, stage = editor.document.model(), editor._scene._stage
        assert before is not None and stage is not None
        handle = joint_handle(before, 0, before.q0)
        middle, x, y = stage.places(handle.position), *matrices(handle.rotation).T[:2]

        def on_screen(angle: float) -> tuple[float, float]:
            # The ring of viser's handles has 0.65 of their size.
            point = middle + 0.65 * HANDLE * (np.cos(angle) * x + np.sin(angle) * y)
            right, down, far = matrices(np.asarray(camera.wxyz)).T @ (point - np.asarray(camera.position))
            scale = 0.5 * canvas["height"] / np.tan(camera.fov / 2) / far
            return 0.5 * canvas["width"] + scale * right, 0.5 * canvas["height"] + scale * down

        # Where no body is in front of the ring.
        page.mouse.move(*on_screen(1.3))
        page.wait_for_timeout(300.0)
        page.mouse.down()
        for angle in np.linspace(1.3, 1.8, 8)[1:]:
            page.mouse.move(*on_screen(float(angle)))
            page.wait_for_timeout(200.0)
        page.mouse.up()
        page.get_by_text("undo: move 'crank', 'coupler', 'rocker'").wait_for()
        after = editor.document.model()
        assert after is not None and editor.document.errors == {}
        assert after.q0[0] - before.q0[0] == pytest.approx(0.5, abs=0.2)
        assert pin_gap(after) < 1e-12
