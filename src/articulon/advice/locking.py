"""Measurement of the option in which joints or modes lock."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from articulon.advice.advised_options import Option, Trust
from articulon.advice.candidate_options import Candidate, adaptive, quiet_joints
from articulon.advice.option_costs import PACE
from articulon.advice.probe_trials import SEARCH, PathError, Window, path_error, trial
from articulon.cases.case import Case
from articulon.fidelity.paths import ranges
from articulon.integrate.refusals import ADAPTIVE_CONTACTS
from articulon.model.joints import BY_KIND, UNBOUND

if TYPE_CHECKING:
    from articulon.advice.measuring import Measuring

LONGER = 3.0
"""Factor by which the time to measure a cost is longer if joints lock, because the cost decreases along the run."""


def locking_option(m: Measuring) -> Option:
    """Option with joints or modes that lock."""
    own = adaptive(m.subject)
    if own is None and m.subject.particles:
        return Option("adaptive", False, "free particles have no joints that could be locked")
    if own is None and m.subject.touches:
        return Option("adaptive", False, ADAPTIVE_CONTACTS.why)
    if own is None and (m.thermal or m.subject.noisy):
        why = "thermal motion rotates every joint, so none can be chosen here: say in [adaptive] when joints lock"
        return Option("adaptive", False, why)
    candidate = own if own is not None else _quiet(m)
    if candidate.case is None:
        return candidate.refused
    step = _step(m, candidate)
    if step is None and candidate.equal_steps:
        return Option(
            candidate.name, False, "no step was found for its rule", candidate.rule, changes=candidate.changes
        )
    trust = None if own is None else _of_conditions(m, candidate.case)
    if trust is None or (trust.verdict == "inconclusive" and not (m.thermal or m.subject.noisy)):
        trust = _of_locking(m, candidate, step) or trust or Trust("inconclusive", None, "no motion to compare it with")
    return m.costs.of(candidate, step, "the step with every joint free", trust, LONGER * PACE)


def _of_locking(m: Measuring, candidate: Candidate, step: float | None) -> Trust | None:
    """Return how far locking can be trusted, by comparison with the motion of all joints and modes; None if the
    comparison is impossible."""
    error = None if m.truth is None else _locking_error(m, candidate, step)
    if error is None or m.truth is None:
        return None
    length = m.time_text(float(m.truth.path.times[-1]))
    words = f"change of the motion by locking over {length}" + (f", largest in {error.what}" if error.what else "")
    return Trust(m.bounds.verdict(error.error), error.error, words)


def _of_conditions(m: Measuring, case: Case) -> Trust:
    """Return how far the locking conditions of a case can be trusted. docs/adaptive.md lists which conditions preserve
    the ensemble exactly."""
    assert case.adaptive is not None
    groups = case.adaptive.groups
    random = all(
        group.release is not None
        and group.release.chance is not None
        and group.choice == "canonical"
        and (group.lock is None or getattr(group.lock, "when", "") in ("energy", "random"))
        for group in groups
    )
    fixman = any(getattr(force, "of_determinant", False) for force in m.subject.model.forces)
    if random and fixman:
        return Trust(
            "trusted", None, "averages are exact apart from the step, as locking does not depend on the coordinates"
        )
    if random:
        return Trust(
            "suspect",
            None,
            "averages are biased, whichever joints lock, because the forces do not include Fixman's potential",
        )
    return Trust(
        "inconclusive",
        None,
        "its conditions depend on the motion; only a comparison with all joints free shows the bias",
    )


def _step(m: Measuring, candidate: Candidate) -> float | None:
    """Return the longest step that divides the time between decisions and is not longer than the step without
    locking."""
    if not candidate.equal_steps:
        return None
    assert candidate.case is not None and candidate.case.adaptive is not None
    integrator: Any = candidate.case.integrator
    own = float(integrator.step)
    same = m.base is not None and m.base.rule == candidate.rule
    wanted = m.base_step if same and m.base_step is not None else own
    every = float(candidate.case.adaptive.every)
    return every / max(1, math.ceil(every / wanted * (1.0 - 1e-9)))


def _quiet(m: Measuring) -> Candidate:
    """Return the option in which the joints that hardly rotate are locked."""
    truth = m.truth
    if truth is None or truth.path.times.size < 3:
        return Candidate("adaptive", {}, None, "no unscaled run was long enough to see which joints are quiet")
    model, reach = m.subject.model, ranges(m.subject.groups, truth.path.place)
    if model.loops.kind.size or model.drives:
        return Candidate(
            "adaptive", {}, None, "loops or drives couple its joints, and none of them can be locked alone"
        )
    rotation_of: dict[str, float] = {}
    link_of = {int(model.forest.u_start[i]): i for i in range(model.forest.kind.size)}
    for group, angle in zip(m.subject.groups, reach.tolist(), strict=True):
        i = link_of.get(group.start)
        if i is None or not group.angular or int(model.forest.kind[i]) in UNBOUND:
            continue
        if BY_KIND[int(model.forest.kind[i])].nu and int(model.forest.parent[i]) >= 0:
            rotation_of[model.names[int(model.head[i])]] = angle
    interval = float(m.subject.case.run.interval)
    return quiet_joints(m.subject, rotation_of, m.tolerance, interval)


def _locking_error(m: Measuring, candidate: Candidate, step: float | None) -> PathError | None:
    assert m.truth is not None and candidate.case is not None
    truth = m.truth
    length = float(truth.path.times[-1])
    fixed, every = step is not None, float(candidate.case.adaptive.every)  # type: ignore[union-attr]
    moments = truth.path.times.size - 1
    parts = 1 if step is None else 2 ** max(0, math.ceil(math.log2(length / moments / step)))
    made = candidate.with_step(length / moments / parts) if fixed else candidate.case
    assert made is not None and made.adaptive is not None
    if fixed:  # decisions are made at the ends of steps
        every = length / moments / parts * max(1, round(every / (length / moments / parts)))
    made = replace(made, adaptive=made.adaptive.model_copy(update={"every": every}))
    window = Window(m.subject.model, length, parts, moments)
    found = trial(m.subject, made, window, parts, time.perf_counter() + SEARCH * m.seconds)
    if found.diverged or found.path.times.size < 3:
        return None
    return path_error(m.subject, found.path, truth.path, length)
