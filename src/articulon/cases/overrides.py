"""Changes of a case by dotted keys, as in ``--set``, ``load_case(overrides)`` and variants.

A key is a path: ``run.duration``, ``forces[0].viscosity``. An element of a list of tables may also be addressed by
its ``kind`` or ``name`` if this is unique: ``forces.stokes-drag.viscosity``, ``model.bodies.core.mass``. Names that
contain dots are quoted as in TOML.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import PurePath
from typing import Any, TypeAlias

import numpy as np

from articulon.declaration import Declaration, nearest
from articulon.errors import CaseError
from articulon.inputs import DEEPEST, shown, too_deep
from articulon.integrate import INTEGRATORS
from articulon.scaling import POLICIES

Part: TypeAlias = str | int

DISCRIMINATORS: dict[tuple[Part, ...], str] = {
    ("scaling",): "policy",
    ("integrator",): "rule",
    ("model",): "builder",
    ("thermostat",): "kind",
    ("barostat",): "kind",
}
"""Key of a section that determines which other keys it has; for an element of ``forces`` it is ``kind``."""

ALTERNATIVES: dict[tuple[Part, ...], str] = {
    ("model", "structure"): "sequence",
    ("model", "sequence"): "structure",
    ("run", "frames"): "frame_interval",
    ("run", "frame_interval"): "frames",
    ("thermostat", "mass"): "period",
    ("thermostat", "period"): "mass",
}
"""Pairs of keys of which only one may be given; an override of the first removes the second."""


def forms_of(section: str) -> list[type[Declaration]]:
    """Return the declarations that a section may have, the simplest first, if its keys depend on a policy or
    integrator."""
    if section == "scaling":
        return sorted(POLICIES, key=lambda policy: len(POLICIES.values(policy)[0]))
    return list(INTEGRATORS) if section == "integrator" else []


EXAMPLES = {"a2": 0.2, "b2": 0.5, "step": "8 ps", "time_scale": "1 ns"}
"""Example values of required keys, for a command that shows how to choose a policy or integrator."""

_LABELS = ("kind", "name")
_BARE = re.compile(r"""[^.\[\]"=\s]+""")
_PART = re.compile(r"""\s*(?:\[(?P<index>-?\d+)\]|\.?\s*(?:"(?P<quoted>[^"]*)"|(?P<bare>[^.\[\]"=\s]+)))\s*""")


def parts(key: str) -> tuple[Part, ...]:
    """Return the parts of a dotted key; raises CaseError for an invalid key.

    >>> parts('forces[0].flow[2]')
    ('forces', 0, 'flow', 2)
    """
    found: list[Part] = []
    at = 0
    while at < len(key):
        match = _PART.match(key, at)
        if match is None or match.end() == at or (at == 0 and key.lstrip()[:1] in (".", "[")):
            found = []
            break
        if match["index"] is not None:
            found.append(int(match["index"]))
        else:
            found.append(match["quoted"] if match["quoted"] is not None else match["bare"])
        at = match.end()
    if not found or not all(part != "" for part in found):
        raise CaseError(f"cannot read the key {shown(key)}; write it as in run.duration or forces[0].viscosity")
    return tuple(found)


def dotted(path: Sequence[Part]) -> str:
    """Return the dotted key with the given parts."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        name = part if _BARE.fullmatch(part) else f'"{part}"'
        text += f".{name}" if text else name
    return text


def value_at(table: Mapping[str, Any], key: str) -> Any:
    """Return the value at a dotted key of a table. List elements are given by number, kind or name. Raises CaseError if
    there is no value."""
    here: Any = table
    walked: tuple[Part, ...] = ()
    for part in parts(key):
        if isinstance(here, list):
            part = _element(here, part, walked, key)
        elif not isinstance(here, Mapping) or part not in here:
            raise CaseError(f"{key}: there is no {dotted((*walked, part))} in the case")
        here, walked = here[part], (*walked, part)
    return here


def label_of(items: Sequence[Any], place: int) -> Part:
    """Return the label of a list element in keys: its name or kind if unique, otherwise its number."""
    element = items[place]
    for label in reversed(_LABELS):
        name = element.get(label) if isinstance(element, Mapping) else None
        others = (item.get(other) for item in items if isinstance(item, Mapping) for other in _LABELS)
        if isinstance(name, str) and sum(name == other for other in others) == 1:
            return name
    return place


def assignment(text: str) -> tuple[str, Any]:
    """Return the key and the value of ``key=value``. A value that is not TOML is a string. Raises CaseError without
    ``=``."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise CaseError(f"cannot read {shown(text)}; write key=value, for example run.duration='0.1 us'")
    parts(key)
    return key.strip(), value_of(value)


