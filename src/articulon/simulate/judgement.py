"""The verdict on a run, of a case or in memory: what it is made from."""

from typing import Any

from articulon.adaptive import AdaptiveDriver
from articulon.errors import CaseError
from articulon.fidelity.judge import fidelity_of
from articulon.fidelity.record import Record, Settings
from articulon.fidelity.verdict import TOLERANCE
from articulon.inputs import number, shown
from articulon.model import State
from articulon.model.state import EVALUATIONS
from articulon.scaling import NoScaling
from articulon.simulate.memory import Memory
from articulon.simulate.preparation import Prepared
from articulon.simulate.results import Run


def judged(
    prepared: Prepared, state: State, run: Run, found: dict[str, Any] | None, wall_seconds: float, with_pairs: bool
) -> dict[str, Any]:
    """The :func:`articulon.fidelity.judge.fidelity_of` a scaled run of a case that has come to a state."""
    observer, settings = prepared.observer, prepared.case.fidelity
    asked = Settings(_tolerance(settings.tolerance, prepared.policy), settings.error, float(settings.budget))
    return fidelity_of(
        record_of(prepared, state, run, asked),
        found,
        observer.relaxation,
        observer.residual.seconds,
        wall_seconds,
        with_pairs,
    )


def record_of(prepared: Prepared, state: State, run: Run, settings: Settings) -> Record:
    """What a verdict on a run is made from."""
    case = prepared.case
    stop = None
    if prepared.observer.stop is not None:
        stop = (*prepared.observer.stop, float(case.run.stop.advance))
    return Record(
        prepared.model,
        prepared.evaluator,
        case.integrator,
        prepared.policy,
        run.q,
        run.u,
        run.observables,
        int(state.counters[EVALUATIONS]),
        int(case.run.seed),
        prepared.windows.window,
        stop,
        isinstance(prepared.driver, AdaptiveDriver),
        settings,
    )


def judged_in_memory(
    run: Run, memory: Memory, tolerance: float | str | None, error: str, budget: float
) -> dict[str, Any] | None:
    """The verdict on a run in memory; None where nothing was scaled.

    Raises
    ------
    CaseError
        For a tolerance, a budget or a kind of error that cannot be.
    """
    policy = memory.setup.scaling.policy
    if isinstance(policy, NoScaling):
        return None
    if error not in ("time", "position"):
        raise CaseError(f"fidelity: error must be 'time' or 'position', got {shown(error)}")
    if tolerance is not None:
        given = memory.model.units.value(tolerance, "dimensionless", "fidelity: tolerance")
        if not given > 0.0:
            raise CaseError(f"fidelity: tolerance must be positive, got {shown(tolerance)}")
        tolerance = given
    budget = number(budget, "fidelity: budget", CaseError)
    if budget < 0.0:
        raise CaseError(f"fidelity: budget must be at least 0, got {budget:g}")
    record = record_in_memory(run, Settings(_tolerance(tolerance, policy), error, budget))
    return fidelity_of(record, None, memory.prepared.observer.relaxation, 0.0, 0.0, True)


def record_in_memory(run: Run, settings: Settings) -> Record:
    """What a verdict on a run in memory is made from."""
    assert run.memory is not None
    return record_of(run.memory.prepared, run.memory.state, run, settings)


def _tolerance(given: float | None, policy: Any) -> float:
    """The relative error that is trusted: the one that is given, or that of the policy, or 2 %."""
    found = getattr(policy, "tolerance", None) if given is None else given
    return TOLERANCE if found is None else float(found)
