"""Deformation of flexible bodies, relative to the range in which a linear description is valid."""

import numpy as np

from articulon.model import Model


def deformations(model: Model, q: np.ndarray) -> dict[int, np.ndarray]:
    """Largest node displacement of each flexible body, divided by the displacement that its modes are valid for.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates, shape (nq,) or (frames, nq).

    Returns
    -------
    dict
        Ratio by body, shape () or (frames,) [dimensionless]. Above 1 the deformation exceeds the range that its modes
        were declared for, ``Modes.largest``.
    """
    found = {}
    for body, shapes in model.modes.items():
        start = int(model.forest.q_start[model.link[body]]) + model.joints[body].nq
        eta = np.asarray(q)[..., start : start + shapes.stiffness.shape[0]]
        moved = np.einsum("iaj,...j->...ia", shapes.shapes, eta)
        found[body] = np.sqrt((moved**2).sum(axis=-1)).max(axis=-1) / shapes.largest
    return found
