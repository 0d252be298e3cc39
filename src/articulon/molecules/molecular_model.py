"""Construction of a model from an articulation: bodies with the mass and inertia of their atoms, and joints about
bonds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.building import ModelBuilder
from articulon.errors import CaseError, ModelError
from articulon.forces.stokes_drag import StokesDrag
from articulon.inputs import finite, floats, shown, words
from articulon.model import Free, Model, Revolute, Spherical, Xyz
from articulon.model.array_rotations import quaternions
from articulon.model.atoms import Atoms
from articulon.model.joints import Joint
from articulon.molecules.articulation import Articulation, Torsion
from articulon.molecules.elements import van_der_waals_radii
from articulon.molecules.structure import Structure, check_structure
from articulon.molecules.system_sites import SystemSites
from articulon.units import unit_system

UNITS = "Da-nm-ps"
AXIS = (0.0, 0.0, 1.0)
"""Axis of every revolute joint, in its own frame."""


def assembled(
    structure: Structure,
    articulation: Articulation,
    *,
    charges: Any = 0.0,
    kinds: Sequence[str] | None = None,
    forces: Sequence[Any] = (),
    sites: SystemSites | None = None,
) -> Model:
    """Return the model of a structure with given forces; see :func:`build`."""
    builder = ModelBuilder(units=UNITS, box=structure.box)
    populate(builder, structure, articulation, charges=charges, kinds=kinds, sites=sites)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def populate(
    builder: ModelBuilder,
    structure: Structure,
    articulation: Articulation,
    *,
    charges: Any = 0.0,
    kinds: Sequence[str] | None = None,
    sites: SystemSites | None = None,
) -> range:
    """Add bodies, loop constraints and sites of a structure to a builder with the units Da, nm and ps; see
    :func:`build`.

    ``sites`` are the sites of an OpenMM System with more particles than atoms, as in four-site water; by default site k
    is atom k. Returns the indices of the bodies. The first site of each body belongs to its first atom.

    Parameters
    ----------
    builder
        The builder, in Da, nm and ps.
    structure
        The structure.
    articulation
        Articulation from :func:`perceive`.
    charges
        Charges of the sites [charge]: one for all sites, or one for each.
    kinds
        Kind of each site; elements by default.
    """
    if not isinstance(builder, ModelBuilder):
        raise ModelError(f"populate: expected a ModelBuilder, got {shown(builder)}")
    if builder.units.name != UNITS:
        raise ModelError(f"molecules are built in the units '{UNITS}', not '{builder.units.name}'")
    check_cut(structure, articulation, "molecules")
    x, home = structure.positions, articulation.cluster
    count = len(articulation.parent)
    mass = np.bincount(home, structure.masses, count)
    centres = _sums(home, structure.masses[:, None] * x, count) / mass[:, None]
    parents = articulation.parent
    roots = parents < 0
    origins, frames = np.where(roots[:, None], centres, x[articulation.axis[:, 1]]), np.tile(np.eye(3), (count, 1, 1))
    joint_frames, angles = frames.copy(), np.zeros(count)
    for torsion in articulation.torsions:
        k = torsion.child
        joint_frames[k], frames[k], angles[k] = _frames(x, torsion.towards_child(home))
    # The joint frame of a root is the world frame, because the ground has the world frame.
    behind = np.where(roots, 0, parents)
    turned = np.swapaxes(frames[behind], 1, 2)
    offset = np.einsum("kij,kj->ki", turned, origins - origins[behind])
    position = np.where(roots[:, None], 0.0, offset)
    rotation = np.where(roots[:, None, None], np.eye(3), turned @ joint_frames)
    com = np.einsum("kji,kj->ki", frames, centres - origins)
    arms = np.einsum("aji,aj->ai", frames[home], x - centres[home])
    outer = arms[:, :, None] * arms[:, None, :]
    spread = np.trace(outer, axis1=1, axis2=2)[:, None, None] * np.eye(3) - outer
    inertia = _sums(home, (structure.masses[:, None, None] * spread).reshape(-1, 9), count).reshape(-1, 3, 3)
    joints, q = _joints(articulation, centres, angles)
    bodies = builder.add_bodies(
        count,
        mass=mass,
        joint=joints,
        inertia=inertia,
        com=com,
        parents=np.where(articulation.parent < 0, -1, articulation.parent + len(builder._names)),
        position=position,
        rotation=quaternions(rotation),
        q=q,
        names=body_names(structure, articulation),
    )
    for loop in articulation.loops:
        _add_loop(builder, structure, articulation, loop, bodies.start, origins, frames)
    if sites is not None and not isinstance(sites, SystemSites):
        raise ModelError(f"populate, sites: expected those of a force field, got {shown(sites)}")
    at, points = (home, x) if sites is None else (sites.cluster, sites.positions)
    try:
        amounts = np.broadcast_to(floats(charges), (len(at),))
    except ValueError as reason:
        raise ModelError(f"charges: expected one for all or {len(at)} of them: {reason}") from None
    finite(amounts, "charges")
    names = np.array(structure.elements, dtype=object) if kinds is None else words(kinds, "kinds")
    if kinds is None and sites is not None:
        names = np.where(sites.atom < 0, "site", names[sites.atom])
    if len(names) != len(at):
        raise ModelError(f"kinds: expected {len(at)}, one for each atom, got {len(names)}")
    places = np.einsum("aji,aj->ai", frames[at], points - origins[at])
    made = builder.add_sites(bodies.start + at, positions=places, charge=amounts, kind=list(names), group="atoms")
    on = np.arange(len(structure)) if sites is None else sites.of_atoms
    builder.add_atoms(_atoms(structure, articulation, made.start + on, bodies.start))
    return bodies


def _atoms(structure: Structure, articulation: Articulation, site: np.ndarray, body: int) -> Atoms:
    """Return the description of the atoms at the sites; ``body`` is the index of the first body."""
    residues, torsions = structure.residues, articulation.torsions
    return Atoms(
        site=site,
        names=structure.names,
        elements=structure.elements,
        masses=structure.masses.copy(),
        residue=structure.residue.copy(),
        residue_names=tuple(residue.name for residue in residues),
        residue_numbers=tuple(residue.number for residue in residues),
        insertions=tuple(residue.insertion for residue in residues),
        chains=tuple(residue.chain for residue in residues),
        residue_kinds=tuple(residue.kind for residue in residues),
        bonds=structure.bonds.copy(),
        torsions={body + turn.child: f"{turn.name}:{residues[turn.residue].label}" for turn in torsions},
        dihedrals={body + turn.child: turn.towards_child(articulation.cluster) for turn in torsions},
    )


def _sums(home: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Sum the rows of the atoms in each cluster, shape (clusters, columns)."""
    return np.stack([np.bincount(home, column, count) for column in rows.T], axis=1)


