"""What a scaling law reads."""

from articulon.baths.base import GAIN
from articulon.forces.filling import force_sums
from articulon.kernels import jit
from articulon.scaling.base import STEP, ZETA, ZETA_RATE


@jit
def law_inputs(system, channels, ws, step, sums):
    """Magnitudes of the forces after an evaluation, ζ and kd ζ' of a thermostat that acted in it, and the step."""
    force_sums(system, channels, ws, sums)
    sums[STEP] = step
    if channels.bath.size > 0:
        sums[ZETA], sums[ZETA_RATE] = channels.bath[0, 0], system.bath.constants[GAIN] * channels.bath[1, 0]
