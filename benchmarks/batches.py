"""Many states at once: forward dynamics beside Pinocchio, and ensembles of cases beside single runs."""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numba
import numpy as np
from rich.console import Console

import articulon as ar
from articulon.lanes import WIDTH
from benchmarks.chains import GRAVITY, chain, installed, our_model, pinocchio_model
from benchmarks.ensembles import CASES, measure_ensembles, show_ensembles
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import interleaved, machine

SIZES = (7, 16, 40)
"""Bodies of the chains."""
STATES = 4096
SECONDS = 4.0
"""Wall-clock time for each chain [s]."""
ENGINES = ("ours, 1 thread", "ours, 2 threads", "aba", "in parallel, 1 thread", "in parallel, 2 threads")
"""Ours, and Pinocchio: a call for each state, and its own loop over states."""


def measure(
    sizes: Sequence[int] = SIZES,
    states: int = STATES,
    seconds: float = SECONDS,
    cases: Sequence[tuple[str, int, int]] = CASES,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The figures: nanoseconds per state and body by engine and length, how far the accelerations lie apart, ensembles
    of cases, targets and the machine."""
    figures: dict[str, Any] = {"machine": machine(), "states": states, "lanes": WIDTH, "n": list(sizes)}
    for engine in ENGINES:
        figures[engine] = [None] * len(sizes)
    figures["difference"] = [None] * len(sizes)
    for k, bodies in enumerate(sizes):
        say(f"{states:,} states of a chain of {bodies}")
        calls, figures["difference"][k] = _calls(bodies, states)
        best = interleaved([call for _, _, call in calls], seconds, perf_counter, batch=0.0)
        for (engine, count, _), duration in zip(calls, best, strict=True):
            figures[engine][k] = round(1e9 * duration / (count * bodies), 2)
    say("ensembles")
    figures["ensembles"] = measure_ensembles(cases, seconds)
    figures["targets"] = targets(figures)
    return figures


def _calls(bodies: int, states: int) -> tuple[list[tuple[str, int, Callable[[], Any]]], float | None]:
    """What is timed, each with the states that it solves, and how far engines lie apart."""
    c = chain("revolute", bodies)
    model, rng = our_model(c), np.random.default_rng(1)
    q, u, tau = (rng.normal(size=(states, bodies)) for _ in range(3))

    def ours(threads: int) -> Callable[[], np.ndarray]:
        def call() -> np.ndarray:
            before = numba.get_num_threads()
            numba.set_num_threads(threads)
            try:
                return ar.forward_dynamics(model, q, u, tau, gravity=GRAVITY)
            finally:
                numba.set_num_threads(before)

        return call

    calls: list[tuple[str, int, Callable[[], Any]]] = [("ours, 1 thread", states, ours(1))]
    if numba.config.NUMBA_NUM_THREADS >= 2:
        calls.append(("ours, 2 threads", states, ours(2)))
    found, difference = ours(1)(), None
    pin = installed("pinocchio")
    if pin is not None:
        theirs = pinocchio_model(c)
        data, some = pin.Data(theirs), range(min(states, 100))
        rows = [(q[k].copy(), u[k].copy(), tau[k].copy()) for k in some]

        def each() -> np.ndarray:
            return np.array([pin.aba(theirs, data, *row).copy() for row in rows])

        difference = float(np.abs(each() - found[: len(rows)]).max() / np.abs(found).max())

        def alone() -> None:
            for row in rows:
                pin.aba(theirs, data, *row)

        calls.append(("aba", len(rows), alone))
        if hasattr(pin, "abaInParallel"):
            columns = [np.asfortranarray(one.T) for one in (q, u, tau)]
            for threads in (1, 2):
                pool = pin.ModelPool(theirs, threads)
                name = f"in parallel, {threads} thread{'s' * (threads > 1)}"
                calls.append((name, states, partial(pin.abaInParallel, threads, pool, *columns)))
    for _, _, call in calls:
        call()
    return calls, difference


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What batches should reach: against the faster of Pinocchio's ways on one thread."""
    ratios: dict[str, list[float]] = {"1 thread": [], "2 threads": []}
    for k in range(len(figures["n"])):
        theirs = [one for one in (figures["aba"][k], figures["in parallel, 1 thread"][k]) if one is not None]
        for threads, found in ratios.items():
            ours = figures[f"ours, {threads}"][k]
            if theirs and ours is not None:
                found.append(min(theirs) / ours)
    return [
        target(
            f"{threads}: times as fast per state as Pinocchio on one thread",
            min(found, default=None),
            limit,
            at_least=True,
        )
        for (threads, found), limit in zip(ratios.items(), (6.0, 11.0), strict=True)
    ]


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    title = f"{figures['states']:,} states of a revolute chain: ns per state and body; our states "
    title += f"{figures['lanes']} side by side"
    columns = ["n", "ours, 1 thread", "2 threads", "Pinocchio's `aba`", "in parallel, 1", "2 threads", "difference"]
    lists = [figures["n"], *(figures[engine] for engine in ENGINES), figures["difference"]]
    show_table(out, title, columns, zip(*lists, strict=True))
    show_ensembles(figures["ensembles"], out)
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
