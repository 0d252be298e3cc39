"""Many states at once: states per second on the CPU, on Warp's CPU device and on every GPU, beside MuJoCo Warp.

``python -m benchmarks.gpu --json`` is the same as ``articulon bench gpu --json`` and needs no more than NumPy, SciPy,
Numba, pydantic and Warp. It takes less than three minutes, of which compiling the kernels may be the most; what there
is no time for is left out and named.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon import forces
from articulon.building import ModelBuilder
from articulon.errors import ArticulonError, ModelError
from articulon.forces.accelerations import forward_dynamics
from articulon.forces.evaluation import Evaluator
from articulon.gpu.devices import device_words, devices, load_warp
from articulon.gpu.tree_batch import TreeBatch, accelerations
from articulon.gpu.tree_batch import forward_dynamics as on_device
from articulon.gpu.tree_ensemble import Ensemble
from articulon.integrate import Explicit
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.model import Model
from articulon.model.joints import Free, Revolute
from articulon.model.state import STEPS
from benchmarks.chains import GRAVITY, Chain, chain, installed, mujoco_model, our_model, ours
from benchmarks.timing import interleaved, machine

SIZES = (1, 16, 256, 1024, 4096, 16_384, 65_536)
"""States in a batch."""
MODELS = {"arm of 7 joints": ("revolute", 7), "chain of 32 bodies": ("revolute", 32)}
SECONDS = 0.2
"""For how long each figure is timed [s]."""
LONGEST = 0.05
"""Where a batch takes longer than this, larger ones are not tried [s]: they take as long for each state."""
BUDGET = 150.0
"""After this, what is left is left out [s]."""
PEER = 60.0
"""How long MuJoCo Warp may take until its kernels are compiled [s]."""
COMPARED = 64
"""States whose accelerations are compared with those of the CPU."""
RULE, STEP, ARMS = "rk4", 0.002, 8
"""The rule and step [s] of the ensembles, and how many arms their body has."""
TRIED = 200
"""Steps on the CPU that are timed at once."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Clock:
    """Until when there is time, and what has been left out for want of it."""

    end: float
    left_out: list[str]

    def allows(self, what: str, needed: float = 0.0) -> bool:
        """Whether there is time for another thing, which needs so much [s]; if not it is noted."""
        if time.perf_counter() + needed < self.end:
            return True
        self.left_out.append(what)
        return False


def measure(
    sizes: Sequence[int] = SIZES, seconds: float = SECONDS, budget: float = BUDGET, say: Say = lambda _: None
) -> dict[str, Any]:
    """The figures: for each model the states per second of every engine by size, None where it was not measured, and
    how far its accelerations are from those of the CPU; ensembles in the same way; the devices; and the machine."""
    began = time.perf_counter()
    clock = Clock(began + budget, [])
    names = devices()
    if len(names) == 1:
        say("no GPU here: Warp's CPU device alone is measured")
    figures: dict[str, Any] = {
        "machine": machine({"numpy": "numpy", "numba": "numba", "warp": "warp-lang", "mujoco_warp": "mujoco-warp"}),
        "devices": {name: device_words(name) for name in names},
        "gpu": len(names) > 1,
        "sizes": list(sizes),
        "forward_dynamics": {title: {} for title in MODELS},
        "compile_seconds": {},
    }
    order = [*names[1:], names[0]]  # what most depends on comes first
    for name in order:
        for precision in ("double", "single"):
            for title, (kind, bodies) in MODELS.items():
                label = f"{name}, {precision}"
                if clock.allows(f"{title}, {label}"):
                    say(f"{title}: {label}")
                    found = batches(chain(kind, bodies), name, precision, sizes, seconds, clock)
                    figures["compile_seconds"].setdefault(label, found.pop("first_call_seconds"))
                    figures["forward_dynamics"][title][label] = found
    for title, (kind, bodies) in MODELS.items():
        say(f"{title}: the CPU")
        figures["forward_dynamics"][title] |= on_cpu(chain(kind, bodies), sizes, seconds, clock)
    say("ensembles with drag and noise")
    figures["ensemble"] = ensembles(order, sizes, seconds, clock, say)
    for title, (kind, bodies) in MODELS.items():
        for name in names[1:]:
            if installed("mujoco_warp") and clock.allows(f"{title}: MuJoCo Warp, {name}", PEER):
                say(f"{title}: MuJoCo Warp, {name}")
                found_there = mujoco_warp(chain(kind, bodies), name, sizes, seconds, clock)
                if found_there is not None:
                    figures["forward_dynamics"][title][f"MuJoCo Warp, {name}, single"] = found_there
    figures["left_out"] = clock.left_out
    figures["seconds"] = round(time.perf_counter() - began, 1)
    return figures


