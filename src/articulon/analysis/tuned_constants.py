"""Search for the constants of a scaled run by short paired runs (``articulon tune``).

For a case with drag, a2 is the smallest factor whose lag is within a tolerance. It is first predicted along the motion
without inertia (``approach.py``). Then the friction-implicit integrator makes two short runs, one unscaled and one
scaled, from the same state and with the same noise. The ratio of the measured delay to the predicted one corrects the
prediction. This is repeated until the factor converges. For thermostatted particles, ``analyse_thermostat`` determines
Q and kd by the procedure of Guy (2018, 4.6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.analysis.approach import Approach, approach_of
from articulon.analysis.relaxation import RULE
from articulon.analysis.scales import analyse_thermostat
from articulon.analysis.stiffness import stability_bound
from articulon.cases.case import Case
from articulon.errors import CaseError
from articulon.forces.brownian import fastest_relaxation
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import only_particles
from articulon.integrate import Explicit, FrictionImplicit
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.status import DIVERGED
from articulon.model import Model
from articulon.scaling import Constant, NoScaling
from articulon.simulation.observers import poses_at, slowest_tree
from articulon.simulation.run_request import Progress, Silent
from articulon.simulation.step_search import longest_step

ROUNDS = 4
"""Maximum number of pairs of runs."""
SETTLED = 0.05
"""Relative change of a2 at which the search ends."""
WINDOW = 8.0
"""Length of a paired run, in relaxation times τ/a2."""
MOST_STEPS = 60_000
"""Maximum number of steps of one run of a pair."""
TIE = 1.05
"""Ratio up to which two numbers of evaluations count as equal."""
LOOK_BACK = 64
"""Number of last steps over which the speed at the end of a run is measured."""


@dataclass(frozen=True)
class Pair:
    """Two short runs, one unscaled and one scaled."""

    a2: float
    """Scaling factor."""
    duration: float
    """Duration of the runs [time]."""
    delay: float
    """Delay of the scaled run at the end [time]."""
    predicted: float
    """Predicted delay [time]."""


@dataclass(frozen=True)
class Tuning:
    """Result of the tuning."""

    case: Case
    """Tuned case."""
    pairs: tuple[Pair, ...]
    """Paired runs."""
    notes: tuple[str, ...]
    """Notes for the user."""


def tune(case: Case, tolerance: float, progress: Progress | None = None) -> Tuning:
    """Find the constants of a scaled run of a case by short paired runs.

    Parameters
    ----------
    case
        The case; its own scaling is ignored.
    tolerance
        Allowed lag, relative to the duration of the run.
    progress
        Receives messages on the runs.

    Raises
    ------
    CaseError
        If no net force moves a floating body against drag, and no thermostat acts on free particles.
    """
    shown = Silent() if progress is None else progress
    if case.thermostat is not None:
        return _thermostatted(case, shown)
    plain = case.with_overrides({"scaling": {"policy": "none"}, "run.stop": None})
    approach = approach_of(case)
    if approach is None:
        raise CaseError(
            f"{case.source}: no net force moves a floating body against Stokes drag, so there is no lag to tune "
            "a2 by; try factors: compare runs that vary scaling.a2"
        )
    step = _step(plain)
    a2, pairs, correction = approach.safe_factor(tolerance), [], 1.0
    for _ in range(ROUNDS):
        pair = _pair(plain, approach, a2, step, shown)
        pairs.append(pair)
        if pair.predicted > 0.0:
            correction = max(pair.delay / pair.predicted, 0.1)
        better = approach.safe_factor(tolerance, correction)
        change, a2 = abs(math.log(better / a2)), better
        if change < SETTLED:
            break
    a2 = float(f"{a2:.2g}") if float(f"{a2:.2g}") >= a2 else float(f"{a2 * 1.05:.2g}")
    changes: dict[str, Any] = {"scaling": {"policy": "constant", "a2": min(1.0, a2)}}
    if not isinstance(case.integrator, Explicit):
        changes["integrator"] = {"rule": RULE, "rtol": 1e-5, "atol": 1e-6}
    worst, late = approach.worst(a2)
    lag = correction * abs(late) / approach.duration
    unit, longest = case.units.symbols[2], max(pair.duration for pair in pairs)
    count = f"{len(pairs)} pairs" if len(pairs) > 1 else "a pair"
    whose = f"'{worst}' is predicted" if worst else "predicted"
    told = f"{lag * approach.duration:.3g} {unit} of {approach.duration:.3g} {unit}"
    way = "late" if late >= 0.0 else "early"
    notes = [
        f"a2 = {a2:g}: {whose} to be {100.0 * lag:.3g} % {way}, {told}, by {count} of runs of at most {longest:.2g} "
        f"{unit}.",
        _rival(case, changes, a2, step),
    ]
    tuned = _noted(case.with_overrides(changes), f"Tuned for a lag of {100.0 * tolerance:g} %. {notes[0]}")
    return Tuning(tuned, tuple(pairs), tuple(notes))


def _step(case: Case) -> float:
    """Return the step of the friction-implicit integrator for the paired runs [time]."""
    if isinstance(case.integrator, FrictionImplicit):
        return float(case.integrator.step)
    found = longest_step(case, FrictionImplicit, "friction-implicit")
    if found is None:
        raise CaseError(
            f"{case.source}: the friction-implicit rule, used for unscaled runs, cannot run this case: a2 must "
            "be found by trial: compare runs that vary scaling.a2"
        )
    return found


def _pair(case: Case, approach: Approach, a2: float, step: float, shown: Progress) -> Pair:
    """Run a case unscaled and scaled by a2 from its initial state, and measure the delay of the scaled run."""
    model = case.build_model()
    wanted = min(WINDOW * approach.relaxation / a2, approach.duration, MOST_STEPS * step)
    steps = max(2 * LOOK_BACK, math.ceil(wanted / step))
    shown.message(f"a2 = {a2:.3g}: {steps:,} unscaled steps and {steps:,} scaled ones")
    end, before = _places(case, model, NoScaling(), step, steps)
    scaled, _ = _places(case, model, Constant(a2=a2), step, steps)
    speed = (end - before) / (LOOK_BACK * step)
    size = float(np.linalg.norm(speed))
    if not size > 0.0:
        raise CaseError(f"{case.source}: nothing moves in {steps * step:.3g} {case.units.symbols[2]}")
    # Only the component along the motion is a delay.
    delay = float((end - scaled) @ speed) / size**2
    return Pair(a2, steps * step, delay, approach.delay(a2, steps * step))


def _places(case: Case, model: Model, policy: Any, step: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the heaviest body of the slowest tree after ``steps`` steps and LOOK_BACK steps earlier
    [length]."""
    evaluator = Evaluator(model, case.run.seed, step)
    state = evaluator.initial_state()
    advance = driver(Problem(evaluator, FrictionImplicit(step=step), policy), state)
    tree, _ = slowest_tree(model, evaluator)
    a, b = (int(start) for start in model.forest.tree[tree : tree + 2])
    body = int(model.head[a + int(np.argmax(model.forest.mass[a:b]))])
    found = []
    for count in (steps - LOOK_BACK, steps):
        if advance.advance(state, count * step, 2**40) == DIVERGED or not np.isfinite(state.q).all():
            raise CaseError(
                f"{case.source}: friction-implicit steps of {step:.3g} {case.units.symbols[2]} diverge; "
                "give a shorter integrator.step with that rule"
            )
        found.append(poses_at(model, state.q)[0][body].copy())
    return found[1], found[0]


