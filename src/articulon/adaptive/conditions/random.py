"""The condition that is true at random."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from articulon.adaptive.conditions.condition_base import BaseCondition
from articulon.adaptive.conditions.decision_state import DecisionState
from articulon.declaration import Number


class Random(BaseCondition):
    """True at random, independently for each joint or mode."""

    when: Literal["random"] = "random"
    chances: ClassVar[bool] = True
    probability: Annotated[Number, Field(ge=0.0, le=1.0)]
    """Probability that the condition is true, at every decision."""

    @property
    def chance(self) -> float | None:
        """See :class:`BaseCondition`."""
        return self.probability

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        return decision.random.random(parts.size) < self.probability
