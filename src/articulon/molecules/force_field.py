"""Force fields of molecules: OpenMM assigns the parameters, and forces of articulon use them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from articulon.building import ModelBuilder
from articulon.errors import ModelError
from articulon.forces.evaluation import potential_energy
from articulon.forces.sites.constant_energy import ConstantEnergy
from articulon.forces.sites.generalized_born import GeneralizedBorn
from articulon.inputs import shown
from articulon.model.box import Box
from articulon.molecules import force_field_terms as terms
from articulon.molecules.articulation import Articulation
from articulon.molecules.force_field_files import ForceFieldName, Solvent
from articulon.molecules.molecular_model import UNITS, assembled, check_cut
from articulon.molecules.periodic_terms import periodic_box
from articulon.molecules.structure import Structure, check_structure
from articulon.molecules.system_making import check_openmm_system, openmm_system
from articulon.molecules.system_sites import SystemSites, of_particles, sites_of
from articulon.molecules.virtual_sites import check_virtual_sites


@dataclass(frozen=True, eq=False)
class ForceField:
    """A force field as forces of articulon, for a model in which site k is atom k, in the units ``"Da-nm-ps"``."""

    kinds: tuple[str, ...]
    """Kind of each site: its Lennard-Jones type."""
    charges: np.ndarray
    """Charge of each site [e], shape (atoms,)."""
    forces: tuple[Any, ...]
    """Declared forces, as passed to ``ModelBuilder.add_force``."""
    terms: Mapping[str, tuple[int, int]]
    """For each kind of bonded term, the number of terms and the number of terms that can change. The other terms lie
    within one rigid body and exert no forces."""
    box: Box | None = None
    """Periodic box of the forces [nm]; None in open space."""
    sites: SystemSites | None = None
    """Sites of the system, if there are more sites than atoms; None if site k is atom k."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return a line for each kind of bonded term that has terms without forces."""
        return tuple(
            f"{name}: {given - kept} of {given} lie within rigid bodies and are constant"
            for name, (given, kept) in self.terms.items()
            if kept < given
        )


def force_field(
    structure: Structure,
    name: ForceFieldName = "amber14",
    *,
    solvent: Solvent = "vacuum",
    cutoff: float | str | None = None,
    articulation: Articulation | None = None,
    files: Sequence[str] = (),
) -> ForceField:
    """Return the forces of a force field for a structure.

    Parameters
    ----------
    structure
        The structure with all its atoms, including hydrogens.
    name
        The force field.
    solvent
        ``"obc2"`` for the implicit solvent of :class:`articulon.forces.GeneralizedBorn`, ``"vacuum"`` for none, or the
        water model of the structure's water, such as ``"tip3p"``.
    cutoff
        Cutoff [nm]; None for no cutoff in open space, and for 0.9 nm in a periodic box. In open space it truncates
        Lennard-Jones forces and the solvent, and charges interact by a reaction field (of permittivity 1 in the
        implicit solvent, as in OpenMM). In a periodic box it is the cutoff of Lennard-Jones forces and of the
        real-space part of particle-mesh Ewald sums.
    articulation
        Division into rigid bodies. Bonds and angles that cannot change, and pairs within one body, then become a
        constant of the energy. Without it, all terms are kept.
    files
        Additional force fields in OpenMM's XML format, for residues that ``name`` does not cover: paths, or names of
        files that come with OpenMM.

    Raises
    ------
    ModelError
        For residues without parameters; the message names each and its differences from known residues. For a water
        model if the structure has no water; :func:`solvate` adds it.
    """
    if articulation is not None:
        check_cut(structure, articulation, "force_field")
    return of_system(
        openmm_system(structure, name, solvent=solvent, cutoff=cutoff, files=files), structure, articulation
    )


def of_system(system: Any, structure: Structure, articulation: Articulation | None) -> ForceField:
    """Return the forces of an OpenMM System for the atoms of a structure, including the constant part of its energy.

    Raises ModelError if the particles of the system are not the atoms of the structure, and the errors of
    :func:`from_system`.
    """
    check_openmm_system(system, "force_field")
    check_structure(structure, "force_field")
    if articulation is not None:
        check_cut(structure, articulation, "force_field")
    sites = sites_of(system, structure, articulation)
    cut = articulation if sites is None or articulation is None else of_particles(articulation, sites)
    found = replace(from_system(system, cut), sites=sites)
    if articulation is None:
        return found
    constant = ConstantEnergy(energy=_constant(structure, articulation, from_system(system), found))
    return replace(found, forces=(*found.forces, constant))