def states_of(c: Chain, states: int) -> tuple[np.ndarray, np.ndarray]:
    """Random states of a revolute chain: angles of 0.5 rad and speeds of 0.1 rad/s; the first is the chain's own."""
    rng = np.random.default_rng(1)
    Q, U = 0.5 * rng.normal(size=(states, c.q.size)), 0.1 * rng.normal(size=(states, c.u.size))
    Q[0], U[0] = c.q, c.u
    return Q, U


def batches(c: Chain, name: str, precision: str, sizes: Sequence[int], seconds: float, clock: Clock) -> dict[str, Any]:
    """States per second of forward dynamics on a device, by size: of launches that Python makes, of a captured graph,
    and of whole calls with arrays of NumPy; the largest error; and the time of the first call."""
    wp, model = load_warp(), our_model(c)
    few = min(COMPARED, max(sizes))
    Q, U = states_of(c, few)
    began = time.perf_counter()
    found = on_device(model, Q, U, gravity=GRAVITY, device=name, precision=precision)
    first = time.perf_counter() - began
    result: dict[str, Any] = {"first_call_seconds": round(first, 2), "error": error(model, Q, U, found)}
    columns: dict[str, list[float | None]] = {"launched": [], "graph": [], "call": []}
    longest = 0.0
    for states in sizes:
        if longest > LONGEST or not clock.allows(f"{c.bodies} bodies, {name}, {precision}, {states} states"):
            for column in columns.values():
                column.append(None)
            continue
        Q, U = states_of(c, states)
        batch = TreeBatch(model, states, name, precision, "benchmark")
        batch.give(gravity=GRAVITY)
        y, dy = batch.rows(np.hstack([Q, U])), batch.zeros(model.nq + model.nu)
        with captured(batch, lambda batch=batch, y=y, dy=dy: batch.accelerate(y, dy)) as graph:
            launched = per_launch(lambda batch=batch, y=y, dy=dy: batch.accelerate(y, dy), batch.device, seconds)
            replayed = per_launch(lambda graph=graph: wp.capture_launch(graph), batch.device, seconds)
        whole = best(
            lambda Q=Q, U=U: on_device(model, Q, U, gravity=GRAVITY, device=name, precision=precision), seconds
        )
        longest = max(longest, launched)
        for column, taken in zip(columns.values(), (launched, replayed, whole), strict=True):
            column.append(round(states / taken))
    return {**result, **{f"{key}_states_per_second": column for key, column in columns.items()}}


@contextmanager
def captured(batch: TreeBatch, call: Callable[[], None]) -> Iterator[Any]:
    """A graph of what a call launches, which has been called once so that its kernels are loaded."""
    wp = load_warp()
    call()
    with wp.ScopedCapture(device=batch.device, force_module_load=False) as capture:
        call()
    yield capture.graph


def per_launch(call: Callable[[], Any], device: Any, seconds: float) -> float:
    """Best time of a call [s], many of them between two looks at the clock while the device works."""
    wp = load_warp()
    call()
    wp.synchronize_device(device)
    began = time.perf_counter()
    call()
    wp.synchronize_device(device)
    once = max(time.perf_counter() - began, 1e-6)
    repeats, shortest, start = max(1, round(0.25 * seconds / once)), np.inf, time.perf_counter()
    rounds = 0
    while rounds < 2 or time.perf_counter() - start < seconds:
        began = time.perf_counter()
        for _ in range(repeats):
            call()
        wp.synchronize_device(device)
        shortest = min(shortest, (time.perf_counter() - began) / repeats)
        rounds += 1
    return float(shortest)


def best(call: Callable[[], Any], seconds: float) -> float:
    """Best wall-clock time of one call [s]."""
    call()
    shortest, start = np.inf, time.perf_counter()
    while shortest == np.inf or time.perf_counter() - start < seconds:
        began = time.perf_counter()
        call()
        shortest = min(shortest, time.perf_counter() - began)
    return float(shortest)


