"""Tables of flexible bodies that kernels read: modes in a floating frame, and nodes that carry a joint or a site.

A flexible body is a link. Its floating frame is the frame of handle 1, to which the joint to the parent is attached.
Its nodes are at X(η) = X0 + Σ_j Φ_j η_j in that frame, with mode shapes Φ_j and modal coordinates η. The modal
coordinates follow the coordinates of the joint in the model's q, and the modal speeds η' follow the speeds of the joint
in u (Poursina 2012, 2.1 and 4.1).

A node with a joint, a welded body or a site is a link of its own, with no mass except the mass of welded bodies. Sites,
forces, loop constraints and children treat it like any other link. It has no joint and follows the deformation of its
parent, the flexible body. Its frame is rotated relative to the floating frame by the Euler parameters (1, p)/√(1 + p²)
with p = Ψη/2, where Ψ are the modes' rotations at the node, so that

    ω_rel = Ψ̂ η'      with Ψ̂_j = (Ψ_j + p × Ψ_j)/(1 + p²)      and      Ψ̂' η' = −(2 p·p'/(1 + p²)) ω_rel

This relation is exact for any angle.
"""

from typing import NamedTuple

import numpy as np

from articulon.model.modes import ModeShapes, inertia_integrals


class Flexible(NamedTuple):
    """Flexible bodies and their nodes, in the floating frame. The modes of all bodies are concatenated, and so are the
    pairs of modes, body by body and row by row. There is a *node mode* for each node and each mode of its body.
    Integrals of modes are stored once for all bodies that share the modes."""

    body: np.ndarray
    """Index of the flexible body for each link, −1 for others, shape (links,)."""
    node: np.ndarray
    """Index of the node for each link, −1 for others, shape (links,)."""
    carries: np.ndarray
    """1 if a link is the parent of another, shape (links,)."""
    mode: np.ndarray
    """First mode of each body, and their number at the end, shape (bodies + 1,)."""
    pair: np.ndarray
    """First pair of modes of each body, and their number at the end, shape (bodies + 1,)."""
    own_mode: np.ndarray
    """First row of each body's modes in the tables of integrals, shape (bodies,)."""
    own_pair: np.ndarray
    """First row of each body's pairs of modes in the tables of integrals, shape (bodies,)."""
    q_start: np.ndarray
    """First modal coordinate of each body in q, shape (bodies,)."""
    u_start: np.ndarray
    """First modal speed of each body in u, shape (bodies,)."""
    first: np.ndarray
    """S1_j = Σ m Φ_j over the nodes [mass], shape (different modes, 3)."""
    coriolis: np.ndarray
    """N0_j = Σ m (X0·Φ_j 1 − Φ_j X0ᵀ) over the nodes, matrix by rows [mass length], shape (different modes, 9)."""
    coriolis_slope: np.ndarray
    """N1_jk = Σ m (Φ_j·Φ_k 1 − Φ_j Φ_kᵀ) over the nodes, matrix by rows [mass], shape (pairs of different modes, 9)."""
    coupling_slope: np.ndarray
    """B1_jk = Σ m Φ_k × Φ_j over the nodes [mass], shape (pairs of different modes, 3)."""
    mass: np.ndarray
    """Mass matrix M_jk = Σ m Φ_j·Φ_k over the nodes [mass], shape (pairs of different modes,)."""
    stiffness: np.ndarray
    """Stiffness matrix K_jk [mass/time²], shape (pairs of different modes,)."""
    damping: np.ndarray
    """Damping matrix D_jk [mass/time], shape (pairs of different modes,)."""
    locked_force: np.ndarray
    """Constant force on each mode from locked modes l, −Σ_l K_jl η_l, zero if none is locked [force], shape
    (modes,)."""
    node_mode: np.ndarray
    """First node mode of each node, shape (nodes,)."""
    half_turn: np.ndarray
    """Vector p of each node at η = 0, due to locked modes, zero if none is locked, shape (nodes, 3)."""
    displacement: np.ndarray
    """Displacement Φ_j at the node [dimensionless], shape (node modes, 3)."""
    turn: np.ndarray
    """Rotation Ψ_j at the node [rad/length], shape (node modes, 3)."""


class ModalWorkspace(NamedTuple):
    """Scratch arrays for flexible bodies, which are not part of the state."""

    moment: np.ndarray
    """First moment of mass h(η) of every link, link frame [mass length], shape (links, 3)."""
    inertia: np.ndarray
    """Rotational inertia A(η) of every link, link frame [mass length²], shape (links, 6)."""
    coriolis: np.ndarray
    """Matrices N_j(η) = N0_j + Σ_k N1_jk η_k, floating frame [mass length], shape (modes, 9)."""
    speed: np.ndarray
    """Modal speeds η', shape (modes,)."""
    half_turn: np.ndarray
    """Vector p of every node, floating frame, shape (nodes, 3)."""
    column: np.ndarray
    """Angular and linear velocity of a node at unit modal speed, world axes, shape (node modes, 6)."""
    swept: np.ndarray
    """Moment and force due to the velocity products of the deformation, world axes, shape (bodies, 6)."""
    coupling: np.ndarray
    """Coupling Γ_FR: moment and force at unit modal acceleration, world axes, shape (modes, 6)."""
    matrix: np.ndarray
    """Modal mass matrix Γ_FF; later its Cholesky factor L, below and on the diagonal, shape (pairs,)."""
    gain: np.ndarray
    """L⁻¹ Γ_FR, shape (modes, 6)."""
    rate: np.ndarray
    """Modal bias; later L⁻¹ times the modal forces, shape (modes,)."""
    held_matrix: np.ndarray
    """Rows of Γ_FF for locked modes, shape (pairs,)."""
    held_coupling: np.ndarray
    """Γ_FR of locked modes, shape (modes, 6)."""
    locked_response: np.ndarray
    """Response of the tip of an assembly to locked modes, shape (modes, 6)."""
    accelerations: np.ndarray
    """Accelerations of the links under unit forces of the loops, shape (links, 6)."""


