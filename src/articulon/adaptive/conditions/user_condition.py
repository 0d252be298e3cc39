"""The condition given by a user's function."""

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from pydantic import ConfigDict

from articulon.adaptive.conditions.condition_base import BaseCondition
from articulon.adaptive.conditions.decision_state import DecisionState
from articulon.errors import CaseError
from articulon.forces.user_functions import loaded_function
from articulon.model import Model


class Function(BaseCondition):
    """A user's ``function(time, q, u, locked)`` that returns, for every speed of the model, whether the condition is
    true, as an array (nu,). For a joint, the value of its first speed is used."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    when: Literal["function"] = "function"
    function: Callable[..., Any] | str
    """Function, or its location: ``"module:name"`` or ``"path/to/file.py:name"``."""

    def prepared(self, model: Model, parts: np.ndarray, where: str) -> Self:
        """See :class:`BaseCondition`."""
        function = self.function if callable(self.function) else loaded_function(self.function, where)

        def checked(*given: Any) -> np.ndarray:
            answer = np.asarray(function(*given))
            if answer.shape != (model.nu,):
                raise CaseError(
                    f"{where}: the function must return True or False for each of the {model.nu} speeds, got an "
                    f"array of shape {answer.shape}"
                )
            return answer

        return self.model_copy(update={"function": checked})

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        assert callable(self.function)
        state = decision.state
        answer = self.function(float(state.time[0]), state.q.copy(), state.u.copy(), state.resolution.locked.copy())
        return answer.astype(bool)[decision.joints.start[parts]]
