"""Check spelling and grammar of all prose: ``python -m tools.prose [FILE ...]``.

Harper reads README and pages, docstrings, comments and messages, and notes of cases (``prose_texts.py``). Words of the
field are in ``words.txt``, the rules that are applied in
``rules.txt``. Files that were found without fault are remembered in ``.cache/``.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from harper import Dialect, Lint, Linter

from tools.prose_texts import Piece, identifiers, pieces

ROOT = Path(__file__).parents[1]
WORDS = ROOT / "tools" / "words.txt"
RULES = ROOT / "tools" / "rules.txt"
"""Harper's rules on errors. Most others of its 900 know one idiom each, and some doubt right sentences."""
REMEMBERED = ROOT / ".cache" / "prose.json"
CHECKED = ("*.md", "pyproject.toml") + tuple(
    f"{folder}/**/*.{kind}"
    for folder in ("src", "docs", "examples", "tests", "validation", "benchmarks", "tools")
    for kind in ("md", "py", "pyi", "toml")
)
LEFT_OUT = (
    # Generated.
    "docs/_build",
    "docs/reference",
    # Titles in several languages.
    "src/articulon/cases/references.py",
)
_SYMBOL = re.compile(r"d[a-z]|[a-z]?[xyz]{1,3}|[A-Z]\.")
"""Differentials, axes and components along them, and a letter that ends a sentence."""
_SPELT_OUT = re.compile(r"\s+(?:[b-df-hj-np-tv-z]+\b|[^\x00-\x7f])")
"""What follows an article that is chosen by ear: an abbreviation without vowels, or a word as ångström."""


class Fault(NamedTuple):
    """A place that the checker doubts."""

    file: Path
    line: int
    text: str
    rule: str
    message: str
    instead: tuple[str, ...]

    def __str__(self) -> str:
        instead = f" ({' or '.join(self.instead)}?)" if self.instead else ""
        return f"{self.file}:{self.line}: {self.text!r}: {self.message}{instead} [{self.rule}]"


def files() -> list[Path]:
    """All files whose prose is checked."""
    found = sorted({path for pattern in CHECKED for path in ROOT.glob(pattern)})
    return [path for path in found if not path.relative_to(ROOT).as_posix().startswith(LEFT_OUT)]


def in_order(word: str) -> tuple[str, str]:
    """What the list of words is sorted by: letters without accents or case."""
    return unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode().lower(), word


def words() -> list[str]:
    """Words of the field, with plurals and possessives. Names occur in lower case as well, in keys and commands."""
    listed = WORDS.read_text(encoding="utf-8").split()
    return [form for word in listed for form in (word, word + "s", word + "'s", word.lower())]


def checker() -> Linter:
    """A checker of British English that knows the words of the field."""
    linter = Linter(Dialect.BRITISH)
    known = set(linter.get_default_lint_config())
    rules = set(RULES.read_text(encoding="utf-8").split())
    if unknown := rules - known:
        raise ValueError(f"{RULES}: Harper has no rules {', '.join(sorted(unknown))}")
    linter.set_lint_config({rule: rule in rules for rule in known})
    linter.import_words(words())
    return linter


def faults(linter: Linter, path: Path) -> Iterator[Fault]:
    """The faults of a file, in its order."""
    names = identifiers(path)
    text, numbers = _joined(pieces(path))
    found = [(lint.span.start, rule, lint) for rule, lints in linter.organized_lints(text).items() for lint in lints]
    for start, rule, lint in sorted(found, key=lambda one: one[:2]):
        named = rule == "SpellCheck" and (lint.problem_text in names or _SYMBOL.fullmatch(lint.problem_text))
        by_ear = rule == "AnA" and _SPELT_OUT.match(text, lint.span.end)
        if not named and not by_ear:
            yield _fault(path, numbers[text.count("\n", 0, start)], rule, lint)


def _joined(parts: Iterable[Piece]) -> tuple[str, list[int]]:
    lines: list[str] = []
    numbers: list[int] = []
    for part in parts:
        lines += [*part.lines, ""]
        numbers += [*part.numbers, part.numbers[-1]]
    return "\n".join(lines), numbers


def _fault(path: Path, line: int, rule: str, lint: Lint) -> Fault:
    instead = tuple(one.replacement_text for one in lint.suggestions[:3] if one.replacement_text)
    return Fault(path, line, lint.problem_text, rule, lint.message, instead)


def _state() -> str:
    """What a result depends on besides the file itself."""
    own = [WORDS, RULES, *sorted((ROOT / "tools").glob("prose*.py"))]
    return version("harper-py") + "".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in own)


def _remembered(state: str) -> dict[str, str]:
    try:
        found = json.loads(REMEMBERED.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(found["clean"]) if found.get("state") == state else {}


def _remember(state: str, clean: Mapping[str, str]) -> None:
    REMEMBERED.parent.mkdir(exist_ok=True)
    REMEMBERED.write_text(json.dumps({"state": state, "clean": clean}), encoding="utf-8")


def main(given: list[str]) -> int:
    """Check the given files, or all; the number of faults."""
    state = _state()
    clean = _remembered(state)
    linter = None
    count = 0
    chosen = {Path(name).resolve() for name in given}
    for path in files():
        if chosen and path not in chosen:
            continue
        name = path.relative_to(ROOT).as_posix()
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if clean.get(name) == digest:
            continue
        linter = linter or checker()
        found = list(faults(linter, path))
        for fault in found:
            print(fault._replace(file=Path(name)))
        count += len(found)
        if not found:
            clean[name] = digest
    _remember(state, clean)
    return count


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
