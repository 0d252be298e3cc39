"""Chains whose statistics are known in closed form: phantom ones, drawn directly, and Rouse dynamics, drawn exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


def directions(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Unit vectors without a preferred direction, shape (*shape, 3)."""
    drawn = random.normal(size=(*shape, 3))
    return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)


def freely_jointed(random: np.random.Generator, frames: int, chains: int, beads: int, bond: float = 1.0) -> np.ndarray:
    """Chains of bonds of one length whose directions know nothing of each other, shape (frames, chains · beads, 3)."""
    x = np.zeros((frames, chains, beads, 3))
    x[:, :, 1:] = bond * np.cumsum(directions(random, frames, chains, beads - 1), axis=2)
    return x.reshape(frames, -1, 3)


def freely_rotating(
    random: np.random.Generator, frames: int, chains: int, beads: int, cosine: float, bond: float = 1.0
) -> np.ndarray:
    """Chains of bonds with one angle between neighbours, of the given cosine, and any dihedral, in the same shape."""
    t = np.empty((frames, chains, beads - 1, 3))
    t[:, :, 0] = directions(random, frames, chains)
    for k in range(1, beads - 1):
        across = np.cross(t[:, :, k - 1], directions(random, frames, chains))
        across /= np.linalg.norm(across, axis=-1, keepdims=True)
        t[:, :, k] = cosine * t[:, :, k - 1] + np.sqrt(1.0 - cosine**2) * across
    x = np.zeros((frames, chains, beads, 3))
    x[:, :, 1:] = bond * np.cumsum(t, axis=2)
    return x.reshape(frames, -1, 3)


class Rouse(NamedTuple):
    """Rouse chains, or rings, with springs of ⟨b²⟩ = 1, kT = 1 and a friction of 1 for each bead."""

    beads: int
    ring: bool = False

    @property
    def vectors(self) -> np.ndarray:
        """Orthonormal modes but the first, that of the centre, one a row, shape (beads − 1, beads)."""
        return np.linalg.eigh(self._matrix())[1].T[1:]

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of the matrix of the springs, but the first, which is zero, shape (beads − 1,)."""
        return np.linalg.eigvalsh(self._matrix())[1:]

    def _matrix(self) -> np.ndarray:
        bonds = np.diff(np.eye(self.beads), axis=0)
        if self.ring:
            bonds = np.vstack([bonds, np.eye(self.beads)[0] - np.eye(self.beads)[-1]])
        return bonds.T @ bonds

    @property
    def times(self) -> np.ndarray:
        """Relaxation times ζ b²/3 kT λ of the modes, shape (beads − 1,)."""
        return 1.0 / (3.0 * self.eigenvalues)

    @property
    def diffusion(self) -> float:
        """kT/N ζ of the centre of mass."""
        return 1.0 / self.beads

    def run(self, random: np.random.Generator, frames: int, chains: int, interval: float) -> np.ndarray:
        """Frames of independent chains that start in equilibrium, without error of integration, shape
        (frames, chains · beads, 3)."""
        decay = np.exp(-interval / self.times)[:, None]
        spread = np.sqrt(1.0 / (3.0 * self.eigenvalues))[:, None]
        noise = random.normal(size=(frames, chains, self.beads - 1, 3))
        modes = np.empty_like(noise)
        modes[0] = spread * noise[0]
        for k in range(1, frames):
            modes[k] = decay * modes[k - 1] + np.sqrt(1.0 - decay**2) * spread * noise[k]
        steps = np.sqrt(2.0 * self.diffusion * interval) * random.normal(size=(frames, chains, 1, 3))
        x = np.einsum("pi,fcpk->fcik", self.vectors, modes) + np.cumsum(steps, axis=0)
        return x.reshape(frames, -1, 3)

    def displacement(self, times: np.ndarray, about_centre: bool, beads: np.ndarray) -> np.ndarray:
        """g1, or g2 about the centre of mass, of some beads: 6 D t + 2 Σ_p φ_p(i)²/λ_p (1 − exp(−t/τ_p)), shape
        (times,)."""
        weight = (self.vectors[:, beads] ** 2).mean(axis=1) / self.eigenvalues
        found = 2.0 * (weight * (1.0 - np.exp(-times[:, None] / self.times))).sum(axis=1)
        return found if about_centre else found + 6.0 * self.diffusion * times
