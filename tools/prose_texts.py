"""The prose of a file: pages in Markdown; docstrings, comments and messages of Python; notes and comments of TOML.

Each piece is Markdown in which everything that is not prose stands between backticks, so that a checker of prose passes
over it. Every line of a piece knows its line of the file.
"""

from __future__ import annotations

import ast
import inspect
import io
import itertools
import re
import tokenize
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

CODE = "`x`"
_IN_TESTS = {"tests", "faulty"}
"""Folders whose strings are input that is wrong on purpose, and patterns of what is said about it."""


class Piece(NamedTuple):
    """Lines of prose that belong together."""

    lines: tuple[str, ...]
    """The text, a line each."""
    numbers: tuple[int, ...]
    """The line of the file that each of them comes from."""


def pieces(path: Path) -> list[Piece]:
    """The prose of a file, in its order."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        found = _of_markdown(text)
    elif path.suffix == ".toml":
        found = _of_toml(text)
    else:
        found = _of_python(text, messages=not _IN_TESTS.intersection(path.parts))
    return [_masked(piece) for piece in found if any(map(str.strip, piece.lines))]


# What is no prose -----------------------------------------------------------------------------------------------------

_SPANS = re.compile(
    r"(?::[a-z:]+:|\{[a-z:]+\})?(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\n).)+?(?<!`)(?P=ticks)(?!`)(?:-th\b)?"  # code
    r"|(?:(?<=\()|(?<![\w\\$]))\$(?=\S)[^$]*\$"  # an equation
    r"|<?\bhttps?://[^\s>)]+>?"
    r"|(?<=\])\([^)\s]*\)"  # where a link leads
    r"|</?[a-z][^<>]*>"
    r"|\[[^\s\]]+\](?![(\[])"  # a unit
    r"|\([^()]*\b(?:1[6-9]|20)\d\d[a-z]?(?:[,:;][^()]*)?\)"  # a citation
    r"|\{[^{}\n]*\}|%[sdrg]\b"  # what a message fills in
    r"|(?<!\w)'[^'\s](?:[^'\n]{0,40}[^'\s])?'(?!\w)"  # a quoted key or value
    r"|\b[aA](?=['*]?(?:[,;:.)]"  # a symbol, no article
    r"|\s+(?:a|about|alone|along|and|are|as|at|by|for|in|is|it|its|itself|of|on|or|out|to)\b))",
    re.DOTALL,
)
_SIGNS = frozenset("_=<>+*^|\\/~()[]{}@#&$%§.")


def _masked(piece: Piece) -> Piece:
    """A piece in which code, equations, addresses, citations and numbers with their units are code."""
    text = "\n".join(piece.lines)
    kept, at = [], 0
    for found in _SPANS.finditer(text):
        kept.append(_words(text[at : found.start()]))
        kept.append(("" if text[found.start() - 1] == "]" else CODE) + "\n" * found[0].count("\n"))
        at = found.end()
    kept.append(_words(text[at:]))
    return Piece(tuple("".join(kept).split("\n")), piece.numbers)


def _words(text: str) -> str:
    return re.sub(r"\S+", lambda found: _word(found[0]), text)


def _word(token: str) -> str:
    """A token as it is, if it is made of words; else code, between the marks that surround it."""
    if CODE in token:
        return token
    head = token[: len(token) - len(token.lstrip("([\"'“‘*_"))]
    rest = token[len(head) :]
    core = rest.rstrip(")].,;:!?\"'”’*_")
    if rest[len(core) :].startswith("*") and len(core) == 1:
        core += "*"
    tail = rest[len(core) :]
    if not core or _is_prose(core):
        return token
    return head + CODE + tail


def _is_prose(core: str) -> bool:
    """Whether a token is made of words: no signs or digits, no name of code, of a program or of one letter."""
    if core.startswith("--") or re.search(r"\w,\w", core) or any(c in _SIGNS or c.isdigit() for c in core):
        return False
    if any(c.isupper() and before != "-" for before, c in itertools.pairwise(core)):
        return False
    if re.search(r"(?:^|-)\w(?:$|-|'s?$)", core) and core not in ("a", "A", "I"):
        return False
    return all(c.isascii() or c in "’‘“”–—…" or _in_names(c) for c in core)


def _in_names(c: str) -> bool:
    """Whether a letter occurs in names, as é does; not in equations only, as ū and ᵢ do."""
    name = unicodedata.name(c, "")
    return name.startswith(("LATIN SMALL LETTER", "LATIN CAPITAL LETTER")) and not name.endswith(
        ("MACRON", "DOT ABOVE")
    )


# Markdown -------------------------------------------------------------------------------------------------------------

_FENCE = re.compile(r"^ *(`{3,}|:{3,})(.*)$")


def _of_markdown(text: str) -> Iterator[Piece]:
    lines: list[tuple[str, int]] = []
    for number, line in _outside_of_blocks(text.splitlines()):
        if line.lstrip().startswith("|"):
            # A cell of a table is a text of its own.
            cells = line.strip().strip("|").split(" | ")
            lines += [(part, number) for cell in cells for part in (cell if set(cell) - set("-:| ") else "", "")]
        else:
            lines.append((line, number))
    yield _piece(lines)


def _outside_of_blocks(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines, with an empty one for each line of a block of code, an equation or a comment."""
    ends = None
    for number, line in enumerate(lines, 1):
        if ends is not None:
            if re.search(ends, line):
                ends = None
            yield number, ""
        elif number == 1 and line == "---":
            ends = "^---$"
            yield number, ""
        elif found := _FENCE.match(line):
            ends = rf"^ *{found[1]} *$"
            yield number, ""
        elif line.startswith("<!--"):
            ends = None if "-->" in line else "-->"
            yield number, ""
        elif line.strip().startswith("$$"):
            ends = None if line.strip()[2:].find("$$") >= 0 else r"\$\$"
            yield number, ""
        else:
            yield number, line


