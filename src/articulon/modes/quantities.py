"""Reader of quantities for functions that make modes. No model exists yet, so these functions have a ``units``
argument."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.inputs import floats, shown
from articulon.model import body_checks
from articulon.units import unit_system


class Reader:
    """Reads arguments in one unit system.

    Parameters
    ----------
    function
        Name of the function, for messages.
    units
        Name of the system; None if plain numbers are in the units of a model that is not known yet.
    """

    def __init__(self, function: str, units: str | None) -> None:
        self.function = function
        self.units = units
        try:
            # Without a named system, plain numbers are returned unchanged, so the choice of the system has no effect
            # on them.
            self._system = unit_system("lj" if units is None else units)
        except CaseError as error:
            raise ModelError(f"{function}, units: {error}") from None

    def array(self, value: Any, shape: tuple[int, ...], dimension: str, what: str) -> np.ndarray:
        """Return floats in the unit system; raise ModelError for invalid values."""
        where = f"{self.function}, {what}"
        if self.units is None and _has_text(value):
            raise ModelError(
                f"{where}: {shown(value)} has a unit; give units='fg-um-us', or another system, for the modes, or use "
                "plain numbers in the units of the model"
            )
        return body_checks.array(value, shape, dimension, self._system, where)

    def positive(self, value: Any, dimension: str, what: str) -> float:
        """Return a positive float; raise ModelError for any other value."""
        number = float(self.array(value, (), dimension, what))
        if not number > 0.0:
            raise self.error(f"{what}: must be positive, got {shown(value)}")
        return number

    def count(self, value: Any, least: int, what: str, most: int | None = None) -> int:
        """Return a whole number; raise ModelError for any other value, or for a number outside the range."""
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise self.error(f"{what}: expected a whole number of at least {least}, got {shown(value)}")
        if most is not None and value > most:
            raise self.error(f"{what}: expected a whole number of at most {most}, got {shown(value)}")
        return int(value)

    def ratio(self, value: Any, what: str) -> float:
        """Return a plain number that is not negative; raise ModelError for any other value."""
        ratio = float(self.array(value, (), "dimensionless", what))
        if ratio < 0.0:
            raise self.error(f"{what}: must not be negative, got {shown(value)}")
        return ratio

    def word(self, value: Any, known: Sequence[str], what: str) -> str:
        """Return one of the known words; raise ModelError for any other value."""
        if not isinstance(value, str) or value not in known:
            listed = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
            raise self.error(f"{what}: expected {listed}, got {shown(value)}")
        return value

    def shape(self, value: Any, what: str) -> tuple[int, ...]:
        """Return the shape of an array of numbers, or of quantities with units; raise ModelError if it is no such
        array."""
        try:
            return floats(value, lambda text: 0.0).shape
        except ValueError as reason:
            raise self.error(f"{what}: {reason}") from None

    def error(self, message: str) -> ModelError:
        """Return an error about the function's arguments."""
        return ModelError(f"{self.function}: {message}")


def _has_text(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_text(part) for part in value)
    return isinstance(value, str) or (isinstance(value, np.ndarray) and value.dtype.kind in "US")
