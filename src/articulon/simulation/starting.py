"""Start of a run: the model's initial state or a minimised one, its speeds, and checks for overlaps."""

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
from articulon.thermostats.total_momentum import without_momentum

START_STREAM = 12
"""Random stream of the initial speeds."""
FAR_TOO_HOT = 1e4
"""Repulsion of a pair over kT that indicates an overlap, not a collision: to climb a steep wall U ∝ r⁻¹² to 10⁴ kT
takes a hundred times the thermal speed."""
STEEPNESS = 12.0
"""Exponent of that wall: U = F r/12."""


def check_start(evaluator: Evaluator, state: State, step: float | None = None) -> None:
    """Raise ModelError, naming two sites and how to separate them, if the site forces at a state cannot start a run:
    not finite, a repulsion far beyond thermal energy, or strong enough to throw one site past the other in the first
    step. Also reject spheres that overlap too deeply, sites outside reflecting walls, and forces at another temperature
    than that of the bath.

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
    forces = np.linalg.norm(evaluator.on_sites(positions), axis=1)
    faulty = np.flatnonzero(~np.isfinite(forces))
    worst = int(faulty[0]) if faulty.size else int(np.argmax(forces))
    near = _displacements(model, positions - positions[worst])
    near[worst] = np.inf
    other = int(np.argmin(near))
    if sites.sites == 1:
        if faulty.size:
            raise ModelError(f"the force on {_name(model, 0)} is not finite where the run begins")
        return
    thermal = model.units.boltzmann * _temperature(evaluator, state)
    hot = thermal > 0.0 and forces[worst] * near[other] / STEEPNESS > FAR_TOO_HOT * thermal
    body = int(model.sites.body[worst])
    thrown = step is not None and body >= 0 and forces[worst] * step**2 > 2.0 * model.masses[body] * near[other]
    if not (faulty.size or hot or thrown):
        return
    names = [_name(model, site) for site in (worst, other)]
    gap, face = min(
        (
            (d, f)
            for force in model.forces
            if hasattr(force, "distances")
            for f, d in force.distances(model, positions[worst])
        ),
        default=(np.inf, ""),
    )
    if gap < near[other]:
        near[other], names[1] = gap, f"the wall {face}"
    if near[other] == 0.0:
        raise ModelError(f"{names[0]} and {names[1]} begin at the same point, where no force separates them; move one")
    reduced = model.units.mass is None
    force, length = ("", "") if reduced else (f" {model.units.label(name)}" for name in ("force", "length"))
    how = "not finite" if faulty.size else f"{forces[worst]:.3g}{force}"
    raise ModelError(
        f"{names[0]} and {names[1]} begin {near[other]:.4g}{length} apart, and the force on the first is {how}: they "
        "overlap. Move them apart, or minimise the energy first: run.minimise = true in the case, or "
        "q = articulon.minimise(model) in Python"
    )


def bath_temperature(evaluator: Evaluator) -> float | None:
    """Temperature of the thermostat or the Brownian forces at the start [temperature]; None without either."""
    if evaluator.thermostat is not None:
        return float(evaluator.system.bath.temperatures[0])
    noise = brownian_of(evaluator.model)
    return None if noise is None else float(noise.temperature)


def thermal_start(evaluator: Evaluator, q: np.ndarray, seed: int, temperature: float | None) -> np.ndarray:
    """Draw speeds (nu,) at a temperature, without total momentum if the thermostat removes it.

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
    """Raise ModelError if a force does not fit the temperatures of the baths."""
    if evaluator.target_factor != 1.0:
        return
    noise = brownian_of(evaluator.model)
    baths = [] if noise is None else [("Brownian forces", float(noise.temperature))]
    if evaluator.thermostat is not None:
        baths += [("thermostat", T) for T in evaluator.system.bath.temperatures.tolist()]
    check_baths(evaluator.model, baths)


def _check_walls(model: Model, positions: np.ndarray) -> None:
    """Raise ModelError if a site is outside reflecting walls, which could not reflect it."""
    if model.box is None:
        return
    for axis, kind in enumerate(model.box.boundaries):
        low = float(model.box.origin[axis])
        high = low + float(model.box.lengths[axis])
        outside = np.flatnonzero((positions[:, axis] < low) | (positions[:, axis] > high))
        if kind == "reflecting" and outside.size:
            site = int(outside[0])
            raise ModelError(
                f"{_name(model, site)} begins outside the reflecting walls of the box, at {'xyz'[axis]} = "
                f"{positions[site, axis]:.6g}, which must lie between {low:g} and {high:g}; move it inside"
            )


def _temperature(evaluator: Evaluator, state: State) -> float:
    """Temperature of the thermostat, the Brownian forces or the initial speeds, whichever comes first [temperature]."""
    model = evaluator.model
    bath = bath_temperature(evaluator)
    if bath is not None:
        return bath
    twice = 2.0 * kinetic_energy(model, state.q, state.u)
    return twice / (model.units.boltzmann * max(1, model.degrees_of_freedom))


def _displacements(model: Model, vectors: np.ndarray) -> np.ndarray:
    """Lengths of vectors (n, 3) to the nearest images in the model's box."""
    box = model.box
    if box is not None and box.periodic.any():
        edges = box.vectors
        for k in (2, 1, 0):
            if box.periodic[k]:
                vectors = vectors - np.rint(vectors[:, k] / edges[k, k])[:, None] * edges[k]
    return np.linalg.norm(vectors, axis=1)


def _name(model: Model, site: int) -> str:
    """Readable name of a site: its body, and the site's number if the body has several."""
    body = int(model.sites.body[site])
    several = int((model.sites.body == body).sum()) > 1
    carrier = "the ground" if body < 0 else f"body '{model.names[body]}'"
    return f"site {site} of {carrier}" if several else carrier
