"""Stiffness of particles after the first collisions; initial states on a lattice or after minimisation are softer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from articulon.advice.candidate_options import unscaled
from articulon.advice.probe_trials import MOMENTS, Window, trial
from articulon.advice.subject import Subject
from articulon.analysis.scales import FINE, fastest_frequency
from articulon.forces.evaluation import Evaluator, configurational_laplacian
from articulon.integrate.integrators import Canonical
from articulon.model import Model
from articulon.time_scales.noise_windows import fitting_step

SETTLING = 20.0
"""Number of vibrations 1/ω of particles after which their frequencies are evaluated again."""


def stiffness_of_particles(subject: Subject, vibration: float, deadline: float) -> tuple[float, float]:
    """Return the time 1/ω of the fastest vibration of particles [time], and the mean of ω² over all directions
    [1/time²].

    Both are computed at the start and after the first collisions, and the values of the stiffer state are returned.

    Parameters
    ----------
    subject
        The subject.
    vibration
        Time 1/ω at the start [time].
    deadline
        End of the short run, by ``time.perf_counter``.
    """
    model = subject.model
    square = _mean_square(model, model.q0)
    if not math.isfinite(vibration):
        return vibration, square
    step = fitting_step(SETTLING * vibration / MOMENTS, FINE * vibration)
    case = replace(subject.changed(unscaled(subject.case)), integrator=Canonical(rule="velocity-verlet", step=step))
    parts = round(SETTLING * vibration / MOMENTS / step)
    made = trial(subject, case, Window(model, SETTLING * vibration, parts), parts, deadline)
    if made.diverged:
        return vibration, square
    q = made.path.q[-1]
    omega = fastest_frequency(Evaluator(model), q)
    later = 1.0 / omega if omega > 0.0 else math.inf
    return min(vibration, later), max(square, _mean_square(model, q))


def _mean_square(model: Model, q: np.ndarray) -> float:
    """Mean of ω² over all directions of free particles, ⟨∇²Φ/m⟩/3 [1/time²], with the mean mass."""
    return max(0.0, configurational_laplacian(model, q)) / (3.0 * float(model.masses.sum()))
