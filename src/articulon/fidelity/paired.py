"""The paired premise: a scaled run moves like the unscaled one. It is tested against an unscaled reference run."""

import time
from typing import Any

from articulon.errors import ArticulonError
from articulon.fidelity.averages_under_noise import averages
from articulon.fidelity.lag import UNRESOLVED
from articulon.fidelity.motion import Motion, unresolved
from articulon.fidelity.record import Record
from articulon.fidelity.reference import NoPathError, TooExpensiveError
from articulon.fidelity.unscaled import UnscaledPaths, budget_of
from articulon.fidelity.verdict import Bounds


def paired(record: Record, motion: Motion, bounds: Bounds) -> dict[str, Any]:
    """Evaluate the paired premise.

    Parameters
    ----------
    record
        The finished run.
    motion
        Motion of the run.
    bounds
        Relative errors that count as trusted, and as suspect.

    Returns
    -------
    dict
        ``relative_error`` of the worst motion and its uncertainty ``half_width``; ``worst``, the motions with their
        errors, the worst first; ``averages``, if paths diverge; ``method`` of the reference path; its ``evaluations``,
        ``wall_seconds`` and ``budget`` (in evaluations); a verdict, which is None if no reference path was found, and
        the reason for it.
    """
    began = time.perf_counter()
    found: dict[str, Any] = {"verdict": None, "reason": None, "since": None, "relative_error": None}
    found |= {"half_width": None, "worst": [], "method": None, "evaluations": 0, "budget": budget_of(record)}
    maker = UnscaledPaths(record, motion, found["budget"])
    reason, kind = maker.why_not(), record.settings.error
    if reason is None:
        reason, verdict = "", "inconclusive"
        try:
            for outcome in maker.outcomes():
                if not outcome.wrong:
                    found["method"] = outcome.how
                    if unresolved(motion):
                        found["verdict"], reason = "inconclusive", UNRESOLVED
                    else:
                        found |= {"verdict": "trusted", "relative_error": 0.0, "half_width": 0.0}
                        reason = "nothing moves"
                    break
                if found["half_width"] is not None and outcome.half_width > found["half_width"]:
                    continue
                worst = outcome.wrong[0]
                verdict = bounds.verdict_of_interval(worst.of(kind), outcome.half_width)
                found |= {
                    "verdict": verdict,
                    "relative_error": worst.of(kind),
                    "half_width": outcome.half_width,
                    "method": outcome.how,
                    "since": worst.since(kind, motion.path.times, bounds, verdict),
                    "worst": outcome.wrong,
                }
                if verdict != "inconclusive":
                    break
        except TooExpensiveError as short:
            reason = str(short) or maker.what_it_takes()
        except (NoPathError, ArticulonError) as error:
            reason = f"not made: {error}"
        if found["verdict"] == "inconclusive" and not reason:
            reason = "the error is too close to the tolerance for its uncertainty"
        if found["verdict"] == "inconclusive" and maker.latest is not None and not maker.inertial:
            found["averages"] = averages(motion, maker.latest)
    return {
        **found,
        "reason": reason or None,
        "evaluations": maker.evaluations,
        "wall_seconds": time.perf_counter() - began,
    }
