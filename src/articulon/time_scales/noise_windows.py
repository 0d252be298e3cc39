"""Lengths of fixed steps and of held noise windows. A whole number of steps, and of windows, fills the time between
frames. Every frame is then at a window boundary with every integrator, and variants of a case share a noise path."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from articulon.errors import CaseError
from articulon.forces.brownian import brownian_of, fastest_relaxation
from articulon.integrate import FIXED, BrownianDynamics, FrictionImplicit
from articulon.model import Model
from articulon.units import UnitSystem

MOST_STEPS = 1e15
"""Largest number of steps in a run. It would take three years at ten million steps per second, which no machine
reaches."""
_SAME = 1e-9
"""Relative difference below which times are equal up to the rounding of user input."""


class Timed(Protocol):
    """Interface of the inputs that determine the windows; a case has this interface."""

    @property
    def source(self) -> str:
        """Prefix of messages."""
        ...

    @property
    def units(self) -> UnitSystem:
        """Unit system of the times."""
        ...

    @property
    def integrator(self) -> Any:
        """The declared integrator."""
        ...

    @property
    def scaling(self) -> Any:
        """The scaling policy."""
        ...

    @property
    def run(self) -> Any:
        """Object with ``duration``, ``interval`` between frames, and ``seed`` of the noise."""
        ...


@dataclass(frozen=True)
class Windows:
    """Time windows of a run."""

    window: float
    """Length of the finest noise windows [time]."""
    average: int
    """Number of fine windows in each held window."""
    step: float | None
    """Step of an integrator with equal steps [time]; None if the steps vary or are shortened at frames."""
    notes: tuple[str, ...]
    """Changes to the case's values, for the summary."""

    @property
    def held(self) -> float:
        """Length of a held window [time]."""
        return self.window * self.average


def frame_interval(case: Timed) -> float:
    """Return the time between frames [time]."""
    return float(case.run.interval)


def windows_of(case: Timed, model: Model) -> Windows:
    """Return the time windows of a run.

    A held window has the length ``window`` times ``average`` of the Brownian forces. Its default length is the step of
    the friction-implicit or the overdamped integrator; for other integrators, it is a quarter of the fastest relaxation
    time m/β divided by the policy's ``noise_factor``. The window, and the step of every integrator with equal steps,
    are shortened so that a whole number of them fills the time between frames.

    Raises
    ------
    CaseError
        If an integrator holds the noise for one step, but the noise windows differ from its steps.
    """
    for key in ("step", "max_step"):
        length = getattr(case.integrator, key, None)
        if length is not None:
            _check_steps(case, float(length), f"integrator.{key}")
    brownian = brownian_of(model)
    interval, unit = frame_interval(case), case.units.symbols[2]
    average = 1 if brownian is None else brownian.average
    given = None if brownian is None or brownian.window is None else float(brownian.window) * average
    notes = []
    if isinstance(case.integrator, FIXED):
        wanted = float(case.integrator.step)
        holds = isinstance(case.integrator, FrictionImplicit | BrownianDynamics)
        if holds and given is not None and abs(given - wanted) > _SAME * wanted:
            raise CaseError(
                f"{case.source}: forces.brownian.window times forces.brownian.average is {given:.9g} {unit}, but the "
                f"{case.integrator.rule} integrator holds the noise for one step and integrator.step is {wanted:.9g} "
                f"{unit}; make them equal, or leave out the window"
            )
        step = fitting_step(interval, wanted)
        if abs(step - wanted) > _SAME * wanted:
            notes.append(
                f"integrator.step: {wanted:.9g} {unit} shortened to {step:.9g} {unit}, so that a whole number of steps "
                f"fills the {interval:.9g} {unit} between frames"
            )
        return Windows(step / average, average, step, tuple(notes))
    if brownian is None:
        return Windows(interval, 1, None, ())
    if given is None:
        wanted = fastest_relaxation(model) / (4.0 * case.scaling.noise_factor())
    else:
        wanted = given
    held = interval / (_whole(interval, wanted) if math.isfinite(wanted) else 1)
    _check_steps(case, held, "forces.brownian.window")
    if given is not None and abs(held - given) > _SAME * given:
        notes.append(
            f"forces.brownian.window: noise is held for {held:.9g} {unit} instead of {given:.9g} {unit}, so that a "
            f"whole number of windows fills the {interval:.9g} {unit} between frames"
        )
    return Windows(held / average, average, None, tuple(notes))


def fitting_step(interval: float, step: float) -> float:
    """Return the longest step [time], not longer than a given step, of which a whole number fills an interval. Rounding
    errors of the given step are ignored."""
    return interval / _whole(interval, step)


def _whole(interval: float, length: float) -> int:
    """Return the smallest number of equal parts of an interval that are not longer than ``length``, except for rounding
    errors."""
    parts = interval / length * (1.0 - _SAME) if length > interval / MOST_STEPS else MOST_STEPS + 1.0
    return max(1, math.ceil(parts))


def _check_steps(case: Timed, step: float, key: str) -> None:
    """Raise CaseError for a run with more than ``MOST_STEPS`` steps, which no machine can take."""
    whole = float(case.run.duration)
    if step * MOST_STEPS < whole:
        raise CaseError(
            f"{case.source}: {key}: steps of {step:.3g} or less make more than {MOST_STEPS:.0e} of them over "
            f"{whole:.6g} {case.units.symbols[2]}, more than any machine can take; use longer steps or a shorter "
            "duration"
        )
