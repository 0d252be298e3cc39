"""How well accelerations solve the equations of motion M u' + bias = 0, whoever computed them."""

import numpy as np

from articulon.dynamics import inverse_dynamics, mass_matrix
from articulon.model import Model
from benchmarks.chains import GRAVITY, Chain

DENSE_FREEDOMS = 1536
"""Up to this many degrees of freedom the mass matrix is formed."""


def backward_error(model: Model, c: Chain, udot: np.ndarray) -> float | None:
    """‖M u' + bias‖ / (‖M‖ ‖u'‖ + ‖bias‖), largest norms (Higham 2002, theorem 7.1); None where M is too large to form.

    It is the least relative change of M and the bias that makes ``udot`` exact. M comes from the composite-rigid-body
    algorithm and the bias from inverse dynamics, which share no recursion with the articulated-body algorithm; the
    product is summed in extended precision.
    """
    if model.nu > DENSE_FREEDOMS:
        return None
    M, b = mass_matrix(model, c.q), bias(model, c)
    miss = M.astype(np.longdouble) @ udot + b
    size = np.abs(M).sum(axis=1).max() * np.abs(udot).max() + np.abs(b).max()
    return float(np.abs(miss).max() / size)


def residual(model: Model, c: Chain, udot: np.ndarray) -> float:
    """‖M u' + bias‖ / ‖bias‖, Euclidean norms, the numerator by inverse dynamics: the forces that ``udot`` leaves
    unbalanced; not a number where ``udot`` is not finite. Stricter than the backward error, by far in long chains,
    whose ‖M‖ grows as the cube of their length."""
    if not np.isfinite(udot).all():
        return float("nan")
    miss = inverse_dynamics(model, c.q, c.u, udot, gravity=GRAVITY)
    return float(np.linalg.norm(miss) / np.linalg.norm(bias(model, c)))


def bias(model: Model, c: Chain) -> np.ndarray:
    """Forces of inertia and gravity without accelerations, (degrees of freedom,)."""
    return inverse_dynamics(model, c.q, c.u, np.zeros(model.nu), gravity=GRAVITY)
