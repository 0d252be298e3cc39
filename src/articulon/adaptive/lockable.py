"""The lockable parts of a model: the whole joint of each link, and each mode of a flexible body separately.

The joints and modes are called the *parts* of a model. Joints come first and are numbered like the links; modes follow,
numbered as in the tables of flexible bodies. Nodes and welded bodies are links whose joints have no degrees of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from articulon.declaration import nearest
from articulon.dynamics import loop_jacobian
from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.model import Forest, Model, kernel_tables
from articulon.model.joints import BY_KIND, WELD

RANK = 1e-9
"""Relative singular value below which a constraint counts as redundant."""


@dataclass(frozen=True, eq=False)
class ModeIndex:
    """Positions of modes, pairs of modes and node modes in the tables of integrals, for all flexible bodies. A node
    mode is one mode at one node."""

    body: np.ndarray
    """Flexible body of each mode, shape (modes,)."""
    link: np.ndarray
    """Link of the flexible body of each mode, shape (modes,)."""
    own: np.ndarray
    """Row of each mode in the tables of integrals, shape (modes,)."""
    q: np.ndarray
    """Coordinate of each mode, shape (modes,)."""
    u: np.ndarray
    """Speed of each mode, shape (modes,)."""
    row: np.ndarray
    """First mode of each pair, shape (pairs,)."""
    column: np.ndarray
    """Second mode of each pair, shape (pairs,)."""
    own_pair: np.ndarray
    """Row of each pair in the tables of integrals, shape (pairs,)."""
    node: np.ndarray
    """Node of each node mode, shape (node modes,)."""
    node_mode: np.ndarray
    """Mode of each node mode, shape (node modes,)."""
    node_link: np.ndarray
    """Link of each node, shape (nodes,)."""

    @property
    def diagonal(self) -> np.ndarray:
        """Index of the pair of each mode with itself, shape (modes,)."""
        return np.flatnonzero(self.row == self.column)


@dataclass(frozen=True, eq=False)
class Joints:
    """Parts of a model, and the coordinates and speeds that belong to each."""

    q: np.ndarray
    """Part of each coordinate, shape (nq,)."""
    u: np.ndarray
    """Part of each speed, shape (nu,)."""
    start: np.ndarray
    """First speed of each part, shape (parts,)."""
    degrees_of_freedom: np.ndarray
    """Number of speeds of each part, shape (parts,)."""
    looped: np.ndarray
    """Whether each part lies between the two ends of a loop, shape (parts,)."""
    links: int
    """Number of links, which is the number of joints among the parts."""
    modes: ModeIndex | None
    """Index of the modes; None if no body is flexible."""

    def body(self, model: Model, part: int) -> int:
        """Return the body to which a joint or mode belongs."""
        link = part if part < self.links or self.modes is None else int(self.modes.link[part - self.links])
        return int(model.head[link])

    def name(self, model: Model, part: int) -> str:
        """Return the description of a part, such as "the joint of body 'arm'" or "mode 2 of body 'arm'"."""
        body = model.names[self.body(model, part)]
        return f"the joint of body '{body}'" if part < self.links else f"mode {self.number(part)} of body '{body}'"

    def number(self, part: int) -> int:
        """Return the number of a mode within its body, counted from one."""
        assert self.modes is not None
        mode = part - self.links
        return mode - int(np.searchsorted(self.modes.body, self.modes.body[mode])) + 1

    def modes_of(self, model: Model, body: int) -> np.ndarray:
        """Return the parts that are modes of a body, in their order."""
        if self.modes is None:
            return np.zeros(0, dtype=np.int64)
        return self.links + np.flatnonzero(self.modes.link == model.link[body])


def joints_of(model: Model) -> Joints:
    """Return the parts of a model, with the coordinates and speeds that belong to each."""
    forest = kernel_tables(model).forest
    index = mode_index(forest)
    links = forest.parent.size
    starts = forest.q_start, forest.u_start
    sizes = [np.array([getattr(BY_KIND[k], name) for k in forest.kind.tolist()], dtype=np.int64) for name in _SIZES]
    owners = np.empty(model.nq, dtype=np.int64), np.empty(model.nu, dtype=np.int64)
    for owner, start, count in zip(owners, starts, sizes, strict=True):
        which = np.repeat(np.arange(links), count)
        owner[np.repeat(start - (np.cumsum(count) - count), count) + np.arange(count.sum())] = which
    start, degrees_of_freedom = forest.u_start, sizes[1]
    looped = np.zeros(links, dtype=bool)
    for a, b in zip(model.loops.link_a.tolist(), model.loops.link_b.tolist(), strict=True):
        looped[sorted(set(_ancestors(forest, a)) ^ set(_ancestors(forest, b)))] = True
    if index is not None:
        modes = np.arange(index.body.size)
        owners[0][index.q], owners[1][index.u] = links + modes, links + modes
        start, degrees_of_freedom = (
            np.append(start, index.u),
            np.append(degrees_of_freedom, np.ones(modes.size, dtype=np.int64)),
        )
        # If there is a loop, all modes count as part of it, regardless of the nodes through which it passes.
        looped = np.append(looped, np.full(modes.size, bool(looped.any())))
    return Joints(*owners, start, degrees_of_freedom, looped, links, index)


_SIZES = ("nq", "nu")


def mode_index(forest: Forest) -> ModeIndex | None:
    """Return the index of the modes in the tables of the flexible bodies of a forest; None if there are none."""
    tables = forest.flexible
    if tables is None:
        return None
    counts = np.diff(tables.mode)
    body, k = _spread(counts)
    pair_body, pair = _spread(counts * counts)
    width = counts[pair_body]
    node_link = np.flatnonzero(tables.node >= 0)
    node_body = tables.body[forest.parent[node_link]]
    node, j = _spread(counts[node_body])
    return ModeIndex(
        body=body,
        link=np.flatnonzero(tables.body >= 0)[body],
        own=tables.own_mode[body] + k,
        q=tables.q_start[body] + k,
        u=tables.u_start[body] + k,
        row=tables.mode[pair_body] + pair // np.maximum(width, 1),
        column=tables.mode[pair_body] + pair % np.maximum(width, 1),
        own_pair=tables.own_pair[pair_body] + pair,
        node=node,
        node_mode=tables.mode[node_body[node]] + j,
        node_link=node_link,
    )


def _spread(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the owner of each item of a list, and the number of the item within its owner. ``counts`` is the number of
    items of each owner."""
    owner = np.repeat(np.arange(counts.size), counts)
    return owner, np.arange(owner.size) - (np.cumsum(counts) - counts)[owner]


