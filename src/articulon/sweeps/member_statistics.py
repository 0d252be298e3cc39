"""Joint statistics of the members of a sweep: means with confidence intervals and distributions, for each combination
of the varied values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from articulon.sweeps.first_passage import first_passages

CONFIDENCE = 0.95
"""Confidence level of the intervals."""
ROUNDING = 1e-12
"""Relative difference below which sums over many steps count as equal."""
QUARTILES = (0.25, 0.5, 0.75)


def distribution(values: Sequence[float]) -> dict[str, Any]:
    """Compute mean, interval and spread of the values of independent members.

    The confidence interval of the mean m is Student's: m ± t₀.₉₇₅(n − 1) s/√n, with s² = Σ(x − m)²/(n − 1). It is exact
    if the values of members are normally distributed, and a good approximation for many members (Student, Biometrika 6,
    1, 1908).

    Parameters
    ----------
    values
        One value for each member, all finite.

    Returns
    -------
    dict
        ``n``, ``mean``, ``standard_deviation``, ``standard_error``, ``interval`` (its two ends), ``least``,
        ``quartiles`` (three numbers) and ``largest``. For a single value, entries that need two values are None.
    """
    x = np.asarray(values, dtype=float)
    n, mean = x.size, float(x.mean())
    spread = error = interval = None
    if n > 1:
        from scipy.stats import t

        spread = float(x.std(ddof=1))
        error = spread / math.sqrt(n)
        half = float(t.ppf(0.5 + 0.5 * CONFIDENCE, n - 1)) * error
        interval = [mean - half, mean + half]
    return {
        "n": n,
        "mean": mean,
        "standard_deviation": spread,
        "standard_error": error,
        "interval": interval,
        "least": float(x.min()),
        "quartiles": [float(one) for one in np.quantile(x, QUARTILES)],
        "largest": float(x.max()),
    }


def distributions(rows: Sequence[Mapping[str, Any]], what: str) -> dict[str, dict[str, Any]]:
    """Compute the distribution of each quantity over the members that have it.

    Parameters
    ----------
    rows
        Rows of the completed members.
    what
        Key of the figures in a row: ``"figures"`` or ``"averages"``.
    """
    names = dict.fromkeys(name for row in rows for name in row[what])
    found = {name: [row[what][name] for row in rows if row[what].get(name) is not None] for name in names}
    return {name: distribution(values) for name, values in found.items() if values}


def grouped(rows: Sequence[Mapping[str, Any]], stops: bool) -> list[dict[str, Any]]:
    """Compute the joint results of each combination of the varied values.

    Parameters
    ----------
    rows
        Rows of all members, in order: ``values``, ``error``, ``figures``, ``averages``, ``stop_time`` and
        ``simulated_time``.
    stops
        Whether the case has a stop condition, so that there are first-passage times.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    found = []
    for members in groups.values():
        ended = [row for row in members if row["error"] is None]
        found.append(
            {
                "values": dict(members[0]["values"]),
                "members": len(members),
                "failed": len(members) - len(ended),
                "figures": distributions(ended, "figures"),
                "averages": distributions(ended, "averages"),
                "first_passage": first_passages(
                    [row["stop_time"] for row in ended], [row["simulated_time"] for row in ended]
                )
                if stops and ended
                else None,
            }
        )
    return found


def varies(groups: Sequence[Mapping[str, Any]], what: str) -> list[str]:
    """Return the names of the quantities that differ between members by more than rounding errors, in the order of the
    groups."""
    ends: dict[str, list[float]] = {}
    for group in groups:
        for name, found in group[what].items():
            ends.setdefault(name, []).extend((found["least"], found["largest"]))
    return [name for name, values in ends.items() if max(values) - min(values) > ROUNDING * max(map(abs, values))]


def alike(groups: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the seed has no effect: in each group of several members, all members have the same results."""
    several = [group for group in groups if group["members"] - group["failed"] > 1]
    apart = [
        found["least"] < found["largest"]
        for group in several
        for what in ("figures", "averages")
        for name, found in group[what].items()
        if found["n"] > 1 and not name.endswith("wall_seconds")
    ]
    return bool(apart) and not any(apart)
