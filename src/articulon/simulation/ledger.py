"""Energy balance of a run, checked from its observables.

T − T₀ = ΣW (Guy 2018, 5.18), with the kinetic energy T and the works W of all channels, holds even for wrong forces.
The work of each conservative channel is therefore also checked against its energy function Φ: W = −(sΦ − s₀Φ₀) + J. The
term J, the sum of Φ Δs, is the energy added by changes of the scaling factor s at constant speeds. J follows from the
unscaled work w. Between two changes ΔW = s Δw, and at each change Φ = Φ₀ − w, so that J = W − s w + (s − s₀) Φ₀.
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
    """Compute the largest |W| of any channel at any frame [energy]."""
    works = [np.abs(values).max() for name, values in observables.items() if name.startswith("work_")]
    return float(max(works, default=0.0))


def balance(observables: Mapping[str, np.ndarray]) -> dict[str, float | None]:
    """Compute the largest |T − T₀ − ΣW| over all frames, absolute [energy] and relative to the largest work."""
    error, scale = float(np.abs(observables["energy_balance"]).max()), largest_work(observables)
    return {
        "energy_balance_error": error,
        "energy_balance_error_relative": error / scale if scale > 0.0 else None,
        "largest_work": scale,
    }


def without_energy(model: Model) -> set[str]:
    """Return the conservative channels that contain a force without an energy function: a user's force, an actuated or
    driven joint, or a moving wall."""
    found = {"external"} if model.drives or _moving_walls(model) else set()
    for k, force in enumerate(model.forces):
        if isinstance(force, Force) and force.energy_channel is None:
            table = force.gather(model, [(f"forces[{k}]", force)], None)
            if table is not None:
                found.update(CHANNELS[c] for channels in force.channels(table) for c in channels)
    return found & set(CONSERVATIVE)


def _moving_walls(model: Model) -> bool:
    """Return whether the model has moving walls, which do work on bodies that touch them."""
    law = contact_of(model)
    walls = () if law is None else law.walls
    moves = ("velocity", "angular_velocity", "amplitude")
    return any(any(map(float, getattr(wall, name, ()))) for wall in walls for name in moves)


def with_energy(observables: Mapping[str, np.ndarray], varies: bool, without: set[str]) -> list[str]:
    """Return the channels whose work is minus the change of their energy. In these channels all forces have an energy
    function, and the scaling factor is constant."""
    return [name for name in CONSERVATIVE if not varies and name not in without and f"energy_{name}" in observables]


def conservative_works(observables: Mapping[str, np.ndarray], varies: bool, users: set[str]) -> dict[str, Any]:
    """For each conservative channel, compute the largest |W + sΦ − s₀Φ₀ − J| over all frames, and J at the last frame.

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
            reason = "the factor of the channel changes along the run, and the integrator books no unscaled work"
        if reason is not None:
            found[name] = {"error": None, "relative": None, "reason": reason, "jumps": None}
            continue
        energy, factor = observables[f"energy_{name}"], observables[f"factor_{name}"]
        jumps = np.zeros_like(work) if bare is None else work - factor * bare + (factor - factor[0]) * energy[0]
        # Fixman's potential depends on the set of locked joints.
        taken = observables.get("reservoir_potential", 0.0) if name == "conformational" else 0.0
        # The energy added by changes of the box is not work of a force.
        taken = taken - (observables.get("barostat_energy", 0.0) if name == "potential" else 0.0)
        error = float(np.abs(work + factor * energy - factor[0] * energy[0] - jumps + taken).max())
        scale = float(np.abs(work).max())
        relative = error / scale if scale > 0.0 else None
        found[name] = {"error": error, "relative": relative, "reason": None, "jumps": float(jumps[-1])}
    return found


def factors(observables: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Return the initial, final, smallest and largest scaling factor of each channel of the model."""
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
