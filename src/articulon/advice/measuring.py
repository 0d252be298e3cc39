"""Measures each option on a case: its step, its cost, and how wrong it is beside the unscaled motion."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.advice.advised_options import Option, Trust
from articulon.advice.case_time_scales import CaseTimeScales
from articulon.advice.looking_ahead import Ahead
from articulon.advice.measured_pace import Pace, pace_of
from articulon.advice.probe_trials import MOMENTS, Trial, Window, error_between, noise_parts, trial
from articulon.advice.scaled_probe import judged_probe
from articulon.advice.step_search_by_halving import STEPS, Settled, longest_step, settled_tolerances
from articulon.advice.subject import Subject
from articulon.advice.ways_to_run import (
    Way,
    adaptive,
    explicit,
    friction_implicit,
    overdamped,
    quiet_joints,
    scaled,
    unscaled,
)
from articulon.analysis.scales import FINE, fastest_frequency
from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.fidelity.paths import ranges
from articulon.fidelity.verdict import Bounds
from articulon.forces.evaluation import Evaluator, configurational_laplacian
from articulon.integrate.integrators import Canonical, Controlled
from articulon.integrate.refusals import ADAPTIVE_CONTACTS
from articulon.model import Model
from articulon.model.joints import BY_KIND, UNBOUND
from articulon.report.readable_numbers import percent, suited
from articulon.simulation.preparation import prepare
from articulon.time_scales.noise_windows import fitting_step

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
SEARCH, PACE = 0.12, 0.04
"""Parts of the wall time for the search of a step and for the first measurement of a cost."""
LONGER = 3.0
"""How many times longer a cost is measured that falls along the run, as joints lock."""
SHORTER = 6
"""How often a step is halved that does not stay finite when it is timed."""
BEFORE = 0.98
"""Part of the time after which a run is expected to stop that all of it is tried for: beyond it has no physics."""
SETTLING = 20.0
"""Vibrations 1/ω of particles after which their frequencies are looked at again: those that collide are stiffer."""
STARTS = 2.0
"""Factor by which what inertia is seen to do in the probe, from rest, may grow along the run."""
DECISIONS = 16.0
"""Decisions on joints that lock, in a probe, where the case has none."""


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
        self.timed: dict[str, tuple[Way, Case]] = {}
        """What has been timed, by the name of the option."""

    @property
    def starts(self) -> list[Any]:
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
        try:
            prepare(way.case, model=self.subject.model)
        except ArticulonError:
            pass  # what cannot be run is told when it is tried
        return time.perf_counter() + SEARCH * self.seconds

    def told(self, time_: float) -> str:
        """A time with its unit."""
        return suited(self.subject.case.units, "time", time_).text(time_, 3).replace("\u00a0", " ")

    def explicit(self) -> Option:
        """Unscaled, by an explicit rule."""
        way = explicit(self.subject, self.scales)
        if way.case is None:
            return _refused(way)
        if self.subject.touches and way.equal_steps:
            limit = self.scales.contact
            if math.isfinite(limit):
                words = "what a twentieth of a collision leaves out, below a thousandth of what it lasts"
                return self._timed(way, limit, "a twentieth of a collision", Trust("trusted", 1e-3, words))
        if self.subject.particles and way.equal_steps:
            return self._verlet(way)
        if way.equal_steps:
            return self._halved(way, ANGLE * self.scales.vibration, f"{ANGLE:g}/ω of the fastest vibration")
        return self._controlled(way)

    def friction_implicit(self) -> Option:
        """Unscaled, with the friction taken implicitly."""
        way = friction_implicit(self.subject)
        if way.case is None:
            return _refused(way)
        if self.subject.particles:
            return self._verlet(way)
        bound, words = STABLE * self.scales.vibration, f"{STABLE:g}/ω of the fastest vibration"
        turn = min(TURN, math.sqrt(self.tolerance / TURN_ERROR)) * self.scales.turning
        if turn < bound:
            bound, words = turn, "the angle by which thermal motion turns the lightest body"
        return self._halved(way, bound, words)

    def _verlet(self, way: Way) -> Option:
        """Steps of many particles, whose paths part whatever the step is: by their fastest vibration."""
        vibration, square = self._colliding()
        if not math.isfinite(vibration):
            return Option(way.name, False, "no force acts between the particles, so that any step will do", way_rule(way))
        step, bound = COLLIDING * vibration, f"{COLLIDING:g}/ω of the fastest vibration"
        if step**2 * square / 12.0 > HEAT * self.tolerance:
            step, bound = math.sqrt(12.0 * HEAT * self.tolerance / square), "the heat that steps add to the positions"
        words = (
            "h²⟨∇²Φ/m⟩/12, by which steps heat the positions over the speeds, or what steps lost of energy in the probe; "
            "paths part whatever the step"
        )
        error = step**2 * square / 12.0
        return self._timed(way, step, bound, Trust(self.bounds.verdict(error), error, words))

    def _colliding(self) -> tuple[float, float]:
        """1/ω of the fastest vibration of particles [time], and the mean of ω² over all directions [1/time²]: the larger
        of those at the beginning and once they have begun to collide."""
        vibration, model = self.scales.vibration, self.subject.model
        if self.particles is None:
            self.particles = vibration, _mean_square(model, model.q0)
            if math.isfinite(vibration):
                case = self.subject.changed(unscaled(self.subject.case))
                step = fitting_step(SETTLING * vibration / MOMENTS, FINE * vibration)
                case = replace(case, integrator=Canonical(rule="velocity-verlet", step=step))
                parts = round(SETTLING * vibration / MOMENTS / step)
                window = Window(model, SETTLING * vibration, parts)
                made = trial(self.subject, case, window, parts, time.perf_counter() + SEARCH * self.seconds)
                if not made.diverged:
                    q = made.path.q[-1]
                    omega = fastest_frequency(Evaluator(model), q)
                    later = 1.0 / omega if omega > 0.0 else math.inf
                    self.particles = min(vibration, later), max(self.particles[1], _mean_square(model, q))
        return self.particles

    def _halved(self, way: Way, bound: float, words: str) -> Option:
        """In the longest equal steps that halving does not change."""
        interval = float(self.subject.case.run.interval)
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
        own = self.subject.case.integrator
        if self.thermal and str(own.rule) == way_rule(way) and found.step > float(own.step):
            words = f"the case's own step: up to {self.told(found.step)} halving changes too little to be seen in a probe"
            found = found._replace(step=float(own.step))
            self.base_step = float(own.step) if self.base is way else self.base_step
        return self._timed(way, found.step, words, self._of_steps(found))

    def _of_steps(self, found: Settled) -> Trust:
        """How far a step that was found by halving can be trusted."""
        error = float(found.error or 0.0)
        what = f", most of {found.what}" if found.what else ""
        if self.subject.noisy:
            turn = 0.0 if found.step is None else found.step / self.scales.turning
            error = TURN_ERROR * turn**2
            words = (
                f"thermal means, by the angle of {turn:.2g} rad that the lightest body turns in a step; single paths on the "
                f"same noise are off by {_percent(found.error)}{what}"
            )
            return Trust(self.bounds.verdict(error), error, words)
        places = "from the beginning" if len(self.starts) == 1 else "from the beginning and near the end"
        words = f"what half the step changes in {self.told(found.window)} {places}{what}"
        return Trust(self.bounds.verdict(error), error, words)

    def _unsettled(self, way: Way, found: Settled) -> Option:
        why = found.why or "no step was found"
        return Option(way.name, False, why, way_rule(way), changes=way.changes)

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
        return self._timed(Way(way.name, changes, way.tighter(factor)), None, "its tolerances", trust)

    def _keep(self, way: Way, found: Settled) -> None:
        """Keeps the finest unscaled run, for what is measured beside it."""
        rule = way_rule(way)
        if found.finest is not None and found.finest.path.times.size >= 3 and (self.truth is None or rule != self.truth_by):
            longer = self.truth is None or found.finest.path.times[-1] > 1.5 * self.truth.path.times[-1]
            if longer:
                self.truth, self.truth_by = found.finest, rule
        if found.step is not None and self.base is None:
            self.base, self.base_step = way, found.step if way.equal_steps else None

    def overdamped(self) -> Option:
        """Without inertia."""
        way = overdamped(self.subject)
        if way.case is None:
            return _refused(way)
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
        return self._timed(way, found.step, words, Trust(self.bounds.verdict(error), error, how))

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

    def _beside(self, way: Way, truth: Trial, duration: float) -> Any:
        """A way beside the true path of the probe; None where it does not run."""
        length, moments = float(truth.path.times[-1]), truth.path.times.size - 1
        longest = 0.25 * max(self.scales.slowest_drag, 4.0 * length / STEPS)
        parts = 2 ** max(0, math.ceil(math.log2(length / moments / longest)))
        window = Window(self.subject.model, length, max(parts, noise_parts(self.subject, length / moments, length)), moments)
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
            return _refused(way)
        if a2 >= 1.0:
            return Option("scaled", False, "no factor below 1 keeps the lag within the tolerance", way_rule(way))
        made = self._timed(way, None, "its tolerances, times 1/a2", Trust("inconclusive", None, ""))
        if not made.feasible or made.seconds is None:
            return made
        verdict, judged, words = judged_probe(
            way.case, self.subject.model, a2, self.scales, self.tolerance, made.seconds, 2.0 * SEARCH * self.seconds
        )
        if late is None:
            said = "no net force moves a body that floats freely, or loops bind it: its lag cannot be predicted"
            error = judged
        else:
            said = f"the lag of a2 = {a2:g}, predicted along the way without inertia, {_percent(late)}"
            error = max(late, judged or 0.0)
        if late is None and verdict != "trusted":
            return _with_trust(made, Trust("inconclusive", error, f"{said}; {words}"))
        stands = self.bounds.verdict(0.999 * float(error or 0.0))
        return _with_trust(made, Trust(stands, error, f"{said}; {words}"))

    def adaptive(self) -> Option:
        """With joints or modes that lock."""
        own = adaptive(self.subject)
        if own is None and self.subject.particles:
            return Option("adaptive", False, "free particles have no joints that could be locked")
        if own is None and self.subject.touches:
            return Option("adaptive", False, ADAPTIVE_CONTACTS.why)
        if own is None and (self.thermal or self.subject.noisy):
            why = "thermal motion turns every joint, and which of them may rest only conditions tell: give [adaptive]"
            return Option("adaptive", False, why)
        way = own if own is not None else self._quiet()
        if way.case is None:
            return _refused(way)
        step = self._adaptive_step(way)
        if step is None and way.equal_steps:
            return Option(way.name, False, "no step of the rule beside it was found", way_rule(way), changes=way.changes)
        trust = None if own is None else self._of_conditions(way.case)
        if trust is None or (trust.verdict == "inconclusive" and not (self.thermal or self.subject.noisy)):
            trust = self._of_locking(way, step) or trust or Trust("inconclusive", None, "no motion to hold it against")
        return self._timed(way, step, "the step with every joint free", trust, LONGER * PACE)

    def _of_locking(self, way: Way, step: float | None) -> Trust | None:
        """How far locking can be trusted, by the motion with all active; None where it cannot be held against that."""
        beside = None if self.truth is None else self._locked_beside(way, step)
        if beside is None or self.truth is None:
            return None
        length = self.told(float(self.truth.path.times[-1]))
        words = f"what locking changes in {length}, most of {beside.what or 'nothing'}"
        return Trust(self.bounds.verdict(beside.error), beside.error, words)

    def _of_conditions(self, case: Case) -> Trust:
        """How far the conditions of a case can be trusted: which are exact in an ensemble, docs/adaptive.md has."""
        assert case.adaptive is not None
        groups = case.adaptive.groups
        random = all(
            group.release is not None
            and group.release.chance is not None
            and group.choice == "canonical"
            and (group.lock is None or getattr(group.lock, "when", "") in ("energy", "random"))
            for group in groups
        )
        fixman = any(getattr(force, "of_determinant", False) for force in self.subject.model.forces)
        if random and fixman:
            return Trust(
                "trusted", 0.0, "averages are exact but for the step: its conditions say nothing of the coordinates"
            )
        if random:
            return Trust("suspect", None, "without Fixman's potential averages have a bias for every set of locked joints")
        return Trust(
            "inconclusive",
            None,
            "its conditions look at the motion, and how far that biases it a comparison tells: articulon compare",
        )

    def _adaptive_step(self, way: Way) -> float | None:
        """The longest step that fills the time between decisions and is no longer than with every joint free."""
        if not way.equal_steps:
            return None
        assert way.case is not None and way.case.adaptive is not None
        own = float(way.case.integrator.step)
        same = self.base is not None and way_rule(self.base) == way_rule(way)
        wanted = self.base_step if same and self.base_step is not None else own
        every = float(way.case.adaptive.every)
        return every / max(1, math.ceil(every / wanted * (1.0 - 1e-9)))

    def _quiet(self) -> Way:
        """Locks the joints that hardly turn."""
        truth = self.truth
        if truth is None or truth.path.times.size < 3:
            return Way("adaptive", {}, None, "no unscaled run was long enough to see which joints are quiet")
        model, reach = self.subject.model, ranges(self.subject.groups, truth.path.place)
        if model.loops.kind.size or model.drives:
            return Way("adaptive", {}, None, "loops or drives bind its joints, and none of those can be locked alone")
        turning: dict[str, float] = {}
        link_of = {int(model.forest.u_start[i]): i for i in range(model.forest.kind.size)}
        for group, angle in zip(self.subject.groups, reach.tolist(), strict=True):
            i = link_of.get(group.start)
            if i is None or not group.angular or int(model.forest.kind[i]) in UNBOUND:
                continue
            if BY_KIND[int(model.forest.kind[i])].nu and int(model.forest.parent[i]) >= 0:
                turning[model.names[int(model.head[i])]] = angle
        interval = float(self.subject.case.run.interval)
        return quiet_joints(self.subject, turning, self.tolerance, interval)

    def _locked_beside(self, way: Way, step: float | None) -> Any:
        assert self.truth is not None and way.case is not None
        truth = self.truth
        length = float(truth.path.times[-1])
        fixed, every = step is not None, float(way.case.adaptive.every)  # type: ignore[union-attr]
        moments = truth.path.times.size - 1
        parts = 1 if step is None else 2 ** max(0, math.ceil(math.log2(length / moments / step)))
        made = way.with_step(length / moments / parts) if fixed else way.case
        assert made is not None and made.adaptive is not None
        if fixed:  # decisions fall on ends of steps
            every = length / moments / parts * max(1, round(every / (length / moments / parts)))
        made = replace(made, adaptive=made.adaptive.model_copy(update={"every": every}))
        window = Window(self.subject.model, length, parts, moments)
        found = trial(self.subject, made, window, parts, time.perf_counter() + SEARCH * self.seconds)
        if found.diverged or found.path.times.size < 3:
            return None
        return error_between(self.subject, found.path, truth.path, length)

    def _timed(self, way: Way, step: float | None, bound: str, trust: Trust, part: float = PACE) -> Option:
        """The option with its cost."""
        changes, case = dict(way.changes), way.case
        assert case is not None
        if step is not None:
            changes["integrator.step"] = self._written(step, 9 if way.name == "adaptive" else 4)
            step = float(self.subject.case.units.value(changes["integrator.step"], "time", "integrator.step"))
            case = way.with_step(step)
        return self._paced(way, case, step, changes, bound, trust, part * self.seconds)

    def _paced(
        self,
        way: Way,
        case: Case,
        step: float | None,
        changes: Mapping[str, Any],
        bound: str,
        trust: Trust,
        seconds: float,
    ) -> Option:
        """The option with its cost; a step that does not stay finite is halved."""
        for _ in range(SHORTER if step is not None else 1):
            shown = self._differing(changes)
            try:
                pace = pace_of(case, self.subject.model, seconds, self.scales.horizon)
            except ArticulonError as error:
                why = str(error).splitlines()[0].removeprefix(f"{self.subject.case.source}: ")
                return Option(way.name, False, why, way_rule(way), changes=shown)
            if not pace.failure:
                self.timed[way.name] = (way, case)
                return _made(way, shown, pace, bound, self._with_balance(trust, pace))
            if step is None or self.subject.touches:
                break
            step = 0.5 * step
            case, bound = way.with_step(step), "what stays finite later in the run"
            changes = {**changes, "integrator.step": self._written(step)}
        return Option(way.name, False, pace.failure, way_rule(way), changes=self._differing(changes))

    def again(self, option: Option, seconds: float) -> Option:
        """An option with its cost measured for longer."""
        way, case = self.timed[option.name]
        try:
            pace = pace_of(case, self.subject.model, seconds, self.scales.horizon)
        except ArticulonError as error:
            pace = None
            why = str(error).splitlines()[0]
        if pace is None or pace.failure:
            why = why if pace is None else pace.failure
            return Option(option.name, False, why, option.rule, changes=option.changes)
        return _made(way, option.changes, pace, option.bound, self._with_balance(option.trust, pace))

    def _with_balance(self, trust: Trust, pace: Pace) -> Trust:
        """The trust, with what steps lost of energy where nothing else tells."""
        if not (self.subject.particles or self.subject.touches) or self.subject.random_bath or trust.error is None:
            return trust
        error = max(trust.error, pace.balance)
        return Trust(self.bounds.verdict(error), error, trust.words)

    def _written(self, step: float, digits: int = 4) -> Any:
        """A step as a user writes it, with its unit."""
        units = self.subject.case.units
        if units.time is None:
            return float(f"{step:.{digits}g}")
        unit = suited(units, "time", step)
        return f"{unit.factor * step:.{digits}g} {unit.symbol.replace('µ', 'u')}"

    def _differing(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The changes but for what the case has already."""
        case = self.subject.case
        found = dict(changes)
        own = getattr(case.integrator, "step", None)
        step = found.get("integrator.step")
        if own is not None and step is not None and "integrator.rule" not in found:
            value = float(case.units.value(step, "time", "integrator.step"))
            if math.isclose(value, float(own), rel_tol=1e-6):
                found.pop("integrator.step")
        return found


