"""What `articulon advise` says of every built-in case, beside what its authors chose and what runs take and do.

    python -m validation.advice [CASE ...]

takes some twenty minutes on two quiet cores and rewrites its section of docs/validation.md; with names it measures
these cases anew and keeps the others. What has been measured is kept in advice.json beside this file; remove it to
measure everything anew. Options that would take longer than PATIENCE are not run.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import articulon as ar
from articulon.advice import Advice, Option
from articulon.advice.probe_trials import path_error
from articulon.advice.subject import Subject
from articulon.cases.library import built_in_cases
from articulon.comparisons.timed_runs import Stopwatch
from articulon.errors import ArticulonError
from articulon.fidelity.paths import path_of
from articulon.report.readable_numbers import number, suited, wall_time
from articulon.simulation.run_request import Silent
from validation.page import table, write_section

KEPT = FilePath(__file__).with_suffix(".json")
SECONDS = 12.0
"""Wall time of each advice [s]."""
PATIENCE = 30.0
"""Estimated wall time up to which an option is run [s]."""
SHORT = 2.0
"""Runs that take less are not judged by their cost: what a run takes once is most of it [s]."""
FACTOR = 1.5
"""By which an estimate may be off."""
REFERENCE = ("explicit", "friction-implicit")
"""Options that others are held against, the first that was run."""


class Watch(Stopwatch):
    """Measures the processor time of a run too."""

    processor = 0.0

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        super().start(total_time, unit, resumed_from)
        self.processor = -time.process_time()

    def finish(self, text: str = "") -> None:
        self.processor += time.process_time()
        super().finish(text)


def measured(name: str) -> dict[str, Any]:
    """What is said of a case, and what its options take and do."""
    advice = ar.advise(name, seconds=SECONDS)
    found: dict[str, Any] = {"advice": advice.data, "own": _own(advice), "runs": {}}
    runs: dict[str, Any] = {}
    for option in advice.options:
        if not option.measured or float(option.seconds or 0.0) > PATIENCE:
            continue
        sys.stderr.write(f"  {option.name}\n")
        made, run = _run(advice, option)
        found["runs"][option.name] = made
        if run is not None:
            runs[option.name] = run
    _compare(advice, found, runs)
    return found


def _own(advice: Advice) -> dict[str, Any]:
    case = advice.case
    return {
        "rule": str(case.integrator.rule),
        "step": getattr(case.integrator, "step", None),
        "scaling": str(case.scaling.policy),
        "adaptive": case.adaptive is not None and case.adaptive.on,
    }


def _run(advice: Advice, option: Option) -> tuple[dict[str, Any], Any]:
    case, watch = advice.case.with_overrides(option.changes), Watch(Silent())
    with tempfile.TemporaryDirectory() as scratch:
        try:
            run = ar.run(case, FilePath(scratch) / "run", progress=watch, report=False)
        except ArticulonError as error:
            return {"failure": str(error).splitlines()[0]}, None
        summary = run.summary
        kept = {"times": run.times, "q": run.q, "u": run.u, "stop": summary.get("stop_time")}
    checks = summary.get("checks") or []
    return {
        "seconds": watch.seconds,
        "processor": watch.processor,
        "steps": summary["steps"],
        "checks": [sum(bool(check["passed"]) for check in checks), len(checks)],
        "verdict": (summary.get("fidelity") or {}).get("verdict"),
    }, kept


def _compare(advice: Advice, found: dict[str, Any], runs: dict[str, Any]) -> None:
    """Adds to each run how far its motion is from the reference's, where motions do not part whatever the step."""
    subject = Subject.of(advice.case)
    chaotic = subject.particles or subject.touches or subject.noisy or advice.case.thermostat is not None
    reference = next((name for name in REFERENCE if name in runs), None)
    if chaotic or reference is None:
        return
    truth = runs[reference]
    for name, run in runs.items():
        if name == reference:
            continue
        if truth["stop"] is not None and run["stop"] is not None:
            found["runs"][name]["error"] = abs(run["stop"] - truth["stop"]) / truth["stop"]
        else:
            count = min(len(run["times"]), len(truth["times"]))
            paths = [
                path_of(subject.groups, *(np.asarray(one[key])[:count] for key in ("times", "q", "u")))
                for one in (run, truth)
            ]
            found["runs"][name]["error"] = path_error(subject, *paths, float(run["times"][count - 1])).error
        found["runs"][name]["beside"] = reference


def main() -> None:
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    asked = sys.argv[1:]
    for name in built_in_cases():
        if name in kept and name not in asked:
            continue
        sys.stderr.write(f"{name}\n")
        kept[name] = measured(name)
        KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    write(kept)


