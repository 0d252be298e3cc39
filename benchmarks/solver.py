"""Forward dynamics of long chains: nanoseconds per body, beside the backward error of the same call."""

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import numba
from rich.console import Console

from articulon.dynamics import articulated
from articulon.dynamics.state_functions import scratch
from benchmarks.accuracy import backward_error, residual
from benchmarks.algorithms import SIZES as ALGORITHM_SIZES
from benchmarks.algorithms import algorithm_targets, measure_algorithms, show_algorithms
from benchmarks.chains import Solver, chain, mujoco, our_model, ours, pinocchio
from benchmarks.memory import bytes_of
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import interleaved, machine

SIZES = (8, 32, 128, 256, 512, 4096, 10_000, 100_000, 1_000_000)
KINDS = ("revolute", "spherical")
ENGINES = ("ours", "pinocchio", "mujoco")
FIGURES = ("ns_per_body", "backward_error", "residual")
"""Of each engine, by size."""
TREES, BODIES_PER_TREE = 1000, 32
SECONDS = 6.0
"""Wall-clock time for the timing of each kind of chain [s]; building the models comes on top."""


def measure(
    sizes: Sequence[int] = SIZES,
    seconds: float = SECONDS,
    trees: int = TREES,
    say: Callable[[str], None] = lambda _: None,
    algorithm_sizes: Sequence[int] = ALGORITHM_SIZES,
) -> dict[str, Any]:
    """The figures: an object for each kind of chain with a list for each engine, None where an engine cannot; the
    forest; the algorithms; the targets; and the machine."""
    figures: dict[str, Any] = {"machine": machine()}
    for kind in KINDS:
        say(f"{kind} chains of {sizes[0]:,} to {sizes[-1]:,} bodies")
        figures[kind] = measure_chains(kind, sizes, seconds)
        gc.collect()
    say(f"a forest of {trees:,} chains")
    figures["forest"] = measure_forest(trees, BODIES_PER_TREE, seconds)
    say("Kane's method and divide and conquer")
    figures["algorithms"] = measure_algorithms(algorithm_sizes, seconds)
    figures["targets"] = [*targets(figures), *algorithm_targets(figures["algorithms"])]
    return figures


def measure_chains(kind: str, sizes: Sequence[int], seconds: float) -> dict[str, Any]:
    """Chains of all sizes in all engines, one thread, timed in turn in one loop."""
    figures: dict[str, Any] = {"n": list(sizes)}
    for engine in ENGINES:
        for what in FIGURES:
            figures[f"{engine}_{what}"] = [None] * len(sizes)
    timed: list[tuple[str, int, Solver]] = []
    for k, bodies in enumerate(sizes):
        c = chain(kind, bodies)
        model = our_model(c)
        solvers = {"ours": ours(c, model), "pinocchio": pinocchio(c), "mujoco": mujoco(c)}
        for engine, solver in solvers.items():
            if solver is not None:
                solver.call()
                udot = solver.accelerations()
                figures[f"{engine}_backward_error"][k] = backward_error(model, c, udot)
                figures[f"{engine}_residual"][k] = residual(model, c, udot)
                timed.append((engine, k, solver))
        figures["bytes_per_body"] = round(bytes_of(model, scratch(model)) / bodies)
    best = interleaved([solver.call for _, _, solver in timed], seconds)
    for (engine, k, _), duration in zip(timed, best, strict=True):
        figures[f"{engine}_ns_per_body"][k] = round(1e9 * duration / sizes[k], 1)
    return figures


def measure_forest(trees: int, bodies: int, seconds: float) -> dict[str, Any]:
    """Many revolute chains, on one thread and on two; one thread by whichever kernel is the faster there."""
    c = chain("revolute", bodies, trees)
    model = our_model(c)
    alone = ours(c, model, articulated.forward_dynamics).call
    shared = ours(c, model, articulated.forward_dynamics_parallel).call
    most, before = numba.config.NUMBA_NUM_THREADS, numba.get_num_threads()

    def on(threads: int) -> Callable[[], None]:
        def call() -> None:
            numba.set_num_threads(threads)
            shared()

        return call

    calls = [alone, on(1)] + ([on(2)] if most >= 2 else [])
    try:
        for call in calls:
            call()
        per_body = [1e9 * best / (trees * bodies) for best in interleaved(calls, seconds, time.perf_counter, batch=0.0)]
    finally:
        numba.set_num_threads(before)
    one, two = min(per_body[:2]), per_body[2] if most >= 2 else None
    return {
        "trees": trees,
        "bodies_per_tree": bodies,
        "one_thread_ns_per_body": round(one, 1),
        "two_threads_ns_per_body": None if two is None else round(two, 1),
        "speedup": None if two is None else round(one / two, 3),
    }


def ratios(figures: dict[str, Any], engine: str = "pinocchio") -> list[float | None]:
    """How many times as fast as a peer, by size."""
    pairs = zip(figures["ours_ns_per_body"], figures[f"{engine}_ns_per_body"], strict=True)
    return [None if theirs is None else theirs / mine for mine, theirs in pairs]


def growth(figures: dict[str, Any], start: int = 128, end: int = 100_000) -> float | None:
    """How much longer a body takes in a chain of ``end`` bodies than in one of ``start``: 0.2 is 20 %."""
    if start not in figures["n"] or end not in figures["n"]:
        return None
    first, last = (figures["ours_ns_per_body"][figures["n"].index(n)] for n in (start, end))
    return last / first - 1.0


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the solver should reach."""
    revolute = figures["revolute"]
    found = dict(zip(revolute["n"], ratios(revolute), strict=True))
    long = [r for n, r in found.items() if r is not None and n >= 128]
    largest = max(revolute["n"])
    return [
        target("revolute, n = 8: times as fast as Pinocchio", found.get(8), 1.2, at_least=True),
        target("revolute, n = 32: times as fast as Pinocchio", found.get(32), 2.0, at_least=True),
        target("revolute, n ≥ 128: times as fast as Pinocchio, at least", min(long, default=None), 3.0, at_least=True),
        target("revolute: growth of time per body from n = 128 to 100,000", growth(revolute), 0.2),
        target(f"bytes per body at n = {largest:,}", max(figures[k]["bytes_per_body"] for k in KINDS), 2000),
        target("forest: speed-up by two threads", figures["forest"]["speedup"], 1.8, at_least=True),
    ]


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    columns = [
        "n",
        "ours",
        "error",
        "residual",
        "Pinocchio",
        "error",
        "residual",
        "MuJoCo",
        "error",
        "residual",
        "ratio",
    ]
    for kind in KINDS:
        of = figures[kind]
        lists = [of["n"], *(of[f"{e}_{what}"] for e in ENGINES for what in FIGURES), ratios(of)]
        title = (
            f"{kind.capitalize()} chains on one thread: ns per body, error, residual; ratio of Pinocchio's time to ours"
        )
        show_table(out, title, columns, zip(*lists, strict=True))
    forest = figures["forest"]
    row = (forest["one_thread_ns_per_body"], forest["two_threads_ns_per_body"], forest["speedup"])
    title = f"A forest of {forest['trees']:,} revolute chains of {forest['bodies_per_tree']} bodies: ns per body"
    show_table(out, title, ("one thread", "two threads", "speed-up"), [row])
    show_algorithms(figures["algorithms"], out)
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
