"""Advice for overrides whose key belongs to a scaling policy or integrator that the case does not use."""

from shlex import join
from typing import Any

from articulon.cases.overrides import choosing


def foreign(description: Any, key: str) -> bool:
    """Return whether a key of the scaling or integrator section is unknown to the policy or integrator of the case."""
    section, _, name = key.strip().partition(".")
    declared = getattr(description, section, None)
    return declared is not None and name not in getattr(type(declared), "model_fields", {name: None})


def how_to_vary(name: str, case: str, overrides: list[str], key: str, value: Any, vary: list[str]) -> str:
    """Return advice for a key of a policy or integrator that the case does not use: a command that first selects it.

    ``name`` is the name of the command that the user ran. The advice is empty if ``key`` is any other key.
    """
    found = choosing(key, value)
    if found is None:
        return ""
    words, chosen = found
    changes = [part for text in (*overrides, chosen) for part in ("--set", text)]
    command = join(["articulon", name, case, *changes, *(part for text in vary for part in ("--vary", text))])
    return f"\n{key} is a key of {', '.join(words)}; choose one of them first, for example\n  {command}"
