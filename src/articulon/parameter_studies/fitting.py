"""Fit parameters of a case to measurements: least squares with the derivatives of the run.

The residuals are r = (y(t; p) − d)/σ, with the observables y at times t and parameters p, the measurements d and their
errors σ. The Jacobian J of the residuals comes from forward sensitivities, which are exact derivatives of the computed
numbers. At the minimum the covariance of the parameters is (JᵀJ)⁻¹ if σ is known. Otherwise it is multiplied by
s² = |r|²/(n − m), for n residuals and m parameters, and intervals are those of Student's t with n − m degrees of
freedom (Seber and Wild, Nonlinear Regression, 1989, section 5.1). Both are valid as far as the run is linear in the
parameters over the intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from articulon.cases.case import Case
from articulon.cases.loading import given_case
from articulon.cases.study_sections import Fit
from articulon.errors import ArticulonError, CaseError, DivergenceError
from articulon.inputs import flag
from articulon.parameter_studies.fit_page import write_fit
from articulon.parameter_studies.fit_result import FitResult
from articulon.parameter_studies.measurements import Measurements, errors_of, measurements_of
from articulon.parameter_studies.sought_parameters import SoughtParameters, sought_parameters
from articulon.sensitivities.differentiable_models import run_of_case
from articulon.sensitivities.objectives import objective_of
from articulon.sensitivities.observed_paths import ObservedPath, observed_path
from articulon.sensitivities.run_parameters import all_parameters

WHERE = "fit"
TOLERANCE = 1e-10
"""Relative tolerance of the search, on the sum of squares, the parameters and the gradient."""
SINGULAR = 1e-10
"""Singular values of the scaled Jacobian, relative to the largest, below which a combination of parameters is
undetermined."""
NOISE = 0x66_69_74
"""Number of the random stream for the errors of synthetic measurements."""


def fit(
    case: Case | str | Path,
    data: Mapping[str, Any] | str | Path | None = None,
    parameters: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    errors: Sequence[float] | float | None = None,
    overrides: Mapping[str, Any] | None = None,
    allow_code: bool = False,
    out: str | Path | None = None,
) -> FitResult:
    """Fit parameters of a case to measurements, with confidence intervals.

    The method is least squares with SciPy's trust-region algorithm and the derivatives of the run: each iteration is
    one run with its sensitivities to every parameter.

    Parameters
    ----------
    case
        A case, its name, or its file; its ``[fit]`` section defines the fit, unless arguments override it.
    data
        The measurements: ``{"time": (n,), "rod.angle": (n,), ...}``, columns of a data frame, or a file of
        comma-separated values with these column names, in the units of the case. A missing value is ``nan`` or an empty
        cell. If neither this argument nor the case has data, measurements are generated from the case's own run, with
        random errors of size ``errors``. The fit then shows whether the values of the case can be recovered.
    parameters
        Keys of the case; or a dictionary with a start value, or ``(start, least, largest)``, for each key.
    errors
        Standard deviation of the errors of each observable, or one for all, in the units of the observable. By default
        it is estimated from the residuals.
    overrides
        Changes to the case by dotted key.
    allow_code
        Whether Python functions that the case names may run. They are code by the author of the case.
    out
        A folder for ``fit.json``, ``measurements.csv``, ``case.toml`` with the fitted values, and a page, ``fit.html``;
        none by default.

    Returns
    -------
    FitResult
        ``values`` by key, ``intervals()``, ``covariance``, and ``case``, the case with the fitted values.

    Raises
    ------
    CaseError
        For unknown keys, columns and files, and for a run without derivatives.
    ArticulonError
        If the search does not converge, or the measurements do not determine a parameter.
    """
    case = given_case(case, overrides, flag(allow_code, f"{WHERE}, allow_code", CaseError))
    asked = Fit() if case.fit is None else case.fit
    if errors is not None:
        asked = Fit.from_mapping({**asked.model_dump(), "errors": np.atleast_1d(errors).tolist()}, WHERE)
    sought = sought_parameters(case, asked.parameters, parameters, f"{case.source}: {WHERE}")
    measured = measurements_of(case, asked, data, f"{case.source}: {WHERE}")
    synthetic = measured is None
    if measured is None:
        measured = _measured(case, asked)
    found = _searched(sought, measured, synthetic)
    if out is not None:
        write_fit(found, Path(out))
    return found


def _measured(case: Case, asked: Fit) -> Measurements:
    """Generate measurements from the case's own run, with random errors."""
    where = f"{case.source}: {WHERE}"
    if not asked.observables:
        raise CaseError(f"{where}.observables: name what is measured, such as 'rod.angle', or give data")
    times = np.arange(1, asked.samples + 1) * (float(case.run.duration) / asked.samples)
    path = _path(case, times, asked.observables, ())
    errors = errors_of(asked.errors, len(asked.observables), where)
    values = path.values
    if errors is not None:
        seeds = np.random.SeedSequence([NOISE, int(case.run.seed)])
        values = values + errors * np.random.default_rng(seeds).standard_normal(values.shape)
    return Measurements(times, asked.observables, values, errors)


