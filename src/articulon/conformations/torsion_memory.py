"""How long torsions remember where they were, and how many independent samples of each a run has."""

from typing import NamedTuple

import numpy as np

from articulon.conformations.backbone_torsions import JointTorsions
from articulon.conformations.time_correlation import inefficiency, normalised_autocorrelations

MOVES = 1e-3
"""Least spread √(1 − |⟨e^{inφ}⟩|²) of a torsion that moves."""


class TorsionMemory(NamedTuple):
    """Autocorrelation of the e^{inφ} of torsions, with n how often each looks the same in a full turn."""

    names: tuple[str, ...]
    """Of the torsions, such as ``phi:A:TRP2``."""
    times: np.ndarray
    """Lags, up to half of what was looked at [time], shape (lags,)."""
    values: np.ndarray
    """C(t) = Re⟨δz*(s) δz(s + t)⟩/⟨|δz|²⟩ of z = e^{inφ}, shape (torsions, lags)."""
    correlation_times: np.ndarray
    """Integrated correlation times τ = Δt (½ + Σ (1 − t/n) C) up to where C first falls below zero [time], shape
    (torsions,)."""
    effective_samples: np.ndarray
    """Independent samples n Δt/2τ, shape (torsions,). One that never came back to its mean has about one or two."""

    @property
    def slowest(self) -> int:
        """The torsion with the fewest effective samples."""
        return int(np.argmin(self.effective_samples))


def torsion_memory(times: np.ndarray, torsions: JointTorsions) -> TorsionMemory | None:
    """The memory of torsions in frames equally far apart in time.

    A torsion that stays where it is has none, and is left out; None where there are fewer than three frames, or none
    moves.
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