def write(kept: dict[str, Any]) -> None:
    """Rewrites the section of docs/validation.md."""
    rows, costs = [], []
    counts = {"near": 0, "judged": 0, "kept": 0, "errors": 0}
    for name in sorted(kept):
        found = kept[name]
        rows.append(_row(name, found))
        for option in found["advice"]["options"]:
            run = found["runs"].get(option["name"])
            if run is None:
                continue
            costs.append(_cost_row(name, option, run, found["advice"]["recommended"]))
            if "seconds" in run and max(run["seconds"], option["wall_seconds"]) >= SHORT:
                ratio = option["processor_seconds"] / run["processor"]
                counts["judged"] += 1
                counts["near"] += 1.0 / FACTOR <= ratio <= FACTOR
            if "error" in run and option["trust"]["error"] is not None:
                bound = max(option["trust"]["error"], found["advice"]["tolerance"])
                counts["errors"] += 1
                counts["kept"] += run["error"] <= bound
    heads = ["case", "its own", "recommended", "step", "estimated time", "estimated error", "trust"]
    details = [
        "case",
        "option",
        "steps estimated",
        "steps",
        "estimated [s]",
        "measured [s]",
        "ratio",
        "of processor time",
        "error promised",
        "error",
        "checks",
    ]
    write_section(
        "advice",
        f"""
## What `advise` says of the built-in cases

`python -m validation.advice` asks `articulon advise` about each built-in case. The probe of a case may take {SECONDS:g}
s of wall time, and the tolerance is 2 %. The column "its own" gives the rule and the step that the authors of the case
chose. Errors are relative to the observed quantities.

{table(heads, rows)}

The advice differs from the choice of the authors for these reasons. *bounce* takes half of the step that contacts
allow, because its check depends on the moment within a step at which a contact begins. The steps of *n-four-bar* are
ten times as short as a tolerance of two percent requires. *ebola-receptor* and *nanoparticle-docking* were made to show
scaling and the friction-implicit rule; without inertia these two cases take a hundredth of the time. The molten salts
are published with Kutta-Merson, which costs five evaluations per step. *adaptive-protein* and *flexible-filament* were
made to show locking. For *adaptive-protein*, it is not known whether locking changes the results by less than two
percent. For *flexible-filament*, locking changes the results by more than two percent.

All options with an estimated time of at most {PATIENCE:g} s were run. For {counts["near"]} of the {counts["judged"]}
runs that took at least {SHORT:g} s, the estimate is right within a factor of {FACTOR:g}. The time of shorter runs is
mostly needed for work that is done once in a run. The machine was shared with other programs, so wall times of one run
differed by a factor of up to two. The estimates are therefore judged by processor time.

The error of a run is its deviation from the explicit run, or from the friction-implicit run if the explicit one is too
expensive. If a stop condition ends both runs, the error is the relative difference of the stopping times. No error is
given if paths are chaotic and therefore diverge with any step. {counts["kept"]} of {counts["errors"]} errors are within
the promised error or the tolerance. The last column gives how many checks of the case the run passes.

{table(details, costs)}
""",
    )


def _row(name: str, found: dict[str, Any]) -> list[str]:
    advice, own = found["advice"], found["own"]
    units = ar.load_case(name).units

    def time(value: float | None) -> str:
        return "" if value is None else suited(units, "time", value).text(value, 3)

    best = next((option for option in advice["options"] if option["name"] == advice["recommended"]), None)
    of_case = f"{own['rule']} {time(own['step'])}".strip()
    of_case += "" if own["scaling"] == "none" else f", {own['scaling']}"
    of_case += ", adaptive" if own["adaptive"] else ""
    if best is None:
        return [name, of_case, "nothing", "–", "–", "–", "–"]
    error = best["trust"]["error"]
    what = best["name"] if best["name"] == best["rule"] else f"{best['name']} ({best['rule']})"
    step = time(best["step"]) if best["equal_steps"] else f"~ {time(best['step'])}"
    told = "–" if error is None else f"{error:.1e}"
    return [name, of_case, what, step, wall_time(best["wall_seconds"]), told, best["trust"]["verdict"]]


def _cost_row(name: str, option: dict[str, Any], run: dict[str, Any], recommended: str) -> list[str]:
    mark = f"**{option['name']}**" if option["name"] == recommended else option["name"]
    promised = option["trust"]["error"]
    told = "–" if promised is None else f"{promised:.1e}"
    if "failure" in run:
        return [
            name,
            mark,
            number(option["steps"], 3),
            "–",
            f"{option['wall_seconds']:.3g}",
            "–",
            "–",
            "–",
            told,
            "–",
            run["failure"],
        ]
    passed, checks = run["checks"]
    return [
        name,
        mark,
        number(float(f"{option['steps']:.3g}")),
        number(run["steps"]),
        f"{option['wall_seconds']:.3g}",
        f"{run['seconds']:.3g}",
        f"{option['wall_seconds'] / run['seconds']:.2f}",
        f"{option['processor_seconds'] / run['processor']:.2f}",
        told,
        f"{run['error']:.1e}" if "error" in run else "–",
        f"{passed} of {checks}" if checks else "–",
    ]


if __name__ == "__main__":
    main()