def _path(case: Case, times: np.ndarray, observables: Sequence[str], keys: Sequence[str]) -> ObservedPath:
    run = run_of_case(case, WHERE)
    given: dict[str, Any] = {"stops": False, "integrator": run.integrator}
    objectives = [objective_of(run.model, name, f"{WHERE}: observables", **given) for name in observables]
    parameters = all_parameters(run, keys, WHERE) if keys else []
    return observed_path(run, times, objectives, parameters)


def _searched(sought: SoughtParameters, measured: Measurements, synthetic: bool) -> FitResult:
    from scipy.optimize import least_squares

    there = np.isfinite(measured.values)
    spread = np.ones(len(measured.observables)) if measured.errors is None else measured.errors
    if there.sum() <= sought.own.size:
        raise CaseError(f"{WHERE}: {there.sum()} measurements do not determine {sought.own.size} numbers; add more")
    known: dict[bytes, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def at(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return residuals, their Jacobian, and the observables."""
        key = numbers.tobytes()
        if key not in known:
            path = _path(sought.with_numbers(numbers), measured.times, measured.observables, sought.keys)
            residuals = ((path.values - measured.values) / spread)[there]
            known[key] = residuals, (path.derivatives / spread[:, None])[there], path.values
        return known[key]

    def residuals(numbers: np.ndarray) -> np.ndarray:
        try:
            return at(numbers)[0]
        except (DivergenceError, CaseError):  # the run diverges, or the case rejects these values
            return np.full(int(there.sum()), 1e100)  # makes the search take a shorter step

    at(sought.start)  # an error at the start values is reported before the search
    done = least_squares(
        residuals, sought.start, lambda numbers: at(numbers)[1], sought.bounds, x_scale="jac",
        ftol=TOLERANCE, xtol=TOLERANCE, gtol=TOLERANCE,
    )  # fmt: skip
    if not done.success:
        raise ArticulonError(f"{WHERE}: the search did not converge ({done.message}); start closer, or give bounds")
    left, jacobian, fitted = at(done.x)
    freedom = left.size - done.x.size
    variance = 1.0 if measured.errors is not None else float(left @ left) / freedom
    covariance = variance * _inverse(jacobian, sought.names)
    return FitResult(
        replace(sought.with_numbers(done.x), name=sought.case.name, changes=dict(sought.case.changes)),
        sought,
        done.x,
        covariance,
        measured,
        fitted,
        float(np.sqrt(left @ left / freedom)),
        freedom,
        len(known),
        synthetic,
    )


def _inverse(jacobian: np.ndarray, names: list[str]) -> np.ndarray:
    """Compute (JᵀJ)⁻¹; raise ArticulonError, which names the parameters that the measurements do not determine."""
    size = np.linalg.norm(jacobian, axis=0)
    scale = np.where(size > 0.0, size, 1.0)
    _, singular, directions = np.linalg.svd(jacobian / scale, full_matrices=False)
    if singular[-1] <= SINGULAR * singular[0]:
        weak = directions[-1]
        found = [name for name, part in zip(names, np.abs(weak), strict=True) if part > 0.1 * np.abs(weak).max()]
        many = "nothing about" if len(found) == 1 else "only a combination of"
        raise ArticulonError(
            f"{WHERE}: the measurements determine {many} {', '.join(found)}; leave "
            f"{'it' if len(found) == 1 else 'one'} out, or measure something else"
        )
    inverse: np.ndarray = (directions.T / singular**2) @ directions / np.outer(scale, scale)
    return inverse
