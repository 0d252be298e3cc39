"""A case that is edited. Its text and its tables always agree, every change is a step that can be undone, and errors
are listed by key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from articulon.cases.case import Case, resolve
from articulon.cases.library import built_in_cases
from articulon.cases.loading import find
from articulon.cases.overrides import Part, dotted, parsed
from articulon.declaration import Declaration
from articulon.errors import ArticulonError, CaseError
from articulon.inputs import clipped
from articulon.model import Model
from articulon.storage.atomic_writing import write_text
from articulon.studio.editing import case_changes
from articulon.studio.editing.case_errors import by_key
from articulon.studio.editing.named_files import Bounds, code_of, named_files
from articulon.studio.editing.robot_cases import is_description, robot_case
from articulon.studio.editing.text_history import Step, TextHistory
from articulon.studio.editing.toml_text import rewritten, same
from articulon.units import UnitSystem, unit_system

NEW = """\
[case]
title = "New mechanism"
units = "kg-m-s"

[[forces]]
kind = "gravity"
acceleration = [0, 0, "-9.81 m/s^2"]

[integrator]
rule = "dormand-prince"
rtol = 1e-9
atol = 1e-9

[run]
duration = "10 s"
frames = 500
"""
"""Text of a case without bodies."""


class CaseDocument:
    """A case that is edited.

    Each change is one step: :meth:`undo` takes it back and :meth:`redo` repeats it, byte for byte. An impossible change
    is rejected and leaves the document unchanged. The case may have errors between two steps; :attr:`errors` lists
    them.

    Parameters
    ----------
    text
        Text of the case file.
    path
        File that :meth:`save` writes to; None for a new case.
    source
        File that relative paths in the case refer to; by default ``path``.
    allow_code
        Whether functions and plugins that the case names may run. They are code.

    Raises
    ------
    CaseError
        For a text that is not TOML; the message names the line.
    """

    def __init__(
        self, text: str, path: Path | None = None, *, source: str | None = None, allow_code: bool = False
    ) -> None:
        self.path, self.allow_code = path, allow_code
        self._source = source or (str(path) if path is not None else "new case")
        self._line_end = "\r\n" if "\r\n" in text else "\n"
        text = text.replace("\r\n", "\n")
        self._read(text)
        self._history = TextHistory(text)
        self._on_disk: str | None = None
        self._callbacks: list[Callable[[], Any]] = []
        self._checked: tuple[str, Case | None, dict[str, str]] | None = None
        self._built: tuple[str, Model | None, dict[str, str]] | None = None
        self._of: tuple[Case, Model] | None = None
        self._bounds: Bounds | None = None

    @classmethod
    def new(cls) -> Self:
        """Create an empty mechanism under gravity, in kilograms, metres and seconds."""
        return cls(NEW)

    @classmethod
    def open(cls, name_or_path: str | Path, *, allow_code: bool = False) -> Self:
        """Open a case file; a built-in case, or a robot's URDF or MJCF file, gives a new case.

        Raises
        ------
        CaseError
            For a file that does not exist, cannot be read, or is not TOML.
        """
        if is_description(Path(name_or_path)) and Path(name_or_path).is_file():
            described = Path(name_or_path).absolute()
            return cls(robot_case(described), source=str(described), allow_code=allow_code)
        file = find(name_or_path)
        try:
            content = file.read_bytes()
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise CaseError(f"{file}: is not UTF-8 text: {error.reason} at byte {error.start}") from None
        except OSError as error:
            raise CaseError(f"{clipped(file)}: cannot be read: {error.strerror}") from None
        ours = file in built_in_cases().values()
        document = cls(text, None if ours else file, source=str(file), allow_code=allow_code)
        document._on_disk = _digest(content)
        return document

    # Contents.

    @property
    def toml(self) -> str:
        """Text of the case file."""
        return self._history.text

    @property
    def table(self) -> dict[str, Any]:
        """Copy of the tables of the case."""
        return self._read(self.toml)

    @property
    def name(self) -> str:
        """Name of the case: the file's name without its suffix."""
        return Path(self._source).stem

    def value(self, key: str | Sequence[Part]) -> Any:
        """Return the value at a key, such as ``model.bodies[0].mass``, with elements of lists by index; None if there
        is no value."""
        return case_changes.value_or_none(self.table, case_changes.path_of(key))

    @property
    def units(self) -> UnitSystem:
        """System of units; kilograms, metres and seconds if the case names an unknown system."""
        try:
            return unit_system(str(self.value("case.units") or "fg-um-us"))
        except CaseError:
            return unit_system("kg-m-s")

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies that the case lists in its file."""
        return case_changes.body_names(self.table)

    def _read(self, text: str) -> dict[str, Any]:
        try:
            return parsed(text)
        except ValueError as error:
            raise CaseError(f"{self._source}: is not valid TOML: {clipped(error)}") from None

    # Faults.

    def case(self) -> Case:
        """Return the case after checking it.

        Raises
        ------
        CaseError
            With one line for each error: the file, the key, what was expected and the nearest valid key.
        """
        self._check_bounds()
        return resolve(self.table, self._source, self.name, {}, self.allow_code)

    def confine(self, root: Path, *, trusted: bool = True) -> None:
        """Restrict the files that changes may name to files within a folder. This is for a case that anybody with
        access to the page may edit.

        Parameters
        ----------
        root
            The folder.
        trusted
            Whether the case was named on the command line or is built in. If so, it may keep the files that it names
            now, also outside the folder, and its code if this code is allowed to run.
        """
        table = self.table
        code = set(code_of(table, self._source).values()) if trusted and self.allow_code else set()
        self._bounds = Bounds(root, named_files(table, self._source) if trusted else set(), code)
        self._checked = self._built = None

    def _check_bounds(self, *, code: bool = True) -> None:
        """Raise CaseError if the case names files that a change must not add, or code that a change must not add and
        that is allowed to run."""
        if self._bounds is None:
            return
        table = self.table
        faults = self._bounds.faults(table, self._source)
        if code and self.allow_code:
            faults += self._bounds.code_faults(table, self._source)
        if faults:
            raise CaseError("\n".join(f"{self._source}: {fault}" for fault in faults))

    @property
    def errors(self) -> dict[str, str]:
        """Errors by dotted key, such as ``model.bodies[0].mass``; empty if the case can be run. Errors that are found
        only when the model is built are listed under the body or loop that they concern, or under ``model``."""
        return {**self._check()[1], **self._build()[1]}

    def model(self) -> Model | None:
        """Model for display; None while there are errors. Functions that the case names are not loaded, so joints that
        are driven by functions are free."""
        return self._build()[0]

    def _check(self) -> tuple[Case | None, dict[str, str]]:
        if self._checked is None or self._checked[0] != self.toml:
            case, errors = None, {}
            try:
                case = self.case()
            except CaseError as error:
                errors = by_key(str(error), self._source, self.table)
            self._checked = (self.toml, case, errors)
        return self._checked[1:]

    def _build(self) -> tuple[Model | None, dict[str, str]]:
        if self._built is None or self._built[0] != self.toml:
            model, errors, case = None, {}, self._check()[0]
            if case is not None and self._of is not None and _same_model(case, self._of[0]):
                model = self._of[1]
            elif case is not None:
                try:
                    model = case.build_model(run_code=False)
                    self._of = (case, model)
                except ArticulonError as error:
                    errors = by_key(str(error), self._source, self.table)
            self._built = (self.toml, model, errors)
        return self._built[1:]

    # Undo and redo.

    def _step(self, words: str, table: Mapping[str, Any], merges: str | None = None) -> None:
        """Set the contents of the document to a table, as a new step; do nothing if the document already has these
        contents."""
        if same(table, self.table):
            return
        text, whole = rewritten(self.toml, table)
        self._go(Step(text, words, whole, merges))

    def _go(self, step: Step) -> None:
        self._history.go(step)
        self._tell()

    def _tell(self) -> None:
        for callback in self._callbacks:
            callback()

    def on_change(self, callback: Callable[[], Any]) -> None:
        """Register a function that is called after each step, undo and redo."""
        self._callbacks.append(callback)

    @property
    def undoes(self) -> str | None:
        """Description of the step that :meth:`undo` takes back; None if there is no such step."""
        return self._history.undoes

    @property
    def redoes(self) -> str | None:
        """Description of the step that :meth:`redo` repeats; None if there is no such step."""
        return self._history.redoes

    def undo(self) -> None:
        """Take the last step back."""
        self._history.undo()
        self._tell()

    def redo(self) -> None:
        """Repeat the step that :meth:`undo` took back last."""
        self._history.redo()
        self._tell()

    # Changes.

    def set(self, key: str | Sequence[Part], value: Any, *, merges: str | None = None) -> None:
        """Set a key, such as ``run.duration`` or ``forces[0].stiffness``, with elements of lists by index; None removes
        the key.

        Parameters
        ----------
        key, value
            The key, and a value as written in a case file: quantities as numbers or as text with units.
        merges
            A word: consecutive steps with the same word are merged into one.

        Raises
        ------
        CaseError
            For a key that leads through a value that is not a table.
        """
        path = case_changes.path_of(key)
        word = f"change {dotted(path)}" if value is not None else f"remove {dotted(path)}"
        self._step(word, case_changes.with_value(self.table, path, value), merges)

    def choose(self, key: str | Sequence[Part], word: str, form: type[Declaration]) -> None:
        """Change the kind of a section or of a force. Keys that the new kind also has are kept.

        Parameters
        ----------
        key
            Key of the section: ``integrator``, ``scaling``, ``thermostat``, ``forces[0]``.
        word
            Word that selects the new kind, such as ``"rk4"``.
        form
            Declaration of the new kind.

        Raises
        ------
        CaseError
            For a section that has only one kind.
        """
        path = case_changes.path_of(key)
        self._step(f"choose {word}", case_changes.with_form(self.table, path, word, form))

    def add_body(self, name: str, **fields: Any) -> None:
        """Add a body. Its fields are the keys of ``[[model.bodies]]``: joint, mass, inertia, parent and so on."""
        self._step(f"add body '{name.strip()}'", case_changes.with_body(self.table, name, fields))

    def join(self, body: str, **fields: Any) -> None:
        """Join a body to its parent in another way: ``parent``, ``joint``, ``axis``, ``position``, ``rotation``.
        Another kind of joint removes the axis and the initial coordinates and speeds, unless these are given too."""
        self._step(f"join '{body}'", case_changes.with_joint(self.table, body, fields))

    def rename_body(self, old: str, new: str, *, merges: str | None = None) -> None:
        """Rename a body at every place that names it: as a parent, and in loops, forces, drives, checks, conditions,
        observables and variants. Raises CaseError for a name that is taken."""
        self._step(f"rename '{old}' to '{new.strip()}'", case_changes.with_name(self.table, old, new), merges)

    def deleted_with(self, body: str) -> list[str]:
        """Return a list of all that is deleted with a body, one line each: its descendants, and forces, sites, loops
        and checks that name it. Raises CaseError in the same cases as :meth:`delete_body`."""
        return case_changes.without_body(self.table, body)[1]

    def delete_body(self, body: str, *, all_of_it: bool = False) -> None:
        """Delete a body.

        Parameters
        ----------
        body
            Name of the body.
        all_of_it
            Whether all elements that :meth:`deleted_with` lists are deleted too.

        Raises
        ------
        CaseError
            For a body that other elements need, unless ``all_of_it`` is set; and if forces refer to sites by number.
        """
        table, words = case_changes.without_body(self.table, body)
        if words and not all_of_it:
            raise CaseError(f"'{body}' cannot be deleted alone; this would also delete {'; '.join(words)}")
        self._step(f"delete body '{body}'", table)

    def set_coordinates(self, coordinates: Mapping[str, Sequence[float]], *, merges: str | None = None) -> None:
        """Set initial coordinates of the joints of some bodies, in the units of the case."""
        table = self.table
        for body, q in coordinates.items():
            values = [float(one) for one in q]
            path = ("model", "bodies", case_changes.body_number(table, body), "q")
            table = case_changes.with_value(table, path, values[0] if len(values) == 1 else values)
        self._step(f"move {', '.join(map(repr, coordinates))}", table, merges)

    def add(self, key: str | Sequence[Part], **fields: Any) -> int:
        """Add a table to a list of tables, such as ``forces`` or ``model.loops``, and return its index. A single table
        in the place of a list becomes the first element of a list."""
        path = case_changes.path_of(key)
        table, number = case_changes.with_element(self.table, path, fields)
        self._step(f"add {fields.get('name') or fields.get('kind') or dotted(path)}", table)
        return number

    def replace(self, text: str) -> None:
        """Replace the whole text of the case, as one step; raises CaseError if the new text is not TOML."""
        text = text.replace("\r\n", "\n")
        self._read(text)
        if text != self.toml:
            self._go(Step(text, "edit the text"))

    # Files.

    @property
    def changed(self) -> bool:
        """Whether the contents differ from the file that was last read or saved."""
        return self.toml != self._history.saved

    @property
    def lost_comments(self) -> bool:
        """Whether a change has lost comments of the file. This happens if the new tables could not be written in
        another way."""
        return not self._history.whole

    def save(self, path: str | Path | None = None, *, over: bool = False) -> Path:
        """Write the case to its file, atomically.

        Parameters
        ----------
        path
            File to write; by default the file that was last read or saved.
        over
            Whether to overwrite another file, or a file that has changed on disk since it was read.

        Returns
        -------
        path
            The file.

        Raises
        ------
        CaseError
            For a file that exists already or has changed, unless ``over`` is set, and for a file that cannot be
            written. Also for a case that names files outside the folder to which it is confined: a command that opens
            the saved case later would trust it.
        """
        self._check_bounds(code=False)
        file = self.path if path is None else Path(path)
        if file is None:
            raise CaseError("the case has no file yet; say where to save it")
        content = self.toml.replace("\n", self._line_end)
        if not over and file.exists():
            own = self.path is not None and file.resolve() == self.path.resolve()
            if not own:
                raise CaseError(f"{file}: the file exists already; choose another name, or overwrite it")
            if _digest(file.read_bytes()) != self._on_disk:
                raise CaseError(
                    f"{file}: has changed on the disk since it was read; save under another name, or overwrite it"
                )
        write_text(file, content, new=not file.exists())
        self.path, self._source = file, str(file)
        self._history.saved, self._on_disk = self.toml, _digest(content.encode())
        self._checked = self._built = None
        return file


def _same_model(case: Case, other: Case) -> bool:
    """Whether two cases have the same model and differ only in their settings of the run."""
    parts = ("units", "model_declaration", "box", "forces")
    alike = all(getattr(case, part) == getattr(other, part) for part in parts)
    return alike and case.dynamics.coordinates == other.dynamics.coordinates and case.run.stop == other.run.stop


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
