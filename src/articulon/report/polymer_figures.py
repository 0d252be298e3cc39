"""Figures of polymer chains: size, distances along the backbone, motion, relaxation, and bead–bead distributions.

Each function takes the statistics of chains and the units of the case. It returns None if the data are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from articulon.chains.bond_angles import AngleDistribution
from articulon.chains.chain_record import ChainStatistics
from articulon.chains.replicates import Estimate
from articulon.report import style
from articulon.report.readable_numbers import number, suited
from articulon.units import UnitSystem

RUNNING = 0.1
"""Fraction of the frames over which a running mean is taken."""
MODES = (1, 2, 3, 4, 6, 8, 12, 16)
"""Rouse modes in the figure."""
LEAST = 0.02
"""Value below which a correlation is noise; the axis ends there."""
IDEAL: dict[str, Any] = {"color": style.GREY, "linestyle": (0, (4, 3)), "linewidth": 1.0, "zorder": 1}
"""Line style of ideal chains, and of lines that show a slope for comparison."""
KIND_COLOUR = {"linear": style.GREEN, "ring": style.VERMILION, "branched": style.PURPLE}
KIND_WORD = {"linear": "linear chains", "ring": "rings", "branched": "branched"}


def chain_size(chains: ChainStatistics, units: UnitSystem) -> Figure | None:
    """Draw ⟨R²⟩ and ⟨Rg²⟩ of all chains over time with their running means, and their ratio."""
    if chains.times.size < 2:
        return None
    lines: list[tuple[str, dict[str, np.ndarray], dict[str, str]]] = []
    if chains.end_to_end_series is not None:
        lines.append(
            (in_area("$\\langle R^2\\rangle$", units), {"linear": chains.end_to_end_series}, {"linear": style.BLUE})
        )
    lines.append((in_area("$\\langle R_\\mathrm{g}^2\\rangle$", units), chains.gyration_series, KIND_COLOUR))
    ratio = chains.end_to_end_series is not None and chains.ratio is not None
    figure, all_axes = style.panels(len(lines) + ratio, height=1.95)
    time = suited(units, "time", float(chains.times[-1]))
    t, width = time.factor * chains.times, max(1, round(RUNNING * chains.times.size))
    for axes, (label, series, colours) in zip(all_axes, lines, strict=False):
        for kind, values in series.items():
            name = KIND_WORD[kind] if len(chains.gyration_series) > 1 else "each frame"
            axes.plot(t, values, color=colours[kind], linewidth=0.7, alpha=0.4, label=name)
            if width > 2:
                axes.plot(running(t, width), running(values, width), color=colours[kind], label="running mean")
        axes.set_ylabel(label)
        style.legend(axes)
    if ratio and chains.end_to_end_series is not None and chains.ratio is not None:
        axes = all_axes[-1]
        both = (running(of, width) for of in (chains.end_to_end_series, chains.gyration_series["linear"]))
        axes.plot(running(t, width), np.divide(*both), color=style.BLACK, label="of running means")
        if chains.ideal_ratio is not None:
            axes.axhline(chains.ideal_ratio, label=f"ideal chains,\n{number(chains.ideal_ratio, 4)}", **IDEAL)
        axes.set_ylabel("$\\langle R^2\\rangle/\\langle R_\\mathrm{g}^2\\rangle$")
        style.legend(axes)
    all_axes[-1].set_xlabel(time.axis("time"))
    figure.align_ylabels(all_axes)
    return figure


def in_area(what: str, units: UnitSystem) -> str:
    """Return the label of an axis of squared lengths."""
    length = style.unit(units, "length")
    return f"{what} ({length})" if units.length is None else f"{what} ({length}$^2$)"


def running(values: np.ndarray, width: int) -> np.ndarray:
    """Return the running means over ``width`` values, at all positions where ``width`` values exist."""
    return np.convolve(values, np.ones(width) / width, "valid")


def internal_distances(chains: ChainStatistics, units: UnitSystem) -> Figure | None:
    """Draw ⟨R²(n)⟩/n against n, which is constant for ideal chains."""
    if not chains.internal:
        return None
    figure, (axes,) = style.panels()
    for kind, found in chains.internal.items():
        with_errors(axes, found.bonds, found.ratios, KIND_COLOUR[kind], KIND_WORD[kind], marker="o")
    if chains.bond is not None and "ring" not in chains.internal:
        axes.axhline(float(chains.bond.value), label="$\\langle b^2\\rangle$", **IDEAL)
    decades(axes)
    axes.set_xlabel("bonds apart, $n$")
    axes.set_ylabel(in_area("$\\langle R^2(n)\\rangle/n$", units))
    axes.set_ylim(bottom=0.0)
    style.legend(axes)
    return figure


def chain_motion(chains: ChainStatistics, units: UnitSystem) -> Figure | None:
    """Draw g1, g2 and g3 against the lag, with the slopes ½ and 1."""
    moved = chains.motion
    if moved is None:
        return None
    figure, (axes,) = style.panels(height=3.6)
    time = suited(units, "time", float(moved.times[-1]))
    t = time.factor * moved.times
    for name, found, colour, dashes in (
        ("$g_1$ inner beads", moved.inner, style.BLUE, "-"),
        ("$g_2$ about the\ncentre of mass", moved.inner_about_centre, style.GREEN, (0, (6, 1.5, 1, 1.5))),
        ("$g_3$ centres of mass", moved.centres, style.VERMILION, (0, (5, 1.5))),
    ):
        if found is not None and (found.value > 0.0).any():
            shown = np.where(found.value > 0.0, found.value, np.nan)
            axes.plot(t, shown, color=colour, linestyle=dashes, label=name)
            low = np.where(found.value > found.error, found.value - found.error, shown)
            axes.fill_between(t, low, found.value + found.error, color=colour, alpha=0.2, linewidth=0.0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    first = moved.inner if moved.inner is not None else moved.centres
    guide(axes, t, float(first.value[0]), 0.5, 1.6, "slope ½", (0, (4, 3)))
    guide(axes, t, float(moved.centres.value[-1]) * float(t[0] / t[-1]), 1.0, 0.6, "slope 1", (0, (1, 1.2)))
    axes.set_xlabel(time.axis("lag"))
    axes.set_ylabel(in_area("mean-square displacement", units))
    style.legend(axes)
    return figure


def guide(axes: Axes, t: np.ndarray, start: float, slope: float, beside: float, name: str, dashes: Any) -> None:
    """Draw a line of a given slope on logarithmic axes, beside a curve that begins at ``start``."""
    if start > 0.0:
        axes.plot(t, beside * start * (t / t[0]) ** slope, label=name, **{**IDEAL, "linestyle": dashes})


def mode_relaxation(chains: ChainStatistics, units: UnitSystem) -> Figure | None:
    """Draw the autocorrelation of Rouse modes and of the end-to-end vector, and their relaxation times."""
    if not chains.rouse:
        return None
    figure = Figure(figsize=(style.WIDTH, 3.1))
    axes, scaled = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
    figure.subplots_adjust(left=0.65 / style.WIDTH, right=0.985, bottom=0.5 / 3.1, top=0.93, wspace=0.32)
    found = chains.rouse.get("linear") or next(iter(chains.rouse.values()))
    slowest = found.relaxations[0]
    last = float(slowest.time.value) if np.isfinite(slowest.time.value) else float(slowest.times[-1]) / 4.0
    time = suited(units, "time", last)
    for line, k in enumerate(k for k, p in enumerate(found.modes.tolist()) if p in MODES):
        one = found.relaxations[k]
        t, values = cut(time.factor * one.times, one.correlation.value)
        axes.plot(t, values, label=f"$p = {found.modes[k]}$", **style.variant(line))
    if chains.relaxation is not None:
        t, values = cut(time.factor * chains.relaxation.times, chains.relaxation.correlation.value)
        axes.plot(t, values, label="end to end", **style.REFERENCE_STYLE)
    axes.set_yscale("log")
    axes.set_ylim(LEAST, 4.5)  # leaves space for the legend
    axes.set_xlim(0.0, min(4.0 * last, float(slowest.times[-1])) * time.factor)
    axes.set_xlabel(time.axis("lag"))
    axes.set_ylabel("autocorrelation")
    axes.legend(loc="upper center", fontsize=7.0, ncols=4, handlelength=1.8, columnspacing=1.0)
    for kind, modes in chains.rouse.items():
        beads = chains.chains.length[chains.chains.kind == kind]
        times = modes.relaxation_times
        known = np.flatnonzero(np.isfinite(times.value))
        if not known.size:
            continue
        x = modes.modes / float(beads.mean())
        value, error = time.factor * times.value, time.factor * times.error
        look = {"color": KIND_COLOUR[kind], "markersize": 3.5, "elinewidth": 0.9}
        scaled.errorbar(x[known], value[known], error[known], fmt="o", label=KIND_WORD[kind], **look)
        squares = np.sin(np.pi * x / (1.0 if kind == "ring" else 2.0)) ** 2
        scaled.plot(x, value[known[0]] * squares[known[0]] / squares, label="Rouse", **IDEAL)
    decades(scaled)
    scaled.set_yscale("log")
    scaled.set_xlabel("$p/N$")
    scaled.set_ylabel(time.axis("relaxation time"))
    if scaled.get_legend_handles_labels()[0]:
        scaled.legend(loc="lower left", fontsize=7.0)
    else:
        words = "no mode relaxes\nwithin half of the run"
        scaled.text(0.5, 0.5, words, transform=scaled.transAxes, ha="center", va="center", fontsize=8.0)
    return figure


def decades(axes: Axes) -> None:
    """Label a logarithmic axis with plain numbers, 1, 2, 5, 10, …, because it often spans only one decade."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def cut(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a correlation up to the lag at which noise begins."""
    below = np.flatnonzero(values < LEAST)
    end = int(below[0]) + 1 if below.size else values.size
    return times[:end], np.maximum(values[:end], 0.5 * LEAST)


