"""Where in the text of a case file a key stands: the line of each statement, for faults that name a key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from articulon.cases.overrides import Part, parsed

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n', re.DOTALL
)
"""Strings and comments, whose brackets and ends of line do not count, brackets, and ends of line."""
_AT = re.compile(r" \(at line (\d+), column \d+\)")


def line_of_error(message: str) -> int | None:
    """The line that Python's reader of TOML names in a message; None where it names none."""
    found = _AT.search(message)
    return None if found is None else int(found[1])


def without_line(message: str) -> str:
    """Such a message without the place that it names."""
    return _AT.sub("", message)


def key_lines(text: str) -> dict[tuple[Part, ...], int]:
    """The line of each table and key of a valid TOML text, the first being 1; of what stands within a value, that of
    the key with the value. Elements of lists are numbered."""
    found: dict[tuple[Part, ...], int] = {}
    counts: dict[tuple[Part, ...], int] = {}
    table: tuple[Part, ...] = ()
    for line, statement in _statements(text):
        inner = list(_paths(parsed(statement)))
        if not statement.startswith("["):
            for path in inner:
                found.setdefault((*table, *path), line)
            continue
        # Its deepest key is the table that it begins; in a list, an element that was not there before.
        *outer, last = [part for part in inner[-1] if isinstance(part, str)]
        table = ()
        for name in outer:
            table = (*table, name)
            table = (*table, counts[table] - 1) if table in counts else table
            found.setdefault(table, line)
        table = (*table, last)
        if statement.startswith("[["):
            found.setdefault(table, line)
            counts[table] = counts.get(table, 0) + 1
            table = (*table, counts[table] - 1)
        found.setdefault(table, line)
    return found


def line_of(lines: Mapping[tuple[Part, ...], int], path: Sequence[Part]) -> int | None:
    """The line of a key among those of :func:`key_lines`; of one that is not there, that of the table that it would be
    in, and None where that is not there either."""
    here = tuple(path)
    while here and here not in lines:
        here = here[:-1]
    return lines.get(here)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Headers and keys with their values, each with the number of its first line."""
    depth, line, first, start = 0, 1, 1, 0
    for token in _TOKEN.finditer(text + "\n"):
        word = token[0]
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(word, 0)
        line += word.count("\n")
        if word == "\n" and depth == 0:
            statement = text[start : token.start()].strip()
            if statement and not statement.startswith("#"):
                yield first, statement
            start, first = token.end(), line


def _paths(value: Any, path: tuple[Part, ...] = ()) -> Iterator[tuple[Part, ...]]:
    """The paths of all that a value holds, outer ones first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from _paths(one, (*path, key))
