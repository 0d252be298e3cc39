"""Start of a run: the initial state of the model, or a state of minimised energy, the initial speeds, and checks for
overlaps."""

import numpy as np

from articulon.adaptive.lockable import joints_of
from articulon.adaptive.momentum_exchange import Space
from articulon.dynamics import kinetic_energy
from articulon.errors import ModelError
from articulon.forces.base import check_baths
from articulon.forces.brownian import brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.forces.impacts.free_spheres import only_hard_spheres
from articulon.forces.impacts.joint_limits import has_impacts
from articulon.forces.sites.site_positions import site_positions
from articulon.integrate.event_driver import check_apart
from articulon.model import Model, State
from articulon.simulation.contact_start import check_overlaps
from articulon.simulation.site_overlaps import check_sites_apart, site_name
from articulon.thermostats.total_momentum import without_momentum

START_STREAM = 12
"""Random stream of the initial speeds."""


def check_start(evaluator: Evaluator, state: State, step: float | None = None) -> None:
    """Raise ModelError if a run cannot start from a state.

    Site forces are rejected if they are not finite, or if a repulsive energy is far above the thermal energy. They are
    also rejected if a repulsion would move a site, in the first step, by more than its distance from the other site.
    The message names the two sites and how to separate them. Spheres that overlap too deeply, sites outside reflecting
    walls, and forces with a temperature that differs from the bath's temperature are rejected too.

    Parameters
    ----------
    evaluator
        The forces.
    state
        State at which the run begins.
    step
        Length of the first step, if fixed [time].
    """
    _check_baths(evaluator)
    check_overlaps(evaluator.model, state.q)
    if only_hard_spheres(evaluator.model):
        check_apart(evaluator.model, state.q)
    elif has_impacts(evaluator.model):
        evaluator.impacts.check_start(state.q, state.u)
    sites, model = evaluator.sites, evaluator.model
    if not sites.sites:
        return
    positions = site_positions(model, state.q)
    _check_walls(model, positions)
    thermal = model.units.boltzmann * _temperature(evaluator, state)
    check_sites_apart(evaluator, positions, thermal, step)


def bath_temperature(evaluator: Evaluator) -> float | None:
    """Return the temperature of the thermostat or the Brownian forces at the start [temperature]; None if the run has
    neither."""
    if evaluator.thermostat is not None:
        return float(evaluator.system.bath.temperatures[0])
    noise = brownian_of(evaluator.model)
    return None if noise is None else float(noise.temperature)


def thermal_start(evaluator: Evaluator, q: np.ndarray, seed: int, temperature: float | None) -> np.ndarray:
    """Draw thermal speeds (nu,) at a temperature. Their total momentum is zero if the thermostat removes it.

    Raises
    ------
    ModelError
        If there is no temperature.
    """
    model, thermostat = evaluator.model, evaluator.thermostat
    if temperature is None:
        raise ModelError(
            "run.speeds: 'thermal' speeds need a temperature; give one (temperature), or add a thermostat or Brownian "
            "forces"
        )
    kT = model.units.boltzmann * temperature
    joints = joints_of(model)
    space = Space(model, joints, np.array(q), np.zeros(joints.degrees_of_freedom.size, dtype=bool))
    u = space.thermal(seed, START_STREAM, 0, kT)
    removed = thermostat is not None and thermostat.centre_of_mass == "removed"
    return without_momentum(model, q, u) if removed else u


def _check_baths(evaluator: Evaluator) -> None:
    """Raise ModelError if a force has a temperature that differs from the temperature of the thermostat or the Brownian
    forces."""
    if evaluator.target_factor != 1.0:
        return
    noise = brownian_of(evaluator.model)
    baths = [] if noise is None else [("Brownian forces", float(noise.temperature))]
    if evaluator.thermostat is not None:
        baths += [("thermostat", T) for T in evaluator.system.bath.temperatures.tolist()]
    check_baths(evaluator.model, baths)


def _check_walls(model: Model, positions: np.ndarray) -> None:
    """Raise ModelError if a site is outside the reflecting walls that should confine it."""
    if model.box is None:
        return
    for axis, kind in enumerate(model.box.boundaries):
        low = float(model.box.origin[axis])
        high = low + float(model.box.lengths[axis])
        outside = np.flatnonzero((positions[:, axis] < low) | (positions[:, axis] > high))
        if kind == "reflecting" and outside.size:
            site = int(outside[0])
            raise ModelError(
                f"{site_name(model, site)} begins outside the reflecting walls of the box, at {'xyz'[axis]} = "
                f"{positions[site, axis]:.6g}, which must lie between {low:g} and {high:g}; move it inside"
            )


def _temperature(evaluator: Evaluator, state: State) -> float:
    """Return the temperature of the thermostat [temperature]. Without a thermostat, it is the temperature of the
    Brownian forces; without these, of the initial speeds."""
    model = evaluator.model
    bath = bath_temperature(evaluator)
    if bath is not None:
        return bath
    twice = 2.0 * kinetic_energy(model, state.q, state.u)
    return twice / (model.units.boltzmann * max(1, model.degrees_of_freedom))
