"""Places where a case names a body. They are found by the types of the case's declarations, which mark names of
bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from articulon.cases.overrides import Part, changed, dotted, parts
from articulon.cases.schema import CaseFile, with_discriminators
from articulon.declared_types import Choice, NamesBody, is_declaration
from articulon.errors import CaseError
from articulon.families import Family

OBSERVABLES = ("objective", "observables", "observable")
"""Keys with texts that may be observables of a joint, such as ``arm.angle``."""
KEYS = ("parameters", "key")
"""Keys with texts that may be keys of the case, such as ``model.bodies.arm.mass``."""


class Mention(NamedTuple):
    """A place in a case that names a body."""

    path: tuple[Part, ...]
    """Keys and indices that lead to the text, or to the table that has the name as a key."""
    name: str
    """Name of the body as written there."""
    is_key: bool = False
    """Whether the name is a key of the table at ``path``."""
    of_many: bool = False
    """Whether the name is an entry of a list of variable length."""

    @property
    def key(self) -> str:
        """Return the dotted key of the place."""
        return dotted(self.path)


def mentions(table: Mapping[str, Any]) -> list[Mention]:
    """Return all places of a case that name a body, except the bodies' own names."""
    return list(_inside(CaseFile, (), with_discriminators(table), ()))


def _inside(annotation: Any, marks: Sequence[Any], value: Any, path: tuple[Part, ...]) -> Iterator[Mention]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    choices = [mark for mark in marks if isinstance(mark, Choice)]
    if hasattr(annotation, "__metadata__"):
        yield from _inside(arguments[0], annotation.__metadata__, value, path)
    elif choices:
        for chosen in choices:
            for one in _chosen(chosen, value):
                yield from _inside(one, (), value, path)
    elif isinstance(value, str):
        if any(isinstance(mark, NamesBody) for mark in marks):
            yield Mention(path, value)
        elif any(hasattr(argument, "__metadata__") or get_args(argument) for argument in arguments):
            for argument in arguments:
                yield from _inside(argument, (), value, path)
    elif is_declaration(annotation) and isinstance(value, Mapping):
        for name, field in annotation.model_fields.items():
            if name in value:
                yield from _field(field, value[name], (*path, name))
    elif origin in (dict, Mapping) and isinstance(value, Mapping):
        for name, inner in value.items():
            if any(isinstance(mark, NamesBody) for mark in getattr(arguments[0], "__metadata__", ())):
                yield Mention(path, name, is_key=True)
            yield from _inside(arguments[1], (), inner, (*path, name))
    elif origin in (tuple, list, Sequence) and isinstance(value, list | tuple):
        fixed = origin is tuple and Ellipsis not in arguments
        for k, inner in enumerate(value):
            if not fixed or k < len(arguments):
                for mention in _inside(arguments[k if fixed else 0], (), inner, (*path, k)):
                    yield mention._replace(of_many=not fixed) if mention.path == (*path, k) else mention
    elif origin is Union or type(annotation).__name__ == "UnionType":
        # Several members of a union may match a place; the place is listed once.
        found = [mention for argument in arguments for mention in _inside(argument, (), value, path)]
        yield from dict.fromkeys(found)


def _field(field: FieldInfo, value: Any, path: tuple[Part, ...]) -> Iterator[Mention]:
    yield from _inside(field.annotation, field.metadata, value, path)


def _chosen(choice: Choice, value: Any) -> list[Any]:
    """Return the declarations of a family that may describe a table."""
    if isinstance(choice, Family) and isinstance(value, Mapping):
        member = choice.members.get(str(value.get(choice.key)))
        return [] if member is None else [member]
    return list(choice)


def renamed(table: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    """Return a case in which a body has another name. The name is changed at every place: as a parent or an end, in
    forces, checks, conditions and observables, and in keys and values of variants and studies."""
    result: dict[str, Any] = deepcopy(dict(table))
    for mention in mentions(table):
        if mention.name == old:
            result = _put(result, mention, new)
    model = result.get("model")
    for body in model.get("bodies", ()) if isinstance(model, Mapping) else ():
        if isinstance(body, dict) and body.get("name") == old:
            body["name"] = new
    for section in ("sensitivities", "fit", "optimise", "checks"):
        if section in result:
            result[section] = _texts_renamed(result[section], "", old, new)
    variants = result.get("variants")
    for changes in variants.values() if isinstance(variants, Mapping) else ():
        if isinstance(changes, dict):
            items = [(_key_renamed(key, old, new), _override(table, key, changes[key], old, new)) for key in changes]
            changes.clear()
            changes.update(items)
    return result


def _put(value: Any, mention: Mention, new: str) -> Any:
    """Return a value of the case in which the name at the place of a mention is replaced; unchanged if the place does
    not exist."""
    here = {"": value}
    path: tuple[Part, ...] = ("", *mention.path)
    inside: Any = here
    for part in path if mention.is_key else path[:-1]:
        try:
            inside = inside[part]
        except (KeyError, IndexError, TypeError):
            return value
    if mention.is_key and isinstance(inside, dict):
        # This keeps the order of the keys.
        items = [(new if key == mention.name else key, item) for key, item in inside.items()]
        inside.clear()
        inside.update(items)
    elif not mention.is_key and isinstance(inside, dict | list):
        inside[path[-1]] = new  # type: ignore[index]
    return here[""]


def _override(table: Mapping[str, Any], key: str, value: Any, old: str, new: str) -> Any:
    """Return the value of an override in which a body is renamed. Names of bodies are found by the type of the
    override's key in the case."""
    try:
        whole, touched = changed(table, {key: value})
        path = parts(touched[0])
    except CaseError:
        return value
    for mention in mentions(whole):
        if mention.name == old and mention.path[: len(path)] == path:
            value = _put(value, mention._replace(path=mention.path[len(path) :]), new)
    return value


def _texts_renamed(value: Any, key: str, old: str, new: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _texts_renamed(inner, name, old, new) for name, inner in value.items()}
    if isinstance(value, list):
        return [_texts_renamed(inner, key, old, new) for inner in value]
    if isinstance(value, str) and key in OBSERVABLES:
        return re.sub(rf"(?<![^.]){re.escape(old)}(?![^.])", lambda _: new, value)
    if isinstance(value, str) and key in KEYS:
        return _key_renamed(value, old, new)
    return value


def _key_renamed(key: str, old: str, new: str) -> str:
    """Return a dotted key in which a body of the model, or of a table by bodies, is renamed."""
    try:
        path = parts(key)
    except CaseError:
        return key
    if path[:2] != ("model", "bodies") and path[0] not in ("forces", "bodies"):
        return key
    if old not in path[1:]:
        return key
    return dotted([new if part == old and place else part for place, part in enumerate(path)])