# Python ---------------------------------------------------------------------------------------------------------------

_DIRECTIVE = re.compile(r"^# ?(?:type:|noqa|fmt:|pragma:|!|mypy:|-\*-)")
_RULE = re.compile(r"^-{3,}$")
_WITH_ENTRIES = ("Parameters", "Attributes", "Raises", "Returns", "Yields", "Other Parameters")
_SENTENCE = re.compile(r"[a-z]{2}[.!?](?:\s|$)")


def _of_python(text: str, messages: bool) -> Iterator[Piece]:
    tree = ast.parse(text)
    docstrings = {id(node): node for node in _docstrings(tree)}
    found = [(node.lineno, _docstring(node)) for node in docstrings.values()]
    if messages:
        found += [(node.lineno, _message(node)) for node in _messages(tree, docstrings)]
    found += [(piece.numbers[0], piece) for piece in _comments(text)]
    yield from (piece for _, piece in sorted(found, key=lambda pair: pair[0]))


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """Strings that stand alone: of modules, classes and functions, and those below a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def _docstring(node: ast.Constant) -> Piece:
    lines = inspect.cleandoc(node.value).splitlines()
    kept: list[str] = []
    section = ""
    for line, after in itertools.zip_longest(lines, lines[1:], fillvalue=""):
        if _RULE.match(after):
            section = line
        indented = line.startswith("    ")
        # Equations and examples are indented; in a section with entries, their descriptions are, and names are not.
        prose = indented if section in _WITH_ENTRIES else not indented and not line.startswith((">>>", ".. "))
        kept.append(line.strip() if prose and line != section and not _RULE.match(line) else "")
    blank = len(node.value) - len(node.value.lstrip("\n"))
    first = node.lineno + blank
    return Piece(tuple(kept), tuple(range(first, first + len(kept))))


def _messages(tree: ast.AST, others: dict[int, ast.Constant]) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Strings of four words or more that are no docstrings and no text of a program in another language."""
    inner: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inner.update(id(part) for part in ast.walk(node) if part is not node)
    for node in ast.walk(tree):
        if id(node) in inner or id(node) in others:
            continue
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            if _is_message(_content(node)):
                yield node


def _is_message(text: str) -> bool:
    """Whether a string has four words, and a sentence if it has several lines: else it is a program or a table."""
    words = [word for word in text.split() if re.fullmatch(r"[A-Za-z]{2,}[,.:;]?", word)]
    return len(words) >= 4 and "\\" not in text and ("\n" not in text.strip() or _SENTENCE.search(text) is not None)


def _content(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else CODE for part in node.values)


def _message(node: ast.Constant | ast.JoinedStr) -> Piece:
    lines = _content(node).splitlines()
    return Piece(tuple(lines), (node.lineno,) * len(lines))


def _comments(text: str) -> Iterator[Piece]:
    lines: list[tuple[str, int]] = []
    column = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or _DIRECTIVE.match(token.string):
            continue
        row, place = token.start
        own = not token.line[:place].strip()
        if lines and not (own and place == column and row == lines[-1][1] + 1):
            yield _piece(lines)
            lines = []
        lines.append((token.string.lstrip("#").strip(" -"), row))
        column = place if own else -1
    if lines:
        yield _piece(lines)


def _piece(lines: list[tuple[str, int]]) -> Piece:
    return Piece(tuple(line for line, _ in lines), tuple(number for _, number in lines))


# TOML -----------------------------------------------------------------------------------------------------------------


_STRING_OR_COMMENT = re.compile(r'"(?P<basic>(?:[^"\\]|\\.)*)"' + r"|'(?P<literal>[^']*)'|#(?P<comment>.*)")


def _of_toml(text: str) -> Iterator[Piece]:
    """Comments, and strings of four words or more but those that cite."""
    comment: list[tuple[str, int]] = []
    cites = False
    for number, line in enumerate(text.splitlines(), 1):
        found = list(_STRING_OR_COMMENT.finditer(line))
        (said,) = [one["comment"] for one in found if one["comment"] is not None] or [None]
        if comment and line.strip()[:1] != "#":
            yield _piece(comment)
            comment = []
        cites = (cites and line.strip() != "]") or line.startswith("cite")
        for one in found:
            string = one["basic"] or one["literal"] or ""
            if not cites and _is_message(string):
                yield Piece((string,), (number,))
        if line.startswith("cite") and line.rstrip().endswith("]"):
            cites = False
        if said is not None:
            comment.append((said.strip(), number))
    if comment:
        yield _piece(comment)


def identifiers(path: Path) -> set[str]:
    """The names that occur in a Python file; no names of any other file."""
    if path.suffix not in (".py", ".pyi"):
        return set()
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}
