"""Check that thermal motion does not rotate the lightest or smallest body too far in a step."""

import math

import numpy as np

from articulon.forces.brownian import brownian_of, least_inertia
from articulon.forces.stokes_drag import drag_table
from articulon.integrate import BrownianDynamics
from articulon.model import Model
from articulon.model.joints import BY_KIND

TURN = 0.2
"""Largest thermal rotation in a step [rad]; docs/validation.md shows the effect of larger rotations in
friction-implicit steps. In overdamped steps, this rotation gives averages over rotations an error of about one per
cent."""


def turning_note(integrator: object, model: Model, step: float, unit: str) -> str | None:
    """Return a note if Brownian forces rotate a body by more than ``TURN`` in a step [time], otherwise None."""
    noise = brownian_of(model)
    if noise is None:
        return None
    kT = model.units.boltzmann * float(noise.temperature)
    said = f"integrator.step: at {float(noise.temperature):g} K "
    if isinstance(integrator, BrownianDynamics):
        drag = _least_turning_drag(model)
        turn = math.sqrt(2.0 * kT * step / drag)
        longest = step * (TURN / turn) ** 2 if turn > 0.0 else math.inf
        said += (
            f"the body with the least rotational drag rotates by {turn:.2g} rad in a step; beyond {TURN:g} rad "
            "averages over rotations have errors above a hundredth"
        )
    else:
        turn = step * math.sqrt(kT / least_inertia(model))
        longest = step * TURN / turn if turn > 0.0 else math.inf
        said += (
            f"the lightest body rotates by {turn:.2g} rad in a step; beyond {TURN:g} rad friction-implicit steps may "
            "become non-finite"
        )
    return f"{said}, so take at most {longest:.3g} {unit}" if turn > TURN else None


def _least_turning_drag(model: Model) -> float:
    """Return the smallest rotational drag of a body that its joint can rotate [mass length²/time]; infinity if there is
    no such body."""
    drag = drag_table(model)
    able = np.isin(model.forest.kind, [kind for kind, joint in BY_KIND.items() if joint.rotates()])
    found = drag.rotational[able[drag.link] & (drag.rotational > 0.0)]
    return float(found.min(initial=math.inf))
