"""Messages for faults of a declaration: the key, what was expected, and the nearest valid key."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError

from articulon.declared_types import Dimension, Typed, is_declaration, members_of, tags_of, types_inside
from articulon.inputs import shown
from articulon.units import expectation

FAULTS_SHOWN = 20
"""Maximum number of faults listed in a message; it gives the number of further ones."""
ALIKE = 16
"""Index from which all elements of a list have the same type. No list of fixed length has this many elements."""


def explanation(error: ValidationError, root: type[BaseModel], where: str = "") -> str:
    """Text of a validation error, one line per fault: the key, what was expected, the nearest valid key.

    If there are more than :data:`FAULTS_SHOWN`, the last line gives the number of further faults.
    """
    places: dict[str, tuple[Any, type[BaseModel] | None, Dimension | None]] = {}
    for fault in error.errors(include_url=False):
        key, owner, dimension = _place(root, fault["loc"], where)
        if fault["type"].startswith("union_tag"):
            key = joined(key, fault["ctx"]["discriminator"].strip("'"))
        # A union reports a fault once for each of its members; the first report is enough.
        places.setdefault(key, (fault, owner, dimension))
    for key in [key for key, (fault, *_) in places.items() if fault["type"] == "too_short"]:
        if any(other.startswith(f"{key}[") for other in places):  # the list is empty only because its items are invalid
            del places[key]
    lines = [
        f"{key}: {_fault(*found)}" if key else _fault(*found) for key, found in islice(places.items(), FAULTS_SHOWN)
    ]
    if len(places) > FAULTS_SHOWN:
        lines.append(f"and {len(places) - FAULTS_SHOWN} more faults; fix these first")
    return "\n".join(lines)


def _fault(fault: Any, owner: type[BaseModel] | None, dimension: Dimension | None) -> str:
    kind, context, given = fault["type"], fault.get("ctx", {}), fault["input"]
    if kind == "extra_forbidden":
        key = str(fault["loc"][-1])
        foreign: Mapping[str, str] = getattr(owner, "foreign", {})
        if key in foreign:
            return foreign[key]
        known = list(owner.model_fields) if owner else []
        return f"unknown key{nearest(key, known)}"
    if kind == "missing":
        expected = f"is required: {expectation(dimension.name)}" if dimension else "is required"
        advice: Mapping[str, str] = getattr(owner, "advice", {})
        return "; ".join([expected, *(advice[key] for key in fault["loc"][-1:] if key in advice)])
    if kind == "union_tag_invalid":
        tags = [tag.strip().strip("'\"") for tag in context["expected_tags"].split(",")]
        return f"unknown word {shown(context['tag'])}{nearest(context['tag'], tags)}"
    if kind == "union_tag_not_found":
        return "is required"
    if kind == "literal_error":
        return f"expected {context['expected']}, got {shown(given)}"
    if kind == "value_error":
        return str(context["error"])
    if dimension and kind == "dict_type":
        return f"expected a table with {expectation(dimension.name)} for each name, got {shown(given)}"
    if dimension and kind in ("tuple_type", "list_type"):
        return f"expected a list with {expectation(dimension.name)} at each place, got {shown(given)}"
    if dimension:
        return f"expected {expectation(dimension.name)}, got {shown(given)}"
    message = fault["msg"]
    return f"{message[:1].lower()}{message[1:]}, got {shown(given)}"


MOST_KNOWN = 60
"""Maximum number of known words listed in a message."""


def nearest(word: str, known: Sequence[str]) -> str:
    """Return the end of a message about an unknown word: the nearest known word, and all known words, or the first ones
    if there are many."""
    close = difflib.get_close_matches(word[:100], known, n=1, cutoff=0.5)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    if len(known) > MOST_KNOWN:
        return f"{hint} (known: {', '.join(known[:MOST_KNOWN])} and {len(known) - MOST_KNOWN} more)"
    return f"{hint} (known: {', '.join(known)})" if known else hint


def joined(where: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{where}[{key}]"
    return f"{where}.{key}" if where else key


def _place(
    root: type[BaseModel], location: Sequence[str | int], where: str
) -> tuple[str, type[BaseModel] | None, Dimension | None]:
    """Key path of a fault, the declaration of the key and the dimension expected there."""
    # The elements of a long list have the same type; only short lists of fixed length have different ones.
    alike = tuple(min(part, ALIKE) if isinstance(part, int) else part for part in location)
    keys, owner, dimension = _typed_place(root, alike)
    for k in keys:
        where = joined(where, location[k])
    return where, owner, dimension


@lru_cache(maxsize=4096)
def _typed_place(
    root: type[BaseModel], location: tuple[str | int, ...]
) -> tuple[list[int], type[BaseModel] | None, Dimension | None]:
    """Parts of a location that are keys, the declaration of the last key, and the dimension expected there.

    pydantic's locations also contain the tags of unions between the keys; these are omitted.
    """
    here: list[Typed] = [(root, None)]
    owner: type[BaseModel] | None = root
    keys: list[int] = []
    for k, part in enumerate(location):
        members = [member for typed in here for member in members_of(*typed)]
        declarations = [annotation for annotation, _ in members if is_declaration(annotation)]
        inside = [typed for member in members for typed in types_inside(*member, part)]
        tagged = [member for member in members if part in tags_of(member[0])]
        # In a union the tag comes first. It may have the same name as a key of its declaration.
        if inside and not (tagged and len(declarations) > 1):
            keys.append(k)
            here = inside
            owner = next((d for d in declarations if part in d.model_fields), owner)
        elif tagged:
            here = tagged
            owner = tagged[0][0]
        elif declarations and isinstance(part, str):
            return [*keys, k], declarations[0], None
        else:
            # Not a key but pydantic's name of a type, such as "float" after the key of a quantity.
            break
    dimensions = (dimension for typed in here for _, dimension in members_of(*typed) if dimension)
    return keys, owner, next(dimensions, None)
