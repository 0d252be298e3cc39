"""Quantities of the functions that make modes, which come before any model and so name their own units."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.inputs import floats, shown
from articulon.model import body_checks
from articulon.units import unit_system


class Reader:
    """Reads arguments in one system of units.

    Parameters
    ----------
    function
        Whose arguments they are, for messages.
    units
        Name of the system; None where plain numbers are in those of a model that is not known yet.
    """

    def __init__(self, function: str, units: str | None) -> None:
        self.function = function
        self.units = units
        try:
            # Plain numbers are returned as they are, so any system will do for them.
            self._system = unit_system("lj" if units is None else units)
        except CaseError as error:
            raise ModelError(f"{function}, units: {error}") from None

    def array(self, value: Any, shape: tuple[int, ...], dimension: str, what: str) -> np.ndarray:
        """Floats in the system of units; raises ModelError."""
        where = f"{self.function}, {what}"
        if self.units is None and _has_text(value):
            raise ModelError(
                f"{where}: {shown(value)} has a unit; say by units='fg-um-us', or another system, what the modes are "
                "to be in, or give plain numbers in the units of the model"
            )
        return body_checks.array(value, shape, dimension, self._system, where)

    def positive(self, value: Any, dimension: str, what: str) -> float:
        """A positive float; raises ModelError."""
        number = float(self.array(value, (), dimension, what))
        if not number > 0.0:
            raise self.error(f"{what}: must be positive, got {shown(value)}")
        return number

    def count(self, value: Any, least: int, what: str, most: int | None = None) -> int:
        """A whole number; raises ModelError below the least and beyond the most."""
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise self.error(f"{what}: expected a whole number of at least {least}, got {shown(value)}")
        if most is not None and value > most:
            raise self.error(f"{what}: expected a whole number of at most {most}, got {shown(value)}")
        return int(value)

    def ratio(self, value: Any, what: str) -> float:
        """A plain number that is not negative; raises ModelError."""
        ratio = float(self.array(value, (), "dimensionless", what))
        if ratio < 0.0:
            raise self.error(f"{what}: must not be negative, got {shown(value)}")
        return ratio

    def word(self, value: Any, known: Sequence[str], what: str) -> str:
        """One of some words; raises ModelError."""
        if not isinstance(value, str) or value not in known:
            listed = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
            raise self.error(f"{what}: expected {listed}, got {shown(value)}")
        return value

    def shape(self, value: Any, what: str) -> tuple[int, ...]:
        """How numbers, or quantities with units, are arranged; raises ModelError."""
        try:
            return floats(value, lambda text: 0.0).shape
        except ValueError as reason:
            raise self.error(f"{what}: {reason}") from None

    def error(self, message: str) -> ModelError:
        """A fault of the function's arguments."""
        return ModelError(f"{self.function}: {message}")


def _has_text(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_text(part) for part in value)
    return isinstance(value, str) or (isinstance(value, np.ndarray) and value.dtype.kind in "US")
