"""Base classes of the conditions that lock or release joints and modes. The lockable joints and modes are called
*parts* (``lockable.py``)."""

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.adaptive.conditions.decision_state import DecisionState
from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.errors import CaseError
from articulon.model import Model

Count = Annotated[Whole, Field(ge=1)]


class BaseCondition(Declaration):
    """Base of conditions that lock or release a joint or a mode."""

    error_class: ClassVar = CaseError
    of: ClassVar[Literal["joints", "modes", "both"]] = "both"
    """Kinds of parts to which the condition applies."""
    of_locked: ClassVar[bool] = True
    """Whether the condition can be evaluated for locked parts."""
    chances: ClassVar[bool] = False
    """Whether the condition is true at random, so that frequent changes do not count as chatter."""
    window: Count = 1
    """Number of successive decisions at which the condition must be true."""

    @property
    def chance(self) -> float | None:
        """Probability with which the condition is true at a decision, if it is random and depends on nothing else;
        otherwise None."""
        return None

    def prepared(self, model: Model, parts: np.ndarray, where: str) -> Self:
        """Return a copy prepared for some joints and modes of a model.

        Parameters
        ----------
        model
            The model.
        parts
            Joints and modes, numbered as in ``lockable.py``, shape (members,).
        where
            Path of keys to the condition, for messages.

        Raises
        ------
        CaseError, ModelError
            If the model lacks something that the condition needs, or the condition does not apply to the parts.
        """
        return self

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """Return whether the condition is true for each of the joints and modes, bool, shape (members,)."""
        raise NotImplementedError


class BoundedCondition(BaseCondition):
    """Base of conditions that compare a number with a lower or upper bound."""

    below: Quantity | None
    above: Quantity | None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.below is None) == (self.above is None):
            raise ValueError("give either below or above")
        return self

    def holds(self, values: Any) -> Any:
        """Return whether numbers are on the required side of the bound."""
        return values < float(self.below) if self.below is not None else values > float(self.above)  # type: ignore[arg-type]


class TriedCondition(BaseCondition):
    """Base of conditions on the energy that locking removes.

    Joints and modes are tried one after the other; at each trial, the previous ones are already locked or released
    (``tried_locks.py``). :meth:`truth` is not called.
    """

    of_locked: ClassVar[bool] = False
    chances: ClassVar[bool] = True
    below: Annotated[Quantity, Dimension("energy", minimum=0)]
    """Upper bound [energy]."""
    attempts: Count | None = None
    """Number of joints or modes that are tried at a decision, drawn at random; by default all."""
