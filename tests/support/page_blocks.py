"""The code on a page of the documentation, in its order, and how it is run.

``python`` blocks and ``{code-cell}`` run one after the other in one namespace, in a folder of their own. A block whose
first line is ``# NAME.py`` or ``# NAME.toml`` is written to that file instead; ``{code-cell}`` may be tagged
``raises-exception``. ``console`` blocks are run by the command. A comment ``<!-- setup ... -->`` or ``<!-- check ...
-->`` holds Python that a reader does not see: what a block needs, and what must be true after it.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from articulon.cli import app

_BLOCK = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)(?P=fence)[ ]*$"
    r"|^<!-- (?:setup|check)\n(?P<hidden>.*?)^-->[ ]*$",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(r"# ([\w-]+\.(?:py|toml|csv|data))\b")


class Block(NamedTuple):
    """A fenced block, or hidden Python."""

    language: str
    code: str
    line: int

    @property
    def file(self) -> str | None:
        """The file that it is, by its first line."""
        found = _FILE.match(self.code)
        return found[1] if found else None


def blocks(text: str) -> Iterator[Block]:
    """All blocks of a page; options of directives are left out."""
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 2
        if found["hidden"] is not None:
            yield Block("hidden", found["hidden"], line)
        else:
            yield Block(found["language"].strip(), textwrap.dedent(found["code"]), line)


def run_page(page: Path, folder: Path, shorter: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run all code of a page in a folder that is the current one; the names that it leaves.

    ``shorter`` replaces what would take minutes: what is printed by what is run.
    """
    names: dict[str, Any] = {"__name__": "__page__", "__file__": str(page)}
    text = page.read_text(encoding="utf-8")
    for printed, taken in (shorter or {}).items():
        assert printed in text, f"{page.name} no longer says {printed!r}"
        text = text.replace(printed, taken)
    for block in blocks(text):
        if block.file is not None and block.language in ("python", "toml", "text"):
            (folder / block.file).write_text(block.code, encoding="utf-8")
        elif block.language in ("python", "hidden") or block.language.startswith("{code-cell}"):
            run_block(block, page, names)
        elif block.language == "console":
            for command in commands(block.code):
                result = CliRunner().invoke(app, command, catch_exceptions=False)
                assert result.exit_code == 0, f"{page.name}:{block.line}: {command}: {result.output[-2000:]}"
    return names


def run_block(block: Block, page: Path, names: dict[str, Any]) -> None:
    """Run a block of Python; a failure names the page and the line."""
    lines = block.code.splitlines()
    raises = any(line.startswith(":tags:") and "raises-exception" in line for line in lines)
    code = "\n".join("" if line.startswith(":tags:") else line for line in lines)
    program = compile("\n" * (block.line - 1) + code, str(page), "exec")
    try:
        exec(program, names)
    except Exception:
        if not raises:
            raise
    else:
        assert not raises, f"{page.name}:{block.line}: nothing was raised"


def commands(code: str) -> list[list[str]]:
    """The arguments of each call of ``articulon`` in a block: lines that a backslash continues are one."""
    found = []
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        while words and words[0] != "articulon" and (words[0] in ("mpiexec", "-n", "$") or words[0].isdigit()):
            words = words[1:]
        if words and words[0] == "articulon":
            found.append(words[1:])
    return found
