"""Derivatives with respect to coordinates: with respect to the four Euler parameters, or in their tangent space, where
a change is a small rotation δ of a body.

With δe = ½ e δ (a quaternion product), a derivative g with respect to e becomes the vector part of ½ ē g in the tangent
space. A derivative t in the tangent space becomes 2 e t/|e|² with respect to e.
"""

import numpy as np

from articulon.model import Model
from articulon.model.joints import BY_KIND


def products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product a b of quaternions (4,)."""
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], vector])


def _parts(model: Model) -> list[tuple[slice, slice, int | None]]:
    """Return the coordinates and the speeds of every joint, and of the modes of every flexible body, and the index of
    the first Euler parameter of the joint."""
    found: list[tuple[slice, slice, int | None]] = []
    forest = model.forest
    for kind, k, j in zip(forest.kind.tolist(), forest.q_start.tolist(), forest.u_start.tolist(), strict=True):
        joint = BY_KIND[kind]
        plain = joint.nu if joint.quaternion is None else joint.quaternion
        found.append((slice(k, k + plain), slice(j, j + plain), None if joint.quaternion is None else k + plain))
    if forest.flexible is not None:
        counts, tables = np.diff(forest.flexible.mode).tolist(), forest.flexible
        for count, k, j in zip(counts, tables.q_start.tolist(), tables.u_start.tolist(), strict=True):
            found.append((slice(k, k + count), slice(j, j + count), None))
    return found


def in_tangent_space(model: Model, q: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Convert a derivative with respect to the coordinates (nq,) to their tangent space (nu,)."""
    result = np.zeros(model.nu)
    for coordinates, speeds, k in _parts(model):
        result[speeds] = gradient[coordinates]
        if k is not None:
            e = q[k : k + 4] * [1.0, -1.0, -1.0, -1.0]
            result[speeds.stop : speeds.stop + 3] = 0.5 * products(e, gradient[k : k + 4])[1:]
    return result


def in_coordinates(model: Model, q: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Convert a derivative in the tangent space (nu,) to a derivative with respect to the coordinates (nq,). A
    derivative that is already with respect to the coordinates is returned unchanged."""
    if gradient.size == model.nq:
        return gradient
    result = np.zeros(model.nq)
    for coordinates, speeds, k in _parts(model):
        result[coordinates] = gradient[speeds]
        if k is not None:
            e, t = q[k : k + 4], gradient[speeds.stop : speeds.stop + 3]
            result[k : k + 4] = 2.0 / (e @ e) * products(e, np.concatenate([[0.0], t]))
    return result


def displacement(model: Model, q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Convert a change of the coordinates (nq,) to their tangent space (nu,)."""
    result = np.zeros(model.nu)
    for coordinates, speeds, k in _parts(model):
        result[speeds] = change[coordinates]
        if k is not None:
            e = q[k : k + 4]
            turned = products(e * [1.0, -1.0, -1.0, -1.0], change[k : k + 4])[1:]
            result[speeds.stop : speeds.stop + 3] = 2.0 / (e @ e) * turned
    return result


def displacements(model: Model, q: np.ndarray) -> np.ndarray:
    """Return changes of the coordinates, one row for each direction of their tangent space, shape (nu, nq)."""
    result = np.zeros((model.nu, model.nq))
    for coordinates, speeds, k in _parts(model):
        for c, j in zip(range(*coordinates.indices(model.nq)), range(*speeds.indices(model.nu)), strict=True):
            result[j, c] = 1.0
        if k is not None:
            for m, axis in enumerate(np.eye(3)):
                turn = np.concatenate([[0.0], axis])
                result[speeds.stop + m, k : k + 4] = 0.5 * products(q[k : k + 4], turn)
    return result