def pair_distribution(chains: ChainStatistics, units: UnitSystem) -> Figure | None:
    """Draw g(r) within and between chains."""
    found = chains.pairs
    if found is None:
        return None
    figure, (axes,) = style.panels()
    r = found.middles
    whole = Estimate(found.within.value + found.between.value, np.zeros(r.size), 1)
    axes.plot(r, whole.value, color=style.BLACK, linewidth=0.8, label="all")
    with_errors(axes, r, found.between, style.BLUE, "between chains")
    with_errors(axes, r, found.within, style.VERMILION, "within a chain", linestyle=(0, (5, 1.5)))
    axes.axhline(1.0, color=style.GREY, linewidth=0.7, zorder=1)
    # The range of the axis ignores the peak of bonds of fixed length; next to it, all other features would be
    # invisible.
    top = float(np.nanmax(found.between.value))
    axes.set_ylim(0.0, min(1.1 * float(np.nanmax(whole.value)), max(3.0, 1.6 * top)))
    axes.set_xlim(0.0, float(found.edges[-1]))
    axes.set_xlabel(style.label("distance $r$", units, "length"))
    axes.set_ylabel("$g(r)$")
    style.legend(axes)
    return figure


def chain_angles(chains: ChainStatistics, units: UnitSystem) -> Figure | None:
    """Draw the distributions of bond angles and of dihedrals, and those of uncorrelated directions."""
    shown: list[tuple[str, AngleDistribution]] = []
    if chains.angles is not None:
        shown.append(("bond angle (°)", chains.angles))
    if chains.dihedrals is not None:
        shown.append(("dihedral (°)", chains.dihedrals))
    if not shown:
        return None
    figure = Figure(figsize=(style.WIDTH, 2.6))
    all_axes = figure.subplots(1, len(shown), squeeze=False)[0]
    figure.subplots_adjust(left=0.65 / style.WIDTH, right=0.985, bottom=0.5 / 2.6, top=0.95, wspace=0.28)
    degree = np.pi / 180.0  # in radians
    for axes, (label, found) in zip(all_axes, shown, strict=True):
        x, density = found.middles, found.density
        percent = Estimate(100.0 * degree * density.value, 100.0 * degree * density.error, density.parts)
        with_errors(axes, x / degree, percent, style.BLUE, "")
        chance = 0.5 * np.sin(x) if found is chains.angles else np.full(x.size, 0.5 / np.pi)
        axes.plot(x / degree, 100.0 * degree * chance, label="no preference", **IDEAL)
        axes.set_xlim(float(found.edges[0]) / degree, float(found.edges[-1]) / degree)
        axes.set_xticks(np.linspace(float(found.edges[0]) / degree, float(found.edges[-1]) / degree, 5))
        axes.set_ylim(0.0, 1.15 * float(max(np.nanmax(percent.value), 100.0 * degree * chance.max())))
        axes.set_xlabel(label)
    all_axes[0].set_ylabel("density (% per °)")
    all_axes[0].legend(loc="upper left", fontsize=7.0)
    return figure


