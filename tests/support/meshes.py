"""Closed meshes."""

import numpy as np

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
"""Corners of a unit cube."""
SIDES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip
"""Its triangles."""


def tube(sides, radius=1.0, length=4.0):
    """A closed drum with flat facets, its axis along z."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    low = np.column_stack([ring, np.full(sides, -0.5 * length)])
    high = np.column_stack([ring, np.full(sides, 0.5 * length)])
    vertices = np.concatenate([low, high, [[0, 0, -0.5 * length], [0, 0, 0.5 * length]]])
    k = np.arange(sides)
    n = (k + 1) % sides
    faces = [np.stack([k, n, n + sides], 1), np.stack([k, n + sides, k + sides], 1)]
    faces += [np.stack([n, k, np.full(sides, 2 * sides)], 1)]
    faces += [np.stack([k + sides, n + sides, np.full(sides, 2 * sides + 1)], 1)]
    return vertices, np.concatenate(faces)
