"""Report page and files of a fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from articulon import __version__
from articulon.parameter_studies.fit_result import REGION, FitResult
from articulon.parameter_studies.study_folder import write_study
from articulon.report import page, style
from articulon.report.readable_numbers import number, percent

PAGE, RESULTS, MEASUREMENTS, FITTED_CASE = "fit.html", "fit.json", "measurements.csv", "case.toml"
CONFIDENCE = 0.95
DRAWN = 6
"""Largest number of observables that are drawn."""
CORRELATED = 12
"""Largest number of parameters in the table of correlations."""
HOW = (
    "Intervals are those of a linear model: the covariance is (JᵀJ)⁻¹, with J the derivatives of all measurements with "
    "respect to the parameters, over the errors. {errors} They hold as far as the run is linear over the intervals."
)
CAPTION = "Above, the measurements (points) and the fitted run (line). Below, the residuals."
FILES = f"{FITTED_CASE} is the case with the fitted values, {MEASUREMENTS} the measurements, {RESULTS} all numbers."
KNOWN = "The errors of the measurements are given."
UNKNOWN = "The errors of the measurements are estimated from the residuals of the fit, with Student's t."


def write_fit(found: FitResult, folder: Path) -> None:
    """Write the page, the figures, the measurements and the fitted case."""
    files = {
        FITTED_CASE: found.case.to_toml(),
        MEASUREMENTS: found.measurements.to_csv(),
        RESULTS: json.dumps(summary(found), indent=2, allow_nan=False) + "\n",
        PAGE: fit_page(found),
    }
    write_study(folder, files)


def summary(found: FitResult) -> dict[str, Any]:
    """Return the results of a fit, in the form in which ``fit.json`` contains them."""
    parameters = [
        {
            "key": name,
            "start": start,
            "found": value,
            "standard_error": error,
            "interval": [low, high],
            **({"true": own} if found.synthetic else {}),
        }
        for name, start, value, error, (low, high), own in zip(
            found.names,
            found.sought.start.tolist(),
            found.numbers.tolist(),
            found.standard_errors.tolist(),
            found.intervals(CONFIDENCE).tolist(),
            found.sought.own.tolist(),
            strict=True,
        )
    ]
    return {
        "articulon": __version__,
        "case": found.case.name,
        "parameters": parameters,
        "confidence": CONFIDENCE,
        "correlation": found.correlation.tolist(),
        "observables": list(found.measurements.observables),
        "measurements": found.degrees_of_freedom + found.numbers.size,
        "degrees_of_freedom": found.degrees_of_freedom,
        "residual_error": found.residual_error,
        "errors": None if found.measurements.errors is None else found.measurements.errors.tolist(),
        "evaluations": found.evaluations,
        "synthetic": found.synthetic,
        "recovered": found.recovered,
    }


def fit_page(found: FitResult) -> str:
    """Return the HTML text of the page."""
    record = summary(found)
    measured = f"{record['measurements']} measurements of {', '.join(found.measurements.observables)}"
    source = "the case's own run" if found.synthetic else "data"
    known = found.measurements.errors is not None
    heads = ["parameter", "start", "found", "standard error", f"{percent(CONFIDENCE)} interval"]
    rows = []
    for one in record["parameters"]:
        low, high = one["interval"]
        row = [one["key"], number(one["start"]), number(one["found"], 6), number(one["standard_error"], 2)]
        row.append(f"{number(low, 5)} to {number(high, 5)}")
        rows.append([*row, number(one["true"], 6)] if found.synthetic else row)
    drawn = style.svgs({"fit": observed_figure(found)})
    return page.document(
        f"Fit: {found.case.title}",
        f"{found.case.name}: {found.numbers.size} numbers from {measured}, of {source}",
        [
            callout(found),
            recovered(found),
            page.section(
                "Parameters",
                page.table([*heads, "true"] if found.synthetic else heads, rows),
                page.paragraphs([HOW.format(errors=KNOWN if known else UNKNOWN)]),
            ),
            page.section("Correlations", correlations(found)),
            page.section(
                "Measurements and fit",
                page.figure("fit", drawn["fit"], CAPTION),
            ),
            page.section("Notes", page.items(found.case.notes)),
            page.section("Files", page.paragraphs([FILES])),
        ],
    )


def callout(found: FitResult) -> str:
    """Describe the quality of the fit, in sentences."""
    from scipy.stats import chi2

    ended = f"The search ended after {found.evaluations} runs with their derivatives."
    if found.measurements.errors is None:
        left = f"The root mean square of the residuals is {number(found.residual_error)}."
        return page.callout("status", ended, left)
    freedom, reduced = found.degrees_of_freedom, found.residual_error**2
    expected = np.sqrt(2.0 / freedom)
    fits = 0.5 * (1.0 - REGION) < chi2.cdf(freedom * reduced, freedom) < 0.5 * (1.0 + REGION)
    sentence = f"χ² is {number(reduced)} per degree of freedom; 1 ± {number(expected, 2)} is expected."
    doubt = "" if fits else "The model does not fit within the errors, or the given errors are wrong."
    return page.callout("trusted" if fits else "suspect", ended, sentence, doubt)


def recovered(found: FitResult) -> str:
    """Return a sentence on whether the case's own values were recovered."""
    if found.recovered is None:
        return ""
    if found.recovered:
        return page.callout("trusted", "The case's values were recovered: they lie in the 99.9 % confidence region.")
    return page.callout(
        "violated", "The case's values were not recovered: they lie outside the 99.9 % confidence region."
    )


def correlations(found: FitResult) -> str:
    """Return the table of correlations, unless it is too large."""
    if not 2 <= found.numbers.size <= CORRELATED:
        return ""
    marks = [f"({k + 1})" for k in range(found.numbers.size)]
    named = zip(marks, found.names, found.correlation.tolist(), strict=True)
    return page.table(["", *marks], [[f"{mark} {name}", *(number(x, 2) for x in row)] for mark, name, row in named])


def observed_figure(found: FitResult) -> Figure:
    """Draw the measurements and the fit, and the residuals below."""
    names = found.measurements.observables[:DRAWN]
    times, unit = found.measurements.times, style.label("time", found.case.units, "time")
    with style.applied():
        figure = Figure(figsize=(style.WIDTH, 0.4 + 2.2 * len(names)), layout="constrained")
        grid = figure.add_gridspec(2 * len(names), 1, height_ratios=[2.2, 1.0] * len(names))
        for k, name in enumerate(names):
            above = figure.add_subplot(grid[2 * k])
            below = figure.add_subplot(grid[2 * k + 1], sharex=above)
            measured, fitted = found.measurements.values[:, k], found.fitted[:, k]
            above.plot(times, measured, ".", color=style.BLUE, markersize=4.0, label="measured")
            above.plot(times, fitted, color=style.VERMILION, linewidth=1.2, label="fitted")
            above.set_ylabel(name)
            above.tick_params(labelbottom=False)
            style.legend(above)
            below.axhline(0.0, color=style.GREY, linewidth=0.7)
            below.plot(
                times, found.measurements.values[:, k] - found.fitted[:, k], ".", color=style.BLUE, markersize=3.0
            )
            below.set_ylabel("left")
        below.set_xlabel(unit)
    return figure
