"""Parts of the panel with forms from declarations: for a section of the case, and for a list of tables in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from articulon.cases.overrides import Part, dotted, label_of, parts
from articulon.cases.schema import with_discriminators
from articulon.declaration import Declaration
from articulon.errors import CaseError
from articulon.families import Family
from articulon.studio.editing.case_changes import value_or_none
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.editing.case_errors import about
from articulon.studio.editing.editor_actions import Editor, on_input
from articulon.studio.editing.form_view import FormView
from articulon.studio.editing.forms import UNSET, form_of, members

if TYPE_CHECKING:
    import viser


class SectionView:
    """View of a section of the case, or of a table in it, in a folder of the page: a choice of its kind, and the fields
    of its form.

    Parameters
    ----------
    gui, editor
        The page, and the panel.
    path
        Path of the section.
    choice
        Family of the section, or its only declaration.
    optional
        Whether a case may lack the section.
    opens
        Whether the folder of the page is open initially.
    elsewhere
        Keys that have their own controls elsewhere.
    check
        Function that raises CaseError if another table may have taken the place of this table, which can happen in a
        list.

    Attributes
    ----------
    folder
        Folder of the page, to which other controls may be added.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        editor: Editor,
        path: Sequence[Part],
        choice: Family | type[Declaration],
        *,
        optional: bool,
        opens: bool,
        elsewhere: tuple[str, ...] = (),
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._gui, self._editor, self._path, self._choice, self._optional = gui, editor, tuple(path), choice, optional
        self._elsewhere, self._check = elsewhere, check
        name = str(self._path[-1])
        self.folder = gui.add_folder(name, expand_by_default=opens)
        self._form: FormView | None = None
        words = [*members(choice)] if isinstance(choice, Family) else ["given"]
        self._word = None
        with self.folder:
            if isinstance(choice, Family) or optional:
                label = choice.key if isinstance(choice, Family) else name
                self._word = gui.add_dropdown(label, ([UNSET] if optional else []) + words)
                on_input(self._word, editor, self._choose)
            # Controls that are added to the folder later appear below the fields.
            self._place = gui.add_folder(None)

    def _choose(self, word: str) -> None:
        self._check()
        document = self._editor.document
        if word == UNSET:
            document.set(self._path, None)
        elif isinstance(self._choice, Family):
            document.choose(self._path, word, self._choice.members[word])
        elif document.value(self._path) is None:
            document.set(self._path, {})

    def show(self, table: Mapping[str, Any], errors: Mapping[str, str]) -> None:
        """Show the contents of a case, and its errors."""
        values = value_or_none(with_discriminators(table), self._path)
        values = values if isinstance(values, Mapping) else None if self._optional else {}
        declaration, word = self._declaration(values)
        if self._word is not None and self._word.value != word and not self._editor.waits(self._word):
            if word not in self._word.options:
                self._word.options = (*self._word.options, word)
            self._word.value = word  # type: ignore[misc]
        self._form = form_for(
            self._gui,
            self._editor,
            self._choice,
            declaration,
            self._form,
            self._place,
            self._change,
            self._elsewhere,
        )
        if self._form is not None and values is not None:
            self._form.show(values, about(errors, dotted(self._path)))

    def _declaration(self, values: Mapping[str, Any] | None) -> tuple[type[Declaration] | None, str]:
        if values is None:
            return None, UNSET
        if not isinstance(self._choice, Family):
            return self._choice, "given"
        word = str(values.get(self._choice.key, UNSET))
        return self._choice.members.get(word), word

    def _change(self, name: str, value: Any) -> None:
        self._check()
        path = (*self._path, name)
        self._editor.document.set(path, value, merges=dotted(path))


@dataclass(frozen=True)
class ControlledElement:
    """The element of a list for which a set of controls was made. It is stored because another page may select another
    element, or delete an element, before an action on these controls arrives."""

    key: tuple[Part, ...]
    """Key of the list."""
    number: int
    count: int
    """Number of elements that the list had."""
    alone: bool
    """Whether the element is a single table in the place of a list."""

    @property
    def path(self) -> tuple[Part, ...]:
        """Path of the element."""
        return self.key if self.alone else (*self.key, self.number)

    def check(self, document: CaseDocument) -> None:
        """Raise CaseError if another element may have taken this place, because an element of the list has been
        deleted."""
        if len(_elements(document.value(self.key))) < self.count:
            raise CaseError(
                f"{dotted(self.key)}: an element of the list was deleted in the meantime; check the list, and repeat "
                "the change"
            )


