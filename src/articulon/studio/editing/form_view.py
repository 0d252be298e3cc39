"""A form on the page: one control for each field, with the field's error below."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from articulon.errors import CaseError
from articulon.studio.editing.editor_actions import Editor, on_input
from articulon.studio.editing.forms import UNSET, FormField

if TYPE_CHECKING:
    import viser

RED, GREY = "#c92a2a", "#868e96"
"""Colours of errors and of hints."""
ONE_LINE = "white-space:nowrap;overflow:hidden;text-overflow:ellipsis"
"""Style that keeps text on one line."""
FAULT = '<div style="color:#c92a2a;font-size:0.8em;line-height:1.3;padding:0 0.8em 0.2em">{}</div>'
"""HTML of an error below a field."""
MORE = "tables"
"""Name of the folder for fields that contain tables."""


class FormView:
    """Controls for the fields of a form, in the current container.

    Parameters
    ----------
    gui, editor
        The page, and the panel.
    fields
        The fields.
    change
        Function that is called with a field's key and its new value as written in a case file; None leaves the key out.
    """

    def __init__(
        self, gui: viser.GuiApi, editor: Editor, fields: Sequence[FormField], change: Callable[[str, Any], None]
    ) -> None:
        self._gui, self._editor, self._change = gui, editor, change
        self.fields = {field.name: field for field in fields}
        self._controls: dict[str, Any] = {}
        self._faults: dict[str, Any] = {}
        self._unread: dict[str, str] = {}
        self._folder = gui.add_folder(None)
        nested = [field for field in fields if field.nested]
        with self._folder:
            for field in fields:
                if not field.nested:
                    self._add(field)
            self._inner = gui.add_folder(MORE, expand_by_default=False) if nested else None
        if self._inner is not None:
            with self._inner:
                for field in nested:
                    self._add(field)

    def _add(self, field: FormField) -> None:
        gui, hint = self._gui, field.hint or None
        control: Any
        if field.kind == "flag":
            control = gui.add_checkbox(field.label, bool(field.default), hint=hint)
        elif field.kind == "choice":
            first = field.text_of(field.default)
            choices = field.choices if first in field.choices else (first, *field.choices)
            control = gui.add_dropdown(field.label, choices, initial_value=first, hint=hint)
        else:
            control = gui.add_text(field.label, field.text_of(field.default), hint=hint)
        self._controls[field.name] = control
        on_input(control, self._editor, lambda given: self._take(field, given))

    def _take(self, field: FormField, given: Any) -> None:
        """Take over a value that a page has put into a field."""
        try:
            value = given if field.kind == "flag" else field.value_of(given)
        except CaseError as error:
            self._unread[field.name] = str(error)
            self._show_fault(field.name, str(error))
            return
        self._unread.pop(field.name, None)
        self._change(field.name, value)

    def show(self, values: Mapping[str, Any], errors: Mapping[str, str]) -> None:
        """Show the values of a table, and below each field its error.

        Parameters
        ----------
        values
            The table as written in the case file.
        errors
            Errors by key relative to the table; the error of the table itself is under ``""``. Errors of keys without a
            field are not shown.
        """
        self._show_fault("", errors.get("", ""))
        for name, field in self.fields.items():
            # A text field that the user has emptied stays empty while the table has no value for it.
            if name in values or field.kind != "text" or self._controls[name].value.strip():
                self._show_value(field, values.get(name, field.default))
            said = [what for key, what in errors.items() if key == name or key.startswith((f"{name}.", f"{name}["))]
            self._show_fault(name, self._unread.get(name) or (said[0] if said else ""))

    def _show_value(self, field: FormField, value: Any) -> None:
        control = self._controls[field.name]
        if self._editor.waits(control):
            return
        if field.kind == "flag":
            wanted: Any = value is True
        else:
            wanted = field.text_of(value)
            # Typed text stays unchanged while it means the same value.
            if field.kind == "text" and (field.name in self._unread or _means(field, control.value, value)):
                return
            if field.kind == "choice" and wanted not in control.options:
                control.options = (wanted, *control.options)
        if control.value != wanted:
            control.value = wanted

    def _show_fault(self, name: str, what: str) -> None:
        shown = self._faults.get(name)
        if not what:
            if shown is not None:
                self._faults.pop(name).remove()
            return
        content = FAULT.format(html.escape(what))
        if shown is not None:
            if shown.content != content:
                shown.content = content
            return
        if not name:
            with self._folder:
                self._faults[name] = self._gui.add_html(content, order=0.0)
            return
        control, field = self._controls[name], self.fields[name]
        with self._inner if field.nested and self._inner is not None else self._folder:
            self._faults[name] = self._gui.add_html(content, order=control.order + 1e-6)

    def takes(self, fields: Sequence[FormField]) -> bool:
        """Return whether the controls fit a form. If they fit, the choices of the form are taken over."""
        if [replace(field, choices=()) for field in fields] != [
            replace(field, choices=()) for field in self.fields.values()
        ]:
            return False
        for field in fields:
            if field.kind == "choice" and field.choices != self.fields[field.name].choices:
                control = self._controls[field.name]
                shown = control.value
                control.options = field.choices if shown in field.choices else (shown, *field.choices)
            self.fields[field.name] = field
        return True

    def forget(self) -> None:
        """Forget texts that could not be read. This is called before another table is shown."""
        self._unread.clear()
        for name, field in self.fields.items():
            if field.kind == "text":
                self._controls[name].value = field.text_of(field.default)

    def remove(self) -> None:
        """Remove the form from the page."""
        self._folder.remove()


def _means(field: FormField, text: str, value: Any) -> bool:
    """Whether a text represents a value."""
    if not text.strip() or text.strip() == UNSET:
        return value is None
    try:
        return bool(field.value_of(text) == value)
    except CaseError:
        return False


def one_line(text: str, colour: str) -> str:
    """Return a small line of text, which takes the same space even if it is empty. The full text appears under the
    pointer."""
    said = html.escape(text)
    return f'<div style="color:{colour};font-size:0.8em;{ONE_LINE}" title="{said}">{said or "&nbsp;"}</div>'
