"""The verdict on a run of a case: what it is made from."""

from typing import Any

from articulon.adaptive import AdaptiveDriver
from articulon.fidelity.judge import fidelity_of
from articulon.fidelity.record import Record, Settings
from articulon.fidelity.verdict import TOLERANCE
from articulon.model import State
from articulon.model.state import EVALUATIONS
from articulon.simulate.preparation import Prepared
from articulon.simulate.results import Run


def judged(
    prepared: Prepared, state: State, run: Run, found: dict[str, Any] | None, wall_seconds: float, with_pairs: bool
) -> dict[str, Any]:
    """The :func:`articulon.fidelity.judge.fidelity_of` a scaled run of a case that has come to a state."""
    observer = prepared.observer
    return fidelity_of(
        record_of(prepared, state, run),
        found,
        observer.relaxation,
        observer.residual.seconds,
        wall_seconds,
        with_pairs,
    )


def record_of(prepared: Prepared, state: State, run: Run) -> Record:
    """What a verdict on a run is made from."""
    case, settings = prepared.case, prepared.case.fidelity
    stop = None
    if prepared.observer.stop is not None:
        stop = (*prepared.observer.stop, float(case.run.stop.advance))
    return Record(
        prepared.model,
        prepared.evaluator,
        case.integrator,
        prepared.policy,
        run.coordinates,
        run.speeds,
        run.observables,
        int(state.counters[EVALUATIONS]),
        int(case.run.seed),
        prepared.windows.window,
        stop,
        isinstance(prepared.driver, AdaptiveDriver),
        Settings(tolerance_of(settings, prepared.policy), settings.error, float(settings.budget)),
    )


def tolerance_of(settings: Any, policy: Any) -> float:
    """The relative error that is trusted: the case's, or the tolerance that its policy was given, or 2 %."""
    given = settings.tolerance
    if given is None:
        given = getattr(policy, "tolerance", None)
    return TOLERANCE if given is None else float(given)
