"""Write tables as TOML 1.0. The standard library can read TOML, but not write it.

Floats are written by ``repr``, with the fewest digits that read back as the same number.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from articulon.errors import CaseError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100


def toml(table: Mapping[str, Any]) -> str:
    """Return the TOML text of a table of tables, lists, strings, numbers and booleans; keys with None are left out.

    Raises
    ------
    CaseError
        If TOML cannot represent a value; the message names its key.
    """
    return "\n".join(_lines(table, ())).lstrip("\n") + "\n"


def inline(value: Any) -> str:
    """Return a value as text on one line, in the form that ``--set`` takes."""
    return re.sub(r"\s*\n\s*", " ", _value(value, ()))


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    values = {key: value for key, value in table.items() if value is not None}
    below = {key: value for key, value in values.items() if _has_header(value)}
    for key, value in values.items():
        if key not in below:
            yield f"{_key(key)} = {_value(value, (*path, key))}"
    for key, value in below.items():
        here = (*path, key)
        name = ".".join(_key(part) for part in here)
        several = _is_tables(value)
        for part in value if several else (value,):
            if several or not part or not all(map(_has_header, part.values())):
                yield ""
                yield f"[[{name}]]" if several else f"[{name}]"
            yield from _lines(part, here)


def _has_header(value: Any) -> bool:
    return _is_table(value) or _is_tables(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0 and all(map(_is_table, value))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # TOML uses the escapes of JSON, but also requires an escape for the delete character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, path: tuple[str, ...]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        inner = (f"{_key(k)} = {_value(v, (*path, k))}" for k, v in value.items() if v is not None)
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, Sequence):
        items = [_value(item, path) for item in value]
        line = f"[{', '.join(items)}]"
        if len(line) <= _WIDTH:
            return line
        return "[\n" + "".join(f"    {item},\n" for item in items) + "]"
    raise CaseError(f"{'.'.join(path)}: {value!r} cannot be written to a case file")
