"""Arrays that the wall kernels read and write."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from articulon.forces.contact.contact_columns import WALL_MOTION, WALL_POSE
from articulon.forces.contact.wall_shapes import INSIDE, MESH, OUTSIDE, PLANE
from articulon.forces.contact.walls.wall_base import WallPart

SHAPES = {"plane": PLANE, "inside": INSIDE, "outside": OUTSIDE, "mesh": MESH}
CELLS = 1 << 20
"""Largest number of cells for the triangles of one mesh."""

LEAST_ANGLE = 1e-6
"""Angle between normals below which they count as equal [rad]."""


class Walls(NamedTuple):
    """All walls of a model. Each has features that a sphere can touch: the plane or cylinder itself, or the triangles
    of a mesh. Features are numbered across all walls. Only ``pose`` changes, and it depends on time alone."""

    shape: np.ndarray
    """``PLANE``, ``INSIDE``, ``OUTSIDE`` or ``MESH``, shape (walls,)."""
    material: np.ndarray
    """Number of the material, shape (walls,)."""
    constants: np.ndarray
    """Unit normal or axis in the wall's frame, and radius of a cylinder [1, length], shape (walls, 4)."""
    motion: np.ndarray
    """See ``WALL_MOTION``, shape (walls, 13)."""
    pose: np.ndarray
    """See ``WALL_POSE``, shape (walls, 21)."""
    smooth: np.ndarray
    """Cosine of the angle between normals below which two places on a mesh count as one contact, shape (walls,)."""
    feature: np.ndarray
    """First feature of each wall, then the total number of features, shape (walls + 1,)."""
    triangle: np.ndarray
    """Start of a wall's triangles in the next two arrays; feature f of wall w is triangle f − feature[w] + triangle[w],
    shape (walls,)."""
    corners: np.ndarray
    """a, b − a and c − a of each triangle in the wall's frame [length], and its unit normal, flat, twelve numbers per
    triangle."""
    parts: np.ndarray
    """Numbers of a triangle's corners a, b, c and of its edges ``ab``, ``bc``, ``ca``, unique over corners, edges and
    meshes, shape (triangles, 6)."""
    centre: np.ndarray
    """Centre of a mesh in its frame, and half of its diagonal; for a cylinder zero and its radius [length], shape
    (walls, 4)."""
    grid: np.ndarray
    """Lowest corner of the cells of a mesh in its frame, and their edge length [length], shape (walls, 4)."""
    size: np.ndarray
    """Number of cells of a mesh in each direction, shape (walls, 3)."""
    cell: np.ndarray
    """Start of the cells of a mesh in ``start``, shape (walls,)."""
    start: np.ndarray
    """Start of the triangles of each cell in ``near``, with one more entry per mesh."""
    near: np.ndarray
    """Triangles within reach of any point of a cell, sorted, shape (entries,)."""
    bounded: np.ndarray
    """1 if the model has a box that a sphere may leave, shape (1,)."""


class WallLists(NamedTuple):
    """Walls near spheres, in groups. A group is a sphere and a wall, or an image of a wall. They are not part of the
    state."""

    listed: np.ndarray
    """Poses of the walls when these lists were built; NaN before the first build, shape (walls, 21)."""
    far2: np.ndarray
    """Largest squared distance of a relevant point from the reference point of each wall at that time [length²]."""
    outside: np.ndarray
    """A sphere of each block of places that has left the box, −1 for none, shape (blocks,)."""
    needed: np.ndarray
    """Required capacities for groups and triangles, shape (2,)."""
    group_start: np.ndarray
    """First group of each place, shape (spheres + 1,)."""
    entry_first: np.ndarray
    """First triangle of each place, shape (spheres + 1,)."""
    wall: np.ndarray
    """Wall of each group, shape (groups,)."""
    shift: np.ndarray
    """Periodic shift added to the sphere's position [length], shape (groups, 3)."""
    entry_start: np.ndarray
    """First triangle of each group, shape (groups + 1,)."""
    entry: np.ndarray
    """Triangles of all groups, shape (triangles,)."""


