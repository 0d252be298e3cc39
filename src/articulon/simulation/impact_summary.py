"""Observables of impacts in every frame, and the entries on impacts in ``summary.json``."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.forces.impacts.impact_memory import MEMORY, resting
from articulon.forces.impacts.impacts import impacts_of
from articulon.forces.impacts.joint_limits import has_impacts
from articulon.model import Model, State

DIMENSIONS = {"impacts": "dimensionless", "resting_contacts": "dimensionless"}
"""Dimensions of the two observables: number of impacts since the start, and number of resting contacts."""


def impact_observables(state: State) -> dict[str, float]:
    """Return the impact observables of a frame."""
    memory = state.rule.history
    if memory.size < MEMORY.contacts:  # no stepper has allocated the impact memory of this state yet
        return dict.fromkeys(DIMENSIONS, 0.0)
    return {"impacts": float(memory[MEMORY.impacts]), "resting_contacts": float(memory[MEMORY.resting])}


def largest_impulse(impulse: float, time: float, between: str, dimension: str = "momentum") -> dict[str, Any]:
    """Describe the largest impulse of a run: its size, its time and the two bodies; ``dimension`` is ``"momentum"`` or
    ``"angular_momentum"``."""
    return {
        "largest_impulse": impulse,
        "largest_impulse_dimension": dimension,
        "largest_impulse_time": time,
        "largest_impulse_between": between,
    }


NO_IMPULSE: dict[str, Any] = dict.fromkeys(largest_impulse(0.0, 0.0, ""))
"""Entries of :func:`largest_impulse` for a run without impacts."""


def _largest(engine: Any, memory: np.ndarray, count: int) -> dict[str, Any]:
    if not count:
        return NO_IMPULSE
    contact = memory[MEMORY.largest_of : MEMORY.largest_of + 2]
    dimension = "angular_momentum" if engine.is_hinge(contact) else "momentum"
    impulse, time = float(memory[MEMORY.largest]), float(memory[MEMORY.largest_at])
    return largest_impulse(impulse, time, engine.name(contact), dimension)


def restitution_reduced(model: Model, state: State) -> int:
    """Return the number of contacts in simultaneous impacts that got less than their coefficient of restitution."""
    law, memory = impacts_of(model), state.rule.history
    if law is None or law.simultaneous == "sequential" or memory.size < MEMORY.contacts:
        return 0
    return int(memory[MEMORY.reduced])


def impact_notes(evaluator: Evaluator, state: State) -> list[str]:
    """Describe simultaneous impacts whose contacts got less than their coefficient of restitution; name the latest two
    bodies."""
    count = restitution_reduced(evaluator.model, state)
    if not count:
        return []
    latest = state.rule.history[MEMORY.reduced_of : MEMORY.reduced_of + 2]
    return [
        f"in simultaneous impacts {count} contacts got less than their coefficient of restitution, the latest between "
        f"{evaluator.impacts.name(latest)}: no impulse gives it to all of them without adding energy"
    ]


def impact_figures(evaluator: Evaluator, state: State) -> dict[str, Any] | None:
    """Compute the entries of the summary on impacts; None for a model without impacts.

    Impulses are along the normal [mass velocity]. Impulses at the stop of a hinge are angular impulses [inertia angular
    velocity].
    """
    memory = state.rule.history
    if not has_impacts(evaluator.model) or memory.size < MEMORY.contacts:
        return None
    count, engine = int(memory[MEMORY.impacts]), evaluator.impacts
    rests = resting(memory)
    return {
        "impacts": count,
        "energy_lost": -float(memory[MEMORY.energy]),
        **_largest(engine, memory, count),
        "restitution_reduced": restitution_reduced(evaluator.model, state),
        "rests_begun": int(memory[MEMORY.rests]),
        "rests_ended": int(memory[MEMORY.lifted]),
        "resting": [engine.name(contact) for contact in rests.contact],
    }
