"""Kinetic and configurational temperatures of a run, and their expected fluctuations."""

import math
from typing import NamedTuple

import numpy as np

from articulon.analysis.run_models import case_of, check_run, model_of
from articulon.analysis.time_averages import Average, first_frame, kept, statistical_inefficiency
from articulon.errors import ArticulonError
from articulon.fidelity.settling import SETTLED
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import only_particles, site_positions
from articulon.inputs import number
from articulon.simulation.results import Run

GRADIENT, LAPLACIAN = "gradient_squared", "laplacian"
"""Names of the observables of the configurational temperature."""


class Spread(NamedTuple):
    """Fluctuation of the kinetic temperature."""

    mean: float
    """Mean kinetic temperature [temperature]."""
    measured: float
    """Standard deviation over the frames [temperature]."""
    canonical: float
    """Standard deviation in the canonical ensemble, √(2/N) times the mean, for N degrees of freedom [temperature]."""


def configurational_temperature(run: Run, skip: float = SETTLED) -> Average:
    """Return the configurational temperature T, with k T = ⟨|∇Φ|²⟩/⟨∇²Φ⟩ [temperature], and its standard error.

    Φ is the potential energy of all sites, including that of walls. Gradient and Laplacian are taken with respect to
    the translations of free bodies (Rugh, Phys. Rev. Lett. 78, 772, 1997; Butler et al., J. Chem. Phys. 109, 6519,
    1998).

    Parameters
    ----------
    run
        A run.
    skip
        Fraction of frames to omit at the start.

    Raises
    ------
    ArticulonError
        If the temperature is undefined for this run; the summary of the run gives the reason.
    """
    check_run(run)
    if GRADIENT not in run.observables:
        reason = (run.summary.get("temperatures") or {}).get("not_defined", "no force has a Laplacian")
        raise ArticulonError(f"the configurational temperature is not defined in this run: {reason}")
    boltzmann = model_of(run).units.boltzmann
    return ratio_of_means(kept(run, GRADIENT, skip), kept(run, LAPLACIAN, skip), boltzmann)


def ratio_of_means(squares: np.ndarray, laplacians: np.ndarray, boltzmann: float) -> Average:
    """Return the ratio ⟨|∇Φ|²⟩/(k ⟨∇²Φ⟩) and its standard error, to first order in the errors of the means."""
    ratio = float(squares.mean() / laplacians.mean())
    residual = (squares - ratio * laplacians) / laplacians.mean()
    count = residual.size / statistical_inefficiency(residual)
    error = float(residual.std(ddof=1)) / math.sqrt(count) if residual.size > 1 else math.nan
    return Average(ratio / boltzmann, error / boltzmann, count)


def temperature_spread(run: Run, skip: float = SETTLED) -> Spread:
    """Return the mean and standard deviation of the kinetic temperature, and its standard deviation in the canonical
    ensemble.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    values = kept(run, "temperature_kinetic", skip)
    mean = float(values.mean())
    return Spread(mean, float(values.std()), mean * math.sqrt(2.0 / degrees_of_freedom(run)))


def isokinetic_spread(run: Run, derivative_gain: float, mass: float, skip: float = SETTLED) -> float:
    """Predict the standard deviation of the kinetic temperature under a modified Nosé–Hoover thermostat [temperature].

    For free particles, the standard deviation is σ_T = Q σ(q'ᵀΓ / q'ᵀMq')/(kd N k). Here q' are the speeds, Γ the
    forces, M the mass matrix and N the number of degrees of freedom. The formula holds if 2 kd N k T/Q is well above
    the fastest frequency.

    The friction coefficient ζ + kd ζ' of the thermostat then balances the power of the forces: it follows q'ᵀΓ/q'ᵀMq',
    and so do ζ' and the temperature. The forces are evaluated at the frames of the run.

    Parameters
    ----------
    run
        A run.
    derivative_gain, mass
        Gain kd [time] and mass Q [energy time²] of the thermostat.
    skip
        Fraction of frames to omit at the start.
    """
    model = model_of(run)
    if not only_particles(model):
        raise ArticulonError("isokinetic_spread needs free particles, and this run has other bodies or forces")
    derivative_gain = number(derivative_gain, "derivative_gain", ArticulonError)
    mass = number(mass, "mass", ArticulonError)
    if not (derivative_gain > 0.0 and mass > 0.0):
        raise ArticulonError(f"derivative_gain and mass must be positive, got {derivative_gain:g} and {mass:g}")
    late = slice(first_frame(len(run.times), skip), None)
    values = relative_powers(Evaluator(model), run.q[late], run.u[late])
    return mass * float(values.std()) / (derivative_gain * degrees_of_freedom(run) * model.units.boltzmann)


def relative_powers(evaluator: Evaluator, coordinates: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Return q'ᵀΓ/q'ᵀMq' for the site forces Γ on free particles [1/time], shape (frames,), at coordinates (frames, nq)
    and speeds (frames, nu). It is the power of the forces divided by twice the kinetic energy."""
    model, found = evaluator.model, []
    for q, u in zip(coordinates, speeds, strict=True):
        v = np.asarray(u).reshape(-1, 3)
        forces = evaluator.on_sites(site_positions(model, np.asarray(q, dtype=float)))
        found.append(float((forces * v).sum()) / float(model.masses @ (v**2).sum(axis=1)))
    return np.array(found)


def degrees_of_freedom(run: Run) -> int:
    """Return the number of degrees of freedom that share the kinetic energy of a run."""
    thermostat = case_of(run).thermostat
    return int(
        run.summary["degrees_of_freedom"] if thermostat is None else thermostat.degrees_of_freedom(model_of(run))
    )
