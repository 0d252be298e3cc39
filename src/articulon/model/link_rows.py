"""Rows from which links are made: one for each body, and one for each node that carries a joint or a site."""

from typing import NamedTuple

import numpy as np

from articulon.model.joints import WELD, Joint
from articulon.model.mode_tables import Flexibility, Flexible, flexible_tables

SHAPED = ("mass", "com", "inertia", "position", "rotation")


class LinkRows(NamedTuple):
    """Rows of bodies in their order; the row of a flexible body is followed by those of its nodes that carry
    something."""

    body: np.ndarray
    """Body of each row; for a node, its flexible body, shape (rows,)."""
    node: np.ndarray
    """Node of each row, −1 for a body, shape (rows,)."""
    of_body: np.ndarray
    """Row of each body, shape (bodies,)."""
    of_node: dict[tuple[int, int], int]
    """Row of each node that has one, by body and node."""
    flexible: np.ndarray
    """Whether a row is a flexible body, shape (rows,)."""
    kinds: np.ndarray
    """Joint kind of each row; for a node, the kind of the weld, shape (rows,)."""
    q_start: np.ndarray
    """First coordinate of the joint of each row's body, shape (rows,)."""
    u_start: np.ndarray
    """First speed of the joint of each row's body, shape (rows,)."""
    columns: dict[str, np.ndarray]
    """Columns of a builder's bodies by name, with rows of nodes added; empty if no body is flexible."""

    def tables(
        self, heads: np.ndarray, parent: np.ndarray, joints: list[Joint], flexibility: Flexibility
    ) -> Flexible | None:
        """Return the tables of flexible bodies, with the rows ``heads`` as links; None if there are none."""
        if not flexibility.modes:
            return None
        flexible, on_node = np.flatnonzero(self.flexible[heads]), np.flatnonzero(self.node[heads] >= 0)
        body, node = np.full(heads.size, -1), np.full(heads.size, -1)
        body[flexible], node[on_node] = np.arange(flexible.size), np.arange(on_node.size)
        whose = self.body[heads[flexible]].tolist()
        return flexible_tables(
            [flexibility.modes[k] for k in whose],
            body,
            node,
            parent,
            self.node[heads[on_node]].tolist(),
            self.q_start[heads[flexible]] + np.array([joints[k].nq for k in whose], dtype=np.int64),
            self.u_start[heads[flexible]] + np.array([joints[k].nu for k in whose], dtype=np.int64),
        )

    def node_sites(self, carriers: np.ndarray, rank: np.ndarray, flexibility: Flexibility) -> dict[int, int]:
        """Link of each site on a node, by site; ``carriers`` (sites,) are the sites' bodies, and ``rank`` the links of
        rows."""
        nodes = flexibility.site_nodes
        on_node = np.flatnonzero(nodes >= 0).tolist()
        return {s: int(rank[self.of_node[int(carriers[s]), int(nodes[s])]]) for s in on_node}


def link_rows(
    columns: dict[str, np.ndarray], joints: list[Joint], site_bodies: np.ndarray, flexibility: Flexibility
) -> LinkRows:
    """Return the rows of bodies and of the nodes that carry joints or sites. ``columns`` and ``joints`` are in body
    order, parents first; ``site_bodies`` (sites,) are the bodies of the sites."""
    n, modes = len(joints), flexibility.modes
    kinds = np.fromiter((joint.kind for joint in joints), np.int64, n)
    sizes_q = np.fromiter((joint.nq for joint in joints), np.int64, n)
    sizes_u = np.fromiter((joint.nu for joint in joints), np.int64, n)
    for k, one in modes.items():
        sizes_q[k] += one.stiffness.shape[0]
        sizes_u[k] += one.stiffness.shape[0]
    q_start, u_start = np.cumsum(sizes_q) - sizes_q, np.cumsum(sizes_u) - sizes_u
    if not modes:
        every, none = np.arange(n), np.full(n, -1)
        return LinkRows(every, none, every, {}, np.zeros(n, dtype=bool), kinds, q_start, u_start, {})

    parent, joint_nodes = columns["parent"], flexibility.joint_nodes
    used: dict[int, set[int]] = {k: set() for k in modes}
    for k, node in joint_nodes.items():
        used[int(parent[k])].add(node)
    for carrier, node in zip(site_bodies.tolist(), flexibility.site_nodes.tolist(), strict=True):
        if node >= 0:
            used[carrier].add(node)
    pairs = [(k, node) for k in range(n) for node in (-1, *sorted(used.get(k, ())))]
    body, node_of = np.array(pairs, dtype=np.int64).T.copy()
    on_node = np.flatnonzero(node_of >= 0)
    rows = {pair: row for row, pair in enumerate(pairs)}
    of_body = np.array([rows[k, -1] for k in range(n)], dtype=np.int64)

    result = {name: columns[name][body] for name in SHAPED}
    for name in ("mass", "com", "inertia"):
        result[name][on_node] = 0.0
    result["rotation"][on_node] = (1.0, 0.0, 0.0, 0.0)
    for row in on_node.tolist():
        result["position"][row] = modes[int(body[row])].positions[node_of[row]]
    carrier = {k: -1 if parent[k] < 0 else rows[int(parent[k]), joint_nodes.get(k, -1)] for k in range(n)}
    result["parent"] = np.array([carrier[k] if node < 0 else of_body[k] for k, node in pairs], dtype=np.int64)
    return LinkRows(
        body,
        node_of,
        of_body,
        {pair: row for pair, row in rows.items() if pair[1] >= 0},
        np.isin(body, list(modes)) & (node_of < 0),
        np.where(node_of >= 0, WELD, kinds[body]),
        q_start[body],
        u_start[body],
        result,
    )
