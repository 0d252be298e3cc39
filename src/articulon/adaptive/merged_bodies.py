"""The coarse model of a model with some joints and modes locked: joints are welds at their current coordinates, and
flexible bodies keep the deformation of the locked modes (:mod:`articulon.adaptive.deformed_bodies`).

Coordinates and speeds of the coarse model are those of the joints and modes that still move, in the same order. Locking
a part removes exactly the coordinates and speeds of this part, so that conversion between the models causes no rounding
errors.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from articulon.adaptive.deformed_bodies import Deformed, active_shapes, active_tables, deformed
from articulon.adaptive.lockable import Joints
from articulon.adaptive.merge_kernels import find_slots, merge, points_on
from articulon.model import Forest, KernelTables, Model, kernel_tables
from articulon.model.array_rotations import matrices, quaternion_product
from articulon.model.joints import WELD, Weld
from articulon.model.loop_declarations import loop_rows
from articulon.model.modes import ModeShapes

WELDED = Weld()


class Merged(NamedTuple):
    """Assignment of the links of the fine forest to merged bodies, and the inertia of these bodies."""

    lead: np.ndarray
    """Link that carries each link, shape (links,): the link itself if its joint moves, and −1 for the ground."""
    position: np.ndarray
    """Origin of each link in the frame of its carrier [length], shape (links, 3)."""
    rotation: np.ndarray
    """Rotation from each link's frame to that of its carrier, Euler parameters, shape (links, 4)."""
    joint_position: np.ndarray
    """Origin of the joint frame of each moving joint in the frame of its parent's carrier [length], shape (links,
    3)."""
    joint_rotation: np.ndarray
    """Rotation of the joint frame of each moving joint, Euler parameters, shape (links, 4)."""
    mass: np.ndarray
    """Mass merged into each moving link [mass], shape (links,)."""
    moment: np.ndarray
    """First moment of the merged mass about the link's origin [mass length], shape (links, 3)."""
    inertia: np.ndarray
    """Inertia of the merged mass about the link's origin [mass length²], shape (links, 6)."""