class Flexibility(NamedTuple):
    """Flexible bodies of a model, in the form in which they are declared."""

    modes: dict[int, ModeShapes]
    """Modes of each flexible body."""
    joint_nodes: dict[int, int]
    """Node of the parent to which the joint of each body is attached, by body."""
    site_nodes: np.ndarray
    """Node to which each site is attached, −1 for none, shape (sites,)."""


RIGID = Flexibility({}, {}, np.zeros(0, dtype=np.int64))
"""Value for a model of rigid bodies."""


def modal_workspace(tables: Flexible, moment: np.ndarray, inertia: np.ndarray) -> ModalWorkspace:
    """Allocate scratch arrays. ``moment`` and ``inertia`` are the values of rigid links, which kernels do not
    change."""
    modes, pairs = int(tables.mode[-1]), int(tables.pair[-1])
    nodes, node_modes, bodies = tables.node_mode.size, tables.displacement.shape[0], tables.q_start.size
    return ModalWorkspace(
        moment.copy(),
        inertia.copy(),
        np.zeros((modes, 9)),
        np.zeros(modes),
        np.zeros((nodes, 3)),
        np.zeros((node_modes, 6)),
        np.zeros((bodies, 6)),
        np.zeros((modes, 6)),
        np.zeros(pairs),
        np.zeros((modes, 6)),
        np.zeros(modes),
        np.zeros(pairs),
        np.zeros((modes, 6)),
        np.zeros((modes, 6)),
        np.zeros((tables.body.size, 6)),
    )


def flexible_tables(
    shapes: list[ModeShapes],
    body: np.ndarray,
    node: np.ndarray,
    parent: np.ndarray,
    places: list[int],
    q_start: np.ndarray,
    u_start: np.ndarray,
) -> Flexible:
    """Return the tables of flexible bodies with their modes, in the order of their links.

    ``body`` and ``node`` (links,) number the links that are flexible bodies and nodes, ``parent`` (links,) are the
    links' parents, and ``places`` gives, for each link that is a node, the node's index in its body.
    """
    counts = [one.stiffness.shape[0] for one in shapes]
    different = list({id(one): one for one in shapes}.values())
    number = {id(one): k for k, one in enumerate(different)}
    which = np.array([number[id(one)] for one in shapes], dtype=np.int64)
    sizes_of = [one.stiffness.shape[0] for one in different]
    integrals = [inertia_integrals(one) for one in different]
    displacement, turn, sizes = [], [], []
    for link, place in zip(np.flatnonzero(node >= 0).tolist(), places, strict=True):
        one = shapes[int(body[parent[link]])]
        displacement.append(one.shapes[place].T)
        # A node without known rotations carries only points, so its rotations are not needed.
        turn.append(np.nan_to_num(one.rotations[place].T, nan=0.0))
        sizes.append(one.stiffness.shape[0])
    carries = np.zeros(parent.size, dtype=np.int64)
    carries[parent[parent >= 0]] = 1

    def joined(parts: list[np.ndarray], *shape: int) -> np.ndarray:
        flat = [np.ascontiguousarray(part).reshape(-1, *shape) for part in parts]
        return np.concatenate(flat or [np.zeros((0, *shape))])

    return Flexible(
        body=body,
        node=node,
        carries=carries,
        mode=_starts(counts),
        pair=_starts([count * count for count in counts]),
        own_mode=_starts(sizes_of)[which],
        own_pair=_starts([count * count for count in sizes_of])[which],
        q_start=q_start,
        u_start=u_start,
        first=joined([one.S1 for one in integrals], 3),
        coriolis=joined([one.N0 for one in integrals], 9),
        coriolis_slope=joined([one.N1 for one in integrals], 9),
        coupling_slope=joined([one.B1 for one in integrals], 3),
        mass=joined([one.M for one in integrals]),
        stiffness=joined([one.stiffness for one in different]),
        damping=joined([one.damping for one in different]),
        locked_force=np.zeros(sum(counts)),
        node_mode=_starts(sizes)[:-1].copy(),
        half_turn=np.zeros((len(sizes), 3)),
        displacement=joined(displacement, 3),
        turn=joined(turn, 3),
    )


def _starts(counts: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
