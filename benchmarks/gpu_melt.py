"""The Lennard-Jones melt on every GPU beside our CPU: million atom-steps per second from 32,000 to 2,048,000 atoms.

``python -m benchmarks.gpu_melt --json`` needs no more than NumPy, SciPy, Numba, pydantic and Warp. On a machine with a
GPU it takes less than two minutes; what there is no time for is left out and named. ``--tune`` tries skins and numbers
of threads for an atom too. Where there is no GPU, Warp's CPU device is measured at the smallest size alone.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from articulon.forces.sites.site_evaluation import SiteForces
from articulon.gpu.devices import device, device_words, devices, load_warp
from benchmarks import melt as melts
from benchmarks.timing import machine

SIZES = (20, 40, 80)
"""Lattice cells along an edge: 32,000, 256,000 and 2,048,000 atoms."""
PRECISIONS = ("double", "mixed")
SECONDS, ROUNDS = 1.0, 3
"""For how long the steps of a round are taken [s], and how many rounds there are, of which the fastest counts."""
BUDGET = 100.0
"""After this, what is left is left out [s]."""
SKINS, LANES = (0.2, 0.3, 0.4, 0.5, 0.6), (1, 2, 4, 8)
"""Skins [σ] and threads for an atom that are tried."""
BUILDING = 2e-5
"""What a model of the CPU takes to build and to melt, about, for each atom [s]."""
PACKAGES = {"numpy": "numpy", "numba": "numba", "warp": "warp-lang"}

Say = Callable[[str], None]


def measure(
    sizes: Sequence[int] = SIZES,
    seconds: float = SECONDS,
    budget: float = BUDGET,
    tune: bool = False,
    melting: int = melts.MELTING,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """The figures: million atom-steps per second by device, precision and number of atoms, None where there was no
    time; how far forces and energy are from those of the CPU; how the total energy has drifted; and the machine."""
    began = time.perf_counter()
    names = devices()
    if len(names) == 1:
        say("no GPU here: Warp's CPU device alone is measured, at the smallest size")
        sizes = sizes[:1]
    chosen = names[1:] or names
    figures: dict[str, Any] = {
        "machine": machine(PACKAGES),
        "devices": {name: device_words(name) for name in chosen},
        "gpu": len(names) > 1,
        "atoms": [4 * cells**3 for cells in sizes],
        "left_out": [],
        "failed": [],
        "speeds": {},
        "rebuilds_per_step": {},
        "agreement": {},
        "drift": {},
    }

    def late(what: str, takes: float = 0.0) -> bool:
        over = time.perf_counter() - began > budget - takes
        if over:
            figures["left_out"].append(what)
        return over

    def tried(what: str, call: Callable[[], Any]) -> Any:
        """What a call gives; None where it fails, which is noted and leaves the others alone."""
        try:
            found = call()
        except Exception as failure:
            figures["failed"].append(f"{what}: {type(failure).__name__}: {failure}"[:400])
            say(figures["failed"][-1])
            return None
        say(f"{what}: {found}")
        return found

    starts = {cells: melts.melt(cells) for cells in sizes}
    for name in chosen:
        for precision in PRECISIONS:
            label = f"{name}, {precision}"
            for column in ("speeds", "rebuilds_per_step", "drift"):
                figures[column][label] = []
            for cells in sizes:
                start, what = starts[cells], f"{starts[cells].atoms:,} atoms, {label}"
                found = None if late(what) else tried(what, partial(timed, start, name, precision, seconds, melting))
                found = found or {"speed": None, "rebuilds_per_step": None, "drift": None}
                for column, key in (
                    ("speeds", "speed"),
                    ("rebuilds_per_step", "rebuilds_per_step"),
                    ("drift", "drift"),
                ):
                    figures[column][label].append(found[key])
    figures["agreement"] = tried("agreement", partial(agreement, starts[sizes[0]], chosen, melting)) or {}
    if tune:
        figures["tuned"] = {}
        for start in starts.values():
            for name in chosen:
                for precision in PRECISIONS:
                    what = f"{start.atoms:,} atoms, {name}, {precision}"
                    if not late(f"tuning of {what}"):
                        call = partial(tuned, start, name, precision, 0.2 * seconds, melting)
                        figures["tuned"][what] = tried(f"tuning of {what}", call) or {}
    figures["speeds"]["CPU, all threads"] = [
        None
        if late(f"{start.atoms:,} atoms on the CPU", BUILDING * start.atoms)
        else tried(f"{start.atoms:,} atoms on the CPU", partial(on_cpu, start, seconds, melting))
        for start in starts.values()
    ]
    figures["seconds"] = round(time.perf_counter() - began, 1)
    return figures


def engine(start: melts.Melt, name: str, precision: str, skin: float | None = None) -> Any:
    """The melt on a device, with the lists that a run would have."""
    from articulon.forces.sites.neighbours import SKIN
    from articulon.gpu.particle_engine import Pairs, ParticleEngine
    from articulon.gpu.particle_lists import Space

    rows = np.array([[melts.CUTOFF**2, 4.0, 4.0, 0.0]])
    edges = start.length * np.eye(3)
    space = Space(edges, np.eye(3) / start.length, np.zeros(3), np.ones(3, dtype=np.int64))
    walls = np.array([[-np.inf] * 3, [np.inf] * 3])
    made = ParticleEngine(
        device(name),
        np.ones(start.atoms),
        np.zeros(start.atoms, dtype=np.int64),
        [Pairs("lennard-jones", rows)],
        space,
        melts.CUTOFF,
        SKIN * melts.CUTOFF if skin is None else skin,
        walls,
        precision,
    )
    return made


def stepped(running: Any, steps: int) -> float:
    """Time that steps take on a device [s]; raises FloatingPointError where they do not come through."""
    wp = load_warp()
    wp.synchronize()
    began = time.perf_counter()
    taken, well = running.advance(steps, melts.STEP)
    wp.synchronize()
    if not well:
        raise FloatingPointError(f"the melt did not come through: {taken} of {steps} steps")
    return time.perf_counter() - began


def enough(running: Any, seconds: float) -> int:
    """How many steps take about so long [s], at least ten."""
    once = stepped(running, 10)
    return max(10, int(10 * seconds / max(once, 1e-6)) // 10 * 10)


def timed(start: melts.Melt, name: str, precision: str, seconds: float, melting: int) -> dict[str, float]:
    """Speed on a device [million atom-steps per second], lists made per step, and the drift of the total energy over
    all the steps, by the kinetic energy.

    The energy jumps where a pair crosses the cutoff of a truncated law, so that what precision does shows against what
    it does in double alone.
    """
    running = engine(start, name, precision)
    running.load(start.positions, start.velocities)
    stepped(running, melting)
    steps = enough(running, seconds)
    before, lists = total_energy(running), running.lists.rebuilds
    best = min(stepped(running, steps) for _ in range(ROUNDS))
    lists = running.lists.rebuilds - lists
    after = total_energy(running)
    kinetic = 0.5 * float(np.vdot(start.velocities, start.velocities))
    return {
        "speed": round(1e-6 * start.atoms * steps / best, 3),
        "rebuilds_per_step": round(lists / (ROUNDS * steps), 4),
        "drift": (after - before) / kinetic,
    }


def total_energy(running: Any) -> float:
    """Kinetic and potential energy of the melt as it is; it goes on from there."""
    x, v = (part.copy() for part in running.store())
    energy = 0.5 * float((v * v).sum()) + float(running.measure(x)[0])
    running.load(x, v, running.listed_at().copy())
    return energy


def agreement(start: melts.Melt, names: Sequence[str], melting: int) -> dict[str, dict[str, float]]:
    """Differences from the CPU's sums for the same melted atoms: of forces, by the largest; of energy and of the trace
    of the virial, by themselves; and whether a second sum has the same bits."""
    found: dict[str, dict[str, float]] = {}
    melted = engine(start, names[0], "double")
    melted.load(start.positions, start.velocities)
    stepped(melted, melting)
    x = melted.store()[0].copy()
    here = SiteForces(melts.our_model(start))
    forces, measures = here.evaluate(x), here.measure(x)
    for name in names:
        for precision in PRECISIONS:
            there = engine(start, name, precision)
            theirs, sums = there.forces(x), there.measure(x)
            trace, other = measures[1:4].sum(), sums[1:4].sum()
            found[f"{name}, {precision}"] = {
                "forces": float(np.abs(theirs - forces).max() / np.abs(forces).max()),
                "energy": float(abs(sums[0] / measures[0] - 1.0)),
                "virial": float(abs(other / trace - 1.0)),
                "same_bits_again": bool(np.array_equal(engine(start, name, precision).forces(x), theirs)),
                "same_bits_when_cut": same_when_cut(start, name, precision),
            }
    return found


def same_when_cut(start: melts.Melt, name: str, precision: str) -> bool:
    """Whether steps that are broken off and gone on with by another engine end on the bits of those that are not."""
    whole, first, second = (engine(start, name, precision) for _ in range(3))
    for running in (whole, first):
        running.load(start.positions, start.velocities)
    stepped(whole, 60)
    stepped(first, 23)
    x, v = (part.copy() for part in first.store())
    second.load(x, v, first.listed_at())
    stepped(second, 37)
    return all(np.array_equal(a, b) for a, b in zip(whole.store(), second.store(), strict=True))


def tuned(start: melts.Melt, name: str, precision: str, seconds: float, melting: int) -> dict[str, float]:
    """Speeds by skin [σ], and by how many threads share an atom [million atom-steps per second]."""
    from articulon.gpu import particle_engine

    found = {}
    usual = particle_engine.MOST_LANES, particle_engine.ENOUGH
    trials = [(f"skin {skin}", skin, usual) for skin in SKINS]
    trials += [(f"{lanes} threads", None, (lanes, lanes * start.atoms)) for lanes in LANES]
    for words, skin, (most, threads) in trials:
        particle_engine.MOST_LANES, particle_engine.ENOUGH = most, threads
        try:
            running = engine(start, name, precision, skin)
        finally:
            particle_engine.MOST_LANES, particle_engine.ENOUGH = usual
        running.load(start.positions, start.velocities)
        stepped(running, melting)
        steps = enough(running, seconds)
        found[words] = round(1e-6 * start.atoms * steps / stepped(running, steps), 3)
    return found


def on_cpu(start: melts.Melt, seconds: float, melting: int) -> float:
    """Speed of our engine on the CPU, all threads [million atom-steps per second]."""
    import numba

    threads = numba.config.NUMBA_NUM_THREADS
    running = melts.ours(start)
    running.advance(threads, melting)
    steps = max(10, int(10 * seconds / running.advance(threads, 10)))
    best = min(running.advance(threads, steps) for _ in range(2))
    return round(1e-6 * start.atoms * steps / best, 3)


def show(figures: dict[str, Any], out: Any = None) -> None:
    """Prints the figures as tables."""
    from benchmarks.tables import console, show_machine, show_table

    out = console() if out is None else out
    for name, words in figures["devices"].items():
        out.print(f"{name}: {words}")
    if not figures["gpu"]:
        out.print("There is no GPU here: figures are of Warp's CPU device alone.")
    columns = ("engine", *(f"{atoms:,} atoms" for atoms in figures["atoms"]))
    rows = [(label, *column) for label, column in figures["speeds"].items()]
    show_table(out, "Lennard-Jones melt: million atom-steps per second", columns, rows, words=1)
    rows = [(label, *column) for label, column in figures["rebuilds_per_step"].items()]
    show_table(out, "Neighbour lists built per step", columns, rows, words=1)
    rows = [(label, *column) for label, column in figures["drift"].items()]
    show_table(
        out, "Change of the total energy during all timed steps, relative to the kinetic energy", columns, rows, words=1
    )
    rows = [
        (label, *(found[key] for key in ("forces", "energy", "virial")), *bits_of(found))
        for label, found in figures["agreement"].items()
    ]
    heads = ("engine", "forces", "energy", "virial", "same bits if computed again", "same bits if interrupted")
    show_table(out, f"Differences from the CPU, {figures['atoms'][0]:,} atoms", heads, rows, words=1)
    for title, found in figures.get("tuned", {}).items():
        show_table(out, f"{title}: million atom-steps per second", ("what", "speed"), found.items(), words=1)
    for what in figures["failed"]:
        out.print(f"failed: {what}")
    for what in figures["left_out"]:
        out.print(f"left out for want of time: {what}")
    show_machine(out, figures["machine"])


def bits_of(found: dict[str, Any]) -> tuple[str, ...]:
    """Whether bits are the same, in words."""
    return tuple("yes" if found[key] else "NO" for key in ("same_bits_again", "same_bits_when_cut"))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="The Lennard-Jones melt on every device.")
    parser.add_argument("--json", action="store_true", help="Print the figures as JSON.")
    parser.add_argument("--tune", action="store_true", help="Try skins and numbers of threads for an atom too.")
    parser.add_argument("--budget", type=float, default=BUDGET, help="Seconds after which nothing more is begun.")
    asked = parser.parse_args()
    found = measure(
        budget=asked.budget,
        tune=asked.tune,
        say=lambda what: print(f"measuring {what}", file=sys.stderr, flush=True),
    )
    if asked.json:
        print(json.dumps(found, indent=2, allow_nan=False))
    else:
        show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
