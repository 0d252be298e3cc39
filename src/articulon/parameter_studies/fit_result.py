"""Results of a fit: parameter values, their covariance and their intervals."""

from dataclasses import dataclass

import numpy as np

from articulon.notebook_table import table_of_words
from articulon.parameter_studies.measurements import Measurements
from articulon.parameter_studies.sought_parameters import Found

REGION = 0.999
"""Confidence level of the joint region in which the true values must lie."""
ROUNDING = 1e-6
"""Relative accuracy of the search if the measurements have no errors."""


@dataclass(frozen=True)
class FitResult(Found):
    """Parameters fitted to measurements. Made by :func:`articulon.fit`."""

    covariance: np.ndarray
    """Covariance of the parameters, shape (numbers, numbers)."""
    measurements: Measurements
    """The fitted measurements."""
    fitted: np.ndarray
    """The observables at the fitted parameters, shape (times, observables)."""
    residual_error: float
    """Residual standard error √(|r|²/(n − m)) for residuals r, n measurements and m parameters. The residuals are
    divided by the errors of the measurements if these are known."""
    degrees_of_freedom: int
    """Number of measurements minus number of parameters, n − m."""
    evaluations: int
    """Number of runs with derivatives."""
    synthetic: bool
    """Whether the measurements are from the case's own run, so that the case's values are the true values."""

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard errors of the parameters, shape (numbers,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def correlation(self) -> np.ndarray:
        """Correlations of the parameters, shape (numbers, numbers)."""
        errors = self.standard_errors
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.covariance / np.outer(errors, errors)

    def intervals(self, confidence: float = 0.95) -> np.ndarray:
        """Lower and upper bounds of every parameter at a confidence level, shape (numbers, 2)."""
        from scipy.stats import norm, t

        tail = 0.5 * (1.0 + confidence)
        half = norm.ppf(tail) if self.measurements.errors is not None else t.ppf(tail, max(self.degrees_of_freedom, 1))
        return self.numbers[:, None] + np.outer(self.standard_errors, [-half, half])

    @property
    def recovered(self) -> bool | None:
        """For measurements from the case's own run, whether the case's values lie in the joint 99.9 % confidence
        region; None for other measurements, whose true values are unknown."""
        from scipy.stats import chi2

        if not self.synthetic:
            return None
        off = self.numbers - self.sought.own
        within = float(off @ np.linalg.solve(self.covariance, off)) <= float(chi2.ppf(REGION, off.size))
        return within or bool(np.allclose(self.numbers, self.sought.own, rtol=ROUNDING, atol=0.0))

    def __repr__(self) -> str:
        found = ", ".join(f"{name} = {x:.6g}" for name, x in zip(self.names, self.numbers, strict=True))
        return f"FitResult({found})"

    def _repr_html_(self) -> str:
        rows = {
            name: f"{value:.6g}, between {low:.6g} and {high:.6g} (95 %)"
            for name, value, (low, high) in zip(self.names, self.numbers, self.intervals(), strict=True)
        }
        return table_of_words(f"Fit of {self.case.name}", rows)
