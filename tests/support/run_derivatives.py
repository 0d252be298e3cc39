"""What derivatives of runs are held against: differences of runs, and objectives of a run's end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import articulon as ar


def fourth_order(function: Callable[[float], Any], step: float) -> float:
    """The derivative of a function at zero by central differences of fourth order: its error is step⁴ f⁽⁵⁾/30."""
    near, far = function(step) - function(-step), function(2.0 * step) - function(-2.0 * step)
    return float(8.0 * near - far) / (12.0 * step)


def weighed(model: ar.Model, seed: int) -> tuple[np.ndarray, Callable[..., Any]]:
    """Random weights of the state at the end, (nq + nu,), and the objective that sums it with them."""
    weights = np.random.default_rng([seed, 3]).normal(size=model.nq + model.nu)
    of_q, of_u = weights[: model.nq], weights[model.nq :]
    return weights, lambda q, u: (of_q @ q + of_u @ u, of_q, of_u)
