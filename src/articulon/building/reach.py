"""How far from a periodic box a model may begin."""

import numpy as np

from articulon.dynamics import body_poses
from articulon.errors import ModelError
from articulon.model import Model

FARTHEST = 2.0**20
"""Lengths of the box that a body may begin away from it. Any of its images will do as well, and each further factor of
ten takes a digit from every distance between bodies."""


def check_reach(model: Model) -> None:
    """Raises ModelError, naming the body, where one begins millions of lengths away from a periodic box."""
    box = model.box
    if box is None or not box.periodic.any():
        return
    positions, _ = body_poses(model, model.q0)
    origin = np.array([float(x) for x in box.origin])
    with np.errstate(all="ignore"):
        away = np.abs((positions - origin) @ np.linalg.inv(box.vectors)) * box.periodic
    far = np.flatnonzero(~(away <= FARTHEST).all(axis=1))
    if far.size:
        k = int(far[0])
        axis = int(np.argmax(away[k]))
        raise ModelError(
            f"body '{model.names[k]}' begins {away[k, axis]:.3g} lengths of the box away from it along {'xyz'[axis]}, "
            "where distances have lost their digits; space repeats, so move it by whole lengths to within "
            f"{FARTHEST:.0f} of them"
        )