def _joints(articulation: Articulation, centres: np.ndarray, angles: np.ndarray) -> tuple[list[Joint], np.ndarray]:
    """Return the joint of each cluster, and the concatenated joint coordinates."""
    made: dict[str, Joint] = {"xyz": Xyz(), "free": Free(), "spherical": Spherical(), "revolute": Revolute(axis=AXIS)}
    q: list[float] = []
    for kind, centre, angle in zip(articulation.joint, centres.tolist(), angles.tolist(), strict=True):
        if kind == "revolute":
            q.append(angle)
        else:
            q.extend(() if kind == "spherical" else centre)
            q.extend(() if kind == "xyz" else (1.0, 0.0, 0.0, 0.0))
    return [made[kind] for kind in articulation.joint], np.array(q)


def check_cut(structure: Structure, articulation: Articulation, where: str) -> None:
    """Raise ModelError if an object is not a structure, or if another one is not an articulation of this structure."""
    check_structure(structure, where)
    if not isinstance(articulation, Articulation):
        raise ModelError(f"{where}: expected an articulation from perceive, got {shown(articulation)}")
    if len(articulation.cluster) != len(structure):
        raise ModelError("the articulation belongs to another structure: call perceive on this one")


def body_names(structure: Structure, articulation: Articulation) -> list[str]:
    """Return a name for each body: chain and residue for a root; a body that rotates about a bond also has the bond in
    its name."""
    names: list[str] = []
    used: dict[str, int] = {}
    for k, (a, b) in enumerate(articulation.axis.tolist()):
        if a < 0:
            first = int(articulation.members[k][0])
            name = structure.residues[structure.residue[first]].label
        else:
            name = structure.bond_label(min(a, b), max(a, b))
        used[name] = used.get(name, 0) + 1
        names.append(name if used[name] == 1 else f"{name}({used[name]})")
    return names


