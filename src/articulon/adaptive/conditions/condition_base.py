"""What every condition is that locks or releases joints and modes."""

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.adaptive.conditions.looking import Looking
from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.errors import CaseError
from articulon.model import Model

Count = Annotated[Whole, Field(ge=1)]


class BaseCondition(Declaration):
    """Base of what locks or releases a joint or a mode."""

    error_class: ClassVar = CaseError
    of: ClassVar[Literal["joints", "modes", "both"]] = "both"
    """What it can be asked of."""
    of_locked: ClassVar[bool] = True
    """Whether it can be asked of what is locked."""
    chances: ClassVar[bool] = False
    """Whether it is left to chance, so that what changes often does not chatter."""
    window: Count = 1
    """At how many decisions in a row it must hold."""

    @property
    def chance(self) -> float | None:
        """With which probability it holds at a decision, where nothing else decides."""
        return None

    def prepared(self, model: Model, parts: np.ndarray, where: str) -> Self:
        """A copy that is ready to be asked of some joints and modes of a model.

        Parameters
        ----------
        model
            The model.
        parts
            The joints and modes, numbered as in ``lockable.py``, shape (members,).
        where
            Path of keys down to the condition, for messages.

        Raises
        ------
        CaseError, ModelError
            For what the model does not have, and what it cannot be asked of.
        """
        return self

    def truth(self, looking: Looking, parts: np.ndarray) -> np.ndarray:
        """Whether it holds for each of the joints and modes, bool, shape (members,)."""
        raise NotImplementedError


class BoundedCondition(BaseCondition):
    """Base of the conditions that a number lies below or above a bound."""

    below: Quantity | None
    above: Quantity | None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.below is None) == (self.above is None):
            raise ValueError("give either below or above")
        return self

    def holds(self, values: Any) -> Any:
        """Whether numbers lie on the side of the bound that is asked for."""
        return values < float(self.below) if self.below is not None else values > float(self.above)  # type: ignore[arg-type]


class TriedCondition(BaseCondition):
    """Base of the conditions on the energy that locking takes out: joints and modes are tried one after the other, each
    with those before it already locked or released (``tried_locks.py``), and :meth:`truth` is not asked."""

    of_locked: ClassVar[bool] = False
    chances: ClassVar[bool] = True
    below: Annotated[Quantity, Dimension("energy", minimum=0)]
    """[energy]"""
    attempts: Count | None = None
    """How many are tried at a decision, drawn at random; all by default."""
