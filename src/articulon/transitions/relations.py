"""How the speeds of the fine model follow from those of the coarse one, in O(n) for each released speed."""

from typing import NamedTuple

import numpy as np

from articulon.dynamics.dca.masked_impulses import Jumps, jumps
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.dynamics.multibody_functions import inverse_dynamics
from articulon.errors import TransitionError
from articulon.model import Model
from articulon.transitions.axes import axis_name


class Relations(NamedTuple):
    """What the momentum leaves open when m speeds are released (``choices.py`` has the equations)."""

    columns: np.ndarray
    """W: how all speeds follow each released one; 1 at its own place, 0 at the others' and at locked speeds, shape
    (m, nu)."""
    schur: np.ndarray
    """S = W M Wᵀ, the Schur complement of the mass matrix, shape (m, m)."""
    metric: np.ndarray
    """G = W Wᵀ, shape (m, m)."""
    rank: int
    """How many of the loops' rows are independent in the coarse model."""


def relations(model: Model, q: np.ndarray, locked: np.ndarray, released: np.ndarray) -> Relations:
    """W, S and G for the release of some of the locked speeds (nu,), by one assembly of the coarse model with a column
    for each: a unit jump of the speed, of which S is the impulse that it takes."""
    places = np.flatnonzero(released)
    unit = np.zeros((places.size, model.nu))
    unit[np.arange(places.size), places] = 1.0
    found = jumps(model, q, locked, unit)
    check_loops(model, q, locked & ~released, released, found)
    schur = found.impulses[:, places]
    return Relations(found.speeds, 0.5 * (schur + schur.T), found.speeds @ found.speeds.T, found.rank)


def generalised_momentum(model: Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """M u (nu,), in O(n)."""
    return inverse_dynamics(model, q, np.zeros(model.nu), u)


def check_loops(model: Model, q: np.ndarray, before: np.ndarray, changed: np.ndarray, found: Jumps) -> None:
    """Raises TransitionError where loops need the joints that are locked: where what is left free cannot fulfil as many
    independent conditions, so that the speed of one locked axis follows from the others'."""
    if not model.loops.kind.size:
        return
    if found.rank >= int(model.loops.rank[0]):
        return
    nothing = np.zeros((1, model.nu))
    whole = jumps(model, q, before, nothing).rank
    if found.rank >= whole:
        return
    # The fewest of the axes, in their order, that already do it: the last of these is one too many.
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
        f"lock: {loop} needs {axis_name(model, speed)}: with what else is locked, the loop already decides how it "
        "moves; leave this axis free, or another one of the same loop"
    )
