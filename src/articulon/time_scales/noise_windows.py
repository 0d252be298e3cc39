"""How long the step of a fixed rule and the held windows of noise are, so that whole numbers of them fill the time
between frames: a frame then falls on a boundary of windows whatever the rule, and variants share a noise path."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from articulon.errors import CaseError
from articulon.forces.brownian import brownian_of, fastest_relaxation
from articulon.integrate import FIXED, BrownianDynamics, FrictionImplicit
from articulon.model import Model
from articulon.units import UnitSystem

MOST_STEPS = 1e15
"""Steps of a run: three years at ten million a second, which is faster than any machine is."""
_SAME = 1e-9
"""Relative difference of times that are the same but for the rounding of what a user writes."""


class Timed(Protocol):
    """What the windows follow from; a case is one."""

    @property
    def source(self) -> str:
        """What messages begin with."""
        ...

    @property
    def units(self) -> UnitSystem:
        """The units of its times."""
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
        """What has a ``duration``, the ``interval`` between frames, and the ``seed`` of the noise."""
        ...


@dataclass(frozen=True)
class Windows:
    """The times that a run is cut into."""

    window: float
    """Length of the finest windows of noise [time]."""
    average: int
    """Fine windows in each held one."""
    step: float | None
    """Step of a rule of equal steps [time]; None where the steps vary, or end on what they meet."""
    notes: tuple[str, ...]
    """What was changed from what the case says, for the summary."""

    @property
    def held(self) -> float:
        """Length of a held window [time]."""
        return self.window * self.average


def frame_interval(case: Timed) -> float:
    """Time between frames [time]."""
    return float(case.run.interval)


def windows_of(case: Timed, model: Model) -> Windows:
    """The windows of a run.

    A held window is ``window`` times ``average`` of the Brownian forces; by default, the step of the friction-implicit
    or the overdamped rule, or a quarter of the fastest relaxation time m/β divided by the policy's ``noise_factor``. It
    is shortened to the nearest whole fraction of the time between frames, and so is the step of every rule of equal
    steps.

    Raises
    ------
    CaseError
        Where the windows of noise are not the steps of a rule that holds the noise for one.
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
                f"{case.integrator.rule} rule holds the noise for one step and integrator.step is {wanted:.9g} {unit}; "
                "make them equal, or leave out the window"
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
    """The longest step [time], no longer than a given one but for rounding, a whole number of which fills an
    interval."""
    return interval / _whole(interval, step)


def _whole(interval: float, length: float) -> int:
    """The smallest number of equal parts of an interval that are no longer than the length but for rounding."""
    parts = interval / length * (1.0 - _SAME) if length > interval / MOST_STEPS else MOST_STEPS + 1.0
    return max(1, math.ceil(parts))


def _check_steps(case: Timed, step: float, key: str) -> None:
    """Raises CaseError for a run of more steps than any machine takes."""
    whole = float(case.run.duration)
    if step * MOST_STEPS < whole:
        raise CaseError(
            f"{case.source}: {key}: steps of {step:.3g} or less make more than {MOST_STEPS:.0e} of them over "
            f"{whole:.6g} {case.units.symbols[2]}, which no machine takes; choose longer steps or a shorter duration"
        )
