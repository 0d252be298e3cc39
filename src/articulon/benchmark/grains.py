"""Grains: 50,000 spheres that settle in a box, beside LAMMPS, and up to 1,000,000 of them."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numba
from rich.console import Console

from articulon.benchmark import beds, lammps_grains
from articulon.benchmark.tables import console, show_machine, show_table, show_targets, target
from articulon.benchmark.timing import in_turn, machine

STEPS, ROUNDS = 200, 4
"""Each engine takes so many steps, so often; the best counts."""
THREADS = (1, 2)
SCALING = ((50_000, 200, 3), (1_000_000, 30, 3), (50_000, 200, 3))
"""Spheres, steps and rounds of one process after another."""
PACKAGES = {"numpy": "numpy", "numba": "numba", "lammps": "lammps"}

Say = Callable[[str], None]


def measure(
    spheres: int = beds.SPHERES,
    settling: int = beds.SETTLING,
    steps: int = STEPS,
    rounds: int = ROUNDS,
    scaling: Sequence[tuple[int, int, int]] = SCALING,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """The figures: million sphere-steps per second by engine and number of threads, None where an engine cannot; growth
    of time and memory with the number of spheres; ratios, targets, and the machine."""
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "spheres": spheres}
    say(f"{spheres:,} spheres that settle in a box, in our engine and LAMMPS")
    figures.update(measure_engines(spheres, settling, steps, rounds, say))
    figures["ratios"] = ratios(figures)
    figures["scaling"] = measure_scaling(scaling, say)
    figures["targets"] = targets(figures)
    return figures


def measure_engines(spheres: int, settling: int, steps: int, rounds: int, say: Say) -> dict[str, Any]:
    """Million sphere-steps per second, all engines in turn from the same positions, speeds and spins.

    ``lammps`` is the fastest of its ways on as many cores, ``lammps_same_law`` the fastest whose law is ours.
    """
    running = beds.Running(beds.loose(spheres))
    usable = [threads for threads in THREADS if threads <= numba.config.NUMBA_NUM_THREADS]
    running.advance(usable[-1], settling)
    bed, contacts = running.now(), running.contacts
    entrants: dict[str, Callable[[], float | None]] = {}
    for threads in usable:
        entrants[f"ours {threads}"] = partial(running.advance, threads, steps)
        for way in lammps_grains.WAYS:
            if way.threads == threads:
                entrants[f"lammps {way.name}"] = partial(lammps_grains.runner(way, bed, say), steps)
    best = in_turn(entrants, rounds)
    work = 1e-6 * spheres * steps

    def speed(name: str) -> float | None:
        taken = best.get(name)
        return None if taken is None else round(work / taken, 3)

    figures: dict[str, Any] = {"ours": {str(t): speed(f"ours {t}") for t in THREADS}}
    for engine, wanted in (("lammps", (True, False)), ("lammps_same_law", (True,))):
        figures[engine], figures[f"{engine}_way"] = {}, {}
        for t in THREADS:
            ways = [way for way in lammps_grains.WAYS if way.threads == t and way.same in wanted]
            found = [(s, way.name) for way in ways if (s := speed(f"lammps {way.name}")) is not None]
            figures[engine][str(t)], figures[f"{engine}_way"][str(t)] = max(found, default=(None, None))
    figures["contacts_per_sphere"] = round(contacts / spheres, 2)
    return figures


def ratios(figures: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """How many times as fast as LAMMPS ours is, by number of threads, and as itself on one thread."""
    one = figures["ours"]["1"]
    found = {e: {t: _over(figures["ours"][t], s) for t, s in figures[e].items()} for e in ("lammps", "lammps_same_law")}
    return {**found, "one_thread": {t: _over(s, one) for t, s in figures["ours"].items()}}


def _over(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else round(a / b, 3)


def measure_scaling(plan: Sequence[tuple[int, int, int]], say: Say) -> dict[str, Any]:
    """Time per sphere-step and memory per sphere by size, each measured in a process of its own."""
    threads = min(max(THREADS), numba.config.NUMBA_NUM_THREADS)
    found: dict[int, dict[str, Any]] = {}
    for spheres, steps, rounds in plan:
        say(f"a dense bed of {spheres:,} spheres")
        figures = _in_a_process(spheres, threads, steps, rounds)
        before = found.get(figures.pop("spheres"), figures)
        found[spheres] = {what: min(value, before[what]) for what, value in figures.items()}
    sizes = sorted(found)
    lists = ("ns_per_sphere_step", "contacts_per_sphere", "bytes_per_sphere")
    return {
        "threads": threads,
        "spheres": sizes,
        **{what: [round(found[n][what], 3) for n in sizes] for what in lists},
    }


def _in_a_process(spheres: int, threads: int, steps: int, rounds: int) -> dict[str, Any]:
    arguments = map(str, (spheres, threads, steps, rounds))
    line = [sys.executable, "-c", f"from {beds.__name__} import main; main()", *arguments]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def growth(scaling: dict[str, Any]) -> float | None:
    """How much longer a sphere's step takes in the largest bed than in the smallest: 0.15 is 15 %."""
    times = scaling["ns_per_sphere_step"]
    return times[-1] / times[0] - 1.0 if len(times) > 1 else None


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the engine should reach."""
    ratio, scaling = figures["ratios"], figures["scaling"]
    found = [
        target(f"{words}: times LAMMPS at its best", ratio["lammps"][t], 1.5, at_least=True)
        for t, words in (("1", "one thread"), ("2", "two threads"))
    ]
    if len(scaling["spheres"]) > 1:
        first, last = (f"{n:,}" for n in (scaling["spheres"][0], scaling["spheres"][-1]))
        found.append(target(f"growth of time per sphere from {first} to {last} spheres", growth(scaling), 0.15))
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
        "sphere-steps per second; ours / theirs"
    )
    columns = ("engine", "style", *2 * ("1 thread", "2 threads"))
    show_table(out, title, columns, rows, words=2)
    scaling = figures["scaling"]
    title = f"Ours from small to large, {scaling['threads']} threads"
    names = ("spheres", "ns_per_sphere_step", "contacts_per_sphere", "bytes_per_sphere")
    heads = ("spheres", "ns per sphere-step", "contacts per sphere", "bytes per sphere")
    show_table(out, title, heads, zip(*(scaling[name] for name in names), strict=True))
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
