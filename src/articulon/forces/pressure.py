"""The pressure of a periodic box."""

import numpy as np

from articulon.algebra.vectors import add, apply, load, load_at, load_matrix, scale, store_at
from articulon.dynamics.kinematics import move, place
from articulon.dynamics.kinetic_energies import first_moment, link_momentum
from articulon.dynamics.multibody_functions import check_model, vector
from articulon.dynamics.state_functions import scratch
from articulon.errors import ModelError
from articulon.forces.base import Force
from articulon.forces.brownian import Brownian
from articulon.forces.evaluation import check_virial_is_known, site_sums
from articulon.forces.sites.site_positions import only_particles, site_places
from articulon.forces.stokes_drag import StokesDrag
from articulon.kernels import kernel
from articulon.model import Model, kernel_tables
from articulon.model.joints import UNBOUND


@kernel
def tree_motions(forest, q, u, ws, owner, result):
    """Adds to each tree's row Σ m c and Σ m c' of its links, c their centres of mass; result (trees, 6)."""
    links = forest.mass.size
    place(forest, q, ws, 0, links)
    move(forest, u, ws, 0, links)
    for i in range(links):
        h, row = apply(load_matrix(ws.rotation, i), first_moment(forest, ws, i)), result[owner[i]]
        store_at(row, 0, add(load_at(row, 0), add(scale(forest.mass[i], load(ws.position, i)), h)))
        store_at(row, 3, add(load_at(row, 3), link_momentum(forest, ws, i)[0]))


def beyond_sites(model: Model) -> str | None:
    """The kind of a force that no virial of site forces holds: one on bodies that is neither drag nor noise, such as a
    point spring, a restraint, gravity or a contact; None where there is none."""
    for force in model.forces:
        if not isinstance(force, Force) or force.on_joints or force.of_determinant:
            continue
        if not isinstance(force, StokesDrag | Brownian):
            return str(getattr(force, "kind", type(force).__name__))
    return None


def pressure(model: Model, q: np.ndarray, u: np.ndarray) -> float:
    """(2K + W)/(3V) of whole trees: K is the kinetic energy of their centres of mass, and W = Σ F·r the virial of the
    site forces on them, F the force on a tree and r its centre of mass [energy/length³].

    For particles this is their kinetic energy and the trace of ``virial``. For rigid bodies and jointed chains it is
    that trace less Σ F_s·(r_s − r) over the sites, so that the forces that hold a tree together, which no site force
    is, drop out (Allen and Tildesley, Computer Simulation of Liquids, 2nd ed., 2.4: the molecular virial).

    Raises
    ------
    ModelError
        For a model without a periodic box, which has no volume, for bodies that are tied to the ground or by loops, and
        for a force whose virial is not known: one on bodies, such as a point spring, among them.
    """
    check_model(model, "pressure")
    if model.box is None or not model.box.periodic.all():
        raise ModelError("pressure: the model has no box that is periodic in all directions, and so no volume")
    check_virial_is_known(model, "pressure")
    kind = beyond_sites(model)
    if kind is not None:
        raise ModelError(f"pressure: '{kind}' acts on bodies, and its part of the virial is not known")
    coordinates, speeds = vector(q, model.nq, "q"), vector(u, model.nu, "u")
    forces, positions, trace = site_sums(model, coordinates)
    if only_particles(model):
        kinetic = 0.5 * float(model.masses @ (speeds.reshape(-1, 3) ** 2).sum(axis=1))
        return (2.0 * kinetic + trace) / (3.0 * model.box.volume)
    forest, starts = kernel_tables(model).forest, model.forest.tree[:-1]
    tied = [root for root in starts.tolist() if int(forest.kind[root]) not in UNBOUND]
    if tied or model.loops.kind.size:
        what = f"the body '{model.names[int(model.head[tied[0]])]}' is tied to the ground" if tied else "loops bind it"
        raise ModelError(f"pressure: it is defined for trees that move freely through the box, and {what}")
    owner = np.repeat(np.arange(starts.size), np.diff(forest.tree))
    sums = np.zeros((starts.size, 6))
    tree_motions(forest, coordinates, speeds, scratch(model), owner, sums)
    mass = np.add.reduceat(forest.mass, starts)
    twice_kinetic = float(((sums[:, 3:] ** 2).sum(axis=1) / mass).sum())
    if len(forces):
        link, _ = site_places(model)
        if (link < 0).any():
            raise ModelError("pressure: sites are fixed in space, and the box cannot change without them")
        arms = positions - (sums[:, :3] / mass[:, None])[owner[link]]
        trace -= float((forces * arms).sum())
    return (twice_kinetic + trace) / (3.0 * model.box.volume)
