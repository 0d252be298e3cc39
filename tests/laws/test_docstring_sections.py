"""The sections of docstrings: headings, and the names under them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import articulon as ar

PACKAGE = Path(ar.__file__).parent
HEADINGS = ("Parameters", "Returns", "Raises", "Yields", "Attributes", "Notes", "Examples")
UNDERLINE = re.compile(r"\s*-{3,}\s*")


def faults(text: str, names: set[str]) -> Iterator[str]:
    """What is wrong with the sections of a docstring, whose function has parameters with these names."""
    lines, section = [*text.split("\n"), ""], ""
    for before, line, after in zip(["", *lines], lines, lines[1:], strict=False):
        word, underlined = line.strip(), UNDERLINE.fullmatch(after) is not None
        if underlined:
            section = word
            if word not in HEADINGS:
                yield f"{word!r} is underlined like a heading"
            elif before.strip():
                yield f"no empty line before {word!r}"
        elif word in HEADINGS:
            yield f"{word!r} is not underlined"
        elif section == "Parameters" and word and word == line and not UNDERLINE.fullmatch(line):
            named = {name.strip().lstrip("*") for name in word.split(" : ")[0].split(",")}
            if names and not named <= names:
                yield f"{word!r} is not a parameter"


def test_sections_of_docstrings_are_headings_with_the_names_of_parameters() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            names: set[str] = set()
            if isinstance(node, ast.FunctionDef):
                a = node.args
                given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(one for one in (a.vararg, a.kwarg) if one)]
                names = {one.arg for one in given}
            text = ast.get_docstring(node) or ""
            found += [f"{path.relative_to(PACKAGE)}, {node.name}: {fault}" for fault in faults(text, names)]
    assert found == []
    wrong = "Compute.\n\nParameters\n----------\nmodel\n    A model. Raises\n------\nNoError\n    Never.\nA text.\n"
    assert len(list(faults(wrong, {"q"}))) == 2
