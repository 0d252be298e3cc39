"""Particles with short-range forces: the Lennard-Jones melt of 32,000 atoms, beside LAMMPS and OpenMM, and up to
2,000,000 atoms."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numba
from rich.console import Console

from articulon.benchmark import lammps_melt, openmm_melt
from articulon.benchmark import melt as melts
from articulon.benchmark.tables import console, show_machine, show_table, show_targets, target
from articulon.benchmark.timing import in_turn, machine

STEPS, ROUNDS = 200, 4
"""Each engine takes so many steps, so often; the best counts."""
THREADS = (1, 2)
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
    of time and memory with the number of atoms; ratios, targets, and the machine."""
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "atoms": 4 * cells**3}
    say(f"a melt of {figures['atoms']:,} atoms in {', '.join(('our engine', 'LAMMPS', 'OpenMM'))}")
    figures.update(measure_engines(cells, steps, rounds, say))
    figures["ratios"] = ratios(figures)
    figures["scaling"] = measure_scaling(scaling, say)
    figures["targets"] = targets(figures)
    return figures


def measure_engines(cells: int, steps: int, rounds: int, say: Say) -> dict[str, Any]:
    """Million atom-steps per second, all engines in turn; of LAMMPS's ways to use two cores, the faster."""
    start = melts.melt(cells)
    advance = melts.ours(start)
    usable = [threads for threads in THREADS if threads <= numba.config.NUMBA_NUM_THREADS]
    for threads in usable:
        advance(threads, melts.MELTING)
    entrants: dict[str, Callable[[], float | None]] = {}
    for threads in usable:
        entrants[f"ours {threads}"] = partial(advance, threads, steps)
        entrants[f"openmm {threads}"] = partial(openmm_melt.runner(start, threads, say), steps)
        for way in (*lammps_melt.WAYS, *lammps_melt.CHECKED):
            if way.threads == threads:
                entrants[f"lammps {way.name}"] = partial(lammps_melt.runner(way, say, cells), steps)
    best = in_turn(entrants, rounds)
    work = 1e-6 * start.atoms * steps

    def speed(name: str) -> float | None:
        taken = best.get(name)
        return None if taken is None else round(work / taken, 3)

    figures: dict[str, Any] = {e: {str(t): speed(f"{e} {t}") for t in THREADS} for e in ("ours", "openmm")}
    for engine, ways in (("lammps", lammps_melt.WAYS), ("lammps_checked", lammps_melt.CHECKED)):
        figures[engine], figures[f"{engine}_way"] = {}, {}
        for t in THREADS:
            found = [(s, w.name) for w in ways if w.threads == t and (s := speed(f"lammps {w.name}")) is not None]
            figures[engine][str(t)], figures[f"{engine}_way"][str(t)] = max(found, default=(None, None))
    return figures


def ratios(figures: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """How many times as fast as each peer ours is, by number of threads, and as itself on one thread."""
    one = figures["ours"]["1"]
    found = {e: {t: _over(figures["ours"][t], s) for t, s in figures[e].items()} for e in ENGINES[1:]}
    return {**found, "one_thread": {t: _over(s, one) for t, s in figures["ours"].items()}}


def _over(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else round(a / b, 3)


def measure_scaling(plan: Sequence[tuple[int, int, int]], say: Say) -> dict[str, Any]:
    """Time per atom-step and memory per atom by size, each measured in a process of its own."""
    threads = min(max(THREADS), numba.config.NUMBA_NUM_THREADS)
    found: dict[int, dict[str, Any]] = {}
    for cells, steps, rounds in plan:
        say(f"a melt of {4 * cells**3:,} atoms")
        figures = _in_a_process(cells, threads, steps, rounds)
        atoms = figures.pop("atoms")
        before = found.get(atoms, figures)
        found[atoms] = {what: min(value, before[what]) for what, value in figures.items()}
    sizes = sorted(found)
    lists = {what: [round(found[n][what], 3) for n in sizes] for what in ("ns_per_atom_step", "bytes_per_atom")}
    return {"threads": threads, "atoms": sizes, **lists}


def _in_a_process(cells: int, threads: int, steps: int, rounds: int) -> dict[str, Any]:
    arguments = map(str, (cells, threads, steps, rounds))
    line = [sys.executable, "-c", f"from {melts.__name__} import main; main()", *arguments]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def growth(scaling: dict[str, Any]) -> float | None:
    """How much longer an atom's step takes in the largest melt than in the smallest: 0.15 is 15 %."""
    times = scaling["ns_per_atom_step"]
    return times[-1] / times[0] - 1.0 if len(times) > 1 else None


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the engine should reach."""
    ratio, scaling = figures["ratios"], figures["scaling"]
    first, last = (f"{n:,}" for n in (scaling["atoms"][0], scaling["atoms"][-1]))
    return [
        target("one thread: times LAMMPS at its best", ratio["lammps"]["1"], 1.4, at_least=True),
        target("two threads: times LAMMPS at its best", ratio["lammps"]["2"], 1.4, at_least=True),
        target("two threads: times OpenMM", ratio["openmm"]["2"], 2.0, at_least=True),
        target("two threads against one", ratio["one_thread"]["2"], 1.85, at_least=True),
        target(f"growth of time per atom from {first} to {last} atoms", growth(scaling), 0.15),
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
    title = f"Lennard-Jones melt of {figures['atoms']:,} atoms: million atom-steps per second; ours / theirs"
    columns = ("engine", "on two cores", *2 * ("1 thread", "2 threads"))
    show_table(out, title, columns, rows, words=2)
    scaling = figures["scaling"]
    title = f"Ours from small to large, {scaling['threads']} threads"
    lists = (scaling[what] for what in ("atoms", "ns_per_atom_step", "bytes_per_atom"))
    show_table(out, title, ("atoms", "ns per atom-step", "bytes per atom"), zip(*lists, strict=True))
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
