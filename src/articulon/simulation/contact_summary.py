"""Results on contacts in ``summary.json``: packing, energy ledger, and the validity of the contact law and the step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulon.forces.contact.contact_columns import TIMES
from articulon.forces.contact.contact_engine import contact_of
from articulon.model import Model, State
from articulon.simulation.contact_statistics import WORKS
from articulon.time_scales.contact_durations import SMALLER
from articulon.time_scales.contact_step_limit import contact_scales, unit_symbols, with_unit

FINAL = (
    "contacts",
    "coordination_number",
    "rattlers",
    "sliding_contacts",
    "normal_force_mean",
    "normal_force_largest",
    "contacts_begun",
    "contacts_ended",
    "contact_time_mean",
    "contact_time_longest",
)
"""Observables whose last value is stored in the summary."""
MUCH_LONGER = 2.0
"""Ratio of the step to the recommended step above which a note is given."""
LINES = ("kinetic_translation", "kinetic_rotation", "energy_normal_elastic", "energy_external", *WORKS)
"""Observables that are lines of the energy ledger, if the run has them."""


def energy_put_in(observables: Mapping[str, np.ndarray]) -> float:
    """Return the total energy put into the motion [energy]: the initial kinetic and elastic energy, plus the largest
    work of gravity, of walls and of each other force."""
    start = float(observables["kinetic_energy"][0] + observables["energy_normal_elastic"][0])
    added = sum(
        float(np.maximum(values, 0.0).max())
        for name, values in observables.items()
        if name.startswith("work_") and name not in (*WORKS, "work_contact")
    )
    return start + added


def contact_figures(
    model: Model, state: State, step: float | None, observables: Mapping[str, np.ndarray]
) -> dict[str, Any] | None:
    """Compute the contact figures of a run; None for a model without contacts.

    Parameters
    ----------
    model
        The model.
    state
        The last state.
    step
        Length of a fixed step [time]; None if the integrator chooses its steps.
    observables
        Arrays over the frames by name.
    """
    law, scales = contact_of(model), contact_scales(model)
    if law is None or scales is None or "contacts" not in observables:
        return None
    elastic = observables["energy_normal_elastic"]
    total = energy_put_in(observables)
    balance = float(np.abs(observables["energy_balance"]).max())
    # The first frame is left out: contacts that exist at the start are not evaluated before the first step.
    kept = (observables["work_normal_elastic"] + elastic)[1:]
    drift = float(np.abs(kept - kept[:1]).max(initial=0.0))
    stress = {name: float(observables[name][-1]) for name in observables if name.startswith("contact_stress_")}
    return {
        **{name: float(observables[name][-1]) for name in FINAL},
        "overlap_largest": float(state.contacts.times[TIMES.deepest]),
        "overlap_allowed": float(law.largest_overlap),
        **stress,
        "step": step,
        "step_recommended": scales.recommended,
        "step_limit": scales.limit,
        "step_limit_of": scales.binding(unit_symbols(model.units)[1]),
        "speed_expected": scales.speed,
        "ledger": {name: float(observables[name][-1]) for name in LINES if name in observables},
        "energy_put_in": total,
        "ledger_error": balance,
        "ledger_error_relative": balance / total if total > 0.0 else None,
        "elastic_error": drift,
        "elastic_error_relative": drift / total if total > 0.0 else None,
    }


def contact_notes(model: Model, figures: Mapping[str, Any] | None, deepest: tuple[str, str] | None) -> list[str]:
    """Return notes for the user on the contacts of a run.

    Parameters
    ----------
    model
        The model.
    figures
        Result of :func:`contact_figures`.
    deepest
        Names of the two spheres, or of the sphere and the wall, with the largest overlap relative to the smaller
        radius; None if there was no contact.
    """
    if figures is None:
        return []
    notes = []
    if figures["overlap_largest"] > figures["overlap_allowed"]:
        who = "" if deepest is None else f", between {deepest[0]} and {deepest[1]}"
        notes.append(
            f"contacts: the largest overlap was {figures['overlap_largest']:.2%} of the smaller radius{who}, beyond "
            f"the {figures['overlap_allowed']:.0%} up to which the contact law is valid: use a stiffer material, or "
            "slower spheres"
        )
    if figures["step"] is None:
        return notes
    unit, _ = unit_symbols(model.units)
    step, limit, recommended = (figures[key] for key in ("step", "step_limit", "step_recommended"))
    if step > limit:
        notes.append(
            f"contacts: the step, {with_unit(step, unit, 4)}, exceeds the stability limit, "
            f"{with_unit(limit, unit, 4)}, {figures['step_limit_of']}, as integrator.force_step allows: do not trust "
            "these results"
        )
    elif step >= MUCH_LONGER * recommended:
        notes.append(
            f"contacts: the step, {with_unit(step, unit)}, is {step / recommended:.2g} times the recommended one, "
            f"{with_unit(recommended, unit)}: the fastest collision or wave takes {SMALLER * recommended / step:.2g} "
            f"steps instead of {SMALLER:g}, and forces and restitution are inaccurate"
        )
    return notes