def _rival(case: Case, changes: dict[str, Any], a2: float, step: float) -> str:
    """Return a note that compares the cost of the tuned run with that of unscaled friction-implicit steps."""
    rule = changes["integrator"]["rule"] if "integrator" in changes else str(getattr(case.integrator, "rule", RULE))
    tableau = EXPLICIT[rule]
    per_time = tableau.b.size * a2 / (stability_bound(tableau) * fastest_relaxation(case.build_model()))
    saved = f"Of the evaluations of {rule} unscaled, a2 saves {100.0 * (1.0 - a2):.4g} %. "
    return saved + rival_words(per_time * step, f"{step:.3g} {case.units.symbols[2]}".rstrip())


def rival_words(ratio: float, step: str) -> str:
    """Describe how many evaluations unscaled friction-implicit steps need, compared with a scaled run.

    Parameters
    ----------
    ratio
        Evaluations of the scaled run divided by those of the unscaled steps.
    step
        Length of the unscaled steps, with its unit.
    """
    rival = f"Unscaled friction-implicit steps of {step} need"
    if 1.0 / TIE < ratio < TIE:
        return f"{rival} as many evaluations and cause no delay: scaling gains nothing."
    if ratio > 1.0:
        return f"{rival} {ratio:.2g} times fewer evaluations and cause no delay: scaling gains nothing."
    return f"{rival} {1.0 / ratio:.2g} times more."


def _thermostatted(case: Case, shown: Progress) -> Tuning:
    """Determine Q and kd of a thermostatted case. The case stays unscaled, because scaling gains nothing with a
    thermostat."""
    if not only_particles(case.build_model()):
        raise CaseError(
            f"{case.source}: with a thermostat there is no a2 to tune, and Q and kd are tuned for free particles only "
            "(Guy 2018, 4.6); the analysis of the case lists other ways to save steps"
        )
    found = analyse_thermostat(case, progress=shown)
    assert case.thermostat is not None
    changes = {
        "thermostat": {
            "kind": "modified-nose-hoover",
            "temperature": case.thermostat.model_dump()["temperature"],
            "mass": float(f"{found.proposal.mass:.4g}"),
            "derivative_gain": float(f"{found.proposal.gain:.3g}"),
            "centre_of_mass": case.thermostat.centre_of_mass,
        },
        "scaling": {"policy": "none"},
    }
    notes = (
        f"Q = {found.proposal.mass:.4g} and kd = {found.proposal.gain:.3g}, by Guy (2018, 4.6).",
        f"a2: no gain. The published atomistic scaling, a2 ≈ {found.proposal.a2:.2g}, would sample positions at Td/a2, "
        "beyond any tolerance; the form that keeps the temperature only slows the clock. The tuned case is unscaled.",
        *found.notes,
    )
    return Tuning(_noted(case.with_overrides(changes), notes[0]), (), notes)


def _noted(case: Case, note: str) -> Case:
    return case.with_overrides({"case.notes": [*case.notes, note]})
