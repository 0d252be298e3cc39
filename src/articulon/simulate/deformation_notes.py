"""What is to be said of flexible bodies that leave the range of their linear description."""

import numpy as np

from articulon.dynamics.deformation import deformations
from articulon.model import Model


def deformation_notes(model: Model, times: np.ndarray, q: np.ndarray, u: np.ndarray) -> list[str]:
    """A line for each flexible body that leaves its range at one of the frames.

    Parameters
    ----------
    model
        The model.
    times
        Of the frames [time], shape (frames,).
    q, u
        Coordinates (frames, nq) and speeds (frames, nu) at these.
    """
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
