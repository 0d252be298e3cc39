"""The equation-of-motion algorithms behind one door: their scratch, and one call from Python."""

import numpy as np

from articulon.dynamics import constrained
from articulon.dynamics.loops import loop_scratch
from articulon.dynamics.motions import motion_functions, prepared
from articulon.model import Model, Workspace


def accelerations(
    model: Model,
    solver: str,
    time: float,
    q: np.ndarray,
    u: np.ndarray,
    tau: np.ndarray,
    wrench: np.ndarray,
    gravity: np.ndarray,
    ws: Workspace,
) -> np.ndarray:
    """u' (nu,) under generalised forces (nu,) and wrenches on the links (links, 6), with the loops kept."""
    udot = np.empty(model.nu)
    arrays = loop_scratch(model.forest, model.loops, model.motions, model.nu)
    functions = motion_functions(model)
    arguments = (
        model.forest,
        model.loops,
        model.motions,
        functions,
        float(time),
        q,
        u,
        tau,
        wrench,
        gravity,
        ws,
        arrays,
        udot,
    )
    prepared(constrained.constrained_forward_dynamics, arguments, model)(*arguments)
    return udot
