"""Verdicts on a scaled run: what error makes a premise trusted, suspect or violated, and what follows for the run."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

TOLERANCE = 0.02
"""Relative error that is trusted where nobody says another."""
SUSPECT = 5.0
"""Errors of up to this many tolerances are suspect, and larger ones violations."""
ORDER = ("violated", "inconclusive", "suspect", "trusted")
"""Verdicts, the worst first."""
SAME_QUESTION = (("lag", "cancellation", "paired"),)
"""Premises that measure one thing by different means: where one of them decides, another need not."""


class Bounds(NamedTuple):
    """Relative errors below which a premise is trusted, and below which it is suspect."""

    trusted: float = TOLERANCE
    suspect: float = SUSPECT * TOLERANCE

    @classmethod
    def of_tolerance(cls, tolerance: float) -> "Bounds":
        """The bounds of a tolerance."""
        return cls(tolerance, SUSPECT * tolerance)

    def verdict(self, error: float) -> str:
        """The verdict on an error that is known."""
        return "trusted" if error < self.trusted else "suspect" if error < self.suspect else "violated"

    def verdict_of_interval(self, error: float, half_width: float) -> str:
        """The verdict on an error that is known within an interval: inconclusive where it may be tolerable or not."""
        best, worst = (self.verdict(value) for value in (max(0.0, abs(error) - half_width), abs(error) + half_width))
        if best == worst:
            return best
        return "inconclusive" if best == "trusted" else "suspect"

    def broken_at(self, verdict: str, times: np.ndarray, accumulated: np.ndarray, whole: float) -> float | None:
        """When an error that adds up had used up what its verdict allows of the whole; None for a run that is trusted.

        Parameters
        ----------
        verdict
            The verdict on the run.
        times
            Moments [time], shape (n,).
        accumulated
            Error up to then, shape (n,).
        whole
            What relative errors are relative to, in the same unit as ``accumulated``.
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
    """The verdict on a run by its premises.

    It is the worst of theirs. A premise without a verdict only informs, and one that is inconclusive counts only where
    no other answers the same question.

    Returns
    -------
    dict
        ``verdict``; ``broken``, the names of the premises that make it suspect or violated; ``since``, when the first
        of them broke [time]; ``basis`` in words; and the ``premises``.
    """
    verdicts = {name: str(premise["verdict"]) for name, premise in premises.items() if premise["verdict"] is not None}
    for names in SAME_QUESTION:
        if any(verdicts.get(name, "inconclusive") != "inconclusive" for name in names):
            for name in names:
                if verdicts.get(name) == "inconclusive":
                    del verdicts[name]
    worst = next((verdict for verdict in ORDER if verdict in verdicts.values()), "inconclusive")
    broken = [name for name, verdict in verdicts.items() if verdict == worst and worst in ("suspect", "violated")]
    moments = [premises[name]["since"] for name in broken if premises[name].get("since") is not None]
    return {
        "verdict": worst,
        "broken": broken,
        "since": min(moments, default=None),
        "basis": f"the premise{'s' if len(verdicts) > 1 else ''} of {' and '.join(verdicts) or 'nothing'} alone",
        "premises": dict(premises),
    }
