"""What a builder hands out for the bodies that have been added, and how it finds them again."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.units import UnitSystem

IDENTITY = (1.0, 0.0, 0.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Body:
    """A body that has been added: pass it on as a parent, the carrier of a site or an end of a loop."""

    index: int
    """Place among the model's bodies."""
    name: str
    """The body's name."""
    builder: Any
    """The builder that it belongs to."""


class BodyRegister:
    """The names of the bodies that have been added."""

    units: UnitSystem
    _names: list[str]
    _index: dict[str, int]

    @property
    def body_count(self) -> int:
        """How many bodies have been added."""
        return len(self._names)

    def _resolve(self, body: Body | str | int | None, where: str, role: str) -> int:
        if body is None:
            return -1
        if isinstance(body, Body):
            if body.builder is not self:
                raise ModelError(f"{where}: {role} '{body.name}' belongs to another builder")
            return body.index
        if isinstance(body, str):
            if body not in self._index:
                raise ModelError(f"{where}: there is no body '{body}' to be its {role}; add the {role} first")
            return self._index[body]
        if isinstance(body, (int, np.integer)) and not isinstance(body, bool) and 0 <= body < len(self._names):
            return int(body)
        raise ModelError(f"{where}: {role} {shown(body)} is no body of this model")
