"""Creation of the OpenMM System of a structure, from a force field, a solvent, and files of the user."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.inputs import clipped, shown
from articulon.molecules.force_field_files import WATERS, Reader, reader
from articulon.molecules.missing_terms import Captured, check_terms
from articulon.molecules.openmm_exchange import openmm_app, to_openmm
from articulon.molecules.structure import Structure, check_structure
from articulon.molecules.template_faults import described, unmatched
from articulon.units import unit_system

UNITS = "Da-nm-ps"
CUTOFF = 0.9
"""Default cutoff in a periodic box [nm]."""
NEUTRAL = 1e-3
"""Total charge up to which a system counts as neutral [e], because parameters have four to six digits."""
_SEVERAL = re.compile(r"Multiple non-identical matching templates found for residue (\d+) \([^)]*\): (.*)\.$")
_NUMBERED = re.compile(r"residue (\d+) \(([^)]*)\)")


def openmm_system(
    structure: Structure,
    name: str = "amber14",
    *,
    solvent: str = "vacuum",
    cutoff: float | str | None = None,
    files: Sequence[str] = (),
    **options: Any,
) -> Any:
    """Return OpenMM's System of a structure.

    Parameters
    ----------
    structure, name, solvent, cutoff, files
        See :func:`force_field`.
    options
        Options of ``ForceField.createSystem``, such as ``constraints``.

    Raises
    ------
    ModelError
        For residues without parameters (the message gives their differences from known residues), for terms that the
        files lack (by atom), for a water model if the structure has no water, for a box that is too small for the
        cutoff, and for a charged box.
    """
    check_structure(structure, "force_field")
    check_water(structure, solvent)
    return unchecked_system(structure, name, solvent=solvent, cutoff=cutoff, files=files, **options)


def check_water(structure: Structure, solvent: Any) -> None:
    """Raise ModelError for a water model if the structure has no water, because the run would be one in a vacuum."""
    if not isinstance(solvent, str) or solvent not in WATERS:
        return
    if all(residue.kind != "water" for residue in structure.residues):
        raise ModelError(
            f"model.solvent: {solvent} is a water model, and {structure.source} has no water: give model.padding or "
            "model.box to add it (molecules.solvate in Python), or take solvent = 'vacuum' or 'obc2'"
        )


def unchecked_system(
    structure: Structure,
    name: str,
    *,
    solvent: str,
    cutoff: float | str | None = None,
    files: Sequence[str] = (),
    **options: Any,
) -> Any:
    """Return the System of :func:`openmm_system` without its checks, so that water can still be added to the
    structure."""
    known = reader(structure, name, solvent, files)
    options = {**_cutoffs(structure, solvent, cutoff), **options}
    topology, places = to_openmm(structure)
    if solvent in WATERS and WATERS[solvent].sites > 3:
        topology = _with_sites(topology, places, known, structure, name)
    captured = Captured()
    known.force_field.getGenerators().insert(0, captured)
    chosen = _ions(structure, topology, known)
    try:
        system = _made(known, topology, structure, chosen, options)
    except TypeError as error:  # an unknown option
        raise ModelError(f"openmm_system: {clipped(error)}") from None
    except Exception as error:
        if not _of_openmm(error):
            raise
        raise _explained(error, known, captured, structure, topology, name) from None
    finally:
        known.force_field.getGenerators().remove(captured)
    check_terms(known, captured, structure, name)
    if structure.box is not None:
        check_neutral(system, structure.source)
    return system


def _made(known: Reader, topology: Any, structure: Structure, chosen: dict[Any, str], options: dict[str, Any]) -> Any:
    """Create the system. If several templates fit a residue, the template in ``chosen`` or the template with the
    residue's name is used."""
    while True:
        try:
            return known.force_field.createSystem(topology, residueTemplates=chosen, **options)
        except Exception as error:
            several = _SEVERAL.search(str(error))
            name = structure.residues[int(several[1])].name if several else ""
            every = list(topology.residues())
            if several is None or name not in several[2].split(", ") or every[int(several[1])] in chosen:
                raise
            kind = _shape(every[int(several[1])])
            chosen.update({residue: name for residue in every if residue.name == name and _shape(residue) == kind})


def _shape(residue: Any) -> tuple[int, int, int]:
    """Return the numbers of atoms and bonds of a residue, which distinguish residues with the same name."""
    bonds = (len(list(residue.internal_bonds())), len(list(residue.external_bonds())))
    return (len(list(residue.atoms())), *bonds)


def check_openmm_system(system: Any, where: str) -> None:
    """Raise ModelError for an object that is not a System of OpenMM."""
    openmm_app()
    from openmm import System

    if not isinstance(system, System):
        raise ModelError(f"{where}, system: expected an openmm.System, got {shown(system)}")


