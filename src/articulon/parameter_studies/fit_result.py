"""What a fit has found: numbers, their covariance and their intervals."""

from dataclasses import dataclass

import numpy as np

from articulon.notebook_table import table_of_words
from articulon.parameter_studies.measurements import Measurements
from articulon.parameter_studies.sought_parameters import Found

REGION = 0.999
"""Of a region in which the true numbers must lie."""
ROUNDING = 1e-6
"""Part of a number to which a search finds it where there are no errors."""


@dataclass(frozen=True)
class FitResult(Found):
    """Parameters that fit measurements. Made by :func:`articulon.fit`."""

    covariance: np.ndarray
    """Of the numbers, shape (numbers, numbers)."""
    measurements: Measurements
    """What was fitted."""
    fitted: np.ndarray
    """The observables with what was found, shape (times, observables)."""
    residual_error: float
    """Root of the mean square of what is left, |r|²/(n − m), over the errors where these are known."""
    degrees_of_freedom: int
    """n − m: measurements less numbers."""
    evaluations: int
    """Runs that it took, with their derivatives."""
    synthetic: bool
    """Whether the case itself was measured, so that its own numbers are the truth."""

    @property
    def standard_errors(self) -> np.ndarray:
        """Of the numbers, shape (numbers,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def correlation(self) -> np.ndarray:
        """Of the numbers, shape (numbers, numbers)."""
        errors = self.standard_errors
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.covariance / np.outer(errors, errors)

    def intervals(self, confidence: float = 0.95) -> np.ndarray:
        """Least and largest value of every number at a confidence, shape (numbers, 2)."""
        from scipy.stats import norm, t

        tail = 0.5 * (1.0 + confidence)
        half = norm.ppf(tail) if self.measurements.errors is not None else t.ppf(tail, max(self.degrees_of_freedom, 1))
        return self.numbers[:, None] + np.outer(self.standard_errors, [-half, half])

    @property
    def recovered(self) -> bool | None:
        """Of a run of the case itself, whether its own numbers lie in the joint region of confidence of 99.9 %; None of
        data, whose truth is not known."""
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
