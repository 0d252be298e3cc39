"""Speeds drawn from N(0, kT M⁻¹) for forests with flexible bodies.

The modes of a body are eliminated before its joint (``flexible_articulated.py``). This adds the squares |Lᵀ η' + G V|²
to twice the kinetic energy, with L Lᵀ = Γ_FF and V the twist of the body. So the speeds of the modes are η' = L⁻ᵀ (z −
G V), with random numbers z of covariance kT in place of L⁻¹ Q. Nothing of z is passed on to the twist.
"""

from articulon.algebra.inertia import shift
from articulon.algebra.vectors import ZERO, load, load_matrix
from articulon.dynamics.articulated import add_to_parent, gather, gathered_at, store_inertia
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.flexible.flexible_articulated import condense_modes, load_modes
from articulon.dynamics.flexible.floating_frame import begin_bodies
from articulon.dynamics.momentum_sampling import apply_random_forces
from articulon.kernels import jit
from articulon.model.joints import WELD

apply_random_forces_rigid = apply_random_forces.rigid


@for_flexible(apply_random_forces)
def apply_random_forces_flexible(forest, moment, inertia, root, ws, draw, start, end):
    """Inward pass, with the inertias of the deformed bodies instead of the given ones."""
    body, kinds, modal = forest.flexible.body, forest.kind, ws.modal
    begin_bodies(forest, ws, start, end)
    for i in range(end - 1, start - 1, -1):
        if body[i] >= 0:
            apply_random_modal_forces(forest, root, ws, draw, i)
        if kinds[i] == WELD:
            load_follower(forest, ws, i)
        else:
            apply_random_forces_rigid(forest, modal.moment, modal.inertia, root, ws, draw, i, i + 1)


@jit
def apply_random_modal_forces(forest, root, ws, draw, i):
    """Eliminates the modes of body i under random forces; adds the change of its inertia to the sum over its
    children."""
    tables, modal, gathered, s = forest.flexible, ws.modal, ws.gathered, forest.slot[i]
    b = tables.body[i]
    start = tables.mode[b]
    A, H, M = condense_modes(forest, ws, i)
    for j in range(tables.mode[b + 1] - start):
        modal.rate[start + j] = root * draw.normal[tables.u_start[b] + j]
    if tables.carries[i]:
        A, H, M, _, _ = gather(gathered, s, A, H, M, ZERO, ZERO)
    store_inertia(gathered, s, A, H, M)
    for k in range(21, 27):
        gathered[s, k] = 0.0


@jit
def load_follower(forest, ws, i):
    """Adds the inertia that a node carries to its body, or that of a welded flexible body, without its modes, to its
    parent."""
    R, modal = load_matrix(ws.rotation, i), ws.modal
    # The forces of this sum are not used in a draw.
    A, H, M, _, _ = gathered_at(forest, forest.mass, modal.moment, modal.inertia, R, ws.twist, ws, i, ws.gathered[:0])
    if forest.parent[i] < 0:
        return
    r = load(ws.reach, i)
    load_modes(forest, ws, i, r, A, H, M)
    A, H = shift(r, A, H, M)
    add_to_parent(forest, ws.gathered, i, A, H, M, ZERO, ZERO)
