"""Grains: 50,000 spheres that settle in a box, beside LAMMPS, and up to 1,000,000 of them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rich.console import Console

from benchmarks import beds, lammps_grains
from benchmarks.peers import THREADS, by_size, by_threads, fastest, growth, ratios, speeds, usable
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import in_turn, machine

STEPS, ROUNDS = 1000, 3
"""Each engine takes so many steps, so often; the best counts."""
SCALING = ((50_000, 400, 2, 20), (1_000_000, 400, 3, 1), (50_000, 400, 2, 20))
"""Spheres, steps, rounds and turns of one process after another: the same steps of each, as the bed asks for lists more
often while it begins to spread."""
PACKAGES = {"numpy": "numpy", "numba": "numba", "lammps": "lammps"}

Say = Callable[[str], None]


def measure(
    spheres: int = beds.SPHERES,
    settling: int = beds.SETTLING,
    steps: int = STEPS,
    rounds: int = ROUNDS,
    scaling: Sequence[tuple[int, ...]] = SCALING,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """The figures: million sphere-steps per second by engine and number of threads, None where an engine cannot; growth
    of time and memory with the number of spheres; ratios, targets, and the machine."""
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "spheres": spheres}
    say(f"{spheres:,} spheres that settle in a box, in our engine and LAMMPS")
    figures.update(measure_engines(spheres, settling, steps, rounds, say))
    figures["ratios"] = ratios(figures, ("lammps", "lammps_same_law"))
    figures["scaling"] = by_size(beds, "spheres", scaling, lambda n: f"a dense bed of {n:,} spheres", say)
    figures["targets"] = targets(figures)
    return figures


def measure_engines(spheres: int, settling: int, steps: int, rounds: int, say: Say) -> dict[str, Any]:
    """Million sphere-steps per second, all engines in turn from the same positions, speeds and spins.

    ``lammps`` is the fastest of its ways on as many cores, ``lammps_same_law`` the fastest whose law is ours.
    """
    running, numbers = beds.Running(beds.loose(spheres)), usable()
    running.advance(numbers[-1], settling)
    bed, contacts = running.now(), running.contacts
    entrants: dict[str, Callable[[], float | None]] = {}
    for threads in numbers:
        entrants[f"ours {threads}"] = partial(running.advance, threads, steps)
        for way in lammps_grains.WAYS:
            if way.threads == threads:
                entrants[f"lammps {way.name}"] = partial(lammps_grains.runner(way, bed, say), steps)
    found = speeds(in_turn(entrants, rounds), spheres * steps)
    same = [way for way in lammps_grains.WAYS if way.same]
    figures: dict[str, Any] = {"ours": by_threads("ours", found)}
    for engine, ways in (("lammps", lammps_grains.WAYS), ("lammps_same_law", same)):
        figures[engine], figures[f"{engine}_way"] = fastest("lammps", ways, found)
    figures["contacts_per_sphere"] = round(contacts / spheres, 2)
    return figures


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the engine should reach."""
    ratio, scaling = figures["ratios"], figures["scaling"]
    found = [
        target(f"{words}: rate relative to LAMMPS at its best", ratio["lammps"][t], 1.5, at_least=True)
        for t, words in (("1", "one thread"), ("2", "two threads"))
    ]
    if len(scaling["spheres"]) > 1:
        first, last = (f"{n:,}" for n in (scaling["spheres"][0], scaling["spheres"][-1]))
        grown = growth(scaling["ns_per_sphere_step"])
        found.append(target(f"growth of time per sphere from {first} to {last} spheres", grown, 0.15))
    return found


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    rows = []
    for engine, words in (
        ("ours", "ours"),
        ("lammps", "LAMMPS at its best"),
        ("lammps_same_law", "LAMMPS with the same law"),
    ):
        way, ratio = figures.get(f"{engine}_way", {}), figures["ratios"].get(engine, {})
        speeds, ahead = ([of.get(t) for t in map(str, THREADS)] for of in (figures[engine], ratio))
        rows.append((words, way.get("1") or "", *speeds, *ahead))
    title = (
        f"{figures['spheres']:,} spheres that settle in a box, {figures['contacts_per_sphere']} contacts each: million "
        "sphere-steps per second; ratio of our rate to theirs"
    )
    columns = ("engine", "style", *2 * ("1 thread", "2 threads"))
    show_table(out, title, columns, rows, words=2)
    scaling = figures["scaling"]
    title = f"Growth of our times from small to large models, {scaling['threads']} threads"
    names = ("spheres", "ns_per_sphere_step", "contacts_per_sphere", "bytes_per_sphere")
    heads = ("spheres", "ns per sphere-step", "contacts per sphere", "bytes per sphere")
    show_table(out, title, heads, zip(*(scaling[name] for name in names), strict=True))
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
