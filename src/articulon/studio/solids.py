"""Shapes fixed on bodies: many instances of one unit shape, and their poses for given poses of the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from articulon.model.array_rotations import matrices, quaternion_product

GROUND = -1
"""Body number of objects that do not move."""
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
"""Euler parameters of the identity rotation."""


class Solids(NamedTuple):
    """Instances of one unit shape, each fixed on a body or on the ground."""

    body: np.ndarray
    """Body, −1 for the ground, shape (n,)."""
    position: np.ndarray
    """Centre in the body's frame [length], shape (n, 3)."""
    rotation: np.ndarray
    """Rotation from the shape's frame to the body's frame, Euler parameters, shape (n, 4)."""
    size: np.ndarray
    """Factors by which the unit shape is stretched along its axes [length], shape (n, 3)."""
    colour: np.ndarray
    """Red, green and blue, 0 to 255, shape (n, 3), uint8."""

    @classmethod
    def of(cls, parts: Sequence[Self]) -> Self:
        """Join several sets of instances."""
        if not parts:
            return cls.none()
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    @classmethod
    def none(cls) -> Self:
        """Return an empty set of instances."""
        return cls.at(np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)))

    @classmethod
    def at(
        cls,
        body: np.ndarray,
        position: np.ndarray,
        size: np.ndarray,
        colour: np.ndarray,
        rotation: np.ndarray | None = None,
    ) -> Self:
        """Create instances from arrays. ``size`` may have one number for each instance (n,), and ``colour`` may be one
        colour for all instances (3,). By default there is no rotation."""
        count = len(body)
        sizes = np.asarray(size, dtype=float)
        sizes = np.repeat(sizes[:, None], 3, axis=1) if sizes.ndim == 1 else sizes
        turned = np.tile(UPRIGHT, (count, 1)) if rotation is None else np.asarray(rotation, dtype=float)
        colours = np.broadcast_to(np.asarray(colour, dtype=np.uint8), (count, 3)).copy()
        places = np.asarray(position, dtype=float).reshape(count, 3)
        return cls(np.asarray(body, dtype=np.int64), places, turned, sizes, colours)

    @property
    def number(self) -> int:
        """Number of instances."""
        return len(self.body)

    def some(self, chosen: np.ndarray) -> Solids:
        """Return the chosen instances, by a mask (n,)."""
        return Solids(*(array[chosen] for array in self))

    def colours(self, locked: np.ndarray | None, instead: np.ndarray) -> np.ndarray:
        """Return the colours (n, 3), uint8, with the colour ``instead`` for locked bodies. ``locked`` says whether each
        body is locked; None if no body is locked."""
        if locked is None or not locked.any():
            return self.colour
        grey = (self.body >= 0) & locked[np.maximum(self.body, 0)]
        return np.where(grey[:, None], instead, self.colour).astype(np.uint8)

    def centres(self, positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Return centres in the world frame [length], shape (n, 3), from the poses of all bodies."""
        moves = self.body >= 0
        if moves.all():
            return on_bodies(positions, rotations, self.body, self.position)
        places = self.position.copy()
        places[moves] = on_bodies(positions, rotations, self.body[moves], self.position[moves])
        return places

    def placed(self, positions: np.ndarray, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return centres (n, 3) [length] and Euler parameters (n, 4) in the world frame, from the poses of all
        bodies."""
        moves = self.body >= 0
        body = self.body[moves]
        turned = self.rotation.copy()
        turned[moves] = quaternion_product(rotations[body], self.rotation[moves])
        return self.centres(positions, rotations), turned


class Springs(NamedTuple):
    """Lines of varying length between points of two bodies."""

    body: np.ndarray
    """Bodies of the two ends, −1 for the ground, shape (n, 2)."""
    point: np.ndarray
    """Ends in the bodies' frames [length], shape (n, 2, 3)."""

    @classmethod
    def of(cls, ends: Sequence[tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]]]) -> Self:
        """Create springs from pairs of ends, each a body and a point."""
        count = len(ends)
        body = np.array([[end[0] for end in pair] for pair in ends], dtype=np.int64).reshape(count, 2)
        point = np.array([[end[1] for end in pair] for pair in ends], dtype=float).reshape(count, 2, 3)
        return cls(body, point)

    @property
    def number(self) -> int:
        """Number of springs."""
        return len(self.body)

    def placed(self, positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Return the ends in the world frame [length], shape (n, 2, 3), from the poses of all bodies."""
        ends = self.point.copy()
        moves = self.body >= 0
        ends[moves] = on_bodies(positions, rotations, self.body[moves], self.point[moves])
        return ends


def on_bodies(positions: np.ndarray, rotations: np.ndarray, body: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return points of bodies in the world frame [length], shape (n, 3), from the poses of all bodies, the body of each
    point (n,) and the points in the bodies' frames (n, 3)."""
    if not points.any():
        return np.take(positions, body, axis=0)
    turned: np.ndarray = np.einsum("kij,kj->ki", matrices(rotations[body]), points)
    return turned + positions[body]


def along(directions: np.ndarray) -> np.ndarray:
    """Return Euler parameters (n, 4) of rotations that turn the z axis to directions (n, 3); these may have any
    length."""
    n = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    # Euler parameters, not yet normalised, of the rotation from z to n; for n = −z, half a turn about x.
    e = np.stack([1.0 + n[:, 2], -n[:, 1], n[:, 0], np.zeros(len(n))], axis=1)
    e[n[:, 2] < -1.0 + 1e-12] = (0.0, 1.0, 0.0, 0.0)
    return np.asarray(e / np.linalg.norm(e, axis=1, keepdims=True))
