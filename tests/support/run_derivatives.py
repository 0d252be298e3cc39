"""What derivatives of runs are held against: differences of runs, and objectives of a run's end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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


def agree_to(found: Any, expected: Any, bound: float) -> bool:
    """Whether numbers agree to a fraction of their size, or of 1 if they are small."""
    return bool(np.abs(np.subtract(found, expected)).max() <= bound * (1.0 + np.abs(expected).max()))


def check_methods_and_checkpoints(model: ar.Model, objective: Any, names: list[str], **run: Any) -> None:
    """The adjoint is the forward method to 1e-12 of the size of a derivative, and has the same bits with three
    checkpoints as with the usual number."""
    adjoint = ar.sensitivity(model, objective, names, **run)
    forward = ar.sensitivity(model, objective, names, "forward", **run)
    few = ar.sensitivity(model, objective, names, checkpoints=3, **run)
    assert forward.value == pytest.approx(adjoint.value, rel=1e-13)
    for name in names:
        size = 1.0 + np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(adjoint.gradient[name], forward.gradient[name])).max() <= 1e-12 * size, name
        assert np.array_equal(few.gradient[name], adjoint.gradient[name]), name
