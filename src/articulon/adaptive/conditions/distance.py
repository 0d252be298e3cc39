"""The condition on the distance between bodies."""

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.adaptive.conditions.condition_base import BoundedCondition
from articulon.adaptive.conditions.decision_state import DecisionState
from articulon.declaration import BodyName, Dimension, Quantity
from articulon.dynamics import body_poses
from articulon.forces.selection import body_index
from articulon.model import Model
from articulon.model.array_rotations import matrices


class Distance(BoundedCondition):
    """Distance between the centres of mass of two bodies, or of a body and a fixed point."""

    when: Literal["distance"] = "distance"
    body: BodyName
    """First body."""
    to: BodyName | None = None
    """Second body."""
    point: Annotated[tuple[Quantity, Quantity, Quantity] | None, Dimension("length")] = None
    """Fixed point instead of a second body, world frame [length]."""
    below: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """Upper bound [length]."""
    above: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """Lower bound [length]."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if (self.to is None) == (self.point is None):
            raise ValueError("give either to, a body, or a point")
        return self

    def prepared(self, model: Model, parts: np.ndarray, where: str) -> Self:
        """See :class:`BaseCondition`."""
        body_index(model, self.body, f"{where}.body")
        if self.to is not None:
            body_index(model, self.to, f"{where}.to")
        return self

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        model = decision.evaluator.model
        positions, rotations = body_poses(model, decision.state.q)

        def centre(name: str) -> np.ndarray:
            k = model.body(name)
            return positions[k] + matrices(rotations[k]) @ model.centres[k]

        to = np.array([float(x) for x in self.point or ()]) if self.to is None else centre(self.to)
        return np.full(parts.size, bool(self.holds(float(np.linalg.norm(centre(self.body) - to)))))
