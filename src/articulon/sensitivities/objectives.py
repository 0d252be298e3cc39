"""What is differentiated: functions of the state at the end of a run, with their derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.inputs import array, number, shown
from articulon.model import Model

Objective = Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray, np.ndarray]]
"""Value, derivatives by the coordinates, (nq,) or in their tangent space (nu,), and by the speeds (nu,)."""


def objective_of(model: Model, objective: Any, where: str) -> Objective:
    """The objective that a user gives; raises CaseError for what is none."""
    if not callable(objective):
        raise CaseError(
            f"{where}: objective: expected a function of q and u that returns its value and its derivatives by them, "
            f"got {shown(objective)}"
        )

    def checked(q: np.ndarray, u: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        found = objective(q, u)
        if not isinstance(found, tuple) or len(found) != 3:
            raise CaseError(
                f"{where}: objective: expected its value and its derivatives by q and u, three in all, got "
                f"{shown(found)}"
            )
        size = model.nu if np.shape(found[1]) == (model.nu,) else model.nq
        return (
            number(found[0], f"{where}: objective, value", CaseError),
            array(found[1], (size,), f"{where}: objective, derivatives by q", CaseError),
            array(found[2], (model.nu,), f"{where}: objective, derivatives by u", CaseError),
        )

    return checked
