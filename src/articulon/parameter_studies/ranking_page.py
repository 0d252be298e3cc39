"""Report page and files of a ranking."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from articulon import __version__
from articulon.parameter_studies.influences import Ranking
from articulon.parameter_studies.study_folder import write_study
from articulon.report import page, style
from articulon.report.readable_numbers import number, suited
from articulon.sensitivities.objectives import STOP_TIME

PAGE, RESULTS = "sensitivities.html", "sensitivities.json"
DRAWN = 40
"""Largest number of parameters that are drawn."""
SMALLEST = 1e-9
"""Smallest effect of a parameter that is drawn, as a fraction of the largest effect."""
HOW = {
    "adjoint": "All derivatives come from one run and one backward sweep, the discrete adjoint of its steps.",
    "forward": "The derivatives with respect to every parameter were computed along the run.",
}
CAPTION = "Change of the objective, and its sign, when a parameter grows by one percent."
MEANING = (
    "A relative change of a parameter p changes the objective J by p ∂J/∂p times that, to first order. Parameters are "
    "changed one at a time; a case may name one number at several keys."
)


def write_ranking(found: Ranking, folder: Path) -> None:
    """Write the page and the figures."""
    record = {
        "articulon": __version__,
        "case": found.case.name,
        "objective": found.objective,
        "value": found.value,
        "method": found.method,
        "steps": found.steps,
        "influences": found.table,
        "left_out": found.left_out,
    }
    write_study(folder, {RESULTS: json.dumps(record, indent=2, allow_nan=False) + "\n", PAGE: ranking_page(found)})


def value_text(found: Ranking) -> str:
    """Return the objective with its unit; without a unit if it is unknown."""
    if found.objective == STOP_TIME:
        return suited(found.case.units, "time", found.value).text(found.value, 5)
    return number(found.value, 6)


def ranking_page(found: Ranking) -> str:
    """Return the HTML text of the page."""
    percent = found.value != 0.0
    heads = ["parameter", "value", "∂J/∂p", "change of J for a 1 % larger value" + (" (%)" if percent else "")]
    rows = [
        [
            one.parameter,
            number(one.value),
            number(one.derivative),
            number(one.effect / 100.0 if one.elasticity is None else one.elasticity, 3),
        ]
        for one in found.influences
    ]
    drawn = style.svgs({"ranking": ranking_figure(found)}) if found.influences else {}
    label = found.case.run.stop.label if found.objective == STOP_TIME and found.case.run.stop is not None else ""
    what = f"the time until it is {label}" if label else found.objective
    left = [f"{key}: {why}" for key, why in found.left_out.items()]
    return page.document(
        f"Influences: {found.case.title}",
        f"{found.case.name}: {what} by {len(found.influences)} parameters",
        [
            page.callout("status", f"J, {what}, is {value_text(found)}.", HOW[found.method]),
            page.section("Ranking", *(page.figure("ranking", image, CAPTION) for image in drawn.values())),
            page.section("Derivatives", page.table(heads, rows), page.paragraphs([MEANING])),
            page.section("Left out", page.items(left)),
            page.section("Notes", page.items(found.case.notes)),
        ],
    )


def ranking_figure(found: Ranking) -> Figure:
    """Draw the effect of a change of each parameter by one percent, the largest on top, on a logarithmic axis."""
    shown = [one for one in found.influences if one.effect != 0.0]
    percent = all(one.elasticity is not None for one in shown)
    values = np.array([one.elasticity if percent else one.effect / 100.0 for one in shown], dtype=np.float64)
    keep = np.abs(values) >= SMALLEST * np.abs(values).max(initial=0.0)
    shown, values = [one for one, there in zip(shown, keep, strict=True) if there][:DRAWN], values[keep][:DRAWN]
    with style.applied():
        figure = Figure(figsize=(style.WIDTH, 0.9 + 0.2 * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        places, sizes = np.arange(len(shown)), np.abs(values)
        low = 10.0 ** np.floor(np.log10(sizes.min(initial=1.0)) - 0.2)
        for grows, colour, label in ((True, style.VERMILION, "grows"), (False, style.BLUE, "falls")):
            some = (values > 0.0) == grows
            axes.hlines(places[some], low, sizes[some], color=colour, linewidth=1.6)
            axes.plot(sizes[some], places[some], "o", color=colour, markersize=5.0, label=label)
        axes.set_xscale("log")
        axes.set_xlim(left=low)
        axes.set_yticks(places, [one.parameter for one in shown], fontsize=7.0)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        unit = " (%)" if percent else ""
        axes.set_xlabel(f"change of {found.objective.replace('_', ' ')} by 1 % more{unit}")
        style.legend(axes)
    return figure
