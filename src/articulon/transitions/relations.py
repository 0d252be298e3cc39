"""Dependence of the speeds of the fine model on the speeds of the coarse model, in O(n) for each released speed."""

from typing import NamedTuple

import numpy as np

from articulon.dynamics.dca.masked_impulses import Jumps, jumps
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.dynamics.multibody_functions import inverse_dynamics
from articulon.errors import TransitionError
from articulon.model import Model
from articulon.transitions.axes import axis_name


class Relations(NamedTuple):
    """Matrices of the speeds that conservation of momentum allows if m speeds are released (equations in
    ``choices.py``)."""

    columns: np.ndarray
    """Response W of all speeds to each released speed, shape (m, nu). It is 1 for the released speed itself, and 0 for
    the other released speeds and the locked speeds."""
    schur: np.ndarray
    """Schur complement S = W M Wᵀ of the mass matrix, shape (m, m)."""
    metric: np.ndarray
    """Metric G = W Wᵀ, shape (m, m)."""
    rank: int
    """Number of independent rows of the loops in the coarse model."""


def relations(model: Model, q: np.ndarray, locked: np.ndarray, released: np.ndarray) -> Relations:
    """Compute W, S and G for the release of some of the locked speeds (nu,), by one assembly of the coarse model.

    The assembly has a column for a unit jump of each released speed. S is the matrix of the impulses that these jumps
    need.
    """
    places = np.flatnonzero(released)
    unit = np.zeros((places.size, model.nu))
    unit[np.arange(places.size), places] = 1.0
    found = jumps(model, q, locked, unit)
    check_loops(model, q, locked & ~released, released, found)
    schur = found.impulses[:, places]
    return Relations(found.speeds, 0.5 * (schur + schur.T), found.speeds @ found.speeds.T, found.rank)


def generalised_momentum(model: Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Compute the generalised momentum M u (nu,) in O(n)."""
    return inverse_dynamics(model, q, np.zeros(model.nu), u)


def check_loops(model: Model, q: np.ndarray, before: np.ndarray, changed: np.ndarray, found: Jumps) -> None:
    """Raise TransitionError if loops need the joints that are locked.

    Loops need a joint if, after the lock, the free speeds have fewer independent constraints than before. The speed of
    a locked axis then follows from the other speeds, and the axis cannot be locked.
    """
    if not model.loops.kind.size:
        return
    if found.rank >= int(model.loops.rank[0]):
        return
    nothing = np.zeros((1, model.nu))
    whole = jumps(model, q, before, nothing).rank
    if found.rank >= whole:
        return
    # Bisection finds the smallest number of axes, taken in order, that reduces the rank; the message names the last of
    # them.
    places = np.flatnonzero(changed)
    few, many = 0, places.size
    while many - few > 1:
        some, mask = (few + many) // 2, before.copy()
        mask[places[:some]] = True
        if jumps(model, q, mask, nothing).rank < whole:
            many = some
        else:
            few = some
    speed = int(places[many - 1])
    entries = np.abs(loop_equations(model, q, np.zeros(model.nu)).jacobian[:, speed])
    loop = model.loop_name(int(np.argmax(entries > 0.5 * entries.max())))
    raise TransitionError(
        f"lock: {loop} needs {axis_name(model, speed)}: with the other locked axes, the loop already determines its "
        "motion; keep this axis free, or another one of the same loop"
    )
