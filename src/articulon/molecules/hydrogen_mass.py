"""Hydrogen mass repartitioning: heavier hydrogens slow the lightest groups, which allows longer steps."""

from dataclasses import replace
from typing import Any

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.molecules.structure import Structure, check_structure
from articulon.units import unit_system


def heavier_hydrogens(structure: Structure, mass: Any) -> Structure:
    """Return the structure with a given mass for every bonded hydrogen. The added mass is taken from the heavy atom to
    which the hydrogen is bonded.

    The total mass is preserved, and the centre of mass changes little. Averages over positions change only through the
    metric of rigid bonds. Groups such as hydroxyl rotate more slowly. Water is not changed, as in OpenMM
    (``hydrogenMass`` of ``ForceField.createSystem``; Feenstra, Hess and Berendsen, J. Comput. Chem. 20, 786, 1999).

    Parameters
    ----------
    structure
        The structure with all its hydrogens.
    mass
        Mass of each hydrogen, such as ``"3 Da"`` [Da].

    Raises
    ------
    ModelError
        For a mass below that of hydrogen, and for an atom that would become lighter than its hydrogens; the message
        names the atom.
    """
    check_structure(structure, "heavier_hydrogens")
    try:
        given = unit_system("Da-nm-ps").value(mass, "mass", "model.hydrogen_mass")
    except CaseError as error:
        raise ModelError(str(error)) from None
    masses = structure.masses.copy()
    kinds = [structure.residues[k].kind for k in structure.residue.tolist()]
    givers = set()
    for pair in structure.bonds.tolist():
        first, second = sorted(pair, key=lambda k: structure.elements[k] == "H")
        if structure.elements[second] != "H" or structure.elements[first] == "H" or kinds[second] == "water":
            continue
        if not given >= masses[second]:
            raise ModelError(
                f"model.hydrogen_mass: {given:g} Da is less than the mass of hydrogen, {masses[second]:g} Da; use a "
                "larger mass, such as 3 Da"
            )
        masses[first] -= given - masses[second]
        masses[second] = given
        givers.add(first)
    light = [k for k in sorted(givers) if not masses[k] >= given]
    if light:
        raise ModelError(
            f"model.hydrogen_mass: {given:g} Da would leave {structure.label(light[0])} with {masses[light[0]]:.3g} "
            "Da, less than its hydrogens; use a smaller mass, such as 3 Da"
        )
    return replace(structure, masses=np.ascontiguousarray(masses))
