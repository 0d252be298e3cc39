"""A model made in Python, used instead of one that a case declares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from articulon.errors import CaseError
from articulon.model import Model


@dataclass(frozen=True, eq=False)
class GivenModel:
    """A model that has already been built; it takes the place of the model declaration of a case."""

    builder: ClassVar[str] = "explicit"
    driven_by_code: ClassVar[bool] = False
    model: Model
    """The model, with its forces."""
    inferred: tuple[str, ...] = ()
    """Assumptions about a structure file; see :attr:`articulon.cases.case.Case.inferred`."""

    def model_dump(self) -> dict[str, Any]:
        """The model written out, as in ``[model]`` of a case."""
        return self._table

    @cached_property
    def _table(self) -> dict[str, Any]:
        from articulon.cases.builders.written_model import ExplicitModel
        from articulon.cases.model_as_case import written_out

        # Converted to a declaration, so that the digest of the case equals the digest of the file that is written.
        declared = ExplicitModel.from_mapping(written_out(self.model), "simulate", "model")
        return declared.resolved(self.model.units).model_dump()

    def check_writable(self) -> None:
        """Raises CaseError, with the reason, for a model that no case file can hold."""
        from articulon.cases.model_as_case import obstacle

        reason = obstacle(self.model)
        if reason is not None:
            raise CaseError(f"this model cannot be written into a case file: {reason}")
