"""Readable numbers: lengths and times in a unit of suitable size, with no more digits than are significant."""

from __future__ import annotations

import math
from typing import NamedTuple

from articulon.units import UnitSystem

_PREFIXES = {1.0: "", 1e-3: "m", 1e-6: "µ", 1e-9: "n", 1e-12: "p", 1e-15: "f"}
_SYMBOLS = {"length": "m", "time": "s"}


class Scale(NamedTuple):
    """A unit, and the factor that converts to it."""

    factor: float
    """Factor that converts from the units of the case."""
    symbol: str
    """Symbol of the unit; empty in reduced units."""

    def axis(self, what: str) -> str:
        """Return the label of an axis: ``"time (µs)"``."""
        return f"{what} ({self.symbol})" if self.symbol else what

    def text(self, value: float | None, digits: int = 4) -> str:
        """Return a value of the case with its unit: ``"4.52 µs"``."""
        return with_unit(None if value is None else self.factor * value, self.symbol, digits)


def suited(units: UnitSystem, dimension: str, magnitude: float) -> Scale:
    """Return the unit of length or time in which a magnitude of the case is between about 1 and 1000."""
    base = {"length": units.length, "time": units.time}[dimension]
    if base is None:
        return Scale(1.0, "")
    size = abs(magnitude) * base
    prefix = 1.0
    if math.isfinite(size) and size > 0.0:
        prefix = next((p for p in _PREFIXES if size >= 0.9999 * p), min(_PREFIXES))
    return Scale(base / prefix, _PREFIXES[prefix] + _SYMBOLS[dimension])


def number(value: float | None, digits: int = 4) -> str:
    """Format a number with a number of significant digits. Large numbers are printed with digits in groups of three;
    very large and very small numbers have powers of ten."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0.0:
        return "0"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}".replace(",", "\u202f").replace("-", "−")
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 6:
        text = f"{value:.{max(digits - 1 - exponent, 0)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.replace("-", "−")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}·10{_superscript(int(power))}".replace("-", "−")


def with_unit(value: float | None, symbol: str, digits: int = 4) -> str:
    """Format a number with its unit; a dash for None."""
    text = number(value, digits)
    return text if text == "–" or not symbol else f"{text}\u00a0{symbol}"


def wall_time(seconds: float | None) -> str:
    """Format a wall time: in seconds below two minutes, otherwise in hours, minutes and seconds."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if seconds < 120.0:
        return with_unit(seconds, "s", 3)
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}\u00a0h {minutes:02d}\u00a0min" if hours else f"{minutes}\u00a0min {rest:02d}\u00a0s"


def percent(fraction: float | None, digits: int = 3) -> str:
    """Format a fraction as a percentage."""
    return with_unit(None if fraction is None else 100.0 * fraction, "%", digits)


def unit_text(units: UnitSystem, dimension: str) -> str:
    """Return the unit of a dimension as plain text with superscripts: ``"fg µm²/µs²"``; empty for a dimensionless
    quantity."""
    text = units.label(dimension)
    if text == "1":
        return ""
    for plain, shown in (("um", "µm"), ("us", "µs"), ("^2", "²"), ("^3", "³"), ("^6", "⁶"), ("^12", "¹²")):
        text = text.replace(plain, shown)
    return text


def _superscript(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
