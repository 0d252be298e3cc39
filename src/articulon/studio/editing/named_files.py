"""Files and code that a case under edit names, and which of them a page may have it name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from articulon.cases.builders.builder_base import function_beside
from articulon.cases.consent import named_code
from articulon.cases.overrides import Part, dotted
from articulon.inputs import clipped, exists

FILE_KEYS = frozenset({"file", "files", "force_field_files", "structure", "system", "data", "packages", "commands"})
"""Keys of declarations whose texts name files or folders, or may have such names in them as commands of LAMMPS do."""
TEXTS = ("data", "system")
"""Those of them under which what would be in the file may stand itself."""


def named_texts(value: Any, path: tuple[Part, ...] = (), within: str = "") -> Iterator[tuple[str, str]]:
    """Dotted keys and texts of a table that name files, however deep they lie; also those that variants set.

    ``within`` is the key of files that the table is under.
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
    """Where what a text names may lie: beside the case or, where nothing is there, in the folder of the process."""
    beside = Path(source).parent / text
    if exists(beside):
        return [beside]
    others = [Path(text).absolute(), *([Path(text).expanduser()] if text.startswith("~") else [])]
    return [beside, *(place for place in others if exists(place))]


def resolved_places(text: str, source: str) -> set[Path]:
    """The same, without links; what can be no path names nothing."""
    found = set()
    for place in places_of(text, source):
        try:
            found.add(place.resolve())
        except (OSError, ValueError):  # too long, or with a character that no path has
            continue
    return found


def named_files(table: Mapping[str, Any], source: str) -> set[Path]:
    """All files that a case names."""
    return {place for _, text in named_texts(table) for place in resolved_places(text, source)}


def code_of(table: Mapping[str, Any], source: str) -> dict[str, str]:
    """Functions and plugins that a case names, by key, each with the file that it is in where that lies beside the
    case."""
    found = {key.lstrip("."): function_beside(function, source) for key, function in named_code(table)}
    plugins = table.get("plugins")
    files = plugins.get("files") if isinstance(plugins, Mapping) else None
    for k, file in enumerate(files if isinstance(files, list) else ()):
        found[f"plugins.files[{k}]"] = str((Path(source).parent / str(file)).resolve())
    return found


class Bounds:
    """What a case may name on a page: files in one folder, and what it named already when somebody named it on the
    command line.

    Parameters
    ----------
    root
        The folder.
    files, code
        What else it may name: files wherever they are, and functions and plugins that were allowed to run.
    """

    def __init__(self, root: Path, files: set[Path] | None = None, code: set[str] | None = None) -> None:
        self.root, self._files, self._code = root.resolve(), files or set(), code or set()

    def faults(self, table: Mapping[str, Any], source: str) -> list[str]:
        """A line for each key that names a file elsewhere."""
        return [
            f"{key}: {clipped(text)} lies outside of {self.root}, which this page is open on; name a file inside of it"
            for key, text in named_texts(table)
            if any(not self._has(place) for place in resolved_places(text, source))
        ]

    def _has(self, place: Path) -> bool:
        return place == self.root or self.root in place.parents or place in self._files

    def code_faults(self, table: Mapping[str, Any], source: str) -> list[str]:
        """A line for each key that names code that was not there when it was allowed to run."""
        return [
            f"{key}: '{clipped(code)}' is not run: the code that was allowed is that which the case named when it was "
            "opened; save the case, and open it by the command, which can allow this"
            for key, code in code_of(table, source).items()
            if code not in self._code
        ]
