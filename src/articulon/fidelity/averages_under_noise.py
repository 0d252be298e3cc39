"""The averages premise: if paths under noise diverge, the averages of the run are compared with those of an unscaled
run.

Under noise two unscaled runs with different steps may diverge, because small differences decide how a body continues to
move. The delay of a scaled run along its path is then meaningless. Three averages of every motion are compared instead:
the mean position, the spread about it, and the mean squared displacement during a fixed time, which reflects rates. The
confidence interval of a difference follows from ten parts of the run, each compared with the same part of the unscaled
run.
"""

import math
from typing import Any

import numpy as np
import scipy

from articulon.fidelity.motion import Motion
from articulon.fidelity.paths import Path, scales
from articulon.fidelity.verdict import HEAT

PARTS = 10
"""Number of parts of a run."""
CONFIDENCE = 0.95


def averages(motion: Motion, truth: Path) -> dict[str, Any]:
    """Evaluate the averages premise.

    Parameters
    ----------
    motion
        Motion of the run.
    truth
        Path of an unscaled run with the same noise, at the times of the run.

    Returns
    -------
    dict
        ``relative_error`` of the worst average: the error of a mean is relative to the range of the motion, and that of
        a spread or squared displacement to its own value; ``half_width`` of the confidence interval; ``what``, the name
        of the average; and a verdict.
    """
    found: dict[str, Any] = {"verdict": "inconclusive", "reason": None, "since": None, "relative_error": None}
    found |= {"half_width": None, "what": None}
    count = min(motion.path.times.size, truth.times.size)
    step = max(1, count // (2 * PARTS))
    if count < 4 * PARTS:
        return found | {"reason": "there are too few frames for averages"}
    wide = float(scipy.special.stdtrit(PARTS - 1, 0.5 + 0.5 * CONFIDENCE))
    worst: tuple[float, float, str] | None = None
    for group, reach, error in zip(motion.groups, scales(motion.groups, motion.reach), motion.error, strict=True):
        if reach <= error:
            continue
        columns = slice(group.start, group.end)
        ours, theirs = motion.path.place[:count, columns], truth.place[:count, columns]
        for what, mine, true, size in (
            ("mean place", ours, theirs, reach),
            ("spread", _squares(ours), _squares(theirs), None),
            ("mean way", _squared_displacements(ours, step), _squared_displacements(theirs, step), None),
        ):
            part, half = _difference(mine, true, size, wide)
            if worst is None or part + half > worst[0] + worst[1]:
                worst = part, half, f"{group.name}, {what}"
    if worst is None:
        return found | {"verdict": "trusted", "relative_error": 0.0, "half_width": 0.0, "reason": "nothing moves"}
    verdict = HEAT.verdict_of_interval(worst[0], worst[1])
    reason = (
        "paths diverge under any perturbation"
        if verdict != "inconclusive"
        else "paths diverge, and averages need a longer run"
    )
    return found | {
        "verdict": verdict,
        "reason": reason,
        "since": None,
        "relative_error": worst[0],
        "half_width": worst[1],
        "what": worst[2],
    }


def _squares(place: np.ndarray) -> np.ndarray:
    """Return the squared distances from the mean position, shape (n, 1)."""
    return ((place - place.mean(axis=0)) ** 2).sum(axis=1, keepdims=True)


def _squared_displacements(place: np.ndarray, step: int) -> np.ndarray:
    """Return the squared displacements over ``step`` frames, shape (n − step, 1)."""
    return ((place[step:] - place[:-step]) ** 2).sum(axis=1, keepdims=True)


def _difference(mine: np.ndarray, true: np.ndarray, size: float | None, wide: float) -> tuple[float, float]:
    """Return the relative difference of two means, and the half width of its confidence interval. Both are halved for
    means of squares, to give errors of lengths."""
    parts = [
        (a.mean(axis=0), b.mean(axis=0))
        for a, b in zip(np.array_split(mine, PARTS), np.array_split(true, PARTS), strict=True)
    ]
    changes = np.array([a - b for a, b in parts])
    half = wide * float(np.linalg.norm(changes.std(axis=0, ddof=1))) / math.sqrt(PARTS)
    scale = size if size is not None else 2.0 * float(np.abs(true.mean(axis=0)).max())
    if not scale > 0.0:
        return 0.0, 0.0
    return float(np.linalg.norm(changes.mean(axis=0))) / scale, half / scale
