"""Heavier hydrogens, which slow the turning of the lightest groups and so allow longer steps."""

from dataclasses import replace
from typing import Any

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.molecules.structure import Structure, check_structure
from articulon.units import unit_system


def heavier_hydrogens(structure: Structure, mass: Any) -> Structure:
    """The structure with a mass for every hydrogen that is bonded to a heavier atom, which gives what is added.

    Mass and centre of mass of the whole change little, and averages over positions not at all but for the metric of
    rigid bonds; groups such as hydroxyl turn more slowly. As in OpenMM (``hydrogenMass`` of
    ``ForceField.createSystem``; Feenstra, Hess and Berendsen, J. Comput. Chem. 20, 786, 1999), water is left as it is.

    Parameters
    ----------
    structure
        With all its hydrogens.
    mass
        Of each hydrogen, such as ``"3 Da"`` [Da].

    Raises
    ------
    ModelError
        For a mass below that of hydrogen, and naming an atom that it would leave lighter than its hydrogens.
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
                f"model.hydrogen_mass: {given:g} Da is less than the mass of hydrogen, {masses[second]:g} Da; give "
                "more, such as 3 Da"
            )
        masses[first] -= given - masses[second]
        masses[second] = given
        givers.add(first)
    light = [k for k in sorted(givers) if not masses[k] >= given]
    if light:
        raise ModelError(
            f"model.hydrogen_mass: of {given:g} Da would leave {structure.label(light[0])} with {masses[light[0]]:.3g} "
            "Da, less than its hydrogens; give less, such as 3 Da"
        )
    return replace(structure, masses=np.ascontiguousarray(masses))
