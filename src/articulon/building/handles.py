"""Handles of the bodies that have been added to a builder, and the lookup of bodies."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import closest, shown
from articulon.units import UnitSystem

IDENTITY = (1.0, 0.0, 0.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Body:
    """Handle of an added body: use it as a parent, as the carrier of a site or as an end of a loop."""

    index: int
    """Index among the model's bodies."""
    name: str
    """The body's name."""
    builder: Any
    """Builder to which the body belongs."""


class BodyRegister:
    """Names of the bodies that have been added."""

    units: UnitSystem
    _names: list[str]
    _index: dict[str, int]

    @property
    def body_count(self) -> int:
        """Number of bodies added."""
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
                hint = closest(body, self._names) or f"; add the {role} first"
                raise ModelError(f"{where}: there is no body '{body}' that could be its {role}{hint}")
            return self._index[body]
        if isinstance(body, (int, np.integer)) and not isinstance(body, bool) and 0 <= body < len(self._names):
            return int(body)
        raise ModelError(f"{where}: {role} {shown(body)} is not a body of this model")
