"""The part of the panel for bodies: their tree, and the form and the name of the selected body."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from articulon.cases.builders.explicit_joints import GROUND
from articulon.cases.builders.written_model import ExplicitBody
from articulon.cases.overrides import dotted
from articulon.model.joints import BY_NAME
from articulon.model.shapes import AnyShape
from articulon.studio.editing.case_changes import bodies_of, body_names, body_number, free_name, value_or_none
from articulon.studio.editing.case_errors import about
from articulon.studio.editing.editor_actions import Editor, on_input
from articulon.studio.editing.form_view import FormView
from articulon.studio.editing.forms import FormField, family_of, form_of
from articulon.studio.editing.joint_handles import Drag
from articulon.studio.editing.table_views import ListView
from articulon.units import UnitSystem

if TYPE_CHECKING:
    import viser

ELSEWHERE = ("name", "shape")
"""Keys of a body that have their own controls."""
SHAPES = family_of(AnyShape, "shape")
"""Family of shapes of a body."""
WIDEST = 120
"""Largest width of the branches before a body in the tree [characters]. In longer chains, the bodies are listed below
each other."""
JOINED = ("parent", "joint")
"""Keys that define how a body is joined to its parent; they change the meaning of other keys."""


class BodyEditor(Editor, Protocol):
    """Interface of the panel that this part uses."""

    selected: str | None
    """Name of the selected body, or of the ground; None before the first selection."""
    drag: Drag
    """Kind of drag of the handle in the scene."""

    def ask(self, question: str, lines: list[str], yes: str, action: Any) -> None:
        """Ask for confirmation before an action."""


@dataclass
class ControlledBody:
    """The body for which a set of controls was made. It is stored because another page may select another body before
    an action on these controls arrives."""

    name: str | None
    """Current name of the body; None for the ground, or if no body is selected."""


class BodyView:
    """View of the bodies: a tree, buttons, and the form of the selected body.

    Parameters
    ----------
    gui, editor
        The page, and the panel.
    """

    def __init__(self, gui: viser.GuiApi, editor: BodyEditor) -> None:
        self._gui, self._editor = gui, editor
        self._tree = gui.add_html("")
        self._which = gui.add_dropdown("body", (GROUND,), hint="Or click it in the scene.")
        self._place = gui.add_folder(None)
        self._inside: Any = None
        self._drag = gui.add_dropdown(
            "drag",
            ("motion", "joint", "off"),
            hint="In the scene: the joint's initial coordinates, or the position and the axis of the joint.",
        )
        self._container = gui.add_folder(None)
        with gui.add_folder("shapes", expand_by_default=False):
            self._shapes = ListView(gui, editor, "model.bodies[0].shape", "shape", SHAPES, lambda _: {})
        self._form: FormView | None = None
        self._form_of: ControlledBody | None = None
        self._controlled = ControlledBody(None)
        self._make_controls(None)
        on_input(self._which, editor, lambda name: setattr(editor, "selected", name))
        on_input(self._drag, editor, lambda what: setattr(editor, "drag", what))

    def _make_controls(self, name: str | None) -> None:
        """Make the controls for one body."""
        controlled = self._controlled = ControlledBody(name)
        if self._inside is not None:
            self._inside.remove()
        with self._place:
            self._inside = self._gui.add_folder(None)
        with self._inside:
            buttons = self._gui.add_button_group(
                "bodies", ("add", "delete"), hint="A new body is joined to the selected body."
            )
            self._name = self._gui.add_text(
                "name", name or "", disabled=name is None, hint="Also changes all places that name the body."
            )
        on_input(
            buttons, self._editor, lambda word: self._add(controlled) if word == "add" else self._delete(controlled)
        )
        on_input(self._name, self._editor, lambda new: self._rename(controlled, new))

    def _add(self, controlled: ControlledBody) -> None:
        editor = self._editor
        name = free_name(editor.document.bodies)
        editor.document.add_body(name, **beginning(editor.document.table, controlled.name))
        editor.selected = name

    def _delete(self, controlled: ControlledBody) -> None:
        editor, body = self._editor, controlled.name
        if body is None:
            return
        also = editor.document.deleted_with(body)

        def delete() -> None:
            parent = editor.document.value(("model", "bodies", body_number(editor.document.table, body), "parent"))
            editor.document.delete_body(body, all_of_it=True)
            if editor.selected == body:
                editor.selected = parent

        if also:
            editor.ask(f"With '{body}' goes", also, "delete all of it", delete)
        else:
            delete()

    def _rename(self, controlled: ControlledBody, name: str) -> None:
        editor, old, new = self._editor, controlled.name, name.strip()
        if old is not None and new != old:
            editor.document.rename_body(old, new, merges="name")
            controlled.name = new
            if editor.selected == old:
                editor.selected = new

    def show(self, table: Mapping[str, Any], errors: Mapping[str, str]) -> None:
        """Show the bodies of a case, and its errors."""
        editor, names = self._editor, body_names(table)
        if editor.selected not in (GROUND, *names):
            editor.selected = names[-1] if names else None
        chosen = "" if editor.selected in (None, GROUND) else str(editor.selected)
        if (self._controlled.name or "") != chosen:
            self._make_controls(chosen or None)
        options = (GROUND, *names)
        if tuple(self._which.options) != options:
            self._which.options = options
        if self._which.value != (chosen or GROUND) and not editor.waits(self._which):
            self._which.value = chosen or GROUND  # type: ignore[misc]
        if self._name.value.strip() != chosen and not editor.waits(self._name):
            self._name.value = chosen  # type: ignore[misc]
        body = bodies_of(table)[body_number(table, chosen)] if chosen else None
        self._set_form(body)
        if self._form is not None and body is not None:
            number = body_number(table, chosen)
            self._form.show(body, about(errors, f"model.bodies[{number}]"))
            self._shapes.point_at(("model", "bodies", number, "shape"))
        self._shapes.show(table, errors)
        # This comes last, so that a body is never in the tree before its controls exist.
        self._tree.content = tree_html(table, editor.selected, errors)

    def _set_form(self, body: Mapping[str, Any] | None) -> None:
        document = self._editor.document
        fields = []
        if body is not None:
            fields = coordinate_units(
                form_of(ExplicitBody, document.units, document.bodies, ELSEWHERE),
                str(body.get("joint")),
                document.units,
            )
        controlled = self._controlled
        if self._form is not None and self._form_of is controlled and fields and self._form.takes(fields):
            return
        if self._form is not None:
            self._form.remove()
        self._form = None
        if fields:
            with self._container:
                self._form = FormView(self._gui, self._editor, fields, partial(self._change, controlled))
        self._form_of = controlled

    def _change(self, controlled: ControlledBody, key: str, value: Any) -> None:
        document, name = self._editor.document, controlled.name
        if name is None:
            return
        if key in JOINED and value is not None:
            document.join(name, **{key: value})
            return
        path = ("model", "bodies", body_number(document.table, name), key)
        document.set(path, value, merges=dotted(path))


def coordinate_units(fields: tuple[FormField, ...], joint: str, units: UnitSystem) -> list[FormField]:
    """Return the fields of a body with the names and units of the coordinates and speeds of its joint."""
    kind = BY_NAME.get(joint)
    if kind is None:
        return list(fields)
    named = {"q": kind.coordinates, "u": kind.speeds}
    found = []
    for field in fields:
        if field.name in named:
            parts = named[field.name]
            if not parts:  # a weld has no coordinates
                continue
            labels = list(dict.fromkeys(units.label(dimension) for _, dimension in parts))
            words = f"{', '.join(name for name, _ in parts)}: {field.meaning}"
            field = replace(field, meaning=words, unit=", ".join(label for label in labels if label != "1"))
        found.append(field)
    return found


def beginning(table: Mapping[str, Any], parent: str | None) -> dict[str, Any]:
    """Return the initial values of a new body: a rod of unit mass and length, with a thickness of a tenth of its
    length, that hangs from the end of its parent."""
    rod: dict[str, Any] = {
        "joint": "revolute",
        "axis": [0, 1, 0],
        "mass": 1.0,
        "inertia": [0.083333, 0.083333, 0.00125],
        "com": [0.0, 0.0, -0.5],
        "shape": {"kind": "capsule", "radius": 0.05, "length": 1.0, "position": [0.0, 0.0, -0.5]},
    }
    if parent is None or parent not in body_names(table):
        return rod
    com = bodies_of(table)[body_number(table, parent)].get("com", [0, 0, 0])
    plain = isinstance(com, list) and len(com) == 3 and all(isinstance(x, int | float) for x in com)
    return {**rod, "parent": parent, "position": [2 * x for x in com] if plain else [0.0, 0.0, 0.0]}


def tree_html(table: Mapping[str, Any], selected: str | None, errors: Mapping[str, str]) -> str:
    """Return the tree of the bodies as HTML, each with its joint. The selected body is in bold, and bodies with errors
    are in red."""
    bodies = bodies_of(table)
    if not bodies:
        builder = value_or_none(table, ("model", "builder"))
        said = (
            "No bodies are written out yet: <b>add</b> the first one, which hangs on the ground."
            if builder in (None, "explicit")
            else f"The builder <b>{html.escape(str(builder))}</b> makes the bodies; its keys are among the settings."
        )
        return f'<div style="padding:0.4em 0.8em;color:#868e96;font-size:0.9em">{said}</div>'
    below: dict[str, list[int]] = {}
    for k, body in enumerate(bodies):
        below.setdefault(str(body.get("parent", GROUND)), []).append(k)
    ground = "font-weight:700;color:#495057" if selected == GROUND else "color:#868e96"
    lines = [f'<span style="{ground}">{GROUND}</span>']
    faulty = {int(found[1]) for key in errors if (found := re.match(r"model\.bodies\[(\d+)\]", key))}

    # An explicit stack is used, because a chain may have more bodies than the recursion limit allows.
    growing: list[tuple[int, str, bool]] = []

    def grow(parent: str, before: str) -> None:
        children = below.pop(parent, [])
        growing.extend((k, before, k == children[-1]) for k in reversed(children))

    def draw(parent: str, before: str) -> None:
        grow(parent, before)
        while growing:
            k, before, last = growing.pop()
            name = html.escape(str(bodies[k].get("name", "?")))
            style = f"font-weight:{700 if bodies[k].get('name') == selected else 400}" + (
                ";color:#c92a2a" if k in faulty else ""
            )
            joint = html.escape(str(bodies[k].get("joint", "?")))
            lines.append(
                f'<span style="color:#adb5bd">{before}{"└─" if last else "├─"} </span><span style="{style}">{name}'
                f'</span> <span style="color:#868e96">{joint}</span>'
            )
            further = before + ("   " if last else "│  ")
            grow(str(bodies[k].get("name")), further if len(further) <= WIDEST else before)

    draw(GROUND, "")
    for parent in [*below]:  # bodies whose parents do not exist
        draw(parent, "? ")
    text = "\n".join(lines)
    return (
        '<div style="padding:0.3em 0.8em;font-family:monospace;font-size:0.85em;line-height:1.35;white-space:pre;'
        f'overflow:auto;max-height:16em">{text}</div>'
    )
