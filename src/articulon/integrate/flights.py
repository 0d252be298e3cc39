"""Free flights of a model: trees by iteration, beads on rods by their tensions, free bodies in closed form.

Links that follow each other and are of one sort make a run, which flies by itself: trees do not feel each other between
kicks, so that an iteration does not wait for bodies that need none, nor for their coordinates.
"""

from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.forces.evaluation_tables import ModelTables
from articulon.integrate import geodesic
from articulon.integrate.canonical import Scratch as Iteration
from articulon.integrate.free_rotors import SHARED, fly_free, fly_free_in_parallel, is_free, rotor_table
from articulon.integrate.rod_flights import SHARED as SHARED_BEADS
from articulon.integrate.rod_flights import SIZE, are_beads, fly_rods, fly_rods_in_parallel, rods_of
from articulon.lanes import LaneArray
from articulon.model import Forest, Model, Workspace
from articulon.model.joints import BY_KIND
from articulon.model.joints.swing import Swing
from articulon.passes import Bound, Pass, pass_of

TREES, FREE_BODIES, BEADS = range(3)
"""How links fly."""
UNIFORM = {"turning", "quaternion"}
"""Arrays of an iteration that are whole numbers."""


@pass_of
def take_coordinates(whole, of, some):
    """Copies numbers from their places ``of`` among all."""
    for k in range(of.size):
        some[k] = whole[of[k]]


@pass_of
def give_coordinates(some, of, whole):
    """Copies numbers to their places ``of`` among all."""
    for k in range(of.size):
        whole[of[k]] = some[k]


def flights(e: ModelTables, arrays: Any, flying: Pass, in_lanes: bool = False) -> list[Bound]:
    """The passes of a free flight over ``arrays.span`` from links that have been placed and moved, which leave them so.

    Parameters
    ----------
    e, arrays
        The model, and the arrays of a step.
    flying
        The iteration, a pass of forest, coordinates, speeds, time, workspace, scratch, torques and status.
    in_lanes
        Whether numbers are those of several states side by side.
    """
    forest, ws = e.system.forest, e.ws
    q, u, span, status, rest = arrays.q, arrays.u, arrays.span, arrays.status, arrays.no_torque
    sort = _sorts(e.model, forest, in_lanes)
    if not sort.any():
        own = _iteration(forest, e.model.nq, e.model.nu, in_lanes)
        return [flying.bind(forest, q, u, span, ws, own, rest, status)]
    share = {FREE_BODIES: SHARED, BEADS: SHARED_BEADS}
    many = {one: not in_lanes and int((sort == one).sum()) >= least for one, least in share.items()}
    found: list[Bound] = []
    edges = np.flatnonzero(np.diff(sort)) + 1
    for start, end in zip([0, *edges.tolist()], [*edges.tolist(), sort.size], strict=True):
        part, own_ws = _part(forest, start, end), _part_of_workspace(ws, start, end)
        if sort[start] == FREE_BODIES:
            which = fly_free_in_parallel if many[FREE_BODIES] else fly_free
            found.append(which.bind(part, rotor_table(part), q, u, span, own_ws))
            continue
        if sort[start] == BEADS:
            beads = part, rods_of(part), q, u, span, own_ws, status
            if many[BEADS]:
                groups = np.zeros(-(-(part.tree.size - 1) // SIZE), dtype=np.int64)
                found.append(fly_rods_in_parallel.bind(*beads, groups))
            else:
                found.append(fly_rods.bind(*beads))
            continue
        of_q, of_u, part = _gathered(part)
        own_q, own_u = (_zeros(of.size, in_lanes) for of in (of_q, of_u))
        own = _iteration(part, of_q.size, of_u.size, in_lanes)
        found.append(take_coordinates.bind(q, of_q, own_q))
        found.append(take_coordinates.bind(u, of_u, own_u))
        found.append(flying.bind(part, own_q, own_u, span, own_ws, own, rest[: of_u.size], status))
        found.append(give_coordinates.bind(own_q, of_q, q))
        found.append(give_coordinates.bind(own_u, of_u, u))
    return found


def _sorts(model: Model, forest: Forest, in_lanes: bool) -> np.ndarray:
    """How each link flies, shape (links,)."""
    sort = np.full(forest.mass.size, TREES)
    if forest.flexible is None:
        sort[is_free(forest)] = FREE_BODIES
        sort[are_beads(forest)] = BEADS
    swinging = np.flatnonzero((forest.kind == Swing.kind) & ((sort != BEADS) | in_lanes))
    if swinging.size:
        reason = (
            "many states side by side have no flights of beads"
            if in_lanes
            else "a tree with swing joints flies where all of it are beads on rods that follow each other"
        )
        raise CaseError(
            f"integrator.drift: 'geodesic' does not move body '{model.names[int(model.head[swinging[0]])]}' on its "
            f"swing joint: {reason}; use drift = 'steady'"
        )
    return sort


def _zeros(size: int, in_lanes: bool) -> Any:
    return LaneArray.zeros((size,)) if in_lanes else np.zeros(size)


def _iteration(forest: Forest, nq: int, nu: int, in_lanes: bool) -> Iteration:
    """Scratch of an iteration."""
    plain = geodesic.scratch(forest, nq, nu)
    if not in_lanes:
        return plain
    lanes: dict[str, Any] = {
        name: LaneArray.zeros(one.shape) for name, one in plain._asdict().items() if name not in UNIFORM
    }
    lanes["length"].numbers[:] = plain.length[:, None]
    return plain._replace(**lanes)


def _part(forest: Forest, start: int, end: int) -> Forest:
    """Whole trees of a forest as one of their own, whose coordinates are where they were."""
    columns = {
        name: getattr(forest, name)[start:end] for name in Forest._fields if name not in ("tree", "flexible", "parent")
    }
    parent = forest.parent[start:end]
    tree = forest.tree[(forest.tree >= start) & (forest.tree <= end)] - start
    return Forest(parent=np.where(parent < 0, -1, parent - start), tree=tree, **columns)


def _part_of_workspace(ws: Workspace, start: int, end: int) -> Workspace:
    """Their part of a workspace."""
    rows = {name: getattr(ws, name)[start:end] for name in Workspace._fields if name not in ("gathered", "modal")}
    return ws._replace(**rows)


def _gathered(part: Forest) -> tuple[np.ndarray, np.ndarray, Forest]:
    """Where coordinates and speeds of trees are among all, and the trees with coordinates and speeds that follow each
    other."""
    joints = [BY_KIND[kind] for kind in part.kind.tolist()]
    counts = np.array([[joint.nq, joint.nu] for joint in joints], dtype=np.int64).reshape(-1, 2)
    starts = np.cumsum(counts, axis=0) - counts
    of_q = np.concatenate([start + np.arange(n) for start, n in zip(part.q_start, counts[:, 0], strict=True)])
    of_u = np.concatenate([start + np.arange(n) for start, n in zip(part.u_start, counts[:, 1], strict=True)])
    return of_q, of_u, part._replace(q_start=starts[:, 0].copy(), u_start=starts[:, 1].copy())
