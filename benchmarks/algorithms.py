"""The equation-of-motion algorithms side by side: how their times grow with the length of a chain, and with threads."""

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numba
import numpy as np
from rich.console import Console

from articulon.building import ModelBuilder
from articulon.dynamics import motion_passes
from articulon.dynamics.dca import constrained_assembly
from articulon.dynamics.loops.conditions import MOTION
from articulon.dynamics.loops.given_motions import motion_functions
from articulon.dynamics.solvers import Constraints, Loads, solver_scratch, solving
from articulon.dynamics.state_functions import scratch
from articulon.kernels import one_blas_thread
from articulon.model import Model, Workspace, kernel_tables
from articulon.model.joints import MODULES
from articulon.model.joints.axis import AxisJoint
from articulon.passes import Program, functions, run_from_python
from benchmarks.accuracy import residual
from benchmarks.chains import CENTRE, GRAVITY, LENGTH, MASS, MOMENTS, Chain, chain, our_model
from benchmarks.tables import show_table, target
from benchmarks.timing import interleaved

SIZES = (4, 16, 64, 256, 1024, 4096, 16384, 65536)
KANE_BODIES = 1024
"""Longer chains take Kane's method seconds and, at 65,536, 32 GB for the mass matrix alone."""
FITTED_FROM = 64
"""Exponents are fitted from this length on: below it, calls and not bodies take the time."""
MIXED = (128, 4096, 65536)
"""Lengths of the chains with a joint of every kind."""
REPEATED_BODIES = 200_000
"""Calls in one compiled loop, times the number of bodies."""
ALGORITHMS = ("articulated", "kane", "divide_1", "divide_2")
"""Divide and conquer on one thread and on two."""


def measure_algorithms(sizes: Sequence[int] = SIZES, seconds: float = 6.0) -> dict[str, Any]:
    """Times of one call on revolute chains [ns per body], residuals, and the exponent of each in the number of bodies.

    Threads are those that the machine has; where there is one, two-thread figures are None.
    """
    figures: dict[str, Any] = {"n": list(sizes)}
    for name in ALGORITHMS:
        figures[f"{name}_ns_per_body"] = [None] * len(sizes)
        figures[f"{name}_residual"] = [None] * len(sizes)
    calls: list[tuple[str, int, int, Callable[[], Any]]] = []
    programs: list[Program | None] = []
    for k, bodies in enumerate(sizes):
        c = chain("revolute", bodies)
        model = our_model(c)
        for name in ALGORITHMS:
            found = _call(name, c, model)
            if found is None:
                continue
            call, repeats, udot, program = found
            programs.append(program)
            call()
            figures[f"{name}_residual"][k] = residual(model, c, udot)
            calls.append((name, k, repeats, call))
    before = numba.get_num_threads()
    try:
        with one_blas_thread():
            best = interleaved([call for *_, call in calls], seconds, time.perf_counter)
    finally:
        numba.set_num_threads(before)
    for (name, k, repeats, _), duration in zip(calls, best, strict=True):
        figures[f"{name}_ns_per_body"][k] = round(1e9 * duration / (repeats * sizes[k]), 1)
    figures["mixed"] = measure_mixed()
    figures["exponents"] = {name: exponent(sizes, figures[f"{name}_ns_per_body"]) for name in ALGORITHMS}
    return figures


@cache
def _repeated(kernel: Any) -> Any:
    """A compiled loop over a kernel: a run calls a solver so, and a call from Python would hide the shorter chains."""

    @numba.njit
    def loop(count, *arguments):
        for _ in range(count):
            kernel(*arguments)

    return loop


