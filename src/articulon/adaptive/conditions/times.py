"""Conditions on time."""

from typing import Annotated, Literal

import numpy as np

from articulon.adaptive.conditions.condition_base import BaseCondition
from articulon.adaptive.conditions.decision_state import DecisionState
from articulon.declaration import Dimension, Quantity


class Schedule(BaseCondition):
    """True at the first decision at or after each of the given times."""

    when: Literal["schedule"] = "schedule"
    times: Annotated[tuple[Quantity, ...], Dimension("time", minimum=0)]
    """Times at which the condition is true [time]."""

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        # True for the first decision not earlier than a time, with a margin for rounding errors.
        due = [0.0 <= decision.time - float(t) + 1e-9 * decision.every < decision.every for t in self.times]
        return np.full(parts.size, any(due))


class Elapsed(BaseCondition):
    """True after a given time has passed since the last change of the joint or mode."""

    when: Literal["elapsed"] = "elapsed"
    time: Annotated[Quantity, Dimension("time", minimum=0)]
    """Time since the last change [time]."""

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        return decision.time - decision.changed()[parts] >= float(self.time) * (1.0 - 1e-9)
