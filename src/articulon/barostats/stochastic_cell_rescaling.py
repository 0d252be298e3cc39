"""Stochastic cell rescaling: Berendsen's barostat with a noise term that makes its ensemble correct."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np

from articulon.barostats.base import RANDOM_STREAM, ActingBarostat, BaseBarostat
from articulon.declaration import Dimension, Quantity
from articulon.errors import CaseError
from articulon.forces.evaluation import without_virial
from articulon.forces.pressure import beyond_sites
from articulon.forces.sites.site_positions import site_positions
from articulon.forces.sites.site_tables import W_XX, W_ZZ
from articulon.model import Model, State
from articulon.model.box import volume_of
from articulon.model.state import THERMOSTAT
from articulon.rng import fill_normals
from articulon.thermostats.base import BaseThermostat


class ActingRescaling(ActingBarostat):
    """Acts as described in :class:`StochasticCellRescaling`."""

    def change(self, state: State, number: int) -> None:
        """Rescale the box; see :class:`ActingBarostat`."""
        drawn = np.zeros(1)
        fill_normals(self.evaluator.seed, RANDOM_STREAM, number, drawn)
        memory, kT, molecules = state.box, self.kT(state), self.molecules
        volume = volume_of(memory.edges)
        centres, velocities = moving = molecules.motions(state.q, state.u)
        inside, before = self._pressure(state, moving, volume)
        rate = self.kappa / float(self.barostat.relaxation) * self.step * self.every
        change = -rate * (self.pressure - inside) + math.sqrt(2.0 * kT * rate / volume) * float(drawn[0])
        scale = math.exp(change / 3.0)
        molecules.shift(state.q, (scale - 1.0) * centres)
        molecules.push(state.u, (1.0 / scale - 1.0) * velocities)
        memory.edges[:] = scale * memory.edges
        self.take(memory.edges)
        heat = 0.5 * molecules.twice_kinetic(velocities) * (scale**-2 - 1.0)
        memory.work[:] += self.energy(state.q) - before, heat
        memory.moves[:] += 1
        # The energy by which the noise rescales the speeds counts as work of the thermostat.
        state.work[THERMOSTAT] += heat

    def _pressure(self, state: State, moving: tuple[np.ndarray, np.ndarray], volume: float) -> tuple[float, float]:
        """Return the internal pressure P_int [energy/length³] and the potential energy [energy]."""
        e, positions = self.evaluator, site_positions(self.evaluator.model, state.q)
        measures = e.measure(state.q)
        trace = float(measures[W_XX : W_ZZ + 1].sum())
        inside = self.molecules.pressure(moving, e.on_sites(positions), positions, trace, volume)
        return inside, float(e.energies(state.q, measures).sum())


class StochasticCellRescaling(BaseBarostat):
    """The logarithm of the volume, ε = ln V, follows the pressure with noise,

        dε = −(κ/τ) (P − P_int) dt + √(2 kT κ/(V τ)) dW,

    with the internal pressure P_int = (2K + W)/(3V), where K is the kinetic energy and W the virial of whole molecules
    (:func:`articulon.pressure`). Centres of mass are scaled by e^{dε/3}, and their velocities by the inverse factor
    (Bernetti and Bussi, J. Chem. Phys. 153, 114107, 2020, eqs. 7 to 9).

    Ensemble: that of constant pressure and temperature if ``relaxation`` is long compared with the time between
    changes. The volume relaxes in the time ``relaxation`` if ``compressibility`` is correct. Each change takes one
    evaluation of the virial and one of the forces.
    """

    kind: Literal["stochastic-cell-rescaling"] = "stochastic-cell-rescaling"
    actor: ClassVar[type[ActingBarostat]] = ActingRescaling
    of_virial: ClassVar[bool] = True
    relaxation: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """Relaxation time τ of the volume [time]."""

    def check(self, model: Model, thermostat: BaseThermostat | None, where: str = "barostat") -> None:
        """Check the model; see :class:`BaseBarostat`. Also raises CaseError for forces with an unknown virial."""
        super().check(model, thermostat, where)
        kind = without_virial(model) or beyond_sites(model)
        if kind is not None:
            raise CaseError(
                f"{where}: it needs the virial, and that of '{kind}' is not known; use the barostat 'monte-carlo'"
            )
