"""Where the keys of a case file stand in its text: exactly where its parser finds them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from articulon.cases.library import built_in_cases
from articulon.cases.overrides import Part
from articulon.studio.editing.text_lines import key_lines, line_of
from articulon.studio.editing.text_view import faults_by_line, reading_fault

TEXT = '''\
# [not.a.table]
[case] # [x]
title = "a # [ b"
cite = ["x",
  "y]", # z [
]
  [[model.bodies]]
name = "a"
shape = [{kind = "b", r = 1},
  {kind = "c"}]
[[model.bodies]]
note = """
[[model.bodies]] "
""\\""\"""
extra.deep = 3
other = '''
TEXT += """'''
[x
'''
four = '''y'''' # '[
[[model.bodies.sub]]
a = 1
[[model.bodies.sub]]
"b c" = 1
[variants."x.y".z]
"[q]" = {a = 1}
"""


def paths(value: Any, path: tuple[Part, ...] = ()) -> Iterator[tuple[Part, ...]]:
    """The paths of all that a value holds."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from paths(one, (*path, key))


TEXTS = {name: file.read_text() for name, file in built_in_cases().items()}


@pytest.mark.parametrize("text", [TEXT, *TEXTS.values()], ids=["all kinds", *TEXTS])
def test_each_key_is_found_on_the_line_from_which_on_the_parser_finds_it(text: str) -> None:
    lines = key_lines(text)
    assert set(lines) == set(paths(tomllib.loads(text)))
    # What is above the first line of a key is TOML by itself, and does not hold it.
    rows = text.split("\n")
    for path, line in lines.items():
        before = tomllib.loads("\n".join(rows[: line - 1]))
        assert path not in set(paths(before)), path
    for line in sorted(set(lines.values()) - {1}):
        # Keys of one line: the statement that begins there ends before the next one does.
        after = min((other for other in lines.values() if other > line), default=len(rows) + 1)
        found = set(paths(tomllib.loads("\n".join(rows[: after - 1]))))
        assert {path for path, there in lines.items() if there == line} <= found


def test_a_key_that_is_missing_is_on_the_line_of_its_table() -> None:
    lines = key_lines(TEXT)
    assert line_of(lines, ("model", "bodies", 1, "mass")) == lines["model", "bodies", 1] == 11
    assert line_of(lines, ("run", "duration")) is None
    faults = faults_by_line(TEXT, {"model.bodies[1].mass": "must be given", "case.title": "too long", "a b": "?"})
    assert faults == [(None, "a b: ?"), (3, "case.title: too long"), (11, "model.bodies[1].mass: must be given")]


def test_a_text_that_is_no_toml_says_where() -> None:
    assert reading_fault(TEXT) is None
    assert reading_fault("[run]\nduration = 1 s\n") == (
        2,
        "not valid TOML: Expected newline or end of document after a statement",
    )
