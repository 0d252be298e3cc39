"""Triangles of a ball of radius 1, of a cylinder of radius and length 1 along z, and of a cube with edges of length
1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROUND = 24
"""Number of corners of the ring of a cylinder."""


class Mesh(NamedTuple):
    """A surface of triangles. The corners of each triangle are in counter-clockwise order, seen from outside."""

    vertices: np.ndarray
    """Corners of the surface, shape (vertices, 3)."""
    triangles: np.ndarray
    """Indices of the corners of each triangle, shape (triangles, 3)."""


def ball(divisions: int) -> Mesh:
    """Return a ball: an icosahedron, in which each triangle is divided into four triangles, ``divisions`` times."""
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    short = np.array([(0.0, a, b * golden) for a in (-1, 1) for b in (-1, 1)])
    vertices = np.concatenate([np.roll(short, turn, axis=1) for turn in range(3)])
    vertices /= np.linalg.norm(vertices[0])
    nearest = np.linalg.norm(vertices[:, None] - vertices[None], axis=2)
    edge = nearest[nearest > 0.0].min()
    near = (nearest > 0.0) & (nearest < 1.01 * edge)
    triangles = np.array(
        [(a, b, c) for a in range(12) for b in range(a) for c in range(b) if near[a, b] and near[b, c] and near[a, c]]
    )
    mesh = Mesh(vertices, _outwards(vertices, triangles))
    for _ in range(divisions):
        mesh = _divided(mesh)
    return mesh


def _outwards(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Orient the triangles of a surface about the origin so that their corners are in counter-clockwise order, seen
    from outside."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0.0
    return np.where(inward[:, None], triangles[:, ::-1], triangles)


def _divided(mesh: Mesh) -> Mesh:
    """Divide each triangle into four triangles, with new corners on the ball."""
    a, b, c = mesh.triangles.T
    sides = np.sort(np.concatenate([np.stack(pair, axis=1) for pair in ((a, b), (b, c), (c, a))]), axis=1)
    edges, number = np.unique(sides, axis=0, return_inverse=True)
    middles = mesh.vertices[edges].sum(axis=1)
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    ab, bc, ca = len(mesh.vertices) + number.reshape(3, -1)
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
    return Mesh(np.concatenate([mesh.vertices, middles]), triangles)


def rod() -> Mesh:
    """Return a cylinder with flat ends. Its edges are sharp, because the ends have their own corners."""
    angle = np.arange(ROUND) * 2.0 * np.pi / ROUND
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    low, high = (np.column_stack([ring, np.full(ROUND, z)]) for z in (-0.5, 0.5))
    first = np.arange(ROUND)
    then = (first + 1) % ROUND
    sides = [np.stack([first, then, then + ROUND], axis=1), np.stack([first, then + ROUND, first + ROUND], axis=1)]
    middle = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]])
    at = 2 * ROUND
    below = np.stack([at + then, at + first, np.full(ROUND, at + 2 * ROUND)], axis=1)
    above = np.stack([at + ROUND + first, at + ROUND + then, np.full(ROUND, at + 2 * ROUND + 1)], axis=1)
    return Mesh(np.concatenate([low, high, low, high, middle]), np.concatenate([*sides, below, above]))


def brick() -> Mesh:
    """Return a cube. Its edges are sharp, because the faces have their own corners."""
    vertices: list[np.ndarray] = []
    triangles: list[tuple[int, int, int]] = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            at = 4 * len(vertices)
            corners = np.full((4, 3), side)
            corners[:, (axis + 1) % 3] = [-0.5, 0.5, 0.5, -0.5]
            corners[:, (axis + 2) % 3] = [-0.5, -0.5, 0.5, 0.5]
            vertices.append(corners)
            triangles += [(at, at + 1, at + 2), (at, at + 2, at + 3)]
    corners = np.concatenate(vertices)
    return Mesh(corners, _outwards(corners, np.array(triangles)))
