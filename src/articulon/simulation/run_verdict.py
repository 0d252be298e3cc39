"""Collection of the data for the verdict on a scaled run."""

from typing import Any

from articulon.fidelity.premises import fidelity_of
from articulon.fidelity.record import Record, Settings
from articulon.fidelity.verdict import TOLERANCE
from articulon.model import State
from articulon.model.state import EVALUATIONS
from articulon.simulation.frames import Frames
from articulon.simulation.preparation import Prepared


def judged(
    prepared: Prepared, state: State, run: Frames, found: dict[str, Any] | None, wall_seconds: float, with_pairs: bool
) -> dict[str, Any]:
    """Compute the verdict on a scaled run of a case at a state; see :func:`articulon.fidelity.premises.fidelity_of`."""
    observer, settings = prepared.observer, prepared.case.fidelity
    asked = Settings(tolerance_of(settings.tolerance, prepared.policy), settings.error, float(settings.budget))
    return fidelity_of(
        record_of(prepared, state, run, asked),
        found,
        observer.relaxation,
        observer.residual.seconds,
        wall_seconds,
        with_pairs,
    )


def record_of(prepared: Prepared, state: State, run: Frames, settings: Settings) -> Record:
    """Collect the data for the verdict on a run."""
    case = prepared.case
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
        prepared.observer.stop,
        prepared.adaptive is not None,
        settings,
    )


def tolerance_of(given: float | None, policy: Any) -> float:
    """Return the accepted relative error: the given value if there is one, otherwise the tolerance of the policy,
    otherwise 2 %."""
    found = getattr(policy, "tolerance", None) if given is None else given
    return TOLERANCE if found is None else float(found)
