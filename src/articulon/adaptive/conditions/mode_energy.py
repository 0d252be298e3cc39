"""The condition on the energy of a mode."""

from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.adaptive.conditions.condition_base import BoundedCondition
from articulon.adaptive.conditions.decision_state import DecisionState
from articulon.declaration import Dimension, Quantity


class ModeEnergy(BoundedCondition):
    """Energy of a mode of a flexible body about its equilibrium under the current forces.

    Each mode is treated as an independent oscillator with the coordinate η. With the mass m = 1/(M⁻¹)_jj and the
    stiffness k = K_jj of the mode, its energy is ½ m η'² + (m η'')²/2k. For a locked mode it is f²/2k, where f is the
    force that holds the mode. This is the energy that the mode would have after its release.
    """

    when: Literal["mode-energy"] = "mode-energy"
    of: ClassVar = "modes"
    below: Annotated[Quantity | None, Dimension("energy", minimum=0)] = None
    """Upper bound [energy]."""
    above: Annotated[Quantity | None, Dimension("energy", minimum=0)] = None
    """Lower bound [energy]."""

    def truth(self, decision: DecisionState, parts: np.ndarray) -> np.ndarray:
        """See :class:`BaseCondition`."""
        return self.holds(mode_energies(decision, parts))


def mode_energies(decision: DecisionState, parts: np.ndarray) -> np.ndarray:
    """Return the energies described in :class:`ModeEnergy` [energy], shape (members,)."""
    index, forest, state = decision.joints.modes, decision.evaluator.model.forest, decision.state
    assert index is not None and forest.flexible is not None
    speeds, own = decision.joints.start[parts], index.diagonal[parts - decision.joints.links]
    present, whole = decision.space(True), decision.space(False)
    free = decision.rates()
    rates = present.solve(whole.momentum(free)) if state.resolution.locked.any() else free
    # Force on the locked speeds that is not balanced by the accelerations ``rates`` of the active speeds.
    force = whole.momentum(free - rates)[speeds] if state.resolution.locked.any() else np.zeros(speeds.size)
    kinetic, moving = np.zeros(speeds.size), np.flatnonzero(~state.resolution.locked[speeds])
    if moving.size:
        at = speeds[moving]
        mass = 1.0 / present.columns(at)[np.arange(at.size), at]
        force[moving], kinetic[moving] = mass * rates[at], 0.5 * mass * state.u[at] ** 2
    stiffness = forest.flexible.stiffness[index.own_pair[own]]
    with np.errstate(divide="ignore", invalid="ignore"):  # the energy of a mode without stiffness is infinite
        return kinetic + np.where(force == 0.0, 0.0, 0.5 * force * force / stiffness)
