"""Models made from an OpenMM System alone: rigid molecules are bodies, and all other particles are point masses."""

from typing import Any

import numpy as np

from articulon.building import ModelBuilder
from articulon.errors import ModelError
from articulon.inputs import floats
from articulon.model import Free, Model, Xyz
from articulon.model.joints import Joint
from articulon.molecules.force_field import forces_of_system
from articulon.molecules.force_field_terms import plain
from articulon.molecules.virtual_sites import check_virtual_sites, virtual_sites, with_virtual_sites

UNITS = "Da-nm-ps"


def model_from_system(system: Any, positions: Any) -> Model:
    """Return a model of all particles of an OpenMM System, with its forces.

    Molecules that constraints make rigid, such as three- and four-site water, become free bodies. All other particles
    move independently.

    Parameters
    ----------
    system
        The ``openmm.System``, periodic or not. Its thermostats and barostats are ignored.
    positions
        Positions of all particles [nm], shape (particles, 3), or a quantity of OpenMM. Virtual sites are placed as in
        OpenMM.

    Raises
    ------
    ModelError
        For a force that articulon does not have, and for constraints that fix only some distances of a molecule. For
        the latter, build the structure with torsions instead (``ar.molecules.build``).
    """
    x = _places(system, positions)
    cluster = rigid_clusters(system)
    check_virtual_sites(system, cluster)
    field = forces_of_system(system, _Clusters(cluster))
    builder = ModelBuilder(units=UNITS, box=field.box)
    masses = np.array([plain(system.getParticleMass(k)) for k in range(len(x))])
    centre = _add_bodies(builder, masses, x, cluster)
    for k, body in enumerate(cluster.tolist()):
        builder.add_site(body, position=x[k] - centre[body], charge=field.charges[k], kind=field.kinds[k])
    for force in field.forces:
        builder.add_force(force)
    return builder.build()


def _places(system: Any, positions: Any) -> np.ndarray:
    from openmm import unit

    given = positions.value_in_unit(unit.nanometer) if unit.is_quantity(positions) else positions
    try:
        x = floats([list(place) for place in given])
    except (TypeError, ValueError) as reason:
        raise ModelError(f"positions: expected three numbers for each particle: {reason}") from None
    if x.shape != (system.getNumParticles(), 3):
        raise ModelError(f"positions: expected the shape ({system.getNumParticles()}, 3), got {x.shape}")
    return with_virtual_sites(system, x)


def rigid_clusters(system: Any) -> np.ndarray:
    """Return the index of each particle's rigid cluster, shape (particles,); clusters are in the order of their first
    particles.

    Raises
    ------
    ModelError
        If constraints do not fix all distances between the particles that they join.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = system.getNumParticles()
    held = [system.getConstraintParameters(k)[:2] for k in range(system.getNumConstraints())]
    # A virtual site belongs to the cluster of its parents.
    carried = [(site.site, parent) for site in virtual_sites(system) for parent in site.parents]
    pairs = np.array([*held, *carried], dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    sites = {site.site for site in virtual_sites(system)}
    atoms = np.bincount(label, [k not in sites for k in range(count)]).astype(int)
    bonds = np.bincount(label[[i for i, _ in held]], minlength=atoms.size) if held else np.zeros(atoms.size, dtype=int)
    loose = np.flatnonzero((bonds > 0) & (bonds < np.maximum(3 * atoms - 6, atoms - 1)))
    if loose.size:
        k = int(np.flatnonzero(label == loose[0])[0])
        raise ModelError(
            f"model: constraints hold only some distances of the molecule of particle {k}; make the "
            "system with constraints=None and rigidWater=True, or build the molecule from its structure"
        )
    _, first = np.unique(label, return_index=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[label]


class _Clusters:
    """The part of an articulation that ``from_system`` uses."""

    def __init__(self, cluster: np.ndarray) -> None:
        self.cluster = cluster
        self.axis = np.full((int(cluster.max(initial=-1)) + 1, 2), -1, dtype=np.int64)


def _add_bodies(builder: ModelBuilder, masses: np.ndarray, x: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Add the bodies of the clusters; return their positions (bodies, 3)."""
    count = int(cluster.max(initial=-1)) + 1
    mass, size = np.bincount(cluster, masses, count), np.bincount(cluster, minlength=count)
    if not (mass > 0.0).all():
        k = int(np.flatnonzero(cluster == int(np.argmin(mass)))[0])
        raise ModelError(f"model: particle {k} has no mass and is not a virtual site")
    centre = np.stack([np.bincount(cluster, masses * x[:, a], count) for a in range(3)], axis=1) / mass[:, None]
    arms = x - centre[cluster]
    squares = np.bincount(cluster, masses * (arms**2).sum(axis=1), count)
    inertia = squares[:, None, None] * np.eye(3)
    np.subtract.at(inertia, cluster, masses[:, None, None] * arms[:, :, None] * arms[:, None, :])
    q: list[float] = []
    joints: list[Joint] = []
    for k in range(count):
        joints.append(Xyz() if size[k] == 1 else Free())
        q.extend(centre[k] if size[k] == 1 else (*centre[k], 1.0, 0.0, 0.0, 0.0))
    builder.add_bodies(
        count, mass=mass, joint=joints, inertia=inertia, q=np.array(q), names=[f"M{k}" for k in range(count)]
    )
    return centre
