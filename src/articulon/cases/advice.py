"""What to do where a key belongs to another policy or rule than a case has."""

from shlex import join
from typing import Any

from articulon.cases.overrides import choosing


def foreign(description: Any, key: str) -> bool:
    """Whether the policy or rule that a case has chosen does not know a key of its section."""
    section, _, name = key.strip().partition(".")
    declared = getattr(description, section, None)
    return declared is not None and name not in getattr(type(declared), "model_fields", {name: None})


def how_to_vary(name: str, case: str, overrides: list[str], key: str, value: Any, vary: list[str]) -> str:
    """What to do where a key belongs to another policy or rule than the case has, by the command of a name; nothing for
    any other key."""
    found = choosing(key, value)
    if found is None:
        return ""
    words, chosen = found
    changes = [part for text in (*overrides, chosen) for part in ("--set", text)]
    command = join(["articulon", name, case, *changes, *(part for text in vary for part in ("--vary", text))])
    return f"\n{key} is a key of {', '.join(words)}; choose one of them first, for example\n  {command}"
