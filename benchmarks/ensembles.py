"""Ensembles of built-in cases under friction-implicit steps: microseconds for a step of a state, beside one run."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numba
import numpy as np
from rich.console import Console

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import PAUSED
from articulon.scaling import NoScaling
from benchmarks.chains import installed
from benchmarks.steps import AGES
from benchmarks.tables import show_table
from benchmarks.timing import interleaved

CASES = (("nanoparticle-docking", 256, 50), ("trp-zipper", 32, 10))
"""Case, states, and steps that are taken at once."""
NEEDS = {"trp-zipper": "openmm"}
"""What makes the force field of a case."""
WAYS = ("a run, 1 thread", "ensemble, 1 thread", "ensemble, 2 threads")


def measure_ensembles(cases: Sequence[tuple[str, int, int]], seconds: float) -> list[dict[str, Any]]:
    """A row for each case: its name, its states, and the time of a step of a state by every way [μs]; None for what is
    not installed or has no second thread."""
    rows: list[dict[str, Any]] = []
    for name, states, steps in cases:
        row: dict[str, Any] = {"case": name, "states": states, **dict.fromkeys(WAYS)}
        rows.append(row)
        if name in NEEDS and installed(NEEDS[name]) is None:
            continue
        calls = [
            ("a run, 1 thread", 1, _alone(name, steps)),
            ("ensemble, 1 thread", states, _many(name, states, steps, 1)),
        ]
        if numba.config.NUMBA_NUM_THREADS >= 2:
            calls.append(("ensemble, 2 threads", states, _many(name, states, steps, 2)))
        for _, _, call in calls:
            call()
        best = interleaved([call for _, _, call in calls], seconds, perf_counter, batch=0.0)
        for (way, count, _), duration in zip(calls, best, strict=True):
            row[way] = round(1e6 * duration / (count * steps), 2)
    return rows


def _on(threads: int, call: Callable[[], Any]) -> Callable[[], None]:
    """A call on so many threads."""

    def on_threads() -> None:
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            call()
        finally:
            numba.set_num_threads(before)

    return on_threads


def _alone(name: str, steps: int) -> Callable[[], None]:
    """Steps of one run of a case."""
    case = ar.load_case(name)
    model, step = case.build_model(), float(case.integrator.step)
    evaluator = Evaluator(model, thermostat=case.thermostat, window=step)
    moved = driver(Problem(evaluator, case.integrator, NoScaling()), evaluator.initial_state())
    state = evaluator.initial_state(moved.history)

    def advance() -> None:
        if moved.advance(state, AGES, steps) != PAUSED:
            raise FloatingPointError(f"{name} did not come through {steps} steps")

    return _on(1, advance)


def _many(name: str, states: int, steps: int, threads: int) -> Callable[[], None]:
    """Steps of an ensemble of a case."""
    case = ar.load_case(name)
    model, rule = case.build_model(), case.integrator
    q = np.tile(model.q0, (states, 1))
    ensemble = ar.Ensemble(model, q, model.u0, seeds=range(states), thermostat=case.thermostat)
    return _on(threads, lambda: ensemble.advance(steps, float(rule.step), rule.rule, rule.drift))


def show_ensembles(rows: Sequence[dict[str, Any]], out: Console) -> None:
    """Prints the rows as a table, with the ratio of the time of a run on one thread to that of an ensemble."""
    lines = []
    for row in rows:
        alone, *many = (row[way] for way in WAYS)
        worth = [None if one is None or alone is None else round(alone / one, 2) for one in many]
        lines.append((row["case"], row["states"], alone, *many, *worth))
    title = (
        "Friction-implicit steps of many states together: μs for a step of a state, and ratio of a run to an ensemble"
    )
    columns = ["case", "states", "a run, 1 thread", "ensemble, 1", "2 threads", "ratio, 1", "2 threads"]
    show_table(out, title, columns, lines)
