"""Ranked parameters as a page in one file, and as files."""

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
DRAWN = 30
"""Parameters that are drawn."""
HOW = {
    "adjoint": "All derivatives come from one run and one sweep back through it, the discrete adjoint of its steps.",
    "forward": "The changes by every parameter were taken along the run.",
}
CAPTION = "What one percent more of a parameter changes: to the right the objective grows, to the left it falls."
MEANING = (
    "A parameter p changes the objective J by p ∂J/∂p for each part of itself, to first order. Parameters are changed "
    "one at a time; a case may name one number at several keys."
)


def write_ranking(found: Ranking, folder: Path) -> None:
    """Write the page and the figures."""
    told = {
        "articulon": __version__,
        "case": found.case.name,
        "objective": found.objective,
        "value": found.value,
        "method": found.method,
        "steps": found.steps,
        "influences": found.table,
        "left_out": found.left_out,
    }
    write_study(folder, {RESULTS: json.dumps(told, indent=2, allow_nan=False) + "\n", PAGE: ranking_page(found)})


def value_text(found: Ranking) -> str:
    """The objective with its unit, where that is known."""
    if found.objective == STOP_TIME:
        return suited(found.case.units, "time", found.value).text(found.value, 5)
    return number(found.value, 6)


def ranking_page(found: Ranking) -> str:
    """The text of the page."""
    percent = found.value != 0.0
    heads = ["parameter", "value", "∂J/∂p", "1 % more changes J by" + (" (%)" if percent else "")]
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
        f"What decides: {found.case.title}",
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
    """Bars of what one percent of each parameter changes, the largest above."""
    shown = [one for one in found.influences if one.effect != 0.0][:DRAWN]
    percent = all(one.elasticity is not None for one in shown)
    values = [one.elasticity if one.elasticity is not None and percent else one.effect / 100.0 for one in shown]
    with style.applied():
        figure = Figure(figsize=(style.WIDTH, 0.9 + 0.2 * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        places = np.arange(len(shown))
        axes.barh(places, values, height=0.7, color=[style.VERMILION if x > 0.0 else style.BLUE for x in values])
        axes.axvline(0.0, color=style.BLACK, linewidth=0.7)
        axes.set_yticks(places, [one.parameter for one in shown], fontsize=7.0)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        unit = " (%)" if percent else ""
        axes.set_xlabel(f"change of {found.objective.replace('_', ' ')} by 1 % more{unit}")
    return figure
