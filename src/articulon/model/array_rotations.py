"""Rotations as NumPy arrays, for computations while a model is built."""

import numpy as np


def matrices(e: np.ndarray) -> np.ndarray:
    """Rotation matrices of unit Euler parameters, (..., 4) to (..., 3, 3)."""
    w, x, y, z = np.moveaxis(e, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamilton product, (..., 4) each."""
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    scalar = aw * bw - (av * bv).sum(axis=-1, keepdims=True)
    return np.concatenate([scalar, aw * bv + bw * av + np.cross(av, bv)], axis=-1)


def exponentials(vectors: np.ndarray) -> np.ndarray:
    """Unit Euler parameters of rotation vectors [rad], (..., 3) to (..., 4)."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)


def rotation_vectors(e: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Rotation vectors [rad] that rotate the frames ``of`` to the frames ``e``, by at most half a turn, shape (..., 3).
    Both are Euler parameters of frames in one reference frame, and the vectors are in this reference frame."""
    d = quaternion_product(e, of * np.array([1.0, -1.0, -1.0, -1.0]))
    d = np.where(d[..., :1] < 0.0, -d, d)
    size = np.linalg.norm(d[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, d[..., :1])
    return np.asarray(d[..., 1:] * np.where(size > 1e-150, angle / np.where(size > 1e-150, size, 1.0), 2.0))


def quaternions(turns: np.ndarray) -> np.ndarray:
    """Unit Euler parameters, scalar first, of rotation matrices, (n, 3, 3) to (n, 4); the sign is arbitrary."""
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(turns).as_quat(), 1, axis=1)
