"""Notes on flexible bodies that leave the range of linear elasticity."""

import numpy as np

from articulon.dynamics.deformation import deformations
from articulon.model import Model
from articulon.simulation.spinning import spins


def deformation_notes(model: Model, times: np.ndarray, q: np.ndarray, u: np.ndarray) -> list[str]:
    """Return notes on flexible bodies: one note for each body that rotates too fast for its modes at one of the frames,
    and one for each body that deforms beyond its linear range.

    Parameters
    ----------
    model
        The model.
    times
        Times of the frames [time], shape (frames,).
    q, u
        Coordinates (frames, nq) and speeds (frames, nu) at these times.
    """
    unit, found = model.units.symbols[2], spins(model, times, q, u)
    lines, growing = [spin.note(model) for spin in found], {spin.body for spin in found if spin.grows is not None}
    for body, ratio in deformations(model, q).items():
        out, name = np.flatnonzero(~(ratio <= 1.0)), model.names[body]
        if out.size:
            largest = model.modes[body].largest
            instead = (
                "which its spin makes grow"
                if name in growing
                else "take smaller loads, stiffer modes or several bodies, or raise Modes.largest"
            )
            lines.append(
                f"body '{name}' is deformed beyond the range of linear elasticity from the frame at "
                f"t = {times[out[0]]:.9g} {unit} on: a node moves by up to {ratio.max():.3g} times the {largest:.3g} "
                f"for which its modes hold; {instead}"
            )
    return lines
