"""Derivatives of the accelerations of models with flexible bodies, with and without loops, from derivatives of inverse
dynamics.

With D = ∂τ/∂q at fixed u', ∂u'/∂q = −M⁻¹ D. The terms of loops are in ``loop_derivatives.py``.
"""

from typing import Any

import numpy as np

from articulon.dynamics.derivatives.complex_steps import acting_on, along
from articulon.dynamics.derivatives.loop_derivatives import LoopTerms, answer_of_rows, held, multipliers
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.dynamics.multibody_functions import check_turns, forward_dynamics, inverse_dynamics, mass_matrix, vector
from articulon.inputs import array
from articulon.model import Model


def given_state(model: Model, q: Any, u: Any, wrenches: Any, gravity: Any) -> tuple[Any, ...]:
    """A state, with its wrenches and gravity, as arrays. Raises ModelError as :func:`articulon.derivatives` does."""
    state = vector(q, model.nq, "q"), vector(u, model.nu, "u")
    check_turns(model, state[0][None])
    loads = None if wrenches is None else array(wrenches, (model.bodies, 6), "wrenches")
    return *state, loads, vector(gravity, 3, "gravity")


def force_matrices(
    model: Model, q: np.ndarray, u: np.ndarray, udot: np.ndarray, wrenches: Any, gravity: Any
) -> tuple[np.ndarray, np.ndarray]:
    """∂τ/∂q and ∂τ/∂u (nu, nu) of the joints and modes, without loops."""
    q, u, wrenches, gravity = given_state(model, q, u, wrenches, gravity)
    acting, n = acting_on(model, q, udot, wrenches, gravity), model.nu
    by_force, _ = along(model, q, u, acting, np.eye(2 * n, n), np.eye(2 * n, n, -n))
    return by_force[:n].T.copy(), by_force[n:].T.copy()


def acceleration_matrices(
    model: Model, q: np.ndarray, u: np.ndarray, tau: np.ndarray, wrenches: Any, gravity: Any, time: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂u'/∂q, ∂u'/∂u and ∂u'/∂τ (nu, nu)."""
    q, u, wrenches, gravity = given_state(model, q, u, wrenches, gravity)
    udot, n = forward_dynamics(model, q, u, tau, wrenches, gravity, time=time), model.nu
    acting, inverse = acting_on(model, q, udot, wrenches, gravity), np.linalg.inv(mass_matrix(model, q))
    inverse = 0.5 * (inverse + inverse.T)
    looped = bool(model.loops.kind.size)
    if looped:
        equations = loop_equations(model, q, u, time)
        # Rows that act on nothing hold only rounding errors.
        J = np.where(equations.live[:, None], equations.jacobian, 0.0)
        answer = answer_of_rows(J, inverse)
        exerted = inverse_dynamics(model, q, u, udot, wrenches, gravity) - tau
        acting = acting._replace(multiplier=multipliers(answer, exerted))
    by_force, by_row = along(model, q, u, acting, np.eye(2 * n, n), np.eye(2 * n, n, -n))
    by_q, by_u = by_force[:n].T, by_force[n:].T
    if not looped:
        return -inverse @ by_q, -inverse @ by_u, inverse
    by_row = np.where(equations.live, by_row, 0.0)
    return held(LoopTerms(J, by_row[:n].T, by_row[n:].T), answer, by_q, by_u, inverse)


def acceleration_change(model: Model, q: Any, u: Any, changes: np.ndarray, wrenches: Any, gravity: Any) -> np.ndarray:
    """Change δu' (nu,) from τ, δq, δu and δτ (4, nu), for a model without loops, in O(n)."""
    q, u, wrenches, gravity = given_state(model, q, u, wrenches, gravity)
    tau, shift, speed, push = changes
    acting = acting_on(model, q, forward_dynamics(model, q, u, tau, wrenches, gravity), wrenches, gravity)
    by_force, _ = along(model, q, u, acting, shift[None], speed[None])
    return forward_dynamics(model, q, np.zeros(model.nu), push - by_force[0])
