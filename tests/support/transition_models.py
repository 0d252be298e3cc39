"""Random situations in which axes are locked and released, and the dense truth about them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

import articulon as ar
from articulon.transitions.axes import axis_name
from tests.support import loop_models
from tests.support.random_models import random_coordinates, random_forest, to_articulon


@dataclasses.dataclass(frozen=True)
class Situation:
    """A model in motion, some of its axes, and others that are locked all the time."""

    model: Any
    q: np.ndarray
    u: np.ndarray
    changed: np.ndarray
    """Axes to lock and release (nu,), bool."""
    held: np.ndarray
    """Axes that are locked before and after (nu,), bool."""
    matrix: np.ndarray
    """M."""
    jacobian: np.ndarray
    """J."""

    def allowed(self, locked: np.ndarray) -> np.ndarray:
        """An orthonormal basis of the motions with some speeds locked, shape (motions, nu)."""
        return null_space(np.vstack([self.jacobian, np.eye(self.model.nu)[locked]]))

    @property
    def locked(self) -> np.ndarray:
        """All that is locked in the coarse model."""
        return self.changed | self.held


def null_space(rows: np.ndarray) -> np.ndarray:
    """Orthonormal rows that span what some rows leave free."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, sizes, basis = np.linalg.svd(rows)
    return basis[int((sizes > 1e-8 * sizes[0]).sum()) :]


def random_situation(rng: np.random.Generator, most: int = 25, most_changed: int = 8) -> Situation:
    """A random forest with every joint, in every other case with loops, at random coordinates and speeds that keep the
    loops; some axes of any joints that loops do not need."""
    loops = int(rng.integers(1, 3)) if rng.random() < 0.5 else 0
    while True:
        bodies = int(rng.integers(4 if loops else 1, most + 1))
        if loops:
            mechanism, q = loop_models.random_mechanism(rng, bodies, loops)
            try:
                model = loop_models.to_articulon(mechanism)
            except ar.ModelError:  # loops that lock the mechanism
                continue
            model = loop_models.to_articulon(mechanism, q)
            jacobian = ar.loop_jacobian(model, model.q0)
        else:
            description = random_forest(rng, bodies, max_depth=20)
            model = to_articulon(description, random_coordinates(description, rng))
            jacobian = np.zeros((0, model.nu))
        free = null_space(jacobian)
        if not len(free):
            continue
        order = rng.permutation(model.nu)
        count = int(rng.integers(1, most_changed + 1))
        changed, held = np.zeros(model.nu, dtype=bool), np.zeros(model.nu, dtype=bool)
        changed[order[:count]] = True
        if rng.random() < 0.3:
            held[order[count : count + 3]] = True
        # Well inside what the loops allow: axes that they decide to a small part only make the relations stiff.
        if jacobian.size:
            left = np.linalg.svd(free[:, changed | held], compute_uv=False)
            if (changed | held).sum() > len(free) or left.min() < 0.02:
                continue
        u = null_space(np.vstack([jacobian, np.eye(model.nu)[held]])).T
        u = u @ rng.normal(size=u.shape[1])
        u[held] = 0.0
        return Situation(model, model.q0, u, changed, held, ar.mass_matrix(model, model.q0), jacobian)


def words(situation: Situation) -> str:
    """What is locked, for messages."""
    return ", ".join(axis_name(situation.model, j) for j in np.flatnonzero(situation.changed).tolist())


def dense_nearest(G: np.ndarray, S: np.ndarray, b: np.ndarray, energy: float, wanted: np.ndarray) -> np.ndarray:
    """The x nearest to a reference with bᵀx + ½ xᵀS x = energy, the textbook way: the generalised eigenvectors of G and
    S, and the root of the secular equation by bisection. Not for the hard case but that of no reference at all."""
    values, vectors = eigh(G, S)
    centre = -np.linalg.solve(S, b)
    radius = np.sqrt(2.0 * energy + b @ np.linalg.solve(S, b))
    p = vectors.T @ S @ (wanted - centre)
    if not np.any(p):
        # All modes of the smallest value, and of their sums the one with most momentum at the first axis that has any.
        modes = vectors[:, values <= values[0] * (1 + 1e-10)]
        momenta = S @ modes
        first = next(j for j in range(len(S)) if np.linalg.norm(momenta[j]) > 1e-8 * np.sqrt(S[j, j]))
        return radius * modes @ momenta[first] / np.linalg.norm(momenta[first])

    def excess(distance: float) -> float:
        return float(np.linalg.norm(values * p / (values - values[0] + distance)) / radius - 1.0)

    low, high = abs(values[0] * p[0]) / radius, np.linalg.norm(values * p) / radius
    distance = low
    if excess(low) > 0.0:
        distance = brentq(excess, low, 1.001 * high, xtol=1e-15 * low, rtol=1e-15, maxiter=500)
    return centre + vectors @ (values * p / (values - values[0] + distance))
