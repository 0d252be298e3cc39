"""Loop constraints and driven joints: their declarations, and the constraint rows that kernels read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.model.array_rotations import matrices
from articulon.model.forest_tables import Forest, Loops, Motions
from articulon.model.freezing import Frozen
from articulon.model.joints import BY_KIND, Joint
from articulon.model.joints.base import TRANSLATION

DRIVE = 2
"""Kind of a row for a joint coordinate that follows a prescribed motion; ``joints/base.py`` defines the other kinds."""

DASHPOT = 3
"""Kind of a row along the line between two points. A step solves with it for the damping between the points. The row
has no residual, and the code that adds the row computes its wrench."""


@dataclass(frozen=True)
class LoopJoint(Frozen):
    """A joint that closes a loop between two bodies."""

    name: str
    """Name, unique among the loops and drives."""
    joint: Joint
    """Joint type."""
    parent: int
    """Body in which the joint frame is fixed, −1 for the ground."""
    child: int
    """Body in which the joint's moving side is fixed, −1 for the ground."""
    position: np.ndarray
    """Origin of the joint frame in the parent's frame [length], shape (3,)."""
    rotation: np.ndarray
    """Joint frame to parent's frame, Euler parameters, shape (4,)."""
    child_position: np.ndarray
    """Origin of the moving side in the child's frame [length], shape (3,)."""
    child_rotation: np.ndarray
    """Moving side to child's frame, Euler parameters, shape (4,)."""


@dataclass(frozen=True)
class Drive(Frozen):
    """A joint coordinate that follows a prescribed motion."""

    name: str
    """Name, unique among the loops and drives."""
    body: int
    """Body whose joint is driven."""
    component: int
    """Index of the joint's coordinate."""
    times: np.ndarray
    """Knots of a table [time], shape (knots,); empty if a function gives the motion."""
    values: np.ndarray
    """Values of the coordinate at the knots, shape (knots,)."""
    function: Callable[[float, np.ndarray], None] | None
    """``function(time, result)`` writes the coordinate, its rate and its acceleration into ``result`` (3,)."""


def motion_tables(drives: tuple[Drive, ...]) -> tuple[Motions, tuple[Callable[..., Any], ...]]:
    """Return piecewise cubic motions (not-a-knot splines, twice differentiable) and the functions of motions without a
    table."""
    # SciPy's splines take a second to import, so a model without drives does not import them.
    starts, knots, coefficients, choice = [0], [], [], []
    functions: list[Callable[..., Any]] = []
    for drive in drives:
        if drive.function is not None:
            choice.append(len(functions))
            functions.append(drive.function)
        else:
            from scipy.interpolate import CubicSpline

            spline = CubicSpline(drive.times, drive.values)
            knots.append(drive.times)
            coefficients.append(np.vstack([spline.c.T, np.zeros((1, 4))]))
            choice.append(-1)
        starts.append(starts[-1] + drive.times.size)
    return (
        Motions(
            np.array(starts, dtype=np.int64),
            np.concatenate([*knots, np.zeros(0)]),
            np.concatenate([*coefficients, np.zeros((0, 4))]),
            np.array(choice, dtype=np.int64),
        ),
        tuple(functions),
    )


