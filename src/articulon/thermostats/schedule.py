"""The target temperature: one number, or a table over time."""

from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from pydantic import model_validator

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import CaseError
from articulon.kernels import jit
from articulon.units import UnitSystem


class TemperatureTable(Declaration):
    """A temperature over time, from time zero to the end of the run or later."""

    times: Annotated[tuple[Quantity, ...], Dimension("time")]
    """Times of the knots [time]. They increase, and the first is zero."""
    values: Annotated[tuple[Quantity, ...], Dimension("temperature", minimum=0)]
    """Temperatures at the knots [temperature]."""
    interpolation: Literal["steps", "linear"] = "linear"
    """Interpolation: ``"linear"`` between the knots, or ``"steps"``, in which each value is valid up to the next
    knot."""

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if len(self.times) != len(self.values):
            raise ValueError(f"has {len(self.times)} times and {len(self.values)} values; give as many of each")
        if len(self.times) < 2:
            raise ValueError("needs at least two knots; a constant temperature is one number")
        return self

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """Return a copy in the given units; raises CaseError if the times do not start at zero or do not increase."""
        table = super().resolved(units, where)
        times = [float(time) for time in table.times]
        if times[0] != 0.0:
            raise CaseError(f"{where}.times: must begin at 0, got {self.times[0]!r}")
        for k in range(1, len(times)):
            if times[k] <= times[k - 1]:
                raise CaseError(f"{where}.times[{k}]: {self.times[k]!r} is not later than {self.times[k - 1]!r}")
        return table


Temperature: TypeAlias = Annotated[Quantity | TemperatureTable, Dimension("temperature", minimum=0)]
"""A temperature, or a table of it over time."""


def check_schedule(temperature: Quantity | TemperatureTable, duration: float, where: str) -> None:
    """Raise CaseError for a table that ends before the run, after ``duration`` [time]."""
    if isinstance(temperature, TemperatureTable) and float(temperature.times[-1]) < duration * (1.0 - 1e-9):
        raise CaseError(
            f"{where}.times: the table ends at {float(temperature.times[-1]):.9g}, before the run's duration of "
            f"{duration:.9g}; add a knot there, or shorten run.duration"
        )


def schedule_arrays(temperature: Quantity | TemperatureTable) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the times of the knots, the temperatures there, and whether the temperatures are interpolated linearly."""
    if isinstance(temperature, TemperatureTable):
        knots, values = (np.array([float(v) for v in column]) for column in (temperature.times, temperature.values))
        return knots, values, temperature.interpolation == "linear"
    return np.zeros(1), np.array([float(temperature)]), False


@jit
def temperature_at(times, temperatures, linear, time):
    """Return the temperature of a table at a time; after the end of the table, it is the last value."""
    low, high = 0, times.size
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= time:
            low = middle
        else:
            high = middle
    if not linear or low + 1 == times.size:
        return temperatures[low]
    s = (time - times[low]) / (times[low + 1] - times[low])
    return temperatures[low] + s * (temperatures[low + 1] - temperatures[low])


@jit
def target(bath, time):
    """Return k T of a bath at a time [energy]."""
    return bath.constants[1] * temperature_at(bath.times, bath.temperatures, bath.choice[3] != 0, time)


def aimed_at(times: np.ndarray, temperatures: np.ndarray, linear: bool, time: float) -> float:
    """Return the same value as :func:`temperature_at`, without a kernel; callable from Python."""
    if linear:
        return float(np.interp(time, times, temperatures))
    return float(temperatures[max(int(np.searchsorted(times, time, side="right")) - 1, 0)])