def _ancestors(forest: Forest, link: int) -> list[int]:
    found = []
    while link >= 0:
        found.append(link)
        link = int(forest.parent[link])
    return found


def links_named(model: Model, bodies: Sequence[str | int], where: str = "locked") -> np.ndarray:
    """Return the links whose joints carry the named bodies. A name that ends in ``*`` matches all names with that
    beginning.

    Raises
    ------
    ModelError
        For a body that does not exist or whose joint cannot move.
    """
    moving = [k for k in model.head.tolist() if model.kinds[k] != WELD]
    found = _named(model, bodies, moving, "with a joint that moves ", where)
    for k in found:
        if model.kinds[k] == WELD:
            raise ModelError(
                f"{where}: body '{model.names[k]}' is welded to its parent and its joint cannot move; name a body "
                "whose joint moves"
            )
    return np.array(sorted({int(model.link[k]) for k in found}), dtype=np.int64)


def modes_named(
    model: Model, joints: Joints, bodies: Sequence[str | int], modes: str | Sequence[int], where: str = "locked"
) -> np.ndarray:
    """Return the parts that are modes of the named bodies. Modes are selected by their numbers, counted from one, or by
    ``"all"``. Names are matched as in :func:`links_named`.

    Raises
    ------
    ModelError
        For a body that does not exist or is rigid, and for a mode that the body does not have.
    """
    chosen: list[int] = []
    for k in _named(model, bodies, list(model.modes), "with modes ", where):
        own = joints.modes_of(model, k)
        if not own.size:
            raise ModelError(f"{where}: body '{model.names[k]}' is rigid and has no modes; name flexible bodies")
        for mode in range(1, own.size + 1) if isinstance(modes, str) else modes:
            if not 1 <= mode <= own.size:
                raise ModelError(
                    f"{where}: body '{model.names[k]}' has no mode {mode}; its modes are numbered 1 to {own.size}"
                )
            chosen.append(int(own[mode - 1]))
    return np.array(sorted(set(chosen)), dtype=np.int64)


