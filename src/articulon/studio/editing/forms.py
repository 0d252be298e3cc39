"""Forms made from declarations: fields with type, unit, default, meaning and choices, and the conversion of values to
text and back."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from articulon.cases.builders.explicit_joints import GROUND
from articulon.cases.overrides import value_of
from articulon.cases.toml_writing import inline
from articulon.declaration import Declaration, Dimension
from articulon.declaration_help import meanings_of, stated
from articulon.declared_types import Choice, NamesBody, is_declaration, members_of, typed_field, words_of_literal
from articulon.errors import CaseError
from articulon.families import Family
from articulon.units import UnitSystem

Kind = Literal["text", "flag", "choice"]
UNSET = "—"
"""Text of a choice without a value."""
_OPEN, _CLOSE = "[{(", "]})"


@dataclass(frozen=True)
class FormField:
    """One field of a form."""

    name: str
    """Key of the field."""
    kind: Kind
    """Kind of control: text, tick box or choice of words."""
    meaning: str
    """Meaning of the field, from the docstring in its declaration."""
    required: bool
    """Whether the field must be given."""
    default: Any
    """Default value as written in a case file; None if there is no default."""
    dimension: Dimension | None
    """Dimension of the field's quantities; None if it has no quantities."""
    unit: str
    """Unit of plain numbers; empty if there is no unit."""
    choices: tuple[str, ...]
    """Words to choose from."""
    nested: bool
    """Whether the field contains tables of declarations; these are written as in a case file."""
    tables: bool
    """Whether the value may be a table, for example with a number for each of several bodies."""
    lists: bool
    """Whether the value may be a list."""
    only_lists: bool
    """Whether the value must be a list."""
    only_text: bool
    """Whether the typed characters are always text, even if they look like a number."""

    @property
    def label(self) -> str:
        """Name in words, with the unit of plain numbers."""
        words = self.name.replace("_", " ")
        return f"{words} [{self.unit}]" if self.unit else words

    @property
    def hint(self) -> str:
        """Meaning with an example, and the default or a note that the field is required."""
        said = [self.meaning.replace("``", ""), "Must be given." if self.required else ""]
        if self.dimension is not None and self.dimension.example:
            said.append(f"Such as '{self.dimension.example}'.")
        if self.default is not None and self.default not in ((), [], {}) and "by default" not in self.meaning:
            said.append(f"By default {self.text_of(self.default)}.")
        return " ".join(" ".join(said).split())

    def text_of(self, value: Any) -> str:
        """Return a value of a case file as the text that the form shows; empty for None."""
        if value is None:
            return UNSET if self.kind == "choice" else ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return value
        if not isinstance(value, bool | int | float) and not value:
            return ""
        if isinstance(value, list | tuple) and value and not any(isinstance(one, list | tuple | dict) for one in value):
            if not any(isinstance(one, str) and set(one) & set(f",{_OPEN}{_CLOSE}") for one in value):
                return ", ".join(one if isinstance(one, str) else inline(one) for one in value)
        return inline(value)

    def value_of(self, text: str) -> Any:
        """Return the value that a text represents, as written in a case file; None for empty text, which leaves the key
        out.

        Lists may be written with or without brackets: ``0, 0, -9.81 m/s^2``.

        Raises
        ------
        CaseError
            For text that cannot be read, such as text with an unclosed bracket.
        """
        text = text.strip()
        if not text or (self.kind == "choice" and text == UNSET):
            return None
        if self.kind == "choice" or (self.only_text and not self.lists):
            return {"true": True, "false": False}.get(text, text) if self._is_flag else text
        if self.tables and text.startswith("{"):
            return self._table(text)
        if not self.lists:
            return value_of(text)
        try:
            return self._listed(tomllib.loads(f"value = {text}")["value"])
        except tomllib.TOMLDecodeError:
            pass
        if text.startswith("[") and text.endswith("]"):
            return [self._part(part) for part in split(text[1:-1], self.name)]
        found = [self._part(part) for part in split(text, self.name)]
        return found if len(found) > 1 or text.endswith(",") or self.only_lists else found[0]

    def _table(self, text: str) -> Any:
        """Read a table, such as ``{arm = 0.5 N m, hand = 2}``."""
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            pass
        found = {}
        for part in split(text.removeprefix("{").removesuffix("}"), self.name):
            key, equals, value = part.partition("=")
            if not equals:
                raise CaseError(f"{self.name}: cannot read {part!r}; write {{name = value, name = value}}")
            found[key.strip().strip('"')] = value_of(value)
        return found

    def _listed(self, value: Any) -> Any:
        return [value] if self.only_lists and not isinstance(value, list) else value

    def _part(self, text: str) -> Any:
        if text.startswith("[") and text.endswith("]"):
            return [self._part(part) for part in split(text[1:-1], self.name)]
        return text if self.only_text else value_of(text)

    @property
    def _is_flag(self) -> bool:
        return self.choices[-2:] == ("true", "false")


