"""The part of the panel that opens and saves cases, in one folder only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from articulon.cases.library import built_in_cases
from articulon.errors import CaseError
from articulon.inputs import clipped
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.editing.editor_actions import Editor, on_input
from articulon.studio.editing.robot_cases import is_description

if TYPE_CHECKING:
    import viser

NEW = "new mechanism"
"""Menu entry that opens an empty case."""
NO_CODE = (
    '<div style="padding:0 0.8em;color:#868e96;font-size:0.8em">Only the case with which the studio was started may '
    "run Python code, and only if it was allowed to at the start. A case that is opened here never runs code.</div>"
)
"""Notice that the permission to run code holds for one case only."""
MOST_FILES = 200
"""Largest number of files of a folder that are listed."""


class FileEditor(Editor, Protocol):
    """Interface of the panel that this part uses."""

    folder: Path
    """The only folder that cases are read from and written to."""

    def take(self, document: CaseDocument) -> None:
        """Edit another case."""

    def ask(self, question: str, lines: list[str], yes: str, action: Callable[[], Any]) -> None:
        """Ask for confirmation before an action."""


class FileView:
    """View for opening and saving cases.

    Parameters
    ----------
    gui, editor
        The page, and the panel.
    """

    def __init__(self, gui: viser.GuiApi, editor: FileEditor) -> None:
        self._editor = editor
        self._file = gui.add_text("file", _name_of(editor.document), hint="In the folder that the studio is opened on.")
        self._save = gui.add_button("Save")
        self._which = gui.add_dropdown("case", self._offered(), hint="Files of the folder, and built-in ones.")
        self._open = gui.add_button("Open")
        gui.add_html(NO_CODE)

        # The fields are read when a button is pressed, because other pages may change them later.
        on_input(self._save, editor, lambda name: self._write(editor.document, name), lambda _: self._file.value)
        on_input(self._open, editor, self._begin_open, lambda _: self._which.value)

    def _offered(self) -> tuple[str, ...]:
        found = self._editor.folder.iterdir()
        files = sorted(path.name for path in found if path.suffix == ".toml" or is_description(path))[:MOST_FILES]
        return (NEW, *files, *(name for name in built_in_cases() if name not in files))

    def _begin_open(self, name: str) -> None:
        document = self._editor.document
        if document.changed:
            lines = ["The case has changes that are not saved."]
            self._editor.ask(f"Open {name}?", lines, "open, and lose them", lambda: self._read(name))
        else:
            self._read(name)

    def _read(self, name: str) -> None:
        # A page may send any text as its choice, even the path of any file.
        if name not in self._offered():
            raise CaseError(f"{clipped(name)}: is not one of the cases in the list; choose one from the list")
        if name == NEW:
            document = CaseDocument.new()
            document.confine(self._editor.folder, trusted=False)
        elif name.endswith(".toml") or is_description(Path(name)):
            # Anybody with access to the page may have written this file, so its code is not allowed to run.
            document = CaseDocument.open(inside(self._editor.folder, name, reads=True))
            document.confine(self._editor.folder, trusted=False)
        else:
            document = CaseDocument.open(name)
            document.confine(self._editor.folder)
        self._editor.take(document)
        self._file.value = _name_of(document)  # type: ignore[misc]

    def _write(self, document: CaseDocument, name: str, *, over: bool = False) -> None:
        file = inside(self._editor.folder, name)
        try:
            document.save(file, over=over)
        except CaseError as error:
            if over or not file.is_file():
                raise
            question = f"Overwrite {file.name}?"
            self._editor.ask(question, [str(error)], "overwrite it", lambda: self._write(document, name, over=True))
            return
        if document is self._editor.document:
            self._file.value = file.name  # type: ignore[misc]

    def show(self) -> None:
        """Show the files that exist now."""
        offered = self._offered()
        if tuple(self._which.options) != offered:
            self._which.options = offered


def inside(folder: Path, name: str, *, reads: bool = False) -> Path:
    """Return the path of a case in a folder.

    The suffix ``.toml`` is added if it is missing, except when a robot description is read. Raises CaseError for a path
    outside the folder, also if a symbolic link leads outside.
    """
    name = name.strip()
    if not name:
        raise CaseError("the case needs a name for its file")
    whole = name.endswith(".toml") or (reads and is_description(Path(name)))
    file = folder / (name if whole else f"{name}.toml")
    try:
        there = file.resolve()
    except (OSError, ValueError) as error:
        raise CaseError(f"{name}: is no name for a file: {error}") from None
    if folder.resolve() not in there.parents:
        raise CaseError(f"{name}: lies outside of {folder}, which this page is open on; give a name inside of it")
    if not there.parent.is_dir():
        raise CaseError(f"{name}: there is no folder {there.parent}; give another name")
    return file


def _name_of(document: CaseDocument) -> str:
    return document.path.name if document.path is not None else "mechanism.toml"
