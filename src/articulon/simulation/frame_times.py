"""When the states of a simulation in memory are kept, so that a step that is given is the step that is taken."""

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
"""Frames where none are asked for, at most."""
SAME = 1e-9
"""Relative difference of times that are the same but for rounding."""


@dataclass(frozen=True)
class FrameTimes(Sequence[float]):
    """Equal intervals of a time, of which those from the frame ``first`` on are still to come.

    Times are those of decimal numbers, rounded once: the third of ten frames of 0.2 is at the float nearest to 0.06.
    So frames are at the same times however a duration is cut into several, and steps that end on them are the same.
    """

    duration: Fraction
    """What is divided [time]."""
    frames: int
    """Into how many intervals."""
    origin: Fraction = Fraction(0)
    """When it begins [time]."""
    first: int = 0
    """The last frame that has been taken."""

    @property
    def interval(self) -> float:
        """[time]."""
        return float(self.duration / self.frames)

    @property
    def end(self) -> float:
        """[time]."""
        return self.at(self.frames)

    def at(self, frame: int) -> float:
        """The time of a frame [time]."""
        return float(self.origin + self.duration * frame / self.frames)

    def __len__(self) -> int:
        return self.frames + 1

    def __getitem__(self, frame: Any) -> Any:
        """The time of a frame [time], counted from the end where it is negative."""
        number = operator.index(frame)
        number += len(self) if number < 0 else 0
        if not 0 <= number <= self.frames:
            raise IndexError(f"there are {len(self)} frames, and no frame {frame}")
        return self.at(number)

    def after(self, frame: int) -> "FrameTimes":
        """The same, when a frame has been taken."""
        return replace(self, first=frame)

    def extended(self, duration: float, frames: int) -> "FrameTimes":
        """What comes after these for so long [time]: at the times of an unbroken run, where the intervals are the
        same."""
        length = Fraction(repr(duration))
        if length * self.frames == self.duration * frames:
            return replace(self, duration=self.duration + length, frames=self.frames + frames, first=self.frames)
        return FrameTimes(length, frames, self.origin + self.duration)


def frame_times(model: Model, integrator: Any, duration: Any, frames: Any, held: float | None) -> FrameTimes:
    """The frames of a simulation.

    Parameters
    ----------
    model
        What is simulated.
    integrator
        The declared integrator.
    duration
        Of the simulation [time], or a string with a unit.
    frames
        How many are asked for; None leaves it to the step.
    held
        For how long noise is to be held [time]; None where nobody says.

    Raises
    ------
    CaseError
        For a duration or a number of frames that cannot be.
    """
    length = length_of(model.units, duration, "simulate")
    step = getattr(integrator, "step", None)
    unit = held if step is None else float(step)
    if unit is not None and not length / unit < math.inf:
        raise CaseError(
            f"simulate: integrator.step: {unit:g} goes into {length:g} too often to be counted; take a longer one"
        )
    if frames is None:
        frames = FRAMES if unit is None else fitting_frames(length / unit)
    return FrameTimes(Fraction(repr(length)), number_of(model, frames, "simulate"))


def length_of(units: UnitSystem, duration: Any, where: str) -> float:
    """A duration in units of the model; raises CaseError for one that cannot be."""
    length = float(units.value(duration, "time", f"{where}: duration"))
    if not 0.0 < length < math.inf:
        raise CaseError(f"{where}: duration must be positive, got {shown(duration)}")
    return length


def number_of(model: Model, frames: Any, where: str) -> int:
    """A number of frames; raises CaseError for what is none, and for more than memory holds."""
    if not isinstance(frames, int | np.integer) or isinstance(frames, bool) or frames < 1:
        raise CaseError(f"{where}: frames must be a whole number of at least 1, got {shown(frames)}")
    kept = NUMBER * (model.nq + model.nu + 8) + 500
    check_size(int(frames), kept, "frames", f"{where}: frames", "keep fewer, or run a case into a folder")
    return int(frames)


def fitting_frames(steps: float) -> int:
    """The largest number of frames, up to ``FRAMES``, between which there are equally many of so many steps."""
    whole = round(steps) if is_whole(steps) else math.ceil(steps)
    return next(count for count in range(min(FRAMES, whole), 0, -1) if whole % count == 0)


def is_whole(number: float) -> bool:
    """Whether a positive number is a whole one but for rounding."""
    return round(number) > 0 and abs(number - round(number)) <= SAME * number


def cut_steps(integrator: Any, times: FrameTimes, windows: Windows, noisy: bool, symbol: str) -> list[str]:
    """Which steps of a rule whose steps end on frames and windows of noise are cut short by these, a line for each;
    ``symbol`` is that of the unit of time."""
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
