"""Tables that the schema of a case allows, drawn from the types of its declarations."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from pydantic import BaseModel

from articulon.cases.schema import CaseFile
from articulon.declaration import Choice, Dimension
from articulon.units import expectation
from validation.faulty.mutations import one

DEEPEST = 8
"""Tables within tables."""
NAMES = ("core", "A1", "link-1", "bead-0", "arm", "hub", "grain-0", "SiO2", "A", "particle")
"""Of bodies and kinds that some case has."""


def members(annotation: Any, dimension: Dimension | None = None) -> list[tuple[Any, Dimension | None]]:
    """The types that an annotation allows, each with the dimension of its quantities."""
    origin: Any = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        for choice in metadata:
            if isinstance(choice, Choice):
                return [found for member in choice for found in members(member, dimension)]
        return members(inner, next((m for m in metadata if isinstance(m, Dimension)), dimension))
    if origin in (Union, types.UnionType):
        return [found for member in get_args(annotation) for found in members(member, dimension)]
    return [(annotation, dimension)]


def drawn(annotation: Any, dimension: Dimension | None, rng: np.random.Generator, deep: int = 0) -> Any:
    """A value that an annotation allows; what it means together with others is left to chance."""
    kind, dimension = one(rng, [m for m in members(annotation, dimension) if m[0] is not type(None)])
    origin: Any = get_origin(kind)
    arguments = get_args(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return table(kind, rng, deep + 1)
    if origin is Literal:
        return one(rng, arguments)
    if origin is tuple:
        each = [arguments[0]] * int(rng.integers(1, 5)) if Ellipsis in arguments else arguments
        return [drawn(a, dimension, rng, deep + 1) for a in each] if deep < DEEPEST else []
    if origin is dict:
        return {name: drawn(arguments[1], dimension, rng, deep + 1) for name in NAMES[: int(rng.integers(1, 4))]}
    if kind is bool:
        return bool(rng.integers(2))
    if kind is int:
        return int(rng.integers(0, 6))
    if kind is float:
        return float(rng.choice([0.0, 0.1, 0.5, 1.0, 2.0, 10.0]))
    if dimension is not None and rng.random() < 0.4:
        return expectation(dimension.name).partition("'")[2].partition("'")[0]
    return one(rng, NAMES)


def table(declaration: type[BaseModel], rng: np.random.Generator, deep: int = 0) -> dict[str, Any]:
    """A table with all required keys of a declaration and some of the others."""
    result = {}
    for name, field in declaration.model_fields.items():
        decides = get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1
        if not (field.is_required() or decides or (deep < DEEPEST and rng.random() < 0.25)):
            continue
        dimension = next((m for m in field.metadata if isinstance(m, Dimension)), None)
        result[name] = drawn(field.annotation, dimension, rng, deep)
    return result


def section(name: str, rng: np.random.Generator) -> Any:
    """A section of a case; an element of it where it is a list of tables."""
    field = CaseFile.model_fields[name]
    return drawn(_annotation(field), None, rng)


def _annotation(field: Any) -> Any:
    """The type of a section, or of its elements; pydantic takes the outermost marks of a field from its type."""
    if get_origin(field.annotation) is tuple:
        return get_args(field.annotation)[0]
    choices = [mark for mark in field.metadata if isinstance(mark, Choice)]
    return Annotated[field.annotation, *choices] if choices else field.annotation


def forms() -> dict[tuple[str, str], type[BaseModel]]:
    """Declarations by section and by the word that chooses them."""
    found: dict[tuple[str, str], type[BaseModel]] = {}
    for name, field in CaseFile.model_fields.items():
        for kind, _ in members(_annotation(field)):
            if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
                continue
            for key in ("builder", "policy", "rule", "kind"):
                words = get_args(kind.model_fields[key].annotation) if key in kind.model_fields else ()
                found |= {(name, str(word)): kind for word in words}
            found.setdefault((name, ""), kind)
    return found
