"""Line numbers of keys in the text of a case file, for errors that name a key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from articulon.cases.overrides import Part, parsed

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n', re.DOTALL
)
"""Matches strings, comments, brackets and newlines. Brackets and newlines in strings and comments do not count."""
_AT = re.compile(r" \(at line (\d+), column \d+\)")


def line_of_error(message: str) -> int | None:
    """Return the line that Python's TOML reader names in a message; None if the message names no line."""
    found = _AT.search(message)
    return None if found is None else int(found[1])


def without_line(message: str) -> str:
    """Return a message of Python's TOML reader without the line and column."""
    return _AT.sub("", message)


def key_lines(text: str) -> dict[tuple[Part, ...], int]:
    """Return the line of each table and key of a valid TOML text, counted from 1. Keys inside a value get the line of
    the key that has this value. Paths contain elements of lists by number."""
    found: dict[tuple[Part, ...], int] = {}
    counts: dict[tuple[Part, ...], int] = {}
    table: tuple[Part, ...] = ()
    for line, statement in _statements(text):
        inner = list(_paths(parsed(statement)))
        if not statement.startswith("["):
            for path in inner:
                found.setdefault((*table, *path), line)
            continue
        # The deepest key names the table that the header begins; in a list, the header begins a new element.
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
    """Return the line of a key, from the result of :func:`key_lines`. For a missing key, return the line of the table
    that would contain it, or None if this table is missing too."""
    here = tuple(path)
    while here and here not in lines:
        here = here[:-1]
    return lines.get(here)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield headers, and keys with their values, each with the number of its first line."""
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
    """Yield the paths of all keys and elements inside a value, outer paths first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from _paths(one, (*path, key))