def error(model: Model, Q: np.ndarray, U: np.ndarray, found: np.ndarray) -> float:
    """The largest difference from the accelerations of the CPU, relative to the largest of each state."""
    expected = np.array([forward_dynamics(model, q, u, gravity=GRAVITY) for q, u in zip(Q, U, strict=True)])
    return float((np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max())


def on_cpu(c: Chain, sizes: Sequence[int], seconds: float, clock: Clock) -> dict[str, Any]:
    """States per second of our kernel on one state, one thread, and of calls with a leading axis where there are
    such."""
    model = our_model(c)
    alone = ours(c, model).call
    alone()
    result: dict[str, Any] = {
        "CPU, one state a call": {"states_per_second": round(1.0 / interleaved([alone], seconds)[0])}
    }
    column: list[float | None] = []
    longest = 0.0
    for states in sizes:
        Q, U = states_of(c, states)
        if longest > LONGEST or not clock.allows(f"{c.bodies} bodies, CPU, {states} states"):
            column.append(None)
            continue
        try:
            taken = best(lambda Q=Q, U=U: forward_dynamics(model, Q, U, gravity=GRAVITY), seconds)
        except ModelError:  # arrays of states are not taken
            return result
        longest = max(longest, taken)
        column.append(round(states / taken))
    return {**result, "CPU, batches": {"call_states_per_second": column}}


def swimmer() -> Model:
    """A body with arms in a viscous medium at a temperature: kilograms, metres and seconds, of numbers near one."""
    builder = ModelBuilder(units="kg-m-s")
    core = builder.add_body("core", mass=4.0, inertia=0.5, joint=Free())
    for k in range(ARMS):
        last = core
        for j in range(3):
            last = builder.add_body(
                f"arm-{k}-{j}",
                parent=last,
                mass=1.0,
                com=(0.0, 0.0, 0.25),
                inertia=(0.1, 0.1, 0.02),
                joint=Revolute(axis=(0, 1, 0) if j % 2 else (1, 0, 0)),
                position=(0.0, 0.0, 0.5) if j else (0.3 * k - 1.0, 0.2, 0.0),
            )
    builder.add_force(forces.StokesDrag(translational=2.0, rotational=0.2))
    builder.add_force(forces.Brownian(1e22, window=10 * STEP))
    return builder.build()


def ensembles(names: Sequence[str], sizes: Sequence[int], seconds: float, clock: Clock, say: Say) -> dict[str, Any]:
    """Steps of states per second under drag and noise, by size, on every device and in a run on the CPU; and how far
    the accelerations are from those of the CPU."""
    model = swimmer()
    result: dict[str, Any] = {
        "bodies": model.bodies,
        "speeds": model.nu,
        "rule": RULE,
        "cpu_steps_per_second": round(cpu_steps(model, seconds)),
    }
    few = min(8, max(sizes))
    rng = np.random.default_rng(2)
    Q, U = np.tile(model.q0, (few, 1)), 0.1 * rng.normal(size=(few, model.nu))
    for name in names:
        for precision in ("double", "single"):
            if not clock.allows(f"ensembles, {name}, {precision}"):
                continue
            say(f"ensembles: {name}, {precision}")
            found = accelerations(model, Q, U, device=name, seeds=range(few), window=3, precision=precision)
            column: list[float | None] = []
            longest = 0.0
            for states in sizes:
                if longest > LONGEST or not clock.allows(f"ensembles, {name}, {precision}, {states} states"):
                    column.append(None)
                    continue
                taken = device_steps(model, states, name, precision, seconds)
                longest = max(longest, taken)
                column.append(round(states / taken))
            result[f"{name}, {precision}"] = {
                "error": noisy_error(model, Q, U, found),
                "steps_per_second": column,
            }
    return result


def device_steps(model: Model, states: int, name: str, precision: str, seconds: float) -> float:
    """Time of a step of an ensemble [s]."""
    Q, U = np.tile(model.q0, (states, 1)), np.zeros((states, model.nu))
    ensemble = Ensemble(model, Q, U, device=name, seeds=np.arange(states), precision=precision)
    ensemble.advance(3, STEP, RULE)
    steps, taken = 1, 0.0
    while taken < 0.5 * seconds:  # twice as many until they take long against the arrays that come back
        steps *= 2
        began = time.perf_counter()
        ensemble.advance(steps, STEP, RULE)
        taken = time.perf_counter() - began
    return taken / steps


def cpu_steps(model: Model, seconds: float) -> float:
    """Steps per second of the same rule in a run on the CPU, one thread."""
    evaluator = Evaluator(model, seed=1, window=10 * STEP)
    state = evaluator.initial_state()
    steps = driver(Problem(evaluator, Explicit(rule=RULE, step=STEP)), state)

    def some() -> None:
        until = float(state.time[0]) + 2.0 * TRIED * STEP
        before = int(state.counters[STEPS])
        status = steps.go(state, until, TRIED)
        if int(state.counters[STEPS]) - before != TRIED:
            raise ArticulonError(f"the run on the CPU ended with the status {status} after {before} steps")

    return TRIED / best(some, seconds)


def noisy_error(model: Model, Q: np.ndarray, U: np.ndarray, found: np.ndarray) -> float:
    """As ``error``, of whole right-hand sides in the third window, each state with its own seed."""
    worst = 0.0
    for s in range(Q.shape[0]):
        evaluator = Evaluator(model, seed=s, window=10 * STEP)
        y = np.concatenate([Q[s], U[s], np.zeros(8)])
        rates = np.zeros_like(y)
        evaluator.rates(np.ones(8), 0.0, 3, y, rates)
        expected = rates[model.nq : model.nq + model.nu]
        worst = max(worst, float(np.abs(found[s] - expected).max() / np.abs(expected).max()))
    return worst


def mujoco_warp(c: Chain, name: str, sizes: Sequence[int], seconds: float, clock: Clock) -> dict[str, Any] | None:
    """States per second of MuJoCo Warp's ``forward`` on the same chain, from a graph; None where it is not installed,
    the reason where it fails."""
    peer, mj = installed("mujoco_warp"), installed("mujoco")
    if peer is None or mj is None:
        return None
    wp = load_warp()
    column: list[float | None] = []
    longest, worst = 0.0, 0.0
    try:
        with wp.ScopedDevice(name):
            for states in sizes:
                if longest > LONGEST or not clock.allows(f"MuJoCo Warp, {c.bodies} bodies, {states} states"):
                    column.append(None)
                    continue
                model, data = mujoco_model(mj, c)
                mj.mj_forward(model, data)
                there, worlds = peer.put_model(model), peer.put_data(model, data, nworld=states)
                Q, U = states_of(c, states)
                worlds.qpos.assign(Q.astype(np.float32))
                worlds.qvel.assign(U.astype(np.float32))
                peer.forward(there, worlds)
                few = min(states, COMPARED)
                worst = max(worst, error(our_model(c), Q[:few], U[:few], worlds.qacc.numpy()[:few].astype(np.float64)))
                with wp.ScopedCapture(force_module_load=False) as capture:
                    peer.forward(there, worlds)
                taken = per_launch(lambda g=capture.graph: wp.capture_launch(g), wp.get_device(), seconds)
                longest = max(longest, taken)
                column.append(round(states / taken))
    except Exception as failure:  # whatever another package raises ends its own column alone
        return {"failed": f"{type(failure).__name__}: {failure}"[:300], "graph_states_per_second": column}
    return {"error": worst, "graph_states_per_second": column}


def show(figures: dict[str, Any], out: Any = None) -> None:
    """Prints the figures as tables."""
    from benchmarks.tables import console, show_machine, show_table

    out = console() if out is None else out
    for name, words in figures["devices"].items():
        out.print(f"{name}: {words}")
    if not figures["gpu"]:
        out.print("There is no GPU here: figures are of Warp's CPU device alone.")
    sizes = figures["sizes"]
    columns = ("engine", *(f"{size:,}" for size in sizes), "error")
    for title, engines in figures["forward_dynamics"].items():
        rows = []
        for engine, found in engines.items():
            alone = found.get("states_per_second")
            if alone is not None:
                rows.append((engine, alone, *[None] * (len(sizes) - 1), None))
            for how in ("launched", "graph", "call"):
                column = found.get(f"{how}_states_per_second")
                if column is not None:
                    rows.append((f"{engine}, {how}", *column, *[None] * (len(sizes) - len(column)), found.get("error")))
        show_table(out, f"Forward dynamics, {title}: states per second by states in a batch", columns, rows, words=1)
    ensemble = figures["ensemble"]
    rows = [("a run on the CPU", ensemble["cpu_steps_per_second"], *[None] * len(sizes))]
    rows += [
        (name, *found["steps_per_second"], found["error"])
        for name, found in ensemble.items()
        if isinstance(found, dict)
    ]
    title = (
        f"Ensembles of {ensemble['bodies']} bodies under drag and noise, {ensemble['rule']}: steps of states per second"
    )
    show_table(out, title, columns, rows, words=1)
    for what in figures["left_out"]:
        out.print(f"left out for want of time: {what}")
    show_machine(out, figures["machine"])


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="States per second on every device.")
    parser.add_argument("--json", action="store_true", help="Print the figures as JSON.")
    parser.add_argument("--budget", type=float, default=BUDGET, help="Seconds after which what is left is left out.")
    given = parser.parse_args()
    began = time.perf_counter()

    def say(text: str) -> None:
        print(f"[{time.perf_counter() - began:6.1f} s] {text}", file=sys.stderr, flush=True)

    try:
        figures = measure(budget=given.budget, say=say)
    except ArticulonError as failure:
        print(f"benchmarks.gpu: {failure}", file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps(figures, indent=2, allow_nan=False))
    else:
        show(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