def _call(name: str, c: Chain, model: Model) -> tuple[Callable[[], Any], int, np.ndarray, Program | None] | None:
    """Some calls of an algorithm, how many, where it puts the accelerations, and the program that is to be kept; None
    where it is not measured."""
    udot, links = np.empty(model.nu), model.forest.mass.size
    repeats = max(1, REPEATED_BODIES // links) if name != "kane" else max(1, 64 // links)
    state = (c.q, c.u, np.zeros(model.nu), np.zeros((links, 6)), GRAVITY, scratch(model))
    if name == "kane" and model.nu > KANE_BODIES:
        return None
    if name == "divide_2" and numba.config.NUMBA_NUM_THREADS < 2:
        return None
    program = _program(name, model, *state, udot)
    return (
        _threads(2 if name == "divide_2" else 1, _repeated(run_from_python), repeats, program.code),
        repeats,
        udot,
        program,
    )


def _program(
    name: str,
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    tau: np.ndarray,
    wrench: np.ndarray,
    gravity: np.ndarray,
    ws: Workspace,
    udot: np.ndarray,
) -> Program:
    """The articulated recursion, Kane's method, or divide and conquer on one thread or on several, whatever the number
    of links."""
    forest, loops, motions = kernel_tables(model)
    loads = Loads(tau, wrench, gravity, np.ones(1))
    located = [motion_passes.place_links.bind(forest, q, ws), motion_passes.move_links.bind(forest, u, ws)]
    if name in ("articulated", "kane"):
        scratch = solver_scratch(model, name)
        constraints = Constraints(loops, motions, functions(motion_functions(model), MOTION), np.zeros(1))
        return Program([*located, *solving(model, name, forest, constraints, loads, ws, scratch, udot)])
    scratch, shared = solver_scratch(model, "divide-and-conquer"), name == "divide_2"
    if shared:
        located = [motion_passes.locate_blocks_in_parallel.bind(forest, scratch.tree, q, u, ws, scratch.blocks)]
    return Program([*located, *constrained_assembly.dividing(forest, loops, *loads, ws, scratch, udot, shared)])


def _threads(count: int, loop: Any, *arguments: Any) -> Callable[[], None]:
    def call() -> None:
        numba.set_num_threads(count)
        loop(*arguments)

    return call


def mixed_model(bodies: int) -> Model:
    """A chain of bodies with extent, on joints of every kind that takes them in turn, in motion."""
    rng = np.random.default_rng(0)
    moving = [joint for joint in MODULES if joint.nu and not joint.spinless]
    kinds = [joint(axis=(0.0, 0.6, 0.8)) if issubclass(joint, AxisJoint) else joint() for joint in moving]
    joints = [kinds[k % len(kinds)] for k in range(bodies)]
    position = np.zeros((bodies, 3))
    position[1:, 2] = LENGTH
    builder = ModelBuilder(units="kg-m-s")
    builder.add_bodies(
        bodies,
        mass=MASS,
        com=CENTRE,
        inertia=MOMENTS,
        joint=joints,
        parents=np.arange(bodies) - 1,
        position=position,
        u=0.1 * rng.normal(size=sum(joint.nu for joint in joints)),
    )
    return builder.build()


def measure_mixed(sizes: Sequence[int] = MIXED, seconds: float = 2.0) -> dict[str, Any]:
    """The articulated solver on chains with a joint of every kind [ns per body]."""
    calls, counts, programs = [], [], []
    for bodies in sizes:
        model = mixed_model(bodies)
        arrays = (model.q0.copy(), model.u0.copy(), np.zeros(model.nu), np.zeros((bodies, 6)), GRAVITY, scratch(model))
        count = max(1, REPEATED_BODIES // bodies)
        programs.append(_program("articulated", model, *arrays, np.empty(model.nu)))
        calls.append(_threads(1, _repeated(run_from_python), count, programs[-1].code))
        calls[-1]()
        counts.append(count * bodies)
    best = interleaved(calls, seconds)
    return {"n": list(sizes), "ns_per_body": [round(1e9 * t / c, 1) for t, c in zip(best, counts, strict=True)]}


def exponent(sizes: Sequence[int], per_body: Sequence[float | None]) -> float | None:
    """p of a time that grows as nᵖ, by least squares over the logarithms; None for fewer than three lengths."""
    points = [(n, n * t) for n, t in zip(sizes, per_body, strict=True) if t is not None and n >= FITTED_FROM]
    if len(points) < 3:
        return None
    x, y = np.log(np.array(points, dtype=np.float64)).T
    return round(float(np.polyfit(x, y, 1)[0]), 3)


def algorithm_targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What divide and conquer should reach."""
    one, two, tree = (figures[f"{name}_ns_per_body"] for name in ("divide_1", "divide_2", "articulated"))
    long = [k for k, n in enumerate(figures["n"]) if n >= FITTED_FROM]
    worst = [one[k] / tree[k] for k in long if one[k] is not None]
    gains = [one[k] / two[k] for k in long if figures["n"][k] >= 4096 and two[k] is not None]
    return [
        target("divide and conquer, one thread, n ≥ 64: time relative to articulated", max(worst, default=None), 8.0),
        target("divide and conquer, n ≥ 4,096: speed-up by two threads", min(gains, default=None), 1.7, at_least=True),
    ]


def show_algorithms(figures: dict[str, Any], out: Console) -> None:
    """Prints the figures as a table."""
    columns = ["n"]
    for name in ("articulated", "Kane", "divide, 1 thread", "divide, 2 threads"):
        columns += [name, "residual"]
    lists = [figures["n"]]
    for name in ALGORITHMS:
        lists += [figures[f"{name}_ns_per_body"], figures[f"{name}_residual"]]
    show_table(
        out, "Algorithms on revolute chains: wall time in ns per body; residual", columns, zip(*lists, strict=True)
    )
    mixed = figures["mixed"]
    title = "The articulated solver on chains with a joint of every kind in turn: ns per body"
    show_table(out, title, [f"n = {n:,}" for n in mixed["n"]], [mixed["ns_per_body"]])
    row = [figures["exponents"][name] for name in ALGORITHMS]
    title = f"Exponent of the time of one call in the number of bodies, from n = {FITTED_FROM}"
    show_table(out, title, ("articulated", "Kane", "divide, 1 thread", "divide, 2 threads"), [row])
