"""Second moments of Langevin motion, exact: in continuous time, with a held force, and under the engine's rules.

Everything here is linear algebra on z = (x, v) of m x'' = −k x − β x' + F + noise. It shares no code with the engine.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.linalg import expm, solve_continuous_lyapunov, solve_discrete_lyapunov


@dataclasses.dataclass(frozen=True)
class Map:
    """z⁺ = A z + B r with r of zero mean and unit covariance."""

    A: np.ndarray
    B: np.ndarray

    def stationary(self) -> np.ndarray:
        """Covariance (2, 2) that the map keeps."""
        return solve_discrete_lyapunov(self.A, self.B @ self.B.T)

    def lagged(self, lags: int) -> np.ndarray:
        """⟨z_l z_0ᵀ⟩ in the stationary state, shape (lags, 2, 2)."""
        C = [self.stationary()]
        for _ in range(lags - 1):
            C.append(self.A @ C[-1])
        return np.array(C)

    def powers(self, start: np.ndarray, steps: int) -> np.ndarray:
        """Covariance after 0, 1, … steps from a given one, shape (steps + 1, 2, 2)."""
        C = [start]
        for _ in range(steps):
            C.append(self.A @ C[-1] @ self.A.T + self.B @ self.B.T)
        return np.array(C)


@dataclasses.dataclass(frozen=True)
class Oscillator:
    """A damped harmonic oscillator in a bath; stiffness 0 is a free particle."""

    mass: float
    drag: float
    stiffness: float
    kT: float

    @property
    def relaxation(self) -> float:
        """τ = m/β."""
        return self.mass / self.drag

    @property
    def generator(self) -> np.ndarray:
        """z' = G z + noise."""
        return np.array([[0.0, 1.0], [-self.stiffness / self.mass, -self.drag / self.mass]])

    def continuous(self, time: float) -> Map:
        """The exact update over a time step, Nørrelykke and Flyvbjerg (Phys. Rev. E 83, 041103, 2011), equations 9–15:
        the matrix exponential, and noise of the covariance that it leaves to be filled. For a bound particle."""
        A = expm(self.generator * time)
        Q = np.diag([0.0, 2.0 * self.drag * self.kT / self.mass**2])
        stationary = solve_continuous_lyapunov(self.generator, -Q)
        # The noise of a step refills what the drift forgets.
        covariance = stationary - A @ stationary @ A.T
        return Map(A, np.linalg.cholesky(0.5 * (covariance + covariance.T)))

    def held(self, window: float) -> Map:
        """The exact update over a window in which the Brownian force is constant, of variance 2βkT/Δ."""
        A = expm(self.generator * window)
        extended = np.zeros((3, 3))
        extended[:2, :2], extended[1, 2] = self.generator, 1.0 / self.mass
        push = expm(extended * window)[:2, 2]
        return Map(A, (np.sqrt(2.0 * self.drag * self.kT / window) * push)[:, None])

    def friction_implicit(self, h: float) -> Map:
        """Half kick, half drift, (m + hβ/2) v⁺ = (m − hβ/2) v + √(2βkTh) r, half drift, half kick."""
        kick = np.array([[1.0, 0.0], [-0.5 * h * self.stiffness / self.mass, 1.0]])
        drift = np.array([[1.0, 0.5 * h], [0.0, 1.0]])
        plus, minus = self.mass + 0.5 * h * self.drag, self.mass - 0.5 * h * self.drag
        rub = np.diag([1.0, minus / plus])
        noise = np.array([[0.0], [np.sqrt(2.0 * self.drag * self.kT * h) / plus]])
        return Map(kick @ drift @ rub @ drift @ kick, kick @ drift @ noise)


def error_of_mean_square(correlation: np.ndarray, copies: int) -> float:
    """Standard error of the mean of x² over ``copies`` independent Gaussian series, sampled at as many times as the
    autocovariance (l = 0, 1, …) is long: var = 2/(N n²) Σ_ij C²_{i−j}."""
    n = correlation.size
    weights = np.where(np.arange(n) == 0, 1.0, 2.0) * (n - np.arange(n))
    return float(np.sqrt(2.0 * (weights * correlation**2).sum() / copies) / n)


def error_of_lagged_product(correlation: np.ndarray, lag: int, samples: int, copies: int) -> float:
    """Standard error of the mean of x_t x_{t+lag} over ``samples`` times and ``copies`` independent Gaussian series.

    By Isserlis' theorem a pair of products, d apart, covaries by C_d² + C_{d+lag} C_{d−lag}. ``correlation`` must reach
    to ``samples + lag``.
    """
    d = np.arange(samples)
    pairs = correlation[d] ** 2 + correlation[d + lag] * correlation[np.abs(d - lag)]
    weights = np.where(d == 0, 1.0, 2.0) * (samples - d)
    return float(np.sqrt((weights * pairs).sum() / copies) / samples)
