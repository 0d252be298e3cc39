"""The coarse model of a model some of whose joints are locked: each is a weld at its present coordinates.

Coordinates and speeds of the coarse model are those of the joints that still move, in the same order; so what a locked
joint leaves out is exactly its own columns, and going back and forth between the two rounds nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from articulon.adaptive.merge_kernel import find_slots, merge, points_on
from articulon.declaration import nearest
from articulon.dynamics import loop_jacobian
from articulon.dynamics.functions import vector
from articulon.errors import ArticulonError, ModelError
from articulon.model import Forest, Model
from articulon.model.joints import WELD, Weld
from articulon.model.loops import loop_rows
from articulon.model.rotations import matrices, quaternion_product

WELDED = Weld()
RANK = 1e-9
"""Singular value, over the largest, below which a condition follows from others."""


class Merged(NamedTuple):
    """What the links of the fine forest are merged into."""

    lead: np.ndarray
    """The link that carries each, itself where its joint moves, −1 for the ground, shape (links,)."""
    position: np.ndarray
    """Its origin in that link's frame [length], shape (links, 3)."""
    rotation: np.ndarray
    """Its frame to that link's, Euler parameters, shape (links, 4)."""
    joint_position: np.ndarray
    """Of the joints that move: origin of the joint frame in the frame of what its parent is merged into [length],
    shape (links, 3)."""
    joint_rotation: np.ndarray
    """Likewise the joint frame itself, shape (links, 4)."""
    mass: np.ndarray
    """Of what is merged into a link that moves [mass], shape (links,)."""
    moment: np.ndarray
    """Its first moment about the link's origin [mass length], shape (links, 3)."""
    inertia: np.ndarray
    """Its inertia there [mass length²], shape (links, 6)."""


