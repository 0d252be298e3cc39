"""Whether the policy ``error-controlled`` is honest: tolerance against true error on the docking case, and its cost
beside that of explicit and of friction-implicit steps, unscaled. Without noise and flow, from rest.

    python -m validation.error_control [near] [published]

takes about twenty minutes on a quiet machine and rewrites its section of docs/validation.md. What a row has cost and
when it docked are kept in error_control.json beside this file, so that it can be broken off and gone on with; remove it
to measure everything anew.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import articulon as ar
from articulon.integrate.status import STOPPED
from articulon.model.state import EVALUATIONS, STEPS
from articulon.simulation.preparation import first_state, prepare
from validation.page import table, write_section

CASE = "nanoparticle-docking"
KEPT = Path(__file__).with_suffix(".json")
KUTTA_MERSON = {"rule": "kutta-merson", "rtol": 1e-5, "atol": 1e-6}
STARTS: dict[str, dict[str, Any]] = {
    "near": {"model.gap": "44 nm", "run.stop.advance": "25 nm", "run.duration": "8 us", "run.frames": 400},
    "published": {"model.gap": "66.4 nm", "run.stop.advance": "55 nm", "run.duration": "100 us", "run.frames": 400},
}
STAGES = {"near": ((8, 25),), "published": ((40, 35), (8, 44))}
"""Steps of the friction-implicit reference [ps], each up to an advance [nm]. What is left after the last is taken by
Kutta–Merson, unscaled: where the tips meet the receptors, equal steps do not stay finite."""
ROWS = {
    "near": ((0.1, "arrival"), (0.05, "arrival"), (0.02, "arrival"), (0.1, "moment")),
    "published": ((0.02, "arrival"),),
}
"""Tolerances, and what they bound."""
SAMPLE = "0.02 us"
"""Of an unscaled explicit run, whose evaluations are extrapolated to the docking time."""


def reference(start: str) -> dict[str, float]:
    """When the unscaled particle docks [μs], and the evaluations until then."""
    state: Any = None
    evaluations, arrival = 0, 0.0
    goal = float(STARTS[start]["run.stop.advance"].removesuffix(" nm"))
    stages: list[tuple[Any, float]] = [
        ({"rule": "friction-implicit", "step": f"{step} ps"}, advance) for step, advance in STAGES[start]
    ]
    if stages[-1][1] < goal:
        stages.append((KUTTA_MERSON, goal))
    for rule, advance in stages:
        changes = {**STARTS[start], "run.stop.advance": f"{advance} nm", "run.frames": 40}
        made = prepare(ar.load_case(CASE, {**changes, "integrator": rule}))
        if state is None:
            state = first_state(made)
        if made.windows.step is not None:
            state.counters[STEPS] = round(float(state.time[0]) / made.windows.step)
        before = int(state.counters[EVALUATIONS])
        ended = made.driver.advance(state, 1e3, 2**40)
        assert ended == STOPPED, f"{rule} did not come to {advance} nm, but to {state.time[0]} μs"
        evaluations += int(state.counters[EVALUATIONS]) - before
        arrival = made.observer.passage(state, advance * 1e-3)
    return {"arrival": arrival, "evaluations": evaluations}


def run(changes: dict[str, Any]) -> dict[str, Any]:
    """When a run docks [μs], and its evaluations, least factor and verdict."""
    with tempfile.TemporaryDirectory() as scratch:
        done = ar.run(ar.load_case(CASE, changes), Path(scratch) / "run")
        found, factor = done.summary, done.observables["factor_damping"]
        fidelity = found.get("fidelity") or {}
        return {
            "arrival": found["stop_time"] or found["simulated_time"],
            "evaluations": found["evaluations"],
            "least": float(factor.min()),
            "verdict": fidelity.get("verdict"),
            "balance": found["energy_balance_error_relative"],
        }


def kept_rows() -> dict[str, dict[str, Any]]:
    """What has been measured."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def measure_missing(starts: list[str]) -> None:
    """Measures the rows of these starts that are not kept; processes for different starts may run side by side."""

    def row(name: str, measure: Any, *arguments: Any) -> None:
        if name not in kept_rows():
            sys.stderr.write(f"{name}\n")
            found = measure(*arguments)
            KEPT.write_text(json.dumps(kept_rows() | {name: found}, indent=1), encoding="utf-8")

    for start in starts:
        changes = STARTS[start]
        row(f"{start} reference", reference, start)
        short = {**changes, "run.duration": SAMPLE, "run.frames": 2, "integrator": KUTTA_MERSON}
        row(f"{start} kutta-merson", run, short)
        for tolerance, bounds in ROWS[start]:
            scaling = {"policy": "error-controlled", "tolerance": tolerance, "bounds": bounds}
            row(f"{start} {tolerance:g} {bounds}", run, {**changes, "scaling": scaling, "integrator": KUTTA_MERSON})


