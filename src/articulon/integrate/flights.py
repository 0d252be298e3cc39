"""Free flights of a model: trees by iteration, beads on rods by their tensions, free bodies in closed form.

Consecutive links of one sort form a run, which flies separately, because trees do not interact between kicks. So the
iteration of trees spends no time on bodies that need no iteration.
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
"""How the links of a run fly."""
UNIFORM = {"turning", "quaternion"}
"""Arrays of an iteration that hold integers."""


@pass_of
def take_coordinates(whole, of, some):
    """Copy the numbers at the indices ``of`` out of an array."""
    for k in range(of.size):
        some[k] = whole[of[k]]


@pass_of
def give_coordinates(some, of, whole):
    """Copy numbers to the indices ``of`` of an array."""
    for k in range(of.size):
        whole[of[k]] = some[k]


def flights(e: ModelTables, arrays: Any, flying: Pass, in_lanes: bool = False) -> list[Bound]:
    """The passes of a free flight over ``arrays.span``; the poses and velocities of the links are known before and
    after it.

    Parameters
    ----------
    e, arrays
        The model, and the arrays of a step.
    flying
        The iteration, a pass of forest, coordinates, speeds, time, workspace, scratch, torques and status.
    in_lanes
        Whether each number is a lane vector of several states.
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
            "flights of beads are not available for many states side by side"
            if in_lanes
            else (
                "a tree with swing joints can fly only if all its bodies are beads on rods that start at the bead "
                "of their parent"
            )
        )
        raise CaseError(
            f"integrator.drift: 'geodesic' does not move body '{model.names[int(model.head[swinging[0]])]}' on its "
            f"swing joint: {reason}; use drift = 'steady'"
        )
    return sort


def _zeros(size: int, in_lanes: bool) -> Any:
    return LaneArray.zeros((size,)) if in_lanes else np.zeros(size)


def _iteration(forest: Forest, nq: int, nu: int, in_lanes: bool) -> Iteration:
    """Scratch arrays of an iteration."""
    plain = geodesic.scratch(forest, nq, nu)
    if not in_lanes:
        return plain
    lanes: dict[str, Any] = {
        name: LaneArray.zeros(one.shape) for name, one in plain._asdict().items() if name not in UNIFORM
    }
    lanes["length"].numbers[:] = plain.length[:, None]
    return plain._replace(**lanes)


def _part(forest: Forest, start: int, end: int) -> Forest:
    """Some whole trees of a forest, as a forest whose coordinates keep their indices."""
    columns = {
        name: getattr(forest, name)[start:end] for name in Forest._fields if name not in ("tree", "flexible", "parent")
    }
    parent = forest.parent[start:end]
    tree = forest.tree[(forest.tree >= start) & (forest.tree <= end)] - start
    return Forest(parent=np.where(parent < 0, -1, parent - start), tree=tree, **columns)


def _part_of_workspace(ws: Workspace, start: int, end: int) -> Workspace:
    """The part of a workspace that belongs to some trees."""
    rows = {name: getattr(ws, name)[start:end] for name in Workspace._fields if name not in ("gathered", "modal")}
    return ws._replace(**rows)


def _gathered(part: Forest) -> tuple[np.ndarray, np.ndarray, Forest]:
    """Indices of the trees' coordinates and speeds in the whole forest, and these trees with indices that start from
    zero."""
    joints = [BY_KIND[kind] for kind in part.kind.tolist()]
    counts = np.array([[joint.nq, joint.nu] for joint in joints], dtype=np.int64).reshape(-1, 2)
    starts = np.cumsum(counts, axis=0) - counts
    of_q = np.concatenate([start + np.arange(n) for start, n in zip(part.q_start, counts[:, 0], strict=True)])
    of_u = np.concatenate([start + np.arange(n) for start, n in zip(part.u_start, counts[:, 1], strict=True)])
    return of_q, of_u, part._replace(q_start=starts[:, 0].copy(), u_start=starts[:, 1].copy())
