"""The built-in docking case under the published conditions: one evaluation, and 5 μs in four ways."""

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

from articulon.cases import Case, load_case
from articulon.forces.derivatives import evaluate
from articulon.kernels import kernel
from articulon.model.state import WINDOW
from articulon.simulation.preparation import first_state, prepare
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import interleaved, machine
from benchmarks.whole_runs import Timed, timed

CASE = "nanoparticle-docking-published"
"""The conditions of Guy (2018), 5.4: a gap of 66.4 nm, a flow of 1 mm/s and noise at 300 K."""
KUTTA_MERSON: dict[str, Any] = {"rule": "kutta-merson", "rtol": 1e-5, "atol": 1e-6}
FRICTION_IMPLICIT: dict[str, Any] = {
    "scaling": {"policy": "none"},
    "integrator": {"rule": "friction-implicit", "step": "8 ps"},
}
SCALED: dict[str, Any] = {"scaling": {"policy": "constant", "a2": 0.01}, "integrator": KUTTA_MERSON}
ADAPTIVE: dict[str, Any] = {
    "scaling": {"policy": "threshold-adaptive", "a2": 0.01, "threshold": "0.1 um/us"},
    "integrator": KUTTA_MERSON,
}
EXPLICIT: dict[str, Any] = {"scaling": {"policy": "none"}, "integrator": KUTTA_MERSON}
METHODS: dict[str, tuple[dict[str, Any], str]] = {
    "friction_implicit": (FRICTION_IMPLICIT, "friction-implicit, 8 ps, unscaled"),
    "explicit": (EXPLICIT, "Kutta–Merson, unscaled"),
    "adaptive": (ADAPTIVE, "Kutta–Merson, threshold-adaptive, a2 = 0.01"),
    "scaled": (SCALED, "Kutta–Merson, constant a2 = 0.01"),
}
"""What is timed, and what it is called. The published factor is not printed: 0.01 is ours."""
DURATION = 5.0
"""Of what is timed [μs]."""
STRETCH = 0.25
"""Of the scaled run, from which its 5 μs are extrapolated unless the full length is asked for [μs]."""
EXPLICIT_STRETCH = 0.005
"""Of the unscaled explicit run, from which its 5 μs are always extrapolated: they would take hours [μs]."""
PAPER_MINUTES = {"unscaled": 32310.0, "scaled": 837.0}
"""What the published implementation took for its docking, unscaled and by its adaptive rule (Guy 2018, 5.7) [min]; it
prints no time of constant scaling."""
PAPER_WORDS = {"unscaled": "Guy (2018): unscaled", "scaled": "Guy (2018): threshold-adaptive"}


@kernel
def evaluations(rhs, factor, window, step, y, dy, count):
    """The derivative, ``count`` times; the window of noise moves on by ``step`` each time."""
    for k in range(count):
        evaluate(rhs, 0.0, window + k * step, factor, y, dy)


def published(changes: dict[str, Any]) -> Case:
    """The case under the published conditions, with changes; nothing ends it before its time."""
    return load_case(CASE).with_overrides({**changes, "run.stop": None})


def measure(
    friction_implicit: float = DURATION,
    scaled: float = STRETCH,
    seconds: float = 2.0,
    say: Callable[[str], None] = lambda _: None,
    explicit: float = EXPLICIT_STRETCH,
) -> dict[str, Any]:
    """The figures.

    Parameters
    ----------
    friction_implicit, scaled, explicit
        Simulated time of the friction-implicit run, of both scaled ones and of the unscaled explicit one [μs]; below
        5 μs their wall-clock times are extrapolated, and said to be.
    seconds
        Wall-clock time for the timing of single evaluations [s].
    say
        Called with what is being measured.
    """
    figures: dict[str, Any] = {"machine": machine()}
    say("single evaluations")
    held, fresh = evaluation_seconds(seconds)
    figures["evaluation_us"] = round(1e6 * held, 3)
    figures["evaluation_with_new_noise_us"] = round(1e6 * fresh, 3)
    # The adaptive rule docks within 2 μs, and its steps before that are all alike.
    lengths = {"friction_implicit": friction_implicit, "explicit": explicit, "adaptive": min(scaled, STRETCH)}
    for name, (changes, _) in METHODS.items():
        simulated = lengths.get(name, scaled)
        say(f"{name.replace('_', '-')}: {simulated:g} μs of docking")
        timed = timed_run(changes, simulated)
        figures[f"{name}_5us_s"] = round(timed.wall(DURATION), 2)
        figures[f"{name}_5us_processor_s"] = round(timed.processor(DURATION), 2)
        figures[f"{name}_extrapolated_from_us"] = None if simulated == DURATION else simulated
        figures[f"{name}_steps_per_us"] = round(timed.steps / simulated)
        figures[f"{name}_evaluations_per_us"] = round(timed.evaluations / simulated)
    figures |= {f"paper_{name}_min": minutes for name, minutes in PAPER_MINUTES.items()}
    figures["targets"] = [
        target("one evaluation of all forces and accelerations [μs]", figures["evaluation_us"], 9.0),
        target("friction-implicit, 5 μs [s]", figures["friction_implicit_5us_s"], 15.0),
        target("a2 = 0.01 with Kutta–Merson, 5 μs [s]", figures["scaled_5us_s"], 300.0),
    ]
    return figures


def evaluation_seconds(seconds: float, count: int = 500) -> tuple[float, float]:
    """Time of one evaluation [s] in a compiled loop, as the integrators call it: with the noise of a window that has
    been drawn, and with new noise drawn for every evaluation."""
    prepared = prepare(published({**SCALED, "run.duration": "1 ns", "run.frames": 1}))
    state = first_state(prepared)
    prepared.driver.advance(state, 1e-3, 10_000)  # away from rest
    evaluator, factor, window = prepared.evaluator, np.ones(8), int(state.counters[WINDOW])
    y = np.concatenate([state.q, state.u, state.work, state.bath])
    dy = np.empty_like(y)

    def call(step: int) -> Callable[[], None]:
        return lambda: evaluations(evaluator.rhs, factor, window, step, y, dy, count)

    held, fresh = interleaved([call(0), call(1)], seconds)
    if not np.isfinite(dy).all():
        raise FloatingPointError("an evaluation of the docking case gave a number that is not finite")
    return held / count, fresh / count


def timed_run(changes: dict[str, Any], simulated: float) -> Timed:
    """A whole run of so many μs."""
    settings = {"run.duration": f"{simulated} us", "run.frames": max(1, round(80 * simulated))}
    return timed(published({**changes, **settings}), simulated)


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    row = (figures["evaluation_us"], figures["evaluation_with_new_noise_us"])
    title = "One evaluation of all forces and accelerations, 33 bodies, with noise"
    show_table(out, title, ("held noise [μs]", "new noise [μs]"), [row])
    rows: list[tuple[Any, ...]] = []
    for name, (_, words) in METHODS.items():
        base = figures[f"{name}_extrapolated_from_us"]
        note = "in full" if base is None else f"extrapolated from {base:g} μs"
        rows.append((words, note, *(figures[f"{name}_{key}"] for key in ("5us_s", "5us_processor_s", "steps_per_us"))))
    for name, words in PAPER_WORDS.items():
        rows.append((words, "to its docking", 60.0 * figures[f"paper_{name}_min"], None, None))
    title = "5 μs of docking: 66.4 nm gap, flow of 1 mm/s, 300 K"
    show_table(out, title, ("method", "", "wall [s]", "processor [s]", "steps per μs"), rows, words=2)
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
