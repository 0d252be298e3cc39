"""Superposition of structures, and the remaining deviation."""

import numpy as np


def superposed(
    moving: np.ndarray, target: np.ndarray, chosen: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Move structures as rigid bodies so that the chosen atoms are as close as possible to those of a target.

    The rotation follows from the singular value decomposition of the correlation matrix of the two structures (Kabsch,
    Acta Cryst. A 34, 827, 1978). It is never a reflection.

    Parameters
    ----------
    moving
        Positions [length], shape (frames, atoms, 3).
    target
        Positions of the same atoms in the target structure [length], shape (atoms, 3).
    chosen
        Atoms used for the superposition.
    weights
        Weights of these atoms, by default equal.
    """
    w = np.ones(chosen.size) if weights is None else weights
    w = w / w.sum()
    there = w @ target[chosen]
    here = np.einsum("a,fac->fc", w, moving[:, chosen])
    x, y = moving[:, chosen] - here[:, None], target[chosen] - there
    left, _, right = np.linalg.svd(np.einsum("a,fai,aj->fij", w, x, y))
    left[:, :, 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    return (moving - here[:, None]) @ (left @ right) + there


def root_mean_square_deviation(
    moving: np.ndarray, target: np.ndarray, chosen: np.ndarray, measured: np.ndarray | None = None
) -> np.ndarray:
    """Root mean square deviation √⟨|x − x₀|²⟩ of some atoms after superposition [length], shape (frames,).

    The ``chosen`` atoms are superposed, and the deviation is that of the ``measured`` atoms, by default the same.
    """
    atoms = chosen if measured is None else measured
    away = superposed(moving, target, chosen)[:, atoms] - target[atoms]
    return np.sqrt((away**2).sum(axis=2).mean(axis=1))


def pairwise_deviations(positions: np.ndarray) -> np.ndarray:
    """Minimum root mean square deviation d of all pairs of frames [length], shape (frames, frames), from positions
    (frames, atoms, 3).

    For n atoms at x in one frame and at y in the other, relative to their centres, n d² = Σ|x|² + Σ|y|² − 2 Σσ. Here σ
    are the singular values of Σ x yᵀ, and the last one has the sign of the determinant.
    """
    x = positions - positions.mean(axis=1, keepdims=True)
    count = x.shape[1]
    squares = (x**2).sum(axis=(1, 2))
    found = np.zeros((len(x), len(x)))
    for k in range(len(x) - 1):
        correlation = np.einsum("ai,faj->fij", x[k], x[k + 1 :])
        values = np.linalg.svd(correlation, compute_uv=False)
        values[:, 2] *= np.sign(np.linalg.det(correlation))
        left = squares[k] + squares[k + 1 :] - 2.0 * values.sum(axis=1)
        found[k, k + 1 :] = np.sqrt(np.maximum(left, 0.0) / count)
    return found + found.T


def about_mean(positions: np.ndarray, chosen: np.ndarray, rounds: int = 20, close: float = 1e-10) -> np.ndarray:
    """Frames (frames, atoms, 3) superposed on their own mean structure, which is iterated until it converges."""
    laid = superposed(positions, positions[0], chosen)
    mean = laid.mean(axis=0)
    for _ in range(rounds):
        laid = superposed(positions, mean, chosen)
        moved = laid.mean(axis=0)
        settled = np.abs(moved - mean).max(initial=0.0) <= close
        mean = moved
        if settled:
            break
    return laid


def fluctuations(laid: np.ndarray) -> np.ndarray:
    """Fluctuation √⟨|x − ⟨x⟩|²⟩ of each atom over superposed frames [length], shape (atoms,)."""
    return np.asarray(np.sqrt(((laid - laid.mean(axis=0)) ** 2).sum(axis=2).mean(axis=0)))


def radii_of_gyration(positions: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Radii of gyration √(Σ m |x − x_c|²/Σ m) about the centre of mass [length], shape (frames,)."""
    w = masses / masses.sum()
    away = positions - np.einsum("a,fac->fc", w, positions)[:, None]
    return np.sqrt(np.einsum("a,fac->f", w, away**2))
