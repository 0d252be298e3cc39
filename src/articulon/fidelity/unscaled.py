"""Unscaled reference paths for a scaled run, of increasing accuracy, and the errors of the run relative to each.

The paths have the start, the noise (if any) and the duration of the run. They cost far less than a complete unscaled
run. Scaling is possible only if inertia hardly matters between two frames, and without inertia there is no fast motion
that needs short steps. The motion without inertia is therefore computed first, twice; the second computation is more
accurate, and the difference of the two is its error. The effect of inertia on the true path is the fraction a2 of its
effect on the run. If this is too uncertain, the motion is computed with inertia to first order, and then by the
complete equations with an implicit rule for stiff equations.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from articulon.fidelity.chebyshev import largest_rate
from articulon.fidelity.inertia_effect import inertia_of
from articulon.fidelity.motion import LEAST_FRAMES, Motion, MotionError, arrival, compare
from articulon.fidelity.noise import (
    EVALUATIONS_OF_A_STEP,
    FRICTION_IMPLICIT,
    OVERDAMPED,
    RULES,
    by_its_own_rule,
    on_the_same_noise,
    steps_within,
    within_windows,
)
from articulon.fidelity.paths import Path, coordinate_scales, scales
from articulon.fidelity.record import Record
from articulon.fidelity.reference import Course, NoPathError, TooExpensiveError, complete, without_inertia
from articulon.forces.evaluation import Evaluator
from articulon.integrate.drift_velocity import DriftVelocity, SlowMotion
from articulon.integrate.integrators import Controlled

TOLERANCES = (1e-3, 2e-4, 4e-5)
"""Allowed errors of a step, relative to the range of each motion, for paths of increasing accuracy."""
WITHIN = (1e-3, 1e-4, 1e-5)
"""Allowed errors of a step within windows of noise; they are smaller because the errors of many windows accumulate."""
LEAST_IN_WINDOW = 3
"""Minimum number of evaluations for the steps within one window."""
COMPLETE = 400
"""Maximum number of variables for the complete equations, because the Jacobian of the implicit rule is dense."""
LEAST_EVALUATIONS, LEAST_WORK = 8_000, 400_000
"""Number of evaluations that a verdict may always use, and the same limit for evaluations times bodies and sites. They
take about a second."""
MOVED = 1e-6
"""Displacement for finite differences of speeds, relative to the range of the motion."""
FIRST_ORDER = 0.5
"""Fraction of the displacement that inertia costs at some time, above which the first order in inertia is too
inaccurate."""
LEAST_KNOWN = 0.02
"""Minimum relative uncertainty of an error that is measured against a path without the full inertia."""
INERTIA_UNCERTAINTY = 0.5
"""Relative uncertainty of the effect of inertia on the true path under noise."""
COMPILED = 4
"""Factor by which the budget is larger for paths under noise, because their steps are compiled and faster."""
LEAST_MOMENTS = 6
"""Minimum number of frames for interpolating a path."""
FRAMES = 5
"""Number of frames at which the stiffness of the motion without inertia is evaluated."""


class Outcome(NamedTuple):
    """Result of the comparison of a run with one unscaled path."""

    how: str
    """Method by which the path was computed."""
    wrong: list[MotionError]
    """Errors of each motion, the worst first."""
    half_width: float
    """Uncertainty of the largest error."""


def _known(wrong: list[MotionError], kind: str, unsure: Callable[[MotionError], float]) -> float:
    """Return the uncertainty of the largest error, from the uncertainty of each motion. It takes into account that
    another motion may have a larger error than estimated."""
    if not wrong:
        return 0.0
    most = max(one.of(kind) + unsure(one) for one in wrong) - wrong[0].of(kind)
    return max(most, unsure(wrong[0]))


def budget_of(record: Record) -> int:
    """Return the allowed number of evaluations for unscaled paths: a fraction of those of the run, with a minimum for
    small models."""
    part = record.settings.budget
    if part <= 0.0:
        return 0
    size = record.model.bodies + record.evaluator.sites.sites
    least = min(LEAST_EVALUATIONS, LEAST_WORK // max(size, 1)) * (1 if record.noise is None else COMPILED)
    return max(int(part * record.evaluations), least)


class UnscaledPaths:
    """Computes unscaled paths for a run, and compares the run with them."""

    def __init__(self, record: Record, motion: Motion, budget: int) -> None:
        self.record, self.motion, self.budget, self.evaluations = record, motion, budget, 0
        self.kind = record.settings.error
        self.wanted = 0
        """Number of evaluations with which a verdict would be possible; 0 if unknown."""
        self.latest: Path | None = None
        """Latest computed path with the noise of the run."""
        self.inertial = False
        """Whether the effect of inertia on the true path is the largest uncertainty."""
        self.rate = 0.0
        """Largest observed rate of the motion without inertia, if noise acts [1/time]."""

    def why_not(self) -> str | None:
        record = self.record
        if self.budget <= 0:
            return "not made: fidelity.budget is 0; set it to 0.05"
        if record.evaluator.thermostat is not None:
            return "not made: the paths of thermostatted particles are chaotic and diverge under any perturbation"
        if record.adaptive:
            return (
                "not made: joints were locked and released during the run; compare it with an unscaled run that does so"
            )
        if record.evaluator.contacts is not None:
            return "not made: the paths of grains in contact are chaotic and diverge under any perturbation"
        if not record.evaluator.system.forces.drag.mass.any():
            return "not made: there is no drag, and without it scaling only slows the clock"
        least = LEAST_FRAMES if self.motion.noisy else LEAST_MOMENTS
        if record.times.size < least:
            return f"not made: there are fewer than {least - 1} intervals between frames; keep more (frames)"
        if not np.isfinite(record.q).all():
            return "not made: some frames are not finite"
        return None

    def what_it_takes(self) -> str:
        """Return a message on how a verdict would become possible, and at what cost."""
        part = self.record.settings.budget
        needed = max(self.wanted, 2 * self.budget) / max(self.record.evaluations, 1)
        more = "about" if self.wanted else "more than"
        return (
            f"fidelity.budget = {part:g} allows {self.budget:,} force evaluations, too few for an "
            f"unscaled reference run; set it to {more} {needed:.2g}"
        )

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the results of comparisons with paths of increasing accuracy."""
        if self.motion.noisy:
            yield from self._noisy()
            return
        evaluator = Evaluator(self.record.model)
        idle = ~np.any(self.record.u, axis=0)
        drift, course = DriftVelocity(evaluator, idle), self._course(idle)
        reason = drift.why_not()
        if reason is None and self._damped_otherwise(drift):
            reason = "other forces than Stokes drag depend on the speeds"
        self.evaluations = drift.evaluations
        if reason is None:
            yield from self._without_inertia(drift, course)
        small = self.record.model.nq + self.record.model.nu <= COMPLETE
        if small:
            yield from self._complete(evaluator, course)
        elif reason is not None:
            raise NoPathError(f"{reason}, and the complete equations have more than {COMPLETE} variables")

    def _damped_otherwise(self, drift: DriftVelocity) -> bool:
        times, middle = self.record.times, self.record.times.size // 2
        return any(
            drift.damped_otherwise(float(times[k]), self.record.q[k], self.record.u[k])
            for k in {middle, times.size - 1}
        )

    def _course(self, idle: np.ndarray) -> Course:
        record, motion = self.record, self.motion
        scale = self._scales()
        speeds = [np.abs(record.u[:, g.start : g.end]).max(initial=0.0) for g in motion.groups]
        speed = np.maximum(speeds, scale / record.duration)
        return Course(
            motion.groups,
            record.q[0],
            record.u[0],
            float(record.times[0]),
            record.duration,
            scale,
            speed,
            idle,
            record.stop,
        )

    def _scales(self) -> np.ndarray:
        """Return the reference scales for errors of the groups [length or rad], shape (groups,)."""
        motion = self.motion
        return np.maximum(scales(motion.groups, motion.reach), 100.0 * motion.error)

    def _left(self) -> int:
        return self.budget - self.evaluations

    def _without_inertia(self, drift: DriftVelocity, course: Course) -> Iterator[Outcome]:
        inertia = inertia_of(self.record, self.motion, drift)
        before, errors, unknown, own = drift.evaluations, list[float](), 0.0, 0.0
        for tolerance in TOLERANCES:
            wrong = self._along(drift, course, tolerance, inertia.share)
            errors.append(self._error(wrong))
            if len(errors) < 2:
                continue
            change, own = abs(errors[-1] - errors[-2]), max((one.subtracted(self.kind) for one in wrong), default=0.0)
            unknown = _known(wrong, self.kind, lambda one: inertia.unknown(one.subtracted(self.kind)))
            yield Outcome("without inertia", wrong, change + unknown + LEAST_KNOWN * errors[-1])
            if unknown > change:
                break
        if inertia.unscaled >= FIRST_ORDER:
            return
        # If the effect of inertia is the main uncertainty, a more accurate path without inertia does not help.
        cost = self.evaluations - before
        size = MOVED * np.array([course.scale[k] for k, g in enumerate(course.groups) for _ in range(g.start, g.end)])
        moving, last = SlowMotion(drift.evaluator, course.idle, size), list[float]()
        for tolerance in TOLERANCES[1:]:
            self._afford(cost)
            wrong = self._along(moving, course, tolerance, None)
            last.append(self._error(wrong))
            if abs(last[-1] - errors[-1]) > abs(errors[-1] - errors[-2]) + unknown:
                return  # at some time inertia is not a small correction, and the first order is too inaccurate
            change = abs(last[-1] - last[-2]) if len(last) > 1 else abs(errors[-1] - errors[-2])
            half = change + inertia.second(own) + LEAST_KNOWN * last[-1]
            yield Outcome("with inertia to first order", wrong, half)

    def _along(
        self, drift: DriftVelocity, course: Course, tolerance: float, inertia: np.ndarray | None
    ) -> list[MotionError]:
        at_start = drift.evaluations
        try:
            truth = without_inertia(drift, course, tolerance, self._left())
        finally:
            self.evaluations += drift.evaluations - at_start
        return self._compared(truth, inertia)

    def _error(self, wrong: list[MotionError]) -> float:
        return wrong[0].of(self.kind) if wrong else 0.0

    def _complete(self, evaluator: Evaluator, course: Course) -> Iterator[Outcome]:
        before: float | None = None
        for tolerance in TOLERANCES:
            try:
                truth, spent = complete(evaluator, course, tolerance, self._left())
            except TooExpensiveError:
                self.evaluations = self.budget
                raise
            self.evaluations += spent
            wrong = self._compared(truth, None)
            error = self._error(wrong)
            if before is not None:
                yield Outcome("complete", wrong, abs(error - before))
            before = error

    def _compared(self, truth: Path, inertia: np.ndarray | None) -> list[MotionError]:
        wrong = compare(self.record, self.motion, truth, inertia)
        end = arrival(self.record, self.motion.groups, truth, inertia)
        if end is not None:
            wrong = sorted([*wrong, end], key=lambda one: -one.of(self.kind))
        return wrong

    def _noisy(self) -> Iterator[Outcome]:
        longest = self._longest()
        for rule in RULES:
            yield from self._on_the_same_noise(rule, longest)
        record, motion = self.record, self.motion
        if isinstance(record.integrator, Controlled) and getattr(record.integrator, "step", None) is None:
            # If scaling gains little, an unscaled run costs about as much as the scaled run.
            self._afford(record.evaluations)
            truth, spent = by_its_own_rule(record, motion, self._left())
            self.evaluations, self.latest, self.inertial = self.evaluations + spent, truth, False
            moving = motion.reach > motion.error
            known = float((motion.error / scales(motion.groups, motion.reach))[moving].max(initial=0.0))
            yield Outcome("unscaled, with the same noise", self._apart(motion, truth, False), known)

    def _on_the_same_noise(self, rule: str, longest: float) -> Iterator[Outcome]:
        record, before = self.record, None
        steps = steps_within(record, longest)
        while True:
            cost = EVALUATIONS_OF_A_STEP[rule] * round(record.duration / steps.length)
            # The first path has no error estimate without a second one, so that the budget must cover both.
            self._afford(cost * (1 if before is not None else 3))
            try:
                truth, spent = on_the_same_noise(record, self.motion, rule, steps)
            except NoPathError:
                if before is not None or rule != OVERDAMPED:
                    raise
                return
            self.evaluations += spent
            finer = steps_within(record, 0.5 * steps.length)
            finest = finer.length >= steps.length
            if before is not None or finest:
                yield self._beside_noise(f"{rule}, with the same noise", truth, before)
                if self.inertial:
                    return
            before, steps = truth, finer
            if finest:
                break
        if rule == OVERDAMPED:
            yield from self._within_windows(before)

    def _within_windows(self, before: Path) -> Iterator[Outcome]:
        record = self.record
        drift = DriftVelocity(self._with_noise(), ~np.any(record.u, axis=0), noise=True)
        for tolerance in WITHIN:
            self._afford(LEAST_IN_WINDOW * round(record.duration / record.window))
            at_start = drift.evaluations
            try:
                truth = within_windows(record, self.motion, drift, self.rate, tolerance, self._left())
            finally:
                self.evaluations += drift.evaluations - at_start
            yield self._beside_noise("without inertia, with the same noise", truth, before)
            if self.inertial:
                return
            before = truth

    def _afford(self, cost: int) -> None:
        """Raise TooExpensiveError if the rest of the budget is less than ``cost`` evaluations."""
        self.wanted = self.evaluations + cost
        if self.wanted > self.budget:
            raise TooExpensiveError

    def _with_noise(self) -> Evaluator:
        return Evaluator(self.record.model, self.record.seed, self.record.window)

    def _beside_noise(self, how: str, truth: Path, before: Path | None) -> Outcome:
        """Compare the run with a path on its noise. The uncertainty is the difference between this path and a less
        accurate one, or, without such a path, between this path and the run."""
        self.latest, overdamped = truth, not how.startswith(FRICTION_IMPLICIT)
        wrong, kind = self._apart(self.motion, truth, overdamped), self.kind
        changes = np.ptp(self.record.observables["factor_damping"][1:]) > 0.0
        others = [] if before is None else self._apart(self.motion._replace(path=before), truth, False)
        changes_of = {one.what: one.of(kind) for one in (wrong if before is None else others)}
        taken = _known(wrong, kind, lambda one: one.subtracted(kind) * (1.0 if changes else INERTIA_UNCERTAINTY))
        known = _known(wrong, kind, lambda one: changes_of.get(one.what, 0.0))
        self.inertial = taken > known
        return Outcome(how, wrong, known + taken)

    def _apart(self, motion: Motion, truth: Path, overdamped: bool) -> list[MotionError]:
        """Return the errors of a motion relative to a true path at its frames. The two may end at different times."""
        count = min(truth.times.size, motion.path.times.size)
        mine, other = (Path(*(values[:count] for values in path)) for path in (motion.path, truth))
        share = np.repeat(self._share()[:count, None], len(motion.groups), axis=1) if overdamped else None
        return compare(self.record, motion._replace(path=mine), other, share)

    def _share(self) -> np.ndarray:
        """Return the effect of inertia on the true path divided by its effect on the run, from the scaling factors."""
        a2 = self.record.observables["factor_damping"]
        share = np.cumsum(np.ones_like(a2)) / np.cumsum(1.0 / a2)
        return share if self.record.uniform else np.zeros_like(share)

    def _longest(self) -> float:
        """Return the longest step to try for Brownian dynamics [time]: the shortest time scale of the motion without
        inertia, over some frames."""
        record, interval = self.record, float(self.record.times[1] - self.record.times[0])
        drift = DriftVelocity(self._with_noise(), ~np.any(record.u, axis=0))
        if drift.why_not() is not None:
            return interval
        scale = coordinate_scales(self.motion.groups, self._scales(), record.model.nq)
        for k in np.linspace(0, record.times.size - 1, FRAMES).round().astype(int).tolist():
            t, q = float(record.times[k]), record.q[k]
            here = drift.rates(t, q)
            rate = largest_rate(drift.rates, t, q, here, here + 1e-3 * scale, scale)[0]
            self.rate = max(self.rate, rate)
        self.evaluations += drift.evaluations
        return min(interval, 1.0 / self.rate) if self.rate > 0.0 else interval
