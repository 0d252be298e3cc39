"""Frame times of a simulation in memory, chosen such that the given step is not shortened."""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.inputs import shown
from articulon.integrate import FIXED
from articulon.model import Model
from articulon.sizes import NUMBER, check_size
from articulon.time_scales.contact_step_limit import with_unit
from articulon.time_scales.noise_windows import Windows
from articulon.units import UnitSystem

FRAMES = 100
"""Largest default number of frames."""
SAME = 1e-9
"""Relative difference below which two times are equal up to rounding."""


@dataclass(frozen=True)
class FrameTimes(Sequence[float]):
    """Equally spaced frame times. The frames up to number ``first`` have been taken already.

    Times are computed as exact fractions and rounded once. For example, the third of ten frames in a duration of 0.2 is
    at the float nearest to 0.06. So frame times, and steps that end at them, do not depend on how a duration is split
    into several runs.
    """

    duration: Fraction
    """Total duration [time]."""
    frames: int
    """Number of intervals between frames."""
    origin: Fraction = Fraction(0)
    """Start time [time]."""
    first: int = 0
    """Number of the last frame taken."""

    @property
    def interval(self) -> float:
        """Time between frames [time]."""
        return float(self.duration / self.frames)

    @property
    def end(self) -> float:
        """End time [time]."""
        return self.at(self.frames)

    def at(self, frame: int) -> float:
        """Return the time of a frame [time]."""
        return float(self.origin + self.duration * frame / self.frames)

    def __len__(self) -> int:
        return self.frames + 1

    def __getitem__(self, frame: Any) -> Any:
        """Return the time of a frame [time]; negative numbers count from the end."""
        number = operator.index(frame)
        number += len(self) if number < 0 else 0
        if not 0 <= number <= self.frames:
            raise IndexError(f"there are {len(self)} frames, and no frame {frame}")
        return self.at(number)

    def after(self, frame: int) -> "FrameTimes":
        """Return these times with a frame marked as the last taken."""
        return replace(self, first=frame)

    def extended(self, duration: float, frames: int) -> "FrameTimes":
        """Return the times with a continuation of the given duration [time]. If the interval is the same, the times are
        equal to those of a single run of the total duration."""
        length = Fraction(repr(duration))
        if length * self.frames == self.duration * frames:
            return replace(self, duration=self.duration + length, frames=self.frames + frames, first=self.frames)
        return FrameTimes(length, frames, self.origin + self.duration)


def frame_times(model: Model, integrator: Any, duration: Any, frames: Any, held: float | None) -> FrameTimes:
    """Return the frame times of a simulation.

    Parameters
    ----------
    model
        The model that is simulated.
    integrator
        The declared integrator.
    duration
        Duration of the simulation [time], or a string with a unit.
    frames
        Number of frames. If None, it is chosen such that a whole number of steps fits between frames.
    held
        Time for which noise is held constant [time]; None if not given.

    Raises
    ------
    CaseError
        For an invalid duration or number of frames.
    """
    length = length_of(model.units, duration, "simulate")
    step = getattr(integrator, "step", None)
    unit = held if step is None else float(step)
    if unit is not None and not length / unit < math.inf:
        raise CaseError(
            f"simulate: integrator.step: {unit:g} fits into {length:g} too many times to count; take a longer step"
        )
    if frames is None:
        frames = FRAMES if unit is None else fitting_frames(length / unit)
    return FrameTimes(Fraction(repr(length)), number_of(model, frames, "simulate"))


def length_of(units: UnitSystem, duration: Any, where: str) -> float:
    """Return a duration in units of the model; raise CaseError if it is invalid."""
    length = float(units.value(duration, "time", f"{where}: duration"))
    if not 0.0 < length < math.inf:
        raise CaseError(f"{where}: duration must be positive, got {shown(duration)}")
    return length


def number_of(model: Model, frames: Any, where: str) -> int:
    """Return the number of frames; raise CaseError if it is invalid or if the frames do not fit into memory."""
    if not isinstance(frames, int | np.integer) or isinstance(frames, bool) or frames < 1:
        raise CaseError(f"{where}: frames must be a whole number of at least 1, got {shown(frames)}")
    kept = NUMBER * (model.nq + model.nu + 8) + 500
    check_size(int(frames), kept, "frames", f"{where}: frames", "keep fewer, or run a case into a folder")
    return int(frames)


def fitting_frames(steps: float) -> int:
    """Return the largest number of frames, up to ``FRAMES``, that divides this many steps equally."""
    whole = round(steps) if is_whole(steps) else math.ceil(steps)
    return next(count for count in range(min(FRAMES, whole), 0, -1) if whole % count == 0)


def is_whole(number: float) -> bool:
    """Whether a positive number is whole up to rounding."""
    return round(number) > 0 and abs(number - round(number)) <= SAME * number


def cut_steps(integrator: Any, times: FrameTimes, windows: Windows, noisy: bool, symbol: str) -> list[str]:
    """Return a line if frames shorten steps, and a line if noise windows shorten steps. Only integrators whose steps
    end at frames and windows are considered. ``symbol`` is the symbol of the unit of time."""
    found: list[str] = []
    step = getattr(integrator, "step", None)
    if step is None or isinstance(integrator, FIXED):
        return found
    for what, length in (("frames", times.interval), ("windows of noise", windows.held if noisy else math.inf)):
        parts = length / float(step)
        if math.isfinite(parts) and not is_whole(parts):
            shorter = "every step is shorter" if parts < 1.0 else "the last before each of them is shorter"
            found.append(
                f"integrator.step: steps of {with_unit(float(step), symbol, 9)} end on {what}, which are "
                f"{with_unit(length, symbol, 9)} apart, so that {shorter}"
            )
    return found
