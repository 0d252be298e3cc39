"""The verdict on a run in memory."""

from typing import Any

from articulon.errors import CaseError
from articulon.fidelity.premises import fidelity_of
from articulon.fidelity.record import Record, Settings
from articulon.inputs import number, shown
from articulon.simulation.frames import Frames
from articulon.simulation.memory_run import Memory
from articulon.simulation.run_verdict import record_of, tolerance_of


def judged_in_memory(
    run: Frames, memory: Memory, tolerance: float | str | None, error: str, budget: float
) -> dict[str, Any] | None:
    """Compute the verdict on a run in memory; None if no force was scaled.

    Raises
    ------
    CaseError
        For an invalid tolerance, budget or kind of error.
    """
    policy = memory.setup.scaling.policy
    if not policy.scales:
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
    record = record_in_memory(run, memory, Settings(tolerance_of(tolerance, policy), error, budget))
    return fidelity_of(record, None, memory.prepared.observer.relaxation, 0.0, 0.0, True)


def record_in_memory(run: Frames, memory: Memory, settings: Settings) -> Record:
    """Collect the data for the verdict on a run in memory."""
    return record_of(memory.prepared, memory.state, run, settings)
