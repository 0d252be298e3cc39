"""Tables of the keys of declarations, with all objects inside them, for the reference of case files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from articulon.declaration import Choice, Declaration, Dimension
from articulon.declaration_help import meanings_of, stated
from articulon.declared_types import typed_field
from articulon.families import Family

WORDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    dict: "table",
    list: "list",
    Any: "any value",
}
"""Plain types by what a case file holds."""


class KeyTables:
    """Writes the table of a declaration, and after it those of the objects inside it, each once on a page.

    Parameters
    ----------
    families
        Families that have tables of their own, which other tables link to.
    """

    def __init__(self, families: Mapping[str, Family]) -> None:
        self.families = families
        self._written: set[type] = set()

    def parts(self, owner: type[Declaration], path: str, level: int) -> Iterator[str]:
        """The table of a declaration at a path of keys, then headings and tables of the objects inside it."""
        self._written.add(owner)
        if stated(owner):
            yield self.table(owner)
        for key, field in stated(owner).items():
            for nested, form in self.objects(typed_field(field)[0]):
                if nested not in self._written:
                    inner = f"{path}.{field.alias or key}" + (".NAME" if form == "by name" else "")
                    title = f"`[[{inner}]]`" if form == "list" else f"`[{inner}]`"
                    tags = [f'`{tag} = "{word}"`' for tag, word in _tags(nested)]
                    yield f"({target(nested)})=\n{'#' * level} {', '.join([title, *tags])}"
                    yield inline(about(nested))
                    yield from self.parts(nested, inner, max(level, 4))

    def objects(self, annotation: Any, form: str = "one") -> Iterator[tuple[type[Declaration], str]]:
        """Declarations that stand at a place, except those of a family, each with the form in which they are given:
        one, a list, or by name."""
        arguments = get_args(annotation)
        choices = [mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, Choice)]
        if self.family_of(annotation) is not None:
            return
        if choices:
            arguments = tuple(member for choice in choices for member in choice)
        elif _is_declaration(annotation):
            yield annotation, form
        elif get_origin(annotation) in (list, tuple):
            form = "list"
        elif get_origin(annotation) in (dict, Mapping):
            form = "by name"
        for argument in arguments:
            yield from self.objects(argument, form)

    def family_of(self, annotation: Any) -> str | None:
        """Name of the family that a place chooses from, if it does."""
        for mark in getattr(annotation, "__metadata__", ()):
            for name, family in self.families.items():
                if mark is family:
                    return name
        if _is_declaration(annotation):
            for name, family in self.families.items():
                if annotation in family.members.values():
                    return name
        return None

    def table(self, owner: type[Declaration]) -> str:
        """The keys of a declaration: type, meaning and default."""
        meanings = meanings_of(owner)
        lines = ["| key | type | meaning | default |", "| --- | --- | --- | --- |"]
        for name, field in stated(owner).items():
            example = next((mark.example for mark in field.metadata if hasattr(mark, "example")), "")
            meaning = inline(meanings.get(name, "")) + (f' Such as `"{example}"`.' if example else "")
            dimension = next((mark.name for mark in field.metadata if isinstance(mark, Dimension)), "")
            default = "" if field.is_required() else value(field.get_default(call_default_factory=True))
            kind = " or ".join(self.type_words(typed_field(field)[0], dimension))
            lines.append(f"| `{field.alias or name}` | {kind} | {meaning} | {default} |")
        return "\n".join(lines)

    def type_words(self, annotation: Any, dimension: str = "") -> list[str]:
        """What a case file may hold at a place, in words: alternatives without repetition."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        family = self.family_of(annotation)
        if family is not None:
            return [f"[table](#chosen-{family})"]
        if origin is Annotated:
            marks = annotation.__metadata__
            dimension = next((mark.name for mark in marks if isinstance(mark, Dimension)), dimension)
            members = [member for mark in marks if isinstance(mark, Choice) for member in mark]
            return _once(word for one in members or arguments[:1] for word in self.type_words(one, dimension))
        if origin in (Union, UnionType):
            if {float, str} <= set(arguments):
                rest = [one for one in arguments if one not in (float, str)]
                return _once(
                    [_quantity(dimension), *(word for one in rest for word in self.type_words(one, dimension))]
                )
            return _once(word for one in arguments for word in self.type_words(one, dimension))
        if origin is Literal:
            return [f"`{word}`" if not isinstance(word, str) else f'`"{word}"`' for word in arguments]
        if origin in (list, tuple):
            return [self._list_words(arguments, dimension)]
        if origin in (dict, Mapping):
            return [f"table by name of {' or '.join(self.type_words(arguments[1], dimension))}"]
        if annotation is NoneType or origin is Callable:
            # No case file can hold these.
            return []
        if _is_declaration(annotation):
            return [f"[table](#{target(annotation)})"]
        return [WORDS[annotation]]

    def _list_words(self, arguments: tuple[Any, ...], dimension: str) -> str:
        items = [" or ".join(self.type_words(one, dimension)) for one in arguments if one is not Ellipsis]
        if Ellipsis in arguments or len(items) == 1:
            return f"list of {items[0]}"
        if len(set(items)) == 1:
            one = f"({items[0]})" if " or " in items[0] else items[0]
            return f"{len(items)} × {one}"
        return f"list: {', '.join(items)}"


def _quantity(dimension: str) -> str:
    return "number" if dimension == "dimensionless" else dimension.replace("_", " ").replace("-", " ") or "quantity"


def _once(words: Any) -> list[str]:
    return list(dict.fromkeys(words))


def _is_declaration(annotation: Any) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, Declaration)


def _tags(owner: type[Declaration]) -> Iterator[tuple[str, str]]:
    """Key and word by which an object is chosen among others at its place."""
    for name, field in owner.model_fields.items():
        if name not in stated(owner):
            yield name, field.get_default()


def target(owner: type) -> str:
    """Name that links to the table of an object lead to."""
    return f"keys-{owner.__module__.rpartition('.')[2]}-{owner.__name__}".lower().replace("_", "-")


def about(member: type) -> str:
    """The first paragraph of what a declaration's author wrote."""
    text = inspect.cleandoc(member.__doc__ or "")
    return text.split("\n\n")[0].split("Parameters\n---")[0]


def value(given: Any) -> str:
    """A default value, as on a page."""
    if given is None or given in ((), {}, ""):
        return "none"
    if isinstance(given, Declaration):
        return "as below"
    return f"`{str(given).lower() if isinstance(given, bool) else given}`"


def inline(text: str) -> str:
    """A docstring's text on one line of a table, with its marks as Markdown has them."""
    flat = " ".join(text.split()).replace("|", "\\|")
    flat = re.sub(r":\w+:`~?(?:articulon\.)?([^`<]*)`", r"`\1`", flat)
    return flat.replace("``", "`")
