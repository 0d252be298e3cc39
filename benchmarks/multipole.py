"""Charges in open space: from which number of them on the fast multipole method beats the sum over all pairs."""

import math
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numba
import numpy as np
from rich.console import Console

from articulon.building import ModelBuilder
from articulon.forces import Coulomb, FastMultipole
from articulon.forces.sites.site_evaluation import SiteForces
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import interleaved, machine

SIZES = (1_000, 4_000, 16_000, 64_000)
PRECISIONS = (1e-3, 1e-6, 1e-9)
THREADS = (1, 2)
"""Of the sum over pairs. The library of the method has one in its wheels, and is given one."""
SECONDS = 10.0
"""For the timing of each size, where three rounds of all do not take longer [s]."""
PACKAGES = {"numpy": "numpy", "numba": "numba", "fmm3dpy": "fmm3dpy"}

Say = Callable[[str], None]


def measure(
    sizes: Sequence[int] = SIZES,
    precisions: Sequence[float] = PRECISIONS,
    seconds: float = SECONDS,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """The figures: seconds for the forces of each number of charges, in a cube, by the sum over pairs by number of
    threads and by the method by precision, None where either cannot; its measured errors; from which number of charges
    on the method is the faster; the targets; and the machine."""
    usable = [threads for threads in THREADS if threads <= numba.config.NUMBA_NUM_THREADS]
    figures: dict[str, Any] = {
        "machine": machine(PACKAGES),
        "n": list(sizes),
        "direct": {str(threads): [None] * len(sizes) for threads in THREADS},
        "multipole": {name_of(p): [None] * len(sizes) for p in precisions},
        "error": {name_of(p): [None] * len(sizes) for p in precisions},
    }
    some = find_spec("fmm3dpy") is not None
    if not some:
        say("the sum over pairs only: fmm3dpy is not installed (pip install 'articulon[longrange]')")
    before = numba.get_num_threads()
    try:
        for k, n in enumerate(sizes):
            say(f"{n:,} charges")
            positions, charges = cube(n)
            direct = site_forces(positions, charges, Coulomb())
            exact = direct.evaluate(positions)
            multipoles = [site_forces(positions, charges, FastMultipole(precision=p)) for p in precisions if some]
            for precision, sites in zip(precisions, multipoles, strict=False):
                error = np.linalg.norm(sites.evaluate(positions) - exact) / np.linalg.norm(exact)
                figures["error"][name_of(precision)][k] = float(error)
            calls = [_on(1, sites, positions) for sites in (direct, *multipoles)]
            best = interleaved(calls, seconds, time.process_time, batch=0.0)
            figures["direct"]["1"][k] = best[0]
            for precision, taken in zip(precisions, best[1:], strict=False):
                figures["multipole"][name_of(precision)][k] = taken
            for threads in usable[1:]:
                call = _on(threads, direct, positions)
                figures["direct"][str(threads)][k] = interleaved([call], seconds / 4, time.perf_counter, batch=0.0)[0]
    finally:
        numba.set_num_threads(before)
    figures["crossover"] = {
        threads: {name: crossover(sizes, taken, theirs) for name, theirs in figures["multipole"].items()}
        for threads, taken in figures["direct"].items()
    }
    figures["targets"] = targets(figures)
    return figures


def name_of(precision: float) -> str:
    """A precision as the figures name it."""
    return f"{precision:.0e}"


def cube(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of charges at random in a cube, at a density of one, and charges of both signs."""
    rng = np.random.default_rng(n)
    return rng.random((n, 3)) * n ** (1 / 3), np.where(np.arange(n) % 2, 1.0, -1.0)


def site_forces(positions: np.ndarray, charges: np.ndarray, force: Coulomb | FastMultipole) -> SiteForces:
    """The forces of charges that are free particles in open space."""
    builder = ModelBuilder(units="lj")
    builder.add_particles(len(charges), mass=1.0, positions=positions, charge=charges)
    builder.add_force(force)
    return SiteForces(builder.build())


def _on(threads: int, sites: SiteForces, positions: np.ndarray) -> Callable[[], None]:
    def call() -> None:
        numba.set_num_threads(threads)
        sites.evaluate(positions)

    return call


def crossover(sizes: Sequence[int], direct: Sequence[float | None], multipole: Sequence[float | None]) -> float | None:
    """The number of charges from which on the method is the faster at all sizes; None where it is at none of them, or
    at all, or one of the two is not there.

    Between two sizes the ratio of times is taken to be a power of the number.
    """
    ratios = [None if a is None or b is None else math.log(a / b) for a, b in zip(direct, multipole, strict=True)]
    for k in range(len(sizes) - 1, 0, -1):
        above, below = ratios[k], ratios[k - 1]
        if above is None or below is None or above < 0.0:
            return None
        if below < 0.0:
            share = -below / (above - below)
            return float(sizes[k - 1] * (sizes[k] / sizes[k - 1]) ** share)
    return None


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the method should reach: to be the faster for many charges, and as precise as it was asked to be."""
    n, found = figures["n"][-1], []
    for name, taken in figures["multipole"].items():
        times = None if taken[-1] is None else figures["direct"]["1"][-1] / taken[-1]
        what = f"{n:,} charges, {name}: times as fast as the sum over pairs"
        found.append(target(what, times, 1.0, at_least=True))
    for name, errors in figures["error"].items():
        known = [error for error in errors if error is not None]
        found.append(target(f"{name}: error of the forces", max(known, default=None), float(name)))
    return found


def _threads(count: str) -> str:
    return "1 thread" if count == "1" else f"{count} threads"


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    direct, multipole = figures["direct"], figures["multipole"]
    lists = [[None if t is None else 1e3 * t for t in taken] for taken in (*direct.values(), *multipole.values())]
    title = "Forces of charges in open space [ms]: sum over all pairs by threads, fast multipole method by precision"
    columns = ["charges", *(_threads(t) for t in direct), *multipole]
    show_table(out, title, columns, zip(figures["n"], *lists, strict=True))
    title = "Error of the forces of the method, ‖F − F₀‖/‖F₀‖"
    show_table(out, title, ["charges", *multipole], zip(figures["n"], *figures["error"].values(), strict=True))
    found = figures["crossover"].items()
    rows = [(_threads(t), *(None if n is None else round(n) for n in numbers.values())) for t, numbers in found]
    title = "Crossover: from this number of charges on, the fast multipole method is faster"
    show_table(out, title, ["sum over pairs", *multipole], rows, words=1)
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
