"""The slow way that forces and drag prescribe, without inertia: what scaling is late by along it, before any run.

Every floating tree is moved as one, x' = G(x)/Σβ, with G the net force on it but for drag and noise; its joints keep
their initial coordinates. Scaled by a2, it is late by (τ/a2 − τ)/(1 + λτ/a2) for starting from rest, and by
∫ (τ/a2 − τ) λ/(1 + λτ/a2) dt on the way, with λ = |dG/dt|/|G| (see ``simulate/fidelity.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from articulon.cases.case import Case
from articulon.forces.evaluation import Evaluator
from articulon.model.joints import FREE, XYZ
from articulon.model.rotations import matrices
from articulon.model.state import CONFORMATIONAL, CONTACT, EXTERNAL, POTENTIAL
from articulon.scaling.error_controlled import LARGEST, allowed_lag
from articulon.simulate.observers import evaluate

CHANGE = 0.02
"""Change of the net force in a step."""
STEPS = 4000
LEAST = 1e-8
"""The least factor that is looked for."""


@dataclass(frozen=True)
class Approach:
    """The way without inertia, at moments along it."""

    times: np.ndarray
    """[time], shape (n,)."""
    rates: np.ndarray
    """λ of the tree with the largest λτ, between the moments [1/time], shape (n − 1,)."""
    relaxation: float
    """τ of the slowest tree that is moved [time]."""
    arrives: bool
    """Whether it ends by the case's condition, and not by its time or the number of steps."""

    @property
    def duration(self) -> float:
        """[time]."""
        return float(self.times[-1])

    def delay(self, a2: float, until: float | None = None) -> float:
        """How late a run with a constant factor is at a time, by default the end [time]."""
        slower = self.relaxation / a2 - self.relaxation
        weights = np.diff(self.times if until is None else np.minimum(self.times, until))
        lags = self.rates * self.relaxation / a2
        return float(slower * (1.0 / (1.0 + lags[0]) + (weights * self.rates / (1.0 + lags)).sum()))

    def safe_factor(self, tolerance: float, correction: float = 1.0) -> float:
        """The least constant factor whose delay, times a correction, is at most a tolerance of the whole time."""

        def excess(logarithm: float) -> float:
            return correction * self.delay(float(np.exp(logarithm))) / self.duration - tolerance

        least = float(np.log(LEAST))
        return float(np.exp(brentq(excess, least, 0.0, rtol=1e-6))) if excess(least) > 0.0 else LEAST

    def controlled(self, tolerance: float, minimum: float) -> float:
        """Mean over the way of the factor that the policy ``error-controlled`` would take for arrivals, with what is
        aimed at, but without its beginning."""
        total, late = 0.0, self.relaxation
        for time, step, rate in zip(self.times, np.diff(self.times), self.rates, strict=False):
            lag = self.relaxation * float(rate)
            allowed = allowed_lag(tolerance, 1.0, LARGEST, float(time), late, float(rate))
            factor = min(1.0, max(minimum, lag / allowed))
            late += float(step) * lag * (1.0 / factor - 1.0)
            total += float(step) * factor
        return total / self.duration


def approach_of(case: Case) -> Approach | None:
    """The way of a case's floating trees without inertia; None where there is none that a net force moves."""
    model = case.build_model()
    evaluator = Evaluator(model)
    forest, drag = model.forest, evaluator.system.forces.drag.mass
    floating = [
        (int(a), int(b))
        for a, b in zip(forest.tree[:-1], forest.tree[1:], strict=True)
        if int(forest.kind[a]) in (FREE, XYZ) and drag[a:b].any()
    ]
    if not floating or model.loops.kind.size:
        return None
    masses, drags = (np.array([table[a:b].sum() for a, b in floating]) for table in (forest.mass, drag))
    turns = matrices(forest.rotation[[a for a, _ in floating]])
    places = np.array([np.arange(3) + int(forest.q_start[a]) for a, _ in floating])
    state = evaluator.initial_state()
    state.u[:] = 0.0
    gravity = evaluator.system.forces.gravity

    def forces() -> np.ndarray:
        evaluate(evaluator, state)
        wrench = evaluator.channels.wrench[[POTENTIAL, CONFORMATIONAL, CONTACT, EXTERNAL], :, :3].sum(axis=0)
        return np.array([wrench[a:b].sum(axis=0) for a, b in floating]) + masses[:, None] * gravity

    def moved(ways: np.ndarray) -> None:
        state.q[places] += np.einsum("kij,ki->kj", turns, ways)

    stop, gone = case.run.stop, np.zeros(3)
    goal, follow, along = np.inf, 0, np.zeros(3)
    if stop is not None:
        link = int(model.link[model.body(stop.body)])
        inside = [k for k, (a, b) in enumerate(floating) if a <= link < b]
        if inside:
            follow, goal = inside[0], float(stop.advance)
            along = np.array([float(x) for x in stop.direction])
            along /= np.linalg.norm(along)
    relaxations, end = masses / drags, float(case.run.duration)
    force, time, times, rates = forces(), 0.0, [0.0], []
    step = 0.0
    while time < end and along @ gone < goal and len(times) < STEPS:
        size = np.linalg.norm(force, axis=1)
        if not size.any() or not np.isfinite(size).all():
            return None
        speeds = force / drags[:, None]
        if step == 0.0:
            step = 1e-6 * end
        left = goal - along @ gone
        pace = along @ speeds[follow]
        h = min(step, end - time, left / pace * (1.0 + 1e-9) if pace > 0.0 else np.inf)
        kept = state.q.copy()
        moved(h * speeds)
        trial = forces()
        mean = 0.5 * (speeds + trial / drags[:, None])
        change = np.linalg.norm(trial - force, axis=1) / np.where(size > 0.0, size, np.inf)
        if change.max() > 2.0 * CHANGE and h > 1e-12 * end:
            state.q[:] = kept
            step = 0.5 * h
            continue
        state.q[:] = kept
        moved(h * mean)
        force = forces()
        worst = int(np.argmax(change * relaxations))
        rates.append(change[worst] / h * relaxations[worst] / relaxations.max())
        gone, time = gone + h * mean[follow], time + h
        times.append(time)
        step = h * min(2.0, CHANGE / max(float(change.max()), 1e-300))
    if len(times) < 3:
        return None
    arrives = bool(along @ gone >= goal * (1.0 - 1e-6))
    return Approach(np.array(times), np.array(rates), float(relaxations.max()), arrives)