def check_neutral(system: Any, source: str) -> None:
    """Raise ModelError if the charges in a system's periodic box do not add up to zero."""
    total = total_charge(system)
    if abs(total) > NEUTRAL:
        raise ModelError(
            f"{source}: the box has a charge of {total:+.3g} e, and its infinite lattice has no finite energy: add "
            "counter-ions (neutralise = true), or correct protonation states"
        )


def total_charge(system: Any) -> float:
    """Compute the total charge of a system's particles [e]."""
    for force in system.getForces():
        if type(force).__name__ == "NonbondedForce":
            return float(sum(force.getParticleParameters(k)[0]._value for k in range(force.getNumParticles())))
    return 0.0


def check_cutoff(structure: Structure, cutoff: float) -> None:
    """Raise ModelError for a cutoff that reaches beyond the nearest image in the box."""
    assert structure.box is not None
    narrowest = float(np.diag(structure.box.vectors).min())
    if 2.0 * cutoff > narrowest:
        raise ModelError(
            f"model.cutoff: {cutoff:g} nm is more than half of the narrowest width of the box of {structure.source}, "
            f"{narrowest:.4g} nm: an atom would interact with two images of another; give a larger box (padding) or a "
            "shorter cutoff"
        )


def _cutoffs(structure: Structure, solvent: str, cutoff: Any) -> dict[str, Any]:
    """Return OpenMM's options of the forces between all atoms."""
    app = openmm_app()
    from openmm.unit import nanometer

    reach = None
    if cutoff is not None:
        try:
            reach = unit_system(UNITS).value(cutoff, "length", "model.cutoff")
        except CaseError as error:
            raise ModelError(str(error)) from None
        if not reach > 0.0:
            raise ModelError(f"model.cutoff: must be positive, got {shown(cutoff)}")
    if structure.box is not None:
        if solvent == "obc2":
            raise ModelError(
                f"model.solvent: obc2 is an implicit solvent, without a box, but {structure.source} has one; choose a "
                "water model, or leave out the box"
            )
        reach = CUTOFF if reach is None else reach
        check_cutoff(structure, reach)
        return {"nonbondedMethod": app.PME, "nonbondedCutoff": reach * nanometer}
    if reach is None:
        return {}
    return {"nonbondedMethod": app.CutoffNonPeriodic, "nonbondedCutoff": reach * nanometer}


def _with_sites(topology: Any, places: Any, known: Reader, structure: Structure, name: str) -> Any:
    """Return the topology with the massless sites that its water has in the force field."""
    modeller = openmm_app().Modeller(topology, places)
    try:
        modeller.addExtraParticles(known.force_field)
    except Exception as error:
        if not _of_openmm(error):
            raise
        raise _explained(error, known, Captured(), structure, topology, name, sites=True) from None
    return modeller.topology


def _of_openmm(error: Exception) -> bool:
    """Return whether OpenMM raised an error because of its input; it raises plain Exception for some of these
    errors."""
    return isinstance(error, ValueError | KeyError) or type(error).__name__ in ("Exception", "OpenMMException")


def _ions(structure: Structure, topology: Any, known: Reader) -> dict[Any, str]:
    """Choose templates of ions by their names in the structure. FE2 and FE, for example, are the same element with
    different charges."""
    templates = known.force_field._templates
    found = {}
    for residue, own in zip(topology.residues(), structure.residues, strict=True):
        if own.kind == "ion" and own.stop - own.start == 1 and own.name in templates:
            template = templates[own.name]
            symbols = [atom.element.symbol for atom in template.atoms if atom.element is not None]
            if symbols == [structure.elements[own.start]]:
                found[residue] = own.name
    return found


def _explained(
    error: Exception,
    known: Reader,
    captured: Captured,
    structure: Structure,
    topology: Any,
    name: str,
    *,
    sites: bool = False,
) -> ModelError:
    """Explain OpenMM's error by chain, residue and atom; missing sites of water are not reported."""
    lost = unmatched(known, topology)
    if sites:
        lost = [k for k in lost if structure.residues[k].kind != "water"]
    if lost:
        return ModelError(described(known, structure, lost, name))
    try:
        check_terms(known, captured, structure, name)
    except ModelError as found:
        return found
    said = _NUMBERED.sub(lambda match: structure.residues[int(match[1])].label, clipped(error))
    advice = ""
    if "Multiple non-identical" in str(error):
        advice = "; rename the residue to the right one of these"
    return ModelError(f"model.force_field: {name} for {Path(structure.source).name}: {said}{advice}")
