"""Derivatives of forces c E ∂ ln det M on the joints, with c a number and E an energy."""

from collections.abc import Iterator

import numpy as np

from articulon.dynamics.derivatives.determinant_derivatives import (
    DisplacedLinks,
    determinant_force_adjoint,
    determinant_force_by_links,
    determinant_force_tangent,
    displaced_links,
)
from articulon.forces.base import AdjointAt, TangentAt
from articulon.passes import Bound


def determinant_adjoint(at: AdjointAt, factor: float, energy: np.ndarray, by_energy: np.ndarray) -> Iterator[Bound]:
    """Yield passes that add the derivatives of the virtual power with respect to the state, to E (1,), and to
    parameters of links."""
    links = _displaced(at)
    yield determinant_force_adjoint.bind(at.forest, at.q, at.weight, factor, energy, links, at.by_coordinate, by_energy)
    if at.by_links is not None:
        yield determinant_force_by_links.bind(at.forest, factor, energy, links, tuple(at.by_links))


def determinant_tangent(at: TangentAt, factor: float, energy: np.ndarray, change: np.ndarray) -> Iterator[Bound]:
    """Yield passes that add the change of the force with the state, with E, which changes by ``change`` (1,), and with
    parameters of links."""
    by = at.shift, tuple(at.links), factor, energy, change
    yield determinant_force_tangent.bind(at.forest, at.q, *by, _displaced(at), at.joint)


def _displaced(at: AdjointAt | TangentAt) -> DisplacedLinks:
    speeds = at.weight if isinstance(at, AdjointAt) else at.shift
    return displaced_links(at.forest, at.q.size, speeds.size)