def loop_rows(
    joints: tuple[LoopJoint, ...],
    drives: tuple[Drive, ...],
    forest: Forest,
    link: np.ndarray,
    offset_position: np.ndarray,
    offset_rotation: np.ndarray,
) -> Loops:
    """Return the rows of all loops, then of all drives. Points and directions are converted from bodies to their
    links."""
    kinds, owners, links, points, directions, scalars = [], [], [], [], [], []

    def on_link(body: int, position: np.ndarray, rotation: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """Link, point and rotation matrix of a frame that is fixed in a body, in the link's frame."""
        R = matrices(rotation)
        if body < 0:
            return -1, position, R
        B = matrices(offset_rotation[body])
        return int(link[body]), offset_position[body] + B @ position, B @ R

    for k, loop in enumerate(joints):
        a, point_a, A = on_link(loop.parent, loop.position, loop.rotation)
        b, point_b, B = on_link(loop.child, loop.child_position, loop.child_rotation)
        for row in loop.joint.rows():
            kinds.append(row.kind)
            owners.append(k)
            links.append((a, b))
            points.append((point_a, point_b))
            directions.append((A @ np.array(row.fixed), B @ np.array(row.moving)))
            scalars.append((-1, -1, -1))
    for k, drive in enumerate(drives):
        i = int(link[drive.body])
        kinds.append(DRIVE)
        owners.append(len(joints) + k)
        links.append((-1, i))
        points.append((np.zeros(3), np.zeros(3)))
        directions.append((np.zeros(3), np.zeros(3)))
        scalars.append((forest.q_start[i] + drive.component, forest.u_start[i] + drive.component, k))
    ends = np.array(links, dtype=np.int64).reshape(-1, 2)
    path, place, column = _paths(forest, ends)
    at = np.array(points, dtype=np.float64).reshape(-1, 2, 3)
    length = max(float(np.abs(forest.position).max(initial=0.0)), float(np.abs(at).max(initial=0.0))) or 1.0
    driven = [BY_KIND[int(forest.kind[link[drive.body]])].coordinates[drive.component][1] for drive in drives]
    of_loops = kinds[: len(kinds) - len(drives)]
    is_length = [kind == TRANSLATION for kind in of_loops] + [dimension == "length" for dimension in driven]
    along = np.array(directions, dtype=np.float64).reshape(-1, 2, 3)
    which = np.array(scalars, dtype=np.int64).reshape(-1, 3)
    return Loops(
        kind=np.array(kinds, dtype=np.int64),
        loop=np.array(owners, dtype=np.int64),
        link_a=ends[:, 0].copy(),
        link_b=ends[:, 1].copy(),
        point_a=at[:, 0].copy(),
        point_b=at[:, 1].copy(),
        fixed=along[:, 0].copy(),
        moving=along[:, 1].copy(),
        coordinate=which[:, 0].copy(),
        speed=which[:, 1].copy(),
        motion=which[:, 2].copy(),
        path=path,
        place=place,
        size=np.where(is_length, length, 1.0),
        rank=np.array([len(kinds)], dtype=np.int64),
        column=column,
    )


def with_dashpots(loops: Loops, forest: Forest, links: np.ndarray) -> Loops:
    """Return the rows of loops, followed by a DASHPOT row for each pair of links (dashpots, 2); −1 is the ground."""
    count = links.shape[0]
    path, place, column = _paths(forest, np.vstack([np.column_stack([loops.link_a, loops.link_b]), links]))
    added: dict[str, Any] = {
        "kind": np.full(count, DASHPOT),
        "link_a": links[:, 0],
        "link_b": links[:, 1],
        **dict.fromkeys(("loop", "coordinate", "speed", "motion"), np.full(count, -1)),
        **dict.fromkeys(("point_a", "point_b", "fixed", "moving"), np.zeros((count, 3))),
        "size": np.ones(count),
    }
    rows = {name: np.concatenate([getattr(loops, name), more]) for name, more in added.items()}
    return Loops(**rows, path=path, place=place, column=column, rank=loops.rank + count)


def _paths(forest: Forest, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the attributes ``path``, ``place`` and ``column`` of :class:`Loops` for rows between links (rows, 2)."""
    on = np.zeros(forest.parent.size, dtype=bool)
    for i in ends.ravel().tolist():
        while i >= 0 and not on[i]:
            on[i] = True
            i = int(forest.parent[i])
    path = np.flatnonzero(on)[::-1].copy()
    place = np.full(forest.parent.size, -1, dtype=np.int64)
    place[path] = np.arange(path.size)
    degrees_of_freedom = [BY_KIND[kind].nu for kind in forest.kind[path].tolist()]
    return path, place, np.cumsum([0, *degrees_of_freedom])