def empty_lists(walls: int, spheres: int, blocks: int, groups: int, entries: int) -> WallLists:
    """Allocate lists for given numbers of groups and triangles."""
    return WallLists(
        np.full((walls, WALL_POSE.width), np.nan),
        np.zeros(walls),
        np.zeros(blocks, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(spheres + 1, dtype=np.int64),
        np.zeros(spheres + 1, dtype=np.int64),
        np.zeros(groups, dtype=np.int64),
        np.zeros((groups, 3)),
        np.zeros(groups + 1, dtype=np.int64),
        np.zeros(entries, dtype=np.int64),
    )


def wall_tables(
    walls: Sequence[WallPart] = (), materials: Sequence[str] = (), reach: float = 1.0, bounded: bool = False
) -> Walls:
    """Build the tables of walls.

    Parameters
    ----------
    walls
        Parts of the walls, from ``walls.wall_parts.parts_of``.
    materials
        Names of the materials in the order of their numbers.
    reach
        Largest distance of a sphere's centre from a mesh at which its triangles are found: the largest radius plus the
        skin [length].
    bounded
        Whether there is a box that a sphere may leave.
    """
    n = len(walls)
    constants, motion, centre = np.zeros((n, 4)), np.zeros((n, WALL_MOTION.width)), np.zeros((n, 4))
    grid, size, cell = np.zeros((n, 4)), np.zeros((n, 3), dtype=np.int64), np.zeros(n, dtype=np.int64)
    feature, triangle = np.zeros(n + 1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    corners, parts, starts, nears = [np.zeros((0, 12))], [np.zeros((0, 6), dtype=np.int64)], [], []
    triangles, numbers, cells, entries = 0, 0, 0, 0
    for w, wall in enumerate(walls):
        constants[w, :3], constants[w, 3], motion[w] = wall.direction, wall.radius, wall.motion
        centre[w, 3] = wall.radius
        triangle[w], cell[w] = triangles, cells
        if wall.surface is None:
            feature[w + 1] = feature[w] + 1
            continue
        vertices, faces, edges = wall.surface
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        corners.append(np.concatenate([a, b - a, c - a, normal], axis=1))
        parts.append(np.concatenate([faces + numbers, edges + numbers + vertices.shape[0]], axis=1))
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        centre[w, :3], centre[w, 3] = 0.5 * (low + high), 0.5 * np.linalg.norm(high - low)
        grid[w], size[w], start, near = _cells(a, b, c, normal, low - reach, high + reach, reach)
        starts.append(start + entries)
        nears.append(near + triangles)
        feature[w + 1] = feature[w] + faces.shape[0]
        numbers += vertices.shape[0] + int(edges.max()) + 1
        triangles, cells, entries = triangles + faces.shape[0], cells + start.size, entries + near.size
    return Walls(
        shape=np.array([SHAPES[wall.shape] for wall in walls], dtype=np.int64),
        material=np.array([materials.index(wall.kind) for wall in walls], dtype=np.int64),
        constants=constants,
        motion=motion,
        pose=np.zeros((n, WALL_POSE.width)),
        smooth=np.cos(np.array([max(wall.smooth, LEAST_ANGLE) for wall in walls], dtype=np.float64)),
        feature=feature,
        triangle=triangle,
        corners=np.concatenate(corners).ravel(),
        parts=np.concatenate(parts),
        centre=centre,
        grid=grid,
        size=size,
        cell=cell,
        start=np.concatenate([np.zeros(0, dtype=np.int64), *starts]),
        near=np.concatenate([np.zeros(0, dtype=np.int64), *nears]),
        bounded=np.array([int(bounded)], dtype=np.int64),
    )


def _cells(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, normal: np.ndarray, low: np.ndarray, high: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Build the cells of a mesh: corner and edge, size, starts, and the triangles within reach of each cell."""
    extent = high - low
    spread = np.ptp(np.stack([a, b, c]), axis=0).max(axis=1)
    edge = max(reach, float(np.median(spread)), float(np.cbrt(np.prod(extent) / CELLS)))
    size = np.maximum(np.ceil(extent / edge).astype(np.int64), 1)
    # Cells covered by a triangle's bounding box, enlarged by the reach.
    box_low, box_high = np.minimum(np.minimum(a, b), c) - reach, np.maximum(np.maximum(a, b), c) + reach
    first = np.clip(((box_low - low) / edge).astype(np.int64), 0, size - 1)
    last = np.clip(((box_high - low) / edge).astype(np.int64), 0, size - 1)
    spans = last - first + 1
    count = spans.prod(axis=1)
    of = np.repeat(np.arange(count.size), count)
    k = np.arange(of.size) - np.repeat(np.cumsum(count) - count, count)
    width = spans[of]
    place = first[of] + np.stack(
        [k // (width[:, 1] * width[:, 2]), k // width[:, 2] % width[:, 1], k % width[:, 2]], axis=1
    )
    # Leave out cells that are farther than the reach from the triangle's plane.
    middle = low + (place + 0.5) * edge
    kept = np.abs(np.einsum("ij,ij->i", normal[of], middle - a[of])) <= reach + 0.5 * np.sqrt(3.0) * edge * (1 + 1e-12)
    of, place = of[kept], place[kept]
    number = (place[:, 0] * size[1] + place[:, 1]) * size[2] + place[:, 2]
    start = np.zeros(int(size.prod()) + 1, dtype=np.int64)
    np.cumsum(np.bincount(number, minlength=start.size - 1), out=start[1:])
    return np.array([*low, edge]), size, start, of[np.lexsort((of, number))]
