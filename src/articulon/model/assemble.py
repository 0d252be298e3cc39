"""Conversion of bodies to links: merge welded bodies, make trees contiguous, and lay out the solver's tables."""

from collections.abc import Mapping
from itertools import repeat
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.model.array_rotations import matrices, quaternion_product
from articulon.model.atoms import Atoms
from articulon.model.box import Box
from articulon.model.forest_tables import Forest, KernelTables
from articulon.model.joints import BY_KIND, SPINLESS, WELD, Joint
from articulon.model.link_rows import link_rows
from articulon.model.loop_declarations import Drive, LoopJoint, loop_rows, motion_tables
from articulon.model.mode_tables import RIGID, Flexibility
from articulon.model.model import Model, Sites, joint_type
from articulon.model.polymer_chains import PolymerChains
from articulon.model.shapes import Shape
from articulon.model.swing_bodies import check_swinging
from articulon.units import UnitSystem

FULL = [0, 1, 2, 1, 3, 4, 2, 4, 5]
HALF = [0, 1, 2, 4, 5, 8]


def assemble_forest(
    units: UnitSystem,
    names: tuple[str, ...],
    joints: list[Joint],
    columns: dict[str, np.ndarray],
    sites: Sites,
    forces: tuple[Any, ...],
    loop_joints: tuple[LoopJoint, ...] = (),
    drives: tuple[Drive, ...] = (),
    box: Box | None = None,
    flexibility: Flexibility = RIGID,
    atoms: Atoms | None = None,
    chains: PolymerChains | None = None,
    shapes: Mapping[int, tuple[Shape, ...]] | None = None,
    joint_names: Mapping[int, str] | None = None,
    armature: np.ndarray | None = None,
    inferred: tuple[str, ...] = (),
) -> Model:
    """Build the forest from the columns of bodies, which are in body order, parents first."""
    rows = link_rows(columns, joints, sites.body, flexibility)
    given, columns = columns, {**columns, **rows.columns}
    n, parent, kinds = rows.body.size, columns["parent"], rows.kinds

    # `carrier` is the body that a welded body is part of, found by following its welds; −1 is the ground. A flexible
    # body is always a separate link, and so is a node that carries a joint or a site.
    welded = (kinds == WELD) & (rows.node < 0) & ~rows.flexible
    carrier = np.where(welded, -1, np.arange(n))
    offset_position, offset_rotation = np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    for k in np.flatnonzero(welded).tolist():
        p = int(parent[k])
        position, rotation = columns["position"][k], columns["rotation"][k]
        if p >= 0:
            position = offset_position[p] + matrices(offset_rotation[p]) @ position
            rotation = quaternion_product(offset_rotation[p], rotation)
            carrier[k] = carrier[p]
        offset_position[k], offset_rotation[k] = position, rotation

    mass, moment, inertia = _about_carrier(columns, offset_position, offset_rotation, carrier)
    heads = np.flatnonzero(~welded)
    parent_body = parent[heads]
    carried = np.where(parent_body < 0, -1, carrier[parent_body])
    rank = np.full(n + 1, -1)
    rank[heads] = np.arange(heads.size)
    order, starts = _by_tree(np.where(carried < 0, -1, rank[carried]))
    heads = heads[order]
    rank[heads] = np.arange(heads.size)
    carried = carried[order]
    link_parent = np.where(carried < 0, -1, rank[carried])

    # A joint frame given in the frame of a welded body is converted to the frame of that body's link.
    position, rotation = columns["position"][heads].copy(), columns["rotation"][heads].copy()
    hung = np.flatnonzero((parent[heads] >= 0) & welded[parent[heads]])
    body = parent[heads][hung]
    position[hung] = offset_position[body] + np.einsum("kij,kj->ki", matrices(offset_rotation[body]), position[hung])
    rotation[hung] = quaternion_product(offset_rotation[body], rotation[hung])

    slot, first = _slots(link_parent, rows.flexible[heads])
    com, inertias = _lean(given["com"]), _lean(given["inertia"])
    forest = Forest(
        parent=link_parent,
        kind=kinds[heads],
        q_start=rows.q_start[heads],
        u_start=rows.u_start[heads],
        position=_lean(position),
        rotation=rotation,
        axis=np.array([joints[k].direction for k in rows.body[heads].tolist()]).reshape(-1, 3),
        mass=mass[heads],
        moment=_lean(moment[heads]),
        inertia=_lean(inertia[heads]),
        slot=slot,
        first=first,
        tree=starts,
        flexible=rows.tables(heads, link_parent, joints, flexibility),
    )
    whole = np.isfinite(forest.mass) & np.isfinite(forest.moment).all(axis=1) & np.isfinite(forest.inertia).all(axis=1)
    if not whole.all():
        name = names[rows.body[heads[int(np.argmin(whole))]]]
        raise ModelError(
            f"body '{name}': its mass, inertia and distance from the joint are too large for the computation: their "
            "products overflow; choose other units"
        )
    without_inertia = joint_without_inertia(forest)
    if without_inertia is not None:
        joint = joint_type(int(forest.kind[without_inertia])).__name__.lower()
        raise ModelError(
            f"body '{names[rows.body[heads[without_inertia]]]}': its {joint} joint rotates it about an axis without "
            "inertia; give it an inertia, or a joint that does not rotate it"
        )
    link = np.where(carrier < 0, -1, rank[carrier])
    if flexibility.modes:
        at = rows.of_body
        link, kinds, offset_position, offset_rotation = link[at], kinds[at], offset_position[at], offset_rotation[at]
    on_link, place = link[sites.body], sites.position
    if offset_position.any() or (offset_rotation[:, 0] != 1.0).any():
        place = offset_position[sites.body] + np.einsum("kij,kj->ki", matrices(offset_rotation[sites.body]), place)
    check_swinging(forest, lambda i: names[rows.body[heads[i]]], np.where(sites.body < 0, -1, on_link), place)
    motions, motion_functions = motion_tables(drives)
    loops = loop_rows(loop_joints, drives, forest, link, offset_position, offset_rotation)
    return Model(
        units=units,
        names=names,
        parents=given["parent"],
        kinds=kinds,
        masses=given["mass"],
        centres=com,
        inertias=inertias,
        link=link,
        offset_position=offset_position,
        offset_rotation=offset_rotation,
        head=rows.body[heads],
        _tables=KernelTables(forest, loops, motions),
        q0=columns["q"],
        u0=columns["u"],
        sites=sites._replace(position=_lean(sites.position)),
        forces=forces,
        loop_joints=loop_joints,
        drives=drives,
        motion_functions=motion_functions,
        joints=tuple(joints),
        box=box,
        modes=dict(flexibility.modes),
        node_sites=rows.node_sites(sites.body, rank, flexibility),
        atoms=atoms,
        chains=chains,
        shapes=tuple(map((shapes or {}).get, range(len(names)), repeat(()))),
        armature=armature,
        inferred=inferred,
        joint_names=tuple(map((joint_names or {}).get, range(len(names)), names)),
    )


