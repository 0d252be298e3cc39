"""Reads XML as a tree of elements with their line numbers, without opening anything outside the file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from articulon.errors import ModelError
from articulon.inputs import LARGEST, clipped, shown

MOST_BYTES = 64 * 1024 * 1024
"""Largest size of a file [bytes]; a larger file is not a robot description."""
DEEPEST = 500
"""Largest depth of nested elements."""


@dataclass
class Element:
    """One element of a file."""

    tag: str
    """Name of the element."""
    attributes: dict[str, str]
    """Attributes as strings, in the form in which the file contains them."""
    file: str
    line: int
    """Line where the element begins."""
    children: list[Element] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Name of the element in messages: <joint 'elbow'>."""
        name = self.attributes.get("name")
        return f"<{self.tag}>" if name is None else f"<{self.tag} {shown(name)}>"

    def fault(self, message: str) -> ModelError:
        """Return an error about the element; its message begins with file, line and element."""
        return ModelError(f"{self.file}, line {self.line}, {self.label}: {message}")

    def all(self, tag: str) -> list[Element]:
        """Return the element's children with a given tag, in the order of the file."""
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> Element | None:
        """Return the element's child with a given tag, or None if there is none; raises ModelError if there are
        several."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].fault(f"{self.label} has one already, in line {found[0].line}")
        return found[0] if found else None

    def walk(self) -> Iterator[Element]:
        """Yield the element and all elements below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.walk()

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text of an attribute; raises ModelError if it is missing or empty and there is no default."""
        value = self.attributes.get(key, default)
        if value is None or (value == "" and default is None):
            raise self.fault(f"has no attribute {key}")
        return value

    def numbers(self, key: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return an attribute that consists of ``count`` finite numbers; raises ModelError for anything else."""
        if key not in self.attributes and default is not None:
            return default
        given = self.text(key)
        try:
            values = tuple(float(word) for word in given.split())
        except ValueError:
            values = ()
        # Python also accepts 1_000 as a number, but other programs do not.
        if len(values) != count or "_" in given or not all(map(math.isfinite, values)):
            wanted = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.fault(f"{key}: expected {wanted}, got {shown(given)}")
        if max(map(abs, values)) > LARGEST:
            raise self.fault(f"{key}: {shown(given)} is too large for the computation; the maximum is {LARGEST:g}")
        return values

    def number(self, key: str, default: float | None = None) -> float:
        """Return an attribute that is a finite number."""
        return self.numbers(key, 1, None if default is None else (default,))[0]


def parse(path: str | Path) -> Element:
    """Return the root element of a file.

    Entities are not resolved and no other file is opened: a file that declares entities is rejected.

    Raises
    ------
    ModelError
        For a file that is not XML; the message has file and line. For a file that cannot be read; the message has its
        name.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ModelError(f"{clipped(file)}: is larger than {MOST_BYTES} bytes, the limit for robot descriptions")
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        raise ModelError(f"{clipped(file)} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return parse_text(data, clipped(file))


def parse_text(data: bytes, file: str) -> Element:
    """Return the root element of the content of a file; see :func:`parse`."""
    open_: list[Element] = []
    roots: list[Element] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, file, parser.CurrentLineNumber)
        if len(open_) > DEEPEST:
            raise element.fault(f"elements are nested more than {DEEPEST} deep")
        (open_[-1].children if open_ else roots).append(element)
        open_.append(element)

    def refuse(*_: object) -> None:
        raise ModelError(
            f"{file}, line {parser.CurrentLineNumber}: declares an entity, which robot descriptions do "
            "not need; remove it"
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_.pop()
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        inside = f", inside of {open_[-1].label}" if open_ else ""
        raise ModelError(
            f"{file}, line {error.lineno}{inside}: is not valid XML: {expat.ErrorString(error.code)}"
        ) from None
    except (ValueError, LookupError) as error:  # an unknown encoding
        raise ModelError(f"{file}: is not valid XML: {clipped(error)}") from None
    return roots[0]
