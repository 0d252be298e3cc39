"""Choice of the recommended option: the cheapest trusted option, or, among options of about equal cost, the one with
the fewest approximations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from articulon.advice.advised_options import CHECK, NAMES, Option
from articulon.advice.case_time_scales import CaseTimeScales
from articulon.report.readable_numbers import number, percent, suited
from articulon.units import UnitSystem

SAME = 1.0
"""Difference of wall times below which two options count as equally fast [s]."""
VISIBLE = 1e-2
"""Relaxation time, as a fraction of the run, above which effects of inertia may be visible."""
TIE = 1.25
"""Ratio up to which two costs count as equal, because the cost of later parts of a run may differ from that of the
probe by this much."""


def chosen(options: Sequence[Option]) -> Option | None:
    """Return the option to recommend; None if no option has been measured.

    If no option is trusted, it is the option with the smallest known error.
    """
    measured = [option for option in options if option.measured]
    trusted = [option for option in measured if option.trust.verdict == "trusted"]
    if trusted:
        least = min(_seconds(option) for option in trusted)
        among = [option for option in trusted if _seconds(option) <= max(TIE * least, least + SAME)]
        return min(among, key=lambda option: NAMES.index(option.name))
    known = [option for option in measured if option.trust.error is not None]
    if known:
        return min(known, key=lambda option: (float(option.trust.error or 0.0), NAMES.index(option.name)))
    return min(measured, key=lambda option: NAMES.index(option.name), default=None)


def _seconds(option: Option) -> float:
    """Return the wall time that an option would take on an otherwise idle machine [s]. Time used by other programs
    during the measurement is subtracted."""
    return math.inf if option.seconds is None else option.seconds * min(option.busy, 1.0)


def reason_of(best: Option, options: Sequence[Option], scales: CaseTimeScales, units: UnitSystem) -> str:
    """Return the physical reason for the recommendation, as the second half of a sentence."""

    def time_text(time: float) -> str:
        return suited(units, "time", time).text(time, 3).replace("\u00a0", " ")

    found = _PHYSICS[best.name](best, scales, time_text)
    others = [option for option in options if option.measured and option.name != best.name]
    doubts = "" if best.trust.verdict == "trusted" else _doubt(best)
    slower = [o for o in others if o.trust.verdict == "trusted" and _seconds(o) > max(TIE * _seconds(best), SAME)]
    if slower:
        nearest = min(slower, key=_seconds)
        ratio = number(float(f"{_seconds(nearest) / _seconds(best):.2g}"), 2).replace("\u202f", ",")
        found += f"; '{nearest.name}' would take {ratio} times as long"
    if best.trust.tried_over:
        found += f"; its step was compared with half of it over {best.trust.tried_over} only"
    return found + doubts


def _doubt(best: Option) -> str:
    error = best.trust.error
    if best.trust.words.startswith(CHECK):
        return f"; but {best.trust.words.partition('; ')[0]}"
    if error is None:
        return "; how far it can be trusted is unknown"
    return f"; no option is known to be within the tolerance, and the error of this one is {percent(error, 2)}".replace(
        "\u00a0", " "
    )


def _explicit(best: Option, scales: CaseTimeScales, time_text: Callable[[float], str]) -> str:
    if math.isfinite(scales.contact):
        return f"a collision, or a wave across a grain, lasts {time_text(20.0 * scales.contact)} and must be resolved"
    if not best.equal_steps:
        if VISIBLE * scales.duration < scales.slowest_drag < math.inf:
            return f"inertia lasts for {time_text(scales.slowest_drag)} of {time_text(scales.duration)} and is visible"
        if math.isfinite(scales.slowest_drag):
            return "the run is so short that approximations save nothing"
        if best.step is not None and best.step < scales.damping < math.inf:
            return f"damping takes {time_text(scales.damping)}, which its steps resolve with controlled error"
        return "there is no drag or noise that longer steps could skip, and its steps follow the motion"
    if math.isfinite(scales.vibration):
        return (
            f"the fastest vibration, 1/ω = {time_text(scales.vibration)}, limits the step, and symplectic steps avoid "
            "energy drift"
        )
    return "halving its steps changes nothing"


def _implicit(best: Option, scales: CaseTimeScales, time_text: Callable[[float], str]) -> str:
    if math.isfinite(scales.fastest_drag) and best.step is not None:
        many = number(float(f"{best.step / scales.fastest_drag:.2g}"), 2)
        return (
            f"drag damps speeds in {time_text(scales.fastest_drag)}, which an explicit rule would have to resolve, "
            f"and the motion does not change within {many} times that"
        )
    if math.isfinite(scales.vibration):
        return (
            f"the fastest vibration, 1/ω = {time_text(scales.vibration)}, limits the step, and thermostat and "
            "friction are exact in it"
        )
    return "halving its steps changes nothing"


def _overdamped(best: Option, scales: CaseTimeScales, time_text: Callable[[float], str]) -> str:
    if not math.isfinite(scales.slowest_drag):
        return "its thermostat damps speeds at once, so that forces and noise alone determine the motion"
    part = percent(scales.slowest_drag / scales.duration, 2).replace("\u00a0", " ")
    return (
        f"inertia is gone in {time_text(scales.slowest_drag)}, {part} of the run, so that forces and drag alone "
        "determine the motion"
    )


def _scaled(best: Option, scales: CaseTimeScales, time_text: Callable[[float], str]) -> str:
    return (
        f"its factor lengthens every relaxation time; the slowest, {time_text(scales.slowest_drag)}, stays "
        "short against the run"
    )


def _adaptive(best: Option, scales: CaseTimeScales, time_text: Callable[[float], str]) -> str:
    return "most joints are quiet most of the time, and locked joints cost nothing"


_PHYSICS = {
    "explicit": _explicit,
    "friction-implicit": _implicit,
    "overdamped": _overdamped,
    "scaled": _scaled,
    "adaptive": _adaptive,
}
