"""Correlation of values over time, and the number of independent samples they are worth."""

import numpy as np


def autocorrelation(values: np.ndarray) -> np.ndarray:
    """Autocorrelation ⟨Σ_k x_k(s) x_k(s + t)⟩ over all origins s, for every lag t; values (frames, n), result
    (frames,)."""
    count = len(values)
    size = 1 << (2 * count - 1).bit_length()
    spectrum = np.fft.rfft(values, size, axis=0)
    power = (spectrum.real**2 + spectrum.imag**2).sum(axis=1)
    return np.fft.irfft(power, size)[:count] / np.arange(count, 0, -1)


def square_displacement(values: np.ndarray) -> np.ndarray:
    """Mean square displacement ⟨Σ_k |x_k(s + t) − x_k(s)|²⟩ over all origins s, for every lag t; values (frames, n),
    result (frames,). Values near zero suffer least from rounding."""
    count = len(values)
    # |x(s+t) − x(s)|² = |x(s+t)|² + |x(s)|² − 2 x(s+t)·x(s): sums over s are differences of one cumulative sum.
    squares = (values**2).sum(axis=1)
    running = np.concatenate([[0.0], np.cumsum(squares)])
    lags = np.arange(count)
    both = running[count - lags] + (running[count] - running[lags])
    found = both / (count - lags) - 2.0 * autocorrelation(values)
    found[0] = 0.0
    return found


def normalised_autocorrelations(values: np.ndarray) -> np.ndarray:
    """Normalised autocorrelations Re⟨δx*(s) δx(s + t)⟩/⟨|δx|²⟩ over all origins s, for every lag t and each column of
    real or complex values (frames, n). δx are the deviations from the mean. For constant values, the result is 1 at
    every lag."""
    values = values - values.mean(axis=0)
    count = len(values)
    spectrum = np.fft.fft(values, 1 << (2 * count - 1).bit_length(), axis=0)
    found = np.fft.ifft(np.abs(spectrum) ** 2, axis=0).real[:count] / np.arange(count, 0, -1)[:, None]
    still = found[0] <= 1e-24
    return np.where(still, 1.0, found / np.where(still, 1.0, found[0]))


def inefficiency(normalised: np.ndarray) -> float:
    """Statistical inefficiency g = 1 + 2 Σ (1 − t/n) C(t) of n values with the normalised autocorrelation C (n,). The
    values contain as much information as n/g independent samples.

    The sum ends where C first falls below zero (Chodera et al., J. Chem. Theory Comput. 3, 26, 2007).
    """
    count = normalised.size
    negative = np.flatnonzero(normalised <= 0.0)
    end = int(negative[0]) if negative.size else count
    lags = np.arange(1, end)
    return float(max(1.0, 1.0 + 2.0 * ((1.0 - lags / count) * normalised[1:end]).sum()))
