"""Default folder names of runs, made of the name of the case and the values that overrides change."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from articulon.cases.overrides import dotted, parts

WITHOUT_EFFECT = ("case", "fidelity", "checks", "variants", "compare", "sensitivities", "fit", "optimise", "versions")
"""Sections that do not change the results of a run, except for the units."""
RUN_WITHOUT_EFFECT = ("checkpoint_interval", "threads", "gsd")
"""Keys of ``run`` that do not change the results of a run."""
RUN_DEFAULTS = {"device": "cpu", "precision": "double", "atoms_every": 1, "engine": "articulon"}
"""Keys of ``run`` that were added later, with the values that older runs used implicitly."""
SEED = "run.seed"

WORD = 24
"""Number of characters of a value that are shown."""
LONGEST = 200
"""Largest length of a name in bytes; file systems allow 255 bytes, and suffixes need some of them."""


def folder_name(name: str, changes: Mapping[str, Any]) -> str:
    """Return the folder name of a run; equal cases and changes give equal names.

    A changed seed is shown as its number. Any other change is shown by its last key and its value if these are short
    and valid in a file name. Eight digits of the digest of the changes distinguish names that would otherwise be the
    same. Changes that do not affect the results of the run are left out.

    Parameters
    ----------
    name
        Name of the case.
    changes
        Overrides by dotted key.

    Examples
    --------
    >>> folder_name("docking", {})
    'docking'
    >>> folder_name("docking", {"run.seed": 7, "run.threads": 2})
    'docking-seed-7'
    """
    telling = {dotted(parts(key)): value for key, value in changes.items() if _tells(key)}
    words = [name, *(_words(key, telling[key]) for key in sorted(telling, key=lambda key: (key == SEED, key)))]
    if telling.keys() - {SEED} or not isinstance(telling.get(SEED, 0), int):
        words.append(_digits(json.dumps(telling, sort_keys=True, default=str)))
    text = "-".join(words)
    if len(text.encode()) > LONGEST:
        text = text.encode()[: LONGEST - 9].decode(errors="ignore") + "-" + _digits(text)
    return text


def _tells(key: str) -> bool:
    """Return whether a change can affect the results of the run."""
    section, *rest = parts(key)
    if section == "case":
        return rest[:1] in ([], ["units"])
    if section == "run" and rest:
        return rest[0] not in RUN_WITHOUT_EFFECT
    return section not in WITHOUT_EFFECT


def _words(key: str, value: Any) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, default=str)
    return "-".join(_fit(str(text))[:WORD] for text in (parts(key)[-1], shown))


def _fit(text: str) -> str:
    """Reduce a text to characters that are valid in file names everywhere and need no quotes in a shell."""
    return re.sub(r"[^A-Za-z0-9.+]+", "_", text).strip("_")


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
