"""Flexible bodies with some modes locked. The nodes stay the same, and the deformation by the locked modes becomes the
new reference shape.

The modal coordinates are split into locked and active ones, η = η_l + η_a, and every integral over the body in the
equations of motion is expanded about η_l. This is exact because no integral is of higher than second order. The tables
change as follows (:mod:`articulon.model.mode_tables` defines the symbols of the nodes and modes):

    first moment h(η_l), inertia A(η_l)              in place of h0, A0
    tensors N_a(η_l) of the active modes             in place of N0_a
    node positions X0 + Φ_l η_l                      in place of X0
    half rotations ½ Ψ_l η_l of the nodes            in place of 0
    a constant force −K_al η_l on the active modes   in place of 0

A body without active modes is rigid, and sites and joints on its nodes are attached to the body.
"""

from typing import NamedTuple

import numpy as np

from articulon.adaptive.lockable import Joints, ModeIndex
from articulon.model import Forest
from articulon.model.joints import WELD
from articulon.model.mode_tables import Flexible
from articulon.model.modes import ModeShapes


class Deformed(NamedTuple):
    """A forest in which flexible bodies are rigid bodies, deformed by their locked modes."""

    forest: Forest
    """Forest without mode tables. The positions of nodes, the rotations of nodes that no longer move, the first moments
    and the inertias are those of the deformed bodies."""
    fixed: np.ndarray
    """Links that do not move relative to their parents, shape (links,)."""
    welded: np.ndarray
    """Links whose joints are locked, shape (links,)."""
    with_active_modes: np.ndarray
    """Flexible bodies with active modes, shape (bodies,)."""
    active: np.ndarray
    """Active modes, shape (modes,)."""
    coriolis: np.ndarray
    """Tensors N_j(η_l), shape (modes, 9)."""
    locked_force: np.ndarray
    """Forces −K_jl η_l, shape (modes,)."""
    half_turn: np.ndarray
    """Half rotations ½ Ψ_l η_l of the nodes, shape (nodes, 3)."""


def deformed(forest: Forest, joints: Joints, q: np.ndarray, locked: np.ndarray) -> Deformed | None:
    """Deform the flexible bodies by their locked modes at coordinates q; None if no body is flexible."""
    tables, index = forest.flexible, joints.modes
    if tables is None or index is None:
        return None
    held = locked[joints.links :]
    eta = np.where(held, q[index.q], 0.0)
    rest = tables.coriolis[index.own]
    coriolis, locked_force = rest.copy(), np.zeros(eta.size)
    across = eta[index.column]
    np.add.at(coriolis, index.row, across[:, None] * tables.coriolis_slope[index.own_pair])
    np.add.at(locked_force, index.row, -across * tables.stiffness[index.own_pair])
    # The symmetric part of A(η) = A0 + Σ_j η_j (N0_jᵀ + N_j(η)).
    both = coriolis + rest
    six = 0.5 * (both[:, _UPPER] + both[:, _LOWER])
    moment, inertia, position = forest.moment.copy(), forest.inertia.copy(), forest.position.copy()
    np.add.at(moment, index.link, eta[:, None] * tables.first[index.own])
    np.add.at(inertia, index.link, eta[:, None] * six)
    there, half_turn = eta[index.node_mode][:, None], np.zeros(tables.half_turn.shape)
    np.add.at(position, index.node_link[index.node], there * tables.displacement)
    np.add.at(half_turn, index.node, 0.5 * there * tables.turn)
    with_active_modes = np.bincount(index.body, ~held, minlength=tables.q_start.size) > 0
    moves = np.zeros(joints.links + 1, dtype=bool)  # the last entry is the ground
    moves[:-1][tables.body >= 0] = with_active_modes
    on_node, welded = tables.node >= 0, locked[: joints.links]
    fixed = np.where(on_node, ~moves[forest.parent], (welded | (forest.kind == WELD)) & ~moves[:-1])
    rotation, still = forest.rotation.copy(), fixed[index.node_link]
    turned = np.insert(half_turn[still], 0, 1.0, axis=1)
    rotation[index.node_link[still]] = turned / np.linalg.norm(turned, axis=1)[:, None]
    rigid = forest._replace(moment=moment, inertia=inertia, position=position, rotation=rotation, flexible=None)
    return Deformed(rigid, fixed, welded, with_active_modes, ~held, coriolis, locked_force, half_turn)


