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


def deformation_notes(model: Model, times: np.ndarray, q: np.ndarray) -> list[str]:
    """A line for each flexible body that leaves its range at one of the frames ``times`` (frames,), coordinates ``q``
    (frames, nq): which body, when first, and how far at most."""
    lines, unit = [], model.units.symbols[2]
    for body, ratio in deformations(model, q).items():
        out = np.flatnonzero(~(ratio <= 1.0))
        if out.size:
            largest = model.modes[body].largest
            lines.append(
                f"body '{model.names[body]}' is deformed beyond the range of its linear description from the frame at "
                f"t = {times[out[0]]:.9g} {unit} on: a node moves by up to {ratio.max():.3g} times the {largest:.3g} "
                "that its modes are said to hold for; take smaller loads, stiffer modes or several bodies, or raise "
                "Modes.largest"
            )
    return lines
