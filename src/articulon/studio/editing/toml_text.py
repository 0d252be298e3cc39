"""The text of a case file after a change: unchanged parts keep their bytes, comments and order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Item, Table

from articulon.cases.overrides import parsed
from articulon.cases.schema import CaseFile
from articulon.cases.toml_writing import toml

SECTIONS = tuple(CaseFile.model_fields)
"""Order of the sections, by which new sections are inserted into a file."""
_HEADER = re.compile(r"\[\[?[A-Za-z0-9_.-]+\]\]?[ \t]*(?:#.*)?")
"""Matches the header line of a table."""


def rewritten(text: str, table: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the text of a case file with changed contents.

    Parameters
    ----------
    text
        Present text of the file.
    table
        New contents.

    Returns
    -------
    text, kept
        The new text, and whether the comments and the order of the old text have been kept. They are lost for the rare
        files with tables that the TOML library cannot change correctly; such a file is written again as a whole.
    """
    # A file without blank lines between its tables stays without blank lines.
    for attempt in (_spaced, str) if _spaced(text) == text else (str,):
        try:
            changed = attempt(_merged(text, table))
            if same(parsed(changed), table):
                return changed, True
        except (TOMLKitError, ValueError, KeyError, IndexError):
            continue
    ordered = sorted(table, key=lambda name: SECTIONS.index(name) if name in SECTIONS else len(SECTIONS))
    return toml({name: table[name] for name in ordered}), "#" not in text


def same(a: Any, b: Any) -> bool:
    """Whether two values are written identically: 1, 1.0 and true are three different values."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return list(a) == list(b) if not a or not b else set(a) == set(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (a == b or (a != a and b != b))


def _merged(text: str, table: Mapping[str, Any]) -> str:
    document = tomlkit.parse(text)
    old = parsed(text)
    new = [name for name in table if name not in old]
    _change(document, old, {name: value for name, value in table.items() if name in old}, 0)
    result = tomlkit.dumps(document)
    # In this order, because otherwise the tables of a new section could be placed between the tables of another
    # section.
    for name in sorted(new, key=lambda one: SECTIONS.index(one) if one in SECTIONS else len(SECTIONS)):
        result = _with_section(result, name, table[name])
    return result


def _change(container: Any, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> None:
    """Change the contents of a table from ``old`` to ``new``."""
    for key in [key for key in old if key not in new]:
        container.remove(key)
    for key, value in new.items():
        if key not in old:
            container.append(key, _item(value, depth))
        elif same(old[key], value):
            continue
        elif isinstance(value, Mapping) and isinstance(container[key], Table | InlineTable):
            _change(container[key], old[key], value, depth + 1)
        elif isinstance(container[key], AoT) and _are_tables(value):
            _change_tables(container[key], old[key], value, depth + 1)
        else:
            container[key] = _item(value, depth)


def _change_tables(tables: AoT, old: Sequence[Any], new: Sequence[Any], depth: int) -> None:
    """Change the contents of a list of tables; unchanged elements keep their text."""
    keys = [[_mark(element) for element in elements] for elements in (old, new)]
    moves = SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes()
    for what, a, b, c, d in reversed(moves):
        if what == "equal":
            continue
        alike = min(b - a, d - c)
        for k in reversed(range(a + alike, b)):
            tail = _cut_tail(tables[k])
            del tables[k]
            if k:  # comments above a deleted element are deleted too
                _cut_tail(tables[k - 1])
                tables[k - 1].value.body.extend(tail)
        for k, value in enumerate(new[c + alike : d], a + alike):
            added = _table(value)
            if 0 < k <= len(tables):
                added.value.body.extend(_cut_tail(tables[k - 1]))
            tables.insert(k, added)
        for k in range(alike):
            _change(tables[a + k], old[a + k], new[c + k], depth)


def _cut_tail(table: Table) -> list[Any]:
    """Remove the comments and blank lines after the last key of a table, because they belong to the next table."""
    body = table.value.body
    first = len(body)
    while first and body[first - 1][0] is None:
        first -= 1
    tail = list(body[first:])
    del body[first:]
    return tail


def _mark(element: Any) -> str:
    return repr(element)


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, Mapping) for element in value)


def _item(value: Any, depth: int) -> Item:
    """Return a value in the form in which it is written: sections, and lists of tables in sections, have headers;
    deeper values are inline."""
    if depth < 2 and _are_tables(value):
        tables = AoT([])
        for element in value:
            tables.append(_table(element))
        return tables
    if depth < 2 and isinstance(value, Mapping):
        table = tomlkit.table(is_super_table=bool(value) and all(_has_header(inner) for inner in value.values()))
        for key, inner in value.items():
            table.append(key, _item(inner, depth + 1))
        return table
    return _inline(value)


def _has_header(value: Any) -> bool:
    return isinstance(value, Mapping) or _are_tables(value)


def _table(value: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, inner in value.items():
        table.append(key, _inline(inner))
    return table


def _inline(value: Any) -> Item:
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table.append(key, _inline(inner))
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        for inner in value:
            array.append(_inline(inner))
        return array
    return tomlkit.item(value)


def _with_section(text: str, name: str, value: Any) -> str:
    """Return the text with a new section. It is inserted before the first section that comes later in ``SECTIONS``, or
    at the end."""
    alone = tomlkit.document()
    alone.append(name, _item(value, 0))
    section, table = tomlkit.dumps(alone).strip("\n") + "\n", {**parsed(text), name: value}
    places = [len(text)]
    if name in SECTIONS:
        for later in SECTIONS[SECTIONS.index(name) + 1 :]:
            header = re.search(rf"((?:^#.*\n)*)^\[\[?{re.escape(later)}[\].]", text, re.MULTILINE)
            if header is not None:
                places.append(header.start())
    for place in sorted(places):
        before, after = text[:place].rstrip("\n"), text[place:].lstrip("\n")
        parts = (part for part in (before + "\n" if before else "", section, after) if part)
        result = "\n".join(parts)
        try:
            if same(parsed(result), table):
                return result
        except ValueError:
            continue
    raise KeyError(name)


def _spaced(text: str) -> str:
    """Return the text with a blank line before each header (and the comments above it) that follows values, and with
    one newline at the end."""
    lines: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        if _HEADER.fullmatch(line):
            above = len(lines)
            while above and lines[above - 1].startswith("#"):
                above -= 1
            if above and lines[above - 1].strip():
                lines.insert(above, "")
        lines.append(line)
    return "\n".join(lines) + "\n"
