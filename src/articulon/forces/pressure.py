"""The pressure of a periodic box."""

import numpy as np

from articulon.dynamics.multibody_functions import check_model, vector
from articulon.errors import ModelError
from articulon.forces.base import Force
from articulon.forces.brownian import Brownian
from articulon.forces.evaluation import check_virial_is_known, site_sums, sites_of
from articulon.forces.sites.site_positions import only_particles
from articulon.forces.stokes_drag import StokesDrag
from articulon.forces.whole_molecules import WholeMolecules, why_not_free
from articulon.model import Model


def beyond_sites(model: Model) -> str | None:
    """Return the kind of a force on bodies that the virial of the site forces does not include, such as a point spring,
    a restraint, gravity or a contact. Drag and noise do not count. None if there is no such force."""
    for force in model.forces:
        if not isinstance(force, Force) or force.on_joints or force.of_determinant:
            continue
        if not isinstance(force, StokesDrag | Brownian):
            return str(getattr(force, "kind", type(force).__name__))
    return None


def pressure(model: Model, q: np.ndarray, u: np.ndarray) -> float:
    """Pressure (2K + W)/(3V) of whole molecules: K is the kinetic energy of their centres of mass, and W = Σ F·r is the
    virial of the site forces on them. F is the force on a molecule and r its centre of mass [energy/length³].

    For particles W is the trace of ``virial``. For bodies, a molecule is a tree together with those that loops or
    bonded terms connect to it, and W is that trace minus Σ F_s·(r_s − r) over the sites. The constraint forces within a
    molecule, which are not site forces, then drop out (Allen and Tildesley, Computer Simulation of Liquids, 2nd ed.,
    2.4: the molecular virial).

    Parameters
    ----------
    model
        The model; its box gives the volume V.
    q
        Coordinates (nq,).
    u
        Speeds (nu,).

    Raises
    ------
    ModelError
        For a model without a periodic box (it has no volume), for bodies that are connected to the ground, and for a
        force whose virial is unknown. The virial of forces on bodies, such as a point spring, is unknown.
    """
    check_model(model, "pressure")
    if model.box is None or not model.box.periodic.all():
        raise ModelError("pressure: the model has no box that is periodic in all directions, and therefore no volume")
    check_virial_is_known(model, "pressure")
    kind = beyond_sites(model)
    if kind is not None:
        raise ModelError(f"pressure: '{kind}' acts on bodies, and its contribution to the virial is unknown")
    coordinates, speeds = vector(q, model.nq, "q"), vector(u, model.nu, "u")
    forces, positions, trace = site_sums(model, coordinates)
    if only_particles(model):
        kinetic = 0.5 * float(model.masses @ (speeds.reshape(-1, 3) ** 2).sum(axis=1))
        return (2.0 * kinetic + trace) / (3.0 * model.box.volume)
    reason = why_not_free(model)
    if reason is not None:
        raise ModelError(f"pressure: it is defined for molecules that move freely through the box, but {reason}")
    molecules = WholeMolecules(model, sites_of(model))
    return molecules.pressure(molecules.motions(coordinates, speeds), forces, positions, trace, model.box.volume)
