"""Hard spheres from impact to impact: 1,000 to 1,000,000 of them at a packing fraction of 0.3, on one thread."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console

from benchmarks import sphere_gases
from benchmarks.peers import by_size, growth
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import machine

SPHERES, LEAST = 100_000, 300_000
"""What the speed is asked of, and impacts a second that it should have."""
SCALING = (
    (1_000, 300_000, 5),
    (10_000, 300_000, 5),
    (SPHERES, 500_000, 5),
    (1_000_000, 2_000_000, 1),
    (SPHERES, 500_000, 5),
)
"""Spheres, impacts and rounds of one process after another."""

Say = Callable[[str], None]


def measure(scaling: Sequence[tuple[int, ...]] = SCALING, say: Say = lambda _: None) -> dict[str, Any]:
    """The figures: impacts a second, time of an impact and memory for a sphere by the number of spheres, the target and
    the machine."""
    found = by_size(sphere_gases, "spheres", scaling, lambda n: f"{n:,} hard spheres", say)
    found["impacts_per_second"] = [round(1e9 / ns) for ns in found["ns_per_impact"]]
    figures: dict[str, Any] = {
        "machine": machine({"numpy": "numpy", "numba": "numba"}),
        "packing_fraction": sphere_gases.PACKING,
        "scaling": found | {"threads": 1},
    }
    speeds = dict(zip(found["spheres"], found["impacts_per_second"], strict=True))
    figures["targets"] = []
    if SPHERES in speeds:
        words = f"impacts a second of {SPHERES:,} spheres"
        figures["targets"].append(target(words, float(speeds[SPHERES]), float(LEAST), at_least=True))
    figures["growth"] = growth(found["ns_per_impact"])
    return figures


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    scaling = figures["scaling"]
    title = f"Hard spheres at a packing fraction of {figures['packing_fraction']:g}, one thread"
    names = ("spheres", "impacts_per_second", "ns_per_impact", "bytes_per_sphere")
    heads = ("spheres", "impacts per second", "ns per impact", "bytes per sphere")
    show_table(out, title, heads, zip(*(scaling[name] for name in names), strict=True))
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
