"""Conditions on the motion of rotational joints, and on their torque."""

from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from articulon.adaptive.conditions.condition_base import BoundedCondition
from articulon.adaptive.conditions.decision_state import DecisionState
from articulon.declaration import Dimension, Quantity
from articulon.errors import ModelError
from articulon.model import Model


class JointMotion(BoundedCondition):
    """Base of the conditions on rotational joints."""

    of: ClassVar = "joints"

    def prepared(self, model: Model, parts: np.ndarray, where: str) -> Self:
        """See :class:`BaseCondition`."""
        for i in parts.tolist():
            body = int(model.head[i])
            if model.joints[body].translations:
                raise ModelError(
                    f"{where}: the {model.joint_name(body)} joint of body '{model.names[body]}' slides, and "
                    f"'{self.when}' needs rotational joints; choose another condition"  # type: ignore[attr-defined]
                )
        return self


class Speed(JointMotion):
    """Angular speed |u| of a joint."""

    when: Literal["speed"] = "speed"
    of_locked: ClassVar[bool] = False
    below: Annotated[Quantity | None, Dimension("angular_velocity", minimum=0)] = None
    """Upper bound [angular velocity]."""
    above: Annotated[Quantity | None, Dimension("angular_velocity", minimum=0)] = None
    """Lower bound [angular velocity]."""

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        return self.holds(decision.sizes(decision.state.u)[parts])


class Acceleration(JointMotion):
    """Angular acceleration |u'| of a joint; for a locked joint, the value if all joints were free."""

    when: Literal["acceleration"] = "acceleration"
    below: Annotated[Quantity | None, Dimension("angular_acceleration", minimum=0)] = None
    """Upper bound [angular velocity/time]."""
    above: Annotated[Quantity | None, Dimension("angular_acceleration", minimum=0)] = None
    """Lower bound [angular velocity/time]."""

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        return self.holds(decision.sizes(decision.rates())[parts])


class Torque(JointMotion):
    """Magnitude of the torque of springs and other joint forces on a joint."""

    when: Literal["torque"] = "torque"
    below: Annotated[Quantity | None, Dimension("torque", minimum=0)] = None
    """Upper bound [torque]."""
    above: Annotated[Quantity | None, Dimension("torque", minimum=0)] = None
    """Lower bound [torque]."""

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        decision.rates()
        return self.holds(decision.sizes(decision.evaluator.channels.total_joint)[parts])