class ListView:
    """View of a list of tables of the case: a choice of the element, the element's form, and buttons that add and
    delete elements.

    Parameters
    ----------
    gui, editor
        The page, and the panel.
    key
        Key of the list, such as ``forces``.
    noun
        Word for an element.
    choice
        Family of the elements, or their only declaration.
    begun
        Function that returns the initial values of a new element for a case.
    inner
        Families of the tables in an element that have their own forms, by key.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        editor: Editor,
        key: str,
        noun: str,
        choice: Family | type[Declaration],
        begun: Callable[[CaseDocument], Mapping[str, Any]] = lambda _: {},
        inner: Mapping[str, Family] | None = None,
    ) -> None:
        self._gui, self._editor, self._key, self._choice, self._begun = gui, editor, parts(key), choice, begun
        self._inner = dict(inner or {})
        self._sections: list[SectionView] = []
        self._number = 0
        self._container = gui.add_folder(None)
        self._form: FormView | None = None
        self._controlled = ControlledElement(self._key, 0, 0, alone=False)
        self._inside: Any = None
        with self._container:
            self._which = gui.add_dropdown(noun, (UNSET,))
            self._kind = gui.add_dropdown(f"new {noun}", [*members(choice)]) if isinstance(choice, Family) else None
            self._place = gui.add_folder(None)
            self._fields = gui.add_folder(None)
            self._below = gui.add_folder(None)
        on_input(self._which, editor, self._select)
        self._noun = noun
        self._make_controls(self._controlled)

    def point_at(self, path: Sequence[Part]) -> None:
        """Show another list, at a path."""
        if tuple(path) != self._key:
            self._key, self._number = tuple(path), 0

    def _make_controls(self, controlled: ControlledElement) -> None:
        """Make the controls for one element; :meth:`show` adds its form."""
        self._controlled = controlled
        for old in (self._inside, self._form, *(section.folder for section in self._sections)):
            if old is not None:
                old.remove()
        self._form = None
        with self._place:
            self._inside = self._gui.add_folder(None)
        with self._inside:
            buttons = self._gui.add_button_group(f"{self._noun}s", ("add", "delete"))

        def pressed(what: tuple[str, str | None]) -> None:
            word, kind = what
            if word == "add":
                self._add(controlled, kind)
            else:
                self._delete(controlled)

        kind = self._kind
        on_input(buttons, self._editor, pressed, lambda group: (group.value, None if kind is None else kind.value))
        with self._below:
            self._sections = [
                SectionView(
                    self._gui,
                    self._editor,
                    (*controlled.path, key),
                    family,
                    optional=True,
                    opens=True,
                    check=lambda: controlled.check(self._editor.document),
                )
                for key, family in self._inner.items()
                if controlled.count
            ]

    def _select(self, option: str) -> None:
        if option in self._which.options:
            self._number = list(self._which.options).index(option)

    def _add(self, controlled: ControlledElement, kind: str | None) -> None:
        document = self._editor.document
        fields = dict(self._begun(document))
        if kind is not None and isinstance(self._choice, Family):
            fields = {self._choice.key: kind, **fields}
        number = document.add(controlled.key, **fields)
        if controlled.key == self._key:
            self._number = number

    def _delete(self, controlled: ControlledElement) -> None:
        controlled.check(self._editor.document)
        self._editor.document.set(controlled.path, None)
        if controlled.key == self._key and controlled.number <= self._number:
            self._number = max(0, self._number - 1)

    def show(self, table: Mapping[str, Any], errors: Mapping[str, str]) -> None:
        """Show the contents of a case, and its errors."""
        listed = value_or_none(table, self._key)
        elements = _elements(listed)
        self._number = min(self._number, max(0, len(elements) - 1))
        controlled = ControlledElement(self._key, self._number, len(elements), isinstance(listed, Mapping))
        if controlled != self._controlled:
            self._make_controls(controlled)
        options = tuple(_called(elements, k) for k in range(len(elements))) or (UNSET,)
        if tuple(self._which.options) != options:
            self._which.options = options
        if self._which.value != options[self._number] and not self._editor.waits(self._which):
            self._which.value = options[self._number]  # type: ignore[misc]
        element = elements[self._number] if elements else None
        declaration = self._declaration(element)
        change = partial(self._change, controlled)
        self._form = form_for(
            self._gui, self._editor, self._choice, declaration, self._form, self._fields, change, tuple(self._inner)
        )
        if self._form is not None and element is not None:
            self._form.show(element, about(errors, dotted(controlled.path)))
        for section in self._sections:
            section.show(table, errors)

    def _declaration(self, element: Mapping[str, Any] | None) -> type[Declaration] | None:
        if element is None or not isinstance(self._choice, Family):
            return None if element is None else self._choice  # type: ignore[return-value]
        return self._choice.members.get(str(element.get(self._choice.key)))

    def _change(self, controlled: ControlledElement, name: str, value: Any) -> None:
        controlled.check(self._editor.document)
        path: Sequence[Part] = (*controlled.path, name)
        self._editor.document.set(path, value, merges=dotted(path))


def form_for(
    gui: viser.GuiApi,
    editor: Editor,
    choice: Family | type[Declaration],
    declaration: type[Declaration] | None,
    form: FormView | None,
    container: Any,
    change: Callable[[str, Any], None],
    elsewhere: tuple[str, ...] = (),
) -> FormView | None:
    """Return the form of a declaration in a container of the page. The existing form is used if it has the same
    fields."""
    fields = None
    if declaration is not None:
        without = [*elsewhere, *([choice.key] if isinstance(choice, Family) else [])]
        fields = form_of(declaration, editor.document.units, editor.document.bodies, without)
        if form is not None and form.takes(fields):
            return form
    if form is not None:
        form.remove()
    if fields is None:
        return None
    with container:
        return FormView(gui, editor, fields, change)


def _elements(listed: Any) -> list[Mapping[str, Any]]:
    """Return the tables of a list, or the single table in its place."""
    if isinstance(listed, Mapping):
        return [listed]
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def _called(elements: Sequence[Mapping[str, Any]], number: int) -> str:
    label = label_of(elements, number)
    word = elements[number].get("kind") or elements[number].get("body") or "" if label == number else label
    return f"{number} {word}".strip()
