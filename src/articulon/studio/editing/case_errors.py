"""Errors of a case by the keys that they concern, for a page that shows each error beside its field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from articulon.cases.schema import CaseFile
from articulon.studio.editing.case_changes import bodies_of, value_or_none

_LINE = re.compile(r"(?P<key>[A-Za-z_][\w.\[\]\"-]*)(?:, [^:]*)?: (?P<what>.*)", re.DOTALL)
_BODY, _LOOP = re.compile(r"body '([^']*)'"), re.compile(r"loop '([^']*)'")


def by_key(message: str, source: str, table: Mapping[str, Any]) -> dict[str, str]:
    """Return errors by dotted key. Errors without a known key are listed under ``model``; if one key has several
    errors, the first error is kept.

    Parameters
    ----------
    message
        Message of a CaseError, one line for each error.
    source
        The file name at the beginning of each line.
    table
        The case, used to look up bodies and loops that a line names.
    """
    found: dict[str, str] = {}
    for line in message.splitlines():
        text = line.removeprefix(f"{source}: ")
        match = _LINE.fullmatch(text)
        if match is not None and re.split(r"[.\[]", match["key"])[0] in CaseFile.model_fields:
            found.setdefault(match["key"], match["what"])
        else:
            found.setdefault(_key_of(text, table), text)
    return found


def _key_of(text: str, table: Mapping[str, Any]) -> str:
    """Return the key of the element that a line names."""
    for pattern, listed, elements in (
        (_BODY, "model.bodies", bodies_of(table)),
        (_LOOP, "model.loops", value_or_none(table, ("model", "loops")) or []),
    ):
        match = pattern.search(text)
        names = [element.get("name") if isinstance(element, Mapping) else None for element in elements]
        if match is not None and match[1] in names:
            return f"{listed}[{names.index(match[1])}]"
    return "model"


def about(errors: Mapping[str, str], key: str) -> dict[str, str]:
    """Return the errors at a key and below it, by the rest of their keys; the error of the key itself is under
    ``""``."""
    found = {}
    for where, what in errors.items():
        if where == key:
            found[""] = what
        elif where.startswith((f"{key}.", f"{key}[")):
            found[where.removeprefix(key).removeprefix(".")] = what
    return found
