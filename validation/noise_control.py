"""The policy ``error-controlled`` under noise in one dimension: mean first-passage times against exact ones, and
against unscaled paths on the same noise.

    python -m validation.noise_control

takes some five minutes on a quiet machine and rewrites its section of docs/validation.md.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numba
import numpy as np

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.integrate import FrictionImplicit
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import STOPPED
from articulon.integrate.stop_conditions import advance_of, stop_of
from articulon.scaling import ErrorControlled, NoScaling
from validation.page import table, write_section

PATHS = 400
RELAXATION, WINDOW = 2e-4, 2.5
"""τ over the mean time, and length of windows and steps over τ."""
TOLERANCES = (0.02, 0.1)


class Passage(NamedTuple):
    """From rest at 0 to 1 under F = f + a sin(4π x) + c/(1.06 − x)², with drag 1."""

    name: str
    f: float
    a: float
    c: float
    kT: float
    back: float
    """How far behind the start a path may go for the exact mean: further, nearly none does."""


PROBLEMS = (
    Passage("attraction", 1.0, 0.0, 0.02, 0.01, 1.0),
    Passage("attraction", 1.0, 0.0, 0.02, 0.1, 4.0),
    Passage("attraction", 0.3, 0.0, 0.02, 0.3, 30.0),
    Passage("low barriers", 1.0, 2.0, 0.0, 0.25, 8.0),
    Passage("barriers", 1.0, 4.0, 0.0, 0.25, 8.0),
)


@numba.njit
def force(time, positions, rotations, velocities, parameters, wrenches):
    f, a, c = parameters[0], parameters[1], parameters[2]
    x = positions[0, 0]
    wrenches[0, 0] += f + a * math.sin(4.0 * math.pi * x) + c / (1.06 - x) ** 2


def mean_time(problem: Passage) -> float:
    """∫₀¹ dy e^{U(y)/kT} ∫₋∞ʸ dx e^{−U(x)/kT}/kT, the mean first-passage time without inertia [time]."""
    x = np.linspace(-problem.back, 1.0, 400001)
    f = problem.f + problem.a * np.sin(4.0 * np.pi * x) + problem.c / (1.06 - x) ** 2

    def sums(values: np.ndarray) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(0.5 * (x[1] - x[0]) * (values[1:] + values[:-1]))])

    energy = -sums(f) / problem.kT
    energy -= energy.mean()
    outer = np.exp(energy) * sums(np.exp(-energy))
    return float(np.trapezoid(np.where(x < 0.0, 0.0, outer), x)) / problem.kT


class Found(NamedTuple):
    """What paths have come to."""

    times: np.ndarray
    """Arrivals [time]."""
    longest: float
    """Mean number of stable steps of an explicit rule, ∫ a2 dt/(3.55 τ)."""


def paths(problem: Passage, policy: Any, keep_momentum: bool = True) -> Found:
    """As many paths as seeds, each a run of its own: all bodies of a model share the factor."""
    truth = mean_time(problem)
    tau, builder = RELAXATION * truth, ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=tau, joint=ar.Prismatic(axis=(1, 0, 0)))
    builder.add_force(ar.forces.StokesDrag(translational=1.0))
    parameters = problem.f, problem.a, problem.c
    builder.add_force(ar.forces.UserForce(function=force, parameters=parameters, channel="potential"))
    builder.add_force(ar.forces.Brownian(temperature=problem.kT))
    model, window = builder.build(), WINDOW * tau
    times, steps = [], 0.0
    for seed in range(1, PATHS + 1):
        evaluator = Evaluator(model, seed, window)
        rule = FrictionImplicit(step=window)
        run: Any = driver(Problem(evaluator, rule, policy, 1.0), evaluator.initial_state())
        state = evaluator.initial_state(run.history, memory=run.memory)
        if not keep_momentum:
            # Of a single motion the flag that noise acts has no other effect: its memory is the slowest.
            run.followed.slowest[1] = 0.0
        run.stop = stop_of(model, advance_of(model, 0, np.array([1.0, 0.0, 0.0]), 1.0))
        while True:
            before = float(state.time[0])
            ended = run.advance(state, 1e4 * truth, 50 if policy.varies else 10**9)
            steps += float(state.factor[0]) * (float(state.time[0]) - before) / (3.55 * tau)
            if ended == STOPPED:
                break
        times.append(float(state.time[0]))
    return Found(np.array(times), steps / PATHS)


def told(values: np.ndarray, unit: float) -> str:
    """Mean and twice its standard error, as parts of a unit."""
    return f"{values.mean() / unit:+.2%} ± {2.0 * values.std(ddof=1) / math.sqrt(values.size) / unit:.2%}"


def main() -> None:
    rows = []
    for problem in PROBLEMS:
        truth, base = mean_time(problem), paths(problem, NoScaling())
        kinds = [*((tolerance, True) for tolerance in TOLERANCES), (TOLERANCES[0], False)]
        first = [problem.name, f"{problem.f:g}", f"{problem.kT:g}"]
        rows.append([*first, "unscaled", told(base.times - truth, truth), "", "1"])
        for tolerance, keep in kinds:
            found = paths(problem, ErrorControlled(tolerance=tolerance), keep)
            late = told(found.times - truth, truth), told(found.times - base.times, truth)
            name = f"{tolerance:.0%}" if keep else f"{tolerance:.0%}, speeds kept"
            rows.append([*first, name, *late, f"{base.longest / found.longest:.1f}"])
            sys.stderr.write(" | ".join(rows[-1]) + "\n")
    head = [
        "force",
        "f",
        "kT",
        "tolerance",
        "delay against the exact mean",
        "delay against unscaled paths",
        "ratio of steps",
    ]
    write_section(
        "noise-control",
        f"""
## Mean first passages under `error-controlled`

`python -m validation.noise_control`. A ball with the drag coefficient 1 starts from rest at x = 0 and moves along a
line until it reaches x = 1. Its relaxation time τ is {RELAXATION:g} of the mean first-passage time. The force is a
steady force f, plus either an attraction 0.02/(1.06 − x)² or a force a sin 4πx with a = 2 (*low barriers*) or 4
(*barriers*). There are {PATHS} paths, with friction-implicit steps of {WINDOW:g} τ. The mean time of these paths is
compared with the exact mean first-passage time without inertia, and with the mean time of unscaled paths with the same
noise. Errors are twice the standard error. When a2 changes, the policy keeps the momentum of the thermal part of the
speeds. The rows *speeds kept* show what happens if the speeds are kept instead. The last column is for an explicit rule
with the longest stable steps, 3.55 τ/a2: it gives the number of steps of an unscaled path divided by that of a
scaled path.

{table(head, rows)}

It is right to keep the momentum: if the speeds are kept instead, paths are late by a fraction that grows with kT. Under
weak noise, if the momentum is kept, the delay is within the tolerance. **Under strong noise the delay exceeds the
tolerance.** With scaling, thermal speeds are correlated over the time τ/a2 instead of τ. If paths diffuse more than
they drift, or if they wait in front of barriers, this longer correlation alone delays the paths. The policy considers
only changes of the forces, so it does not detect this delay.
""",
    )


if __name__ == "__main__":
    main()
