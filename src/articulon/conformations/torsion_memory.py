"""Correlation times of torsions, and the number of independent samples of each in a run."""

from typing import NamedTuple

import numpy as np

from articulon.conformations.backbone_torsions import JointTorsions
from articulon.conformations.time_correlation import inefficiency, normalised_autocorrelations

MOVES = 1e-3
"""Minimum spread √(1 − |⟨e^{inφ}⟩|²) of a torsion that counts as moving."""


class TorsionMemory(NamedTuple):
    """Autocorrelation of e^{inφ} of torsions, with n their symmetry number."""

    names: tuple[str, ...]
    """Names of the torsions, such as ``phi:A:TRP2``."""
    times: np.ndarray
    """Lags, up to half of the analysed part [time], shape (lags,)."""
    values: np.ndarray
    """C(t) = Re⟨δz*(s) δz(s + t)⟩/⟨|δz|²⟩ of z = e^{inφ}, shape (torsions, lags)."""
    correlation_times: np.ndarray
    """Integrated correlation times τ = Δt (½ + Σ (1 − t/n) C) up to where C first falls below zero [time], shape
    (torsions,)."""
    effective_samples: np.ndarray
    """Independent samples n Δt/2τ, shape (torsions,). A torsion that never returned to its mean has about one or
    two."""

    @property
    def slowest(self) -> int:
        """Index of the torsion with the fewest effective samples."""
        return int(np.argmin(self.effective_samples))


def torsion_memory(times: np.ndarray, torsions: JointTorsions) -> TorsionMemory | None:
    """Correlations of torsions in frames equally spaced in time.

    Torsions that do not move are omitted. None for fewer than three frames, or if no torsion moves.
    """
    if len(times) < 3 or not torsions.angles.size:
        return None
    z = np.exp(1j * torsions.folds * torsions.angles)
    moving = np.sqrt(np.maximum(0.0, 1.0 - np.abs(z.mean(axis=0)) ** 2)) > MOVES
    if not moving.any():
        return None
    z, kept = z[:, moving], tuple(name for name, moves in zip(torsions.names, moving, strict=True) if moves)
    values = normalised_autocorrelations(z).T
    interval = float(times[1] - times[0])
    factors = np.array([inefficiency(row) for row in values])
    half = max(2, len(times) // 2)
    return TorsionMemory(
        kept, times[:half] - times[0], values[:, :half], 0.5 * interval * factors, len(times) / factors
    )
