"""Functions that build models of molecules with their forces in one call."""

from collections.abc import Sequence
from typing import Any

from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.model import Model
from articulon.molecules.articulation import Articulation
from articulon.molecules.force_field import force_field as parameters
from articulon.molecules.force_field_files import ForceFieldName, Solvent
from articulon.molecules.molecular_model import assembled, check_cut
from articulon.molecules.structure import Structure


def build(
    structure: Structure,
    articulation: Articulation,
    *,
    force_field: str | None = None,
    solvent: str = "vacuum",
    cutoff: float | str | None = None,
    files: Sequence[str] = (),
    charges: Any = 0.0,
    kinds: Sequence[str] | None = None,
    forces: Sequence[Any] = (),
) -> Model:
    """Build the model of a structure, in Da, nm and ps.

    Body k is cluster k, and site k is atom k. The coordinate of a revolute joint is the dihedral angle of its torsion,
    so ``model.q0`` contains φ, ψ, χ₁ … of the file [rad]. The frame of a root has its origin at the centre of mass of
    its cluster and the orientation of the world frame.

    Parameters
    ----------
    structure
        Structure from :func:`read_structure`.
    articulation
        Articulation of the same structure, from :func:`perceive`.
    force_field, solvent, cutoff, files
        Options of :func:`force_field`, such as ``"amber14"`` in ``"obc2"``; by default there is no force field. A force
        field determines charges and kinds.
    charges
        Charges of the sites [charge]: one for all sites, or shape (atoms,).
    kinds
        Kinds of the sites, which select the force law of their pairs; the elements by default.
    forces
        Further declared forces, as passed to ``ModelBuilder.add_force``.

    Raises
    ------
    ModelError
        For a body that cannot be built; the message names it.
    """
    check_cut(structure, articulation, "build")
    if not isinstance(forces, Sequence) or isinstance(forces, str):
        raise ModelError(f"build, forces: expected a list of forces, got {shown(forces)}")
    sites = None
    if force_field is None:
        given = {"solvent": (solvent, "vacuum"), "cutoff": (cutoff, None), "files": (files, ())}
        for key, (value, none) in given.items():
            if not (type(value) is type(none) and value == none):
                raise ModelError(
                    f"build, {key}: {shown(value)} applies to a force field: give force_field too, such as 'amber14'"
                )
    else:
        options: dict[str, Any] = {"solvent": solvent, "cutoff": cutoff, "articulation": articulation, "files": files}
        found = parameters(structure, force_field, **options)  # type: ignore[arg-type]
        charges, kinds, forces = found.charges, found.kinds, (*found.forces, *forces)
        sites = found.sites
    return assembled(structure, articulation, charges=charges, kinds=kinds, forces=forces, sites=sites)


def force_field_model(
    structure: Structure,
    articulation: Articulation,
    name: ForceFieldName = "amber14",
    *,
    solvent: Solvent = "vacuum",
    cutoff: float | str | None = None,
    files: Sequence[str] = (),
    forces: Sequence[Any] = (),
) -> Model:
    """Return the model of :func:`build` with a force field, and further forces.

    Parameters
    ----------
    structure
        The structure.
    articulation
        Articulation from :func:`perceive`.
    name
        The force field.
    solvent
        The implicit solvent or the water model.
    cutoff
        Cutoff of Lennard-Jones forces and charges [length]; none by default.
    files
        Additional force field files in OpenMM's XML format.
    forces
        Further forces of ``ar.forces``.
    """
    check_cut(structure, articulation, "force_field_model")
    if not isinstance(forces, Sequence) or isinstance(forces, str | bytes):
        raise ModelError(f"force_field_model, forces: expected a list of forces, got {shown(forces)}")
    found = parameters(structure, name, solvent=solvent, cutoff=cutoff, articulation=articulation, files=files)
    every = (*found.forces, *forces)
    return assembled(structure, articulation, charges=found.charges, kinds=found.kinds, forces=every, sites=found.sites)
