"""The public functions for loops, and a model's loops prepared for the kernels, which runs use too."""

from typing import NamedTuple

import numpy as np

from articulon.dynamics.loops import constrained_articulated
from articulon.dynamics.loops.conditions import loop_scratch
from articulon.dynamics.loops.given_motions import check_time, motion_functions, prepared
from articulon.dynamics.multibody_functions import check_model, vector
from articulon.dynamics.state_functions import scratch
from articulon.inputs import number
from articulon.model import Model, kernel_tables


class LoopEquations(NamedTuple):
    """The conditions of a model's loops and drives at a state."""

    residual: np.ndarray
    """Residuals φ, shape (rows,)."""
    rate: np.ndarray
    """Rates φ' = J u − v, shape (rows,)."""
    products: np.ndarray
    """Velocity products J' u, shape (rows,)."""
    jacobian: np.ndarray
    """Jacobian J, shape (rows, nu)."""
    live: np.ndarray
    """Whether a row acts on any joint; otherwise its row of J is only the rounding error of terms that cancel, shape
    (rows,)."""


def loop_equations(model: Model, q: np.ndarray, u: np.ndarray, time: float = 0.0) -> LoopEquations:
    """φ, φ', J' u and J in a state (Mukherjee and Anderson 2007), with the rows of ``model.loops``."""
    check_model(model, "loop_equations")
    time = number(time, "time")
    check_time(model, time)
    arrays = loop_scratch(*kernel_tables(model), model.nu)
    rows = model.loops.kind.size
    found = (np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros((rows, model.nu)))
    arguments = (
        *kernel_tables(model),
        motion_functions(model),
        time,
        vector(q, model.nq, "q"),
        vector(u, model.nu, "u"),
        scratch(model),
        arrays,
        *found,
    )
    kernel = prepared(constrained_articulated.loop_equations, arguments, model)
    kernel(*arguments)
    return LoopEquations(*found, arrays.live.astype(bool))


def loop_residuals(model: Model, q: np.ndarray, time: float = 0.0) -> np.ndarray:
    """Residuals of the loops and drives, (rows,): displacements [length], cosines of angles that should be right
    angles, and errors of driven coordinates.

    Parameters
    ----------
    model
        The model; ``model.loops.loop`` says which loop a row belongs to.
    q
        Coordinates (nq,).
    time
        Time at which driven coordinates are evaluated [time].
    """
    check_model(model, "loop_residuals")
    return loop_equations(model, q, np.zeros(model.nu), time).residual


def loop_jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    """Derivative J (rows, nu) of ``loop_residuals`` with respect to the speeds: φ' = J u.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,).
    """
    check_model(model, "loop_jacobian")
    return loop_equations(model, q, np.zeros(model.nu)).jacobian