def value_of(text: str) -> Any:
    """Return the value of a text read as TOML, or the text itself if it is not TOML.

    >>> value_of("0.05"), value_of("8 us"), value_of("[1, 2]")
    (0.05, '8 us', [1, 2])
    """
    text = text.strip()
    try:
        value = parsed(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    except ValueError as error:
        raise CaseError(f"cannot read the value {shown(text)}: {error}") from None
    # A date, or a second line with another key, is not a valid value.
    known = isinstance(value["value"], bool | int | float | str | list | dict)
    return value["value"] if known and len(value) == 1 else text


def parsed(text: str) -> dict[str, Any]:
    """Return the table of a TOML text; raises ValueError if the text is invalid or too deeply nested."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"lists and tables are nested more than {DEEPEST} deep") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python rejects integers with more than 4300 digits
        raise ValueError("a whole number has thousands of digits") from None


def values_of(text: str) -> list[Any]:
    """Values of a comma-separated list: ``0.1 us, 0.2 us`` or ``[0, 1], [1, 0]``."""
    try:
        return list(parsed(f"values = [{text}]")["values"])
    except tomllib.TOMLDecodeError:
        return [value_of(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise CaseError(f"cannot read the values {shown(text)}: {error}") from None


def checked_overrides(overrides: Any) -> dict[str, Any]:
    """Return overrides with arrays converted to lists; raises CaseError if they are not a table of keys and values of a
    case."""
    if not isinstance(overrides, Mapping):
        raise CaseError(f"overrides: expected a table of keys and values, got {shown(overrides)}")
    for key in overrides:
        if not isinstance(key, str):
            raise CaseError(f"overrides: expected keys such as 'run.duration', got {shown(key)}")
    if too_deep(list(overrides.values())):
        raise CaseError(f"overrides: tables and lists are nested more than {DEEPEST} deep")
    return {key: _plain(value, key) for key, value in overrides.items()}


def checked_values(vary: Any) -> dict[str, list[Any]]:
    """Lists of values by key; raises CaseError for anything else."""
    found = checked_overrides(vary)
    for key, values in found.items():
        if not isinstance(values, list) or not values:
            raise CaseError(f"vary: {key}: expected a list of values, got {shown(values)}")
    return found


def _plain(value: Any, key: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(item, key) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, key) for item in value]
    if isinstance(value, PurePath):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise CaseError(f"overrides: {key}: expected what a case file can hold, got {shown(value)}")


def changed(table: Mapping[str, Any], overrides: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the table of a case with overrides applied, and the keys that were set; the arguments are not changed.

    A table given as a value is merged into the existing table. An override that changes the policy, rule, builder or
    kind of a section, which determines its keys, replaces the section instead. None removes a key, which restores its
    default. None or False removes an element of a list of tables. A table for a kind of force that the case does not
    have adds that force.

    Raises
    ------
    CaseError
        If a key does not exist; the message names it.
    """
    result, touched = deepcopy(dict(table)), []
    # Keys that select a policy, rule, builder or kind come first; the other keys may then be given in any order.
    words = (*DISCRIMINATORS.values(), "kind")
    deciding = [key for key, value in overrides.items() if isinstance(value, Mapping) or parts(key)[-1] in words]
    for key in [*deciding, *(key for key in overrides if key not in deciding)]:
        touched.append(dotted(_assign(result, parts(key), deepcopy(overrides[key]), key)))
    return result, touched


def choosing(key: str, value: Any) -> tuple[list[str], str] | None:
    """Return the policies or integrators that have a key, and an override that selects the first of them and sets the
    key.

    Messages use the result. It is None for a key of another section, and for a key that no policy or integrator has.

    >>> choosing("scaling.b2", 0.5)
    (['two-factor', 'atomistic-two-factor'], 'scaling={policy="two-factor",a2=0.2,b2=0.5}')
    """
    section, *rest = parts(key)
    if len(rest) != 1 or (section,) not in DISCRIMINATORS:
        return None
    decides, name = DISCRIMINATORS[(section,)], str(rest[0])
    forms = [form for form in forms_of(str(section)) if name in form.model_fields and name != decides]
    if not forms:
        return None
    words = [str(form.model_fields[decides].default) for form in forms]
    needed = [other for other, field in forms[0].model_fields.items() if field.is_required() and other != name]
    given = {decides: words[0], **{other: EXAMPLES[other] for other in needed}, name: value}
    inside = ",".join(f"{other}={json.dumps(item)}" for other, item in given.items())
    return words, f"{section}={{{inside}}}"


def _assign(root: dict[str, Any], path: tuple[Part, ...], value: Any, key: str) -> tuple[Part, ...]:
    """Set a value and return its path, with elements by number."""
    here: Any = root
    walked: tuple[Part, ...] = ()
    for part in path[:-1]:
        if isinstance(here, list):
            part = _element(here, part, walked, key)
        elif isinstance(part, int):
            raise _no_list(here, walked, key)
        elif part not in here:
            here[part] = {}
        here, walked = here[part], (*walked, part)
        if not isinstance(here, dict | list):
            raise CaseError(f"{key}: {dotted(walked)} is {shown(here)} and has no keys")
    last = path[-1]
    if isinstance(here, list) and not (walked == ("forces",) and isinstance(value, Mapping)):
        last = _element(here, last, walked, key)
    _put(here, last, value, walked, key)
    return *walked, _element(here, last, walked, key) if isinstance(here, list) and value else last


def _put(here: dict[str, Any] | list[Any], part: Part, value: Any, walked: tuple[Part, ...], key: str) -> None:
    if isinstance(here, list):
        if walked == ("forces",) and isinstance(value, Mapping) and not _labelled(here, part):
            here.append({"kind": part, **value})
            return
        place = _element(here, part, walked, key)
        if value is None or (value is False and isinstance(here[place], Mapping)):
            del here[place]
        elif isinstance(value, Mapping) and isinstance(here[place], dict):
            here[place] = _merged(here[place], value, (*walked, place), key)
        else:
            here[place] = value
        return
    if isinstance(part, int):
        raise _no_list(here, walked, key)
    path = (*walked, part)
    if value is None or (value is False and isinstance(here.get(part), Mapping)):
        here.pop(part, None)
        return
    if path in ALTERNATIVES:
        here.pop(ALTERNATIVES[path], None)
    decides = _discriminator(walked)
    if part == decides and part in here and here[part] != value:
        here.clear()
    inside = here.get(part)
    if isinstance(value, Mapping) and isinstance(inside, dict):
        here[part] = _merged(inside, value, path, key)
    elif isinstance(value, Mapping) and isinstance(inside, list) and inside and isinstance(inside[0], Mapping):
        for name, item in value.items():
            _put(inside, name, item, path, f"{key}.{name}")
    else:
        here[part] = value


def _merged(table: dict[str, Any], changes: Mapping[str, Any], path: tuple[Part, ...], key: str) -> dict[str, Any]:
    decides = _discriminator(path)
    if decides is not None and decides in changes and changes[decides] != table.get(decides):
        return dict(changes)
    result = dict(table)
    for name, value in changes.items():
        _put(result, name, value, path, f"{key}.{name}")
    return result


def _no_list(table: dict[str, Any], walked: tuple[Part, ...], key: str) -> CaseError:
    return CaseError(f"{key}: {dotted(walked)} is a table, not a list; name one of its keys: {', '.join(table)}")


def _discriminator(path: tuple[Part, ...]) -> str | None:
    if len(path) == 2 and path[0] in ("forces", "checks"):
        return "kind"
    return DISCRIMINATORS.get(path)


def _labelled(items: list[Any], part: Part) -> bool:
    """Return whether ``part`` refers to an existing element, by its number, kind or name."""
    if isinstance(part, int):
        return True
    return any(part in (item.get(label) for label in _LABELS) for item in items if isinstance(item, Mapping))


def _element(items: list[Any], part: Part, walked: tuple[Part, ...], key: str) -> int:
    """Index of an element given by number, kind or name."""
    if isinstance(part, int):
        if -len(items) <= part < len(items):
            return part % len(items)
        raise CaseError(f"{key}: there is no {dotted((*walked, part))}; {dotted(walked)} has {len(items)} elements")
    labels = [
        [item[label] for label in _LABELS if label in item] if isinstance(item, Mapping) else [] for item in items
    ]
    found = [k for k, names in enumerate(labels) if part in names]
    if len(found) == 1:
        return found[0]
    if found:
        choices = " or ".join(dotted((*walked, k)) for k in found)
        raise CaseError(f"{key}: {len(found)} of {dotted(walked)} are '{part}'; use {choices}")
    known = list(dict.fromkeys(str(name) for names in labels for name in names))
    number = f"; by its number it is {dotted((*walked, int(part)))}" if str(part).isdigit() else ""
    raise CaseError(f"{key}: none of {dotted(walked)} is '{part}'{number or nearest(part, known)}")
