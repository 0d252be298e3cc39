"""Help texts of declarations: their fields with explanations, and a readable signature.

Both are assembled on first use from the texts below the fields in the source, so that importing a declaration reads no
source.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

UNITS = "Plain numbers are in the units of the model or of the case; strings have their own units, as in the examples."
"""Final paragraph of the help on declarations with quantities."""


class HelpText:
    """Descriptor for the docstring of a class: the written text, and a section of parameters from its fields."""

    def __init__(self, written: str | None) -> None:
        self.written = written

    def __get__(self, instance: object, owner: type) -> str:
        return _text(owner, self.written or "")


class HelpSignature:
    """Descriptor for the signature of a class: its fields by name, starting with those allowed without a name."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        positional: tuple[str, ...] = owner.positional  # type: ignore[attr-defined]
        fields = stated(owner)
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        names = [*positional, *(name for name in fields if name not in positional)]
        found = []
        optional = False
        for name in names:
            default = inspect.Parameter.empty if fields[name].is_required() else fields[name].get_default()
            kind = kinds[0] if name in positional else kinds[1]
            # Python requires defaults after a default; the declaration itself reports missing fields.
            optional = optional or default is not inspect.Parameter.empty
            if optional and kind is kinds[0] and default is inspect.Parameter.empty:
                default = None
            found.append(inspect.Parameter(name, kind, default=default))
        return inspect.Signature(found)


def stated(owner: Any) -> Mapping[str, FieldInfo]:
    """Fields that a user states, without the word that selects the kind of declaration."""
    return {name: field for name, field in owner.model_fields.items() if not _is_tag(field)}


def _is_tag(field: FieldInfo) -> bool:
    words = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    return len(words) == 1 and field.get_default() == words[0]


@cache
def _text(owner: Any, written: str) -> str:
    body, fields = inspect.cleandoc(written), stated(owner)
    if not fields or "Parameters\n----------" in body:
        return body
    meanings = meanings_of(owner)
    lines = ["Parameters", "----------"]
    for name in [*owner.positional, *(name for name in fields if name not in owner.positional)]:
        lines.append(name)
        lines.extend(textwrap.indent(_told(fields[name], meanings.get(name, "")), "    ").splitlines())
    if any(hasattr(mark, "example") for field in fields.values() for mark in field.metadata):
        lines += ["", UNITS]
    return "\n".join([body, "", *lines]).lstrip("\n")


def meanings_of(owner: type) -> dict[str, str]:
    """Explanations of the fields of a declaration, as written in the source; omitted if there is no text or no
    source."""
    meanings: dict[str, str] = {}
    for one in reversed(owner.__mro__):
        if one is not object and not one.__module__.startswith("pydantic"):
            meanings.update(_meanings(one))
    return meanings


def _told(field: FieldInfo, meaning: str) -> str:
    """Explanation of a field, an example of its unit, and its default."""
    said = [meaning] if meaning else []
    example = next((mark.example for mark in field.metadata if hasattr(mark, "example")), "")
    if example:
        said.append(f"Such as '{example}'.")
    if not field.is_required():
        default = field.get_default()
        if default is not None and default != () and default != {} and "by default" not in meaning:
            said.append(f"By default {default!r}.")
    return "\n".join(textwrap.wrap(" ".join(" ".join(said).split()), 112))


@cache
def _meanings(one: type) -> dict[str, str]:
    """Texts below the fields of a class in its source; empty if there is no source, as at an interactive prompt."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
    except (OSError, TypeError, SyntaxError):
        return {}
    found: dict[str, str] = {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            if isinstance(text.value, ast.Constant) and isinstance(text.value.value, str):
                found[field.target.id] = inspect.cleandoc(text.value.value)
    return found
