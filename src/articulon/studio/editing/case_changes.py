"""Changes to the tables of a case: bodies, joints, lists of tables, and sections. They are functions of plain
tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from articulon.adaptive.conditions import CONDITIONS
from articulon.cases.builders import BUILDERS
from articulon.cases.builders.explicit_joints import GROUND
from articulon.cases.builders.written_model import ExplicitBody
from articulon.cases.overrides import DISCRIMINATORS, Part, dotted, label_of, parts
from articulon.declaration import Declaration, nearest
from articulon.errors import CaseError
from articulon.forces import FORCES
from articulon.studio.editing.body_mentions import Mention, mentions, renamed

LISTS: tuple[tuple[Part, ...], ...] = (
    ("forces",),
    ("checks",),
    ("model", "bodies"),
    ("model", "sites"),
    ("model", "loops"),
    ("model", "drives"),
    ("adaptive", "groups"),
)
"""Lists of tables whose elements are deleted together with a body that they need."""

Table = dict[str, Any]


def value_or_none(table: Mapping[str, Any], path: Sequence[Part]) -> Any:
    """Return the value at a path, or None if there is no value."""
    here: Any = table
    for part in path:
        if isinstance(part, int):
            if not isinstance(here, list) or not 0 <= part < len(here):
                return None
        elif not isinstance(here, Mapping) or part not in here:
            return None
        here = here[part]
    return here


def with_value(table: Mapping[str, Any], path: Sequence[Part], value: Any) -> Table:
    """Return a case with a value at a path; missing tables on the path are created. The value None removes the key, and
    also tables that become empty by this; elements of lists stay.

    Raises
    ------
    CaseError
        For a path that leads through a value that is not a table.
    """
    result = deepcopy(dict(table))
    here: Any = result
    way: list[Any] = [result]
    for place, part in enumerate(path[:-1]):
        if isinstance(here, dict) and part not in here:
            if value is None:
                return result
            here[part] = {}
        if value_or_none({"": here}, ("", part)) is None or not isinstance(here[part], dict | list):
            raise CaseError(f"{dotted(path)}: {dotted(path[: place + 1])} is no table in this case")
        here = here[part]
        way.append(here)
    last: Any = path[-1]
    if isinstance(here, list) and not (isinstance(last, int) and 0 <= last < len(here)):
        raise CaseError(f"{dotted(path)}: there is no such element; {dotted(path[:-1])} has {len(here)}")
    if value is not None:
        here[last] = deepcopy(value)
        return result
    if isinstance(here, list) or last in here:
        del here[last]
    for depth in range(len(way) - 1, 0, -1):
        if way[depth] or isinstance(path[depth - 1], int):
            break
        del way[depth - 1][path[depth - 1]]
    return result


def with_element(table: Mapping[str, Any], path: Sequence[Part], element: Mapping[str, Any]) -> tuple[Table, int]:
    """Return a case with one more table in a list of tables, and the index of the new table."""
    there = value_or_none(table, path) or []
    there = [there] if isinstance(there, Mapping) else there
    return with_value(table, path, [*there, dict(element)]), len(there)


def with_form(table: Mapping[str, Any], path: Sequence[Part], word: str, form: type[Declaration]) -> Table:
    """Return a case in which a section, or a force, is of another kind. Keys that the new kind also has are kept.

    Parameters
    ----------
    table, path
        The case, and the path of the section.
    word
        Word that selects the new kind, such as ``"rk4"``.
    form
        Declaration of the new kind.

    Raises
    ------
    CaseError
        For a section that has only one kind.
    """
    key, there = chooser(path), value_or_none(table, path)
    if key is None:
        raise CaseError(f"{dotted(path)}: has only one kind, so there is no choice")
    values = there if isinstance(there, Mapping) else {}
    kept = {name: value for name, value in values.items() if name in form.model_fields and name != key}
    try:
        form.model_validate({key: word, **kept})
    except ValidationError as error:
        faulty = {fault["loc"][0] for fault in error.errors() if fault["loc"]}
        kept = {name: value for name, value in kept.items() if name not in faulty}
    return with_value(table, path, {key: word, **kept})


def chooser(path: Sequence[Part]) -> str | None:
    """Return the key that selects the kind of the table at a path, and with it the table's other keys. None if there is
    no such key."""
    if len(path) == 2 and path[0] in ("forces", "checks"):
        return "kind"
    if len(path) == 4 and tuple(path[:2]) == ("adaptive", "groups") and path[3] in ("lock", "release"):
        return CONDITIONS.key
    return DISCRIMINATORS.get(tuple(path))


def bodies_of(table: Mapping[str, Any]) -> list[Table]:
    """Return the bodies that a case lists in its file."""
    found = value_or_none(table, ("model", "bodies"))
    return [body for body in found if isinstance(body, dict)] if isinstance(found, list) else []


def body_names(table: Mapping[str, Any]) -> list[str]:
    """Return the names of the bodies that a case lists, in the order of the file."""
    return [str(body["name"]) for body in bodies_of(table) if "name" in body]


def body_number(table: Mapping[str, Any], name: str) -> int:
    """Return the index of a body in the file. If it does not exist, raises CaseError with the nearest name."""
    for k, body in enumerate(bodies_of(table)):
        if body.get("name") == name:
            return k
    check_written_out(table)
    raise CaseError(f"there is no body '{name}'{nearest(name, body_names(table))}")


def check_written_out(table: Mapping[str, Any]) -> None:
    """Raise CaseError if a builder makes the bodies and the case does not list them."""
    builder = str(value_or_none(table, ("model", "builder")) or "explicit")
    member = BUILDERS.members.get(builder)
    if builder != "explicit" and (member is None or "bodies" not in member.model_fields):
        raise CaseError(
            f"model.builder: the bodies are made by the builder '{builder}', from its own keys; change those, or begin "
            "a mechanism of bodies that are written out"
        )


def check_new_name(table: Mapping[str, Any], name: str) -> str:
    """Return the name without surrounding blanks; raises CaseError for a name that is not valid for a body."""
    name = name.strip()
    if not name:
        raise CaseError("model.bodies: a body needs a name")
    if name == GROUND:
        raise CaseError(f"model.bodies: '{GROUND}' is what bodies without a parent are joined to; choose another name")
    if name in body_names(table):
        raise CaseError(f"model.bodies: there is a body '{name}' already; choose another name")
    return name


def free_name(taken: Sequence[str], stem: str = "body") -> str:
    """Return a name that is not taken: the stem and a number."""
    number = 1
    while f"{stem} {number}" in taken:
        number += 1
    return f"{stem} {number}"


def with_body(table: Mapping[str, Any], name: str, fields: Mapping[str, Any]) -> Table:
    """Return a case with one more body; raises CaseError for a name that is taken and for a parent that does not
    exist."""
    check_written_out(table)
    name = check_new_name(table, name)
    _check_parent(table, fields.get("parent", GROUND))
    element = {"name": name, **fields}
    unknown = [key for key in element if key not in ExplicitBody.model_fields]
    if unknown:
        raise CaseError(f"model.bodies: unknown key '{unknown[0]}'{nearest(unknown[0], [*ExplicitBody.model_fields])}")
    return with_element(table, ("model", "bodies"), element)[0]


def with_joint(table: Mapping[str, Any], name: str, fields: Mapping[str, Any]) -> Table:
    """Return a case in which a body is joined to its parent in another way. If the kind of joint changes, keys of the
    old joint are removed: its axis, and initial coordinates and speeds, which have another meaning.

    Raises
    ------
    CaseError
        For a parent that does not exist, or that is a descendant of the body itself.
    """
    number = body_number(table, name)
    body = bodies_of(table)[number]
    parent = fields.get("parent", body.get("parent", GROUND))
    _check_parent(table, parent)
    if parent != GROUND and parent in subtree(table, name):
        raise CaseError(
            f"model.bodies[{number}].parent: '{parent}' hangs on '{name}', which would hang on itself; join '{name}' "
            "to a body outside of its own branch, and close rings by loops"
        )
    changed = {**body, **fields}
    if "joint" in fields and fields["joint"] != body.get("joint"):
        for key in ("axis", "q", "u"):
            if key not in fields:
                changed.pop(key, None)
    changed = {key: value for key, value in changed.items() if value is not None}
    return with_value(table, ("model", "bodies", number), changed)


def _check_parent(table: Mapping[str, Any], parent: Any) -> None:
    if parent != GROUND and parent not in body_names(table):
        raise CaseError(
            f"model.bodies: there is no body '{parent}' to join to{nearest(str(parent), [*body_names(table), GROUND])}"
        )


def with_name(table: Mapping[str, Any], old: str, new: str) -> Table:
    """Return a case in which a body has another name, at every place that names the body."""
    body_number(table, old)
    return dict(table) if new.strip() == old else renamed(table, old, check_new_name(table, new))


def subtree(table: Mapping[str, Any], name: str) -> list[str]:
    """Return a body and all its descendants."""
    found = [name]
    for one in found:
        found += [
            str(body["name"])
            for body in bodies_of(table)
            if body.get("parent") == one and "name" in body and body["name"] not in found
        ]
    return found


def without_body(table: Mapping[str, Any], name: str) -> tuple[Table, list[str]]:
    """Return a case without a body, its descendants, and all elements that need one of these bodies. Return also a list
    of all that is deleted with the body, one line each, which the user is asked to confirm.

    Raises
    ------
    CaseError
        If sites would be deleted while forces refer to sites by number.
    """
    body_number(table, name)
    gone = subtree(table, name)
    words = [f"body '{one}', which hangs on it" for one in gone[1:]]
    removed: set[tuple[Part, ...]] = {("model", "bodies", body_number(table, one)) for one in gone}
    for mention in (one for one in mentions(table) if one.name in gone):
        place = _deleted_with(table, mention)
        if place not in removed:
            removed.add(place)
            words.append(f"{_called(table, place)}, which names '{mention.name}'")
    _check_site_numbers(table, removed)
    result: Table = deepcopy(dict(table))
    # Deeper elements are removed first, and each list from its end, so that the indices of the other elements stay
    # valid.
    for place in sorted(removed, key=lambda path: (len(path), [part for part in path if isinstance(part, int)]))[::-1]:
        if value_or_none(result, place) is not None:
            result = with_value(result, place, None)
    return result, words


def _deleted_with(table: Mapping[str, Any], mention: Mention) -> tuple[Part, ...]:
    """Return the path of the element that is deleted together with a mentioned body. This is the entry, if it is in a
    table or list of several bodies; otherwise the force, check, loop or site, or the key."""
    path = mention.path
    here = value_or_none(table, path if mention.is_key else path[:-1])
    if mention.is_key and len(here) > 1:
        return (*path, mention.name)
    if mention.of_many and len(here) > 1:
        return path
    for listed in LISTS:
        if path[: len(listed)] == listed:
            return path[: len(listed) + 1]
    return ("run", "stop") if path[:2] == ("run", "stop") else path


def _called(table: Mapping[str, Any], path: tuple[Part, ...]) -> str:
    """Return the name of an element of a list for messages: its key, and its kind or name."""
    listed = value_or_none(table, path[:-1])
    label = label_of(listed, path[-1]) if isinstance(listed, list) and isinstance(path[-1], int) else path[-1]
    return dotted(path) if label == path[-1] else f"{dotted(path)} ({label})"


def _check_site_numbers(table: Mapping[str, Any], removed: set[tuple[Part, ...]]) -> None:
    if not any(path[:2] == ("model", "sites") for path in removed):
        return
    users = [f"forces[{k}]" for k, force in enumerate(table.get("forces", ())) if _counts_sites(force)]
    if value_or_none(table, ("model", "atoms")) is not None:
        users.append("model.atoms")
    if users:
        raise CaseError(
            f"{users[0]}: refers to sites by number, and the numbers change if a body is deleted that carries some; "
            f"remove {' and '.join(users)} first"
        )


def _counts_sites(force: Any) -> bool:
    """Whether a force refers to sites by their numbers: in a list of whole numbers, or in a list of such lists."""
    member = FORCES.members.get(str(force.get("kind"))) if isinstance(force, Mapping) else None
    if member is None or not (hasattr(member, "site_terms") or "sites" in member.model_fields):
        return False
    lists = [value for value in force.values() if isinstance(value, list)]
    return any(
        isinstance(item, int) or (isinstance(item, list) and any(isinstance(one, int) for one in item))
        for value in lists
        for item in value
    )


def path_of(key: str | Sequence[Part]) -> tuple[Part, ...]:
    """Return the path of a dotted key; raises CaseError if it cannot be read."""
    return parts(key) if isinstance(key, str) else tuple(key)
