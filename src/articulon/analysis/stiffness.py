"""Shortest time scale of each force channel, from the equations of motion linearised at the initial state."""

from __future__ import annotations

import numpy as np

from articulon.forces.evaluation import Evaluator
from articulon.integrate.tableaux import Tableau
from articulon.model import CHANNELS, Model
from articulon.model.state import CONFORMATIONAL, CONTACT, DAMPING, EXTERNAL, POTENTIAL

MOST_SPEEDS = 600
"""Maximum number of speeds for which the matrices are computed."""
DIFFERENCE = 1e-6
"""Displacement of coordinates for finite differences, in radians or in the unit of length."""


def stiffest(model: Model) -> dict[str, float]:
    """Return the shortest time scale of each channel [time], the shortest first.

    It is 1/|λ| for damping, where λ is the largest eigenvalue of ∂u'/∂u. For other channels it is 1/√|λ|, where λ is
    the largest eigenvalue of ∂u'/∂q. The result is empty for a model with loops or with more than :data:`MOST_SPEEDS`
    speeds.

    The matrices are those of whole trees. The inertia of the bodies that a light body carries is therefore included.
    """
    if model.nu > MOST_SPEEDS or model.loops.kind.size:
        return {}
    evaluator, nq, nu = Evaluator(model), model.nq, model.nu
    found: dict[str, float] = {}
    base, dy = np.zeros(nq + nu + 8), np.zeros(nq + nu + 8)
    base[:nq] = model.q0

    def accelerations(channel: int, y: np.ndarray) -> np.ndarray:
        factor = np.zeros(8)
        factor[channel] = 1.0
        evaluator.rates(factor, 0.0, 0, y, dy)
        return dy[nq : nq + nu].copy()

    present = {*evaluator.system.forces.wrench_channels.tolist(), *evaluator.system.forces.joint_channels.tolist()}
    for channel in (POTENTIAL, CONFORMATIONAL, DAMPING, CONTACT, EXTERNAL):
        if channel not in present:
            continue
        matrix = np.empty((nu, nu))
        for k in range(nu):
            two = []
            for sign in (1.0, -1.0):
                y = base.copy()
                if channel == DAMPING:
                    y[nq + k] += sign * DIFFERENCE
                else:
                    y[nq + k] = sign * DIFFERENCE
                    evaluator.rates(np.zeros(8), 0.0, 0, y, dy)
                    y[:nq] += dy[:nq]
                    y[nq + k] = 0.0
                two.append(accelerations(channel, y))
            matrix[:, k] = (two[0] - two[1]) / (2.0 * DIFFERENCE)
        if not np.isfinite(matrix).all():
            continue
        largest = float(np.abs(np.linalg.eigvals(matrix)).max(initial=0.0))
        if largest > 0.0:
            found[CHANNELS[channel]] = 1.0 / largest if channel == DAMPING else largest**-0.5
    return dict(sorted(found.items(), key=lambda item: item[1]))


def stability_bound(tableau: Tableau) -> float:
    """Return the largest h/τ for which an explicit rule is stable for y' = −y/τ.

    Beyond this value |R(−h/τ)| exceeds 1, where R is the stability polynomial of the tableau (Hairer and Wanner,
    Solving
    Ordinary Differential Equations II, IV.2).
    """
    stages, one = tableau.b.size, np.ones(tableau.b.size)

    def grows(z: float) -> bool:
        inner = np.linalg.solve(np.eye(stages) + z * tableau.a, one)
        return bool(abs(1.0 - z * float(tableau.b @ inner)) > 1.0 + 1e-12)

    low = next((z for z in np.arange(0.1, 20.0, 0.1) if grows(float(z))), 20.0) - 0.1
    high = low + 0.1
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return float(low)
