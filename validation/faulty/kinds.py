"""What every kind of faulty input says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Faulty:
    """One input."""

    what: str
    """How it was made."""
    files: dict[str, bytes] = field(default_factory=dict)
    """What its folder holds."""
    value: Any = None
    """What is no file: overrides, or the arguments of a call."""


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    name: str
    """One word, for the table and for ``--only``."""
    share: int
    """Of all inputs, in hundredths."""
    make: Callable[[np.random.Generator], Faulty]
    """An input, the same for the same generator."""
    read: Callable[[Faulty, Path], None]
    """Does with an input what a user would do, its files being in a folder; raises what that raises."""
    named: str | None = None
    """The file whose name each line of a refusal must begin with; None where that is not a rule."""
    warm: Callable[[], None] | None = None
    """Does once in each process what must not count as part of an input: loads what takes long to load."""