def body_radii(structure: Structure, articulation: Articulation) -> np.ndarray:
    """Compute for each body the radius of the homogeneous sphere with the same radius of gyration [nm], shape
    (bodies,).

    Atoms are treated as spheres: R² = (5/3) Σ m (d² + (3/5) a²)/M, where d is the distance of an atom from the centre
    of mass and a its van der Waals radius. A single atom has R = a.
    """
    sizes = van_der_waals_radii(structure.elements)
    radii = []
    for atoms in articulation.members:
        x, m = structure.positions[atoms], structure.masses[atoms]
        squares = ((x - m @ x / m.sum()) ** 2).sum(axis=1)
        radii.append(np.sqrt(m @ (5.0 / 3.0 * squares + sizes[atoms] ** 2) / m.sum()))
    return np.array(radii)


def stokes_drag(structure: Structure, articulation: Articulation, viscosity: Any) -> StokesDrag:
    """Return the Stokes drag on each body in a viscous medium. A body has the drag of a sphere of its size
    (:func:`body_radii`). There are no hydrodynamic interactions between bodies (free draining).

    Parameters
    ----------
    structure
        The structure.
    articulation
        Articulation from :func:`perceive`.
    viscosity
        Viscosity η of the medium [mass/(length time)]; a string includes its unit.
    """
    check_cut(structure, articulation, "stokes_drag")
    try:
        value = unit_system(UNITS).value(viscosity, "viscosity", "stokes_drag, viscosity")
    except CaseError as error:
        raise ModelError(str(error)) from None
    if not value > 0.0:
        raise ModelError(f"stokes_drag, viscosity: must be positive, got {shown(viscosity)}")
    radii = body_radii(structure, articulation).tolist()
    return StokesDrag(viscosity=viscosity, radius=dict(zip(body_names(structure, articulation), radii, strict=True)))


def _frames(x: np.ndarray, atoms: tuple[int, int, int, int]) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the joint frame and the body frame of a torsion as matrices in the world frame, and the angle between
    them.

    In both frames z is along the bond. The x axis points towards the first atom in the joint frame, and towards the
    last atom in the body frame, so the angle is the dihedral.
    """
    i, j, k, l = x[list(atoms)]  # noqa: E741
    z = (k - j) / np.linalg.norm(k - j)
    near, far = _across(i - j, z), _across(l - k, z)
    joint = np.stack([near, np.cross(z, near), z], axis=1)
    body = np.stack([far, np.cross(z, far), z], axis=1)
    return joint, body, float(np.arctan2(joint[:, 1] @ far, near @ far))


def _across(arm: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return the component of a vector perpendicular to an axis, as a unit vector."""
    flat = arm - (arm @ axis) * axis
    return flat / np.linalg.norm(flat)


def _add_loop(
    builder: ModelBuilder,
    structure: Structure,
    articulation: Articulation,
    loop: Torsion,
    first: int,
    origins: np.ndarray,
    frames: np.ndarray,
) -> None:
    """Add a loop constraint for a cut bond: a revolute joint about the bond, or a spherical joint at its end if
    residues are rigid."""
    atoms = loop.towards_child(articulation.cluster)
    if articulation.level == "residue":
        joint: Joint = Spherical()
        frame = np.eye(3)
    else:
        joint, (frame, _, _) = Revolute(axis=AXIS), _frames(structure.positions, atoms)
    at = structure.positions[atoms[2]]
    ends = [(frames[k].T @ (at - origins[k]), quaternions((frames[k].T @ frame)[None])[0]) for k in loop[3:]]
    builder.add_loop(
        structure.bond_label(min(atoms[1:3]), max(atoms[1:3])),
        joint=joint,
        parent=first + loop.parent,
        child=first + loop.child,
        position=ends[0][0],
        rotation=ends[0][1],
        child_position=ends[1][0],
        child_rotation=ends[1][1],
    )
