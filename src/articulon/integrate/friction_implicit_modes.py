"""The passes of a friction-implicit step for the damping of the modes of flexible bodies.

The damping is part of the midpoint step of drag and noise, (A + h/2 D) Δu = h (−D u + …), where A and D are those of
the modes: h/2 D is added to the modal mass matrix, which the recursion eliminates as usual. The damping of modes has no
noise.
"""

from articulon.forces.modal_forces import modal_damping
from articulon.model.mode_tables import Flexible
from articulon.model.state import DAMPING
from articulon.passes import pass_of


def is_damped(tables: Flexible | None) -> bool:
    """Whether there are modes with damping."""
    return tables is not None and bool(tables.damping.any())


@pass_of
def add_modal_damping(tables, span, factor, mass):
    """Set the modal mass matrices with half of a time ``span`` (1,) of their damping added, shape (pairs,)."""
    s = 0.5 * span[0] * factor[DAMPING]
    for k in range(mass.size):
        mass[k] = tables.mass[k] + s * tables.damping[k]


@pass_of
def damp_modes(forest, factor, u, tau):
    """Compute the force of modal damping at u, with the factor of its channel, shape (nu,)."""
    for k in range(tau.size):
        tau[k] = 0.0
    modal_damping(forest, u, tau)
    for k in range(tau.size):
        tau[k] *= factor[DAMPING]


@pass_of
def book_modal_damping(forest, u, tau, powers):
    """Add the power of modal damping, unscaled, at the mean speeds to that of drag, ``powers[1]``; ``tau`` is
    scratch."""
    for k in range(tau.size):
        tau[k] = 0.0
    modal_damping(forest, u, tau)
    for k in range(tau.size):
        powers[1] += tau[k] * u[k]
