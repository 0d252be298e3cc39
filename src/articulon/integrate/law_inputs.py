"""What a scaling law reads, and what is booked without its factors."""

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


@jit
def book_bare_works(state, before, after):
    """Works of a step, in which the factors do not change, without them."""
    for c in range(8):
        if state.factor[c] != 0.0:
            state.bare_work[c] += (after[c] - before[c]) / state.factor[c]
