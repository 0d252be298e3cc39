"""Relations for a release, computed from the dense mass matrix in O(n³), for tests and benchmarks."""

import numpy as np
import scipy

from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.dynamics.loops.semidefinite import INDEPENDENT
from articulon.dynamics.multibody_functions import mass_matrix
from articulon.model import Model
from articulon.transitions.relations import Relations


def dense_jumps(
    matrix: np.ndarray, jacobian: np.ndarray, locked: np.ndarray, given: np.ndarray, target: np.ndarray | None = None
) -> np.ndarray:
    """Return jumps x of the speeds (columns, nu) with x = ``given`` at locked speeds and J x = ``target``.

    The momentum of the free speeds changes only by the impulses of the loops. The rows of J (rows, nu) may be
    dependent. They are replaced by eigenvectors of J M⁻¹ Jᵀ, one for each independent row, with the mass matrix M (nu,
    nu).
    """
    free = np.flatnonzero(~locked)
    fixed = np.flatnonzero(locked)
    x = given.T.copy()
    if not free.size:
        return x.T
    factor = scipy.linalg.cho_factor(matrix[np.ix_(free, free)], lower=True)
    x[free] = -scipy.linalg.cho_solve(factor, matrix[np.ix_(free, fixed)] @ x[fixed])
    rows = jacobian[:, free]
    if rows.size:
        response = scipy.linalg.cho_solve(factor, rows.T)
        compliance = rows @ response
        scale = 1.0 / np.sqrt(np.maximum(np.diag(compliance), np.finfo(float).tiny))
        scale[np.abs(rows).max(axis=1) == 0.0] = 0.0
        values, vectors = np.linalg.eigh(scale[:, None] * compliance * scale)
        kept = values > INDEPENDENT**2
        vectors = scale[:, None] * vectors[:, kept]
        for _ in range(2):  # the second iteration removes rounding errors of the first
            missing = (0.0 if target is None else target.T) - jacobian @ x
            x[free] += response @ (vectors @ ((vectors.T @ missing) / values[kept, None]))
    return x.T


def dense_relations(model: Model, q: np.ndarray, locked: np.ndarray, released: np.ndarray) -> Relations:
    """Return the result of :func:`articulon.transitions.relations.relations`, computed from the mass matrix."""
    matrix, places = mass_matrix(model, q), np.flatnonzero(released)
    jacobian, rank = np.zeros((0, model.nu)), 0
    if model.loops.kind.size:
        equations = loop_equations(model, q, np.zeros(model.nu))
        jacobian = equations.jacobian[equations.live]
        rank = int(model.loops.rank[0])
    unit = np.zeros((places.size, model.nu))
    unit[np.arange(places.size), places] = 1.0
    columns = dense_jumps(matrix, jacobian, locked, unit)
    return Relations(columns, columns @ matrix @ columns.T, columns @ columns.T, rank)
