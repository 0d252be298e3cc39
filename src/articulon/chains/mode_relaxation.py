"""Relaxation of chains: autocorrelations of the end-to-end vector and of Rouse modes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from articulon.chains.chain_sizes import end_to_end_vectors
from articulon.chains.chain_table import Chains
from articulon.chains.lag_replicates import LagCurves, lag_curves, over_columns
from articulon.chains.replicates import Estimate, Replicate, jackknife
from articulon.conformations.time_correlation import autocorrelation

MODES = 16
"""Default maximum number of Rouse modes."""
WINDOW = 5.0
"""Length of the integration window in relaxation times. For an exponential decay, the fraction e⁻⁵ is left out."""
RESOLVED = 2.0
"""Shortest relaxation time that is reported, in frames. At this length the integral over frames is 2 % too large."""


class Relaxation(NamedTuple):
    """Autocorrelation of a vector, and its relaxation time."""

    times: np.ndarray
    """Lags, from 0 to half of the run [time], shape (lags,)."""
    correlation: Estimate
    """C(t) = ⟨x(s) · x(s + t)⟩/⟨x²⟩, over all origins s and chains, shape (lags,)."""
    time: Estimate
    """Relaxation time τ = ∫ C dt up to the first t ≥ 5 τ [time]. It is NaN if C does not relax within the lags, or if
    it relaxes within two frames."""


class RouseModes(NamedTuple):
    """Rouse modes of chains of one architecture."""

    kind: str
    """Architecture, ``linear`` or ``ring``."""
    modes: np.ndarray
    """Mode numbers p = 1, 2, ..., shape (modes,)."""
    amplitudes: Estimate
    """Amplitudes ⟨X_p²⟩ [length²], shape (modes,)."""
    scaled_amplitudes: Estimate
    """λ_p ⟨X_p²⟩ with λ_p = 4 sin²(pπ/2N), or 4 sin²(pπ/N) for a ring [length²], shape (modes,). For an ideal linear
    chain it is equal to ⟨b²⟩."""
    relaxations: tuple[Relaxation, ...]
    """Relaxation of each mode."""

    @property
    def relaxation_times(self) -> Estimate:
        """Relaxation times of all modes [time], shape (modes,)."""
        found = [one.time for one in self.relaxations]
        parts = found[0].parts
        return Estimate(np.array([t.value for t in found]), np.array([t.error for t in found]), parts)


def rouse_vectors(beads: int, modes: int, kind: str) -> np.ndarray:
    """Return the vectors that project beads onto the modes p = 1, ..., shape (modes, vectors per mode, beads).

    A linear chain has one vector per mode, √(2/N) cos(pπ (i − ½)/N) with i = 1, ..., N (Kalathi, Kumar, Rubinstein and
    Grest, Macromolecules 47, 6925, 2014; Kremer and Grest, J. Chem. Phys. 92, 5057, 1990, use 1/N instead of √(2/N)). A
    ring has two, √(2/N) cos(2πp i/N) and √(2/N) sin(2πp i/N). The vectors are orthonormal eigenvectors of the spring
    matrix of the chain, with the eigenvalues :func:`eigenvalues`. The mode p = N/2 of a ring has only one vector, with
    entries ±√(1/N).
    """
    i, p = np.arange(beads), np.arange(1, modes + 1)[:, None]
    if kind == "linear":
        return np.sqrt(2.0 / beads) * np.cos(np.pi * p * (i + 0.5) / beads)[:, None]
    angle = 2.0 * np.pi * p * i / beads
    found = np.sqrt(2.0 / beads) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if 2 * modes == beads:
        # In the mode N/2 the cosine is ±1 and the sine is zero. The one vector is duplicated, so that the mean over two
        # vectors is correct.
        found[-1] = found[-1, 0]
        found[-1] /= np.sqrt(2.0)
    return found


def eigenvalues(beads: int, modes: int, kind: str) -> np.ndarray:
    """Return the eigenvalues λ_p of the spring matrix in units of the spring constant, shape (modes,): 4 sin²(pπ/2N)
    for a linear chain, and 4 sin²(pπ/N) for a ring."""
    p = np.arange(1, modes + 1)
    return np.asarray(4.0 * np.sin(np.pi * p / (beads if kind == "ring" else 2 * beads)) ** 2)


def rouse_modes(
    times: np.ndarray,
    positions: np.ndarray,
    chains: Chains,
    kind: str,
    parts: tuple[Replicate, ...],
    most: int = MODES,
) -> RouseModes | None:
    """Compute the Rouse modes p = 1, ... of chains of one kind.

    The number of modes is limited by the shortest chain; the result is None if that chain has no mode.

    A mode of a linear chain is X_p = √(2/N) Σ_i r_i cos(pπ (i − ½)/N). If the bonds are uncorrelated, ⟨X_p²⟩ = b²/(4
    sin²(pπ/2N)) exactly, for any distribution of bond lengths. The modes of a Rouse chain with the friction coefficient
    ζ of a bead relax as exp(−t/τ_p) with τ_p = ζ b²/(12 kT sin²(pπ/2N)) (Verdier, J. Chem. Phys. 45, 2118, 1966). For a
    ring, X_p² is the mean over its two vectors. Chains of different lengths are averaged by mode number p.

    Parameters
    ----------
    times
        Equally spaced times, at least four [time], shape (frames,).
    positions
        Unwrapped positions [length], shape (frames, beads, 3).
    chains
        The chains.
    kind
        Architecture, ``linear`` or ``ring``.
    parts
        Parts of the run that give the errors of the amplitudes.
    most
        Maximum number of modes.
    """
    own = np.flatnonzero(chains.kind == kind)
    if not own.size:
        return None
    least = int(chains.length[own].min())
    count = min(most, least // 2 if kind == "ring" else least - 1)
    if count < 1:
        return None
    groups = [(group, rouse_vectors(group.bead.shape[1], count, kind)) for group in chains.equal_groups(own)]
    scale = np.ones((len(chains), count))
    for group, _ in groups:
        scale[group.chain] = eigenvalues(group.bead.shape[1], count, kind)
    sums, scaled, counts = (np.zeros((len(parts), count)) for _ in range(3))
    relaxations = []
    for p in range(count):
        # Modes are computed one by one, because all of them would take several times the memory of the positions.
        amplitude = np.zeros((len(positions), len(chains), 2 if kind == "ring" else 1, 3))
        for group, vectors in groups:
            for k, bead in zip(group.chain.tolist(), group.bead, strict=True):
                amplitude[:, k] = np.einsum("vi,fik->fvk", vectors[p], positions[:, bead])
        squares = (amplitude**2).sum(axis=3).mean(axis=2)
        for n, part in enumerate(parts):
            chosen = part.chains[chains.kind[part.chains] == kind]
            of = squares[part.frames][:, chosen]
            sums[n, p], scaled[n, p], counts[n, p] = of.sum(), (of * scale[chosen, p]).sum(), of.size
        relaxations.append(relaxation(times, amplitude, own))
    return RouseModes(
        kind, np.arange(1, count + 1), jackknife(sums, counts), jackknife(scaled, counts), tuple(relaxations)
    )


def end_to_end_relaxation(times: np.ndarray, positions: np.ndarray, chains: Chains) -> Relaxation | None:
    """Return the autocorrelation of the end-to-end vector of linear chains; None without linear chains."""
    own = np.flatnonzero((chains.kind == "linear") & (chains.length > 1))
    if not own.size:
        return None
    vectors = np.zeros((len(positions), len(chains), 3))
    vectors[:, own] = end_to_end_vectors(positions, chains, own)
    return relaxation(times, vectors, own)


def relaxation(times: np.ndarray, vectors: np.ndarray, own: np.ndarray) -> Relaxation:
    """Return the autocorrelation of vectors (frames, chains, ..., 3) of the chains ``own``, and its integral.

    The mean of the vectors is zero by symmetry. The upper limit of the integral is that of Madras and Sokal, J. Stat.
    Phys. 50, 109, 1988.

    Errors come from groups of chains. For fewer than four chains they come from blocks of frames, for lags within a
    block.
    """
    frames = len(times)
    lags = frames // 2 + 1
    interval = float(times[1] - times[0])

    def of(part: Replicate) -> np.ndarray:
        return over_columns(autocorrelation, vectors[part.frames][:, part.chains])

    curves: LagCurves = lag_curves(own, frames, lags, of)
    correlation = curves.estimate(lambda curve: curve / curve[0])
    time = curves.estimate(lambda curve: integral_time(curve / curve[0]))
    known = interval if float(time.value) >= RESOLVED else float("nan")
    return Relaxation(
        times[:lags] - times[0], correlation, Estimate(known * time.value, known * time.error, time.parts)
    )


def integral_time(correlation: np.ndarray) -> float:
    """Return the integral ∫ C dt, in frames, up to the first t ≥ 5 ∫ C dt, by the trapezoidal rule; NaN if there is no
    such t."""
    steps = 0.5 * (correlation[1:] + correlation[:-1])
    integral = np.cumsum(steps[: _end_of_numbers(steps)])
    ended = np.flatnonzero(np.arange(1, integral.size + 1) >= WINDOW * integral)
    return float(integral[ended[0]]) if ended.size else float("nan")


def _end_of_numbers(values: np.ndarray) -> int:
    none = np.flatnonzero(~np.isfinite(values))
    return int(none[0]) if none.size else values.size
