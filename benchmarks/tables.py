"""Tables of figures, in Markdown so that they can be put into a document as they are printed."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

LEAST_WIDTH = 120
"""Tables are printed this wide at least, also into a file or a narrow terminal [characters]."""


def console() -> Console:
    """Where tables are printed."""
    plain = Console(highlight=False, markup=False)
    return Console(highlight=False, markup=False, width=max(plain.width, LEAST_WIDTH))


def figure(value: Any, digits: int = 3) -> str:
    """A number in so many significant digits, a dash for one that there is not."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if value != 0.0 and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.1e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{decimals}f}"


def show_table(out: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], words: int = 0) -> None:
    """Prints a table whose first ``words`` columns are text and whose others are numbers."""
    made = Table(box=box.MARKDOWN)
    for k, name in enumerate(columns):
        made.add_column(name, justify="left" if k < words else "right", no_wrap=True)
    for row in rows:
        made.add_row(*(figure(value) for value in row))
    with out.capture() as rendered:
        out.print(made)
    out.print(f"\n**{title}**\n")
    out.print(rendered.get().strip())


def target(what: str, measured: float | None, limit: float, at_least: bool = False) -> dict[str, Any]:
    """A figure beside what it should be; ``met`` is None where it could not be measured."""
    met = None if measured is None else measured >= limit if at_least else measured <= limit
    return {"what": what, "measured": measured, "limit": limit, "at_least": at_least, "met": met}


def show_targets(out: Console, targets: Sequence[dict[str, Any]]) -> None:
    """Prints what was aimed at, and whether it was reached on this machine at this hour."""
    verdict = {True: "met", False: "missed", None: "not measured"}
    rows = [
        (t["what"], verdict[t["met"]], t["measured"], f"{'≥' if t['at_least'] else '≤'} {figure(t['limit'])}")
        for t in targets
    ]
    show_table(out, "Targets", ("target", "", "measured", "limit"), rows, words=2)


def show_machine(out: Console, machine: dict[str, Any]) -> None:
    """Prints the machine, the date and the versions."""
    versions = ", ".join(f"{name} {number or '(not installed)'}" for name, number in machine["versions"].items())
    out.print(f"\n{machine['processor']}, {machine['cores']} cores, {machine['system']}.")
    out.print(f"{machine['date']}, load average {machine['load_average']}.")
    out.print(f"{versions}.")
