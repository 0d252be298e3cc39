"""Report page of a replica exchange: acceptance, walkers, and overlap of the energies."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from articulon.cases.case import Case
from articulon.report import page, style
from articulon.report.readable_numbers import number, wall_time
from articulon.runs.exchange_results import ReplicaExchange
from articulon.runs.run import REPORT

PAGE = "exchange.html"
FEW = 0.05
"""Fraction of accepted exchanges below which the page warns that two neighbouring runs hardly mix."""
DISTINCT, NAMED = 6, 16
"""Largest number of runs with distinct colours, and largest number of runs that are named at the axis."""
COLUMNS = 400
"""Largest number of columns of a band over time."""
BINS = 40
SKIPPED = 0.25
"""Fraction of the frames, at the start, that averages of the energy exclude."""


def exchange_page(case: Case, done: ReplicaExchange) -> str:
    """Return the HTML text of the page."""
    runs, made = len(done.runs), len(done.walkers)
    names = [run.folder.name for run in done.runs]
    kelvin = "" if case.units.time is None else " K"
    energy = f"mean potential energy ({style.unit(case.units, 'energy')})"
    heads = ["run", "temperature", "locked", "accepted with next run", energy, "steps", "wall time"]
    rows, links = [], []
    for k, run in enumerate(done.runs):
        part = f"{100.0 * done.acceptance[k]:.0f} %" if k < runs - 1 and done.tried[k] else ""
        rows.append(
            [
                names[k],
                f"{number(done.temperatures[k])}{kelvin}",
                ", ".join(done.locked[k]) or "nothing",
                part,
                number(float(late(run.potential_energy).mean()), 6),
                number(run.summary["steps"]),
                wall_time(run.summary["wall_seconds"]),
            ]
        )
        links.append(f"{names[k]}/{REPORT}" if (run.folder / REPORT).is_file() else None)
    drawn = style.svgs({"walkers": walkers_figure(case, done), "energies": energies_figure(case, done)})
    return page.document(
        f"Replica exchange: {case.title}",
        f"{case.name}: {runs} runs, {made} exchanges, {round_trips(done)}",
        [
            callout(done),
            page.section("Runs", page.table(heads, rows, (), links)),
            page.section(
                "Exchanges",
                page.figure(
                    "walkers",
                    drawn["walkers"],
                    "Walker held by each run: a colour for each initial configuration. A round trip leads from the "
                    "first run to the last and back.",
                ),
                page.figure(
                    "energies",
                    drawn["energies"],
                    "Distributions of the runs' potential energies, without the first quarter. The more those of "
                    "neighbours overlap, the more often they exchange.",
                ),
            ),
            page.section("Notes", page.items(list(case.notes))),
        ],
    )


def round_trips(done: ReplicaExchange) -> str:
    """Return the number of round trips from the first run to the last and back, with its noun."""
    return f"{done.round_trips} round trip{'' if done.round_trips == 1 else 's'}"


def callout(done: ReplicaExchange) -> str:
    """Return the box at the top of the page, which says whether the runs mix."""
    rare = np.flatnonzero((done.tried > 0) & (done.acceptance < FEW))
    if rare.size:
        pairs = ", ".join(f"{k + 1} and {k + 2}" for k in rare.tolist())
        return page.callout(
            "suspect",
            f"Runs {pairs} accept fewer than {100 * FEW:.0f} % of their exchanges, so they hardly mix. Use "
            "temperatures that are closer together.",
        )
    if not done.round_trips:
        return page.callout(
            "inconclusive",
            "No coordinates have made a round trip from the first run to the last and back yet: the averages of the "
            "first run do not yet benefit from the last. Run for longer.",
        )
    times = f"{done.round_trips} time{'' if done.round_trips == 1 else 's'}"
    return page.callout("trusted", f"Coordinates made the round trip from the first run to the last and back {times}.")


def late(values: np.ndarray) -> np.ndarray:
    """Select the frames that averages use."""
    return values[int(SKIPPED * len(values)) :]


def walkers_figure(case: Case, done: ReplicaExchange) -> Figure:
    """Draw the walker of each run over time: a band for each run, a colour for each initial configuration."""
    times, made, runs = done.runs[0].times, len(done.walkers), len(done.runs)
    per = max(1, (len(times) - 1) // max(1, made))
    stride = max(1, -(-made // COLUMNS))
    held = done.walkers[::stride]
    edges = np.append(times[per::per][:made:stride], times[made * per] + times[per] - times[0])
    colours = [style.variant(k)["color"] for k in range(runs)] if runs <= DISTINCT else _shades(runs)
    with style.applied():
        figure, (axes,) = style.panels(height=0.9 + 0.25 * min(runs, 16))
        for run in range(runs):
            changes = np.flatnonzero(np.diff(held[:, run], prepend=-1, append=-1))
            for begin, end in zip(changes[:-1].tolist(), changes[1:].tolist(), strict=True):
                place = edges[begin], edges[end] - edges[begin]
                colour = colours[held[begin, run]]
                axes.broken_barh([place], (run + 0.6, 0.8), facecolors=colour, linewidth=0.0)
        axes.grid(False)
        axes.set_yticks(range(1, runs + 1), [run.folder.name for run in done.runs] if runs <= NAMED else None)
        axes.set_ylim(0.5, runs + 0.5)
        axes.set_xlabel(style.label("time", case.units, "time"))
        for k in range(runs if runs <= DISTINCT else 0):
            axes.plot([], [], color=colours[k], linewidth=5.0, label=f"from {done.runs[k].folder.name}")
        if runs <= DISTINCT:
            style.legend(axes)
    return figure


def _shades(count: int) -> list[Any]:
    """Colours from dark to bright for ``count`` initial configurations, in order."""
    return list(colormaps["viridis"](np.linspace(0.0, 1.0, count)))


def energies_figure(case: Case, done: ReplicaExchange) -> Figure:
    """Draw the distributions of the runs' potential energies."""
    energies = [late(run.potential_energy) for run in done.runs]
    everything = np.concatenate(energies)
    edges = np.histogram_bin_edges(everything, BINS).tolist()
    with style.applied():
        figure, (axes,) = style.panels(height=2.6)
        for k, values in enumerate(energies):
            look = style.variant(k)
            axes.hist(values, bins=edges, density=True, histtype="step", label=done.runs[k].folder.name, **look)
        axes.set_ylabel("density")
        axes.set_yticks([])
        axes.set_xlabel(style.label("potential energy", case.units, "energy"))
        style.legend(axes)
    return figure
