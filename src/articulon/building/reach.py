"""Check of the initial distance of bodies from a periodic box."""

import numpy as np

from articulon.dynamics import body_poses
from articulon.errors import ModelError
from articulon.model import Model

FARTHEST = 2.0**20
"""Largest initial distance of a body from the box, in box lengths. All periodic images are equivalent, but each factor
of ten in the distance costs one digit of precision in distances between bodies."""


def check_reach(model: Model) -> None:
    """Raise ModelError, naming the body, if a body starts millions of box lengths away from a periodic box."""
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
            f"body '{model.names[k]}' starts {away[k, axis]:.3g} box lengths from the box along {'xyz'[axis]}, where "
            "distances are no longer precise; space is periodic, so move it by whole box lengths to within "
            f"{FARTHEST:.0f} of them"
        )
