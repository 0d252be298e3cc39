"""How far flexible bodies are deformed, and where that leaves the range of a linear description."""

import numpy as np

from articulon.model import Model


def deformations(model: Model, q: np.ndarray) -> dict[int, np.ndarray]:
    """The largest displacement of a node of each flexible body over what its modes are said to hold for.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates, shape (nq,) or (frames, nq).

    Returns
    -------
    dict
        By body, shape () or (frames,) [dimensionless]: above 1 the body has left the range that its modes were declared
        for, ``Modes.largest``.
    """
    found = {}
    for body, shapes in model.modes.items():
        start = int(model.forest.q_start[model.link[body]]) + model.joints[body].nq
        eta = np.asarray(q)[..., start : start + shapes.stiffness.shape[0]]
        moved = np.einsum("iaj,...j->...ia", shapes.shapes, eta)
        found[body] = np.sqrt((moved**2).sum(axis=-1)).max(axis=-1) / shapes.largest
    return found