@dataclass(frozen=True, eq=False)
class Merging:
    """Map between the coordinates, speeds and links of a fine and a coarse model."""

    locked: np.ndarray
    """Parts of the fine model that are locked, its joints before its modes, shape (parts,)."""
    fixed: np.ndarray
    """Links of the fine model that do not move relative to their parents, shape (links,)."""
    active: np.ndarray
    """Fine link of each coarse link, shape (coarse links,)."""
    link: np.ndarray
    """Coarse link that carries each fine link, −1 for the ground, shape (links,)."""
    position: np.ndarray
    """Origin of each fine link in the frame of its carrier, shape (links, 3)."""
    rotation: np.ndarray
    """Rotation from the frame of each fine link to that of its carrier, Euler parameters, shape (links, 4)."""
    q: np.ndarray
    """Fine coordinate of each coarse coordinate, shape (coarse nq,)."""
    u: np.ndarray
    """Fine speed of each coarse speed, shape (coarse nu,)."""
    q_of: np.ndarray
    """Coarse coordinate of each fine coordinate, shape (nq,). For a locked coordinate it is the next coarse
    coordinate."""
    u_of: np.ndarray
    """Coarse speed of each fine speed, shape (nu,). For a locked speed it is the next coarse speed."""
    held: np.ndarray
    """Values of the locked fine coordinates, on which the coarse model depends."""

    def coarse(self, fine: np.ndarray) -> np.ndarray:
        """Return coordinates or speeds of the coarse model, depending on the size of the given array.

        Parameters
        ----------
        fine
            Coordinates (nq,) or speeds (nu,) of the fine model.
        """
        return fine[self.q] if fine.size == self.q_of.size else fine[self.u]

    def fine_speeds(self, u: np.ndarray) -> np.ndarray:
        """Return the speeds of the fine model from those of the coarse model, with zero for locked parts.

        Parameters
        ----------
        u
            Speeds of the coarse model.
        """
        result = np.zeros(self.u_of.size)
        result[self.u] = u
        return result

    @property
    def moves(self) -> np.ndarray:
        """Mask of the fine speeds that are also coarse speeds, shape (nu,)."""
        free = np.zeros(self.u_of.size, dtype=bool)
        free[self.u] = True
        return free

    def carriers(self, links: np.ndarray) -> np.ndarray:
        """Return the coarse links that carry the given fine links, or −1 for the ground.

        Parameters
        ----------
        links
            Links of the fine model, shape (n,).
        """
        return np.where(links < 0, -1, self.link[links])

    def rotated(self, links: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Convert rotations (n, 4) from the frames of fine links to the frames of their coarse carriers.

        Parameters
        ----------
        links
            Links of the fine model, shape (n,).
        rotation
            Euler parameters in the frames of the fine links, scalar first, shape (n, 4).
        """
        turned = quaternion_product(self.rotation[np.where(links < 0, 0, links)], rotation)
        return np.where((links < 0)[:, None], rotation, turned)

    def points(self, links: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Convert points (n, 3) from the frames of fine links to the frames of their coarse carriers. A link of −1 is
        the ground.

        Parameters
        ----------
        links
            Links of the fine model, shape (n,).
        points
            Points in the frames of the fine links [length], shape (n, 3).
        """
        result = np.empty((links.size, 3))
        points_on(links, np.ascontiguousarray(points), self.position, self.rotation, result)
        return result


def merged(model: Model, joints: Joints, q: np.ndarray, locked: np.ndarray) -> tuple[Model, Merging]:
    """Return the coarse model with all declared forces of the fine model, even those that have no effect in it, and the
    map.

    This function does the same as :func:`locked_model`, but without checks. It is used for transitions during a run.
    """
    forest = kernel_tables(model).forest
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
    held = deformed(forest, joints, q, locked)
    rigid, fixed, welded = (forest, locked, locked) if held is None else (held.forest, held.fixed, held.welded)
    merge(rigid, q, fixed, welded, tables)
    active, parent, starts = _ordered(forest, fixed, tables.lead)
    rank = np.full(n + 1, -1)
    rank[active] = np.arange(active.size)
    free_q, free_u = ~locked[joints.q], ~locked[joints.u]
    merging = Merging(
        locked=locked,
        fixed=fixed,
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
    flexible = None
    if held is not None and forest.flexible is not None and joints.modes is not None:
        numbers = merging.q_of, merging.u_of
        flexible = active_tables(forest.flexible, joints.modes, held, active, parent, numbers)
    own = np.zeros(active.size, dtype=bool) if flexible is None else flexible.body >= 0
    slot, first, free = (np.empty(active.size + 1, dtype=np.int64) for _ in range(3))
    find_slots(parent, own, slot, first, free)
    coarse = Forest(
        parent=parent,
        kind=np.where(welded, WELD, forest.kind)[active],
        q_start=merging.q_of[forest.q_start[active]],
        u_start=merging.u_of[forest.u_start[active]],
        position=tables.joint_position[active],
        rotation=tables.joint_rotation[active],
        axis=forest.axis[active],
        mass=tables.mass[active],
        moment=tables.moment[active],
        inertia=tables.inertia[active],
        slot=slot[:-1].copy(),
        first=first[:-1].copy(),
        tree=starts,
        flexible=flexible,
    )
    return _model(model, joints, q, merging, coarse, held), merging


def _ordered(forest: Forest, fixed: np.ndarray, lead: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the moving links, the parent of each among the moving links, and the start of each tree. Parents come
    before their children, and the links of a tree are contiguous."""
    active = np.flatnonzero(~fixed)
    rank = np.full(fixed.size + 1, -1)
    rank[active] = np.arange(active.size)
    above = forest.parent[active]
    parent = np.where(above < 0, -1, rank[np.where(above < 0, -1, lead[above])])
    if (fixed & (forest.parent < 0)).any():
        # If the root of a tree is locked, the tree splits into several trees, whose links may be interleaved.
        root = np.empty(active.size, dtype=np.int64)
        for k, p in enumerate(parent.tolist()):
            root[k] = k if p < 0 else root[p]
        order = np.argsort(root, kind="stable")
        back = np.full(active.size + 1, -1)
        back[order] = np.arange(active.size)
        active, parent = active[order], back[parent[order]]
    starts = np.append(np.flatnonzero(parent < 0), active.size)
    return active, parent, starts


def _model(
    model: Model, parts: Joints, q: np.ndarray, merging: Merging, forest: Forest, held: Deformed | None
) -> Model:
    """Return the model object of a merged forest."""
    at = merging.link[model.link]
    link = np.where(model.link < 0, -1, at)
    offset_position, offset_rotation = _offsets(model, merging)
    heads = model.head[merging.locked[: parts.links]]
    kinds = model.kinds.copy()
    kinds[heads] = WELD
    joints: list[Any] = list(model.joints)
    for k in heads.tolist():
        joints[k] = WELDED
    _, loops, motions = kernel_tables(model)
    if loops.kind.size:
        loops = loop_rows(model.loop_joints, model.drives, forest, link, offset_position, offset_rotation)
        # Locking removes no constraint, so the number of independent constraints does not change.
        loops.rank[:] = model.loops.rank
    return replace(
        model,
        kinds=kinds,
        joints=tuple(joints),
        link=link,
        offset_position=offset_position,
        offset_rotation=offset_rotation,
        head=model.head[merging.active],
        _tables=KernelTables(forest, loops, motions),
        q0=q[merging.q],
        u0=model.u0[merging.u],
        **({} if held is None else _flexible(model, parts, q, merging, held)),
    )


def _flexible(model: Model, joints: Joints, q: np.ndarray, merging: Merging, held: Deformed) -> dict[str, Any]:
    """Return the remaining modes, and the sites on nodes. Sites on bodies without remaining modes are given in the
    frames of the bodies."""
    modes: dict[int, ModeShapes] = {}
    assert joints.modes is not None
    for body, shapes in model.modes.items():
        own = joints.modes_of(model, body) - joints.links
        if held.active[own].any():
            modes[body] = active_shapes(shapes, q[joints.modes.q[own]], held.active[own])
    nodes = {site: link for site, link in model.node_sites.items() if not merging.fixed[link]}
    sites = model.sites
    if len(nodes) < len(model.node_sites):
        still = [site for site in model.node_sites if site not in nodes]
        links = np.array([model.node_sites[site] for site in still])
        position = sites.position.copy()
        turned = np.einsum("kij,kj->ki", matrices(held.forest.rotation[links]), position[still])
        position[still] = held.forest.position[links] + turned
        sites = sites._replace(position=position)
    return {
        "modes": modes,
        "node_sites": {site: int(merging.link[link]) for site, link in nodes.items()},
        "sites": sites,
    }


def _offsets(model: Model, merging: Merging) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions and rotations of the bodies in the frames of the coarse links."""
    carried = model.link >= 0
    links = np.where(carried, model.link, 0)
    outer_position, outer_rotation = merging.position[links], merging.rotation[links]
    if carried.all() and model.head.size == model.bodies and not model.modes:
        return outer_position, outer_rotation
    inner = np.einsum("kij,kj->ki", matrices(outer_rotation), model.offset_position)
    position = np.where(carried[:, None], outer_position + inner, model.offset_position)
    turned = quaternion_product(outer_rotation, model.offset_rotation)
    return position, np.where(carried[:, None], turned, model.offset_rotation)
