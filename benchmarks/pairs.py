"""Particles with short-range forces: the Lennard-Jones melt of 32,000 atoms, beside LAMMPS and OpenMM, and up to
2,000,000 atoms."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rich.console import Console

from articulon.forces.sites.pair_loop_timing import nanoseconds
from articulon.forces.sites.pair_loops import CANDIDATES, pair_loop
from benchmarks import lammps_melt, openmm_melt
from benchmarks import melt as melts
from benchmarks.peers import THREADS, by_size, by_threads, fastest, growth, ratios, speeds, usable
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import in_turn, machine

STEPS, ROUNDS = 200, 4
"""Each engine takes so many steps, so often; the best counts."""
SCALING = ((20, 200, 4), (40, 60, 3), (80, 60, 3), (40, 60, 3), (20, 200, 4))
"""Cells, steps and rounds of one process after another: 32,000, 256,000 and 2,048,000 atoms, and back again."""
ENGINES = ("ours", "lammps", "lammps_checked", "openmm")
PACKAGES = {"numpy": "numpy", "numba": "numba", "lammps": "lammps", "openmm": "openmm"}

Say = Callable[[str], None]


def measure(
    cells: int = melts.CELLS,
    steps: int = STEPS,
    rounds: int = ROUNDS,
    scaling: Sequence[tuple[int, int, int]] = SCALING,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """The figures: million atom-steps per second by engine and number of threads, None where an engine cannot; growth
    of time and memory with the number of atoms; the loop over listed pairs that is taken here, and the time of each;
    ratios, targets, and the machine."""
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "atoms": 4 * cells**3}
    say(f"a melt of {figures['atoms']:,} atoms in {', '.join(('our engine', 'LAMMPS', 'OpenMM'))}")
    figures.update(measure_engines(cells, steps, rounds, say))
    figures["pair_loop"] = pair_loop()
    figures["ns_per_pair"] = {loop: float(ns.min()) for loop, ns in nanoseconds(CANDIDATES).items()}
    figures["ratios"] = ratios(figures, ENGINES[1:])
    figures["scaling"] = by_size(melts, "atoms", scaling, lambda n: f"a melt of {4 * n**3:,} atoms", say)
    figures["targets"] = targets(figures)
    return figures


def measure_engines(cells: int, steps: int, rounds: int, say: Say) -> dict[str, Any]:
    """Million atom-steps per second, all engines in turn; of LAMMPS's ways to use two cores, the faster."""
    start = melts.melt(cells)
    running, numbers = melts.ours(start), usable()
    for threads in numbers:
        running.advance(threads, melts.MELTING)
    entrants: dict[str, Callable[[], float | None]] = {}
    for threads in numbers:
        entrants[f"ours {threads}"] = partial(running.advance, threads, steps)
        entrants[f"openmm {threads}"] = partial(openmm_melt.runner(start, threads, say), steps)
        for way in (*lammps_melt.WAYS, *lammps_melt.CHECKED):
            if way.threads == threads:
                entrants[f"lammps {way.name}"] = partial(lammps_melt.runner(way, say, cells), steps)
    found = speeds(in_turn(entrants, rounds), start.atoms * steps)
    figures: dict[str, Any] = {engine: by_threads(engine, found) for engine in ("ours", "openmm")}
    for engine, ways in (("lammps", lammps_melt.WAYS), ("lammps_checked", lammps_melt.CHECKED)):
        figures[engine], figures[f"{engine}_way"] = fastest("lammps", ways, found)
    return figures


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the engine should reach."""
    ratio, scaling = figures["ratios"], figures["scaling"]
    first, last = (f"{n:,}" for n in (scaling["atoms"][0], scaling["atoms"][-1]))
    return [
        target("one thread: rate relative to LAMMPS at its best", ratio["lammps"]["1"], 2.2, at_least=True),
        target("two threads: rate relative to LAMMPS at its best", ratio["lammps"]["2"], 2.2, at_least=True),
        target("two threads: rate relative to OpenMM", ratio["openmm"]["2"], 4.5, at_least=True),
        target("speed-up by two threads", ratio["one_thread"]["2"], 1.85, at_least=True),
        target(f"growth of time per atom from {first} to {last} atoms", growth(scaling["ns_per_atom_step"]), 0.10),
        target(f"bytes per atom at {last} atoms", scaling["bytes_per_atom"][-1], 1500),
    ]


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    engines = {
        "ours": "ours",
        "lammps": "LAMMPS, list of in.lj",
        "lammps_checked": "LAMMPS, checked list",
        "openmm": "OpenMM, CPU platform, single precision",
    }
    rows = []
    for engine, words in engines.items():
        way = figures.get(f"{engine}_way", {}).get("2") or ""
        ratio = figures["ratios"].get(engine, {})
        speeds, ahead = ([of.get(t) for t in map(str, THREADS)] for of in (figures[engine], ratio))
        rows.append((words, way.partition(", checked")[0], *speeds, *ahead))
    title = (
        f"Lennard-Jones melt of {figures['atoms']:,} atoms: million atom-steps per second; ratio of our rate to theirs"
    )
    columns = ("engine", "on two cores", *2 * ("1 thread", "2 threads"))
    show_table(out, title, columns, rows, words=2)
    show_loops(out, figures)
    scaling = figures["scaling"]
    title = f"Growth of our times from small to large models, {scaling['threads']} threads"
    lists = (scaling[what] for what in ("atoms", "ns_per_atom_step", "bytes_per_atom"))
    show_table(out, title, ("atoms", "ns per atom-step", "bytes per atom"), zip(*lists, strict=True))
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])


def show_loops(out: Console, figures: dict[str, Any]) -> None:
    """Prints the time of each loop over listed pairs, and which one is taken on this machine."""
    taken = figures["pair_loop"]
    rows = [(loop, "taken" if loop == taken else "", ns) for loop, ns in figures["ns_per_pair"].items()]
    show_table(out, "Our loops over listed pairs, 1 thread", ("loop", "", "ns per pair"), rows, words=2)
