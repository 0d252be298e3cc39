"""The built-in molten salt of 1,025 bodies (Guy 2018, chapter 4): 20 ps by the published integrator and by velocity
Verlet."""

from collections.abc import Callable
from typing import Any

from rich.console import Console

from articulon.cases import Case, load_case
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import machine
from benchmarks.whole_runs import timed

CASE = "molten-salt-1025"
WAYS: dict[str, dict[str, Any]] = {
    "published": {"rule": "kutta-merson", "rtol": 1e-6, "atol": 1e-7},
    "velocity_verlet": {"rule": "velocity-verlet", "step": "2 fs"},
}
"""Rules of integration: Guy's own with his tolerances (4.7), and the other."""
WORDS = {"published": "Kutta–Merson, 10⁻⁶ and 10⁻⁷", "velocity_verlet": "velocity Verlet, 2 fs"}
DURATION = 20.0
"""[ps]."""
PAPER_HOURS = 64.0
"""What the published implementation took, with the modified thermostat and unscaled (Guy 2018, 4.8) [h]."""


def unscaled(rule: dict[str, Any], duration: float) -> Case:
    """The case with the modified thermostat, without scaling, under a rule, for a duration [ps]."""
    changes = {"integrator": rule, "scaling": {"policy": "none"}, "run.duration": f"{duration} ps", "run.frames": 20}
    return load_case(CASE).with_overrides(changes)


def measure(duration: float = DURATION, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """The figures of whole runs of so many picoseconds; below 20 ps their times are multiplied up, and said to be."""
    figures: dict[str, Any] = {"machine": machine(), "extrapolated_from_ps": None if duration == DURATION else duration}
    for name, rule in WAYS.items():
        say(f"{duration:g} ps of {CASE}: {WORDS[name]}")
        found = timed(unscaled(rule, duration), duration)
        figures[f"{name}_20ps_s"] = round(found.wall(DURATION), 2)
        figures[f"{name}_20ps_processor_s"] = round(found.processor(DURATION), 2)
        figures[f"{name}_steps_per_ps"] = round(found.steps / duration)
        figures[f"{name}_evaluations_per_ps"] = round(found.evaluations / duration)
    figures["paper_h"] = PAPER_HOURS
    figures["targets"] = targets(figures)
    return figures


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the runs should reach."""
    published, verlet = figures["published_20ps_s"], figures["velocity_verlet_20ps_s"]
    return [
        target("20 ps as published [s]", published, 600.0),
        target("20 ps by velocity Verlet: times as fast as the published", published / verlet, 5.0, at_least=True),
    ]


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    base = figures["extrapolated_from_ps"]
    note = "in full" if base is None else f"extrapolated from {base:g} ps"
    keys = ("20ps_s", "20ps_processor_s", "steps_per_ps", "evaluations_per_ps")
    rows: list[tuple[Any, ...]] = [(WORDS[name], note, *(figures[f"{name}_{key}"] for key in keys)) for name in WAYS]
    rows.append(("Guy (2018): Kutta–Merson", "", 3600.0 * figures["paper_h"], None, None, None))
    columns = ("method", "", "wall [s]", "processor [s]", "steps per ps", "evaluations per ps")
    show_table(out, "20 ps of a molten salt of 1,025 bodies, modified Nosé–Hoover, unscaled", columns, rows, words=2)
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
