"""Derivatives of forward dynamics: dense matrices beside Pinocchio's, and products without matrices by size.

And the adjoint of a whole right-hand side, of which the way back through a run is made.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.passes import run_from_python
from articulon.sensitivities.adjoint_program import adjoint_program
from articulon.sensitivities.differentiable_models import DifferentiableRun, run_of, run_of_case
from articulon.sensitivities.friction_implicit_stepping import FrictionImplicitStepping
from articulon.sensitivities.stepping import REVERSE, follow_schedule, take_steps
from articulon.sensitivities.table_gradients import differentiated, in_one
from benchmarks.chains import GRAVITY, chain, installed, our_model, pinocchio_model
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import interleaved, machine

SIZES = (8, 32, 128, 512)
"""Bodies of the chains whose matrices are found."""
LONG = (32, 128, 1024, 10_000, 100_000)
"""Bodies of those whose products are."""
CHAINS = (32, 1000, 10_000)
"""Bodies of those whose steps are reversed."""
DOCKING = "nanoparticle-docking"
"""A case whose forces between sites cost most, whose steps are reversed too."""
SHORT = 1e-6
"""Length of the steps of chains [time]."""
STEPS = 10
"""Steps of one call, beside which it costs nothing."""
STEP_FIGURES = ("step", "adjoint step", "adjoint step, bodies")
"""A step, its adjoint, and that with body parameters too."""
SECONDS = 6.0
"""Wall-clock time for each of the four [s]."""


NOTHING: dict[str, Any] = {"q": None, "u": None, "stop": None, "seed": None, "scaling": None, "allow_code": False}
"""What is not asked of a run."""


def measure(
    sizes: Sequence[int] = SIZES,
    long: Sequence[int] = LONG,
    steps: Sequence[int] = CHAINS,
    seconds: float = SECONDS,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The figures: microseconds for the matrices by size and engine, and for products and the forward dynamics by size;
    how far the matrices lie apart; targets and the machine."""
    figures: dict[str, Any] = {"machine": machine(), "n": list(sizes), "long": list(long)}
    say("dense derivatives of revolute chains")
    found = [_dense(n) for n in sizes]
    best = interleaved([call for calls, _ in found for call in calls], seconds)
    for k, name in enumerate(("ours", "pinocchio", "pinocchio's dynamics")):
        has = len(found[0][0]) > k
        figures[name] = [round(1e6 * best[len(found[0][0]) * i + k], 2) if has else None for i in range(len(sizes))]
    figures["difference"] = [apart for _, apart in found]
    say("products without matrices")
    calls = [call for n in long for call in _products(n)]
    best = interleaved(calls, seconds)
    for k, name in enumerate(("dynamics", "vector_jacobian", "jacobian_vector")):
        figures[name] = [round(1e6 * best[3 * i + k], 2) for i in range(len(long))]
    say("adjoints of right-hand sides")
    best = interleaved([call for n in sizes for call in _adjoints(n)], seconds)
    for k, name in enumerate(("right-hand side", "adjoint")):
        figures[name] = [round(1e6 * best[2 * i + k], 2) for i in range(len(sizes))]
    say("adjoints of friction-implicit steps")
    docking = run_of_case(ar.load_case(DOCKING), "benchmark")
    runs = [*((_chain_run(n), SHORT) for n in steps), (docking, float(docking.windows.step or 0.0))]
    best = interleaved([call for run in runs for call in _steps(*run)], seconds)
    figures["steps of"] = [*(f"chain of {n:,}" for n in steps), DOCKING]
    for k, name in enumerate(STEP_FIGURES):
        figures[name] = [round(1e6 * best[len(STEP_FIGURES) * i + k] / STEPS, 2) for i in range(len(runs))]
    figures["targets"] = targets(figures)
    return figures


def _dense(bodies: int) -> tuple[list[Callable[[], Any]], float | None]:
    """Ours, Pinocchio's, its forward dynamics; and how far the matrices lie apart, relative to the largest number."""
    c = chain("revolute", bodies)
    model = our_model(c)
    calls: list[Callable[[], Any]] = [lambda: ar.derivatives(model, c.q, c.u, gravity=GRAVITY)]
    pin = installed("pinocchio")
    if pin is None:
        return calls, None
    theirs, tau = pinocchio_model(c), np.zeros(bodies)
    data = pin.Data(theirs)
    calls.append(lambda: pin.computeABADerivatives(theirs, data, c.q, c.u, tau))
    calls.append(lambda: pin.aba(theirs, data, c.q, c.u, tau))
    calls[1]()
    ours = calls[0]()
    pairs = (ours.q, data.ddq_dq), (ours.u, data.ddq_dv)
    return calls, max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


def _products(bodies: int) -> list[Callable[[], Any]]:
    """Forward dynamics, and a product from either side."""
    c = chain("revolute", bodies)
    model, w = our_model(c), np.random.default_rng(1).normal(size=bodies)
    return [
        lambda: ar.forward_dynamics(model, c.q, c.u, gravity=GRAVITY),
        lambda: ar.vector_jacobian(model, c.q, c.u, w, gravity=GRAVITY),
        lambda: ar.jacobian_vector(model, c.q, c.u, w, w, w, gravity=GRAVITY),
    ]


