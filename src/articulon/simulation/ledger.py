"""Whether the books of a run balance, from its observables.

T − T₀ = ΣW (Guy 2018, 5.18) closes for any force, right or wrong. So the work of each conservative channel is also held
against its energy function: W = −(sΦ − s₀Φ₀) + J, where J is the energy that changes of its factor s have brought in
with the speeds kept, the sum of Φ Δs over them. It follows from the work w of the channel without its factors: between
two changes ΔW = s Δw, and Φ = Φ₀ − w at each, so that J = W − s w + (s − s₀) Φ₀.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.forces.base import Force
from articulon.forces.contact.contact_engine import contact_of
from articulon.model import CHANNELS, Model

CONSERVATIVE = ("potential", "conformational", "external")
"""Channels whose forces can have an energy function."""


def largest_work(observables: Mapping[str, np.ndarray]) -> float:
    """The largest |W| of any channel at any frame [energy]."""
    works = [np.abs(values).max() for name, values in observables.items() if name.startswith("work_")]
    return float(max(works, default=0.0))


def balance(observables: Mapping[str, np.ndarray]) -> dict[str, float | None]:
    """The largest |T − T₀ − ΣW| of all frames [energy], and relative to the largest work."""
    error, scale = float(np.abs(observables["energy_balance"]).max()), largest_work(observables)
    return {
        "energy_balance_error": error,
        "energy_balance_error_relative": error / scale if scale > 0.0 else None,
        "largest_work": scale,
    }


def without_energy(model: Model) -> set[str]:
    """Conservative channels in which something acts that has no energy function: a force that says so, such as a
    user's or one that actuates joints, what drives a joint, or a wall that moves."""
    found = {"external"} if model.drives or _moving_walls(model) else set()
    for k, force in enumerate(model.forces):
        if isinstance(force, Force) and force.energy_channel is None:
            table = force.gather(model, [(f"forces[{k}]", force)], None)
            if table is not None:
                found.update(CHANNELS[c] for channels in force.channels(table) for c in channels)
    return found & set(CONSERVATIVE)


def _moving_walls(model: Model) -> bool:
    """Whether walls do work on what touches them."""
    law = contact_of(model)
    walls = () if law is None else law.walls
    moves = ("velocity", "angular_velocity", "amplitude")
    return any(any(map(float, getattr(wall, name, ()))) for wall in walls for name in moves)


def with_energy(observables: Mapping[str, np.ndarray], varies: bool, without: set[str]) -> list[str]:
    """Channels whose work is the energy that they lose: those that have one, and nothing else, with a steady factor."""
    return [name for name in CONSERVATIVE if not varies and name not in without and f"energy_{name}" in observables]


def conservative_works(observables: Mapping[str, np.ndarray], varies: bool, users: set[str]) -> dict[str, Any]:
    """For each conservative channel, the largest |W + sΦ − s₀Φ₀ − J| of all frames, and J at the last.

    Parameters
    ----------
    observables
        Arrays over the frames by name.
    varies
        Whether the factors change along the run.
    users
        Channels with forces that have no energy function.
    """
    found: dict[str, Any] = {}
    for name in CONSERVATIVE:
        work = observables.get(f"work_{name}")
        if work is None:
            continue
        reason, bare = None, observables.get(f"unscaled_work_{name}")
        if name in users:
            reason = "forces without an energy function act in it, such as a user's or those that drive joints"
        elif varies and bare is None:
            reason = "the factor of the channel changes along the run, and the rule books no work without it"
        if reason is not None:
            found[name] = {"error": None, "relative": None, "reason": reason, "jumps": None}
            continue
        energy, factor = observables[f"energy_{name}"], observables[f"factor_{name}"]
        jumps = np.zeros_like(work) if bare is None else work - factor * bare + (factor - factor[0]) * energy[0]
        # Fixman's potential is another one for every set of locked joints.
        taken = observables.get("reservoir_potential", 0.0) if name == "conformational" else 0.0
        # What changes of the box have put in, no force has taken out.
        taken = taken - (observables.get("barostat_energy", 0.0) if name == "potential" else 0.0)
        error = float(np.abs(work + factor * energy - factor[0] * energy[0] - jumps + taken).max())
        scale = float(np.abs(work).max())
        relative = error / scale if scale > 0.0 else None
        found[name] = {"error": error, "relative": relative, "reason": None, "jumps": float(jumps[-1])}
    return found


def factors(observables: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Initial, final, smallest and largest factor of each channel that the model has."""
    result = {}
    for name in CHANNELS:
        values = observables.get(f"factor_{name}")
        if values is not None:
            result[name] = {
                "initial": float(values[0]),
                "final": float(values[-1]),
                "min": float(values.min()),
                "max": float(values.max()),
            }
    return result
