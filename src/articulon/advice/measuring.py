"""Measures each option on a case: its step, its cost, and how wrong it is beside the unscaled motion."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import Any

from articulon.advice.advised_options import Option, Trust
from articulon.advice.case_time_scales import CaseTimeScales
from articulon.advice.colliding_particles import stiffness_of_particles
from articulon.advice.looking_ahead import Ahead
from articulon.advice.option_costs import Costs
from articulon.advice.probe_trials import SEARCH, Apartness, Trial, Window, error_between, noise_parts, trial
from articulon.advice.scaled_probe import judged_probe
from articulon.advice.step_search_by_halving import STEPS, Settled, longest_step, settled_tolerances
from articulon.advice.subject import Subject
from articulon.advice.ways_to_run import OF_PARTICLES, Way, explicit, friction_implicit, overdamped, scaled
from articulon.errors import ArticulonError
from articulon.fidelity.verdict import Bounds
from articulon.integrate.integrators import Controlled
from articulon.model import Model
from articulon.report.readable_numbers import percent, suited
from articulon.simulation.preparation import prepare

TURN = 0.2
"""Angle that the lightest body may turn in a step by thermal motion [rad], beyond which steps may not stay finite."""
TURN_ERROR = 3.5
"""Error of thermal means over the square of that angle, by the study of friction-implicit steps in
docs/validation.md: 2 % at 0.075 rad, 4 % at 0.11 and 8 to 11 % at 0.15."""
STABLE = 2.0
"""ω h beyond which kicks and drifts make a vibration grow, from which friction-implicit steps are tried."""
COLLIDING = 0.25
"""ω h of the fastest vibration of particles that collide, in their longest step."""
HEAT = 0.1
"""Part of the tolerance that steps of particles may heat their positions by."""
ANGLE = 0.5
"""Angle ω h that the fastest vibration turns by in the longest step that is tried [rad]."""
BEFORE = 0.98
"""Part of the time after which a run is expected to stop that all of it is tried for: beyond it has no physics."""
LARGEST = 0.5
"""Factor of scaling beyond which it saves too little to be worth its errors."""
STARTS = 2.0
"""Factor by which what inertia is seen to do in the probe, from rest, may grow along the run."""
MOSTLY = 0.9
"""Part of a run that is scaled and judged from which the verdict is that on the run."""


class Measuring:
    """Measures the options of a case, in turn.

    Parameters
    ----------
    subject
        The case.
    scales
        Its time scales.
    ahead
        What is known of its way.
    probe
        Length of the probe [time].
    tolerance
        Error that is allowed.
    seconds
        Wall time for all of them [s].
    """

    def __init__(
        self, subject: Subject, scales: CaseTimeScales, ahead: Ahead, probe: float, tolerance: float, seconds: float
    ) -> None:
        self.subject, self.scales, self.ahead, self.probe = subject, scales, ahead, probe
        self.tolerance, self.seconds = tolerance, seconds
        self.bounds = Bounds.of_tolerance(tolerance)
        self.truth: Trial | None = None
        """The finest unscaled run from the beginning."""
        self.truth_by = ""
        """The rule that it was made by."""
        self.base: Way | None = None
        """The unscaled way with everything active that joints which lock are measured beside, and its step."""
        self.base_step: float | None = None
        self.particles: tuple[float, float] | None = None
        """1/ω [time] and the mean of ω² [1/time²] of particles that collide, once they are known."""
        self.costs = Costs(subject, scales, self.bounds, seconds)
        """What measures costs."""

    @property
    def starts(self) -> list[Model]:
        """Models that begin where steps are tried."""
        return [self.subject.model, *([] if self.ahead.later is None else [self.ahead.later])]

    @property
    def thermal(self) -> bool:
        """Whether motion is thermal, so that paths part whatever the step and only their beginnings can be compared."""
        return self.subject.case.thermostat is not None or self.subject.case.run.speeds == "thermal"

    @property
    def _until(self) -> float:
        """Time up to which a whole run can be tried; 0 where something stops it and nobody knows when [time]."""
        if self.subject.case.run.stop is None:
            return self.scales.duration
        return BEFORE * self.scales.end if math.isfinite(self.scales.end) else 0.0

    def _deadline(self, way: Way) -> float:
        """When a search ends that begins once the kernels are loaded, by ``time.perf_counter``."""
        assert way.case is not None
        with suppress(ArticulonError):  # what cannot be run is told when it is tried
            prepare(way.case, model=self.subject.model)
        return time.perf_counter() + SEARCH * self.seconds

    def told(self, time_: float) -> str:
        """A time with its unit."""
        return suited(self.subject.case.units, "time", time_).text(time_, 3).replace("\u00a0", " ")

    def explicit(self) -> Option:
        """Unscaled, by an explicit rule."""
        way = explicit(self.subject, self.scales)
        if way.case is None:
            return way.refused
        if self.subject.touches and way.equal_steps:
            limit = self.scales.contact
            if math.isfinite(limit):
                words = "what a twentieth of a collision leaves out, below a thousandth of what it lasts"
                return self.costs.of(way, limit, "a twentieth of a collision", Trust("trusted", 1e-3, words))
        if self.subject.particles and way.equal_steps:
            return self._verlet(way)
        if way.equal_steps:
            return self._halved(way, ANGLE * self.scales.vibration, f"{ANGLE:g}/ω of the fastest vibration")
        return self._controlled(way)

    def friction_implicit(self) -> Option:
        """Unscaled, with the friction taken implicitly."""
        way = friction_implicit(self.subject)
        if way.case is None:
            return way.refused
        if self.subject.particles:
            why = "no drag acts on free particles, and without it its steps are those of velocity Verlet"
            return Option(way.name, False, why, way.rule, changes=way.changes)
        bound, words = STABLE * self.scales.vibration, f"{STABLE:g}/ω of the fastest vibration"
        turn = min(TURN, math.sqrt(self.tolerance / TURN_ERROR)) * self.scales.turning
        if turn < bound:
            bound, words = turn, "the angle by which thermal motion turns the lightest body"
        return self._halved(way, bound, words)

    def _verlet(self, way: Way) -> Option:
        """Steps of many particles, whose paths part whatever the step is: by their fastest vibration."""
        vibration, square = self._stiffness()
        if not math.isfinite(vibration):
            return Option(way.name, False, "no force acts between the particles, so that any step will do", way.rule)
        step, bound = COLLIDING * vibration, f"{COLLIDING:g}/ω of the fastest vibration"
        if step**2 * square / 12.0 > HEAT * self.tolerance:
            step, bound = math.sqrt(12.0 * HEAT * self.tolerance / square), "the heat that steps add to the positions"
        words = (
            "h²⟨∇²Φ/m⟩/12, by which steps heat the positions over the speeds, or what steps lost of energy in the "
            "probe; paths part whatever the step"
        )
        error = step**2 * square / 12.0
        return self.costs.of(way, step, bound, Trust(self.bounds.verdict(error), error, words))

    def _stiffness(self) -> tuple[float, float]:
        """1/ω of particles that collide, and the mean of ω²; see :func:`stiffness_of_particles`."""
        if self.particles is None:
            deadline = time.perf_counter() + SEARCH * self.seconds
            self.particles = stiffness_of_particles(self.subject, self.scales.vibration, deadline)
        return self.particles

    def _halved(self, way: Way, bound: float, words: str) -> Option:
        """In the longest equal steps that halving does not change."""
        interval = float(self.subject.case.run.interval)
        own: Any = self.subject.case.integrator
        same = self.thermal and str(own.rule) == way.rule
        if same and float(own.step) < bound:
            bound = float(own.step)
            words = "the case's own step: in a probe nobody sees what longer ones do to averages over long times"
        probe, deadline = 0.0 if self.thermal else self.probe, self._deadline(way)
        found = longest_step(
            self.subject,
            way.with_step,
            bound,
            interval,
            probe,
            self.tolerance,
            self.starts,
            deadline,
            0.0 if self.thermal or self.subject.noisy else self._until,
        )
        self._keep(way, found)
        if found.step is None:
            return self._unsettled(way, found)
        if found.step < 0.49 * min(bound, interval):
            words = f"what halving changes, first of {found.what}" if found.what else "what halving changes"
        if same and 0.49 * bound < found.step < bound == float(own.step):
            # Of order 2: the step that was tried is a power of two of parts of the time between frames.
            found = found._replace(step=bound, error=float(found.error or 0.0) * (bound / found.step) ** 2)
            self.base_step = bound if self.base is way else self.base_step
        return self.costs.of(way, found.step, words, self._of_steps(found))

    def _of_steps(self, found: Settled) -> Trust:
        """How far a step that was found by halving can be trusted."""
        error = float(found.error or 0.0)
        what = f", most of {found.what}" if found.what else ""
        if self.subject.noisy:
            turn = 0.0 if found.step is None else found.step / self.scales.turning
            error = TURN_ERROR * turn**2
            words = (
                f"thermal means, by the angle of {turn:.2g} rad that the lightest body turns in a step; single paths "
                f"on the same noise are off by {_percent(found.error)}{what}"
            )
            return Trust(self.bounds.verdict(error), error, words)
        places = "from the beginning" if len(self.starts) == 1 else "from the beginning and near the end"
        words = f"what half the step changes in {self.told(found.window)} {places}{what}"
        return Trust(self.bounds.verdict(error), error, words)

    def _unsettled(self, way: Way, found: Settled) -> Option:
        why = found.why or "no step was found"
        return Option(way.name, False, why, way.rule, changes=way.changes)

    def _controlled(self, way: Way) -> Option:
        """In steps that the rule chooses by its error."""
        own = isinstance(self.subject.case.integrator, Controlled)
        deadline = self._deadline(way)
        held = 0.25 * self.scales.fastest_drag
        factor, found = settled_tolerances(
            self.subject, way.tighter, self.probe, self.tolerance, self.starts[:1], held, deadline, 1 if own else 4
        )
        self._keep(way, found)
        if found.why:
            return self._unsettled(way, found)
        changes = dict(way.changes)
        if factor != 1.0:
            integrator: Any = way.tighter(factor).integrator
            changes |= {"integrator.rtol": _rounded(integrator.rtol), "integrator.atol": _rounded(integrator.atol)}
        reached = self.probe if found.finest is None else float(found.finest.path.times[-1])
        if found.error is None or reached <= 0.0:
            trust = Trust("trusted", None, "the tolerances of its steps; the probe was too dear to make it twice")
        else:
            many = "30 times tighter tolerances change"
            what = f", most of {found.what}" if found.what else ""
            trust = Trust(self.bounds.verdict(found.error), found.error, f"what {many} in {self.told(reached)}{what}")
        return self.costs.of(Way(way.name, changes, way.tighter(factor)), None, "its tolerances", trust)

    def _keep(self, way: Way, found: Settled) -> None:
        """Keeps the finest unscaled run, for what is measured beside it."""
        rule = way.rule
        if (
            found.finest is not None
            and found.finest.path.times.size >= 3
            and (self.truth is None or rule != self.truth_by)
        ):
            longer = self.truth is None or found.finest.path.times[-1] > 1.5 * self.truth.path.times[-1]
            if longer:
                self.truth, self.truth_by = found.finest, rule
        if found.step is not None and self.base is None:
            self.base, self.base_step = way, found.step if way.equal_steps else None

    def overdamped(self) -> Option:
        """Without inertia."""
        way = overdamped(self.subject)
        if way.case is None:
            return way.refused
        if way.rule == OF_PARTICLES:
            return self._of_particles(way)
        scales, interval = self.scales, float(self.subject.case.run.interval)
        bound, words = interval, "the time between frames"
        if math.isfinite(scales.turning):
            turn = TURN**2 * scales.turning**2 / (2.0 * scales.fastest_drag)
            if turn < bound:
                bound, words = turn, "the angle by which the smallest body diffuses"
        deadline = self._deadline(way)
        found = longest_step(
            self.subject,
            way.with_step,
            bound,
            interval,
            self.probe,
            self.tolerance,
            self.starts[:1],
            deadline,
            0.0 if self.subject.noisy else self._until,
        )
        if found.step is None:
            return self._unsettled(way, found)
        if found.step < 0.49 * min(bound, interval):
            words = f"what halving changes, first of {found.what}" if found.what else "what halving changes"
        own = float(found.error or 0.0) if not self.subject.noisy else 0.0
        inertia, how = self._inertia(way)
        error = own + inertia
        return self.costs.of(way, found.step, words, Trust(self.bounds.verdict(error), error, how))

    def _of_particles(self, way: Way) -> Option:
        """Free particles without inertia: their noise depends on the step, so that halving compares nothing."""
        own: Any = self.subject.case.integrator
        words = "steps of weak order 1: hold averages of half the step beside those of the step that is chosen"
        trust = Trust("inconclusive", None, words)
        if own.rule != way.rule:
            why = "its step is to be chosen by trial: far below m γ/k of the stiffest force"
            return Option(way.name, False, why, way.rule, changes=way.changes)
        return self.costs.of(way, float(own.step), "the case's own step", trust)

    def _inertia(self, way: Way) -> tuple[float, str]:
        """What leaving inertia out makes wrong, as a part of the run, and how that is known."""
        ratio = self.scales.slowest_drag / self.scales.duration
        found, how = [ratio], [f"the ratio of the slowest relaxation time to the run, {_percent(ratio)}"]
        predicted = self.ahead.inertia
        if predicted is not None:
            found.append(predicted)
            how = [f"how late inertia makes the run, predicted along the way, {_percent(predicted)}"]
        truth = self.truth
        if truth is not None and truth.path.times.size > 2 and not self.subject.noisy:
            beside = self._beside(way, truth, self.scales.duration)
            if beside is not None and math.isfinite(beside.error):
                found.append(STARTS * beside.error)
                how.append(f"and seen in the probe, {_percent(beside.error)}, most of {beside.what or 'nothing'}")
        return max(found), " ".join(how)

    def _beside(self, way: Way, truth: Trial, duration: float) -> Apartness | None:
        """A way beside the true path of the probe; None where it does not run."""
        length, moments = float(truth.path.times[-1]), truth.path.times.size - 1
        longest = 0.25 * max(self.scales.slowest_drag, 4.0 * length / STEPS)
        parts = 2 ** max(0, math.ceil(math.log2(length / moments / longest)))
        window = Window(
            self.subject.model, length, max(parts, noise_parts(self.subject, length / moments, length)), moments
        )
        deadline = time.perf_counter() + SEARCH * self.seconds
        made = trial(self.subject, way.with_step(length / moments / parts), window, parts, deadline)
        if made.diverged or made.path.times.size < 3:
            return None
        return error_between(self.subject, made.path, truth.path, duration)

    def scaled(self) -> Option:
        """With all forces but inertia scaled by one factor."""
        found = self.ahead.factor(self.tolerance)
        a2, late = (0.1, None) if found is None else found
        way = scaled(self.subject, a2)
        if way.case is None:
            return way.refused
        if a2 > LARGEST:
            why = f"no factor below {a2:g} keeps the lag within the tolerance, and that saves too little"
            return Option("scaled", False, why, way.rule, changes=way.changes)
        made = self.costs.of(way, None, "its tolerances, times 1/a2", Trust("inconclusive", None, ""))
        if not made.feasible or made.seconds is None:
            return made
        verdict, judged, part, words = judged_probe(
            way.case, self.subject.model, a2, self.scales, self.tolerance, made.seconds, 2.0 * SEARCH * self.seconds
        )
        if late is None:
            said = "no net force moves a body that floats freely, or loops bind it: its lag cannot be predicted"
            error = judged
        else:
            said = f"the lag of a2 = {a2:g}, predicted along the way without inertia, {_percent(late)}"
            error = max(late, judged or 0.0)
        if part >= MOSTLY:
            return self.costs.trusting(made, Trust(verdict, error, f"{said}; {words}"))
        if (late is None or self.subject.noisy) and verdict != "trusted":
            # Noise is followed late too, which no prediction counts.
            return self.costs.trusting(made, Trust("inconclusive", error, f"{said}; {words}"))
        stands = self.bounds.verdict(0.999 * float(error or 0.0))
        return self.costs.trusting(made, Trust(stands, error, f"{said}; {words}"))


def _percent(part: float | None) -> str:
    return percent(part, 2).replace("\u00a0", " ").replace("\u202f", ",")


def _rounded(tolerance: Any) -> Any:
    return float(f"{tolerance:.2g}") if isinstance(tolerance, float) else tolerance.model_dump(exclude_none=True)
