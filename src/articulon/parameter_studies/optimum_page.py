"""Report page and files of an optimisation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from articulon import __version__
from articulon.parameter_studies.optimum import Optimum
from articulon.parameter_studies.study_folder import write_study
from articulon.report import page, style
from articulon.report.readable_numbers import number

PAGE, RESULTS, OPTIMAL_CASE = "optimum.html", "optimum.json", "case.toml"
CAPTION = (
    "The largest scaled departure from a target, for each run that came closer to the targets than all runs before it."
)
FILES = f"{OPTIMAL_CASE} is the case with the found values, {RESULTS} all numbers."


def write_optimum(found: Optimum, folder: Path) -> None:
    """Write the page, the figures and the case with the found values."""
    record = {
        "articulon": __version__,
        "case": found.case.name,
        "parameters": dict(zip(found.names, found.numbers.tolist(), strict=True)),
        "targets": [
            {"observable": one.observable, "value": one.value, "scale": one.scale, "end": end}
            for one, end in zip(found.targets, found.ends.tolist(), strict=True)
        ],
        "departures": list(found.departures),
        "runs": found.runs,
    }
    files = {
        OPTIMAL_CASE: found.case.to_toml(),
        RESULTS: json.dumps(record, indent=2, allow_nan=False) + "\n",
        PAGE: optimum_page(found),
    }
    write_study(folder, files)


def optimum_page(found: Optimum) -> str:
    """Return the HTML text of the page."""
    rows = [
        [name, number(start), number(value, 6)]
        for name, start, value in zip(found.names, found.sought.start.tolist(), found.numbers.tolist(), strict=True)
    ]
    ends = [
        [one.observable, number(one.value, 6), number(end, 6), number(abs(end - one.value), 2)]
        for one, end in zip(found.targets, found.ends.tolist(), strict=True)
    ]
    drawn = style.svgs({"search": search_figure(found)})
    return page.document(
        f"Optimum: {found.case.title}",
        f"{found.case.name}: {found.numbers.size} numbers for {len(found.targets)} targets",
        [
            page.callout("trusted", f"The run ends within {number(found.departures[-1], 2)} of its targets' scales."),
            page.section("End of the run", page.table(["observable", "target", "end", "departure"], ends)),
            page.section("Parameters", page.table(["parameter", "start", "found"], rows)),
            page.section("Search", page.figure("search", drawn["search"], CAPTION)),
            page.section("Notes", page.items(found.case.notes)),
            page.section("Files", page.paragraphs([FILES])),
        ],
    )


def search_figure(found: Optimum) -> Figure:
    """Draw the progress of the search."""
    with style.applied():
        figure, (axes,) = style.panels(height=2.6)
        axes.semilogy(np.arange(1, len(found.departures) + 1), found.departures, ".-", color=style.BLUE)
        axes.set_xlabel("runs that came nearer")
        axes.set_ylabel("largest departure")
    return figure
