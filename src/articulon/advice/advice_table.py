"""Output of advice as a table on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from articulon.advice.advised_options import Advice, Option, figures
from articulon.report.readable_numbers import suited, wall_time
from articulon.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console

COLOURS = {"trusted": "green", "suspect": "yellow", "inconclusive": "yellow", "violated": "red"}
"""Colour of each verdict."""
BUSY = 0.8
"""Ratio of processor to wall time below which the machine counts as busy."""
WHOLE = 0.99
"""Fraction of a run above which a measured cost counts as that of the whole run."""
HEADS = ("step", "steps", "wall time", "error", "trust")


def print_advice(advice: Advice, console: Console) -> None:
    """Print the recommendation with its command, the options, and how their costs and errors are known."""
    console.print(Text(printable(advice.case.title), style="bold"))
    console.print(Text(f"\n{printable(advice.sentence)}\n"))
    if advice.command:
        # Even a long command stays on one line, so that it can be copied.
        console.print(Text(f"    {printable(advice.command)}\n", style="bold"), soft_wrap=True)
    for part in (_table(advice), *_notes(advice)):
        console.print(part)


def _table(advice: Advice) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("")
    table.add_column("option", no_wrap=True)
    for head in HEADS:
        table.add_column(head, justify="left" if head == "trust" else "right", no_wrap=True)
    for option in advice.options:
        best = option.name == advice.chosen
        mark, style = ("▸", "bold") if best else (" ", "")
        if not option.feasible:
            table.add_row(
                mark,
                Text(option.name, style="dim"),
                *["–"] * 4,
                Text("not offered" if not advice.interrupted else "–", style="dim"),
            )
            continue
        trust = Text(printable(option.trust.label), style=COLOURS.get(option.trust.verdict, ""))
        table.add_row(mark, Text(_name(option), style=style), *figures(advice.case, option), trust)
    return table


def _name(option: Option) -> str:
    """Return the name of an option, with the name of its integrator if the two differ."""
    return option.name if option.rule == option.name else f"{option.name} ({option.rule})"


def _notes(advice: Advice) -> list[Any]:
    """Return the notes below the table: limits of the steps, meaning of the errors, reasons for missing options, and
    the time scales."""
    parts: list[Any] = []
    there = [option for option in advice.options if option.feasible]
    if there:
        grid = _grid()
        for option in there:
            bound = f"limited by {option.bound}; " if option.bound else ""
            grid.add_row(option.name, Text(printable(f"{bound}error: {option.trust.words}")))
        parts += [Text("Meaning of steps and errors", style="bold"), grid, Text()]
    missing = [option for option in advice.options if not option.feasible]
    if missing:
        grid = _grid()
        for option in missing:
            grid.add_row(option.name, Text(printable(option.why_not)))
        parts += [Text("Not offered", style="bold"), grid, Text()]
    grid = _grid()
    for name, time in advice.scales.words(advice.case.units):
        grid.add_row(time, Text(printable(name)))
    parts += [Text("Time scales", style="bold"), grid, Text(), Text(_probe(advice), style="dim")]
    return parts


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _probe(advice: Advice) -> str:
    units = advice.case.units
    length = suited(units, "time", advice.probe).text(advice.probe, 3)
    best = advice.recommended
    cost = ""
    if best is not None and best.seconds is not None and best.seconds_per_step is not None:
        until = suited(units, "time", best.measured_to).text(best.measured_to, 3)
        per_step = (
            wall_time(best.seconds_per_step)
            if best.seconds_per_step >= 0.1
            else f"{1e6 * best.seconds_per_step:.3g} µs"
        )
        whole = best.measured_to >= WHOLE * advice.scales.horizon
        how = "measured on all of the run" if whole else f"measured to {until} of the run and extrapolated"
        cost = f" The cost, {per_step} per step plus frames, is {how}, without compiling."
        if advice.scales.end < advice.scales.duration:
            end = suited(units, "time", advice.scales.end).text(advice.scales.end, 3)
            cost += f" Costs are up to {end}, when the run is expected to stop."
        if best.busy < BUSY:
            cost += f" Other programs were running: this one had {100.0 * best.busy:.0f} % of the wall time."
        if advice.grains and not whole:
            cost += " Grains cost less before they touch: the cost may rise to about three times this value."
    part = f"{100.0 * advice.tolerance:.3g} %"
    return f"Probe: {length}, unscaled; tolerance {part}.{cost}".replace("\u00a0", " ")
