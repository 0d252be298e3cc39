"""An explicit Runge-Kutta-Chebyshev rule of order 2 for stiff equations y' = f(t, y) with real decay rates.

A step of s stages is stable up to the length 2/3 s² divided by the largest decay rate (Sommeijer, Shampine and Verwer,
J. Comput. Appl. Math. 88, 315, 1997); the limit of Euler's rule is 2 divided by that rate. The cost of a stiff problem
therefore grows with the square root of its stiffness, and no matrix is formed. Motion under friction without inertia is
a problem of this kind: its decay rates are stiffnesses of the forces, divided by drag coefficients.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

Rates = Callable[[float, np.ndarray], np.ndarray]

DAMPING = 2.0 / 13.0
"""Damping ε, which keeps the modulus of the stability polynomial below 1."""
REACH = 2.0 / 3.0 * (1.0 - 2.0 / 15.0 * DAMPING)
"""Length of the stability interval, divided by s² − 1."""
MOST_STAGES = 200
REFRESH = 25
"""Number of steps after which the largest rate is estimated again."""


class NotFinishedError(Exception):
    """The integration failed: steps became too short, or a value was not finite."""


def largest_rate(
    f: Rates, t: float, y: np.ndarray, fy: np.ndarray, v: np.ndarray, scale: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the magnitude of the largest eigenvalue of ∂f/∂y with a safety margin, and its eigenvector, by power
    iteration that starts from the direction v."""
    size = 1e-7 * max(1e-3, float(np.linalg.norm(y / scale)))
    found = 0.0
    for k in range(40):
        norm = float(np.linalg.norm(v / scale))
        if not norm > 0.0:
            return 0.0, v
        change = f(t, y + v * (size / norm)) - fy
        before, found = found, float(np.linalg.norm(change / scale)) / size
        v = change
        if k > 1 and abs(found - before) <= 0.01 * found:
            break
    return 1.2 * found, v


def coefficients(s: int) -> tuple[np.ndarray, ...]:
    """Return the coefficients (μ, ν, μ̃, γ̃, c) of a step of s stages. The index of each is the stage, from 0."""
    w0 = 1.0 + DAMPING / s**2
    T, dT, ddT = np.zeros(s + 1), np.zeros(s + 1), np.zeros(s + 1)
    T[0], T[1], dT[1] = 1.0, w0, 1.0
    for j in range(2, s + 1):
        T[j] = 2.0 * w0 * T[j - 1] - T[j - 2]
        dT[j] = 2.0 * T[j - 1] + 2.0 * w0 * dT[j - 1] - dT[j - 2]
        ddT[j] = 4.0 * dT[j - 1] + 2.0 * w0 * ddT[j - 1] - ddT[j - 2]
    w1 = dT[s] / ddT[s]
    b = np.empty(s + 1)
    b[2:] = ddT[2:] / dT[2:] ** 2
    b[0] = b[1] = b[2]
    a = 1.0 - b * T
    mu, nu, mu_t, gamma, c = (np.zeros(s + 1) for _ in range(5))
    mu_t[1] = b[1] * w1
    c[2:] = w1 * ddT[2:] / dT[2:]
    c[1] = c[2] / dT[2]
    for j in range(2, s + 1):
        mu[j], nu[j], mu_t[j] = 2.0 * b[j] * w0 / b[j - 1], -b[j] / b[j - 2], 2.0 * b[j] * w1 / b[j - 1]
        gamma[j] = -a[j - 1] * mu_t[j]
    return mu, nu, mu_t, gamma, c


def chebyshev_steps(
    f: Rates,
    t: float,
    y: np.ndarray,
    until: float,
    scale: Callable[[np.ndarray], np.ndarray],
    project: Callable[[np.ndarray], None],
    first: float,
    longest: float = math.inf,
    rate: float | None = None,
) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Yield accepted steps (t, y, f(t, y)) up to ``until``, starting with the initial state.

    Parameters
    ----------
    f
        Right-hand side.
    t, y
        Initial time and variables (n,).
    until
        End time.
    scale
        Function that returns the allowed error of a step for each variable (n,), given the rates at the start of the
        step.
    project
        Function that restores the constraints of the variables after a step (the unit norm of Euler parameters).
    first
        Length of the first step.
    longest
        Length of the longest step.
    rate
        Largest rate at the start; None to estimate it by power iteration.

    Raises
    ------
    NotFinishedError
        If steps become too short.
    """
    table: dict[int, tuple[np.ndarray, ...]] = {}
    fy = f(t, y)
    yield t, y, fy
    size = scale(fy)
    direction = fy + 1e-3 * size
    if rate is None:
        rate, direction = largest_rate(f, t, y, fy, direction, size)
    h, since = min(first, until - t), 0
    while t < until:
        if since >= REFRESH:
            rate, direction = largest_rate(f, t, y, fy, direction, size)
            since = 0
        h = min(h, longest, REACH * (MOST_STAGES**2 - 1) / rate if rate > 0.0 else math.inf)
        lands = h * (1.0 + 1e-9) >= until - t
        if lands:
            h = until - t
        s = max(2, math.ceil(math.sqrt(1.0 + h * rate / REACH)))
        mu, nu, mu_t, gamma, c = table.setdefault(s, coefficients(s))
        previous, stage = y, y + mu_t[1] * h * fy
        for j in range(2, s + 1):
            g = f(t + c[j - 1] * h, stage)
            new = (1.0 - mu[j] - nu[j]) * y + mu[j] * stage + nu[j] * previous + h * (mu_t[j] * g + gamma[j] * fy)
            previous, stage = stage, new
        project(stage)
        fresh = f(t + h, stage)
        estimate = 0.8 * (y - stage) + 0.4 * h * (fy + fresh)
        error = float(np.sqrt(np.mean((estimate / size) ** 2)))
        if not error <= 1.0:
            h *= max(0.1, 0.8 * error ** (-1.0 / 3.0)) if math.isfinite(error) else 0.1
            rate, direction = largest_rate(f, t, y, fy, direction, size)
            if h < 1e-13 * max(abs(until), abs(t)):
                raise NotFinishedError
            continue
        t, y, fy = (until if lands else t + h), stage, fresh
        yield t, y, fy
        size = scale(fy)
        grown = 0.8 * max(error, 1e-6) ** (-1.0 / 3.0)
        h, since = h * min(5.0, max(0.1, grown)), since + 1
