"""Measurement of each option for a case: its step, its cost, and its error compared with the unscaled motion."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import Any

from articulon.advice.advised_options import Option, Trust
from articulon.advice.candidate_options import OF_PARTICLES, Candidate, explicit, friction_implicit, overdamped, scaled
from articulon.advice.case_time_scales import CaseTimeScales
from articulon.advice.colliding_particles import stiffness_of_particles
from articulon.advice.option_costs import Costs
from articulon.advice.predictions import Predictions
from articulon.advice.probe_trials import SEARCH, PathError, Trial, Window, noise_parts, path_error, trial
from articulon.advice.scaled_probe import judged_probe
from articulon.advice.step_search_by_halving import STEPS, StepSearchResult, longest_step, loosest_tolerances
from articulon.advice.subject import Subject
from articulon.errors import ArticulonError
from articulon.fidelity.verdict import Bounds
from articulon.integrate.integrators import Controlled
from articulon.model import Model
from articulon.report.readable_numbers import percent, suited
from articulon.simulation.preparation import prepare

TURN = 0.2
"""Angle by which thermal motion may rotate the lightest body in a step [rad]; longer steps may diverge."""
TURN_ERROR = 3.5
"""Relative error of thermal means, divided by the square of this angle. It follows from the study of friction-implicit
steps in docs/validation.md: 2 % at 0.075 rad, 4 % at 0.11 and 8 to 11 % at 0.15."""
STABLE = 2.0
"""Stability limit of ω h: above it, kicks and drift steps amplify a vibration. The search for friction-implicit steps
starts from it."""
COLLIDING = 0.25
"""Product ω h for the longest step h of colliding particles and their fastest vibration ω."""
HEAT = 0.1
"""Fraction of the tolerance that is allowed for the error of the configurational temperature. This error comes from the
steps of particles."""
ANGLE = 0.5
"""Phase angle ω h of the fastest vibration in the longest step that is tried [rad]."""
BEFORE = 0.98
"""Fraction of the expected stop time up to which a whole run is tried. The model is not valid beyond the stop."""
LARGEST = 0.5
"""Scaling factor above which the saving is too small to justify the errors."""
STARTS = 2.0
"""Factor by which the effect of inertia may grow along the run compared with the probe, which starts from rest."""
MOSTLY = 0.9
"""Fraction of a run above which a verdict from a trial counts for the whole run."""


class Measuring:
    """Measures the options of a case one after the other.

    Parameters
    ----------
    subject
        The subject.
    scales
        Time scales of the case.
    predictions
        Predictions for the case from its motion without inertia.
    probe
        Length of the probe [time].
    tolerance
        Allowed error.
    seconds
        Wall time for all options [s].
    """

    def __init__(
        self,
        subject: Subject,
        scales: CaseTimeScales,
        predictions: Predictions,
        probe: float,
        tolerance: float,
        seconds: float,
    ) -> None:
        self.subject, self.scales, self.predictions, self.probe = subject, scales, predictions, probe
        self.tolerance, self.seconds = tolerance, seconds
        self.bounds = Bounds.of_tolerance(tolerance)
        self.truth: Trial | None = None
        """Unscaled run from the start with the shortest steps so far."""
        self.truth_by = ""
        """Integrator of the run ``truth``."""
        self.base: Candidate | None = None
        """Unscaled option without locking, and its step. The option that locks joints is compared with it."""
        self.base_step: float | None = None
        self.particles: tuple[float, float] | None = None
        """Time 1/ω [time] and mean of ω² [1/time²] of colliding particles, once known."""
        self.costs = Costs(subject, scales, self.bounds, seconds)
        """Measurement of costs."""

    @property
    def starts(self) -> list[Model]:
        """Models with the states from which steps are tried."""
        return [self.subject.model, *([] if self.predictions.later is None else [self.predictions.later])]

    @property
    def thermal(self) -> bool:
        """Whether the motion is thermal. Paths then diverge for steps of any length, and only the beginnings of paths
        can be compared."""
        return self.subject.case.thermostat is not None or self.subject.case.run.speeds == "thermal"

    @property
    def _until(self) -> float:
        """Time up to which the whole run can be tried [time]; 0 if a stop condition ends it at an unknown time."""
        stop = self.subject.case.run.stop
        if stop is None:
            return self.scales.duration
        if stop.advance is None:
            return 0.0
        return BEFORE * self.scales.end if math.isfinite(self.scales.end) else 0.0

    def _deadline(self, candidate: Candidate) -> float:
        """Load the kernels of an option, and return the deadline of a search that starts now, by
        ``time.perf_counter``."""
        assert candidate.case is not None
        with suppress(ArticulonError):  # the search itself reports an error if the run is impossible
            prepare(candidate.case, model=self.subject.model)
        return time.perf_counter() + SEARCH * self.seconds

    def time_text(self, time_: float) -> str:
        """Return a time with its unit as text."""
        return suited(self.subject.case.units, "time", time_).text(time_, 3).replace("\u00a0", " ")

    def explicit(self) -> Option:
        """Measure the unscaled option with an explicit integrator."""
        candidate = explicit(self.subject, self.scales)
        if candidate.case is None:
            return candidate.refused
        if self.subject.touches and candidate.equal_steps:
            limit = self.scales.contact
            if math.isfinite(limit):
                words = "error of steps of a twentieth of a collision, below a thousandth of its duration"
                return self.costs.of(candidate, limit, "a twentieth of a collision", Trust("trusted", 1e-3, words))
        if self.subject.particles and candidate.equal_steps:
            return self._verlet(candidate)
        if candidate.equal_steps:
            return self._halved(candidate, ANGLE * self.scales.vibration, f"{ANGLE:g}/ω of the fastest vibration")
        return self._controlled(candidate)

    def friction_implicit(self) -> Option:
        """Measure the unscaled option with implicit friction."""
        candidate = friction_implicit(self.subject)
        if candidate.case is None:
            return candidate.refused
        if self.subject.particles:
            why = "no drag acts on the free particles, and without drag the steps are those of velocity Verlet"
            return Option(candidate.name, False, why, candidate.rule, changes=candidate.changes)
        bound, words = STABLE * self.scales.vibration, f"{STABLE:g}/ω of the fastest vibration"
        turn = min(TURN, math.sqrt(self.tolerance / TURN_ERROR)) * self.scales.turning
        if turn < bound:
            bound, words = turn, "the angle by which thermal motion rotates the lightest body"
        return self._halved(candidate, bound, words)

    def _verlet(self, candidate: Candidate) -> Option:
        """Measure an option for many particles. The step follows from the fastest vibration, because paths diverge for
        steps of any length."""
        vibration, square = self._stiffness()
        if not math.isfinite(vibration):
            return Option(
                candidate.name,
                False,
                "no force acts between the particles, so that steps of any length are accurate",
                candidate.rule,
            )
        step, bound = COLLIDING * vibration, f"{COLLIDING:g}/ω of the fastest vibration"
        if step**2 * square / 12.0 > HEAT * self.tolerance:
            step, bound = math.sqrt(12.0 * HEAT * self.tolerance / square), "the heating of the positions by the steps"
        words = (
            "h²⟨∇²Φ/m⟩/12, the relative excess of the configurational temperature due to the steps, or the energy "
            "lost in the probe; paths diverge for steps of any length"
        )
        error = step**2 * square / 12.0
        return self.costs.of(candidate, step, bound, Trust(self.bounds.verdict(error), error, words))

    def _stiffness(self) -> tuple[float, float]:
        """Return the time 1/ω of colliding particles, and the mean of ω²; see :func:`stiffness_of_particles`."""
        if self.particles is None:
            deadline = time.perf_counter() + SEARCH * self.seconds
            self.particles = stiffness_of_particles(self.subject, self.scales.vibration, deadline)
        return self.particles

    def _halved(self, candidate: Candidate, bound: float, words: str) -> Option:
        """Measure an option with the longest equal steps for which halving the step does not change the motion."""
        interval = float(self.subject.case.run.interval)
        own: Any = self.subject.case.integrator
        same = self.thermal and str(own.rule) == candidate.rule
        if same and float(own.step) < bound:
            bound = float(own.step)
            words = "the case's own step: a probe cannot show the effect of longer steps on averages over long times"
        probe, deadline = 0.0 if self.thermal else self.probe, self._deadline(candidate)
        found = longest_step(
            self.subject,
            candidate.with_step,
            bound,
            interval,
            probe,
            self.tolerance,
            self.starts,
            deadline,
            0.0 if self.thermal or self.subject.noisy else self._until,
        )
        self._keep(candidate, found)
        if found.step is None:
            return self._not_found(candidate, found)
        if found.step < 0.49 * min(bound, interval):
            words = f"the change by halving, largest in {found.what}" if found.what else "the change by halving"
        if same and 0.49 * bound < found.step < bound == float(own.step):
            # The tried step is a power-of-two fraction of the time between frames, and shorter than the step of the
            # case. The step of the case is kept; its error follows from the order 2 of the integrator.
            found = found._replace(step=bound, error=float(found.error or 0.0) * (bound / found.step) ** 2)
            self.base_step = bound if self.base is candidate else self.base_step
        return self.costs.of(candidate, found.step, words, self._of_steps(found))

    def _of_steps(self, found: StepSearchResult) -> Trust:
        """Return how far a step that was found by halving can be trusted."""
        error = float(found.error or 0.0)
        what = f", largest in {found.what}" if found.what else ""
        if self.subject.noisy:
            turn = 0.0 if found.step is None else found.step / self.scales.turning
            error = TURN_ERROR * turn**2
            words = (
                f"thermal means, from the angle of {turn:.2g} rad that the lightest body turns in a step; single paths "
                f"with the same noise are off by {_percent(found.error)}{what}"
            )
            return Trust(self.bounds.verdict(error), error, words)
        places = "from the start" if len(self.starts) == 1 else "from the start and near the end"
        over = self.time_text(found.window)
        words = f"change by half the step in {over} {places}{what}"
        if self.thermal:
            words += (
                "; this gives no information on averages: check the temperatures of each kind of motion, the "
                "independent samples and a run of half the step"
            )
        partly = found.window < MOSTLY * self.scales.horizon
        return Trust(self.bounds.verdict(error), error, words, over if partly else "")

    def _not_found(self, candidate: Candidate, found: StepSearchResult) -> Option:
        why = found.why or "no step was found"
        return Option(candidate.name, False, why, candidate.rule, changes=candidate.changes)

    def _controlled(self, candidate: Candidate) -> Option:
        """Measure an option whose integrator chooses its steps by an error estimate."""
        own = isinstance(self.subject.case.integrator, Controlled)
        deadline = self._deadline(candidate)
        held = 0.25 * self.scales.fastest_drag
        factor, found = loosest_tolerances(
            self.subject,
            candidate.tighter,
            self.probe,
            self.tolerance,
            self.starts[:1],
            held,
            deadline,
            1 if own else 4,
        )
        self._keep(candidate, found)
        if found.why:
            return self._not_found(candidate, found)
        changes = dict(candidate.changes)
        if factor != 1.0:
            integrator: Any = candidate.tighter(factor).integrator
            changes |= {"integrator.rtol": _rounded(integrator.rtol), "integrator.atol": _rounded(integrator.atol)}
        reached = self.probe if found.finest is None else float(found.finest.path.times[-1])
        if found.error is None or reached <= 0.0:
            trust = Trust("trusted", None, "the tolerances of its steps; the probe was too expensive to repeat")
        else:
            many = "30 times tighter tolerances"
            what = f", largest in {found.what}" if found.what else ""
            trust = Trust(
                self.bounds.verdict(found.error), found.error, f"effect of {many} in {self.time_text(reached)}{what}"
            )
        return self.costs.of(
            Candidate(candidate.name, changes, candidate.tighter(factor)), None, "its tolerances", trust
        )

    def _keep(self, candidate: Candidate, found: StepSearchResult) -> None:
        """Store the unscaled run with the shortest steps, for comparison with other options."""
        rule = candidate.rule
        if (
            found.finest is not None
            and found.finest.path.times.size >= 3
            and (self.truth is None or rule != self.truth_by)
        ):
            longer = self.truth is None or found.finest.path.times[-1] > 1.5 * self.truth.path.times[-1]
            if longer:
                self.truth, self.truth_by = found.finest, rule
        if found.step is not None and self.base is None:
            self.base, self.base_step = candidate, found.step if candidate.equal_steps else None

    def overdamped(self) -> Option:
        """Measure the option without inertia."""
        candidate = overdamped(self.subject)
        if candidate.case is None:
            return candidate.refused
        if candidate.rule == OF_PARTICLES:
            return self._of_particles(candidate)
        scales, interval = self.scales, float(self.subject.case.run.interval)
        bound, words = interval, "the time between frames"
        if math.isfinite(scales.turning):
            turn = TURN**2 * scales.turning**2 / (2.0 * scales.fastest_drag)
            if turn < bound:
                bound, words = turn, "the angle by which the smallest body diffuses"
        deadline = self._deadline(candidate)
        found = longest_step(
            self.subject,
            candidate.with_step,
            bound,
            interval,
            self.probe,
            self.tolerance,
            self.starts[:1],
            deadline,
            0.0 if self.subject.noisy else self._until,
        )
        if found.step is None:
            return self._not_found(candidate, found)
        if found.step < 0.49 * min(bound, interval):
            words = f"the change by halving, largest in {found.what}" if found.what else "the change by halving"
        own = float(found.error or 0.0) if not self.subject.noisy else 0.0
        inertia, how = self._inertia(candidate)
        error = own + inertia
        return self.costs.of(candidate, found.step, words, Trust(self.bounds.verdict(error), error, how))

    def _of_particles(self, candidate: Candidate) -> Option:
        """Measure the option without inertia for free particles. The noise depends on the step, so runs with halved
        steps cannot be compared."""
        own: Any = self.subject.case.integrator
        words = "steps of weak order 1: compare averages of the chosen step with those of half the step"
        trust = Trust("inconclusive", None, words)
        if own.rule != candidate.rule:
            why = "its step must be chosen by trial, far below m γ/k of the stiffest force"
            return Option(candidate.name, False, why, candidate.rule, changes=candidate.changes)
        return self.costs.of(candidate, float(own.step), "the case's own step", trust)

    def _inertia(self, candidate: Candidate) -> tuple[float, str]:
        """Return the relative error of leaving inertia out, and an explanation of how it is known."""
        ratio = self.scales.slowest_drag / self.scales.duration
        found, how = [ratio], [f"the ratio of the slowest relaxation time to the run, {_percent(ratio)}"]
        predicted = self.predictions.inertia
        if predicted is not None:
            found.append(predicted)
            how = [f"the predicted delay of the run by inertia, {_percent(predicted)}"]
        truth = self.truth
        if truth is not None and truth.path.times.size > 2 and not self.subject.noisy:
            measured = self._error_of_inertia(candidate, truth, self.scales.duration)
            if measured is not None and math.isfinite(measured.error):
                found.append(STARTS * measured.error)
                how.append(
                    f"and observed in the probe, {_percent(measured.error)}, largest in {measured.what or 'nothing'}"
                )
        return max(found), " ".join(how)

    def _error_of_inertia(self, candidate: Candidate, truth: Trial, duration: float) -> PathError | None:
        """Compare an option with the true path of the probe; None if the option cannot run."""
        length, moments = float(truth.path.times[-1]), truth.path.times.size - 1
        longest = 0.25 * max(self.scales.slowest_drag, 4.0 * length / STEPS)
        parts = 2 ** max(0, math.ceil(math.log2(length / moments / longest)))
        window = Window(
            self.subject.model, length, max(parts, noise_parts(self.subject, length / moments, length)), moments
        )
        deadline = time.perf_counter() + SEARCH * self.seconds
        made = trial(self.subject, candidate.with_step(length / moments / parts), window, parts, deadline)
        if made.diverged or made.path.times.size < 3:
            return None
        return path_error(self.subject, made.path, truth.path, duration)

    def scaled(self) -> Option:
        """Measure the option in which all forces except inertia are scaled by one factor."""
        found = self.predictions.factor(self.tolerance)
        a2, lag = (0.1, None) if found is None else found
        candidate = scaled(self.subject, a2)
        if candidate.case is None:
            return candidate.refused
        if a2 > LARGEST:
            why = f"no factor below {a2:g} keeps the lag within the tolerance, which saves too little"
            return Option("scaled", False, why, candidate.rule, changes=candidate.changes)
        made = self.costs.of(candidate, None, "its tolerances, times 1/a2", Trust("inconclusive", None, ""))
        if not made.feasible or made.seconds is None:
            return made
        verdict, judged, part, words = judged_probe(
            candidate.case,
            self.subject.model,
            a2,
            self.scales,
            self.tolerance,
            made.seconds,
            2.0 * SEARCH * self.seconds,
        )
        if lag is None:
            said = "no net force moves a freely floating body, or loops constrain it: its lag cannot be predicted"
            error = judged
        else:
            said = f"the lag of a2 = {a2:g}, predicted along the motion without inertia, {_percent(lag)}"
            error = max(lag, judged or 0.0)
        if part >= MOSTLY:
            return self.costs.trusting(made, Trust(verdict, error, f"{said}; {words}"))
        if (lag is None or self.subject.noisy) and verdict != "trusted":
            # Scaling also delays the response to noise, which the predictions do not include.
            return self.costs.trusting(made, Trust("inconclusive", error, f"{said}; {words}"))
        stands = self.bounds.verdict(0.999 * float(error or 0.0))
        return self.costs.trusting(made, Trust(stands, error, f"{said}; {words}"))


def _percent(part: float | None) -> str:
    return percent(part, 2).replace("\u00a0", " ").replace("\u202f", ",")


def _rounded(tolerance: Any) -> Any:
    return float(f"{tolerance:.2g}") if isinstance(tolerance, float) else tolerance.model_dump(exclude_none=True)