_UPPER, _LOWER = [0, 1, 2, 4, 5, 8], [0, 3, 6, 4, 7, 8]
"""Indices of entries of N that are averaged in pairs, which gives the six entries of a symmetric matrix."""


def active_tables(
    tables: Flexible,
    index: ModeIndex,
    held: Deformed,
    links: np.ndarray,
    parent: np.ndarray,
    numbers: tuple[np.ndarray, np.ndarray],
) -> Flexible:
    """Return the tables of the flexible bodies that have active modes.

    Parameters
    ----------
    tables, index
        Tables and index of the fine forest.
    held
        Forest deformed by the locked modes.
    links
        Fine link of each coarse link, shape (coarse links,).
    parent
        Parents of the coarse links, shape (coarse links,).
    numbers
        Coarse coordinate of each fine coordinate, and coarse speed of each fine speed, shapes (nq,) and (nu,).
    """
    body = tables.body[links]
    body = np.where((body >= 0) & held.with_active_modes[body], body, -1) if held.with_active_modes.size else body
    bodies, nodes = body[body >= 0], tables.node[links][tables.node[links] >= 0]
    rank, node_rank = _ranks(bodies, held.with_active_modes.size), _ranks(nodes, tables.node_mode.size)
    mode = _in_order(rank[index.body], held.active)
    pair = _in_order(rank[index.body[index.row]], held.active[index.row] & held.active[index.column])
    node_mode = _in_order(node_rank[index.node], held.active[index.node_mode] & (node_rank[index.node] >= 0))
    counts = np.bincount(rank[index.body[mode]], minlength=bodies.size)
    start, pair_start = _starts(counts), _starts(counts * counts)
    node_counts = np.bincount(node_rank[index.node[node_mode]], minlength=nodes.size)
    carries = np.zeros(parent.size, dtype=np.int64)
    carries[parent[parent >= 0]] = 1
    own, own_pair = index.own[mode], index.own_pair[pair]
    return Flexible(
        body=np.where(body >= 0, np.append(rank, -1)[body], -1),
        node=np.where(tables.node[links] >= 0, np.append(node_rank, -1)[tables.node[links]], -1),
        carries=carries,
        mode=start,
        pair=pair_start,
        own_mode=start[:-1].copy(),
        own_pair=pair_start[:-1].copy(),
        q_start=numbers[0][index.q[mode[start[:-1]]]],
        u_start=numbers[1][index.u[mode[start[:-1]]]],
        first=tables.first[own],
        coriolis=held.coriolis[mode],
        coriolis_slope=tables.coriolis_slope[own_pair],
        coupling_slope=tables.coupling_slope[own_pair],
        mass=tables.mass[own_pair],
        stiffness=tables.stiffness[own_pair],
        damping=tables.damping[own_pair],
        locked_force=held.locked_force[mode],
        node_mode=_starts(node_counts)[:-1].copy(),
        half_turn=held.half_turn[nodes],
        displacement=tables.displacement[node_mode],
        turn=tables.turn[node_mode],
    )


def active_shapes(shapes: ModeShapes, eta: np.ndarray, active: np.ndarray) -> ModeShapes:
    """Return the active modes of a body, with the deformation by its locked modes as the new reference shape. ``eta``
    (modes,) are the locked coordinates, and ``active`` (modes,) marks the active modes."""
    fixed = np.where(active, 0.0, eta)
    return shapes._replace(
        positions=shapes.positions + shapes.shapes @ fixed,
        shapes=shapes.shapes[:, :, active],
        rotations=shapes.rotations[:, :, active],
        stiffness=shapes.stiffness[np.ix_(active, active)],
        damping=shapes.damping[np.ix_(active, active)],
    )


def _ranks(chosen: np.ndarray, count: int) -> np.ndarray:
    """Return the rank of each of ``count`` items among the chosen items, with −1 for items that are not chosen."""
    result = np.full(count, -1)
    result[chosen] = np.arange(chosen.size)
    return result


def _in_order(rank: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the chosen items, ordered by the rank of their owners."""
    found = np.flatnonzero(chosen)
    return found[np.argsort(rank[found], kind="stable")]


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
