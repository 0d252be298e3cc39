"""The part of the panel for the case file itself: its editable text, with line numbers and errors by line."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from articulon.cases.overrides import parsed
from articulon.errors import CaseError
from articulon.inputs import clipped
from articulon.studio.editing.case_changes import path_of
from articulon.studio.editing.editor_actions import Editor, on_input
from articulon.studio.editing.form_view import FAULT, GREY, RED, one_line
from articulon.studio.editing.text_lines import key_lines, line_of, line_of_error, without_line

if TYPE_CHECKING:
    import viser

LINE = 16
"""Height of a line [pixels]."""
MOST_NUMBERED = 2_000
"""Largest number of lines that get line numbers; browsers cannot draw larger images of numbers."""
GUTTER = 34
"""Width of the line numbers [pixels]."""
IN_STEP, NOT_APPLIED = "in step with the forms", "the text has changes that are not applied"
ORANGE = "#b35c00"
CHANGED = "The case has changed since this text was begun: what was done elsewhere on the page would be lost."


class TextEditor(Editor, Protocol):
    """Interface of the panel that this part uses."""

    def ask(self, question: str, lines: list[str], yes: str, action: Callable[[], Any]) -> None:
        """Ask for confirmation before an action."""


class TextView:
    """View of the text of the case; it always shows the same contents as the forms. Typed text is a draft until it is
    applied as one step.

    Parameters
    ----------
    gui, editor
        The page, and the panel.

    Attributes
    ----------
    draft
        Text that has been typed and not applied; None if the shown text is the text of the case.
    """

    def __init__(self, gui: viser.GuiApi, editor: TextEditor) -> None:
        self._gui, self._editor = gui, editor
        self.draft: str | None = None
        self._document, self._base = editor.document, editor.document.toml
        self._style = gui.add_html("")
        self._faults = gui.add_html("", visible=False)
        self._buttons = gui.add_button_group("text", ("apply", "discard"))
        self._state = gui.add_html("")
        self._text = gui.add_text("case file", self._base, multiline=True)
        on_input(self._text, editor, self._type)
        on_input(self._buttons, editor, self._press, lambda group: (group.value, self._text.value))

    def _type(self, text: str) -> None:
        if self.draft is None:
            self._document, self._base = self._editor.document, self._editor.document.toml
        self.draft = None if text == self._base else text

    def _press(self, pressed: tuple[str, str]) -> None:
        word, text = pressed
        if word == "discard":
            self.draft = None
        elif self.draft is not None and self._base != self._editor.document.toml:
            self._editor.ask("Apply the text?", [CHANGED], "apply, and lose that", lambda: self._apply(text))
        else:
            self._apply(text)

    def _apply(self, text: str) -> None:
        self._editor.document.replace(text)
        # Text that was typed while the confirmation window was open stays a draft.
        self.draft = None if self.draft == text else self.draft

    def show(self, errors: Mapping[str, str]) -> None:
        """Show the text of the case, or the draft, and its errors.

        Parameters
        ----------
        errors
            Errors of the case by dotted key.
        """
        document = self._editor.document
        if self._document is not document:
            self.draft, self._document = None, document
        if self.draft == document.toml:
            self.draft = None
        shown = document.toml if self.draft is None else self.draft
        if self._text.value != shown and not self._editor.waits(self._text):
            self._text.value = shown  # type: ignore[misc]
        faults, unread = (
            faults_by_line(document.toml, errors),
            None if self.draft is None else reading_fault(self.draft),
        )
        content = "".join(FAULT.format(html.escape(f"line {line} · {what}" if line else what)) for line, what in faults)
        if self._faults.content != content:
            self._faults.content = content
        self._faults.visible = bool(content)
        if unread is not None:
            state, red = one_line(f"line {unread[0]} · {unread[1]}" if unread[0] else unread[1], RED), {unread[0]}
        elif self.draft is not None:
            state, red = one_line(NOT_APPLIED, ORANGE), set()
        else:
            state, red = one_line(IN_STEP, GREY), {line for line, _ in faults}
        # Exactly one line, also for long messages: the text must not move under the pointer.
        state = f'<div style="padding:0 0.8em 0.2em">{state}</div>'
        if self._state.content != state:
            self._state.content = state
        style = gutter(shown.count("\n") + 1, {line for line in red if line})
        if self._style.content != style:
            self._style.content = style


def faults_by_line(text: str, errors: Mapping[str, str]) -> list[tuple[int | None, str]]:
    """Return the errors of a case in the order of their lines, each with its line and its key."""
    lines = key_lines(text) if errors else {}
    found = []
    for key, what in errors.items():
        try:
            line = line_of(lines, path_of(key))
        except CaseError:
            line = None
        found.append((line, f"{key}: {what}"))
    return sorted(found, key=lambda fault: fault[0] or 0)


def reading_fault(text: str) -> tuple[int | None, str] | None:
    """Return the line and the reason if a text is not TOML; None if it is TOML."""
    try:
        parsed(text.replace("\r\n", "\n"))
    except ValueError as error:
        return line_of_error(str(error)), f"not valid TOML: {clipped(without_line(str(error)))}"
    return None


def gutter(count: int, faulty: Iterable[int]) -> str:
    """Return the style that makes the multi-line text field look like an editor: its font, and line numbers that scroll
    with the text. The numbers of lines with errors are red."""
    lines = min(count, MOST_NUMBERED)
    marked = {line for line in faulty if line <= lines}
    rows = "".join(
        f'<rect y="{LINE * (line - 1)}" width="3000" height="{LINE}" fill="#ffe3e3"/>' for line in sorted(marked)
    )
    mark = ' class="f"'
    numbers = "".join(
        f'<text x="{GUTTER - 8}" y="{LINE * line - 4}"{mark if line in marked else ""}>{line}</text>'
        for line in range(1, lines + 1)
    )
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="3000" height="{LINE * lines}"><style>'
        "text{font:10px monospace;fill:#adb5bd;text-anchor:end}.f{fill:#c92a2a;font-weight:bold}"
        f"</style>{rows}{numbers}</svg>"
    )
    return (
        "<style>"
        # Labels must stay readable in nested folders. Without this style, the label of the text field takes half of its
        # width.
        ".mantine-Flex-root:has(>div>p>label)>div:first-child{min-width:6em}"
        ".mantine-Flex-root:has(> * textarea)>div:first-child{display:none}"
        ".mantine-Textarea-input{font-family:monospace!important;font-size:12px!important;"
        f"line-height:{LINE}px!important;white-space:pre!important;overflow:auto!important;overflow-wrap:normal;"
        f"min-height:{26 * LINE}px!important;padding:0 0.5em 0 {GUTTER}px!important;"
        f'background:url("data:image/svg+xml,{quote(picture)}") no-repeat local 0 0!important}}</style>'
    )
