"""Measures of a comparison: distance and delay relative to the reference path, and savings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from articulon.cases.case import Case
from articulon.cases.overrides import parts
from articulon.forces.stokes_drag import StokesDrag

SAME_STEPS = "it takes the same steps by the same rule: wall times differ only by other load on the machine"
"""Reason why no saving is reported if two runs do the same work."""


class Deviation(NamedTuple):
    """Distance between two paths over time."""

    times: np.ndarray
    """Times of the comparison [time], shape (n,)."""
    distances: np.ndarray
    """Distances at these times [length], shape (n,)."""

    @property
    def largest(self) -> float:
        """Largest distance [length]."""
        return float(self.distances.max())

    @property
    def standard(self) -> float:
        """Root mean square distance: the standard deviation about the other path [length]."""
        return float(np.sqrt(np.mean(self.distances**2)))


def deviation(
    times: np.ndarray, path: np.ndarray, reference_times: np.ndarray, reference_path: np.ndarray
) -> Deviation:
    """Compute the distances of a path from the reference path at the frames of the reference, up to the end of the
    shorter path.

    Between frames positions are interpolated linearly.

    Parameters
    ----------
    times, reference_times
        Times of the frames [time], shapes (n,) and (m,).
    path, reference_path
        Positions at the frames [length], shapes (n, 3) and (m, 3).
    """
    end = min(float(times[-1]), float(reference_times[-1]))
    common = reference_times[reference_times <= end]
    if common.size == 0 or common[-1] < end:
        common = np.append(common, end)
    ours, theirs = (
        np.stack([np.interp(common, t, p[:, k]) for k in range(3)], axis=1)
        for t, p in ((times, path), (reference_times, reference_path))
    )
    return Deviation(common, np.linalg.norm(ours - theirs, axis=1))


HOW_IT_IS_MADE = ("scaling", "integrator", "adaptive", "dynamics")
"""Sections of a case that determine how a run is computed, but not its physics."""
HOW_IT_IS_SEEN = {"frames", "frame_interval", "duration", "stop"}
"""Keys of ``[run]`` that determine the length and the times of observation."""
HOW_NOISE_IS_HELD = {"window", "average"}
"""Keys of a force that determine for how long its noise is held constant."""


def other_physics(case: Case, other: Case) -> tuple[list[str], list[str]]:
    """Return the dotted keys in which the physics of two runs differs, and those in which their stop conditions
    differ."""
    keys = [key for key in case.differences(other) if parts(key)[0] not in HOW_IT_IS_MADE]
    motions, stops = [], []
    for key in keys:
        path = parts(key)
        if path[0] == "run" and len(path) > 1 and path[1] in HOW_IT_IS_SEEN:
            stops += [key] if path[1] == "stop" else []
        elif path[0] != "forces" or path[-1] not in HOW_NOISE_IS_HELD:
            motions.append(key)
    return motions, stops


def clock(case: Case) -> float:
    """Return the physical time per unit of simulated time.

    Without drag, scaling by a2 and b2 only slows the clock: at the time t the scaled run has the positions of the
    unscaled run at √(a2 b2) t. With drag, the two-factor form slows relaxation by b2. In all other cases, simulated
    time is physical time.
    """
    a2, b2 = float(getattr(case.scaling, "a2", 1.0)), float(getattr(case.scaling, "b2", 1.0))
    if any(isinstance(force, StokesDrag) for force in case.forces):
        return b2
    return 1.0 if case.scaling.varies else math.sqrt(a2 * b2)


def saving(
    wall_seconds: float,
    physical_time: float,
    other: Mapping[str, Any] | None,
    reason: str | None,
    work: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Compute how much wall time a run saves compared with another run.

    Parameters
    ----------
    wall_seconds
        Wall time of the run [s].
    physical_time
        Physical time that the run covered [time].
    other
        Figures of the other run; None if there is none.
    reason
        Reason why there is no other run.
    work
        Figures of the run. No saving is reported if its integrator, steps, evaluations and active fraction are those of
        the other run. None omits this test.

    Returns
    -------
    dict
        With wall times t of the run and t' of the other: ``saving``, 1 − t/t'; ``ratio``, t'/t; and
        ``ratio_per_physical_time``, the ratio for equal physical times. If no saving can be given, ``reason`` says why.
    """
    nothing = {"saving": None, "ratio": None, "ratio_per_physical_time": None, "against": None, "is": None}
    if other is None:
        return {**nothing, "reason": reason}
    counts = ("rule", "steps", "rejected", "evaluations", "active_mean")
    if work is not None and other["steps"] is not None and all(work[key] == other[key] for key in counts):
        return {**nothing, "against": other["name"], "reason": SAME_STEPS}
    wall = float(other["wall_seconds"])
    if wall <= 0.0 or wall_seconds <= 0.0:
        return {**nothing, "against": other["name"], "reason": "a run took no measurable time"}
    per_time = (wall / other["physical_time"]) / (wall_seconds / physical_time) if physical_time else None
    return {
        "saving": 1.0 - wall_seconds / wall,
        "ratio": wall / wall_seconds,
        "ratio_per_physical_time": per_time,
        "against": other["name"],
        "is": other["wall_seconds_are"],
        "reason": None,
    }
