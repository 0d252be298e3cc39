"""Checks on the results of a run. A case declares them under ``[[checks]]``; they are evaluated after the run.

Every check class in this package is found automatically. A check measures a value that should be zero, and passes if
the magnitude of this value is not above the bound that the case states. Checks read the frames only, not the steps
between them.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

from articulon.errors import CaseError, ModelError
from articulon.families import Family
from articulon.model import Model
from articulon.simulation.checks.check_base import Check, Frames, Outcome, ValueCheck

CHECKS = Family("check", "kind", lambda member: issubclass(member, Check))
"""All checks by their ``kind``: the classes of this package that have a ``kind``."""
CHECKS.discover(__name__, __path__)
AnyCheck: TypeAlias = Annotated[Check, CHECKS]
"""Any declared check, chosen by its ``kind``."""

__all__ = ["CHECKS", "AnyCheck", "Check", "Frames", "Outcome", "ValueCheck", "prepared_checks"]


def prepared_checks(
    checks: Sequence[Check], model: Model, observables: Mapping[str, str], source: str
) -> tuple[Check, ...]:
    """Return the checks in the units of a model. For a quantity that does not exist, raise CaseError with the file and
    the key."""
    try:
        return tuple(check.prepared(model, observables, f"checks[{k}]") for k, check in enumerate(checks))
    except (CaseError, ModelError) as error:
        raise CaseError(f"{source}: {error}") from None
