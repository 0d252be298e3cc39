"""Report page of a sweep: joint results of its members, and a list of the members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.report import page, style
from articulon.report.readable_numbers import number, wall_time
from articulon.runs.run import REPORT
from articulon.sweeps.member_statistics import varies
from articulon.sweeps.sweep_figures import distribution_figures, passage_figure
from articulon.sweeps.sweep_words import group_label, mean_words, passage_heads, passage_words, scale_of

DRAWN = 24
"""Largest number of quantities of each kind that are drawn; the tables contain all quantities."""
LISTED = 2000
"""Largest number of members that are listed; ensemble.json contains all members."""
CAPTIONS = {
    True: "Values of the members: histograms, with the mean over the members (line) and its 95 % interval (band).",
    False: "Values of the members by group, with the mean over the members of each and its 95 % interval.",
}
"""Captions of distributions, for one group and for several groups."""
EXPLAINED = {
    "averages": (
        "Each member gives one number, the mean of an observable over its frames. The mean over the members is "
        "given with half of its 95 % interval by Student's t, t s/√n, which assumes independent members, "
        "such as runs with different seeds."
    ),
    "figures": "Numbers in the summaries of the members, averaged in the same way.",
    "passage": (
        "A run that reached its duration without being {stop} is censored there: it counts among those at risk for as "
        "long as it was observed (Kaplan and Meier 1958). The band is 95 %, Greenwood's variance on the scale of "
        "ln(−ln S). The mean of min(t, end) assumes no distribution of the times; the mean at a constant rate is the "
        "total observed time over the number of passages, and holds if stopping has no memory."
    ),
}


def page_of(case: Case, folder: Path, summary: Mapping[str, Any]) -> str:
    """Return the HTML text of the page.

    Parameters
    ----------
    case
        Case of the sweep.
    folder
        Folder of the sweep, for links to the members' files.
    summary
        Contents of ``ensemble.json``.
    """
    groups, members = summary["groups"], summary["members"]
    failed = [row for row in members if row["error"] is not None]
    seeds = len(summary["seeds"])
    lead = f"{case.name}: {len(members)} members, {seeds} {'seed' if seeds == 1 else 'seeds'}"
    if summary["vary"]:
        lead += f" for each of {len(groups)} combinations of {', '.join(summary['vary'])}"
    return page.document(
        f"Sweep: {case.title}",
        lead,
        [
            _callout(members, failed),
            page.section("First passage", *_passage(case, groups, summary["stops"])),
            page.section("Observables", *_quantities(groups, members, "averages")),
            page.section("Figures of the runs", *_quantities(groups, members, "figures")),
            page.section("Members", *_members(folder, members)),
            page.section("Notes", page.items([*summary["notes"], *case.notes])),
        ],
    )


def _callout(members: Sequence[Mapping[str, Any]], failed: Sequence[Mapping[str, Any]]) -> str:
    if not failed:
        return page.callout("trusted", f"All {len(members)} members are complete.")
    return page.callout(
        "violated",
        f"{len(failed)} of {len(members)} members have failed, and are left out of all means below. If the failures "
        "depend on the results, the means are biased.",
        *(f"{row['name']}: {row['error'].splitlines()[0]}" for row in failed[:5]),
    )


def _passage(case: Case, groups: Sequence[Mapping[str, Any]], stop: str | None) -> list[str]:
    shown = [group for group in groups if group["first_passage"] is not None]
    if not shown or stop is None:
        return []
    time = scale_of(case.units, groups)
    rows = [[group_label(group["values"]), *passage_words(group["first_passage"], time)] for group in shown]
    figure = passage_figure(groups, time, stop)
    drawn = "" if figure is None else style.svg(figure, "passage")
    return [
        page.table(["", *passage_heads(stop)], rows),
        page.paragraphs([EXPLAINED["passage"].format(stop=stop)]),
        page.figure("passage", drawn, f"Fraction of the runs that are not yet {stop}, with its 95 % band."),
    ]


def _quantities(groups: Sequence[Mapping[str, Any]], members: Sequence[Mapping[str, Any]], what: str) -> list[str]:
    names = varies(groups, what)
    constant = {name: found for group in groups for name, found in group[what].items() if name not in set(names)}
    heads = ["", *(group_label(group["values"]) for group in groups)]
    if len(groups) == 1:
        heads = ["", "mean", "standard deviation", "least", "median", "largest", "members"]
        one = groups[0][what]
        rows = [[name, mean_words(one[name]), *_spread(one[name])] for name in names]
    else:
        rows = [[name, *(mean_words(group[what].get(name)) for group in groups)] for name in names]
    chosen = [name for name in names if not name.endswith("wall_seconds")][:DRAWN]
    drawn = style.svgs(distribution_figures(groups, members, what, chosen))
    left = len(names) - len(chosen)
    caption = CAPTIONS[len(groups) == 1] + (f" {left} more are only in the table." if left else "")
    same = "\n".join(f"{name} = {number(found['mean'], 6)}" for name, found in sorted(constant.items()))
    return [
        page.table(heads, rows) if rows else "",
        page.paragraphs([EXPLAINED[what]]) if rows or constant else "",
        *(page.figure(name, image, caption) for name, image in drawn.items()),
        page.details(f"{len(constant)} that are the same in every member", same) if same else "",
    ]


def _spread(found: Mapping[str, Any]) -> list[str]:
    return [
        number(found["standard_deviation"], 3),
        number(found["least"]),
        number(found["quartiles"][1]),
        number(found["largest"]),
        number(found["n"]),
    ]


def _members(folder: Path, members: Sequence[Mapping[str, Any]]) -> list[str]:
    shown = members[:LISTED]
    rows = [
        [
            row["name"],
            row["status"],
            number(row["simulated_time"]),
            number(row["figures"].get("steps")),
            wall_time(row["wall_seconds"]),
            "" if row["error"] is None else row["error"].splitlines()[0],
        ]
        for row in shown
    ]
    links = [f"{row['name']}/{REPORT}" if (folder / row["name"] / REPORT).is_file() else None for row in shown]
    marked = [k for k, row in enumerate(shown) if row["error"] is not None]
    heads = ["member", "status", "simulated time", "steps", "wall time", "error"]
    more = f"{len(members) - LISTED} more are in ensemble.json." if len(members) > LISTED else ""
    hint = (
        "To write the report of a member, call articulon.open_run(FOLDER/MEMBER).report(), or use the report command."
    )
    return [page.table(heads, rows, marked, links), page.paragraphs([more, hint])]
