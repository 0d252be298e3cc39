"""Which step a case with contacts allows: what ``articulon analyse`` finds of one, without running it."""

from __future__ import annotations

from dataclasses import dataclass

from articulon.cases.case import Case
from articulon.errors import CaseError
from articulon.forces.contact.declarations import Contact
from articulon.forces.contact.engine import contact_of
from articulon.simulate.contact_steps import ContactScales, contact_scales


@dataclass(frozen=True)
class ContactAnalysis:
    """What is found of a case with contacts."""

    case: Case
    """The case."""
    scales: ContactScales
    """The times of its materials, at the speed at which spheres are taken to meet."""
    step: float | None
    """The step that the case takes [time]; None where the rule chooses it."""
    notes: tuple[str, ...]
    """What to know."""


def analyse_contacts(case: Case, speed: float | str | None = None) -> ContactAnalysis:
    """Says which step a case with contacts allows.

    Parameters
    ----------
    case
        The case.
    speed
        At which spheres are taken to meet [velocity]; by default what the case lets expect: the speeds that it begins
        with and those of walls, and what gravity gives on the way to the lowest of them.

    Raises
    ------
    CaseError
        For a case without contacts.
    """
    model, units = case.build_model(), case.units
    given = None if speed is None else units.value(speed, "velocity", "speed")
    law, scales = contact_of(model), contact_scales(model, given)
    if law is None or scales is None:
        raise CaseError(f"{case.source}: this is no case with contacts")
    step = getattr(case.integrator, "step", None)
    return ContactAnalysis(case, scales, None if step is None else float(step), tuple(_notes(case, law, scales, step)))


def _notes(case: Case, law: Contact, scales: ContactScales, step: float | None) -> list[str]:
    unit = "" if case.units.time is None else f" {case.units.symbols[2]}"
    notes = [
        f"Recommended step: {scales.recommended:.3g}{unit}, a twentieth of the shortest of these times. A collision is "
        "then off by less than a thousandth, and a Rayleigh wave, which carries a push on to a grain's other contacts, "
        "needs many steps to cross it.",
        f"Limit: {scales.limit:.3g}{unit}, {scales.binding()}. A run with a longer step is refused.",
    ]
    if step is not None:
        ratio = float(step) / scales.recommended
        compared = "is the recommended one" if abs(ratio - 1.0) < 0.05 else f"is {ratio:.2g} times the recommended one"
        beyond = " and beyond the limit" if float(step) > scales.limit else ""
        notes.append(f"The case's step, {float(step):.4g}{unit}, {compared}{beyond}.")
    deep = [pair for pair in scales.pairs if pair.overlap > float(law.largest_overlap)]
    for pair in deep:
        notes.append(
            f"'{pair.kinds[0]}' and '{pair.kinds[1]}' that meet at {pair.speed:.3g} go {pair.overlap:.1%} of a radius "
            f"deep, beyond the {float(law.largest_overlap):.0%} to which the law holds: a stiffer material is needed."
        )
    if law.damping == "viscous":
        notes.append(
            "With damping = 'viscous' the coefficient of restitution depends on the speed; damping = 'restitution' "
            "keeps it."
        )
    return notes
