"""Terms of periodic OpenMM Systems: the box, electrostatics by particle-mesh Ewald or reaction field, and tail
corrections."""

import math
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.laws.coulomb import Coulomb
from articulon.forces.sites.mesh_estimate import MeshCharges
from articulon.forces.sites.particle_mesh_ewald import ParticleMeshEwald
from articulon.model.box import Box
from articulon.units import unit_system

ORDER = 5
"""Order of the B-splines in OpenMM's particle-mesh sums."""
UNITS = "Da-nm-ps"


def periodic_box(system: Any) -> Box | None:
    """Return the box of a periodic system [nm]; None for a system that is not periodic."""
    if not system.usesPeriodicBoundaryConditions():
        return None
    from openmm import unit

    edges = np.array(
        [[float(x) for x in edge.value_in_unit(unit.nanometer)] for edge in system.getDefaultPeriodicBoxVectors()]
    )
    return box_of_edges(edges)


def box_of_edges(edges: np.ndarray) -> Box:
    """Return the box with three edges (3, 3) in OpenMM's reduced form [nm]; raise ModelError if the edges are in
    another form."""
    try:
        return Box(
            lengths=tuple(np.diag(edges).tolist()), tilts=(float(edges[1, 0]), float(edges[2, 0]), float(edges[2, 1]))
        )
    except ValueError as reason:
        raise ModelError(f"model.box: OpenMM's box vectors {edges.tolist()} nm are not valid: {reason}") from None


def has_images(force: Any) -> bool:
    """Whether a NonbondedForce sums over all images of the charges."""
    return force.getNonbondedMethod() in (force.Ewald, force.PME)


def charge_terms(force: Any, charge: np.ndarray, box: Box | None, ends: dict[str, Any]) -> list[Any]:
    """Return the forces between the charges of a NonbondedForce.

    Parameters
    ----------
    force
        The NonbondedForce.
    charge
        Charge of each particle [e], shape (particles,).
    box
        Box of the system.
    ends
        Cutoff and switching distance, as options of articulon's force laws.

    Raises
    ------
    ModelError
        For dispersion on a mesh, which articulon does not have.
    """
    if force.getNonbondedMethod() == force.LJPME:
        raise ModelError(
            "model.force_field: OpenMM's LJPME sums dispersion over all images, which has no counterpart here; make "
            "the system with PME, whose dispersion has a cutoff and a correction beyond it"
        )
    if not charge.any():
        return []
    if not ends:
        return [Coulomb()]
    cutoff = ends["cutoff"]
    if not has_images(force):
        dielectric = force.getReactionFieldDielectric()
        return [Coulomb(cutoff=cutoff, truncation="reaction-field", reaction_permittivity=dielectric)]
    assert box is not None
    return [mesh_sum(force, charge, box, cutoff)]


def mesh_sum(force: Any, charge: np.ndarray, box: Box, cutoff: float) -> ParticleMeshEwald:
    """Return the particle-mesh sum of a NonbondedForce. The force specifies the damping and the mesh, or they follow
    from its tolerance.

    In OpenMM, the tolerance δ gives the damping α = √(−ln 2δ)/r_c with the cutoff r_c (OpenMM User Guide, 19.6.5).
    Almost all of the error of OpenMM's sum is the neglected part of the real-space sum. articulon's sum gets the same
    precision, with the damping and the cutoff that cost the least time. Damping and cutoff only divide the sum into two
    parts, and do not change its value.
    """
    from openmm import unit

    alpha, *mesh = force.getPMEParameters()
    alpha = float(alpha.value_in_unit(unit.nanometer**-1) if unit.is_quantity(alpha) else alpha)
    if alpha > 0.0 and force.getNonbondedMethod() == force.PME:
        points = {"mesh": tuple(mesh), "order": ORDER} if min(mesh) > 0 else {}
        return ParticleMeshEwald(cutoff=cutoff, damping=alpha, **points)
    alpha = math.sqrt(-math.log(2.0 * force.getEwaldErrorTolerance())) / cutoff
    vectors = box.resolved(unit_system(UNITS)).vectors
    squares = charge**2
    found = MeshCharges(int((charge != 0.0).sum()), float(squares.sum()), vectors, float(squares @ squares))
    return ParticleMeshEwald(precision=min(found.real_error(alpha, cutoff), 0.5))


def tails(force: Any) -> dict[str, bool]:
    """Return, as an option of articulon's force laws, whether to add the contributions beyond the cutoff: they are
    added if the periodic NonbondedForce or CustomNonbondedForce adds them."""
    if hasattr(force, "getUseDispersionCorrection"):
        periodic = force.getNonbondedMethod() not in (force.NoCutoff, force.CutoffNonPeriodic)
        return {"tail_correction": True} if periodic and force.getUseDispersionCorrection() else {}
    periodic = force.getNonbondedMethod() == force.CutoffPeriodic
    return {"tail_correction": True} if periodic and force.getUseLongRangeCorrection() else {}