def from_system(system: Any, articulation: Articulation | None = None) -> ForceField:
    """Return the forces of an OpenMM System, periodic or not.

    Constraints are ignored, and so are energies of terms that cannot change. Virtual sites become sites of the body
    that carries their parent atoms.

    Parameters
    ----------
    system
        An ``openmm.System`` of the structure's atoms, in their order.
    articulation
        Division into rigid bodies; without it, every atom moves by itself.

    Raises
    ------
    ModelError
        For a kind of force that articulon does not have, for implicit solvents in a periodic box, and for a virtual
        site that is not in the same rigid body as its parent atoms.
    """
    check_openmm_system(system, "from_system")
    if articulation is not None and not isinstance(articulation, Articulation):
        raise ModelError(f"from_system: expected an articulation from perceive, got {shown(articulation)}")
    return forces_of_system(system, articulation)


def forces_of_system(system: Any, articulation: Any = None) -> ForceField:
    """Return the forces of an OpenMM System like :func:`from_system`, for any object with a method ``can_change``,
    which tells whether particles move relative to each other."""
    count = system.getNumParticles()
    if articulation is not None and len(articulation.cluster) == count:
        check_virtual_sites(system, articulation.cluster)
    rigid = Rigid(count, articulation)
    kinds, charges = ("A",) * count, np.zeros(count)
    forces: list[Any] = []
    given: dict[str, tuple[int, int]] = {}
    for force in system.getForces():
        kind = type(force).__name__
        if kind in ("CMMotionRemover", "MonteCarloBarostat", "AndersenThermostat"):
            continue
        if kind in terms.IMPLICIT and force.usesPeriodicBoundaryConditions():
            raise ModelError(f"model.force_field: OpenMM's {kind} is periodic; make the system without a periodic box")
        if kind in terms.BONDED:
            name, found, number = terms.BONDED[kind](force, rigid.can_change)
            forces.extend(found)
            before = given.get(name, (0, 0))
            kept = sum(terms.number(one) for one in found)
            given[name] = before[0] + number, before[1] + kept
        elif kind not in terms.BETWEEN_ALL:
            raise ModelError(f"model.force_field: OpenMM's {kind} has no counterpart here")
    between = terms.nonbonded(system, rigid.can_change)
    if between is not None:
        kinds, charges = between.kinds, between.charges
        forces.extend(between.forces)
    return ForceField(kinds, charges, tuple(forces), given, periodic_box(system))


class Rigid:
    """Tells which atoms do not move relative to each other.

    Parameters
    ----------
    count
        Number of atoms.
    articulation
        Articulation of the structure; without it, every atom moves by itself.
    """

    def __init__(self, count: int, articulation: Articulation | None) -> None:
        self.bodies: list[set[int]] = [{k} for k in range(count)]
        """Bodies in which each atom has a fixed position: its own cluster, and the cluster across a joint whose axis
        passes through the atom."""
        if articulation is None:
            return
        if len(articulation.cluster) != count:
            raise ModelError("the articulation belongs to another structure: call perceive on this one")
        self.bodies = [{int(cluster)} for cluster in articulation.cluster]
        for child, (near, far) in enumerate(articulation.axis.tolist()):
            if near < 0:
                continue
            self.bodies[far].add(int(articulation.parent[child]))
            if articulation.joint[child] == "revolute":
                self.bodies[near].add(child)

    def can_change(self, *groups: Sequence[int]) -> bool:
        """Return whether at least one of the groups contains atoms of different bodies."""
        return any(not set.intersection(*(self.bodies[k] for k in atoms)) for atoms in groups)


def _constant(structure: Structure, articulation: Articulation, every: ForceField, kept: ForceField) -> float:
    """Return the energy of the terms within rigid bodies at the positions of the structure. It is the difference
    between the energies with all terms and with the terms between bodies."""
    places = structure.positions if kept.sites is None else kept.sites.positions
    builder = ModelBuilder(units=UNITS, box=structure.box)
    builder.add_particles(len(places), mass=1.0, positions=places, kind=every.kinds, charge=every.charges)
    for force in _pairwise(every.forces):
        builder.add_force(force)
    tree = assembled(
        structure, articulation, charges=kept.charges, kinds=kept.kinds, forces=_pairwise(kept.forces), sites=kept.sites
    )
    atoms = builder.build()
    energy = potential_energy(atoms, atoms.q0) - potential_energy(tree, tree.q0)
    if not np.isfinite(energy):
        raise ModelError(f"model.force_field: {structure.source}: its energy is not finite; do atoms coincide?")
    return energy


def _pairwise(forces: Sequence[Any]) -> list[Any]:
    """Return all forces except the implicit solvent, which is not a sum over pairs and also acts within one body."""
    return [force for force in forces if not isinstance(force, GeneralizedBorn)]
