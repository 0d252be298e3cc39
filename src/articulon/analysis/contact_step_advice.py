"""Estimate of the longest step for a case with contacts. ``articulon analyse`` makes this estimate without a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from articulon.analysis.run_models import case_and_model, model_of
from articulon.cases.case import Case, table_of
from articulon.cases.loading import find, load_case
from articulon.cases.overrides import checked_overrides
from articulon.errors import CaseError
from articulon.forces.contact.contact_engine import contact_of
from articulon.forces.contact.materials import Contact
from articulon.model import Model
from articulon.simulation.results import Run
from articulon.time_scales.contact_step_limit import ContactScales, unit_symbols, with_unit
from articulon.time_scales.contact_step_limit import contact_scales as scales_of


@dataclass(frozen=True)
class ContactAnalysis:
    """Results for a case with contacts."""

    case: Case
    """The case."""
    scales: ContactScales
    """Time scales of the contacts between its materials, at the assumed impact speed of the spheres."""
    step: float | None
    """Step of the case [time]; None if the integrator chooses its steps."""
    notes: tuple[str, ...]
    """Notes for the user."""


def load_for_analysis(
    name_or_path: str | Path, overrides: Mapping[str, Any] | None = None, *, allow_code: bool = False
) -> Case:
    """Load a case like :func:`articulon.load_case`, but accept a case with contacts that has no step yet.

    The integrator of such a case has None as its step, because the analysis determines the step.

    Parameters
    ----------
    name_or_path
        Name of a built-in case, or path of a case file.
    overrides
        Changes of the case by dotted key.
    allow_code
        Whether Python functions named in the case may be run.
    """
    given = checked_overrides({} if overrides is None else overrides)
    table = table_of(find(name_or_path))
    integrator, forces = table.get("integrator"), table.get("forces")
    touching = isinstance(forces, list) and any(isinstance(f, dict) and f.get("kind") == "contact" for f in forces)
    if not touching or not isinstance(integrator, dict) or "step" in integrator or "integrator.step" in given:
        return load_case(name_or_path, overrides, allow_code=allow_code)
    # The duration does not matter here; any positive value is valid.
    duration = given.get("run.duration", table.get("run", {}).get("duration"))
    given = given if duration is None else {**given, "integrator.step": duration}
    case = load_case(name_or_path, given, allow_code=allow_code)
    return replace(case, integrator=case.integrator.model_copy(update={"step": None}))


def contact_scales(model: Model | Run, speed: float | None = None) -> ContactScales | None:
    """Return the time scales of the contacts of a model, or of a run's model; None if no contacts are possible.

    Parameters
    ----------
    model
        The model, or a run.
    speed
        Assumed impact speed of the spheres [velocity]; by default estimated from the model.

    Raises
    ------
    CaseError
        For a speed that is not positive.
    ArticulonError
        If the argument is neither a model nor a run.
    """
    return scales_of(model if isinstance(model, Model) else model_of(model), speed)


def analyse_contacts(case: Case | Run, speed: float | str | None = None) -> ContactAnalysis:
    """Determine the longest step that a case with contacts allows.

    Parameters
    ----------
    case
        The case, or a run of it.
    speed
        Assumed impact speed of the spheres [velocity]. By default it is estimated from the initial speeds, the speeds
        of walls, and the speed of a fall under gravity to the lowest wall.

    Raises
    ------
    CaseError
        For a case without contacts.
    """
    case, model = case_and_model(case)
    units = case.units
    given = None if speed is None else units.value(speed, "velocity", "speed")
    law, scales = contact_of(model), scales_of(model, given)
    if law is None or scales is None:
        raise CaseError(f"{case.source}: this case has no contacts")
    step = getattr(case.integrator, "step", None)
    return ContactAnalysis(case, scales, None if step is None else float(step), tuple(_notes(case, law, scales, step)))


def _notes(case: Case, law: Contact, scales: ContactScales, step: float | None) -> list[str]:
    unit, velocity = unit_symbols(case.units)
    notes = [
        f"Recommended step: {with_unit(scales.recommended, unit)}, a twentieth of the shortest of these times. An "
        "elastic collision then has an error of less than a thousandth, the restitution of a damped one of up to "
        "0.6/N^(5/4) if it takes N steps, and a Rayleigh wave, which transmits a push to the other contacts of a "
        "grain, needs many steps to cross it.",
        f"Limit: {with_unit(scales.limit, unit)}, {scales.binding(velocity)}. Runs with longer steps are refused.",
    ]
    if step is not None:
        ratio = float(step) / scales.recommended
        compared = "is the recommended one" if abs(ratio - 1.0) < 0.05 else f"is {ratio:.2g} times the recommended one"
        beyond = " and beyond the limit" if float(step) > scales.limit else ""
        notes.append(f"The case's step, {with_unit(float(step), unit, 4)}, {compared}{beyond}.")
    else:
        notes.append("The case has no step yet.")
    allowed = float(law.largest_overlap)
    deep = sorted((pair for pair in scales.pairs if pair.overlap > allowed), key=lambda pair: -pair.overlap)
    for pair in deep[:1]:
        # The overlap scales with E*^(-2/5) in Hertz's law, and with k^(-1/2) in a linear law.
        power, modulus = (2.5, "Young's modulus") if pair.modulus else (2.0, "stiffness")
        others = f" ({len(deep) - 1} other pairs are too deep as well)" if len(deep) > 1 else ""
        notes.append(
            f"The contact of '{pair.kinds[0]}' and '{pair.kinds[1]}' at {with_unit(pair.speed, velocity)} is "
            f"{pair.overlap:.1%} of a radius deep, beyond the limit of {allowed:.0%} of the contact law{others}. If "
            f"such speeds occur, use a stiffer material, with {(pair.overlap / allowed) ** power:.2g} times the "
            f"{modulus}. The run reports the depths that occurred."
        )
    if law.damping == "viscous":
        notes.append(
            "With damping = 'viscous' the coefficient of restitution depends on the speed; damping = 'restitution' "
            "keeps it."
        )
    return notes
