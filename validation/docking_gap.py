"""How long the docking takes by how far the tips start, and what the chains' bending has to do with it.

    python -m validation.docking_gap

takes some ten minutes on a quiet machine and rewrites its section of docs/validation.md. What has been measured is kept
in docking_gap.json beside this file; remove it to measure everything anew. No noise and no flow, from rest.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import articulon as ar
from articulon.analysis.approach import approach_of
from articulon.integrate.status import STOPPED
from articulon.model.state import STEPS
from articulon.simulation.preparation import first_state, prepare
from validation.page import table, write_section

CASE = "nanoparticle-docking"
KEPT = Path(__file__).with_suffix(".json")
GAPS = (65.0, 66.4, 67.0)
"""From the tips to the receptors' plane [nm]; 66.4 nm puts the core's centre 250 nm from it, as published."""
STAGES = ((40, 35), (8, 44))
"""Steps of the friction-implicit rule [ps], each up to an advance [nm]; beyond, they do not stay finite."""
A2, SCALED_STEP = 0.01, "100 ps"


def changed(gap: float, advance: float) -> dict[str, Any]:
    return {"model.gap": f"{gap} nm", "run.duration": "100 us", "run.stop.advance": f"{advance} nm"}


def rigid(gap: float) -> float:
    """When it would have docked with chains that keep straight, without inertia, at 55 nm [μs]."""
    approach = approach_of(ar.load_case(CASE, changed(gap, 55.0)), keep_joints=True)
    assert approach is not None
    return approach.duration


def full(gap: float) -> float:
    """When the unscaled core has come as far as the last stage [μs]."""
    state: Any = None
    for step, advance in STAGES:
        rule = {"rule": "friction-implicit", "step": f"{step} ps"}
        made = prepare(ar.load_case(CASE, {**changed(gap, advance), "run.frames": 40, "integrator": rule}))
        if state is None:
            state = first_state(made)
        assert made.windows.step is not None
        state.counters[STEPS] = round(float(state.time[0]) / made.windows.step)
        assert made.driver.advance(state, 1e3, 2**40) == STOPPED
    return float(made.observer.passage(state, STAGES[-1][1] * 1e-3))


def scaled(gap: float) -> dict[str, Any]:
    """The same with a constant factor, and what the run says of itself."""
    scaling = {"policy": "constant", "a2": A2}
    rule = {"rule": "friction-implicit", "step": SCALED_STEP}
    case = ar.load_case(CASE, {**changed(gap, STAGES[-1][1]), "scaling": scaling, "integrator": rule})
    with tempfile.TemporaryDirectory() as scratch:
        found = ar.run(case, Path(scratch) / "run").summary
    fidelity = found["fidelity"]
    paired = fidelity["premises"]["paired"]
    return {
        "arrival": found["stop_time"],
        "verdict": fidelity["verdict"],
        "lag": fidelity["premises"]["lag"]["predicted_relative_error"],
        "left": fidelity["premises"]["cancellation"]["relative_error"],
        "pairs": [paired["relative_error"], paired["half_width"]],
    }


def main() -> None:
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    rows = []
    for gap in GAPS:
        for name, measure in (("rigid", rigid), ("full", full), ("scaled", scaled)):
            if f"{gap:g} {name}" not in kept:
                sys.stderr.write(f"{gap:g} nm: {name}\n")
                kept[f"{gap:g} {name}"] = measure(gap)
                KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        stiff, soft, late = (kept[f"{gap:g} {name}"] for name in ("rigid", "full", "scaled"))
        rows.append(
            [
                f"{gap:g}",
                f"{stiff:.2f}",
                f"{soft:.2f}",
                f"{late['arrival']:.2f}",
                f"{late['arrival'] / soft - 1.0:.2%}",
                f"{late['lag']:.2%}",
                f"{late['left']:.2%}",
                f"{late['pairs'][0]:.2%} ± {late['pairs'][1]:.2%}",
                late["verdict"],
            ]
        )
    head = ["gap [nm]", "straight chains [μs]", "docks [μs]", f"a2 = {A2:g} [μs]", "delay", "lag", "residual", "pairs"]
    write_section(
        "docking-gap",
        f"""
## Where the docking starts

`python -m validation.docking_gap`.

`{CASE}` runs without noise and flow, from rest. Guy (2018, 5.5) puts the core's centre 250 nm from the receptors'
plane, and says that "approximately 65 nm" have to be traversed. If the chains are at 30 degrees, the tips are 66.4 nm
from the plane. At this distance the attraction is mostly the r⁻⁶ attraction of body A. The docking time therefore grows
as the eighth power of the initial distance between the centres of bodies A and the receptors. If this distance is
larger by 1 nm, the docking time is an eighth longer.

The column *straight chains* gives the time of a one-dimensional reduction of this model: all joints are locked, inertia
is neglected, and the particle advances by 55 nm. The column *docks* gives the time of the full model for an advance of
{STAGES[-1][1]} nm, with friction-implicit steps of 40 and 8 ps; the rest of the way takes 0.05 μs. The chains of the
full model bend towards the receptors, which shortens the docking time by 7 %. The other columns are for a run with a
constant a2 = {A2:g} and steps of {SCALED_STEP}. They give its docking time, its delay, and four results of its fidelity
report at a tolerance of 2 %: the lag, the residual of the forces, the delay found by paired runs, and the verdict.

{table([*head, "verdict"], rows)}
""",
    )


if __name__ == "__main__":
    main()
