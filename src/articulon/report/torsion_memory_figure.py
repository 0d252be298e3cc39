"""Figure of the correlation times of torsions, and of the number of independent samples of each."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from articulon.conformations.backbone_torsions import joint_torsions
from articulon.conformations.torsion_memory import TorsionMemory, torsion_memory
from articulon.fidelity.settling import SETTLED
from articulon.report import style
from articulon.report.readable_numbers import number
from articulon.report.view import View

GROUPS: dict[str, tuple[str, dict[str, object]]] = {
    "phi": ("φ", {"color": style.BLUE, "linestyle": "-"}),
    "psi": ("ψ", {"color": style.VERMILION, "linestyle": (0, (5, 1.5))}),
    "chi": ("χ", {"color": style.GREEN, "linestyle": (0, (6, 1.5, 1, 1.5))}),
    "other": ("others", {"color": style.GREY, "linestyle": (0, (1, 1))}),
}
"""Groups of torsions by the prefix of their names."""


def torsion_memory_of(view: View) -> TorsionMemory | None:
    """Compute the correlation times of the torsions from the frames after the first quarter; None if no torsion
    moves."""
    if view.conformations is None:
        return None
    settled = slice(int(SETTLED * view.times.size), None)
    times = view.times[settled]
    if times.size > 2 and np.diff(times)[-1] < 0.999 * np.diff(times)[0]:  # a stopped run has a shorter last interval
        settled = slice(settled.start, view.times.size - 1)
        times = view.times[settled]
    return torsion_memory(times, joint_torsions(view.model, view.q[settled]))


def torsion_correlation(view: View) -> Figure | None:
    """Draw the mean autocorrelation of each group of torsions, that of the slowest torsion, and the number of
    independent samples of each torsion."""
    found = torsion_memory_of(view)
    if found is None:
        return None
    figure = Figure(figsize=(style.WIDTH, 2.9))
    axes, bars = figure.subplots(1, 2, width_ratios=(1.15, 1.0))
    figure.subplots_adjust(left=0.65 / style.WIDTH, right=0.985, bottom=0.5 / 2.9, top=0.93, wspace=0.3)
    of = np.array([group_of(name) for name in found.names])
    t = view.time_scale.factor * found.times
    for group, (label, look) in GROUPS.items():
        own = of == group
        if own.any():
            axes.plot(t, found.values[own].mean(axis=0), label=f"{label} ({int(own.sum())})", **look)
    slowest = found.slowest
    axes.plot(t, found.values[slowest], color=style.BLACK, linewidth=0.9, label=found.names[slowest])
    axes.axhline(0.0, color=style.GREY, linewidth=0.7, zorder=1)
    axes.set(xlabel=view.time_scale.axis("lag"), ylabel="autocorrelation of $e^{in\\varphi}$")
    axes.set_ylim(max(-0.5, float(found.values.min()) - 0.05), 1.03)
    axes.legend(loc="upper right", fontsize=7.0)
    order = np.argsort(found.effective_samples)
    for group, (_, look) in GROUPS.items():
        own = np.flatnonzero(of[order] == group)
        if own.size:
            bars.plot(
                own + 1,
                found.effective_samples[order][own],
                "o",
                markersize=3.2,
                color=look["color"],
                markeredgewidth=0,
            )
    bars.set_yscale("log")
    low, high = float(found.effective_samples.min()), float(found.effective_samples.max())
    bars.set_ylim(min(1.0, 0.7 * low), 1.6 * high)
    bars.set(xlabel="torsion, the slowest first", ylabel="independent samples")
    least = number(float(found.effective_samples[slowest]), 2)
    bars.annotate(f"{found.names[slowest]}: {least}", (1.0, low), (8, 0), textcoords="offset points", fontsize=7.0)
    return figure


def group_of(name: str) -> str:
    """Return the group of a torsion, from its name."""
    start = name.partition(":")[0]
    return "chi" if start.startswith("chi") else start if start in ("phi", "psi") else "other"
