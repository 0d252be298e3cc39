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
    """The verdict on a run in memory; None where nothing was scaled.

    Raises
    ------
    CaseError
        For a tolerance, a budget or a kind of error that cannot be.
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
    """What a verdict on a run in memory is made from."""
    return record_of(memory.prepared, memory.state, run, settings)
