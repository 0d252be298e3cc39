"""Derivatives of forces c E ∂ ln det M on the joints, with c a number and E an energy."""

from collections.abc import Iterator

import numpy as np

from articulon.dynamics.derivatives.determinant_adjoint import (
    determinant_changes,
    determinant_force_adjoint,
    determinant_force_by_links,
)
from articulon.dynamics.derivatives.determinant_derivatives import determinant_force_tangent, displaced_links
from articulon.dynamics.mass_determinant import Determinant
from articulon.forces.base import AdjointAt, TangentAt
from articulon.passes import Bound


def determinant_adjoint(
    at: AdjointAt, factor: float, energy: np.ndarray, by_energy: np.ndarray, arrays: Determinant
) -> Iterator[Bound]:
    """Yield passes that add the derivatives of the virtual power with respect to the state, to E (1,), and to
    parameters of links. ``arrays`` are those from which the forces were computed at the same poses of the links."""
    changes, by = determinant_changes(at.forest.mass.size, at.weight.size), (at.by_coordinate, by_energy)
    yield determinant_force_adjoint.bind(at.forest, at.ws, at.weight, factor, energy, arrays, changes, *by)
    if at.by_links is not None:
        yield determinant_force_by_links.bind(at.forest, at.ws, factor, energy, changes, tuple(at.by_links))


def determinant_tangent(at: TangentAt, factor: float, energy: np.ndarray, change: np.ndarray) -> Iterator[Bound]:
    """Yield passes that add the change of the force with the state, with E, which changes by ``change`` (1,), and with
    parameters of links."""
    links = displaced_links(at.forest, at.q.size, at.shift.size)
    by = at.shift, tuple(at.links), factor, energy, change
    yield determinant_force_tangent.bind(at.forest, at.q, *by, links, at.joint)