def _named(model: Model, bodies: Sequence[str | int], able: list[int], what: str, where: str) -> list[int]:
    """Return the named bodies. A pattern with ``*`` matches only bodies in ``able``."""
    chosen: list[int] = []
    for name in bodies:
        if isinstance(name, str) and name.endswith("*"):
            found = [k for k in able if model.names[k].startswith(name[:-1])]
            if not found:
                raise ModelError(f"{where}: no body {what}has a name that begins with '{name[:-1]}'")
            chosen += found
            continue
        known = name in model.names if isinstance(name, str) else 0 <= name < model.bodies
        if not known:
            raise ModelError(f"{where}: there is no body {shown(name)}{nearest(str(name), model.names)}")
        chosen.append(model.body(name) if isinstance(name, str) else int(name))
    return chosen


def whole_joints(model: Model, mask: ArrayLike, where: str = "locked") -> np.ndarray:
    """Return which parts a mask over the speeds locks, shape (parts,); raises ModelError for a joint that is only
    partly locked."""
    given = np.asarray(mask, dtype=bool)
    if given.shape != (model.nu,):
        raise ModelError(f"{where}: expected a mask over the {model.nu} speeds, got the shape {given.shape}")
    joints = joints_of(model)
    count = np.bincount(joints.u[given], minlength=joints.degrees_of_freedom.size)
    part = np.flatnonzero((count > 0) & (count < joints.degrees_of_freedom))
    if part.size:
        i = int(part[0])
        body = joints.body(model, i)
        raise ModelError(
            f"{where}: {count[i]} of the {joints.degrees_of_freedom[i]} axes of the {model.joint_name(body)} joint of "
            f"body '{model.names[body]}' would be locked; bodies can only be merged if the whole joint is locked"
        )
    return (count > 0) & (joints.degrees_of_freedom > 0)


def check_loops(model: Model, joints: Joints, q: np.ndarray, locked: np.ndarray) -> None:
    """Raise ModelError if a driven joint is locked, or a joint or mode that a loop needs.

    If a joint or mode that a loop needs is locked, the constraints of the loop are no longer independent, or nothing
    between its ends can move.
    """
    if not model.loops.kind.size or not locked.any():
        return
    for drive in model.drives:
        if locked[model.link[drive.body]]:
            raise ModelError(
                f"drive '{drive.name}': the joint of body '{model.names[drive.body]}' follows a given motion and "
                "cannot be locked; leave out the joint or the drive"
            )
    needed = np.flatnonzero(locked & joints.looped)
    if not needed.size:
        return
    J = loop_jacobian(model, q)
    free = ~locked[joints.u]
    for loop in np.unique(model.loops.loop).tolist():
        rows = J[model.loops.loop == loop]
        if not rows.any():
            continue
        inside = np.abs(rows).max(axis=0) > 0.0
        whole, left = _rank(rows[:, inside]), _rank(rows[:, inside & free])
        guilty = [i for i in needed.tolist() if inside[joints.u == i].any()]
        if guilty and (left < whole or int((inside & free).sum()) <= left):
            row = int(np.flatnonzero(model.loops.loop == loop)[0])
            name = joints.name(model, guilty[0])
            kind = "joint" if guilty[0] < joints.links else "mode"
            raise ModelError(
                f"{model.loop_name(row)} needs {name}: if it is locked, the loop cannot move, or its conditions "
                f"are no longer independent; keep this {kind} free, or lock none of the loop"
            )


def _rank(rows: np.ndarray) -> int:
    if not rows.size:
        return 0
    s = np.linalg.svd(rows, compute_uv=False)
    return int((s > RANK * s[0]).sum()) if s[0] > 0.0 else 0
