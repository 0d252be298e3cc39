"""Means over time, with standard errors that account for the correlation between frames."""

import math
from typing import NamedTuple

import numpy as np

from articulon.conformations.time_correlation import autocorrelation, inefficiency
from articulon.errors import ArticulonError
from articulon.fidelity.settling import SETTLED
from articulon.inputs import floats, number, shown
from articulon.simulation.results import Run


class Average(NamedTuple):
    """A mean over time."""

    mean: float
    """The mean."""
    error: float
    """Standard error, from the number of independent samples."""
    samples: float
    """Number of independent samples in the frames."""


def statistical_inefficiency(values: np.ndarray) -> float:
    """Return the statistical inefficiency g = 1 + 2 Σ (1 − t/n) C(t). The n frames contain as much information as n/g
    independent samples.

    The sum ends where the normalised autocorrelation C first falls below zero (Chodera et al., J. Chem. Theory Comput.
    3, 26, 2007).

    Parameters
    ----------
    values
        Values equally spaced in time, shape (frames,).
    """
    try:
        given = floats(values)
    except ValueError as reason:
        raise ArticulonError(f"values: {reason}") from None
    if given.ndim != 1 or not given.size:
        raise ArticulonError(f"values: expected numbers equally spaced in time, got an array of shape {given.shape}")
    deviation = given - np.mean(given)
    count = deviation.size
    if count < 3 or not deviation.any():
        return 1.0
    correlation = autocorrelation(deviation[:, None])
    return inefficiency(correlation / correlation[0])


def average(run: Run, observable: str, skip: float = SETTLED) -> Average:
    """Return the mean of an observable over the frames, with its standard error.

    Parameters
    ----------
    run
        A run, or any object with ``observables``.
    observable
        Name among ``run.observables``, such as ``"temperature_kinetic"``.
    skip
        Fraction of frames to omit at the start.

    Raises
    ------
    ArticulonError
        For an observable that the run does not have.
    """
    values = kept(run, observable, skip)
    count = values.size / statistical_inefficiency(values)
    spread = float(values.std(ddof=1)) if values.size > 1 else float("nan")
    return Average(float(values.mean()), spread / math.sqrt(count), count)


def kept(run: Run, observable: str, skip: float) -> np.ndarray:
    """Return the values of an observable, without the fraction ``skip`` of the frames at the start; raises
    ArticulonError for an observable that the run does not have."""
    if not hasattr(run, "observables"):
        raise ArticulonError(f"expected a run, or an object with observables, got {shown(run)}")
    if not isinstance(observable, str) or observable not in run.observables:
        known = ", ".join(sorted(run.observables))
        raise ArticulonError(f"the run has no observable {shown(observable)}; it has {known}")
    values = np.asarray(run.observables[observable], dtype=float)
    return values[first_frame(values.size, skip) :]


def first_frame(frames: int, skip: float) -> int:
    """Return the index of the first frame after the fraction ``skip``; raises ArticulonError if no frame is left."""
    if not 0.0 <= number(skip, "skip", ArticulonError) < 1.0:
        raise ArticulonError(f"skip must be a fraction of the frames, from 0 to less than 1, got {shown(skip)}")
    return min(int(skip * frames), frames - 1)
