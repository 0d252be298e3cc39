"""The public functions of loops, and what they share with the runs: a model's loops made ready for the kernels."""

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
    """φ, shape (rows,)."""
    rate: np.ndarray
    """φ' = J u − v, shape (rows,)."""
    products: np.ndarray
    """J' u, shape (rows,)."""
    jacobian: np.ndarray
    """J, shape (rows, nu)."""
    live: np.ndarray
    """Whether a row acts on any joint; of one that does not, J is but the rounding of what cancels, shape (rows,)."""


def loop_equations(model: Model, q: np.ndarray, u: np.ndarray, time: float = 0.0) -> LoopEquations:
    """φ, φ', J' u and J at a state (Mukherjee and Anderson 2007; rows as ``model.loops`` has them)."""
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
    """How far the loops and drives are from being closed, (rows,): displacements [length], cosines of angles that
    should be right, and errors of driven coordinates.

    Parameters
    ----------
    model
        The model; ``model.loops.loop`` says which loop a row belongs to.
    q
        Coordinates (nq,).
    time
        At which driven coordinates are looked up [time].
    """
    check_model(model, "loop_residuals")
    return loop_equations(model, q, np.zeros(model.nu), time).residual


def loop_jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    """The derivative J (rows, nu) of ``loop_residuals`` by the speeds: φ' = J u.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,).
    """
    check_model(model, "loop_jacobian")
    return loop_equations(model, q, np.zeros(model.nu)).jacobian
