"""What a public name's docstring lacks: a name without a complete one stops the build of the manual."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from articulon.declaration import Declaration

_HEAD = re.compile(r"^\**\w+(?:, \**\w+)*(?: : .*)?$")
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def lacking(path: str, value: Any) -> Iterator[str]:
    """What the docstring of a function or a class lacks, and those of a class's public methods, in words."""
    if inspect.isclass(value):
        yield from _of_class(path, value)
    elif inspect.isroutine(value):
        yield from _of_function(path, value)


def _of_class(path: str, value: type) -> Iterator[str]:
    own = inspect.getdoc(value) if value.__doc__ else None
    if not own:
        yield f"{path}: no docstring"
        return
    if issubclass(value, (Declaration, BaseException)):
        # The keys of a declaration are put into its docstring from those of its fields, which have a test.
        return
    init = vars(value).get("__init__")
    if dataclasses.is_dataclass(value) or hasattr(value, "_fields"):
        described = _described_fields(value)
        for name in _fields(value):
            if not name.startswith("_") and name not in described and not _named(name, own):
                yield f"{path}.{name}: no docstring"
    elif inspect.isfunction(init) and init.__module__.startswith("articulon."):
        yield from _parameters(path, init, own + ("\n" + inspect.cleandoc(init.__doc__) if init.__doc__ else ""))
    for name, member in vars(value).items():
        if name.startswith("_"):
            continue
        inner = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if isinstance(inner, property):
            if not inner.fget or not inspect.getdoc(inner.fget):
                yield f"{path}.{name}: no docstring"
        elif inspect.isfunction(inner) and inner.__module__.startswith("articulon."):
            yield from _of_function(f"{path}.{name}", inner)


def _of_function(path: str, value: Any) -> Iterator[str]:
    text = inspect.getdoc(value)
    if not text:
        yield f"{path}: no docstring"
        return
    yield from _parameters(path, value, text)


def _parameters(path: str, value: Any, text: str) -> Iterator[str]:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return
    sections = _sections(text)
    described = sections.get("Parameters", "") + sections.get("Attributes", "")
    for line in described.splitlines():
        if line.strip() and not line.startswith(" ") and not _HEAD.match(line):
            yield f"{path}: {line!r} stands where a parameter's name should"
    for name in signature.parameters:
        if name in ("self", "cls") or name.startswith("_"):
            continue
        listed = rf"^(?:.*, )?\**{re.escape(name)}\b(?:,.*)?(?: :.*)?$"
        if not re.search(listed, described, re.MULTILINE) and not _named(name, text):
            yield f"{path}: '{name}' is not described"


def _named(name: str, text: str) -> bool:
    """Whether a short docstring says what it takes in its sentence, as ``name``."""
    return re.search(rf"``?{re.escape(name)}``?", text) is not None


def _fields(value: Any) -> tuple[str, ...]:
    return tuple(one.name for one in dataclasses.fields(value)) if dataclasses.is_dataclass(value) else value._fields


def _described_fields(value: type) -> set[str]:
    """Fields that a docstring follows, in the class and in those that it derives from."""
    found = set()
    for one in value.__mro__:
        if not one.__module__.startswith("articulon."):
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        body = definition.body if isinstance(definition, ast.ClassDef) else []
        for field, after in itertools.pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    found.add(field.target.id)
    return found


def _sections(text: str) -> dict[str, str]:
    pieces = _SECTION.split(text)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))