def split(text: str, where: str) -> list[str]:
    """Split a text at its commas, except those in brackets; raises CaseError for an unclosed bracket."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    if depth:
        raise CaseError(f"{where}: cannot read {text!r}: its brackets do not match")
    return [part for part in (*parts, text[start:].strip()) if part]


def form_of(
    declaration: type[Declaration], units: UnitSystem, bodies: Sequence[str] = (), without: Sequence[str] = ()
) -> tuple[FormField, ...]:
    """Return the fields of the form of a declaration. Fields without a default come first; otherwise the order of the
    declaration is kept.

    Parameters
    ----------
    declaration
        Declaration of a force, integrator, policy, thermostat, body or section of a case.
    units
        Units of plain numbers.
    bodies
        Names that fields for a body offer, in addition to the ground.
    without
        Keys that have another control, such as ``rule``.
    """
    meanings = meanings_of(declaration)
    fields = [
        _field(name, field, meanings.get(name, ""), units, bodies)
        for name, field in stated(declaration).items()
        if name not in without
    ]
    return tuple(sorted(fields, key=lambda field: field.nested))


def members(family: Family) -> dict[str, type[Declaration]]:
    """Return the words that select a member of a family, in order, each with its declaration."""
    return dict(sorted(family.members.items()))


def family_of(union: Any, name: str) -> Family:
    """Return the family of a union of declarations, from which a key selects."""
    arguments = get_args(union)
    key = next(mark.discriminator for mark in arguments[1:] if isinstance(mark, FieldInfo))
    family = Family(name, str(key), lambda member: True)
    for member in get_args(arguments[0]):
        family.add(member)
    return family


def section_choice(declaration: Any) -> Family | type[Declaration] | None:
    """Return the possible declarations of a section of a case: a family to choose from, or one declaration. None if the
    section is not a table."""
    found: list[Any] = [declaration]
    for one in found:
        for mark in getattr(one, "__metadata__", ()):
            if isinstance(mark, Family):
                return mark
        if is_declaration(one):
            return one
        if get_origin(one) not in (tuple, list, dict):
            found += [inner for inner in get_args(one) if inner is not type(None)]
    return None


def _field(name: str, field: FieldInfo, meaning: str, units: UnitSystem, bodies: Sequence[str]) -> FormField:
    types = [annotation for annotation, _ in members_of(*typed_field(field)) if annotation is not type(None)]
    dimension = next((mark for _, mark in members_of(*typed_field(field)) if mark is not None), None)
    words = tuple(str(word) for one in types for word in words_of_literal(one))
    names_body = next((mark for mark in _marks(field) if isinstance(mark, NamesBody)), None)
    optional = not field.is_required()
    kind: Kind = "text"
    choices: tuple[str, ...] = ()
    if types == [bool]:
        kind = "flag" if field.get_default() is not None and optional else "choice"
        choices = () if kind == "flag" else ("true", "false")
    elif words and len(types) == 1:
        kind, choices = "choice", words
    elif names_body is not None and types == [str]:
        kind, choices = "choice", (GROUND, *bodies) if names_body.ground else tuple(bodies)
    if kind == "choice" and (not optional or field.get_default() is None):
        choices = (UNSET, *choices)
    lists = [get_origin(one) in (tuple, list) or one in (tuple, list) for one in types]
    # A value that may also be a number or a word is written as a number or a word.
    nested = (bool(types) and all(map(_holds_tables, types))) or any(map(_holds_tables, field.metadata))
    label = ""
    if dimension is not None and dimension.name != "dimensionless":
        label = units.label(dimension.name)
    return FormField(
        name,
        kind,
        meaning,
        not optional,
        _plain(None if field.get_default() is PydanticUndefined else field.get_default()),
        dimension,
        label,
        choices,
        nested,
        any(get_origin(one) is dict for one in types),
        any(lists),
        bool(lists) and all(lists),
        all(_texts(one) for one in types) and dimension is None,
    )


def _marks(field: FieldInfo) -> Iterator[Any]:
    """Yield the marks (metadata) of a field and of the members of a union; marks inside lists and tables are left
    out."""
    yield from field.metadata
    found: list[Any] = [field.annotation]
    for one in found:
        yield from getattr(one, "__metadata__", ())
        if get_origin(one) is Union or type(one).__name__ == "UnionType" or hasattr(one, "__metadata__"):
            found += get_args(one)


def _holds_tables(annotation: Any) -> bool:
    """Whether a type contains declarations."""
    if isinstance(annotation, Choice) or is_declaration(annotation):
        return True
    marks = getattr(annotation, "__metadata__", ())
    return any(map(_holds_tables, (*get_args(annotation), *marks)))


def _texts(annotation: Any) -> bool:
    """Whether a type is text, or a list of texts."""
    inner = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return _texts(inner[0])
    if get_origin(annotation) in (tuple, list):
        return all(_texts(one) for one in inner if one is not Ellipsis)
    return annotation is str


def _plain(value: Any) -> Any:
    """Return a default as written in a case file."""
    if isinstance(value, Declaration):
        return {key: _plain(inner) for key, inner in value.model_dump().items() if inner is not None}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    return value
