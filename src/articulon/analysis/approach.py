"""Motion of a case without inertia, in which drag balances all other forces, and the delay of a scaled run along it.

Normally all joints move, and the delay follows from the linear response along the path (``slow_motion.py``). For models
with loops, flexible bodies, joints without drag or very many joints, all joints keep their initial coordinates. Each
floating tree then moves as one rigid body: x' = G(x)/Σβ. G is the net force on the tree without drag and noise, and Σβ
is the sum of its drag coefficients.

Let τ be the relaxation time of the tree and λ = |dG/dt|/|G|. A run scaled by a2 is delayed by (τ/a2 − τ)/(1 + λτ/a2)
because it starts from rest, and by ∫ (τ/a2 − τ) λ/(1 + λτ/a2) dt along the path. Every change of the force counts as a
delay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from articulon.analysis.slow_motion import Ends, SlowMotion, slow_motion
from articulon.cases.case import Case
from articulon.forces.evaluation import Evaluator
from articulon.integrate.stop_conditions import Proximity
from articulon.model.array_rotations import matrices
from articulon.model.joints import FREE, XYZ
from articulon.model.state import CONFORMATIONAL, CONTACT, EXTERNAL, POTENTIAL
from articulon.scaling.error_controlled import LARGEST, allowed_lag
from articulon.simulation.observers import evaluate

CHANGE = 0.02
"""Relative change of the net force in one step, from which the length of the step is chosen."""
STEPS = 4000
LEAST = 1e-8
"""Smallest scaling factor that the search considers."""


@dataclass(frozen=True)
class Approach:
    """Motion of a case without inertia, sampled at times from its start to its end."""

    times: np.ndarray
    """Times [time], shape (n,)."""
    rates: np.ndarray
    """Rate λ between successive times [1/time], shape (n − 1,). It is that of the tree with the largest λτ."""
    relaxation: float
    """Relaxation time τ of the slowest moving tree [time]."""
    arrives: bool
    """Whether the motion ends at the stop condition of the case, and not at its duration or maximum number of steps."""
    motion: SlowMotion | None = None
    """Motion of all joints; None if joints keep their initial coordinates."""

    @property
    def duration(self) -> float:
        """Duration of the motion [time]."""
        return float(self.times[-1])

    def delay(self, a2: float, until: float | None = None) -> float:
        """Return the delay of the slowest tree under a constant factor a2 [time].

        The delay is taken at the position that the motion without inertia has at the time ``until``, by default at its
        end.
        """
        if self.motion is not None:
            return self.motion.arrival(a2, until)
        slower = self.relaxation / a2 - self.relaxation
        weights = np.diff(self.times if until is None else np.minimum(self.times, until))
        lags = self.rates * self.relaxation / a2
        return float(slower * (1.0 / (1.0 + lags[0]) + (weights * self.rates / (1.0 + lags)).sum()))

    def inertia(self) -> float:
        """Return the largest delay that inertia causes in an unscaled run, to first order [time]."""
        if self.motion is not None:
            return self.motion.inertia()
        lags = self.rates * self.relaxation
        weights = np.diff(self.times)
        return float(self.relaxation * (1.0 / (1.0 + lags[0]) + (weights * self.rates / (1.0 + lags)).sum()))

    def worst(self, a2: float) -> tuple[str, float]:
        """Return the name of the part with the largest delay or advance under a constant factor a2, and that delay
        [time].

        For a case with a stop condition, this is the delay of the body that arrives. The name is empty if joints keep
        their initial coordinates.
        """
        if self.motion is None:
            return "", self.delay(a2)
        if self.arrives:
            return self.motion.lead.name, self.delay(a2)
        delays = self.motion.delays(a2)
        name = max(delays, key=lambda one: abs(delays[one]))
        return name, delays[name]

    def safe_factor(self, tolerance: float, correction: float = 1.0) -> float:
        """Return the smallest constant factor for which the worst delay, multiplied by ``correction``, is at most the
        fraction ``tolerance`` of the whole duration."""

        def excess(logarithm: float) -> float:
            return correction * abs(self.worst(float(np.exp(logarithm)))[1]) / self.duration - tolerance

        low, high = float(np.log(LEAST)), 0.0
        # The search starts at a factor of 1, because the first-order delay is valid only for small delays.
        while low < high and excess(high - 1.0) <= 0.0:
            high -= 1.0
        return float(np.exp(scipy.optimize.brentq(excess, high - 1.0, high, rtol=1e-5))) if high > low else LEAST

    def controlled(self, tolerance: float, minimum: float) -> float:
        """Return the mean factor that the policy ``error-controlled`` would choose along the path.

        The policy is assumed to limit the delay at arrival to ``tolerance``. The delay that the start from rest causes
        is left out.
        """
        total, delay = 0.0, self.relaxation
        for time, step, rate in zip(self.times, np.diff(self.times), self.rates, strict=False):
            lag = self.relaxation * float(rate)
            allowed = allowed_lag(tolerance, 1.0, LARGEST, float(time), delay, float(rate))
            factor = min(1.0, max(minimum, lag / allowed))
            delay += float(step) * lag * (1.0 / factor - 1.0)
            total += float(step) * factor
        return total / self.duration


def approach_of(case: Case, keep_joints: bool = False) -> Approach | None:
    """Compute the motion of a case without inertia; None if no net force moves a floating tree.

    Parameters
    ----------
    case
        The case.
    keep_joints
        Whether all joints keep their initial coordinates. If False, they keep them only if their motion cannot be
        computed.
    """
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
    if stop is not None and stop.advance is not None and stop.direction is not None:
        link = int(model.link[model.body(stop.body)])
        inside = [k for k, (a, b) in enumerate(floating) if a <= link < b]
        if inside:
            follow, goal = inside[0], float(stop.advance)
            along = np.array([float(x) for x in stop.direction])
            along /= np.linalg.norm(along)
    proximity = None
    if stop is not None and stop.to is not None:
        found = stop.condition(model)
        links = [int(model.link[body]) for body in found.bodies]
        inside = [k for k, (a, b) in enumerate(floating) if any(a <= link < b for link in links)]
        if inside and isinstance(found, Proximity):
            follow, goal, proximity = inside[0], found.whole, found
    relaxations, end = masses / drags, float(case.run.duration)
    force, time, times, rates = forces(), 0.0, [0.0], []
    if not force.any() or not np.isfinite(force).all():
        return None
    if not keep_joints:
        lead = follow if np.isfinite(goal) else int(np.argmax(relaxations))
        root = floating[lead][0]
        watched = int(model.head[root]) if stop is None or stop.advance is None else model.body(stop.body)
        ends = Ends(end, root, watched, along, goal, proximity)
        motion = slow_motion(model, float(relaxations[lead]), ends)
        if motion is not None:
            firsts = [int(forest.u_start[a]) for a, _ in floating]
            return _of_motion(motion, relaxations, firsts, ends)
    step = 0.0

    def advanced() -> float:
        return float(along @ gone) if proximity is None else proximity.whole + proximity.beyond(model, state.q)

    target = goal if proximity is None else goal * (1.0 - 1e-6)
    while time < end and advanced() < target and len(times) < STEPS:
        size = np.linalg.norm(force, axis=1)
        if not size.any() or not np.isfinite(size).all():
            return None
        speeds = force / drags[:, None]
        if step == 0.0:
            step = 1e-6 * end
        left, pace = goal - advanced(), along @ speeds[follow]
        if proximity is not None:
            small, here = 1e-6 / float(np.abs(speeds).max()), state.q.copy()
            moved(small * speeds)
            pace = (advanced() - (goal - left)) / small
            state.q[:] = here
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
    arrives = advanced() >= goal * (1.0 - 1e-6)
    return Approach(np.array(times), np.array(rates), float(relaxations.max()), arrives)


def _of_motion(motion: SlowMotion, relaxations: np.ndarray, firsts: list[int], ends: Ends) -> Approach:
    """Build the approach from a motion of all joints, with rates λ computed from the velocities of the floating
    trees."""
    found = np.zeros(motion.times.size - 1)
    for relaxation, first in zip(relaxations.tolist(), firsts, strict=True):
        velocity = motion.speeds[:, first : first + 3]
        size = np.linalg.norm(velocity, axis=1)
        change = np.linalg.norm(np.diff(velocity, axis=0), axis=1)
        least = np.minimum(size[1:], size[:-1])
        rates = np.divide(change, least, out=np.zeros_like(change), where=least > 0.0) / np.diff(motion.times)
        found = np.maximum(found, rates * relaxation / relaxations.max())
    arrives = bool(np.isfinite(ends.advance) and motion.times[-1] < ends.duration * (1.0 - 1e-9))
    return Approach(motion.times, found, float(relaxations.max()), arrives, motion)