def _adjoints(bodies: int) -> list[Callable[[], Any]]:
    """The right-hand side of a chain under gravity on torsional springs, and its adjoint, which steps are made of."""
    c = chain("revolute", bodies)
    model = our_model(c)
    springs = ar.forces.TorsionalSprings(stiffness=dict.fromkeys(model.names, 1.0))
    forces = ar.forces.Gravity(acceleration=tuple(GRAVITY.tolist())), springs
    evaluator = Evaluator(replace(model, forces=forces))
    gradients, _ = in_one(differentiated(*evaluator.system[:3]))
    program, adjoint = adjoint_program(evaluator, gradients, bodies=False)
    for one in (evaluator.rhs, adjoint):
        one.q[:], one.u[:] = c.q, c.u
    adjoint.u_weight[:] = np.random.default_rng(1).normal(size=bodies)

    def forward() -> None:
        run_from_python(evaluator.rhs.code)

    def backward() -> None:
        run_from_python(program.code)

    return [forward, backward]


def _chain_run(bodies: int) -> DifferentiableRun:
    """Friction-implicit steps of a chain in a viscous medium on torsional springs."""
    model = our_model(chain("revolute", bodies))
    springs = ar.forces.TorsionalSprings(stiffness=dict.fromkeys(model.names, 1.0))
    drag = ar.forces.StokesDrag(viscosity=1.0, radius=dict.fromkeys(model.names, 0.01))
    options = {"options": {"step": 1e-4}, **NOTHING}
    model = replace(model, forces=(springs, drag))
    return run_of(model, "benchmark", duration=1e-3, rule="friction-implicit", frames=1, **options)


def _steps(run: DifferentiableRun, length: float) -> list[Callable[[], Any]]:
    """Steps of a length of a run, and as many reversed, without and with derivatives by body parameters."""
    times, lengths = length * np.arange(STEPS + 1), np.full(STEPS + 1, length)
    stepping = FrictionImplicitStepping(run)
    taking, kept = stepping.taking()
    states = np.stack([stepping.start, stepping.start])
    actions = np.array([(REVERSE, 0, k, 0, 0) for k in range(STEPS, 0, -1)], dtype=np.int64)

    def forward() -> Any:
        taking.y[:] = stepping.start
        take_steps(taking, times, lengths, 1, STEPS + 1)
        return kept

    def backward(bodies: bool) -> Callable[[], Any]:
        gradients, _ = in_one(differentiated(*stepping.evaluator.system[:3]))
        reversing, kept = stepping.reversing(gradients, bodies)
        weight = np.random.default_rng(1).normal(size=reversing.weight.size)

        def back() -> Any:
            reversing.weight[:] = weight
            follow_schedule(reversing, times, lengths, actions, states)
            return kept

        return back

    return [forward, backward(False), backward(True)]


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the derivatives should reach."""
    dense = zip(figures["n"], figures["pinocchio"], figures["ours"], strict=True)
    ratios = [theirs / ours for n, theirs, ours in dense if n >= 32 and theirs is not None]
    products = [a / b for a, b in zip(figures["vector_jacobian"], figures["dynamics"], strict=True)]
    by_size = dict(zip(figures["long"], figures["vector_jacobian"], strict=True))
    adjoints = [a / b for a, b in zip(figures["adjoint"], figures["right-hand side"], strict=True)]
    over = [[a / b for a, b in zip(figures[name], figures["step"], strict=True)] for name in STEP_FIGURES[1:]]
    growth = None
    if 128 in by_size and 100_000 in by_size:
        growth = by_size[100_000] / 100_000 / (by_size[128] / 128) - 1.0
    return [
        target("matrices, n ≥ 32: times as fast as Pinocchio, at least", min(ratios, default=None), 2.0, at_least=True),
        target("time of a product over that of the forward dynamics, at most", max(products), 4.0),
        target("time of an adjoint right-hand side over that of f, at most", max(adjoints), 5.0),
        target("time of an adjoint step over that of the step, at most", max(over[0]), 5.0),
        target("the same ratio with body parameters, at most", max(over[1]), 5.0),
        target("growth of a product's time per body from n = 128 to 100,000", growth, 0.2),
    ]


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    rows: list[tuple[Any, ...]] = []
    for k, n in enumerate(figures["n"]):
        ours, theirs = figures["ours"][k], figures["pinocchio"][k]
        ratio = None if theirs is None else theirs / ours
        rows.append((n, ours, theirs, ratio, figures["difference"][k]))
    columns = ("n", "ours", "Pinocchio", "times as fast", "difference")
    show_table(out, "Derivatives of u' by q, u and τ, revolute chains: μs", columns, rows)
    rows = []
    for k, n in enumerate(figures["long"]):
        one, rows_of, columns_of = (figures[name][k] for name in ("dynamics", "vector_jacobian", "jacobian_vector"))
        rows.append((n, one, rows_of, columns_of, rows_of / one))
    columns = ("n", "u'", "wᵀ ∂u'", "∂u' v", "wᵀ ∂u' over u'")
    show_table(out, "Products of the derivatives with vectors, revolute chains: μs", columns, rows)
    rows = []
    for k, n in enumerate(figures["n"]):
        one, back = figures["right-hand side"][k], figures["adjoint"][k]
        rows.append((n, one, back, back / one))
    columns = ("n", "f", "μᵀ ∂f", "μᵀ ∂f over f")
    show_table(out, "Right-hand side f with gravity and springs, and its adjoint: μs", columns, rows)
    rows = []
    for k, name in enumerate(figures["steps of"]):
        one, back, more = (figures[figure][k] for figure in STEP_FIGURES)
        rows.append((name, one, back, back / one, more, more / one))
    columns = ("steps of", "step", "adjoint step", "ratio", "with body parameters", "ratio")
    show_table(out, "Friction-implicit steps with drag and springs or pairs, and their adjoints: μs", columns, rows)
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
