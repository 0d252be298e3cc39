"""Sections of docs/validation.md, each rewritten by the program that measures it."""

from __future__ import annotations

import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "validation.md"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_section(name: str, text: str) -> None:
    """Put a text between the markers of a section, which is added where there is none, and print it."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    section = f"{begin}\n\n{text.strip()}\n\n{end}\n"
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Validation\n"
    if begin in page:
        section = page[: page.index(begin)] + section + page[page.index(end) + len(end) + 1 :]
    else:
        section = f"{page.rstrip()}\n\n{section}"
    PAGE.write_text(section, encoding="utf-8")
    sys.stdout.write(text.strip() + "\n")