def _mean_square(model: Model, q: np.ndarray) -> float:
    """Mean of ω² over all directions of free particles, ⟨∇²Φ/m⟩/3 [1/time²]; masses are taken as their mean."""
    return max(0.0, configurational_laplacian(model, q)) / (3.0 * float(model.masses.sum()))


def way_rule(way: Way) -> str:
    """Name of the rule of a way; empty where it is not known."""
    return "" if way.case is None else str(way.case.integrator.rule)


def _refused(way: Way) -> Option:
    return Option(way.name, False, way.why_not, str(way.changes.get("integrator.rule", "")), changes=way.changes)


def _made(way: Way, changes: Mapping[str, Any], pace: Pace, bound: str, trust: Trust) -> Option:
    return Option(
        way.name,
        True,
        "",
        way_rule(way),
        changes,
        pace.step,
        way.equal_steps,
        pace.steps,
        pace.seconds,
        pace.per_step,
        pace.until,
        bound,
        trust,
    )


def _with_trust(option: Option, trust: Trust) -> Option:
    return replace(option, trust=trust)


def _percent(part: float | None) -> str:
    return percent(part, 2).replace("\u00a0", " ").replace("\u202f", ",")


def _rounded(tolerance: Any) -> Any:
    return float(f"{tolerance:.2g}") if isinstance(tolerance, float) else tolerance.model_dump(exclude_none=True)