def main() -> None:
    measure_missing(sys.argv[1:] or list(STARTS))
    kept, rows = kept_rows(), []
    missing = [start for start, wanted in ROWS.items() if f"{start} {wanted[-1][0]:g} {wanted[-1][1]}" not in kept]
    if missing:
        sys.stderr.write(f"not yet measured: {', '.join(missing)}\n")
        return
    for start in STARTS:
        truth, sample = kept[f"{start} reference"], kept[f"{start} kutta-merson"]
        explicit = sample["evaluations"] / sample["arrival"] * truth["arrival"]
        for tolerance, bounds in ROWS[start]:
            found = kept[f"{start} {tolerance:g} {bounds}"]
            rows.append(
                [
                    start,
                    f"{tolerance:.0%}, {bounds}",
                    f"{found['arrival']:.3f}",
                    f"{truth['arrival']:.3f}",
                    f"{found['arrival'] / truth['arrival'] - 1.0:.2%}",
                    str(found["verdict"]),
                    f"{found['evaluations']:,.0f}",
                    f"{explicit / found['evaluations']:.0f}",
                    f"{found['evaluations'] / truth['evaluations']:.1f}",
                ]
            )
    head = ["start", "tolerance", "docks [μs]", "unscaled [μs]", "true error", "verdict", "evaluations"]
    head += ["evaluations of unscaled Kutta–Merson / evaluations", "evaluations / evaluations of the reference"]
    write_section(
        "error-control",
        f"""
## Tolerance against true error: `error-controlled`

`python -m validation.error_control`.

`{CASE}` runs without noise and flow, from rest, from two initial positions ("starts"). *near* is the default start: the
tips of the ligands are 44 nm from the receptors, and the particle counts as docked when it has advanced by 25 nm.
*published* is the published start: the core's centre is 250 nm from the receptors' plane, so the tips are 66.4 nm from
this plane. From this start, the particle counts as docked when it has advanced by 55 nm.

The scaled runs use Kutta–Merson with the policy `error-controlled`, whose tolerance limits the delay on arrival
("arrival") or the lag at every moment ("moment"). The reference is the unscaled friction-implicit rule. For *near* the
reference takes steps of 8 ps. For *published* it takes steps of 40 ps up to an advance of 35 nm, and steps of 8 ps up
to an advance of 44 nm. The rest of the way is computed with unscaled Kutta–Merson, because a run with equal steps
diverges where the tips meet the receptors. The number of force evaluations of an unscaled run with Kutta–Merson is
extrapolated from its first {SAMPLE}. Errors are relative to the unscaled docking time.

{table(head, rows)}

The true error stays below the tolerance. In most runs the true error is less than half of the tolerance, because the
tolerance also applies to the joints. The joints need a larger a2 than the approach of the particle alone. Unscaled runs
with friction-implicit steps need fewer evaluations than any scaled run.
""",
    )


if __name__ == "__main__":
    main()
