"""Verdicts on a scaled run: error bounds that make a premise trusted, suspect or violated, and the verdict on the whole
run."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

TOLERANCE = 0.02
"""Relative error that is trusted by default."""
SUSPECT = 5.0
"""Multiple of the tolerance up to which an error is suspect; a larger error violates the premise."""
ORDER = ("violated", "inconclusive", "suspect", "trusted")
"""Verdicts, the worst first."""
MOTIONS = ("lag", "paired", "averages")
"""Premises that measure the errors of the motions by different methods; the most accurate one decides."""
CAUSES = ("drift", "clock")
"""Premises on causes of wrong motions; they count only if the errors of the motions have not been measured."""


class Bounds(NamedTuple):
    """Relative errors below which a premise is trusted, and below which it is suspect."""

    trusted: float = TOLERANCE
    suspect: float = SUSPECT * TOLERANCE

    @classmethod
    def of_tolerance(cls, tolerance: float) -> "Bounds":
        """Return the bounds for a tolerance."""
        return cls(tolerance, SUSPECT * tolerance)

    def verdict(self, error: float) -> str:
        """Return the verdict on an error that is known exactly."""
        return "trusted" if error < self.trusted else "suspect" if error < self.suspect else "violated"

    def verdict_of_interval(self, error: float, half_width: float) -> str:
        """Return the verdict on an error with an uncertainty: inconclusive if its interval contains the tolerance."""
        best, worst = (self.verdict(value) for value in (max(0.0, abs(error) - half_width), abs(error) + half_width))
        if best == worst:
            return best
        return "inconclusive" if best == "trusted" else "suspect"

    def broken_at(self, verdict: str, times: np.ndarray, accumulated: np.ndarray, whole: float) -> float | None:
        """Return the time at which an accumulating error exceeds the bound that the verdict marks as broken; None for a
        trusted run.

        Parameters
        ----------
        verdict
            Verdict on the run.
        times
            Times [time], shape (n,).
        accumulated
            Error accumulated up to these times, shape (n,).
        whole
            Value to which errors are relative, in the unit of ``accumulated``.
        """
        if verdict not in ("suspect", "violated"):
            return None
        allowed = (self.suspect if verdict == "violated" else self.trusted) * whole
        beyond = np.flatnonzero(np.abs(accumulated) >= allowed)
        return float(times[beyond[0]]) if beyond.size else float(times[-1])


MOTION = Bounds()
"""Bounds on errors of a motion."""
HEAT = Bounds(0.05, 0.2)
"""Bounds on errors of a temperature."""


def verdict_of(premises: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Derive the verdict on a run from its premises.

    It is the worst verdict of the premises; a premise without a verdict does not count. Of the premises that measure
    the errors of the motions, only the one with the smallest ``half_width`` counts.

    Returns
    -------
    dict
        ``verdict``; ``broken``, the names of the premises that make it suspect or violated, and of those that show the
        same by another method; ``since``, the time at which the first of them failed [time]; ``basis``, the reason in
        words; and the ``premises``.
    """
    verdicts = {name: str(premise["verdict"]) for name, premise in premises.items() if premise["verdict"] is not None}
    counted = dict(verdicts)
    if {"lag", "paired"} <= set(counted) and _half_width(premises["paired"]) < _half_width(premises["lag"]):
        counted.pop("lag")  # even if the more accurate premise gives no verdict
    known = [name for name in MOTIONS if counted.get(name, "inconclusive") != "inconclusive"]
    if known:
        best = min(known, key=lambda name: _half_width(premises[name]))
        for name in MOTIONS + (CAUSES if best != "lag" else ()):
            if name != best:
                counted.pop(name, None)
    worst = next((verdict for verdict in ORDER if verdict in counted.values()), "inconclusive")
    broken = [name for name, verdict in counted.items() if verdict == worst and worst in ("suspect", "violated")]
    moments = [premises[name]["since"] for name in broken if premises[name].get("since") is not None]
    if any(name in MOTIONS for name in broken):
        broken += [name for name in MOTIONS + CAUSES if name not in broken and verdicts.get(name) == worst]
    return {
        "verdict": worst,
        "broken": broken,
        "since": min(moments, default=None),
        "basis": f"the premise{'s' if len(counted) > 1 else ''} of {' and '.join(counted) or 'nothing'} alone",
        "premises": dict(premises),
    }


def _half_width(premise: Mapping[str, Any]) -> float:
    """Return the uncertainty of the error of a premise; zero if the premise has a verdict but no uncertainty."""
    half = premise.get("half_width")
    if half is None:
        return np.inf if premise["verdict"] == "inconclusive" else 0.0
    return float(half)
