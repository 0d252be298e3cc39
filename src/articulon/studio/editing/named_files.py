"""Files and code that an edited case names, and limits on the files and code that a page may add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from articulon.cases.builders.builder_base import function_beside
from articulon.cases.consent import named_code
from articulon.cases.overrides import Part, dotted
from articulon.inputs import clipped, exists

FILE_KEYS = frozenset({"file", "files", "force_field_files", "structure", "system", "data", "packages", "commands"})
"""Keys of declarations with texts that name files or folders, or that may contain such names (LAMMPS commands)."""
TEXTS = ("data", "system")
"""Keys in ``FILE_KEYS`` that may have the contents of the file as their text."""


def named_texts(value: Any, path: tuple[Part, ...] = (), within: str = "") -> Iterator[tuple[str, str]]:
    """Yield dotted keys and texts that name files, at any depth of a table, including files in variants.

    ``within`` is the key of ``FILE_KEYS`` under which the value is nested; empty if there is none.
    """
    if isinstance(value, str):
        if within == "commands":
            yield from ((dotted(path), word) for word in value.split())
        elif within and not (within in TEXTS and ("\n" in value or value.lstrip().startswith("<"))):
            yield dotted(path), value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            last = str(key).rpartition(".")[2].partition("[")[0].strip(' "')
            yield from named_texts(inner, (*path, str(key)), last if last in FILE_KEYS else within)
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            if isinstance(inner, str | Mapping | list):
                yield from named_texts(inner, (*path, k), within)


def places_of(text: str, source: str) -> list[Path]:
    """Return the possible paths of a named file: beside the case or, if no file exists there, in the current folder."""
    beside = Path(source).parent / text
    if exists(beside):
        return [beside]
    others = [Path(text).absolute(), *([Path(text).expanduser()] if text.startswith("~") else [])]
    return [beside, *(place for place in others if exists(place))]


def resolved_places(text: str, source: str) -> set[Path]:
    """Return the possible paths of a named file with links resolved; text that cannot be a path has none."""
    found = set()
    for place in places_of(text, source):
        try:
            found.add(place.resolve())
        except (OSError, ValueError):  # the text is too long, or has an invalid character
            continue
    return found


def named_files(table: Mapping[str, Any], source: str) -> set[Path]:
    """Return all files that a case names."""
    return {place for _, text in named_texts(table) for place in resolved_places(text, source)}


def code_of(table: Mapping[str, Any], source: str) -> dict[str, str]:
    """Return the functions and plugins that a case names, by key, each with its file if this file is beside the
    case."""
    found = {key.lstrip("."): function_beside(function, source) for key, function in named_code(table)}
    plugins = table.get("plugins")
    files = plugins.get("files") if isinstance(plugins, Mapping) else None
    for k, file in enumerate(files if isinstance(files, list) else ()):
        found[f"plugins.files[{k}]"] = str((Path(source).parent / str(file)).resolve())
    return found


class Bounds:
    """Files and code that a case may name on a page. These are files in one folder, and all that the case already named
    when it was given on the command line.

    Parameters
    ----------
    root
        The folder.
    files, code
        Other permitted names: files anywhere, and functions and plugins that were allowed to run.
    """

    def __init__(self, root: Path, files: set[Path] | None = None, code: set[str] | None = None) -> None:
        self.root, self._files, self._code = root.resolve(), files or set(), code or set()

    def faults(self, table: Mapping[str, Any], source: str) -> list[str]:
        """Return a line for each key that names a file that is not permitted."""
        return [
            f"{key}: {clipped(text)} lies outside of {self.root}, which this page is open on; name a file inside of it"
            for key, text in named_texts(table)
            if any(not self._has(place) for place in resolved_places(text, source))
        ]

    def _has(self, place: Path) -> bool:
        return place == self.root or self.root in place.parents or place in self._files

    def code_faults(self, table: Mapping[str, Any], source: str) -> list[str]:
        """Return a line for each key that names new code. Code is new if the case did not name it when it was opened
        with permission to run code."""
        return [
            f"{key}: '{clipped(code)}' is not run: only code is allowed that the case named when it was "
            "opened; save the case, and open it by the command, which can allow this"
            for key, code in code_of(table, source).items()
            if code not in self._code
        ]
