"""Compatibility of integrators with features: one table for all.

A combination is allowed unless the cells of integrators (``integrator_cells.py``) or the conflicts of features
(``feature_conflicts.py``) exclude it. A cell holds the reason why an integrator excludes a feature, and a conflict
holds the reason why features exclude each other with any integrator; ``refusals.py`` has the reasons of the cells.
``check`` raises the reason; ``validation/compatibility.py`` writes the tables of ``docs/multibody.md`` from them, and
``tests/cases/test_compatibility.py`` runs the allowed combinations and checks that all others are refused.

Refusals that depend on a single body, loop, force or value are raised where these are checked, not here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from articulon.errors import CaseError
from articulon.integrate.combination import FEATURES, Combination, integrator_of, other_resistances
from articulon.integrate.feature_conflicts import CONFLICTS
from articulon.integrate.integrator_cells import CELLS
from articulon.integrate.integrators import ErmakMcCammon
from articulon.integrate.refusals import NO_IMPACTS, Refusal, of_rule
from articulon.integrate.rules import EXPLICIT, PREDICTOR_CORRECTOR


class Needs(NamedTuple):
    """Why a feature or an integrator requires another feature."""

    needs: str
    """The required feature."""
    refusal: Refusal


NEEDS: dict[str, Needs] = {
    "ermak-mccammon": Needs(
        "overdamping", of_rule("needs a thermostat of the kind overdamped", "add [thermostat], or choose another rule")
    ),
    "event-driven": Needs("impacts", NO_IMPACTS),
    **dict.fromkeys(
        ("atomistic factors", "thermostat's factor"),
        Needs(
            "nose-hoover",
            Refusal(
                "scaling.policy",
                "{policy} scales the force of a thermostat of Nosé and Hoover",
                "add [thermostat] with the kind modified-nose-hoover, or choose another policy",
                ", and {instead_of_it}",
            ),
        ),
    ),
}
"""What an integrator or a feature requires."""


def cell(integrator: str, feature: str) -> Refusal | None:
    """Why an integrator excludes a feature, or what that feature requires; None if it does not."""
    found = CELLS[integrator].get(feature)
    if found is None and feature in NEEDS:
        return cell(integrator, NEEDS[feature].needs)
    return found


def refusals(c: Combination) -> Iterator[Refusal]:
    """All refusals of a combination."""
    integrator = integrator_of(c)
    present = [name for name, feature in FEATURES.items() if feature.has(c)]
    for name in (*present, integrator):
        if name in NEEDS and NEEDS[name].needs not in present and (name in FEATURES or c.thermostat is None):
            yield NEEDS[name].refusal
    for name in present:
        refusal = cell(integrator, name)
        if refusal is not None:
            yield refusal
    for names, refusal in CONFLICTS.items():
        if not refusal.elsewhere and set(names) <= set(present):
            yield refusal


def check(c: Combination) -> None:
    """Raise CaseError for choices that exclude each other; the message names the key and what to do."""
    refusal = next(refusals(c), None)
    if refusal is not None:
        raise CaseError(refusal.message(words_of(c)))


def words_of(c: Combination) -> dict[str, str]:
    """The words that the templates of refusals may use."""
    model, kind = c.model, str(getattr(c.thermostat, "kind", ""))
    explicit = ", ".join(EXPLICIT)
    carrying = "'friction-implicit', or 'velocity-verlet' for a model of free particles"
    if c.thermostat is not None and c.thermostat.deterministic:
        carrying += f", or one of {explicit}"
    return {
        "rule": f"'{c.integrator.rule}'",
        "thermostat": f"'{kind}'",
        "instead_of_it": "there is none" if c.thermostat is None else f"it is '{kind}'",
        "policy": f"'{getattr(c.policy, 'policy', '')}'",
        "solver": f"the solver '{c.solver}'",
        "body": f"body '{model.names[next(iter(model.modes))]}'" if model.modes else "a body",
        "loop": model.loop_name(0) if model.loops.kind.size else "a loop",
        "driven": model.drives[0].name if model.drives else "",
        "resisting": ", ".join(f"'{kind}'" for kind in other_resistances(c)),
        "explicit": explicit,
        "stepping": ", ".join([*EXPLICIT, *PREDICTOR_CORRECTOR]),
        "of_bodies": "friction-implicit" if isinstance(c.integrator, ErmakMcCammon) else "velocity-verlet",
        "carrying": carrying,
    }
