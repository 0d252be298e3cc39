"""What a case says must be true of its results: ``[[checks]]``, looked at when a run has ended.

A check is found by being here. It measures a value that should be zero, and passes where its magnitude is within the
bound that the case states. What it looks at are the frames; what happens between them it does not see.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

from articulon.errors import CaseError, ModelError
from articulon.families import Family
from articulon.model import Model
from articulon.simulation.checks.check_base import Check, Frames, Outcome, ValueCheck

CHECKS = Family("check", "kind", lambda member: issubclass(member, Check))
"""All checks by their ``kind``: the classes of this package that have one."""
CHECKS.discover(__name__, __path__)
AnyCheck: TypeAlias = Annotated[Check, CHECKS]
"""Any declared check, chosen by its ``kind``."""

__all__ = ["CHECKS", "AnyCheck", "Check", "Frames", "Outcome", "ValueCheck", "prepared_checks"]


def prepared_checks(
    checks: Sequence[Check], model: Model, observables: Mapping[str, str], source: str
) -> tuple[Check, ...]:
    """The checks in a model's units; raises CaseError, naming the file and the key, for what they cannot look at."""
    try:
        return tuple(check.prepared(model, observables, f"checks[{k}]") for k, check in enumerate(checks))
    except (CaseError, ModelError) as error:
        raise CaseError(f"{source}: {error}") from None