@dataclass(frozen=True, eq=False)
class Merging:
    """How a coarse model follows from a fine one: the map between their coordinates, speeds and links."""

    locked: np.ndarray
    """Links of the fine model whose joints are locked, shape (links,)."""
    active: np.ndarray
    """The link of the fine model that each link of the coarse one is, shape (coarse links,)."""
    link: np.ndarray
    """The coarse link that carries each fine one, −1 for the ground, shape (links,)."""
    position: np.ndarray
    """Its origin there, shape (links, 3)."""
    rotation: np.ndarray
    """Its frame there, Euler parameters, shape (links, 4)."""
    q: np.ndarray
    """The fine coordinates that are coarse ones, shape (coarse nq,)."""
    u: np.ndarray
    """The fine speeds that are coarse ones, shape (coarse nu,)."""
    q_of: np.ndarray
    """The coarse coordinate that each fine one is; of locked ones the next, shape (nq,)."""
    u_of: np.ndarray
    """The same for speeds, shape (nu,)."""
    held: np.ndarray
    """Fine coordinates that are locked, on which the coarse model depends."""

    def coarse(self, fine: np.ndarray) -> np.ndarray:
        """Coordinates or speeds of the coarse model, by the size of the array."""
        return fine[self.q] if fine.size == self.q_of.size else fine[self.u]

    def fine_speeds(self, u: np.ndarray) -> np.ndarray:
        """Speeds of the fine model with those of the coarse one, and zero at what is locked."""
        result = np.zeros(self.u_of.size)
        result[self.u] = u
        return result

    def points(self, links: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Points (n, 3) given on fine links, in the frames of the coarse ones that carry these; −1 is the ground."""
        result = np.empty((links.size, 3))
        points_on(links, np.ascontiguousarray(points), self.position, self.rotation, result)
        return result


@dataclass(frozen=True, eq=False)
class Joints:
    """Which coordinates and speeds of a model belong to which link's joint."""

    q: np.ndarray
    """Link of each coordinate, shape (nq,)."""
    u: np.ndarray
    """Link of each speed, shape (nu,)."""
    freedoms: np.ndarray
    """Number of speeds of each link's joint, shape (links,)."""
    looped: np.ndarray
    """Links between the two ends of some loop, shape (links,)."""


def joints_of(model: Model) -> Joints:
    """Whose the coordinates and speeds of a model are."""
    forest = model.forest
    q, u = np.empty(model.nq, dtype=np.int64), np.empty(model.nu, dtype=np.int64)
    nq = np.array([model.joints[k].nq for k in model.head.tolist()], dtype=np.int64)
    nu = np.array([model.joints[k].nu for k in model.head.tolist()], dtype=np.int64)
    for owner, start, count in ((q, forest.q_start, nq), (u, forest.u_start, nu)):
        links = np.repeat(np.arange(count.size), count)
        owner[np.repeat(start - (np.cumsum(count) - count), count) + np.arange(count.sum())] = links
    looped = np.zeros(forest.parent.size, dtype=bool)
    for a, b in zip(model.loops.link_a.tolist(), model.loops.link_b.tolist(), strict=True):
        looped[sorted(set(_ancestors(forest, a)) ^ set(_ancestors(forest, b)))] = True
    return Joints(q, u, nu, looped)


def _ancestors(forest: Forest, link: int) -> list[int]:
    found = []
    while link >= 0:
        found.append(link)
        link = int(forest.parent[link])
    return found


def links_named(model: Model, bodies: Sequence[str | int], where: str = "locked") -> np.ndarray:
    """Links whose joints carry the named bodies, a name ending in ``*`` standing for all that begin so.

    Raises
    ------
    ModelError
        For a body that does not exist or whose joint does not move.
    """
    chosen: list[int] = []
    for name in bodies:
        if isinstance(name, str) and name.endswith("*"):
            found = [k for k in model.head.tolist() if model.names[k].startswith(name[:-1])]
            if not found:
                raise ModelError(f"{where}: no body with a joint that moves has a name that begins with '{name[:-1]}'")
            chosen += [int(model.link[k]) for k in found]
            continue
        try:
            k = model.body(name) if isinstance(name, str) else int(name)
        except KeyError:
            raise ModelError(f"{where}: there is no body '{name}'{nearest(str(name), model.names)}") from None
        if model.kinds[k] == WELD:
            raise ModelError(f"{where}: body '{model.names[k]}' is welded to its parent; only joints that move can be")
        chosen.append(int(model.link[k]))
    return np.array(sorted(set(chosen)), dtype=np.int64)


def whole_joints(model: Model, mask: ArrayLike, where: str = "locked") -> np.ndarray:
    """Links (links,) whose joints a mask over the speeds locks; raises ModelError for one that it locks in part."""
    given = np.asarray(mask, dtype=bool)
    if given.shape != (model.nu,):
        raise ModelError(f"{where}: expected a mask over the {model.nu} speeds, got the shape {given.shape}")
    joints = joints_of(model)
    count = np.bincount(joints.u[given], minlength=joints.freedoms.size)
    part = np.flatnonzero((count > 0) & (count < joints.freedoms))
    if part.size:
        i = int(part[0])
        body = int(model.head[i])
        raise ModelError(
            f"{where}: {count[i]} of the {joints.freedoms[i]} axes of the {model.joint_name(body)} joint of body "
            f"'{model.names[body]}' would be locked; bodies are merged only where a whole joint is locked"
        )
    return (count > 0) & (joints.freedoms > 0)


def locked_model(model: Model, q: np.ndarray, locked: Sequence[str | int] | np.ndarray) -> tuple[Model, Merging]:
    """The model whose locked joints are welds at coordinates q, and the map between the two.

    Sites, drag, springs between points, users' forces, loops and exclusions of pairs follow the bodies that they are
    on; springs, damping and actuation of locked joints are gone, and so are springs within one merged body. The
    potential energy of the coarse model is that of the fine one less what is constant while the joints are locked.

    Parameters
    ----------
    model
        The fine model.
    q
        Its coordinates (nq,).
    locked
        Names or indices of the bodies whose joints are locked, or a mask over the speeds (nu,).

    Returns
    -------
    coarse, map
        The coarse model, its initial state that at q with the speeds of the model's initial state, and the map.

    Raises
    ------
    ModelError
        For bodies that do not exist, joints that are locked in part, and a joint that a loop needs.
    """
    refuse_flexible(model, ModelError, "locked_model")
    array = np.asarray(locked)
    links = np.zeros(model.forest.parent.size, dtype=bool)
    if array.dtype == bool:
        links = whole_joints(model, array)
    else:
        links[links_named(model, list(locked))] = True
    joints = joints_of(model)
    coordinates = vector(q, model.nq, "q")
    check_loops(model, joints, coordinates, links)
    coarse, merging = merged(model, joints, coordinates, links)
    from articulon.adaptive.following import following

    return replace(coarse, forces=following(model, coarse)), merging


def refuse_flexible(model: Model, error: type[ArticulonError], where: str) -> None:
    """Raises an error where a body is flexible, which cannot be merged with others."""
    if model.modes:
        name = model.names[next(iter(model.modes))]
        raise error(
            f"{where}: locked joints merge rigid bodies, and '{name}' is flexible; leave its modes out, or change the "
            "resolution by ar.lock and ar.release"
        )


def check_loops(model: Model, joints: Joints, q: np.ndarray, locked: np.ndarray) -> None:
    """Raises ModelError where a locked joint is driven, or one that a loop needs: without it the loop's conditions
    would no longer be independent, or nothing between the loop's ends could move any more."""
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
            body = int(model.head[guilty[0]])
            raise ModelError(
                f"{model.loop_name(row)} needs the joint of body '{model.names[body]}': with it locked the loop could "
                "not move any more, or not without breaking; leave this joint free, or lock none of the loop's"
            )


def _rank(rows: np.ndarray) -> int:
    if not rows.size:
        return 0
    s = np.linalg.svd(rows, compute_uv=False)
    return int((s > RANK * s[0]).sum()) if s[0] > 0.0 else 0


def merged(model: Model, joints: Joints, q: np.ndarray, locked: np.ndarray) -> tuple[Model, Merging]:
    """The coarse model with the declared forces of the fine one, of which some may make no sense in it, and the map.

    What :func:`locked_model` does, without its checks: fit for every transition of a run.
    """
    forest = model.forest
    n = forest.parent.size
    tables = Merged(
        lead=np.empty(n, dtype=np.int64),
        position=np.empty((n, 3)),
        rotation=np.empty((n, 4)),
        joint_position=np.empty((n, 3)),
        joint_rotation=np.empty((n, 4)),
        mass=np.empty(n),
        moment=np.empty((n, 3)),
        inertia=np.empty((n, 6)),
    )
    merge(forest, q, locked, tables)
    active, parent, starts = _ordered(forest, locked, tables.lead)
    rank = np.full(n + 1, -1)
    rank[active] = np.arange(active.size)
    free_q, free_u = ~locked[joints.q], ~locked[joints.u]
    merging = Merging(
        locked=locked,
        active=active,
        link=rank[tables.lead],
        position=tables.position,
        rotation=tables.rotation,
        q=np.flatnonzero(free_q),
        u=np.flatnonzero(free_u),
        q_of=np.cumsum(free_q) - free_q,
        u_of=np.cumsum(free_u) - free_u,
        held=np.flatnonzero(~free_q),
    )
    slot, first, free = (np.empty(active.size, dtype=np.int64) for _ in range(3))
    find_slots(parent, slot, first, free)
    coarse = Forest(
        parent=parent,
        kind=forest.kind[active],
        q_start=merging.q_of[forest.q_start[active]],
        u_start=merging.u_of[forest.u_start[active]],
        position=tables.joint_position[active],
        rotation=tables.joint_rotation[active],
        axis=forest.axis[active],
        mass=tables.mass[active],
        moment=tables.moment[active],
        inertia=tables.inertia[active],
        slot=slot,
        first=first,
        tree=starts,
    )
    return _model(model, q, merging, coarse), merging


def _ordered(forest: Forest, locked: np.ndarray, lead: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The links that move, parents first and trees contiguous, their parents among these, and where trees begin."""
    active = np.flatnonzero(~locked)
    rank = np.full(locked.size + 1, -1)
    rank[active] = np.arange(active.size)
    above = forest.parent[active]
    parent = np.where(above < 0, -1, rank[np.where(above < 0, -1, lead[above])])
    if (locked & (forest.parent < 0)).any():
        # Without its root a tree falls apart into several, whose links may alternate.
        root = np.empty(active.size, dtype=np.int64)
        for k, p in enumerate(parent.tolist()):
            root[k] = k if p < 0 else root[p]
        order = np.argsort(root, kind="stable")
        back = np.full(active.size + 1, -1)
        back[order] = np.arange(active.size)
        active, parent = active[order], back[parent[order]]
    starts = np.append(np.flatnonzero(parent < 0), active.size)
    return active, parent, starts


def _model(model: Model, q: np.ndarray, merging: Merging, forest: Forest) -> Model:
    """The frozen model of a merged forest."""
    at = merging.link[model.link]
    link = np.where(model.link < 0, -1, at)
    offset_position, offset_rotation = _offsets(model, merging)
    heads = model.head[merging.locked]
    kinds = model.kinds.copy()
    kinds[heads] = WELD
    joints: list[Any] = list(model.joints)
    for k in heads.tolist():
        joints[k] = WELDED
    loops = model.loops
    if loops.kind.size:
        loops = loop_rows(model.loop_joints, model.drives, forest, link, offset_position, offset_rotation)
        # What is locked takes no condition away, so that as many of them are independent as before.
        loops.rank[:] = model.loops.rank
    return replace(
        model,
        kinds=kinds,
        joints=tuple(joints),
        link=link,
        offset_position=offset_position,
        offset_rotation=offset_rotation,
        head=model.head[merging.active],
        forest=forest,
        q0=q[merging.q],
        u0=model.u0[merging.u],
        loops=loops,
    )


def _offsets(model: Model, merging: Merging) -> tuple[np.ndarray, np.ndarray]:
    """Where the bodies sit on the coarse links."""
    carried = model.link >= 0
    links = np.where(carried, model.link, 0)
    outer_position, outer_rotation = merging.position[links], merging.rotation[links]
    if carried.all() and model.head.size == model.bodies:
        return outer_position, outer_rotation
    inner = np.einsum("kij,kj->ki", matrices(outer_rotation), model.offset_position)
    position = np.where(carried[:, None], outer_position + inner, model.offset_position)
    turned = quaternion_product(outer_rotation, model.offset_rotation)
    return position, np.where(carried[:, None], turned, model.offset_rotation)