def with_errors(
    axes: Axes, x: np.ndarray, found: Estimate, colour: str, name: str, marker: str = "", linestyle: Any = "-"
) -> None:
    """Draw a curve and a band of one standard error around it."""
    axes.plot(x, found.value, color=colour, label=name, marker=marker, markersize=3.0, linestyle=linestyle)
    axes.fill_between(x, found.value - found.error, found.value + found.error, color=colour, alpha=0.25, linewidth=0.0)


FIGURES: dict[str, Callable[[ChainStatistics, UnitSystem], Figure | None]] = {
    "chain_size": chain_size,
    "internal_distances": internal_distances,
    "chain_motion": chain_motion,
    "mode_relaxation": mode_relaxation,
    "pair_distribution": pair_distribution,
    "chain_angles": chain_angles,
}
"""Figures of chains by name, in the order of the report."""

CAPTIONS = {
    "chain_size": (
        "Mean-square distance of the ends and mean-square radius of gyration over all chains (above), and their ratio "
        "(below), 6 N/(N + 1) for ideal chains of N beads. Dark lines are running means over a tenth of the run."
    ),
    "internal_distances": (
        "Mean-square distance of beads n bonds apart, divided by n. If the bonds of a chain are uncorrelated it is "
        "⟨b²⟩, the mean-square bond length, for all n. Bands here and below are standard errors."
    ),
    "chain_motion": (
        "Mean-square displacements of the inner beads of chains (g₁), of the same beads about the centre of mass of "
        "their chain (g₂), and of the centres of mass (g₃), without the drift of the whole system. A Rouse chain "
        "has the slope ½ before its relaxation time, and 1 after it."
    ),
    "mode_relaxation": (
        "Autocorrelation of Rouse modes p and of the end-to-end vector (left), and relaxation times of the modes "
        "(right) compared with a Rouse chain with the same slowest mode."
    ),
    "pair_distribution": (
        "Density of beads at a distance from a bead, divided by the mean density, for its own chain and for others."
    ),
    "chain_angles": ("Distributions of bond angles, 180° for three beads in line, and of dihedrals, 180° for trans."),
}
"""Captions of the figures of chains."""