def _lean(array: np.ndarray) -> np.ndarray:
    """Return the array, or, if it is zero, lazily allocated zeros: half of the memory of free particles would be
    zeros."""
    return array if array.any() else np.zeros(array.shape)


def _about_carrier(
    columns: dict[str, np.ndarray], offset_position: np.ndarray, offset_rotation: np.ndarray, carrier: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, first moment and inertia about the link's origin, summed over the bodies of each carrier."""
    mass, centre, inertia = columns["mass"].copy(), columns["com"].copy(), columns["inertia"].copy()
    welded = np.flatnonzero(carrier != np.arange(carrier.size))
    if welded.size:
        R = matrices(offset_rotation[welded])
        centre[welded] = offset_position[welded] + np.einsum("kij,kj->ki", R, centre[welded])
        full = R @ inertia[welded][:, FULL].reshape(-1, 3, 3) @ np.swapaxes(R, 1, 2)
        inertia[welded] = full.reshape(-1, 9)[:, HALF]
    x, y, z = centre.T
    spread = np.stack([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y], axis=1)
    inertia += mass[:, None] * spread
    moment = mass[:, None] * centre
    for k in welded.tolist():
        c = carrier[k]
        if c >= 0:
            mass[c] += mass[k]
            moment[c] += moment[k]
            inertia[c] += inertia[k]
    return mass, moment, inertia


def _by_tree(parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order that makes each tree contiguous, with trees sorted by their first link, and the index at which each tree
    starts."""
    root: list[int] = []
    trees = 0
    for p in parent.tolist():
        if p < 0:
            root.append(trees)
            trees += 1
        else:
            root.append(root[p])
    tree = np.array(root, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(tree, minlength=trees))]).astype(np.int64)
    return np.argsort(tree, kind="stable"), starts


def _slots(parent: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slots in which children's inertias are accumulated. A link's last child allocates a slot and the link itself
    frees it, so that a chain of any length uses one slot, which stays in the first-level cache. No two trees share a
    slot. A link with ``own`` contributions always has a slot."""
    n = parent.size
    slot, first = [-1] * n, [0] * n
    free: list[int] = []
    used = 0
    ancestors = parent.tolist()
    for i in range(n - 1, -1, -1):
        if slot[i] < 0 and own[i]:
            if not free:
                free.append(used)
                used += 1
            slot[i] = free.pop()
        if slot[i] >= 0:
            free.append(slot[i])
        p = ancestors[i]
        if p < 0:
            free = []  # the next tree may be on another thread
            continue
        if slot[p] < 0:
            first[i] = 1
            if not free:
                free.append(used)
                used += 1
            slot[p] = free.pop()
    return np.array(slot, dtype=np.int64), np.array(first, dtype=np.int64)


def joint_without_inertia(forest: Forest) -> int | None:
    """First leaf whose joint rotates it about an axis without inertia, so that its acceleration is not finite; None if
    there is none."""
    childless = np.ones(forest.parent.size, dtype=bool)
    childless[forest.parent[forest.parent >= 0]] = False
    leaf = np.flatnonzero(childless)
    kind = forest.kind[leaf]
    about = forest.inertia[leaf][:, FULL].reshape(-1, 3, 3)
    rotations = np.array([joint.nu - joint.translations for joint in BY_KIND.values()])
    unbound = np.array([joint.translations == 3 for joint in BY_KIND.values()])
    centred = unbound[kind] & (rotations[kind] > 0)
    if centred.any():
        mass, moment = forest.mass[leaf][centred], forest.moment[leaf][centred]
        x, y, z = (moment / mass[:, None]).T
        spread = np.stack([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y], axis=1)
        about[centred] -= (mass[:, None] * spread)[:, FULL].reshape(-1, 3, 3)
    axis = forest.axis[leaf]
    least = np.einsum("ki,kij,kj->k", axis, about, axis)
    largest = np.abs(about).max(axis=(1, 2), initial=0.0)
    # A joint with two rotations has a configuration in which it rotates the body about any axis perpendicular to the
    # first axis, so the smallest principal moment is checked.
    spinless = np.isin(kind, SPINLESS)
    turning = (rotations[kind] >= 2) & ~spinless
    if turning.any():
        least[turning] = np.linalg.eigvalsh(about[turning])[:, 0]
    least[spinless] = np.linalg.eigvalsh(about[spinless][:, :2, :2])[:, 0]
    bad = np.flatnonzero((rotations[kind] > 0) & ~(least > 1e-14 * largest))
    return int(leaf[bad[0]]) if bad.size else None
